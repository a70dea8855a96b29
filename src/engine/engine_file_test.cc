// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "engine/test_engine.h"

namespace nereid::engine {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::engine_bytes;
using ::testing::HasSubstr;
using testing::numbered_bytes;
using testing::with_header;
using testing::with_info;
using testing::write_engine;

std::string refusal(std::span<const std::byte> bytes) {
  const Result<EngineFile> file = EngineFile::parse(bytes, "some.engine");
  return file.is_ok() ? "" : file.status().message();
}

TEST(EngineFile, gives_back_what_was_written) {
  const TestDir dir;
  const size_t middle = static_cast<size_t>(2 * kChunkBytes + 12345);
  ASSERT_TRUE(write_engine(dir / "e", middle).is_ok());
  EXPECT_EQ(dir.files(), 1);
  const Result<EngineFile> opened = EngineFile::open(dir / "e");
  ASSERT_TRUE(opened.is_ok()) << opened.status().message();
  const EngineFile& file = *opened;
  EXPECT_EQ(file.path(), dir / "e");
  EXPECT_EQ(file.info()["producer"], "test");
  EXPECT_EQ(file.graph_text(), "graph main {\n}\n");
  EXPECT_EQ(file.metadata(), "metadata");
  ASSERT_EQ(file.weights().size(), 3u);
  EXPECT_EQ(file.weights()[0].name, "norm");
  EXPECT_EQ(file.weights()[1].layout, "tile16 f32 group=32 offset=0 zero=0 rows=1 cols=1");
  EXPECT_EQ(file.weights()[1].bytes, static_cast<int64_t>(middle));
  ASSERT_EQ(file.chunk_count(), 3);
  std::vector<std::byte> weights(static_cast<size_t>(file.weights_bytes()));
  for (int64_t i = 0; i < file.chunk_count(); ++i)
    ASSERT_TRUE(file.read_chunk(i, weights.data() + i * kChunkBytes).is_ok());
  const size_t sizes[] = {36, middle, 5};
  for (size_t w = 0; w < 3; ++w) {
    const WeightEntry& entry = file.weights()[w];
    EXPECT_EQ(entry.offset % 64, 0);
    const auto want = numbered_bytes(sizes[w]);
    EXPECT_TRUE(std::equal(want.begin(), want.end(), weights.begin() + entry.offset)) << entry.name;
  }
}

TEST(EngineFile, the_same_content_makes_the_same_bytes) {
  EXPECT_EQ(engine_bytes(), engine_bytes());
}

TEST(EngineFile, an_engine_without_weights_is_sound) {
  const TestDir dir;
  EngineWriter writer = EngineWriter::create(dir / "e").value();
  ASSERT_TRUE(writer.commit(Json::object(), "", "").is_ok());
  const Result<EngineFile> file = EngineFile::open(dir / "e");
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  EXPECT_EQ(file->chunk_count(), 0);
  EXPECT_EQ(file->weights_bytes(), 0);
}

// Paths on disk are bytes, not text.
TEST(EngineFile, info_that_is_not_utf8_is_written_as_well_as_it_goes) {
  const TestDir dir;
  EngineWriter writer = EngineWriter::create(dir / "e").value();
  ASSERT_TRUE(writer.commit({{"path", "a\xff"}}, "", "").is_ok());
  EXPECT_EQ(EngineFile::open(dir / "e").value().info()["path"], "a\xef\xbf\xbd");
}

TEST(EngineFile, every_truncation_is_a_sentence) {
  const std::vector<std::byte> bytes = engine_bytes();
  for (size_t n = 0; n < bytes.size(); n += n < 16 || n + 16 > bytes.size() ? 1 : 13) {
    const std::string message = refusal(std::span(bytes).first(n));
    if (n < 8)
      EXPECT_THAT(message, HasSubstr("does not begin with NEREIDEN")) << n;
    else
      EXPECT_THAT(message, AllOf(HasSubstr("'some.engine'"), HasSubstr(std::to_string(n)), EndsWith("build it anew")))
          << n;
  }
  EXPECT_EQ(refusal(bytes), "");
}

TEST(EngineFile, every_flipped_bit_is_found_and_told) {
  const std::vector<std::byte> good = engine_bytes();
  const EngineFile sound = EngineFile::parse(good, "some.engine").value();
  const auto weights_end = static_cast<size_t>(kHeaderBytes + sound.weights_bytes());
  std::vector<std::byte> bytes = good;
  std::vector<std::byte> chunk(static_cast<size_t>(sound.weights_bytes()));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      if (i < kHeaderBytes && i > 400 && bit != static_cast<int>(i % 8)) continue;  // of the reserved zeros, one a byte
      bytes[i] ^= std::byte{1} << bit;
      const Result<EngineFile> file = EngineFile::parse(bytes, "some.engine");
      if (static_cast<size_t>(kHeaderBytes) <= i && i < weights_end) {
        ASSERT_TRUE(file.is_ok()) << i;
        const Status s = file->read_chunk(0, chunk.data());
        ASSERT_THAT(s.message(), HasSubstr("the weights at byte 0 do not match their checksum")) << i;
      } else {
        ASSERT_FALSE(file.is_ok()) << "byte " << i << " bit " << bit;
        ASSERT_THAT(file.status().message(), HasSubstr("'some.engine'"));
      }
      bytes[i] = good[i];
    }
}

