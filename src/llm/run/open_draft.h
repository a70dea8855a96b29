// SPDX-License-Identifier: Apache-2.0
// From the path of a draft model to one that guesses for another, on its threads.
#pragma once

#include <memory>
#include <string>

#include "llm/run/draft_model.h"
#include "llm/run/open_model.h"

namespace nereid::llm {

struct OpenedDraft {
  std::unique_ptr<LanguageModel> model;
  std::vector<std::string> warnings;  // full sentences
};

// `model` is the one that it is to guess for, whose pool steps both: not at the same time. The draft's context is the
// model's, or its own if that is less. `options` as the model was opened with. Errors: as open_model's;
// kInvalidArgument (DraftModel::make): another vocabulary.
Result<OpenedDraft> open_draft(const std::string& path, const OpenOptions& options, OpenedModel& model,
                               const DraftOptions& draft = {},
                               const std::function<void(int64_t, int64_t)>& progress = {});

}  // namespace nereid::llm
