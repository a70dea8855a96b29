// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::sample {
namespace {

struct Outcome {
  std::string text;
  int stop;
  bool operator==(const Outcome&) const = default;
};

Outcome feed(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  std::string text;
  for (const std::string& piece : pieces) text += matcher.push(piece);
  text += matcher.finish();
  return {text, matcher.stop_index()};
}

// The definition: the first end of a stop, and the longest that ends there.
Outcome by_definition(const std::vector<std::string>& stops, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    int which = -1;
    for (size_t i = 0; i < stops.size(); ++i) {
      if (stops[i].size() > longest && std::string_view(text).substr(0, end).ends_with(stops[i])) {
        longest = stops[i].size();
        which = static_cast<int>(i);
      }
    }
    if (which >= 0) return {text.substr(0, end - longest), which};
  }
  return {text, -1};
}

TEST(StopMatcher, without_stops_everything_passes_at_once) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.push("abc"), "abc");
  EXPECT_EQ(matcher.finish(), "");
  EXPECT_FALSE(matcher.is_stopped());
}

TEST(StopMatcher, a_stop_across_pieces_is_found_and_never_shown) {
  StopMatcher matcher({"</s>", "\nUser:"});
  EXPECT_EQ(matcher.push("Hello <"), "Hello ");
  EXPECT_EQ(matcher.push("b> and \nUs"), "<b> and ");
  EXPECT_EQ(matcher.push("er"), "");
  EXPECT_FALSE(matcher.is_stopped());
  EXPECT_EQ(matcher.push(": x"), "");
  EXPECT_TRUE(matcher.is_stopped());
  EXPECT_EQ(matcher.stop_index(), 1);
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, what_only_looked_like_a_stop_comes_out_late_but_whole) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.push("a"), "");
  EXPECT_EQ(matcher.push("a"), "");
  EXPECT_EQ(matcher.push("a"), "a");  // the last two may still begin the stop
  EXPECT_EQ(matcher.push("c"), "aac");
  EXPECT_EQ(matcher.push("a"), "");
  EXPECT_EQ(matcher.finish(), "a");
}

TEST(StopMatcher, of_two_stops_the_one_that_ends_first_wins) {
  EXPECT_EQ(feed({"abcd", "bc"}, {"xabcd"}), (Outcome{"xa", 1}));
  EXPECT_EQ(feed({"c", "abc"}, {"xabc"}), (Outcome{"x", 1}));
}

TEST(StopMatcher, characters_are_never_cut) {
  StopMatcher matcher({"stop"});
  EXPECT_EQ(matcher.push("a\xF0\x9F"), "a");
  EXPECT_EQ(matcher.push("\x98"), "");
  EXPECT_EQ(matcher.push("\x80!"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(matcher.push("\xE2\x82"), "");
  EXPECT_EQ(matcher.finish(), "\xEF\xBF\xBD");
}

TEST(StopMatcher, the_pieces_make_no_difference) {
  std::mt19937 rng(7);
  auto random_text = [&](size_t most) {
    std::string text;
    for (size_t n = rng() % (most + 1); n > 0; --n) text += std::string("abA")[rng() % 3];
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = rng() % 4; n > 0; --n) stops.push_back(random_text(4) + "a");
    const std::string text = random_text(24);
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + rng() % 5;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    ASSERT_EQ(feed(stops, pieces), by_definition(stops, text)) << "round " << round << " text " << text;
  }
}

}  // namespace
}  // namespace nereid::sample
