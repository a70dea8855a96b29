// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/value_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::import::onnx {
namespace {

using ops::Container;
using ops::Datum;
using ops::Tensor;
using ops::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

TensorType type_of(Container container, DType dtype = DType::f32, DType key = DType::i64) {
  return {.dtype = dtype, .shape = Shape::unranked(), .container = container, .key = key};
}

Tensor texts(std::vector<std::string> values) {
  Tensor t = Tensor::zeros(DType::string, {static_cast<int64_t>(values.size())}).value();
  t.strings = std::move(values);
  return t;
}

Datum round_trip(const Datum& value, const TensorType& type) {
  auto again = read_value(write_value(value, type, "name"), type);
  EXPECT_TRUE(again.is_ok()) << again.status().message();
  return again.is_ok() ? std::move(again).value() : Datum();
}

std::string refusal(std::string_view bytes, const TensorType& type) {
  const auto value = read_value(bytes, type);
  EXPECT_FALSE(value.is_ok());
  return value.is_ok() ? "" : value.status().message();
}

TEST(ValueFile, tensors_of_every_kind_come_back) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f8e4m3, DType::f8e5m2fnuz, DType::i4, DType::u4, DType::u2,
                            DType::i8, DType::u64, DType::boolean}) {
    const Tensor t = Tensor::zeros(dtype, {3, 1}).value();
    const Datum again = round_trip(t, type_of(Container::kNone, dtype));
    EXPECT_EQ(again.tensor.dtype, dtype);
    EXPECT_EQ(again.tensor.sizes, t.sizes);
    EXPECT_EQ(again.tensor.bytes, t.bytes);
  }
  EXPECT_THAT(round_trip(texts({"a", "", "\xff"}), type_of(Container::kNone, DType::string)).tensor.strings,
              ElementsAre("a", "", "\xff"));
}

TEST(ValueFile, sequences_come_back) {
  const TensorType type = type_of(Container::kSequence);
  const Datum again = round_trip(
      Datum::sequence(DType::f32, {Tensor::of(DType::f32, {2}, {1, 2}), Tensor::of(DType::f32, {}, {3})}), type);
  ASSERT_EQ(again.items.size(), 2U);
  EXPECT_THAT(again.items[0].tensor.numbers(), ElementsAre(1, 2));
  EXPECT_THAT(again.items[1].tensor.sizes, ElementsAre());
  const Datum empty = round_trip(Datum::sequence(DType::f32, {}), type);
  EXPECT_EQ(empty.kind, Datum::Kind::kSequence);
  EXPECT_TRUE(empty.items.empty());
}

TEST(ValueFile, optionals_come_back_with_and_without_a_value) {
  const TensorType of_tensor = type_of(Container::kOptional);
  EXPECT_EQ(round_trip(Datum::none(DType::f32), of_tensor).kind, Datum::Kind::kNone);
  EXPECT_EQ(read_value("", of_tensor)->kind, Datum::Kind::kNone);
  EXPECT_THAT(round_trip(Tensor::of(DType::f32, {2}, {1, 2}), of_tensor).tensor.numbers(), ElementsAre(1, 2));
  const TensorType of_sequence = type_of(Container::kOptionalSequence);
  EXPECT_EQ(round_trip(Datum::none(DType::f32), of_sequence).kind, Datum::Kind::kNone);
  const Datum again = round_trip(Datum::sequence(DType::f32, {Tensor::of(DType::f32, {1}, {4})}), of_sequence);
  ASSERT_EQ(again.kind, Datum::Kind::kSequence);
  EXPECT_THAT(again.items[0].tensor.numbers(), ElementsAre(4));
}

TEST(ValueFile, maps_and_sequences_of_maps_come_back) {
  const Datum map = Datum::map(Tensor::of(DType::i64, {2}, {-1, 5}), Tensor::of(DType::f32, {2}, {0.5, 2}));
  const Datum again = round_trip(map, type_of(Container::kMap));
  EXPECT_THAT(again.keys.numbers(), ElementsAre(-1, 5));
  EXPECT_THAT(again.tensor.numbers(), ElementsAre(0.5, 2));
  EXPECT_TRUE(round_trip(Datum::sequence(DType::f32, {}), type_of(Container::kSequenceOfMaps)).items.empty());
  const Datum named = Datum::map(texts({"cat", "dog"}), Tensor::of(DType::f32, {2}, {1, 0}));
  const Datum list = round_trip(Datum::sequence(DType::f32, {named, named}),
                                type_of(Container::kSequenceOfMaps, DType::f32, DType::string));
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_THAT(list.items[1].keys.strings, ElementsAre("cat", "dog"));
  EXPECT_THAT(list.items[1].tensor.numbers(), ElementsAre(1, 0));
}

TEST(ValueFile, keys_may_be_packed) {
  // key_type 7, keys [1, 300] packed, values: a sequence of two f32 scalars of one.
  const std::string scalar("\x10\x01\x4a\x04\0\0\x80\x3f", 8);
  std::string bytes("\x10\x07\x1a\x03\x01\xac\x02\x2a\x14", 9);
  for (int i = 0; i < 2; ++i) bytes.append("\x1a\x08").append(scalar);
  const auto map = read_value(bytes, type_of(Container::kMap));
  ASSERT_TRUE(map.is_ok()) << map.status().message();
  EXPECT_THAT(map->keys.numbers(), ElementsAre(1, 300));
  EXPECT_THAT(map->tensor.numbers(), ElementsAre(1, 1));
}

TEST(ValueFile, what_is_not_of_the_declared_type_is_refused) {
  const Tensor f32 = Tensor::of(DType::f32, {1}, {1});
  const std::string tensor = write_value(f32, type_of(Container::kNone), "x");
  EXPECT_THAT(refusal(tensor, type_of(Container::kNone, DType::i64)), HasSubstr("of type f32, but i64 are expected"));
  const std::string sequence = write_value(Datum::sequence(DType::f32, {f32}), type_of(Container::kSequence), "x");
  EXPECT_THAT(refusal(sequence, type_of(Container::kSequence, DType::f64)), HasSubstr("but f64 are expected"));
  EXPECT_THAT(refusal(sequence, type_of(Container::kSequenceOfMaps)), HasSubstr("a sequence of another kind"));
  const std::string optional = write_value(f32, type_of(Container::kOptional), "x");
  EXPECT_THAT(refusal(optional, type_of(Container::kOptionalSequence)), HasSubstr("its field 3 is not part"));
  const std::string map =
      write_value(Datum::map(texts({"a"}), f32), type_of(Container::kMap, DType::f32, DType::string), "");
  EXPECT_THAT(refusal(map, type_of(Container::kMap)), HasSubstr("0 keys of type i64 and 1 values"));
}

TEST(ValueFile, damaged_bytes_are_refused) {
  for (const Container container : {Container::kSequence, Container::kOptional, Container::kMap}) {
    for (const std::string_view bytes :
         {"\x1a", "\x1a\x7f", "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\xff", "\x1b", "\x07"})
      EXPECT_THAT(refusal(bytes, type_of(container)), HasSubstr("no sound message"));
  }
  EXPECT_THAT(refusal("\x1a\x02\x08\x80", type_of(Container::kSequence)), HasSubstr("no TensorProto"));
  EXPECT_THAT(refusal("not a tensor", type_of(Container::kNone)), HasSubstr("no TensorProto"));
  // A size that the bytes cannot fill: dims 2^40, f32, no data.
  EXPECT_FALSE(read_value("\x08\x80\x80\x80\x80\x80\x20\x10\x01", type_of(Container::kNone)).is_ok());
}

}  // namespace
}  // namespace nereid::import::onnx
