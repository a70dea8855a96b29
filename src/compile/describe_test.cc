// SPDX-License-Identifier: Apache-2.0
#include "compile/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/test_dir.h"
#include "base/thread_pool.h"
#include "compile/build_engine.h"
#include "import/model_source.h"

namespace nereid::compile {
namespace {

using testing::HasSubstr;

const std::string kModels = std::string(NEREID_SOURCE_DIR) + "/tests/data/models/";

TEST(Describe, a_gguf_file_and_its_hugging_face_twin_are_the_same_model) {
  const Result<Description> gguf = describe(kModels + "tiny-llama.gguf");
  const Result<Description> hf = describe(kModels + "tiny-llama", {.tokenizer = false});
  ASSERT_TRUE(gguf.is_ok()) << gguf.status().message();
  ASSERT_TRUE(hf.is_ok()) << hf.status().message();
  EXPECT_EQ(gguf->format, "GGUF version 3");
  EXPECT_EQ(hf->format, "Hugging Face directory");
  for (const char* key : {"architecture", "layers", "hidden", "heads", "kv_heads", "vocab", "ffn"})
    EXPECT_EQ(gguf->model[key], hf->model[key]) << key;
  EXPECT_TRUE(gguf->tokenizer.has_value());
}

TEST(Describe, totals_are_those_of_the_tensors) {
  const Result<Description> d = describe(kModels + "tiny-qwen3.gguf");
  ASSERT_TRUE(d.is_ok()) << d.status().message();
  int64_t bytes = 0, elements = 0;
  for (const DescribedTensor& t : d->tensors) {
    bytes += t.bytes;
    elements += t.elements();
  }
  EXPECT_EQ(d->tensor_bytes, bytes);
  EXPECT_EQ(d->parameters, elements);
  EXPECT_DOUBLE_EQ(d->bits_per_weight(), 8.0 * static_cast<double>(bytes) / static_cast<double>(elements));
  EXPECT_TRUE(d->label.starts_with("qwen3 ")) << d->label;
}

TEST(Describe, arrays_are_shortened_but_counted) {
  const Result<Description> d = describe(kModels + "tiny-llama.gguf", {.array_items = 3});
  ASSERT_TRUE(d.is_ok()) << d.status().message();
  int arrays = 0;
  for (const DescribedValue& v : d->metadata) {
    if (v.count < 0) continue;
    ++arrays;
    EXPECT_LE(v.value.size(), 3u) << v.key;
    EXPECT_GE(v.count, static_cast<int64_t>(v.value.size())) << v.key;
  }
  EXPECT_GT(arrays, 0);
}

TEST(Describe, a_lone_safetensors_file_is_described_with_a_note) {
  const Result<Description> d = describe(kModels + "tiny-llama/model.safetensors");
  ASSERT_TRUE(d.is_ok()) << d.status().message();
  EXPECT_EQ(d->format, "safetensors file");
  EXPECT_FALSE(d->tensors.empty());
  ASSERT_EQ(d->problems.size(), 1u);
  EXPECT_THAT(d->problems[0], HasSubstr("config.json"));
}

class DescribeEngine : public testing::Test {
 protected:
  void SetUp() override {
    ThreadPool pool({.threads = 1});
    const auto source = import::open_model(kModels + "tiny-llama.gguf");
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    const auto built = build_engine(*source, path_, {}, pool);
    ASSERT_TRUE(built.is_ok()) << built.status().message();
  }
  TestDir dir_;
  std::string path_ = dir_ / "tiny.engine";
};

TEST_F(DescribeEngine, an_engine_says_where_it_came_from_and_how_its_weights_lie) {
  const Result<Description> d = describe(path_);
  ASSERT_TRUE(d.is_ok()) << d.status().message();
  EXPECT_THAT(d->format, HasSubstr("engine"));
  EXPECT_EQ(d->engine["producer"], "nereid");
  EXPECT_FALSE(d->engine.contains("weights"));
  EXPECT_EQ(d->model["architecture"], "llama");
  ASSERT_TRUE(d->checks.has_value());
  EXPECT_TRUE(d->checks->verified);
  bool packed = false;
  for (const DescribedTensor& t : d->tensors) packed |= t.layout.starts_with("tile16");
  EXPECT_TRUE(packed);
}

TEST_F(DescribeEngine, damaged_weights_are_found) {
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 + 64);  // behind the header: the first weight
    const char damage = '\x5a';
    file.write(&damage, 1);
  }
  const Result<Description> d = describe(path_);
  ASSERT_FALSE(d.is_ok());
  EXPECT_EQ(d.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(describe(path_, {.verify = false}).is_ok());
}

TEST_F(DescribeEngine, its_graph_is_the_one_after_the_passes) {
  const Result<std::string> fused = graph_text(path_, GraphStage::kFused);
  ASSERT_TRUE(fused.is_ok()) << fused.status().message();
  EXPECT_THAT(*fused, HasSubstr("gated_linear"));
  const Result<std::string> imported = graph_text(path_, GraphStage::kImported);
  ASSERT_FALSE(imported.is_ok());
  EXPECT_EQ(imported.status().code(), StatusCode::kUnsupported);
}

TEST(GraphText, passes_make_the_graph_shorter) {
  const auto imported = graph_text(kModels + "tiny-llama.gguf", GraphStage::kImported);
  const auto fused = graph_text(kModels + "tiny-llama.gguf", GraphStage::kFused);
  ASSERT_TRUE(imported.is_ok()) << imported.status().message();
  ASSERT_TRUE(fused.is_ok()) << fused.status().message();
  EXPECT_LT(std::count(fused->begin(), fused->end(), '\n'), std::count(imported->begin(), imported->end(), '\n'));
}

TEST(Describe, what_is_no_model_is_refused_with_a_sentence) {
  for (const char* path : {"/dev/null", "/nowhere/model.gguf"}) {
    const Result<Description> d = describe(path);
    ASSERT_FALSE(d.is_ok()) << path;
    EXPECT_THAT(d.status().message(), HasSubstr(path));
  }
}

}  // namespace
}  // namespace nereid::compile
