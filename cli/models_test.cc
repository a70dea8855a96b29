// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"
#include "cli/model_fetch.h"
#include "cli/model_store.h"
#include "cli/subprocess.h"

namespace nereid::cli {
namespace {

using testing::HasSubstr;

// sha256 of "abc", the example of the standard (FIPS 180-2, B.1).
constexpr std::string_view kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

ModelFile file(std::string name, std::string path, int64_t bytes = 3) {
  return {.name = std::move(name),
          .alias = "",
          .purpose = "test",
          .package = "a-package",
          .version = "1.0",
          .kind = "wheel",
          .file = std::move(path),
          .bytes = bytes,
          .sha256 = std::string(kAbc),
          .licence = "MIT"};
}

void write(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(ModelStore, rows_of_one_name_are_one_model) {
  const auto models = group_models({file("x", "1", 5), file("y", "2"), file("x", "3", 7)});
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].files.size(), 2u);
  EXPECT_EQ(models[0].bytes(), 12);
}

TEST(ModelStore, a_model_is_found_by_name_or_alias_and_an_unknown_one_names_the_others) {
  ModelFile aliased = file("x", "1");
  aliased.alias = "x-135m";
  const auto models = group_models({aliased, file("y", "2")});
  EXPECT_TRUE(find_model(models, "x").is_ok());
  EXPECT_TRUE(find_model(models, "x-135m").is_ok());
  const auto none = find_model(models, "z");
  ASSERT_FALSE(none.is_ok());
  EXPECT_THAT(none.status().message(), HasSubstr("there are: x-135m, y"));
  EXPECT_FALSE(find_model(models, "").is_ok());
}

TEST(ModelStore, the_folder_that_has_all_files_is_the_one) {
  const NamedModel model = group_models({file("x", "1"), file("x", "2")}).front();
  const TestDir partly, whole;
  write(partly / model.files[0].path(), "abc");
  for (const ModelFile& f : model.files) write(whole / f.path(), "abc");
  EXPECT_EQ(look_for(model, {partly.path(), whole.path()}).folder, whole.path());
  EXPECT_EQ(look_for(model, {partly.path()}).present, 1u);
  EXPECT_EQ(look_for(model, {"/nowhere"}).present, 0u);
}

TEST(ModelStore, a_file_of_another_size_does_not_count) {
  const NamedModel model = group_models({file("x", "1")}).front();
  const TestDir dir;
  write(dir / model.files[0].path(), "abcd");
  EXPECT_EQ(look_for(model, {dir.path()}).present, 0u);
}

TEST(ModelStore, a_wrong_checksum_names_both) {
  const TestDir dir;
  write(dir / "f", "abd");
  const Status status = verify_file(dir / "f", file("x", "1"));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(std::string(kAbc)));
  write(dir / "f", "abc");
  EXPECT_TRUE(verify_file(dir / "f", file("x", "1")).is_ok());
}

TEST(ModelFetch, failures_of_pip_become_sentences) {
  EXPECT_EQ(explain_pip_failure("a==1",
                                "WARNING: Retrying ... NewConnectionError('<...>: Failed to establish')\nERROR: "
                                "Could not find a version that satisfies the requirement a==1\n")
                .code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(explain_pip_failure("a==1",
                                "ERROR: Could not find a version that satisfies the requirement a==1 (from "
                                "versions: none)\nERROR: No matching distribution found for a==1\n")
                .code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(explain_pip_failure("a==1", "ERROR: No matching distribution found for a==1\n").code(),
            StatusCode::kNotFound);
  EXPECT_EQ(explain_pip_failure("a==1", "OSError: [Errno 28] No space left on device\n").code(),
            StatusCode::kExhausted);
  EXPECT_THAT(explain_pip_failure("a==1", "x\nERROR: something else\n\n").message(),
              HasSubstr("pip said: ERROR: something else"));
  EXPECT_THAT(explain_pip_failure("a==1", "").message(), HasSubstr("said nothing"));
  EXPECT_THAT(explain_pip_failure("a==1", "one line").message(), HasSubstr("pip said: one line"));
}

TEST(ModelFetch, leftovers_of_dead_runs_go_and_those_of_live_ones_stay) {
  const TestDir dir;
  const auto gone = run_process({.argv = {"sh", "-c", "echo $$"}});
  ASSERT_TRUE(gone.is_ok());
  const std::string dead = dir / (".pull-" + gone->output.substr(0, gone->output.find('\n')) + "-abcdef");
  const std::string live = dir / fmt::format(".pull-{}-abcdef", ::getpid());
  write(dead + "/got/file", "x");
  write(live + "/got/file", "x");
  write(dir / "kept", "x");
  remove_leftovers(dir.path());
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(live));
  EXPECT_TRUE(std::filesystem::exists(dir / "kept"));
}

TEST(Subprocess, output_of_both_streams_and_the_exit_code_come_back) {
  const auto r = run_process({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
  ASSERT_TRUE(r.is_ok()) << r.status().message();
  EXPECT_EQ(r->exit_code, 3);
  EXPECT_EQ(r->output, "out\nerr\n");
}

TEST(Subprocess, a_program_that_is_not_there_is_named) {
  const auto r = run_process({.argv = {"nereid-no-such-program"}});
  ASSERT_FALSE(r.is_ok());
  EXPECT_EQ(r.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(r.status().message(), HasSubstr("nereid-no-such-program"));
}

TEST(Subprocess, a_program_that_hangs_is_ended_with_its_children) {
  const auto r = run_process({.argv = {"sh", "-c", "sleep 60 & sleep 60"}, .timeout_ms = 200});
  ASSERT_FALSE(r.is_ok());
  EXPECT_EQ(r.status().code(), StatusCode::kUnavailable);
}

TEST(Subprocess, the_last_part_of_a_long_output_is_kept) {
  const auto r = run_process({.argv = {"sh", "-c", "yes | head -c 100000; printf end"}, .max_output = 1000});
  ASSERT_TRUE(r.is_ok());
  EXPECT_EQ(r->output.size(), 1000u);
  EXPECT_TRUE(r->output.ends_with("end"));
}

TEST(Subprocess, variables_are_added_to_the_environment) {
  const auto r =
      run_process({.argv = {"sh", "-c", "printf $NEREID_TEST_X-$HOME"}, .environment = {{"NEREID_TEST_X", "7"}}});
  ASSERT_TRUE(r.is_ok());
  EXPECT_TRUE(r->output.starts_with("7-/")) << r->output;
}

}  // namespace
}  // namespace nereid::cli
