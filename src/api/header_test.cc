// SPDX-License-Identifier: Apache-2.0
// The header from C (header_in_c_test.c).
#include <numeric>

#include "api/test_model.h"

extern "C" int nereid_use_from_c(const void* onnx, size_t size, const float* x, int64_t rows, float* y);

namespace nereid::api::testing {
namespace {

TEST(ApiHeader, serves_a_c_program) {
  const std::string bytes = layers().bytes();
  const std::vector<float> x = {1, 2, 3, 4, 4, 3, 2, 1};
  std::vector<float> y(16, -1);
  ASSERT_EQ(nereid_use_from_c(bytes.data(), bytes.size(), x.data(), 2, y.data()), 0) << nereid_last_error();
  EXPECT_NEAR(std::accumulate(y.begin(), y.begin() + 8, 0.0), 1, 1e-5);
  EXPECT_NEAR(std::accumulate(y.begin() + 8, y.end(), 0.0), 1, 1e-5);
}

}  // namespace
}  // namespace nereid::api::testing
