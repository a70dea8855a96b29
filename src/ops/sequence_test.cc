// SPDX-License-Identifier: Apache-2.0
// Sequences, optionals and maps.
#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

const Datum kA = f32({2}, {1, 2});
const Datum kB = f32({1}, {3});

Datum at(double position) {
  return i64({}, {position});
}

TEST(Sequence, elements_come_and_go) {
  const Datum s = any("sequence_construct", {&kA, &kB});
  EXPECT_EQ(type_of(s).to_string(), "sequence f32[?]");
  EXPECT_EQ(values_of(any("sequence_length", {&s}).tensor), (Numbers{2}));
  const Datum last = at(-1);
  EXPECT_EQ(values_of(any("sequence_at", {&s, &last}).tensor), (Numbers{3}));
  const Datum first = at(-2);
  const Datum longer = any("sequence_insert", {&s, &kB, &first});
  EXPECT_EQ(values_of(longer.items[0].tensor), (Numbers{3}));
  EXPECT_EQ(values_of(any("sequence_insert", {&s, &kA}).items[2].tensor), (Numbers{1, 2}));
  EXPECT_EQ(values_of(any("sequence_erase", {&longer}).items[1].tensor), (Numbers{1, 2}));
  EXPECT_EQ(values_of(any("sequence_erase", {&longer, &first}).items[1].tensor), (Numbers{3}));
}

TEST(Sequence, an_empty_one_has_an_element_type) {
  const Datum s = any("sequence_construct", {}, {{"dtype", "i64"}});
  EXPECT_EQ(type_of(s).to_string(), "sequence i64[...]");
  EXPECT_EQ(any_refusal("sequence_insert", {&s, &kA}),
            "x is f32[2] and should be a tensor to go into a sequence i64[...]");
  EXPECT_EQ(any_refusal("sequence_erase", {&s}), "nothing can be taken from an empty sequence");
  EXPECT_EQ(any_refusal("concat_from_sequence", {&s}, {{"axis", int64_t{0}}}), "an empty sequence cannot be joined");
}

TEST(Sequence, refusals) {
  const Datum s = any("sequence_construct", {&kA});
  const Datum far = at(2);
  const Datum real = f32({}, {0});
  EXPECT_EQ(any_refusal("sequence_at", {&s, &far}), "the position is 2, but there are 1 to choose from");
  EXPECT_EQ(any_refusal("sequence_insert", {&s, &kA, &far}), "the position is 2, but the sequence has 1 elements");
  EXPECT_EQ(any_refusal("sequence_at", {&s, &real}), "the position is f32[] and should be one i32 or i64");
  EXPECT_EQ(any_refusal("sequence_length", {&kA}), "the first input is f32[2] and should be a sequence");
  const Datum whole = i64({1}, {1});
  EXPECT_EQ(any_refusal("sequence_construct", {&kA, &whole}), "x[1] is i64[1] and should be a tensor of f32");
  EXPECT_EQ(any_refusal("sequence_construct", {&kA, &s}), "x[1] is sequence f32[2] and should be a tensor of f32");
}

TEST(SplitToSequence, parts_are_slices_equal_or_given) {
  const Datum x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  Datum s = any("split_to_sequence", {&x}, {{"axis", int64_t{1}}, {"keepdims", false}});
  EXPECT_EQ(type_of(s).to_string(), "sequence f32[2]");
  EXPECT_EQ(values_of(s.items[2].tensor), (Numbers{3, 6}));
  const Datum two = at(2);
  s = any("split_to_sequence", {&x, &two}, {{"axis", int64_t{1}}});
  EXPECT_EQ(s.items.size(), 2u);
  EXPECT_EQ(values_of(s.items[1].tensor), (Numbers{3, 6}));
  EXPECT_EQ(values_of(any("concat_from_sequence", {&s}, {{"axis", int64_t{-1}}}).tensor), (Numbers{1, 2, 3, 4, 5, 6}));
  const Datum list = ints({1, 2});
  EXPECT_EQ(values_of(any("split_to_sequence", {&x, &list}, {{"axis", int64_t{1}}}).items[0].tensor), (Numbers{1, 4}));
  EXPECT_EQ(any_refusal("split_to_sequence", {&x, &list}, {{"axis", int64_t{0}}}),
            "split adds up to 3, but the dimension has size 2");
  const Datum none = at(0);
  EXPECT_EQ(any_refusal("split_to_sequence", {&x, &none}), "split is 0 and should be positive");
  const Datum huge = f32({1 << 30, 0}, {});
  EXPECT_EQ(any_refusal("split_to_sequence", {&huge}), "1073741824 parts without elements are more than 1048576");
}

