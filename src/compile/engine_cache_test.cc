// SPDX-License-Identifier: Apache-2.0
// Engines are built once, found again by what the model is, built anew when damaged, and never left half-written.
#include "compile/engine_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/test_dir.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string tiny(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/models/" + name;
}

std::string content(const std::string& path) {
  return read_file(path, size_t{64} << 20).value();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code e;
  for (const auto& entry : fs::directory_iterator(folder, e)) names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

void overwrite(const std::string& path, size_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

// A cache folder of the test's own, and a model that it may change.
class EngineCache : public ::testing::Test {
 protected:
  EngineCache() {
    ::setenv("NEREID_CACHE_DIR", (dir_ / "cache").c_str(), 1);
    fs::copy_file(tiny("tiny-llama.gguf"), model_);
  }
  ~EngineCache() override { ::unsetenv("NEREID_CACHE_DIR"); }

  OpenedEngine open(const std::string& path, const EngineOptions& options = {}) {
    Result<OpenedEngine> opened = open_engine(path, options, pool_);
    EXPECT_TRUE(opened.is_ok()) << opened.status().message();
    return std::move(opened).value();
  }
  std::vector<std::string> engines() const { return names_in(dir_ / "cache/engines"); }
  std::vector<std::string> index() const { return names_in(dir_ / "cache/index"); }

  TestDir dir_;
  std::string model_ = dir_ / "model.gguf";
  ThreadPool pool_{{.threads = 2, .pin = false}};
};

TEST_F(EngineCache, a_model_is_packed_once) {
  EXPECT_TRUE(open(model_).was_built);
  EXPECT_FALSE(open(model_).was_built);
  EXPECT_EQ(engines().size(), 1u);
  EXPECT_EQ(index().size(), 1u);
}

TEST_F(EngineCache, a_second_start_does_not_read_the_model) {
  open(model_);
  // Same size, time and inode, other bytes: whoever reads it must notice.
  struct stat before {};
  ASSERT_EQ(::stat(model_.c_str(), &before), 0);
  overwrite(model_, 0, 'X');
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, model_.c_str(), times, 0), 0);
  EXPECT_FALSE(open(model_).was_built);
}

