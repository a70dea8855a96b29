// SPDX-License-Identifier: Apache-2.0
#include "server/load/planned_request.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/json.h"

namespace nereid::server::load {
namespace {

constexpr int64_t kMaxTokens = int64_t{1} << 24;
constexpr double kMaxSeconds = 1e7;

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// In (0, 1].
double next_fraction(uint64_t* state) {
  return (static_cast<double>(next_random(state) >> 11) + 1) * 0x1p-53;
}

constexpr std::string_view kWords[] = {
    "the",      "time",   "people", "way",     "water",   "words", "day",     "part",  "number",   "sound",   "most",
    "work",     "place",  "years",  "back",    "little",  "man",   "year",    "show",  "every",    "good",    "form",
    "think",    "great",  "help",   "line",    "turn",    "cause", "same",    "mean",  "right",    "old",     "tell",
    "follow",   "want",   "set",    "three",   "small",   "end",   "home",    "read",  "hand",     "port",    "large",
    "add",      "land",   "here",   "high",    "such",    "why",   "ask",     "men",   "change",   "light",   "kind",
    "off",      "need",   "house",  "picture", "try",     "again", "animal",  "point", "mother",   "world",   "near",
    "build",    "self",   "earth",  "father",  "head",    "stand", "own",     "page",  "should",   "country", "found",
    "answer",   "school", "grow",   "study",   "still",   "learn", "plant",   "cover", "food",     "sun",     "four",
    "state",    "keep",   "eye",    "never",   "last",    "let",   "thought", "city",  "tree",     "cross",   "farm",
    "hard",     "start",  "story",  "far",     "sea",     "draw",  "left",    "late",  "run",      "while",   "press",
    "close",    "night",  "real",   "life",    "few",     "north", "open",    "seem",  "together", "next",    "white",
    "children", "begin",  "got",    "walk",    "example", "paper", "group",
};

Result<double> number_of(const Json& object, std::string_view name, std::string_view other, double scale,
                         double other_scale) {
  const bool has_first = json_find(object, name) != nullptr;
  NEREID_TRY(const double value, json_float(object, has_first ? name : other));
  const double scaled = value * (has_first ? scale : other_scale);
  if (!std::isfinite(scaled) || scaled < 0 || scaled > static_cast<double>(kMaxTokens))
    return invalid_argument("'{}' is {}, which makes no sense", has_first ? name : other, value);
  return scaled;
}

Result<PlannedRequest> parse_line(std::string_view line) {
  NEREID_TRY(const Json object, parse_json(line, {.max_depth = 8, .max_bytes = 16 << 20}));
  NEREID_TRY(const double at_s, number_of(object, "at_s", "timestamp", 1, 1e-3));
  NEREID_TRY(const double prompt, number_of(object, "prompt_tokens", "input_length", 1, 1));
  NEREID_TRY(const double answer, number_of(object, "answer_tokens", "output_length", 1, 1));
  if (at_s > kMaxSeconds)
    return invalid_argument("the time {} s is more than {} s after the beginning", at_s, kMaxSeconds);
  return PlannedRequest{.at_us = std::llround(at_s * 1e6),
                        .prompt_tokens = std::max<int64_t>(1, std::llround(prompt)),
                        .answer_tokens = std::max<int64_t>(1, std::llround(answer))};
}

}  // namespace

std::vector<PlannedRequest> poisson_plan(int64_t count, double rate, int64_t prompt_tokens, int64_t answer_tokens,
                                         uint64_t seed) {
  std::vector<PlannedRequest> plan;
  double at_s = 0;
  for (int64_t i = 0; i < count; ++i) {
    plan.push_back({.at_us = std::llround(at_s * 1e6), .prompt_tokens = prompt_tokens, .answer_tokens = answer_tokens});
    at_s -= std::log(next_fraction(&seed)) / rate;
  }
  return plan;
}

Result<std::vector<PlannedRequest>> parse_trace(std::string_view jsonl, double speed) {
  std::vector<PlannedRequest> plan;
  int64_t number = 0;
  while (!jsonl.empty()) {
    const std::string_view line = jsonl.substr(0, jsonl.find('\n'));
    jsonl.remove_prefix(std::min(jsonl.size(), line.size() + 1));
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    NEREID_TRY(const PlannedRequest one, parse_line(line).with(fmt::format("line {}", number)));
    plan.push_back(one);
  }
  if (plan.empty()) return invalid_argument("there is no request in it");
  std::stable_sort(plan.begin(), plan.end(), [](const auto& a, const auto& b) { return a.at_us < b.at_us; });
  const int64_t first_us = plan.front().at_us;
  for (PlannedRequest& one : plan) one.at_us = std::llround(static_cast<double>(one.at_us - first_us) / speed);
  return plan;
}

std::string prompt_text(int64_t tokens, int64_t shared, uint64_t seed) {
  uint64_t same = 1;
  std::string text;
  for (int64_t i = 0; i < tokens; ++i) {
    const uint64_t random = next_random(i < shared ? &same : &seed);
    if (i > 0) text += ' ';
    text += kWords[random % std::size(kWords)];
  }
  return text;
}

}  // namespace nereid::server::load
