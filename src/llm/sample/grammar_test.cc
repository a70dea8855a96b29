// SPDX-License-Identifier: Apache-2.0
// What the grammars themselves allow is judged by jsonschema and re (tests/grammar); here: matchers, the cache, bounds.
#include "llm/sample/grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "llm/sample/best_of.h"
#include "llm/sample/grammar_limits.h"
#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Grammars : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_grammars()) GTEST_SKIP() << "this build has no grammars";
    auto made = GrammarCompiler::make(words_);
    ASSERT_TRUE(made.is_ok()) << made.status().message();
    compiler_ = *std::move(made);
  }

  std::unique_ptr<GrammarMatcher> matcher(GrammarKind kind, std::string text) {
    auto grammar = compiler_->compile({kind, std::move(text)});
    EXPECT_TRUE(grammar.is_ok()) << grammar.status().message();
    auto made = GrammarMatcher::make(*grammar);
    EXPECT_TRUE(made.is_ok());
    return *std::move(made);
  }

  std::vector<int32_t> allowed(GrammarMatcher& m) const {
    std::vector<uint32_t> mask(mask_words(words_.size()));
    m.fill_mask(mask);
    std::vector<int32_t> tokens;
    for (int32_t t = 0; t < static_cast<int32_t>(words_.size()); ++t)
      if (is_allowed(mask, t)) tokens.push_back(t);
    return tokens;
  }

  const Vocabulary words_ = byte_vocabulary({"ab", "abc", "{\"", "yes", "ye"});
  const int32_t end_ = static_cast<int32_t>(words_.size()) - 1;
  std::unique_ptr<GrammarCompiler> compiler_;
};