TEST(ConcatFromSequence, joins_or_stacks) {
  const Datum s = any("sequence_construct", {&kA, &kA});
  const Datum y = any("concat_from_sequence", {&s}, {{"axis", int64_t{1}}, {"new_axis", true}});
  EXPECT_EQ(y.tensor.sizes, (Ints{2, 2}));
  EXPECT_EQ(values_of(y.tensor), (Numbers{1, 1, 2, 2}));
  const Datum mixed = any("sequence_construct", {&kA, &kB});
  EXPECT_EQ(values_of(any("concat_from_sequence", {&mixed}, {{"axis", int64_t{0}}}).tensor), (Numbers{1, 2, 3}));
  EXPECT_EQ(any_refusal("concat_from_sequence", {&mixed}, {{"axis", int64_t{0}}, {"new_axis", true}}),
            "element 1 of the sequence is f32[1], which cannot be joined with f32[2]");
  EXPECT_EQ(any_refusal("concat_from_sequence", {&s}, {{"axis", int64_t{1}}}),
            "axis is 1, but the result has 1 dimensions");
}

TEST(Optional, is_there_or_missing) {
  const Datum there = any("optional", {&kA});
  const Datum missing = any("optional", {nullptr}, {{"dtype", "i64"}});
  EXPECT_EQ(missing.kind, Datum::Kind::kNone);
  EXPECT_EQ(missing.element, DType::i64);
  EXPECT_EQ(values_of(any("optional_has_element", {&there}).tensor), (Numbers{1}));
  EXPECT_EQ(values_of(any("optional_has_element", {&missing}).tensor), (Numbers{0}));
  EXPECT_EQ(values_of(any("optional_has_element", {nullptr}).tensor), (Numbers{0}));
  EXPECT_EQ(values_of(any("optional_get_element", {&there}).tensor), (Numbers{1, 2}));
  EXPECT_EQ(any_refusal("optional_get_element", {&missing}), "x is an optional with nothing in it");
  const TensorType sequence{DType::f32, {2}, Container::kSequence};
  EXPECT_EQ((*infer_types("optional", {sequence}))[0].to_string(), "optional sequence f32[2]");
}

TEST(Maps, rows_become_maps_and_maps_rows) {
  const Datum x = f32({2, 2}, {1, 2, 3, 4});
  const Datum maps = any("zip_map", {&x}, {{"classlabels_strings", std::vector<std::string>{"no", "yes"}}});
  EXPECT_EQ(type_of(maps).to_string(), "sequence map string f32[]");
  EXPECT_EQ(maps.items[1].keys.strings[1], "yes");
  EXPECT_EQ(values_of(maps.items[1].tensor), (Numbers{3, 4}));
  const Attrs words = {{"string_vocabulary", std::vector<std::string>{"yes", "maybe", "no"}}};
  EXPECT_EQ(values_of(any("dict_vectorizer", {&maps}, words).tensor), (Numbers{2, 0, 1, 4, 0, 3}));
  EXPECT_EQ(any("dict_vectorizer", {&maps.items[0]}, words).tensor.sizes, (Ints{1, 3}));
  EXPECT_EQ(any_refusal("dict_vectorizer", {&maps}, {{"string_vocabulary", std::vector<std::string>{"yes"}}}),
            "the key no is not in the vocabulary");
  EXPECT_EQ(any_refusal("zip_map", {&x}, {{"classlabels_int64s", Ints{1}}}), "x is f32[2, 2], but there are 1 keys");
  EXPECT_EQ(any_refusal("zip_map", {&x}), "one of classlabels_int64s and classlabels_strings should be given");
}

TEST(CastMap, values_go_by_their_keys) {
  const Datum map = Datum::map(ints({3, 1}), f32({2}, {1.5, 2}));
  EXPECT_EQ(values_of(any("cast_map", {&map}).tensor), (Numbers{2, 1.5}));
  EXPECT_EQ(values_of(any("cast_map", {&map}, {{"map_form", "SPARSE"}, {"max_map", int64_t{4}}}).tensor),
            (Numbers{0, 2, 0, 1.5}));
  EXPECT_EQ(any("cast_map", {&map}, {{"cast_to", "TO_STRING"}}).tensor.strings[1], "1.5");
  const Datum text = Datum::map(ints({0, 1}), texts({2}, {"7", "x"}));
  EXPECT_EQ(values_of(any("cast_map", {&text}, {{"cast_to", "TO_INT64"}}).tensor), (Numbers{7, 0}));
  EXPECT_EQ(any_refusal("cast_map", {&map}, {{"map_form", "SPARSE"}, {"max_map", int64_t{3}}}),
            "the key 3 is not one of 0 to 2");
  EXPECT_EQ(any_refusal("cast_map", {&kA}), "x is f32[2] and should be a map of i64");
}

}  // namespace
}  // namespace nereid::ops
