// SPDX-License-Identifier: Apache-2.0
// The values are those of the worked example in the public documentation of ragged batches: requests of 3, 4 and 5
// elements.
#include "server/core/batch_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace nereid::server {
namespace {

using testing::ElementsAre;

struct Requests {
  std::vector<InferTensor> tensors;
  std::vector<const InferTensor*> pointers;
  explicit Requests(std::vector<std::vector<int64_t>> shapes) {
    for (std::vector<int64_t>& shape : shapes) {
      const auto count = static_cast<size_t>(element_count(shape));
      tensors.push_back(tensor_of("in", InferType::kFp32, std::move(shape), std::vector<float>(count)));
    }
    for (const InferTensor& one : tensors) pointers.push_back(&one);
  }
};

template <typename T>
std::vector<T> values_of(const InferTensor& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

InferTensor made(BatchInputKind kind, const Requests& requests, InferType type = InferType::kInt32) {
  auto out = batch_inputs({.kind = kind, .type = type, .targets = {"t"}, .source = "in"}, requests.pointers, true);
  EXPECT_TRUE(out.is_ok()) << out.status().message();
  EXPECT_EQ(out->size(), 1u);
  return (*out)[0];
}

TEST(BatchInputs, counts_and_their_sums) {
  const Requests requests({{1, 3}, {1, 4}, {1, 5}});
  EXPECT_THAT(values_of<int32_t>(made(BatchInputKind::kElementCount, requests)), ElementsAre(3, 4, 5));
  EXPECT_THAT(values_of<int32_t>(made(BatchInputKind::kAccumulatedCount, requests)), ElementsAre(3, 7, 12));
  const InferTensor with_zero = made(BatchInputKind::kAccumulatedCountWithZero, requests, InferType::kFp32);
  EXPECT_THAT(values_of<float>(with_zero), ElementsAre(0, 3, 7, 12));
  EXPECT_THAT(with_zero.shape, ElementsAre(4));
}

TEST(BatchInputs, the_largest_count_is_told_by_the_shape) {
  EXPECT_THAT(made(BatchInputKind::kMaxElementCountAsShape, Requests({{1, 3}, {1, 4}, {1, 5}})).shape, ElementsAre(5));
}

TEST(BatchInputs, shapes_of_items_come_once_an_item) {
  const Requests requests({{2, 1, 2}, {1, 3, 2}});
  const InferTensor shapes = made(BatchInputKind::kItemShape, requests);
  EXPECT_THAT(shapes.shape, ElementsAre(3, 2));
  EXPECT_THAT(values_of<int32_t>(shapes), ElementsAre(1, 2, 1, 2, 3, 2));
  EXPECT_THAT(made(BatchInputKind::kItemShapeFlat, requests).shape, ElementsAre(6));
}

TEST(BatchInputs, every_target_gets_the_same_and_what_does_not_fit_is_an_error) {
  const Requests requests({{1, 3}});
  const auto two = batch_inputs(
      {.kind = BatchInputKind::kElementCount, .type = InferType::kInt32, .targets = {"a", "b"}, .source = "in"},
      requests.pointers, true);
  ASSERT_TRUE(two.is_ok());
  EXPECT_EQ((*two)[1].name, "b");
  EXPECT_THAT(values_of<int32_t>((*two)[1]), ElementsAre(3));
  const Requests mixed({{1, 3}, {1, 3, 1}});
  EXPECT_FALSE(batch_inputs({.kind = BatchInputKind::kItemShape, .type = InferType::kInt32, .targets = {"t"}},
                            mixed.pointers, true)
                   .is_ok());
}

}  // namespace
}  // namespace nereid::server
