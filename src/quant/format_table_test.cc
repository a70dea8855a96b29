// SPDX-License-Identifier: Apache-2.0
// Every row of the format table through one suite: against goldens of other implementations (tests/data/quant) and
// against itself.
#include "quant/format_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace nereid::quant {
namespace {

std::vector<uint8_t> from_hex(const std::string& hex) {
  std::vector<uint8_t> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

std::vector<float> floats_from_hex(const std::string& hex) {
  const std::vector<uint8_t> bytes = from_hex(hex);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const nlohmann::json& goldens() {
  static const nlohmann::json all = [] {
    std::ifstream in(std::string(NEREID_SOURCE_DIR) + "/tests/data/quant/goldens.json");
    return nlohmann::json::parse(in);
  }();
  return all;
}

size_t row_bytes(const Format& f, size_t n) {
  return static_cast<size_t>(*dtype_bytes(f.dtype, static_cast<int64_t>(n)));
}

std::vector<uint8_t> encoded(const Format& f, const std::vector<float>& values) {
  std::vector<uint8_t> row(row_bytes(f, values.size()));
  f.encode(values.data(), row.data(), static_cast<int64_t>(values.size()));
  return row;
}

std::vector<float> decoded(const Format& f, const std::vector<uint8_t>& row, size_t n) {
  std::vector<float> values(n);
  f.decode(row.data(), values.data(), static_cast<int64_t>(n));
  return values;
}

double rmse(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - double{b[i]}, 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<float> normal_values(size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, 0.05f);
  std::vector<float> values(n);
  for (float& v : values) v = normal(rng);
  return values;
}

class EachFormat : public testing::TestWithParam<Format> {};
class EachBlockFormat : public testing::TestWithParam<Format> {};

TEST_P(EachBlockFormat, decodes_to_the_very_bits_of_the_golden) {
  const Format& f = GetParam();
  const auto& golden = goldens()["decode"][std::string(dtype_name(f.dtype))];
  const std::vector<uint8_t> row = from_hex(golden["blocks"]);
  const std::vector<float> expected = floats_from_hex(golden["values"]);
  ASSERT_EQ(row.size(), row_bytes(f, expected.size()));
  const std::vector<float> found = decoded(f, row, expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    // + 0: a zero's sign depends on whether 0 * scale or its negation is taken, and no sum can see it.
    ASSERT_EQ(std::bit_cast<uint32_t>(found[i] + 0.0f), std::bit_cast<uint32_t>(expected[i] + 0.0f)) << "element " << i;
  }
}

TEST_P(EachBlockFormat, its_group_form_gives_the_very_bits_of_decode_for_any_bytes) {
  const Format& f = GetParam();
  constexpr size_t kElements = 4096;
  std::vector<uint8_t> row(row_bytes(f, kElements));
  std::mt19937 rng(7);
  for (uint8_t& byte : row) byte = static_cast<uint8_t>(rng());
  const std::vector<float> expected = decoded(f, row, kElements);

  const GroupForm& form = f.form;
  const auto group = static_cast<size_t>(form.group);
  std::vector<uint8_t> codes(kElements);
  std::vector<float> scale(kElements / group);
  std::vector<float> min(kElements / group, 0.0f);
  f.codes(row.data(), kElements, codes.data(), scale.data(), form.has_min ? min.data() : nullptr);
  for (size_t i = 0; i < kElements; ++i) {
    ASSERT_LT(codes[i], 1 << form.code_bits);
    const float product = scale[i / group] * static_cast<float>(codes[i] - form.zero);
    const float w = form.has_min ? product + min[i / group] : product;
    ASSERT_TRUE(std::bit_cast<uint32_t>(w) == std::bit_cast<uint32_t>(expected[i]) ||
                (std::isnan(w) && std::isnan(expected[i])))
        << "element " << i << ": " << w << " and " << expected[i];
    // The same with the product not rounded: nothing may depend on fused multiply-add.
    const float fused =
        std::fma(scale[i / group], static_cast<float>(codes[i] - form.zero), form.has_min ? min[i / group] : 0.0f);
    ASSERT_TRUE(fused == w || std::isnan(w)) << "element " << i;
  }
}

TEST_P(EachBlockFormat, encodes_no_worse_than_the_golden_encoder) {
  const Format& f = GetParam();
  const auto& golden = goldens()["encode"];
  const std::vector<float> weights = floats_from_hex(golden["weights"]);
  const size_t n = golden["row"];
  const auto& oracle = golden["rmse"][std::string(dtype_name(f.dtype))];
  for (size_t r = 0; r * n < weights.size(); ++r) {
    const std::vector<float> row(weights.begin() + static_cast<ptrdiff_t>(r * n),
                                 weights.begin() + static_cast<ptrdiff_t>((r + 1) * n));
    const double ours = rmse(decoded(f, encoded(f, row), n), row);
    RecordProperty("row_" + std::to_string(r) + "_ratio", std::to_string(ours / oracle[r].get<double>()));
    EXPECT_LE(ours, 1.005 * oracle[r].get<double>()) << "row " << r;
  }
}

TEST_P(EachBlockFormat, keeps_a_row_of_zeros) {
  const std::vector<float> zeros(512, 0.0f);
  EXPECT_EQ(decoded(GetParam(), encoded(GetParam(), zeros), zeros.size()), zeros);
}

TEST_P(EachBlockFormat, stores_finite_values_whatever_it_is_given) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float odd : {kInf, -kInf, std::nanf(""), 3e38f, -3e38f, 1e-45f}) {
    std::vector<float> values = normal_values(512, 3);
    values[5] = odd;
    values[300] = -odd;
    for (float v : decoded(GetParam(), encoded(GetParam(), values), values.size()))
      ASSERT_TRUE(std::isfinite(v)) << odd;
  }
}

TEST_P(EachFormat, stores_what_it_decoded_without_further_loss) {
  const Format& f = GetParam();
  const std::vector<float> once = decoded(f, encoded(f, normal_values(1024, 11)), 1024);
  const std::vector<float> twice = decoded(f, encoded(f, once), 1024);
  double peak = 0;
  for (float v : once) peak = std::max(peak, std::abs(double{v}));
  EXPECT_LE(rmse(once, twice), 0.01 * peak);
}

TEST_P(EachFormat, dots_as_its_decoded_row_does) {
  const Format& f = GetParam();
  const std::vector<uint8_t> row = encoded(f, normal_values(1024, 1));
  const std::vector<float> w = decoded(f, row, 1024);
  const std::vector<float> x = normal_values(1024, 2);
  double expected = 0;
  for (size_t i = 0; i < x.size(); ++i) expected += double{w[i]} * double{x[i]};
  EXPECT_DOUBLE_EQ(f.dot(row.data(), x.data(), 1024), expected);
}

std::vector<Format> block_formats() {
  std::vector<Format> rows;
  for (const Format& f : all_formats())
    if (f.has_group_form()) rows.push_back(f);
  return rows;
}
const auto kName = [](const auto& info) { return std::string(dtype_name(info.param.dtype)); };
INSTANTIATE_TEST_SUITE_P(FormatTable, EachFormat, testing::ValuesIn(all_formats().begin(), all_formats().end()), kName);
INSTANTIATE_TEST_SUITE_P(FormatTable, EachBlockFormat, testing::ValuesIn(block_formats()), kName);

TEST(FormatTable, has_a_row_for_every_block_dtype_and_every_float_that_weights_come_in) {
  constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2};
  for (int i = 0; i < static_cast<int>(DType::kCount); ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool expected = is_block_format(dtype) || std::ranges::find(kFloats, dtype) != std::end(kFloats);
    EXPECT_EQ(find_format(dtype).is_ok(), expected) << dtype_name(dtype);
    EXPECT_TRUE(!find_format(dtype) || (*find_format(dtype))->dtype == dtype);
  }
}

TEST(FormatTable, refuses_an_integer_type_with_a_sentence) {
  const auto refused = find_format(DType::i32);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(refused.status().message().find("i32 is not a weight format; expected one of f32, f64"), std::string::npos)
      << refused.status().message();
}

TEST(FormatTable, knows_the_bits_of_a_weight) {
  EXPECT_EQ(format(DType::bf16).bits_per_weight(), 16);
  EXPECT_EQ(format(DType::q4_0).bits_per_weight(), 4.5);
  EXPECT_EQ(format(DType::q6_k).bits_per_weight(), 6.5625);
}

TEST(FormatTable, group_forms_are_what_kernels_were_promised) {
  for (const Format& f : block_formats()) {
    EXPECT_TRUE(f.form.group == 16 || f.form.group == 32);
    EXPECT_TRUE(!f.form.has_min || f.form.zero == 0) << "a format with minima needs no zero";
    EXPECT_TRUE(f.form.has_min || f.form.zero == 1 << (f.form.code_bits - 1)) << "codes are centred";
  }
}

}  // namespace
}  // namespace nereid::quant