TEST(EngineFile, a_flipped_weight_is_found_in_its_chunk_and_no_other) {
  const TestDir dir;
  ASSERT_TRUE(write_engine(dir / "e", static_cast<size_t>(2 * kChunkBytes)).is_ok());
  {
    std::fstream file(dir / "e", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kHeaderBytes + kChunkBytes + 77);
    file.put('!');
  }
  const EngineFile file = EngineFile::open(dir / "e").value();
  std::vector<std::byte> chunk(static_cast<size_t>(kChunkBytes));
  EXPECT_TRUE(file.read_chunk(0, chunk.data()).is_ok());
  const Status s = file.read_chunk(1, chunk.data());
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), AllOf(HasSubstr(dir / "e"), HasSubstr("at byte 1048576 "), EndsWith("build it anew")));
  EXPECT_TRUE(file.read_chunk(2, chunk.data()).is_ok());
  ThreadPool pool({.threads = 2});
  EXPECT_EQ(file.read_weights(pool).message(), s.message());
}

TEST(EngineFile, a_file_that_shrinks_while_it_is_open_is_a_sentence) {
  const TestDir dir;
  ASSERT_TRUE(write_engine(dir / "e", static_cast<size_t>(2 * kChunkBytes)).is_ok());
  const EngineFile file = EngineFile::open(dir / "e").value();
  std::filesystem::resize_file(dir / "e", kHeaderBytes + kChunkBytes);
  std::vector<std::byte> chunk(static_cast<size_t>(kChunkBytes));
  EXPECT_TRUE(file.read_chunk(0, chunk.data()).is_ok());
  EXPECT_THAT(file.read_chunk(1, chunk.data()).message(), HasSubstr("it was cut short"));
}

