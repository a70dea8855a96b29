// SPDX-License-Identifier: Apache-2.0
#include "llm/run/open_draft.h"

#include <algorithm>

#include "compile/engine_cache.h"

namespace nereid::llm {

Result<OpenedDraft> open_draft(const std::string& path, const OpenOptions& options, OpenedModel& model,
                               const DraftOptions& draft, const std::function<void(int64_t, int64_t)>& progress) {
  OpenedDraft opened;
  NEREID_TRY(compile::OpenedEngine engine,
             compile::open_engine(path, {.exact = options.exact}, *model.pool, progress).with("the draft model"));
  opened.warnings = std::move(engine.warnings);
  LoadOptions load = DraftModel::load_options(draft);
  load.isa = model.isa;
  const Result<const Json*> info = json_object(engine.file.info(), "model");
  const Result<int64_t> most = info.is_ok() ? json_int(**info, "max_context") : info.status();
  if (most.is_ok() && *most > 0) load.context_tokens = std::min(*most, model.model->context_tokens());
  NEREID_TRY(opened.model, LanguageModel::load(engine.file, load, *model.pool).with("the draft model"));
  // Made here once for its sentence: whoever uses the model makes one of its own.
  NEREID_RETURN_IF_ERROR(DraftModel::make(*opened.model, *model.model, draft).with(path));
  for (const std::string& note : opened.model->context().notes()) {
    if (options.strict) return unsupported("the draft model: {} (--strict makes this an error)", note);
    opened.warnings.push_back(note);
  }
  return opened;
}

}  // namespace nereid::llm
