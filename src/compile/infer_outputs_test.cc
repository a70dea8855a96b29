// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/test_dir.h"
#include "import/npy/npy.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;
using ops::Container;
using ops::Datum;
using ops::Tensor;
using ops::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

const TensorType kRow{DType::f32, Shape{2}};

Tensor row() {
  return Tensor::of(DType::f32, {2}, {1, 2});
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void touch(const std::string& path, std::string_view content = "other") {
  auto file = AtomicFile::create(path).value();
  ASSERT_TRUE(file.write(content).is_ok());
  ASSERT_TRUE(file.commit().is_ok());
}

// Writes one row under each name and commits.
void write_rows(const std::string& path, const std::vector<std::string>& names) {
  OutputFolder folder(path);
  ASSERT_TRUE(folder.prepare().is_ok());
  std::vector<InferredValue> outputs;
  for (const std::string& name : names) outputs.push_back(folder.write(name, row(), kRow).value());
  ASSERT_TRUE(folder.commit(outputs).is_ok());
}

TEST(OutputStem, bytes_that_files_should_not_have_are_escaped) {
  EXPECT_EQ(output_stem("y", 0), "y");
  EXPECT_EQ(output_stem("a/b:0 c%", 0), "a%2Fb%3A0%20c%25");
  EXPECT_EQ(output_stem("..", 0), "%2E.");
  EXPECT_EQ(output_stem("a.b_c-D9", 0), "a.b_c-D9");
  EXPECT_EQ(output_stem("\xc3\xa4", 0), "%C3%A4");
  EXPECT_EQ(output_stem(std::string_view("\0", 1), 0), "%00");
  EXPECT_EQ(output_stem("", 3), "output_3");
  EXPECT_EQ(output_stem(std::string(200, 'a'), 4), std::string(200, 'a'));
  EXPECT_EQ(output_stem(std::string(201, 'a'), 4), "output_4");
  EXPECT_EQ(output_stem(std::string(70, '/'), 5), "output_5");
}

TEST(OutputFolder, what_it_wrote_is_what_the_list_says) {
  const TestDir dir;
  const std::string path = dir / "made/here";
  OutputFolder folder(path);
  ASSERT_TRUE(folder.prepare().is_ok());
  std::vector<InferredValue> outputs;
  outputs.push_back(folder.write("y", row(), kRow).value());
  outputs.push_back(folder.write("half", Tensor::zeros(DType::bf16, {}).value(), {DType::bf16, Shape{}}).value());
  const TensorType sequence{DType::f32, Shape::unranked(), Container::kSequence};
  outputs.push_back(folder.write("s", Datum::sequence(DType::f32, {row()}), sequence).value());
  const TensorType optional{DType::f32, Shape::unranked(), Container::kOptional};
  outputs.push_back(folder.write("o", row(), optional).value());
  outputs.push_back(folder.write("", Datum::none(DType::f32), optional).value());
  ASSERT_TRUE(folder.commit(outputs).is_ok());
  EXPECT_THAT(names_in(path), ElementsAre("half.pb", "o.pb", "output_4.pb", "outputs.json", "s.pb", "y.npy"));
  EXPECT_THAT(import::npy::read_npy(path + "/y.npy")->numbers(), ElementsAre(1, 2));
  const Json list = parse_json(read_file(path + "/outputs.json", 1 << 20).value()).value();
  EXPECT_EQ(list[0], Json({{"name", "y"}, {"file", "y.npy"}, {"type", "tensor"}, {"dtype", "f32"}, {"shape", {2}}}));
  EXPECT_EQ(
      list[1],
      Json({{"name", "half"}, {"file", "half.pb"}, {"type", "tensor"}, {"dtype", "bf16"}, {"shape", Json::array()}}));
  EXPECT_EQ(list[2]["type"], "sequence");
  EXPECT_EQ(list[2]["length"], 1);
  EXPECT_EQ(list[3]["type"], "optional");
  EXPECT_EQ(list[3]["shape"], Json({2}));
  EXPECT_EQ(list[4]["shape"], Json());
}

TEST(OutputFolder, names_that_meet_get_files_of_their_own) {
  const TestDir dir;
  write_rows(dir.path(), {"output_1", "", "output_1", "output_1_2"});
  EXPECT_THAT(names_in(dir.path()),
              ElementsAre("output_1.npy", "output_1_2.npy", "output_2.npy", "output_3.npy", "outputs.json"));
}

TEST(OutputFolder, without_a_commit_nothing_stays) {
  const TestDir dir;
  {
    OutputFolder folder(dir / "a/b/");
    ASSERT_TRUE(folder.prepare().is_ok());
    ASSERT_TRUE(folder.write("y", row(), kRow).is_ok());
    EXPECT_TRUE(fs::exists(dir / "a/b/y.npy"));
  }
  EXPECT_FALSE(fs::exists(dir / "a"));
}

TEST(OutputFolder, an_earlier_run_is_removed_and_nothing_else) {
  const TestDir dir;
  write_rows(dir.path(), {"y", "z"});
  touch(dir / "mine.txt");
  touch(dir / "w.npy");
  { EXPECT_TRUE(OutputFolder(dir.path()).prepare().is_ok()); }
  EXPECT_THAT(names_in(dir.path()), ElementsAre("mine.txt", "w.npy"));
}

TEST(OutputFolder, a_result_that_is_the_next_input_stays) {
  const TestDir dir;
  write_rows(dir.path(), {"y", "z"});
  const std::vector<std::string> in_use = {dir / "../absent.npy", dir / "./z.npy"};
  EXPECT_TRUE(OutputFolder(dir.path()).prepare(in_use).is_ok());
  EXPECT_THAT(names_in(dir.path()), ElementsAre("z.npy"));
}

TEST(OutputFolder, a_list_that_lies_removes_nothing_elsewhere) {
  const TestDir dir;
  touch(dir / "keep.npy");
  fs::create_directory(dir / "out");
  fs::create_directory(dir / "out/folder.npy");
  touch(dir / "out/a.txt");
  touch(dir / "out/outputs.json",
        R"([{"file":"../keep.npy"},{"file":"a.txt"},{"file":"folder.npy"},{"file":1},7,{"file":".npy"}])");
  EXPECT_TRUE(OutputFolder(dir / "out").prepare().is_ok());
  EXPECT_TRUE(fs::exists(dir / "keep.npy"));
  EXPECT_THAT(names_in(dir / "out"), ElementsAre("a.txt", "folder.npy"));
  touch(dir / "out/outputs.json", "no JSON at all");
  EXPECT_TRUE(OutputFolder(dir / "out").prepare().is_ok());
}

TEST(OutputFolder, links_do_not_lead_out) {
  const TestDir dir;
  touch(dir / "elsewhere");
  fs::create_directory(dir / "out");
  fs::create_symlink(dir / "elsewhere", dir / "out/y.npy");
  write_rows(dir / "out", {"y"});
  EXPECT_EQ(read_file(dir / "elsewhere", 100).value(), "other");
  EXPECT_FALSE(fs::is_symlink(dir / "out/y.npy"));
}

TEST(OutputFolder, a_file_is_no_folder) {
  const TestDir dir;
  touch(dir / "file");
  EXPECT_THAT(OutputFolder(dir / "file").prepare().message(), HasSubstr("which is a file and no folder"));
  EXPECT_FALSE(OutputFolder("").prepare().is_ok());
  OutputFolder below(dir / "file/below");
  EXPECT_FALSE(below.prepare().is_ok() && below.write("y", row(), kRow).is_ok());
  EXPECT_EQ(read_file(dir / "file", 100).value(), "other");
}

}  // namespace
}  // namespace nereid::compile