TEST(EngineFile, another_version_is_unsupported_and_says_which) {
  const auto bytes = with_header(engine_bytes(), [](Header& h) { h.version = 77; });
  const Result<EngineFile> file = EngineFile::parse(bytes, "some.engine");
  EXPECT_EQ(file.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(file.status().message(), AllOf(HasSubstr("version 77"), HasSubstr("reads version 1")));
}

TEST(EngineFile, headers_with_right_checksums_and_wrong_contents_are_refused) {
  const std::vector<std::byte> good = engine_bytes();
  const auto refused = [&](const std::function<void(Header&)>& change, const std::string& says) {
    EXPECT_THAT(refusal(with_header(good, change)), HasSubstr(says));
  };
  refused([](Header& h) { h.section_count = 4; }, "4 sections instead of 5");
  refused([](Header& h) { h.file_size += 1; }, "its header says");
  refused([](Header& h) { h.sections[kInfo].name[0] = 'x'; }, "its section 2 should be 'info'");
  refused([](Header& h) { h.sections[kInfo].name.fill('i'); }, "its section 2 should be 'info'");
  refused([](Header& h) { std::swap(h.sections[kGraph], h.sections[kMetadata]); }, "should be 'graph'");
  for (int64_t bad : {int64_t{-64}, int64_t{0}, int64_t{64}, int64_t{1} << 40, INT64_MAX, INT64_MIN})
    for (size_t i = 0; i < kSectionCount; ++i) {
      refused([&](Header& h) { h.sections[i].offset = bad; }, "lies outside the file or on top of another");
      if (bad != 0 && bad != 64) refused([&](Header& h) { h.sections[i].size = bad; }, "lies outside the file");
    }
  refused([](Header& h) { h.sections[kMetadata].size -= 1; }, "behind its last section");
  refused([](Header& h) { h.sections[kGraph].size -= 1; }, "something between its sections");
  refused([](Header& h) { h.sections[kSums].size = 64; }, "one checksum for each chunk");
  refused([](Header& h) { h.sections[kSums].size = 0; }, "on top of another");
}

TEST(EngineFile, tables_of_weights_that_lie_are_refused) {
  const std::vector<std::byte> good = engine_bytes();
  const auto refused = [&](const std::string& info, const std::string& says) {
    EXPECT_THAT(refusal(with_info(good, info)), AllOf(HasSubstr("'some.engine'"), HasSubstr(says))) << info;
  };
  EXPECT_EQ(refusal(with_info(good, R"({"weights":[]})")), "");
  refused("", "");
  refused("{", "");
  refused("[]", "no table of weights");
  refused("{}", "no table of weights");
  refused(R"({"weights":{}})", "no table of weights");
  refused(R"({"weights":[1]})", "malformed");
  refused(R"({"weights":[["a","",0]]})", "malformed");
  refused(R"({"weights":[["a","",0,1,2]]})", "malformed");
  refused(R"({"weights":[["a","","0",1]]})", "malformed");
  refused(R"({"weights":[[1,"",0,1]]})", "malformed");
  refused(R"({"weights":[["a","",0.5,1]]})", "malformed");
  refused(R"({"weights":[["a","",1,1]]})", "'a' lies outside the weights");
  refused(R"({"weights":[["a","",-64,1]]})", "lies outside");
  refused(R"({"weights":[["a","",0,-1]]})", "lies outside");
  refused(R"({"weights":[["a","",0,9223372036854775807]]})", "lies outside");
  refused(R"({"weights":[["a","",0,18446744073709551615]]})", "lies outside");
  refused(R"({"weights":[["a","",9223372036854775744,64]]})", "lies outside");
}

TEST(EngineFile, what_is_no_engine_is_told_apart) {
  const TestDir dir;
  EXPECT_EQ(EngineFile::open(dir / "absent").status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(EngineFile::open(dir.path()).is_ok());
  std::ofstream(dir / "text") << "a text that is longer than a magic number";
  EXPECT_THAT(EngineFile::open(dir / "text").status().message(), HasSubstr("is not a Nereid engine"));
  std::ofstream(dir / "empty");
  EXPECT_THAT(EngineFile::open(dir / "empty").status().message(), HasSubstr("is not a Nereid engine"));
}

TEST(EngineWriter, without_commit_nothing_is_left) {
  const TestDir dir;
  {
    EngineWriter writer = EngineWriter::create(dir / "e").value();
    ASSERT_TRUE(writer.begin_weight("a", "").is_ok());
    ASSERT_TRUE(writer.write_weight(numbered_bytes(10000)).is_ok());
  }
  EXPECT_EQ(dir.files(), 0);
}

TEST(EngineWriter, a_full_disk_is_exhausted_and_leaves_nothing) {
  const TestDir dir;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 100000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Status weights = write_engine(dir / "e", 200000);
  const Status sections = write_engine(dir / "e", 100000 - static_cast<size_t>(kHeaderBytes) - 256);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old_handler);
  for (const Status& s : {weights, sections}) {
    EXPECT_EQ(s.code(), StatusCode::kExhausted);
    EXPECT_THAT(s.message(), HasSubstr(dir / "e"));
  }
  EXPECT_EQ(dir.files(), 0);
}

TEST(EngineWriter, a_folder_that_is_not_there_is_a_sentence) {
  const TestDir dir;
  EXPECT_EQ(EngineWriter::create(dir / "absent/e").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid::engine
