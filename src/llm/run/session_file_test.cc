// SPDX-License-Identifier: Apache-2.0
#include "llm/run/session_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "llm/run/generate.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;
using testing::tiny_expected;
using testing::TinyModel;

constexpr const char* kName = "tiny-qwen3";

std::vector<int32_t> long_prompt() {
  std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  for (int32_t i = 0; i < 60; ++i) prompt.push_back(30 + i * 7 % 150);
  return prompt;
}

LoadOptions with_cache(const char* type) {
  LoadOptions options;
  options.kv_types = KvTypes::parse(type).value();
  return options;
}

// A session of a long prompt, and what the model goes on with.
struct Saved {
  explicit Saved(const char* type = "auto") : tiny(kName, with_cache(type)) {
    Generator generator(*tiny.model);
    (void)generator.generate(long_prompt(), {.max_tokens = 5, .ignore_eos = 1}).value();
    EXPECT_TRUE(generator.save(path(), "{\"what\":\"a note\"}").is_ok());
    held.assign(generator.held().begin(), generator.held().end());
    next = held;
    next.push_back(77);
    then = generator.generate(next, {.max_tokens = 20, .ignore_eos = 1}).value().tokens;
  }
  std::string path() const { return dir / "chat.session"; }
  std::string bytes() const { return read_file(path(), 1 << 26).value(); }
  TestDir dir;
  TinyModel tiny;
  std::vector<int32_t> held, next, then;
};

void write(const std::string& path, std::string_view bytes) {
  AtomicFile file = AtomicFile::create(path).value();
  ASSERT_TRUE(file.write(bytes).is_ok() && file.commit().is_ok());
}

std::string refusal(const std::string& path, LanguageModel& model) {
  Generator generator(model);
  const auto restored = generator.restore(path);
  EXPECT_FALSE(restored.is_ok());
  EXPECT_TRUE(generator.held().empty());
  return std::string(restored.status().message());
}

TEST(SessionFile, a_session_goes_on_in_another_process_as_it_would_have_without_computing_anything_again) {
  for (const char* type : {"f16", "int8", "f32"}) {
    const Saved saved(type);
    TinyModel other(kName, with_cache(type), 2);
    Generator generator(*other.model);
    EXPECT_EQ(generator.restore(saved.path()).value(), "{\"what\":\"a note\"}");
    EXPECT_EQ(std::vector<int32_t>(generator.held().begin(), generator.held().end()), saved.held);
    const Generated answer = generator.generate(saved.next, {.max_tokens = 20, .ignore_eos = 1}).value();
    EXPECT_EQ(answer.reused_tokens, static_cast<int64_t>(saved.held.size())) << type;
    EXPECT_EQ(answer.tokens, saved.then) << type;
  }
}

TEST(SessionFile, every_page_comes_back_bit_for_bit) {
  const Saved saved;
  TinyModel other(kName);
  Generator generator(*other.model);
  ASSERT_TRUE(generator.restore(saved.path()).is_ok());
  const std::string again = saved.dir / "again.session";
  ASSERT_TRUE(generator.save(again, "{\"what\":\"a note\"}").is_ok());
  EXPECT_EQ(read_file(again, 1 << 26).value(), saved.bytes());
}

TEST(SessionFile, an_empty_session_is_one) {
  const TestDir dir;
  TinyModel tiny(kName);
  Generator generator(*tiny.model);
  ASSERT_TRUE(generator.save(dir / "x").is_ok());
  EXPECT_EQ(generator.restore(dir / "x").value(), "");
}

TEST(SessionFile, another_models_session_is_refused) {
  const Saved saved;
  TinyModel other("tiny-llama");
  EXPECT_THAT(refusal(saved.path(), *other.model), HasSubstr("was saved with another model"));
}

