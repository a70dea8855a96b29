// SPDX-License-Identifier: Apache-2.0
#include "compile/calibration_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/test_dir.h"
#include "import/npy/npy.h"

namespace nereid::compile {
namespace {

using ops::Tensor;
using testing::HasSubstr;

class CalibrationFolder : public testing::Test {
 protected:
  void put(const std::string& name, const std::vector<double>& values) {
    const std::string path = dir_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    const Tensor t = Tensor::of(DType::f32, {static_cast<int64_t>(values.size())}, values);
    auto file = AtomicFile::create(path).value();
    ASSERT_TRUE(file.write(import::npy::npy_header(t.dtype, t.sizes)).is_ok());
    ASSERT_TRUE(file.write(std::as_bytes(std::span(t.bytes))).is_ok());
    ASSERT_TRUE(file.commit().is_ok());
  }
  CalibrationData opened(const std::vector<InputType>& inputs) {
    auto data = CalibrationData::open(dir_.path(), inputs);
    EXPECT_TRUE(data.is_ok()) << data.status().message();
    return std::move(data).value();
  }
  std::string refusal(const std::vector<InputType>& inputs) {
    const auto data = CalibrationData::open(dir_.path(), inputs);
    EXPECT_FALSE(data.is_ok());
    return data.is_ok() ? "" : data.status().message();
  }
  static double first(const CalibrationData& data, int64_t sample, const std::string& input) {
    return data.read(sample).value().at(input).tensor.numbers()[0];
  }
  const std::vector<InputType> one_ = {{"x", {DType::f32, Shape{Dim::symbol("n")}}}};
  const std::vector<InputType> two_ = {{"x", {DType::f32, Shape{Dim::symbol("n")}}},
                                       {"y:0", {DType::f32, Shape{Dim::symbol("n")}}}};
  TestDir dir_;
};

TEST_F(CalibrationFolder, of_a_model_with_one_input_has_a_file_a_sample_in_the_order_of_names) {
  put("b.npy", {2, 2});
  put("a.npy", {1});
  put(".hidden.npy", {0});
  const CalibrationData data = opened(one_);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(first(data, 0, "x"), 1);
  EXPECT_EQ(first(data, 1, "x"), 2);
}

TEST_F(CalibrationFolder, may_hold_a_folder_a_sample_with_files_named_as_the_inputs) {
  put("1/x.npy", {1});
  put("1/y%3A0.npy", {10});
  put("2/input_0.npy", {2});
  put("2/input_1.npy", {20});
  const CalibrationData data = opened(two_);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(first(data, 0, "y:0"), 10);
  EXPECT_EQ(first(data, 1, "x"), 2);
}

TEST_F(CalibrationFolder, may_be_one_sample_of_several_inputs) {
  put("x.npy", {1});
  put("y%3A0.npy", {2});
  EXPECT_EQ(opened(two_).size(), 1);
}

TEST_F(CalibrationFolder, without_data_is_refused) {
  EXPECT_THAT(refusal(one_), HasSubstr("holds no calibration data"));
  EXPECT_EQ(CalibrationData::open(dir_ / "absent", one_).status().code(), StatusCode::kNotFound);
  put("1/x.npy", {1});
  EXPECT_THAT(refusal(two_), HasSubstr("no file for the input 'y:0'"));
}

TEST_F(CalibrationFolder, with_numbers_that_are_none_or_other_sizes_is_refused) {
  put("a.npy", {1, 2, std::nan("")});
  put("b.npy", {1, HUGE_VAL});
  const CalibrationData data = opened(one_);
  EXPECT_THAT(data.read(0).status().message(), HasSubstr("a.npy: element 2 is NaN"));
  EXPECT_THAT(data.read(1).status().message(), HasSubstr("b.npy: element 1 is infinite"));
  const CalibrationData fixed = opened({{"x", {DType::f32, Shape{7}}}});
  EXPECT_THAT(fixed.read(0).status().message(), HasSubstr("the model declares f32[7]"));
}

}  // namespace
}  // namespace nereid::compile
