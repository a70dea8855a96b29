// SPDX-License-Identifier: Apache-2.0
// Random checkpoints of the tiny models' configurations: the same tensors as transformers saved of them, the same bytes
// from the same seed, and models that run.
#include "compile/random_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/file.h"
#include "base/test_dir.h"
#include "compile/engine_cache.h"
#include "import/model_source.h"

namespace nereid::compile {
namespace {

using ::testing::HasSubstr;

std::string tiny(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/models/" + name;
}

std::map<std::string, std::vector<int64_t>> tensors_of(const std::string& folder) {
  const Result<import::ModelSource> source = import::open_model(folder);
  EXPECT_TRUE(source.is_ok()) << source.status().message();
  std::map<std::string, std::vector<int64_t>> sizes;
  if (source.is_ok())
    for (const import::SourceTensor& t : source->tensors) sizes[std::string(t.name)] = t.view.sizes;
  return sizes;
}

TEST(RandomCheckpoint, has_the_tensors_that_transformers_saves) {
  ThreadPool pool({.threads = 2, .pin = false});
  for (const char* name : {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"}) {
    const TestDir dir;
    const Status s =
        write_random_checkpoint({.config_path = tiny(name) + "/config.json", .folder = dir / "m", .seed = 1}, pool);
    ASSERT_TRUE(s.is_ok()) << name << ": " << s.message();
    EXPECT_EQ(tensors_of(dir / "m"), tensors_of(tiny(name))) << name;
  }
}

TEST(RandomCheckpoint, the_seed_decides_the_bytes_and_the_threads_do_not) {
  const TestDir dir;
  const std::string config = tiny("tiny-llama") + "/config.json";
  const auto written = [&](uint64_t seed, int threads) {
    ThreadPool pool({.threads = threads, .pin = false});
    EXPECT_TRUE(write_random_checkpoint({.config_path = config, .folder = dir / "m", .seed = seed}, pool).is_ok());
    return read_file(dir / "m" + "/model.safetensors", size_t{1} << 26).value();
  };
  const std::string first = written(1, 1);
  EXPECT_EQ(written(1, 3), first);
  EXPECT_NE(written(2, 1), first);
}

TEST(RandomCheckpoint, becomes_an_engine) {
  const TestDir dir;
  ::setenv("NEREID_CACHE_DIR", dir.path().c_str(), 1);
  ThreadPool pool({.threads = 1});
  ASSERT_TRUE(
      write_random_checkpoint({.config_path = tiny("tiny-qwen3") + "/config.json", .folder = dir / "m"}, pool).is_ok());
  const auto engine = open_engine(dir / "m", {}, pool);
  EXPECT_TRUE(engine.is_ok()) << engine.status().message();
}

TEST(RandomCheckpoint, refuses_what_it_cannot_write) {
  const TestDir dir;
  ThreadPool pool({.threads = 1});
  EXPECT_EQ(write_random_checkpoint({.config_path = dir / "none.json", .folder = dir / "m"}, pool).code(),
            StatusCode::kNotFound);
  const Status encoder = write_random_checkpoint(
      {.config_path = std::string(NEREID_SOURCE_DIR) + "/tests/data/models/README.md", .folder = dir / "m"}, pool);
  EXPECT_EQ(encoder.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::compile
