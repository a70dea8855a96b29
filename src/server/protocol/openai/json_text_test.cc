// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/json_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/json.h"
#include "server/protocol/openai/logprobs.h"

namespace nereid::server::openai {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(&out, text);
  return out;
}

TEST(JsonText, every_character_reads_back_as_it_was) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) {
      static constexpr std::string_view kParts[] = {"a",    "\"", "\\", "\n", "\t",          "\x01",
                                                    "\x7f", "é",  "中", "😀",  "\xEF\xBF\xBD"};
      text += kParts[random() % std::size(kParts)];
    }
    const Json read = Json::parse(as_json(text), nullptr, false);
    ASSERT_TRUE(read.is_string()) << as_json(text);
    EXPECT_EQ(read.get<std::string>(), text);
  }
}

TEST(JsonText, whatever_the_bytes_it_is_json) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) text += static_cast<char>(random() % 256);
    const std::string out = as_json(text);
    EXPECT_TRUE(Json::accept(out)) << out;
    const auto dumped = [&](Json::error_handler_t handler) { return Json(text).dump(-1, ' ', false, handler); };
    // What is dropped in one of them is replaced in the other, where there is anything.
    EXPECT_EQ(is_utf8(text), dumped(Json::error_handler_t::ignore) == dumped(Json::error_handler_t::replace)) << out;
  }
}

TEST(JsonText, what_is_no_utf8_becomes_a_replacement_character) {
  EXPECT_EQ(as_json("a\xff"), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(as_json("\xE4\xB8"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // the beginning of a character
  EXPECT_EQ(as_json("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // too long for what it says
  EXPECT_EQ(as_json("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // half of a pair
}

TEST(JsonText, floats_read_back_the_same_and_infinity_is_a_number) {
  for (const float value : {0.0F, -0.1F, -12.345678F, 1e-20F, -3.4e38F, 0.25F}) {
    std::string out;
    append_float(&out, value);
    EXPECT_EQ(Json::parse(out).get<float>(), value) << out;
  }
  std::string out;
  append_float(&out, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(Json::parse(out).get<double>(), -9999.0);
}

}  // namespace
}  // namespace nereid::server::openai
