// SPDX-License-Identifier: Apache-2.0
#include "server/repository/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/test_dir.h"
#include "server/repository/layout.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kConfig =
    "backend: \"fake\" input [ { name: \"a\" data_type: TYPE_FP32 dims: [ 1 ] } ] "
    "output [ { name: \"b\" data_type: TYPE_FP32 dims: [ 1 ] } ] ";

class FakeModel final : public InferModel {
 public:
  FakeModel(LoadedConfig loaded, int64_t version) : loaded_(std::move(loaded)), version_(version) {}
  const ModelConfig& config() const override { return loaded_.config; }
  int64_t version() const override { return version_; }
  const std::string& config_json() const override { return loaded_.json; }
  const std::vector<std::string>& labels(std::string_view) const override { return loaded_.labels[0]; }
  Status infer(InferRequest, InferSink) override { return Status::ok(); }
  InferStatistics statistics() const override { return {}; }
  bool is_ready() const override { return true; }
  void drain() override {}

 private:
  const LoadedConfig loaded_;
  const int64_t version_;
};

// Loads whatever has a file "works" in its version's folder.
class FakeLoader final : public ModelLoader {
 public:
  Result<ConfigCompletion> complete(const ModelConfig&, const ModelPlace&) override { return ConfigCompletion{}; }
  Result<std::shared_ptr<InferModel>> load(const LoadedConfig& loaded, const ModelPlace& place) override {
    ++loads;
    if (!loaded.config.is_ensemble() && !fs::exists(place.version_folder + "/works"))
      return invalid_argument("it is broken");
    return std::shared_ptr<InferModel>(std::make_shared<FakeModel>(loaded, place.version));
  }
  int loads = 0;
};

