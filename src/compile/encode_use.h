// SPDX-License-Identifier: Apache-2.0
// What a model that encodes is for, as the files of sentence-transformers say it: how the vectors of tokens become one
// of the text, or what a classifier's score goes through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "import/model_source.h"

namespace nereid::compile {

enum class Pooling : uint8_t { kMean, kCls, kMax, kLast, kMeanSqrt, kWeightedMean };

struct EncodeUse {
  std::vector<Pooling> pooling;  // of several the results are joined; empty: it classifies
  bool normalizes = false;       // vectors get length 1
  bool is_sigmoid = false;       // scores s become 1 / (1 + e^-s)
  int64_t max_tokens = 0;        // of a text with its special tokens; 0: as the model's context
  // Put before texts, by name ("query", "document"), and the one that is without being asked.
  std::vector<std::pair<std::string, std::string>> prompts;
  std::string default_prompt;

  // As an engine's info holds it, and back. kInvalidArgument: an engine that lies.
  Json to_json() const;
  static Result<EncodeUse> from_json(const Json& json);
};

// What the model's files ask for: modules.json and what it names, config_sentence_transformers.json,
// sentence_bert_config.json; of GGUF files the pooling type. Encoders that say nothing give the mean of their tokens,
// or scores if they classify. Nothing: a decoder that generates. kUnsupported for modules and ways of pooling that
// there are not here; kInvalidArgument for files that are damaged.
Result<std::optional<EncodeUse>> read_encode_use(const import::ModelSource& source);

// The same of a path: a model, or an engine. False also where nothing can be opened: whoever opens it says why.
bool model_encodes(const std::string& path);

// The small files of a directory that read_encode_use may look at, for telling whether a model has changed.
std::vector<std::string> encode_use_files(const std::string& directory);

}  // namespace nereid::compile
