// SPDX-License-Identifier: Apache-2.0
// What may be added to a program's products, and what not. What is computed: llm/run/adapter_test.cc, against PEFT.
#include "runtime/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace nereid::runtime {
namespace {

using ::testing::HasSubstr;

class AdapterSources : public ::testing::Test {
 protected:
  graph::Graph graph_ = graph::parse(R"(graph g {
    input %x: f32[tokens, 4]
    const %w: f32[40, 4]
    const %v: f32[40]
    %y = linear(%x, %w, %v)
    output %y
  })")
                            .value();
  std::vector<float> numbers_ = std::vector<float>(4096, 0.5F);
  LowRankSource good() const {
    const auto* bytes = reinterpret_cast<const std::byte*>(numbers_.data());
    return {.weight = graph_.find_value("w"),
            .first_row = 10,
            .rows = 20,
            .cols = 4,
            .rank = 2,
            .down = bytes,
            .up = bytes};
  }
  std::string refusal(const LowRankSource& source) const {
    return Adapter::make(graph_, {{source}}).status().message();
  }
};

TEST_F(AdapterSources, cover_the_tiles_of_their_rows) {
  LowRankSource second = good();
  second.first_row = 0;
  second.rows = 3;
  const LowRankSource sources[] = {good(), second};
  const auto adapter = Adapter::make(graph_, sources).value();
  const auto parts = adapter->parts(graph_.find_value("w"));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].first_tile, 0);
  EXPECT_EQ(parts[0].tiles, 2) << "rows 10 to 29";
  EXPECT_EQ(parts[1].tiles, 1);
  EXPECT_TRUE(adapter->parts(graph_.find_value("v")).empty());
  EXPECT_GT(adapter->bytes(), 0);
}

TEST_F(AdapterSources, that_do_not_fit_are_refused) {
  EXPECT_EQ(refusal(good()), "");
  const auto changed = [&](auto change) {
    LowRankSource source = good();
    change(source);
    return refusal(source);
  };
  EXPECT_THAT(changed([](auto& s) { s.rank = 0; }), HasSubstr("the rank is 0"));
  EXPECT_THAT(changed([](auto& s) { s.rank = 1025; }), HasSubstr("between 1 and 1024"));
  EXPECT_THAT(changed([](auto& s) { s.cols = 5; }), HasSubstr("which has 40 rows of 4 columns"));
  EXPECT_THAT(changed([](auto& s) { s.rows = 31; }), HasSubstr("rows 10 to 40"));
  EXPECT_THAT(changed([](auto& s) { s.first_row = -1; }), HasSubstr("which has 40 rows"));
  EXPECT_THAT(changed([](auto& s) { s.dtype = DType::q4_0; }), HasSubstr("expected f32, f16 or bf16"));
  EXPECT_THAT(changed([&](auto& s) { s.weight = graph_.find_value("v"); }), HasSubstr("'v' is no matrix"));
  EXPECT_THAT(changed([&](auto& s) { s.weight = graph_.find_value("x"); }), HasSubstr("'x' is no matrix"));
}

TEST_F(AdapterSources, whose_ranks_sum_up_to_too_much_are_refused) {
  LowRankSource one = good();
  one.rank = 1024;
  one.rows = 1;
  numbers_.assign(8192, 0.5F);
  one.down = one.up = reinterpret_cast<const std::byte*>(numbers_.data());
  const std::vector<LowRankSource> three(3, one), four(4, one);
  EXPECT_TRUE(Adapter::make(graph_, three).is_ok());
  EXPECT_THAT(Adapter::make(graph_, four).status().message(), HasSubstr("sum up to 4096 and should be at most 3072"));
}

}  // namespace
}  // namespace nereid::runtime