TEST_F(Grammars, a_mask_holds_the_tokens_that_may_come_next) {
  const auto m = matcher(GrammarKind::kRegex, "ab?c");
  EXPECT_THAT(allowed(*m), ElementsAre('a', 256, 257));
  ASSERT_TRUE(m->accept(256));
  EXPECT_THAT(allowed(*m), ElementsAre('c'));
  EXPECT_FALSE(m->accept('b'));
  EXPECT_FALSE(m->accept(-1));
  EXPECT_FALSE(m->accept(100'000));
  EXPECT_FALSE(m->can_end());
  ASSERT_TRUE(m->accept('c'));
  EXPECT_TRUE(m->can_end());
  EXPECT_THAT(allowed(*m), ElementsAre(end_));
  ASSERT_TRUE(m->accept(end_));
  EXPECT_TRUE(m->is_finished());
  EXPECT_THAT(allowed(*m), ElementsAre());
  EXPECT_FALSE(m->accept('c'));
}

TEST_F(Grammars, what_was_accepted_can_be_taken_back_even_the_end) {
  const auto m = matcher(GrammarKind::kRegex, "[ab]{3}");
  for (int32_t t : std::vector<int32_t>{'a', 'b', 'a', end_}) ASSERT_TRUE(m->accept(t));
  EXPECT_FALSE(m->rollback(5));
  EXPECT_FALSE(m->rollback(-1));
  ASSERT_TRUE(m->rollback(3));
  EXPECT_FALSE(m->is_finished());
  EXPECT_THAT(allowed(*m), ElementsAre('a', 'b', 256));
  EXPECT_TRUE(m->rollback(1));
  EXPECT_FALSE(m->rollback(1));
}

TEST_F(Grammars, a_fork_goes_its_own_way) {
  const auto m = matcher(GrammarKind::kChoice, R"(["aa", "bb"])");
  const auto before = m->fork();
  ASSERT_TRUE(m->accept('a'));
  ASSERT_TRUE(before->accept('b'));
  EXPECT_THAT(allowed(*m), ElementsAre('a'));
  EXPECT_THAT(allowed(*before), ElementsAre('b'));
  EXPECT_TRUE(before->rollback(1));
}

TEST_F(Grammars, the_same_grammar_is_compiled_once) {
  const GrammarSpec spec{GrammarKind::kJsonSchema, R"({"type": "integer"})"};
  const auto first = compiler_->compile(spec);
  const auto second = compiler_->compile(spec);
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  EXPECT_EQ(*first, *second);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(compiler_->compile({GrammarKind::kRegex, "a{" + std::to_string(i + 1) + "}"}).is_ok());
  EXPECT_NE(*compiler_->compile(spec), *first);  // long forgotten by the compiler, still whole for who has it
  EXPECT_TRUE(GrammarMatcher::make(*first).is_ok());
}

TEST_F(Grammars, threads_share_compilers_and_grammars) {
  const GrammarSpec spec{GrammarKind::kJsonSchema, R"({"type": "array", "items": {"type": "integer"}, "maxItems": 9})"};
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto grammar = compiler_->compile(spec);
      const auto other = compiler_->compile({GrammarKind::kRegex, "a{" + std::to_string(i + 1) + "}"});
      if (!grammar.is_ok() || !other.is_ok()) return;
      auto m = *GrammarMatcher::make(*grammar);
      for (int step = 0; step < 40 && !m->is_finished(); ++step) {
        const std::vector<int32_t> tokens = allowed(*m);
        const int32_t token = tokens[static_cast<size_t>(step) * 7 % tokens.size()];
        if (!m->accept(token)) return;
        texts[i] += words_.piece(token);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(texts[0].size(), 2u);
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

struct Hostile {
  std::string name;
  GrammarSpec spec;
};

std::vector<Hostile> hostile_grammars() {
  using enum GrammarKind;
  std::string many_members = R"({"type": "object", "properties": {)";
  for (int i = 0; i < 3000; ++i) many_members += fmt::format("{}\"p{}\": {{\"type\": \"string\"}}", i ? "," : "", i);
  many_members += "}}";
  std::string many_rules = "root ::= r0\n";
  for (int i = 0; i < 3000; ++i) many_rules += fmt::format("r{} ::= \"a\" r{} | \"b\"\n", i, (i * 7 + 1) % 3000);
  std::string doubling = R"({"$ref": "#/$defs/d30", "$defs": {"d0": {"type": "integer"})";
  for (int i = 1; i <= 30; ++i)
    doubling += fmt::format(
        R"(, "d{0}": {{"anyOf": [{{"$ref": "#/$defs/d{1}"}}, {{"type": "array", "items": {{"$ref": "#/$defs/d{1}"}}}}]}})",
        i, i - 1);
  doubling += "}}";
  return {
      {"deep groups", {kRegex, repeated("(", 10'000) + "a" + repeated(")", 10'000)}},
      {"groups as deep as allowed", {kRegex, repeated("(", 64) + "a" + repeated(")", 64)}},
      {"counts of counts", {kRegex, "((((a{99}){99}){99}){99}){99}"}},
      {"a great count", {kRegex, "a{999999999}"}},
      {"a count that overflows", {kRegex, "a{99999999999999999999999}"}},
      {"a count of a class", {kRegex, "[a-z0-9\\u0100-\\uffff]{10000}"}},
      {"catastrophic", {kRegex, "(a+)+(a*)*(a|a)*(a|aa)+b"}},
      {"exponential states", {kRegex, "(a|b)*a(a|b){200}"}},
      {"many branches", {kRegex, "(" + repeated("abc[d-f]*|", 5000) + "x)*"}},
      {"many stars", {kRegex, repeated("a?", 3000) + repeated("a", 3000)}},
      {"large text", {kRegex, repeated("a", 1 << 20)}},
      {"bytes that are no UTF-8", {kRegex, "a\xFF\xC0"}},
      {"a zero byte", {kRegex, std::string("a\0b", 3)}},
      {"unfinished escapes", {kRegex, "\\"}},
      {"deep schema", {kJsonSchema, repeated(R"({"items":)", 5000) + "{}" + repeated("}", 5000)}},
      {"schema as deep as allowed",
       {kJsonSchema, repeated(R"({"type":"array","items":)", 60) + "{}" + repeated("}", 60)}},
      {"many members", {kJsonSchema, many_members}},
      {"large schema", {kJsonSchema, R"({"description": ")" + repeated("x", 1 << 20) + "\"}"}},
      {"doubling references", {kJsonSchema, doubling}},
      {"reference to itself", {kJsonSchema, R"({"$ref": "#"})"}},
      {"references in a ring",
       {kJsonSchema, R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})"}},
      {"allOf of everything",
       {kJsonSchema, R"({"allOf": [)" + repeated(R"({"type": "object"},)", 500) + R"({"type": "string"}]})"}},
      {"great enum", {kJsonSchema, R"({"enum": [)" + repeated("\"abcdefgh\",", 5000) + "1]}"}},
      {"schema that is no schema", {kJsonSchema, "[1, 2]"}},
      {"schema of wrong types",
       {kJsonSchema, R"({"type": 3, "properties": [], "required": {"a": 1}, "minLength": "x"})"}},
      {"numbers beyond all", {kJsonSchema, R"({"type": "integer", "minimum": -1e308, "maximum": 1e308})"}},
      {"pattern inside", {kJsonSchema, R"({"type": "string", "pattern": "((a{1000}){1000}){1000}"})"}},
      {"left recursion", {kEbnf, "root ::= root \"a\" | \"a\"\n"}},
      {"ambiguity", {kEbnf, "root ::= root root | \"a\" | \"\"\n"}},
      {"no end", {kEbnf, "root ::= \"(\" root \")\" root\n"}},
      {"nothing but itself", {kEbnf, "root ::= root\n"}},
      {"empty rules in a ring", {kEbnf, "root ::= a*\na ::= b*\nb ::= a* | \"\"\n"}},
      {"many rules", {kEbnf, many_rules}},
      {"deep groups of rules", {kEbnf, "root ::= " + repeated("(", 5000) + "\"a\"" + repeated(")", 5000) + "\n"}},
      {"counts in rules", {kEbnf, "root ::= ((\"a\"{1000}){1000}){1000}\n"}},
      {"no grammar", {kEbnf, "\x01\x02\x03"}},
      {"tag of nothing", {kStructuralTag, "{}"}},
      {"deep tag", {kStructuralTag, repeated(R"({"type":"sequence","elements":[)", 2000) + repeated("]}", 2000)}},
      {"many choices", {kChoice, "[" + repeated("\"a\",", 100'000) + "\"b\"]"}},
      {"long choice", {kChoice, "[\"" + repeated("ab", 50'000) + "\"]"}},
  };
}

// Compiled or refused with a sentence, and what is compiled gives masks: all in bounded time.
TEST_F(Grammars, hostile_grammars_take_bounded_time) {
  for (const Hostile& one : hostile_grammars()) {
    SCOPED_TRACE(one.name);
    const auto start = std::chrono::steady_clock::now();
    const auto grammar = compiler_->compile(one.spec);
    if (grammar.is_ok()) {
      auto m = GrammarMatcher::make(*grammar);
      for (int step = 0; m.is_ok() && step < 50 && !(*m)->is_finished(); ++step) {
        const std::vector<int32_t> tokens = allowed(**m);
        if (tokens.empty()) break;
        ASSERT_TRUE((*m)->accept(tokens[0]));
      }
    } else {
      EXPECT_TRUE(grammar.status().code() == StatusCode::kInvalidArgument ||
                  grammar.status().code() == StatusCode::kUnsupported);
      EXPECT_THAT(grammar.status().message(), ::testing::Not(HasSubstr(".cc")));
      EXPECT_LT(grammar.status().message().size(), 1000u);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, 20) << grammar.status().message();
  }
}

TEST(GrammarLimits, sentences_say_what_is_too_large) {
  using enum GrammarKind;
  EXPECT_THAT(check_grammar({kRegex, std::string(kMaxGrammarBytes + 1, 'a')}).message(), HasSubstr("at most 131072"));
  EXPECT_THAT(check_grammar({kRegex, "(a{100}){1000}"}).message(), HasSubstr("more than 50000 elements"));
  EXPECT_THAT(check_grammar({kRegex, "a{10001}"}).message(), HasSubstr("up to 10001 times"));
  EXPECT_THAT(check_grammar({kRegex, "\xFF"}).message(), HasSubstr("not UTF-8"));
  EXPECT_THAT(check_grammar({kJsonSchema, R"({"minItems": 20000})"}).message(), HasSubstr("minItems of 20000"));
  EXPECT_THAT(check_grammar({kChoice, "{}"}).message(), HasSubstr("JSON array"));
  EXPECT_TRUE(check_grammar({kRegex, "(a{100}){100}|[(({{]{3}"}).is_ok());
  EXPECT_TRUE(check_grammar({kEbnf, "root ::= \"((((\" {2}"}).is_ok());
}

TEST(GrammarLimits, what_a_mask_cannot_check_is_refused_but_only_as_a_keyword) {
  const auto check = [](std::string text) { return check_grammar({GrammarKind::kJsonSchema, std::move(text)}); };
  EXPECT_THAT(check(R"({"uniqueItems": true})").message(), HasSubstr("uses \"uniqueItems\""));
  EXPECT_EQ(check(R"({"items": {"not": {}}})").code(), StatusCode::kUnsupported);
  EXPECT_EQ(check(R"({"anyOf": [{"if": {}}]})").code(), StatusCode::kUnsupported);
  EXPECT_TRUE(check(R"({"uniqueItems": false})").is_ok());
  EXPECT_TRUE(check(R"({"properties": {"not": {}, "contains": {}, "pattern": {"type": "string"}}})").is_ok());
  EXPECT_TRUE(check(R"({"enum": [{"not": 1}], "default": {"if": {"minItems": 99999}}})").is_ok());
  EXPECT_FALSE(check(R"({"properties": {"not": {"contains": {}}}})").is_ok());
  EXPECT_THAT(check_grammar({GrammarKind::kStructuralTag, R"({"tags": [{"json_schema": {"not": {}}}]})"}).message(),
              HasSubstr("uses \"not\""));
}

TEST(GrammarLimits, utf8_is_what_the_standard_says) {
  for (const char* good : {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(good));
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xF8\x88\x80\x80\x80", "a\xE2\x82"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(GrammarSpec, kinds_have_names) {
  for (int k = 0; k <= 6; ++k) {
    const auto kind = static_cast<GrammarKind>(k);
    EXPECT_EQ(*grammar_kind_of(grammar_kind_name(kind)), kind);
  }
  EXPECT_EQ(grammar_kind_of("lark").status().code(), StatusCode::kNotFound);
  const std::vector<std::string> texts = {"a\"b", "c"};
  EXPECT_EQ(choice_of(texts).text, R"(["a\"b","c"])");
}

TEST(BestOf, gives_the_likeliest_answers) {
  const std::vector<double> logprobs = {-3, -1, -2, -1};
  EXPECT_THAT(best_answers(logprobs, 3), ElementsAre(1, 3, 2));
  EXPECT_THAT(best_answers(logprobs, 9).size(), 4u);
  EXPECT_EQ(answer_score(-6, 4), -1.5);  // a longer answer is not the worse for it
  EXPECT_EQ(answer_score(0, 0), 0);
}

}  // namespace
}  // namespace nereid::sample
