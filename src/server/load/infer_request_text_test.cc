// SPDX-License-Identifier: Apache-2.0
#include "server/load/infer_request_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(InferInput, is_a_name_a_type_and_sizes) {
  const InferInput input = parse_infer_input("INPUT0=FP32[1,16]").value();
  EXPECT_EQ(input.name, "INPUT0");
  EXPECT_EQ(input.type, "FP32");
  EXPECT_THAT(input.shape, ElementsAre(1, 16));
  EXPECT_TRUE(parse_infer_input("s=INT64[]").value().shape.empty());
  for (const char* wrong :
       {"", "a", "a=FP32", "=FP32[1]", "a=FP32[x]", "a=FP32[-1]", "a=FP32[1]x", "a=FLOAT[1]", "[=]"})
    EXPECT_FALSE(parse_infer_input(wrong).is_ok()) << wrong;
}

TEST(InferInput, bytes_are_bounded_and_as_many_as_the_shape_says) {
  EXPECT_EQ(input_bytes({"a", "FP32", {2, 3}}).value().size(), 24u);
  EXPECT_EQ(input_bytes({"a", "BYTES", {2}}).value(), std::string("\6\0\0\0nereid\6\0\0\0nereid", 20));
  EXPECT_EQ(input_bytes({"a", "INT16", {3}}).value(), std::string("\0\0\1\0\2\0", 6));
  EXPECT_FALSE(input_bytes({"a", "FP64", {1 << 20, 1 << 20, 1 << 20}}).is_ok());
}

TEST(InferBody, over_http_is_json_and_the_raw_tensors_behind_it) {
  size_t json_bytes = 0;
  const std::string body = infer_http_body({{"a", "INT8", {2}}, {"b", "UINT8", {1}}}, &json_bytes).value();
  ASSERT_EQ(body.size(), json_bytes + 3);
  EXPECT_EQ(body.substr(json_bytes), std::string("\0\1\0", 3));
  const Json json = Json::parse(body.substr(0, json_bytes));
  EXPECT_EQ(json["inputs"][0]["parameters"]["binary_data_size"], 2);
  EXPECT_EQ(json["inputs"][1]["name"], "b");
}

// By the encoding rules of protocol buffers: key (number << 3 | 2), length, bytes.
TEST(InferBody, over_grpc_is_the_message) {
  const std::string message = infer_grpc_message("m", {{"a", "INT8", {300}}}).value();
  EXPECT_THAT(message, HasSubstr(std::string("\x0a\x01m\x2a\x0d\x0a\x01"
                                             "a\x12\x04INT8\x1a\x02\xac\x02\x3a\xac\x02",
                                             21)));
  EXPECT_EQ(message.size(), 21u + 300u);
}

TEST(Metadata, gives_the_inputs_with_one_for_what_is_free) {
  const auto inputs =
      inputs_of_metadata(
          Json::parse(R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]}],"outputs":[]})"))
          .value();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_THAT(inputs[0].shape, ElementsAre(1, 3));
  EXPECT_FALSE(inputs_of_metadata(Json::parse(R"({"inputs":[{"name":"x"}]})")).is_ok());
}

}  // namespace
}  // namespace nereid::server::load
