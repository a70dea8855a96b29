// SPDX-License-Identifier: Apache-2.0
#include "runtime/bandwidth.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/buffer.h"
#include "runtime/read_streams.h"

namespace nereid::runtime {
namespace {

TEST(ReadStreams, every_word_of_every_stream_is_read_once) {
  constexpr int64_t kWords = 3 * 4 * 3 * kReadBlock / 8;
  Result<Buffer> buffer = Buffer::allocate(kWords * 8);
  ASSERT_TRUE(buffer.is_ok());
  uint64_t* words = buffer->as<uint64_t>();
  uint64_t expected = 0;
  for (int64_t i = 0; i < kWords; ++i) {
    words[i] = static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
    expected ^= words[i];
  }
  const Isa isa = best_isa(read_cpu_info().features, "").value();
  for (Isa one : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (one > isa) continue;
    for (int streams : {1, 2, 3, 4}) {
      for (int64_t prefetch : {0, 1024}) {
        const ReadStreamsParams params = {
            .data = buffer->data(), .bytes = kWords * 8 / streams, .streams = streams, .prefetch_bytes = prefetch};
        EXPECT_EQ(read_streams(one)(params), expected) << isa_name(one) << ", " << streams << " streams";
      }
    }
  }
}

TEST(Bandwidth, a_measurement_is_positive_and_its_median_not_above_its_best) {
  ThreadPool pool({.threads = 2});
  const Result<Bandwidth> b = measure_read_bandwidth(pool, {.bytes = 4 << 20, .repeats = 2});
  ASSERT_TRUE(b.is_ok()) << b.status().message();
  EXPECT_GT(b->best, 1e6);
  EXPECT_GT(b->median, 0);
  EXPECT_LE(b->median, b->best);
  EXPECT_GE(b->streams, 1);
}

TEST(Bandwidth, a_limit_of_time_leaves_at_least_one_read) {
  ThreadPool pool({.threads = 1});
  const Result<Bandwidth> b = measure_read_bandwidth(pool, {.bytes = 1 << 20, .repeats = 1000000, .max_seconds = 1e-9});
  ASSERT_TRUE(b.is_ok()) << b.status().message();
  EXPECT_GT(b->best, 0);
}

TEST(Bandwidth, a_buffer_too_small_to_measure_with_is_refused) {
  ThreadPool pool({.threads = 2});
  const Result<Bandwidth> b = measure_read_bandwidth(pool, {.bytes = 4096});
  ASSERT_FALSE(b.is_ok());
  EXPECT_EQ(b.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(b.status().message().find("65536 bytes a thread"), std::string::npos) << b.status().message();
}

}  // namespace
}  // namespace nereid::runtime
