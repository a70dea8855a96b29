// SPDX-License-Identifier: Apache-2.0
// The bound holds against what the allocator really gives out.
#include "server/protocol/openai/json_cost.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <functional>

#include "server/protocol/openai/fields.h"

namespace nereid::server::openai {
namespace {

std::string repeated(std::string_view open, std::string_view one, std::string_view close, size_t bytes) {
  std::string text(open);
  while (text.size() < bytes) text += (text.size() > open.size() ? "," : "") + std::string(one);
  return text += close;
}

int64_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

TEST(JsonCost, is_no_less_than_what_a_document_takes) {
  std::string members = "{";
  for (int i = 0; i < 20000; ++i) members += fmt::format("{}\"{}\":0", i > 0 ? "," : "", i);
  members += '}';
  const std::string texts[] = {repeated("[", "1", "]", 200'000),
                               repeated("[", "\"\"", "]", 200'000),
                               repeated("[", "\"a text of more than 15\"", "]", 200'000),
                               repeated("[", "[]", "]", 200'000),
                               repeated("[", "{}", "]", 200'000),
                               repeated("[", "[0]", "]", 200'000),
                               repeated("[", "{\"a\":{\"b\":[\"\"]}}", "]", 200'000),
                               members};
  for (const std::string& text : texts) {
    const int64_t before = heap_bytes();
    Result<Json> json = parse_json(text);
    const int64_t taken = heap_bytes() - before;
    ASSERT_TRUE(json.is_ok());
    EXPECT_LE(taken, document_bytes(text)) << text.substr(0, 20);
    // Not so far above it that what people send would be refused.
    EXPECT_LE(document_bytes(text), 6 * taken + 1000) << text.substr(0, 20);
  }
}

TEST(JsonCost, signs_in_strings_count_for_nothing) {
  EXPECT_EQ(document_bytes(R"(["a,b:c[{\",\\"])"), document_bytes(R"(["abbbcdd\"d\\"])"));
}

TEST(JsonCost, a_small_text_that_would_be_a_large_document_is_refused_unread) {
  FirstError error;
  read_body(repeated(R"({"prompt":[)", "[]", "]}", 3 << 20), &error);
  ASSERT_TRUE(error.is_set());
  EXPECT_EQ(error.get().http, 413);
  EXPECT_THAT(error.get().message, ::testing::HasSubstr("would take"));
  FirstError none;
  read_body(repeated(R"({"prompt":[)", "12345", "]}", 6 << 20), &none);  // a million ids of tokens
  EXPECT_FALSE(none.is_set());
}

}  // namespace
}  // namespace nereid::server::openai
