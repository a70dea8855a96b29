// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/raw_json.h"

#include <gtest/gtest.h>

#include <random>

#include "base/json.h"

namespace nereid::server::openai {
namespace {

std::string_view at(std::string_view json, std::initializer_list<JsonStep> path) {
  return raw_value(json, std::span(path.begin(), path.size()));
}

constexpr std::string_view kText =
    R"( { "b" : {"z":1, "a" : [ 1 , {"k":"}]\""} , null ] } , "n": -1.5e3, "s":"x,y", "":0 } )";

TEST(RawJson, values_keep_their_text) {
  EXPECT_EQ(at(kText, {std::string_view("b"), std::string_view("a"), size_t{1}}), R"({"k":"}]\""})");
  EXPECT_EQ(at(kText, {std::string_view("b"), std::string_view("a"), size_t{2}}), "null");
  EXPECT_EQ(at(kText, {std::string_view("n")}), "-1.5e3");
  EXPECT_EQ(at(kText, {std::string_view("s")}), R"("x,y")");
  EXPECT_EQ(at(kText, {std::string_view("")}), "0");
}

TEST(RawJson, what_is_not_there_is_empty) {
  EXPECT_EQ(at(kText, {std::string_view("c")}), "");
  EXPECT_EQ(at(kText, {std::string_view("n"), std::string_view("x")}), "");
  EXPECT_EQ(at(kText, {std::string_view("b"), std::string_view("a"), size_t{3}}), "");
  EXPECT_EQ(at("[]", {size_t{0}}), "");
  EXPECT_EQ(at("{}", {std::string_view("a")}), "");
}

TEST(RawJson, the_last_member_of_a_name_counts_and_keys_may_be_escaped) {
  EXPECT_EQ(at(R"({"a":1,"a":2})", {std::string_view("a")}), "2");
  EXPECT_EQ(at(R"({"\u0061":1})", {std::string_view("a")}), "1");
}

Json random_json(std::mt19937& random, int depth) {
  switch (depth > 3 ? random() % 4 : random() % 6) {
    case 0:
      return static_cast<int>(random() % 100) - 50;
    case 1:
      return nullptr;
    case 2:
      return random() % 2 == 0;
    case 3:
      return std::string("\"}{\\,:[] x").substr(random() % 5, random() % 6);
    case 4: {
      Json list = Json::array();
      for (size_t n = random() % 4; n > 0; --n) list.push_back(random_json(random, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (size_t n = random() % 4; n > 0; --n)
        object[std::string(1, static_cast<char>('a' + random() % 6))] = random_json(random, depth + 1);
      return object;
    }
  }
}

TEST(RawJson, every_value_of_random_documents_is_found) {
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    const Json document = {{"x", random_json(random, 0)}, {"y", random_json(random, 0)}};
    const std::string text = document.dump(static_cast<int>(random() % 3) - 1);
    for (const auto& [key, value] : document.items()) {
      EXPECT_EQ(Json::parse(at(text, {std::string_view(key)})), value) << text;
      if (!value.is_array()) continue;
      for (size_t i = 0; i < value.size(); ++i)
        EXPECT_EQ(Json::parse(at(text, {std::string_view(key), i})), value[i]) << text;
    }
  }
}

}  // namespace
}  // namespace nereid::server::openai