class RepositoryTest : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view content) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  void add(const std::string& name, std::vector<int> versions = {1}, std::string_view more = "") {
    write(name + "/config.pbtxt", std::string(kConfig) + std::string(more));
    for (const int version : versions) write(name + "/" + std::to_string(version) + "/works", "");
  }
  Repository& open(ControlMode mode = ControlMode::kExplicit, std::vector<std::string> load = {}) {
    auto opened = Repository::open({.folders = {root_.string()}, .mode = mode, .load = std::move(load)}, loader_);
    EXPECT_TRUE(opened.is_ok()) << opened.status().message();
    repository_ = std::move(*opened);
    return *repository_;
  }
  // "name/version/STATE/reason"
  std::vector<std::string> index(bool ready_only = false) {
    std::vector<std::string> rows;
    for (const IndexRow& row : repository_->index(ready_only))
      rows.push_back(row.name + "/" + row.version + "/" +
                     (row.version.empty() ? "" : std::string(model_state_name(row.state))) + "/" + row.reason);
    return rows;
  }
  void settle() {
    for (int i = 0; i < 1000; ++i) {
      const auto rows = index();
      if (std::none_of(rows.begin(), rows.end(), [](const auto& r) { return r.find("UNLOADING") != r.npos; })) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  TestDir dir_;
  fs::path root_ = fs::path(dir_.path()) / "models";
  FakeLoader loader_;
  std::unique_ptr<Repository> repository_;
};

TEST_F(RepositoryTest, in_mode_none_everything_is_loaded_and_nothing_may_be_asked_for) {
  add("one");
  add("two");
  Repository& repository = open(ControlMode::kNone);
  EXPECT_FALSE(repository.is_ready());
  ASSERT_TRUE(repository.start().is_ok());
  EXPECT_TRUE(repository.is_ready());
  EXPECT_THAT(index(), ElementsAre("one/1/READY/", "two/1/READY/"));
  EXPECT_EQ(repository.load("one", {}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(repository.unload("one", false).code(), StatusCode::kUnavailable);
}

TEST_F(RepositoryTest, explicit_loads_and_unloads_show_in_the_index) {
  add("one");
  add("two");
  Repository& repository = open();
  ASSERT_TRUE(repository.start().is_ok());
  EXPECT_THAT(index(), ElementsAre("one///", "two///"));
  ASSERT_TRUE(repository.load("one", {}).is_ok());
  EXPECT_THAT(index(), ElementsAre("one/1/READY/", "two///"));
  EXPECT_THAT(index(true), ElementsAre("one/1/READY/"));
  ASSERT_TRUE(repository.unload("one", false).is_ok());
  settle();
  EXPECT_THAT(index(), ElementsAre("one/1/UNAVAILABLE/unloaded", "two///"));
  EXPECT_TRUE(repository.is_ready());
  EXPECT_EQ(repository.find("one", -1).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(repository.unload("nothing", false).is_ok());
}

TEST_F(RepositoryTest, the_policy_picks_the_versions) {
  add("latest", {1, 2, 3});
  add("two", {1, 2, 3}, "version_policy { latest { num_versions: 2 } }");
  add("all", {1, 2, 3}, "version_policy { all { } }");
  add("some", {1, 2, 3}, "version_policy { specific { versions: [ 1, 3, 7 ] } }");
  write("latest/007/works", "");
  write("latest/x/works", "");
  Repository& repository = open(ControlMode::kNone);
  ASSERT_TRUE(repository.start().is_ok());
  EXPECT_THAT(index(), ElementsAre("all/1/READY/", "all/2/READY/", "all/3/READY/", "latest/3/READY/", "some/1/READY/",
                                   "some/3/READY/", "two/2/READY/", "two/3/READY/"));
  EXPECT_EQ((*repository.find("all", -1))->version(), 3);
  EXPECT_EQ((*repository.find("all", 2))->version(), 2);
  EXPECT_EQ(repository.find("two", 1).status().message(), "Request for unknown model: 'two' version 1 is not found");
}

TEST_F(RepositoryTest, a_load_that_fails_says_why_and_the_server_is_not_ready) {
  add("broken");
  fs::remove(root_ / "broken/1/works");
  Repository& repository = open();
  ASSERT_TRUE(repository.start().is_ok());
  EXPECT_EQ(repository.load("broken", {}).message(),
            "load failed for model 'broken': version 1 is at UNAVAILABLE state: Invalid argument: it is broken;\n");
  EXPECT_THAT(index(), ElementsAre("broken/1/UNAVAILABLE/Invalid argument: it is broken"));
  EXPECT_FALSE(repository.is_ready());
  EXPECT_EQ(
      repository.load("none", {}).message(),
      "failed to load 'none', failed to poll from model repository: no model repository has a folder of that name");
  EXPECT_EQ(repository.load("none", {}).code(), StatusCode::kInternal);
}

TEST_F(RepositoryTest, a_reload_that_fails_leaves_the_version_before_it_in_place) {
  add("one");
  Repository& repository = open();
  ASSERT_TRUE(repository.load("one", {}).is_ok());
  fs::remove(root_ / "one/1/works");
  EXPECT_FALSE(repository.load("one", {}).is_ok());
  EXPECT_TRUE(repository.find("one", -1).is_ok());
  EXPECT_THAT(index(), ElementsAre("one/1/READY/"));
}

TEST_F(RepositoryTest, an_unchanged_model_is_not_loaded_again) {
  add("one");
  Repository& repository = open();
  ASSERT_TRUE(repository.load("one", {}).is_ok());
  ASSERT_TRUE(repository.load("one", {}).is_ok());
  EXPECT_EQ(loader_.loads, 1);
  write("one/1/more", "x");
  ASSERT_TRUE(repository.load("one", {}).is_ok());
  EXPECT_EQ(loader_.loads, 2);
}

TEST_F(RepositoryTest, polling_follows_the_folder_and_keeps_what_was_spoiled) {
  add("one");
  Repository& repository = open(ControlMode::kPoll);
  ASSERT_TRUE(repository.start().is_ok());
  add("two");
  add("one", {1, 3});
  repository.poll();
  settle();
  EXPECT_THAT(index(), ElementsAre("one/1/UNAVAILABLE/unloaded", "one/3/READY/", "two/1/READY/"));
  write("one/config.pbtxt", "this is no config");
  fs::remove_all(root_ / "two");
  repository.poll();
  settle();
  EXPECT_THAT(index(), ElementsAre("one/1/UNAVAILABLE/unloaded", "one/3/READY/"));
  EXPECT_TRUE(repository.is_ready());
}

TEST_F(RepositoryTest, an_ensemble_brings_its_members_and_takes_them_away_again) {
  add("asked");
  add("member");
  write("ens/config.pbtxt",
        "platform: \"ensemble\" input [ { name: \"i\" data_type: TYPE_FP32 dims: [ 1 ] } ] "
        "output [ { name: \"o\" data_type: TYPE_FP32 dims: [ 1 ] } ] ensemble_scheduling { step [ "
        "{ model_name: \"asked\" model_version: -1 input_map { key: \"a\" value: \"i\" } "
        "output_map { key: \"b\" value: \"m\" } }, "
        "{ model_name: \"member\" model_version: -1 input_map { key: \"a\" value: \"m\" } "
        "output_map { key: \"b\" value: \"o\" } } ] }");
  fs::create_directories(root_ / "ens/1");
  Repository& repository = open();
  ASSERT_TRUE(repository.load("asked", {}).is_ok());
  ASSERT_TRUE(repository.load("ens", {}).is_ok());
  EXPECT_THAT(index(), ElementsAre("asked/1/READY/", "ens/1/READY/", "member/1/READY/"));
  ASSERT_TRUE(repository.unload("ens", true).is_ok());
  settle();
  EXPECT_THAT(index(), ElementsAre("asked/1/READY/", "ens/1/UNAVAILABLE/unloaded", "member/1/UNAVAILABLE/unloaded"));
}

TEST_F(RepositoryTest, a_load_may_bring_its_own_configuration_and_files_but_none_outside) {
  add("one");
  Repository& repository = open();
  const std::string config =
      R"({"backend":"fake","max_batch_size":4,"input":[{"name":"a","data_type":"TYPE_FP32","dims":[1]}],)"
      R"("output":[{"name":"b","data_type":"TYPE_FP32","dims":[1]}]})";
  ASSERT_TRUE(repository.load("one", {.config = config, .files = {}}).is_ok());
  EXPECT_EQ((*repository.find("one", -1))->config().max_batch_size, 4);
  EXPECT_FALSE(repository.load("one", {.config = "{x", .files = {}}).is_ok());
  ASSERT_TRUE(repository.load("made", {.config = config, .files = {{"5/works", "x"}}}).is_ok());
  EXPECT_EQ((*repository.find("made", -1))->version(), 5);
  EXPECT_FALSE(repository.load("made", {.config = "", .files = {{"5/works", "x"}}}).is_ok());
  for (const char* path : {"../x", "/tmp/x", "1/../../x", ""})
    EXPECT_FALSE(repository.load("bad", {.config = config, .files = {{path, "x"}}}).is_ok()) << path;
  for (const char* name : {"", ".", "..", "a/b", "../one", " ", "a\nb"})
    EXPECT_EQ(repository.load(name, {}).code(), StatusCode::kInvalidArgument) << name;
  EXPECT_FALSE(fs::exists(root_ / "x"));
}

TEST_F(RepositoryTest, files_of_a_request_that_are_no_model_leave_nothing) {
  add("one");
  Repository& repository = open();
  ASSERT_TRUE(repository.start().is_ok());
  const std::string config = R"({"backend":"fake","input":[{"name":"a","data_type":"TYPE_FP32","dims":[1]}],)"
                             R"("output":[{"name":"b","data_type":"TYPE_FP32","dims":[1]}]})";
  const auto copies = [] {
    return std::count_if(fs::directory_iterator(fs::temp_directory_path()), {}, [](const fs::directory_entry& one) {
      return one.path().filename().string().starts_with("nereid-model-");
    });
  };
  const auto before = copies();
  EXPECT_THAT(repository.load("made", {.config = config, .files = {{"1/file", "x"}}}).message(),
              HasSubstr("it is broken"));
  EXPECT_TRUE(repository.is_ready());  // nobody could find out from the index why not
  EXPECT_EQ(copies(), before);
  // Of a model of the repository that fails, the server says that it is not ready; the files go all the same.
  EXPECT_FALSE(repository.load("one", {.config = config, .files = {{"1/file", "x"}}}).is_ok());
  EXPECT_FALSE(repository.is_ready());
  EXPECT_EQ(copies(), before);
  ASSERT_TRUE(repository.unload("one", false).is_ok());
  EXPECT_TRUE(repository.is_ready());
}

TEST_F(RepositoryTest, labels_stay_inside_the_model) {
  add("one", {1});
  write("one/config.pbtxt",
        "backend: \"fake\" output [ { name: \"b\" data_type: TYPE_FP32 dims: [ 1 ] label_filename: \"../secret\" } ]");
  write("secret", "x");
  EXPECT_THAT(open().load("one", {}).message(), HasSubstr("'../secret'"));
}

TEST_F(RepositoryTest, the_models_file_stays_inside_the_model) {
  add("one", {1});
  for (const std::string path : {"../../secret", "/etc/hostname"}) {
    write("one/config.pbtxt", "backend: \"fake\" default_model_filename: \"" + path + "\"");
    EXPECT_THAT(open().load("one", {}).message(), HasSubstr("'" + path + "' would lie outside"));
  }
}

TEST_F(RepositoryTest, a_folder_that_cannot_be_read_any_more_takes_no_model_with_it) {
  add("one");
  add("two");
  Repository& repository = open(ControlMode::kPoll);
  ASSERT_TRUE(repository.start().is_ok());
  fs::rename(root_, root_.string() + ".away");
  repository.poll();
  EXPECT_THAT(index(), ElementsAre("one/1/READY/", "two/1/READY/"));
  EXPECT_TRUE(repository.is_ready());
  fs::rename(root_.string() + ".away", root_);
  fs::remove_all(root_ / "two");
  repository.poll();
  settle();
  EXPECT_THAT(index(), ElementsAre("one/1/READY/"));
}

TEST_F(RepositoryTest, a_repository_that_is_not_there_is_told) {
  EXPECT_EQ(Repository::open({.folders = {(root_ / "none").string()}}, loader_).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid::server
