// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cached_response.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::server {
namespace {

InferResponse answer() {
  InferResponse response;
  response.outputs = {tensor_of("numbers", InferType::kFp32, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}),
                      tensor_of("texts", InferType::kBytes, {2}, std::string("\2\0\0\0hi\0\0\0\0", 10)),
                      tensor_of("nothing", InferType::kInt64, {0, 4}, std::vector<int64_t>{})};
  response.parameters = {{"b", true}, {"i", int64_t{-5}}, {"d", 0.25}, {"s", std::string("text")}};
  return response;
}

std::shared_ptr<const CachedResponse> parse(const std::string& bytes) {
  return CachedResponse::parse(std::as_bytes(std::span(bytes)));
}

TEST(CachedResponse, what_is_written_is_read_again) {
  const auto kept = CachedResponse::copy_of(answer());
  const auto read = parse(kept->serialize());
  ASSERT_NE(read, nullptr);
  const InferResponse had = answer(), has = CachedResponse::response(read);
  EXPECT_EQ(has.parameters, had.parameters);
  ASSERT_EQ(has.outputs.size(), had.outputs.size());
  for (size_t i = 0; i < has.outputs.size(); ++i) {
    EXPECT_EQ(has.outputs[i].name, had.outputs[i].name);
    EXPECT_EQ(has.outputs[i].type, had.outputs[i].type);
    EXPECT_EQ(has.outputs[i].shape, had.outputs[i].shape);
    EXPECT_TRUE(std::equal(has.outputs[i].bytes.begin(), has.outputs[i].bytes.end(), had.outputs[i].bytes.begin(),
                           had.outputs[i].bytes.end()));
  }
}

TEST(CachedResponse, only_whole_answers_without_an_error_are_kept) {
  InferResponse error = answer(), part = answer(), empty = answer();
  error.status = internal("no");
  part.is_final = false;
  empty.is_empty = true;
  EXPECT_EQ(CachedResponse::copy_of(error), nullptr);
  EXPECT_EQ(CachedResponse::copy_of(part), nullptr);
  EXPECT_EQ(CachedResponse::copy_of(empty), nullptr);
}

TEST(CachedResponse, bytes_that_are_cut_or_go_on_are_no_answer) {
  const std::string bytes = CachedResponse::copy_of(answer())->serialize();
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_EQ(parse(bytes.substr(0, n)), nullptr) << n;
  EXPECT_EQ(parse(bytes + "x"), nullptr);
}

TEST(CachedResponse, damaged_bytes_give_an_answer_whose_sizes_fit_or_none) {
  const std::string bytes = CachedResponse::copy_of(answer())->serialize();
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 50'000; ++i) {
    std::string damaged = bytes;
    for (unsigned n = 1 + random() % 3; n > 0; --n) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto read = parse(damaged);
    if (read == nullptr) continue;
    for (const InferTensor& tensor : CachedResponse::response(read).outputs)
      if (tensor.type != InferType::kBytes) {
        ASSERT_EQ(tensor.bytes.size(),
                  static_cast<size_t>(element_count(tensor.shape)) * infer_type_info(tensor.type).bytes);
      }
  }
}

}  // namespace
}  // namespace nereid::server
