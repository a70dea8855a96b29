// SPDX-License-Identifier: Apache-2.0
// For tests only: one of the tiny models under tests/data/models, compiled and loaded, with what transformers says.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/test_dir.h"
#include "compile/engine_cache.h"
#include "llm/run/language_model.h"

namespace nereid::llm::testing {

struct Expected {
  std::string prompt;
  std::vector<int32_t> prompt_tokens, greedy_tokens;
};

inline std::string tiny_path(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/models/" + name;
}

inline Expected tiny_expected(const std::string& name) {
  const Json json = parse_json(read_file(tiny_path(name) + ".expected.json", 1 << 20).value()).value();
  return {json["prompt"], json["prompt_tokens"], json["greedy_tokens"]};
}

// The pool stays alive with the model. A failure fails the test by a check.
struct TinyModel {
  explicit TinyModel(const std::string& name, LoadOptions options = {}, int threads = 1) : pool({.threads = threads}) {
    TestDir cache;
    ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
    const compile::OpenedEngine engine = compile::open_engine(tiny_path(name + ".gguf"), {}, pool).value();
    options.isa = best_isa(read_cpu_info()).value();
    model = LanguageModel::load(engine.file, options, pool).value();
  }
  ThreadPool pool;
  std::unique_ptr<LanguageModel> model;
};

}  // namespace nereid::llm::testing
