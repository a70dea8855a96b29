// SPDX-License-Identifier: Apache-2.0
// For tests only: one of the tiny models under tests/data/encoders, compiled and loaded, with what
// sentence-transformers says.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/test_dir.h"
#include "compile/engine_cache.h"
#include "llm/run/encoder.h"

namespace nereid::llm::testing {

inline std::string encoder_path(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/encoders/" + name;
}

inline Json encoder_expected(const std::string& name) {
  return parse_json(read_file(encoder_path(name) + ".expected.json", 1 << 20).value()).value();
}

inline std::vector<std::string> all_encoders() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(encoder_path("")))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

inline std::vector<Isa> isas_here() {
  std::vector<Isa> out;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= best_isa(read_cpu_info()).value()) out.push_back(isa);
  return out;
}

struct PathTag {};

// The pool stays alive with the model. A failure fails the test by a check.
struct TestEncoder {
  // Without an instruction set: the best there is.
  explicit TestEncoder(const std::string& name, EncoderOptions options = {}, int threads = 1,
                       std::optional<Isa> isa = std::nullopt)
      : TestEncoder(PathTag{}, encoder_path(name), options, threads, isa) {}
  TestEncoder(PathTag, const std::string& path, EncoderOptions options = {}, int threads = 1,
              std::optional<Isa> isa = std::nullopt)
      : pool({.threads = threads, .pin = false}) {
    TestDir cache;
    ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
    const compile::OpenedEngine engine = compile::open_engine(path, {}, pool).value();
    options.isa = isa.value_or(best_isa(read_cpu_info()).value());
    encoder = Encoder::load(engine.file, options, pool).value();
  }
  ThreadPool pool;
  std::unique_ptr<Encoder> encoder;
};

}  // namespace nereid::llm::testing