TEST_F(EngineCache, a_touched_copied_or_renamed_model_is_the_same_model) {
  open(model_);
  fs::last_write_time(model_, fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_FALSE(open(model_).was_built);
  fs::copy_file(model_, dir_ / "copy.gguf");
  EXPECT_FALSE(open(dir_ / "copy.gguf").was_built);
  fs::rename(model_, dir_ / "other-name");
  EXPECT_FALSE(open(dir_ / "other-name").was_built);
  fs::create_symlink(dir_ / "other-name", dir_ / "link");
  EXPECT_FALSE(open(dir_ / "link").was_built);
  EXPECT_EQ(engines().size(), 1u);
}

TEST_F(EngineCache, other_weights_or_options_are_another_engine) {
  open(model_);
  EXPECT_TRUE(open(model_, {.page_tokens = 16}).was_built);
  EXPECT_TRUE(open(model_, {.max_context = 64}).was_built);
  EXPECT_TRUE(open(model_, {.exact = true}).was_built);
  EXPECT_EQ(engines().size(), 4u);
  overwrite(model_, fs::file_size(model_) - 10, 'X');
  EXPECT_TRUE(open(model_).was_built);
  EXPECT_EQ(engines().size(), 5u);
  EXPECT_EQ(open(model_, {.page_tokens = 16}).file.info()["page_tokens"], 16);
}

TEST_F(EngineCache, a_damaged_engine_is_built_anew) {
  open(model_);
  const std::string engine = engines().at(0);
  const std::string sound = content(engine);
  const auto expect_rebuilt = [&](const std::string& what) {
    EXPECT_TRUE(open(model_).was_built) << what;
    EXPECT_EQ(content(engine), sound) << what;
    EXPECT_FALSE(open(model_).was_built) << what;
  };
  overwrite(engine, 100, 'X');
  expect_rebuilt("a wrong header");
  overwrite(engine, sound.size() - 3, '\x01');
  expect_rebuilt("wrong metadata");
  fs::resize_file(engine, sound.size() / 2);
  expect_rebuilt("half an engine");
  fs::resize_file(engine, 0);
  expect_rebuilt("an empty file");
  fs::remove(engine);
  expect_rebuilt("no engine");
}

TEST_F(EngineCache, a_damaged_index_costs_a_look_at_the_model_and_no_more) {
  open(model_);
  const std::string entry = index().at(0);
  for (const std::string& bad :
       {std::string(), std::string("../../../etc/passwd"), std::string(5000, 'x'), std::string("a\0b", 3)}) {
    std::ofstream(entry, std::ios::binary | std::ios::trunc) << bad;
    EXPECT_FALSE(open(model_).was_built);
    EXPECT_EQ(content(entry), fs::path(engines().at(0)).filename().string());
  }
  fs::remove_all(dir_ / "cache/index");
  EXPECT_FALSE(open(model_).was_built);
}

TEST_F(EngineCache, an_engine_file_is_a_model_path_too) {
  open(model_);
  const std::string own = dir_ / "mine.engine";
  fs::copy_file(engines().at(0), own);
  fs::remove_all(dir_ / "cache");
  const OpenedEngine opened = open(own);
  EXPECT_FALSE(opened.was_built);
  EXPECT_EQ(opened.file.path(), own);
  EXPECT_TRUE(engines().empty());
  // One that somebody names is not built anew behind his back.
  fs::resize_file(own, 5000);
  EXPECT_THAT(open_engine(own, {}, pool_).status().message(), AllOf(HasSubstr(own), HasSubstr("is corrupt")));
}

TEST_F(EngineCache, a_directorys_tokenizer_is_part_of_the_model) {
  const std::string folder = dir_ / "folder";
  fs::copy(tiny("tiny-llama"), folder);
  EXPECT_TRUE(open(folder).was_built);
  EXPECT_FALSE(open(folder).was_built);
  std::ofstream(folder + "/notes.txt") << "nothing to do with it";
  EXPECT_FALSE(open(folder).was_built);
  Json config = parse_json(content(folder + "/tokenizer_config.json")).value();
  config["chat_template"] = "{{ messages[0].content }}";
  std::ofstream(folder + "/tokenizer_config.json", std::ios::trunc) << config.dump();
  EXPECT_TRUE(open(folder).was_built);
  EXPECT_EQ(engines().size(), 2u);
}

TEST_F(EngineCache, a_cache_that_cannot_be_written_is_a_sentence) {
  std::ofstream(dir_ / "file") << "in the way";
  ::setenv("NEREID_CACHE_DIR", (dir_ / "file/cache").c_str(), 1);
  EXPECT_THAT(open_engine(model_, {}, pool_).status().message(), HasSubstr(dir_ / "file"));
  fs::create_directory(dir_ / "half");
  std::ofstream(dir_ / "half/engines") << "in the way";
  ::setenv("NEREID_CACHE_DIR", (dir_ / "half").c_str(), 1);
  const Status s = open_engine(model_, {}, pool_).status();
  EXPECT_EQ(s.code(), StatusCode::kExhausted);
  EXPECT_THAT(s.message(), AllOf(HasSubstr("cannot be written"), HasSubstr("set NEREID_CACHE_DIR")));
}

TEST_F(EngineCache, what_is_no_model_leaves_nothing_behind) {
  EXPECT_EQ(open_engine(dir_ / "absent", {}, pool_).status().code(), StatusCode::kNotFound);
  std::ofstream(dir_ / "text") << "no model";
  EXPECT_FALSE(open_engine(dir_ / "text", {}, pool_).is_ok());
  fs::resize_file(model_, fs::file_size(model_) / 2);
  EXPECT_FALSE(open_engine(model_, {}, pool_).is_ok());
  EXPECT_TRUE(engines().empty());
}

TEST_F(EngineCache, the_same_model_gives_the_same_bytes_on_any_number_of_threads) {
  const import::ModelSource source = import::open_model(model_).value();
  ThreadPool one({.threads = 1}), three({.threads = 3, .pin = false});
  int64_t last = 0;
  const ProgressFn rising = [&](int64_t done, int64_t total) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, total);
    last = done;
  };
  ASSERT_TRUE(build_engine(source, dir_ / "a", {}, one, rising).is_ok());
  ASSERT_TRUE(build_engine(source, dir_ / "b", {}, three).is_ok());
  EXPECT_GT(last, 0);
  EXPECT_EQ(content(dir_ / "a"), content(dir_ / "b"));
}

// `body`'s result as the exit code of a process of its own, where signals and limits do no harm.
int in_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(EngineCache, ctrl_c_while_packing_leaves_nothing) {
  const int code = in_child([&] {
    install_interrupt_handler();
    ThreadPool pool({.threads = 1});
    // After the first weight, in the middle of the work.
    const Status s = open_engine(model_, {}, pool, [](int64_t, int64_t) {
                       if (!interrupted()) ::raise(SIGINT);
                     }).status();
    if (s.code() != StatusCode::kCancelled) return 1;
    return s.message().find("nothing was written") == std::string::npos ? 2 : 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(engines().empty());
  EXPECT_TRUE(index().empty());
}

TEST_F(EngineCache, a_full_disk_while_packing_is_exhausted_and_leaves_nothing) {
  open(model_);
  const rlim_t size = fs::file_size(engines().at(0));
  for (rlim_t bytes : {rlim_t{1000}, size / 2, size - 10}) {
    fs::remove_all(dir_ / "cache");
    const int code = in_child([&] {
      install_interrupt_handler();
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      ThreadPool pool({.threads = 1});
      const Status s = open_engine(model_, {}, pool).status();
      if (s.code() != StatusCode::kExhausted) return 1;
      return s.message().find(dir_ / "cache") == std::string::npos ? 2 : 0;
    });
    EXPECT_EQ(code, 0) << bytes;
    EXPECT_TRUE(engines().empty()) << bytes;
  }
}

}  // namespace
}  // namespace nereid::compile