TEST(SessionFile, another_type_of_cache_is_named) {
  const Saved saved("int8");
  TinyModel other(kName);
  EXPECT_THAT(refusal(saved.path(), *other.model), HasSubstr("as int8, but the model was loaded to keep them as f16"));
  TinyModel mixed(kName, with_cache("int8,0=f16")), mixed_otherwise(kName, with_cache("int8,1=f16"));
  Generator generator(*mixed.model);
  (void)generator.generate(long_prompt(), {.max_tokens = 1}).value();
  ASSERT_TRUE(generator.save(saved.dir / "mixed").is_ok());
  EXPECT_TRUE(generator.restore(saved.dir / "mixed").is_ok());
  EXPECT_THAT(refusal(saved.dir / "mixed", *mixed_otherwise.model), HasSubstr("as mixed"));
}

TEST(SessionFile, a_context_that_is_too_short_is_named) {
  const Saved saved;
  TinyModel other(kName, {.context_tokens = 40});
  EXPECT_THAT(refusal(saved.path(), *other.model), HasSubstr("more than the context of 40"));
}

TEST(SessionFile, a_file_that_is_not_there_or_no_session_is_refused) {
  const TestDir dir;
  TinyModel tiny(kName);
  Generator generator(*tiny.model);
  EXPECT_EQ(generator.restore(dir / "missing").status().code(), StatusCode::kNotFound);
  write(dir / "text", std::string(1000, 'x'));
  EXPECT_THAT(refusal(dir / "text", *tiny.model), HasSubstr("does not begin with NEREIDKV"));
  write(dir / "short", "NEREIDKV");
  EXPECT_THAT(refusal(dir / "short", *tiny.model), HasSubstr("no session"));
}

TEST(SessionFile, a_file_that_was_cut_anywhere_is_refused) {
  Saved saved;
  const std::string whole = saved.bytes();
  for (size_t length = 0; length < whole.size(); length += 1 + length / 3) {
    write(saved.dir / "cut", std::string_view(whole).substr(0, length));
    refusal(saved.dir / "cut", *saved.tiny.model);
  }
  write(saved.dir / "long", whole + "x");
  EXPECT_THAT(refusal(saved.dir / "long", *saved.tiny.model), HasSubstr("cut off or corrupt"));
}

TEST(SessionFile, a_changed_byte_anywhere_is_seen) {
  Saved saved;
  const std::string whole = saved.bytes();
  for (size_t at = 0; at < whole.size(); at += at < 300 ? 1 : 97) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    write(saved.dir / "changed", changed);
    refusal(saved.dir / "changed", *saved.tiny.model);
  }
}

// A file made on purpose has a right checksum, too.
TEST(SessionFile, lengths_and_tokens_that_make_no_sense_are_refused_whatever_the_checksum_says) {
  Saved saved;
  const auto forged = [&](size_t at, std::string_view bytes) {
    std::string changed = saved.bytes();
    changed.replace(at, bytes.size(), bytes);
    const uint64_t hash = xxhash64(std::string_view(changed).substr(0, changed.size() - 8));
    std::memcpy(changed.data() + changed.size() - 8, &hash, 8);
    write(saved.dir / "forged", changed);
    return refusal(saved.dir / "forged", *saved.tiny.model);
  };
  const std::string huge(8, '\x7f'), negative(8, '\xff'), zero(8, '\0');
  EXPECT_THAT(forged(8, std::string("\x02\0\0\0", 4)), HasSubstr("format version 2"));
  for (size_t field : {24, 32, 40, 48})  // note, tokens, page_tokens, page_bytes
    for (const std::string& value : {huge, negative, zero})
      if (field != 24 || value != zero) forged(field, value);
  forged(12, std::string(4, '\xff'));  // type_bytes
  const size_t tokens_at = 64 + 3 + 17;
  EXPECT_THAT(forged(tokens_at, std::string(4, '\x7f')), HasSubstr("which the model does not have"));
}

}  // namespace
}  // namespace nereid::llm
