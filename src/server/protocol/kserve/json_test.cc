// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "server/protocol/kserve/base64.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_tensor.h"
#include "server/protocol/kserve/json_writer.h"

namespace nereid::server::kserve {
namespace {

std::string number(double value) {
  std::string out;
  append_number(&out, value);
  return out;
}

// What a real server printed (tests/golden/kserve/infer.json, precision_json), by the number it was sent; where two
// texts of one length mean the same double it sometimes prints the other.
TEST(JsonWriter, floats_are_printed_as_they_always_were) {
  EXPECT_EQ(number(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(number(static_cast<double>(1e-7f)), "1.0000000116860974e-7");
  EXPECT_EQ(number(1e10), "10000000000.0");
  EXPECT_EQ(number(static_cast<double>(1e38f)), "9.999999680285692e37");
  EXPECT_EQ(number(static_cast<double>(std::numeric_limits<float>::max())), "3.4028234663852886e38");
  EXPECT_EQ(number(static_cast<double>(std::numeric_limits<float>::min())), "1.1754943508222875e-38");
  EXPECT_EQ(number(-0.0), "-0.0");
  EXPECT_EQ(number(123456792), "123456792.0");
  EXPECT_EQ(number(static_cast<double>(std::numeric_limits<float>::denorm_min())), "1.401298464324817e-45");
  EXPECT_EQ(number(2.5), "2.5");
  EXPECT_EQ(number(static_cast<double>(1e20f)), "100000002004087730000.0");
  EXPECT_EQ(number(static_cast<double>(1e21f)), "1.0000000200408773e21");
  EXPECT_EQ(number(static_cast<double>(1e-4f)), "0.00009999999747378752");
  EXPECT_EQ(number(std::nan("")), "NaN");
}

TEST(JsonWriter, texts_keep_their_bytes) {
  std::string out;
  append_text(&out, "a\"\\\n\x01\xff");
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0001\xff\"");
}

std::string error_of(std::string_view text) {
  return JsonDocument::parse(text).status().message();
}

TEST(JsonReader, what_is_wrong_is_said_in_the_words_that_clients_know) {
  const std::string head = "failed to parse the request JSON buffer: ";
  EXPECT_EQ(error_of("{not json"), head + "Missing a name for object member. at 1");
  EXPECT_EQ(error_of("{\"inputs\":[{\"name\":\"INPUT0\""),
            head + "Missing a comma or '}' after an object member. at 27");
  EXPECT_EQ(error_of("{}xx"), head + "The document root must not be followed by other values. at 2");
  EXPECT_EQ(error_of(" "), head + "The document is empty. at 1");
  for (const char* text :
       {"[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "\"\\x\"", "\"\\ud800\"", "\"\\u12", "\"a", "\"\n\"", "01",
        "1.",   "1e",    "-",       "+1",       "nul",     "tru",         "1e999",   "[",   "{",      "{\"a\":1,}"})
    EXPECT_FALSE(JsonDocument::parse(text).is_ok()) << text;
  EXPECT_FALSE(JsonDocument::parse(std::string(100'000, '[')).is_ok());
}

TEST(JsonReader, values_are_what_they_say) {
  const auto document = JsonDocument::parse(
      R"({"a":[1,-2,3.5,1e2,true,null,"x\u00e9\ud83d\ude00"],"b":{"c":18446744073709551615},"n":NaN,"i":-Infinity})");
  ASSERT_TRUE(document.is_ok()) << document.status().message();
  const JsonValue root = document->root();
  const JsonValue a = *root.find("a");
  auto one = a.first();
  EXPECT_EQ(one->as_uint(), 1u);
  one = one->next(a);
  EXPECT_EQ(one->as_int(), -2);
  EXPECT_FALSE(one->as_uint());
  one = one->next(a);
  EXPECT_EQ(one->number(), 3.5);
  one = one->next(a);
  EXPECT_EQ(one->number(), 100);
  EXPECT_FALSE(one->is_integer());
  one = one->next(a);
  EXPECT_TRUE(one->boolean());
  one = one->next(a)->next(a);
  EXPECT_EQ(one->text(), "x\u00e9\U0001F600");
  EXPECT_FALSE(one->next(a));
  EXPECT_EQ(root.find("b")->find("c")->as_uint(), std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(root.find("b")->find("c")->as_int());
  EXPECT_TRUE(std::isnan(root.find("n")->number()));
  EXPECT_EQ(root.find("i")->number(), -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(root.find("z"));
}

std::string elements(std::string_view data, InferType type, int64_t count) {
  const auto document = JsonDocument::parse(data);
  const auto bytes = read_elements(document->root(), type, count);
  return bytes.is_ok() ? *bytes : bytes.status().message();
}

TEST(JsonTensor, elements_become_bytes_whatever_they_nest_in) {
  EXPECT_EQ(elements("[[1],[2,3]]", InferType::kUint8, 3), "\x01\x02\x03");
  EXPECT_EQ(elements("[-1]", InferType::kInt16, 1), "\xff\xff");
  EXPECT_EQ(elements("[\"ab\",\"\"]", InferType::kBytes, 2), std::string("\x02\0\0\0ab\0\0\0\0", 10));
  EXPECT_EQ(elements("[true,false]", InferType::kBool, 2), std::string("\x01\0", 2));
  EXPECT_EQ(elements("[1]", InferType::kFp16, 1), std::string("\0\x3c", 2));
  EXPECT_EQ(elements("[1]", InferType::kBf16, 1), std::string("\x80\x3f", 2));
}

TEST(JsonTensor, what_does_not_fit_is_told) {
  EXPECT_EQ(elements("[1,2]", InferType::kUint8, 3),
            "Unable to parse 'data': Shape does not match true shape of 'data' field");
  EXPECT_EQ(elements("[1,2]", InferType::kUint8, -1),
            "Unable to parse 'data': Shape does not match true shape of 'data' field");
  EXPECT_EQ(elements("[1.5]", InferType::kInt32, 1),
            "Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer");
  EXPECT_EQ(elements("[1]", InferType::kBytes, 1),
            "Unable to parse JSON bytes array: attempt to access JSON non-string as string");
  EXPECT_EQ(elements("[255,300]", InferType::kUint8, 2), "Unable to parse 'data': 300 is no UINT8");
  EXPECT_EQ(elements("[-32769]", InferType::kInt16, 1), "Unable to parse 'data': -32769 is no INT16");
  EXPECT_EQ(elements("[4294967299]", InferType::kInt32, 1), "Unable to parse 'data': 4294967299 is no INT32");
  EXPECT_EQ(elements("5", InferType::kInt32, 1), "Unable to parse 'data': attempt to access JSON non-array as array");
}

TEST(Base64, bytes_come_back) {
  EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
  EXPECT_EQ(decode_base64("aGVsbG8"), "hello");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_FALSE(decode_base64("a"));
  EXPECT_FALSE(decode_base64("a$b="));
}

}  // namespace
}  // namespace nereid::server::kserve
