// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/test_dir.h"
#include "import/npy/npy.h"
#include "import/onnx/value_file.h"

namespace nereid::compile {
namespace {

using ops::Container;
using ops::Datum;
using ops::Tensor;
using ops::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<InputFiles> files_of(const std::vector<std::string>& texts) {
  return parse_input_files(texts);
}
Result<InputShapes> shapes_of(const std::vector<std::string>& texts) {
  return parse_input_shapes(texts);
}
template <typename T>
std::string message(const Result<T>& result) {
  EXPECT_FALSE(result.is_ok());
  return result.is_ok() ? "" : result.status().message();
}

void write(const std::string& path, std::string_view content) {
  auto file = AtomicFile::create(path).value();
  ASSERT_TRUE(file.write(content).is_ok());
  ASSERT_TRUE(file.commit().is_ok());
}

void write_npy(const std::string& path, const Tensor& tensor) {
  write(path, import::npy::npy_header(tensor.dtype, tensor.sizes) +
                  std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
}

class ReadInputs : public testing::Test {
 protected:
  const TensorType row_{DType::f32, Shape{2, Dim::symbol("n")}};
  const std::vector<InputType> inputs_ = {{"x", row_}, {"odd:0", {DType::i64, Shape{3}}}};
  TestDir dir_;

  auto read(const InputFiles& files, const InputShapes& shapes = {}, std::optional<uint64_t> seed = {}) {
    return read_inputs(inputs_, files, shapes, seed);
  }
  // The refusal of one input of that type from that file.
  std::string refusal(const TensorType& type, const std::string& file, const InputShapes& shapes = {}) {
    return message(read_inputs(std::vector<InputType>{{"x", type}}, {{"x", file}}, shapes, {}));
  }
};

TEST(InputFiles, names_and_files_are_split_at_commas_and_the_first_equals_sign) {
  EXPECT_THAT(*files_of({"x=a.npy,y=b=c.npy", "z:0=d.pb"}),
              ElementsAre(Pair("x", "a.npy"), Pair("y", "b=c.npy"), Pair("z:0", "d.pb")));
  EXPECT_THAT(*files_of({}), ElementsAre());
  EXPECT_THAT(*files_of({""}), ElementsAre());
  EXPECT_THAT(*files_of({"=nameless.npy"}), ElementsAre(Pair("", "nameless.npy")));
}

TEST(InputFiles, what_is_no_input_is_refused) {
  EXPECT_THAT(message(files_of({"x"})), HasSubstr("'x' is no input"));
  EXPECT_THAT(message(files_of({"x=a,,y=b"})), HasSubstr("'' is no input"));
  EXPECT_THAT(message(files_of({"x="})), HasSubstr("without a file"));
  EXPECT_THAT(message(files_of({"x=a", "x=b"})), HasSubstr("'x' is given twice"));
  EXPECT_EQ(files_of({"@/absent.json"}).status().code(), StatusCode::kNotFound);
}

TEST(InputFiles, a_list_may_hold_any_name) {
  const TestDir dir;
  write(dir / "list.json", R"({"a,b=c": "x,1.npy", "": "y.pb"})");
  EXPECT_THAT(*files_of({"@" + (dir / "list.json")}), ElementsAre(Pair("", "y.pb"), Pair("a,b=c", "x,1.npy")));
  for (const char* bad : {"[]", "{\"x\": 1}", "{", ""}) {
    write(dir / "list.json", bad);
    EXPECT_THAT(message(files_of({"@" + (dir / "list.json")})), HasSubstr("list.json"));
  }
}

TEST(InputFiles, an_archive_names_its_arrays) {
  const std::string path = std::string(NEREID_SOURCE_DIR) + "/tests/data/npy/stored.npz";
  EXPECT_THAT(*files_of({path}), ElementsAre(Pair("folder/y:0", path), Pair("x", path)));
}

TEST(InputShapes, sizes_follow_the_last_colon) {
  EXPECT_THAT(*shapes_of({"x:1x3x224,odd:0:7", "s:"}),
              ElementsAre(Pair("odd:0", ElementsAre(7)), Pair("s", ElementsAre()), Pair("x", ElementsAre(1, 3, 224))));
  EXPECT_THAT(message(shapes_of({"x"})), HasSubstr("'x' is no shape"));
  EXPECT_THAT(message(shapes_of({"x:1,x:2"})), HasSubstr("given twice"));
  for (const char* bad : {"x:-1", "x:1x", "x:1xx2", "x:a", "x:1 ", "x:9223372036854775808"})
    EXPECT_THAT(message(shapes_of({bad})), HasSubstr("is no size"));
  EXPECT_THAT(message(shapes_of({"x:4294967296x4294967296"})), HasSubstr("can be counted"));
}

TEST_F(ReadInputs, files_of_every_format) {
  write_npy(dir_ / "x.npy", Tensor::of(DType::f32, {2, 1}, {1, 2}));
  write(dir_ / "odd.bin", std::string(24, '\1'));
  auto values = read({{"x", dir_ / "x.npy"}, {"odd:0", dir_ / "odd.bin"}});
  ASSERT_TRUE(values.is_ok()) << values.status().message();
  EXPECT_THAT(values->at("x").tensor.numbers(), ElementsAre(1, 2));
  EXPECT_THAT(values->at("odd:0").tensor.sizes, ElementsAre(3));
  write(dir_ / "x.pb", import::onnx::write_value(Tensor::of(DType::f32, {2, 1}, {3, 4}), row_, "other"));
  values = read({{"x", dir_ / "x.pb"}, {"odd:0", dir_ / "odd.bin"}});
  ASSERT_TRUE(values.is_ok()) << values.status().message();
  EXPECT_THAT(values->at("x").tensor.numbers(), ElementsAre(3, 4));
}

TEST_F(ReadInputs, sequences_come_from_pb_and_optionals_from_npy_too) {
  const TensorType sequence{DType::f32, Shape::unranked(), Container::kSequence};
  const Tensor tensor = Tensor::of(DType::f32, {1}, {7});
  write(dir_ / "s.pb", import::onnx::write_value(Datum::sequence(DType::f32, {tensor}), sequence, ""));
  write_npy(dir_ / "s.npy", tensor);
  const auto values = read_inputs(std::vector<InputType>{{"x", sequence}}, {{"x", dir_ / "s.pb"}}, {}, {});
  ASSERT_TRUE(values.is_ok()) << values.status().message();
  EXPECT_EQ(values->at("x").items.size(), 1U);
  EXPECT_THAT(refusal(sequence, dir_ / "s.npy"), HasSubstr("only a .pb file can hold"));
  const TensorType optional{DType::f32, Shape::unranked(), Container::kOptional};
  EXPECT_TRUE(read_inputs(std::vector<InputType>{{"x", optional}}, {{"x", dir_ / "s.npy"}}, {}, {}).is_ok());
}

TEST_F(ReadInputs, refusals) {
  write_npy(dir_ / "x.npy", Tensor::of(DType::f64, {2, 1}, {1, 2}));
  EXPECT_THAT(refusal(row_, dir_ / "x.npy"), HasSubstr("it holds f64[2, 1], but the model declares f32[2, n]"));
  write_npy(dir_ / "x.npy", Tensor::of(DType::f32, {1, 2}, {1, 2}));
  EXPECT_THAT(refusal(row_, dir_ / "x.npy"), HasSubstr("it holds f32[1, 2], but"));
  write_npy(dir_ / "x.npy", Tensor::of(DType::f32, {2}, {1, 2}));
  EXPECT_THAT(refusal(row_, dir_ / "x.npy"), HasSubstr("it holds f32[2], but"));
  write(dir_ / "x.txt", "1 2");
  EXPECT_THAT(refusal(row_, dir_ / "x.txt"), HasSubstr("ends in none of .npy"));
  write(dir_ / "x.npy", "");
  EXPECT_THAT(refusal(row_, dir_ / "x.npy"), HasSubstr("no .npy file"));
  EXPECT_THAT(refusal(row_, dir_ / "absent.npy"), HasSubstr("absent.npy"));
  write(dir_ / "x.bin", "1234");
  EXPECT_THAT(refusal(row_, dir_ / "x.bin"), HasSubstr("its sizes are not all known"));
  EXPECT_THAT(refusal(row_, dir_ / "x.bin", {{"x", {2, 1}}}), HasSubstr("it has 4 bytes, but f32[2, 1] needs 8"));
  EXPECT_THAT(refusal(row_, dir_ / "x.bin", {{"x", {1, 1}}}), HasSubstr("--shapes gives it [1, 1]"));
}

TEST_F(ReadInputs, names_are_checked_and_none_may_be_left_out) {
  EXPECT_THAT(message(read({{"z", "a.npy"}})), HasSubstr("no input 'z'; its inputs: 'x' (f32[2, n])"));
  EXPECT_THAT(message(read({}, {{"z", {1}}})), HasSubstr("--shapes names 'z'"));
  EXPECT_THAT(message(read({})), HasSubstr("the input 'x' (f32[2, n]) is not given"));
}

TEST_F(ReadInputs, random_numbers_are_the_same_for_a_seed_and_in_range) {
  const InputShapes shapes = {{"x", {2, 500}}};
  const auto one = read({}, shapes, 1).value(), again = read({}, shapes, 1).value(), two = read({}, shapes, 2).value();
  EXPECT_EQ(one.at("x").tensor.bytes, again.at("x").tensor.bytes);
  EXPECT_NE(one.at("x").tensor.bytes, two.at("x").tensor.bytes);
  for (const double v : one.at("x").tensor.numbers()) EXPECT_TRUE(v >= -1 && v <= 1) << v;
  for (const double v : one.at("odd:0").tensor.numbers()) EXPECT_TRUE(v >= 0 && v <= 9) << v;
  EXPECT_THAT(message(read({}, {}, 1)), HasSubstr("give them with --shapes 'x:...'"));
}

}  // namespace
}  // namespace nereid::compile
