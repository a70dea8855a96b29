// SPDX-License-Identifier: Apache-2.0
// Draws answers at random through the masks of the grammars in a file of cases (cases.json):
//   grammar_walk CASES WALKS
// One line of JSON for each case: {"name": ..., "answers": [...], "unended": N} or {"name": ..., "refused": "..."}.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/json.h"
#include "llm/sample/grammar.h"
#include "llm/sample/philox.h"
#include "llm/sample/sampler.h"

namespace nereid::sample {
namespace {

// All bytes, what JSON is made of in the pieces that tokenizers like, and an end.
Result<Vocabulary> vocabulary() {
  std::vector<std::string> pieces;
  for (int b = 0; b < 256; ++b) pieces.emplace_back(1, static_cast<char>(b));
  for (const char* piece : {"{\"",  "\":",      "\": ",     "\",",   "\", \"", "\"}", "}}",    "},",   "[{",  "[\"",
                            "]}",   "true",     "false",    "null",  "name",   "age", "ab",    "abc",  "123", "12",
                            "00",   "-1",       ".5",       "e+",    " \"",    ", ",  ": ",    "\n  ", "20",  "24-",
                            "T12:", "\xC3\xA9", "\xE4\xB8", "\\u00", "\\\"",   "</",  "call>", "<",    "tool"})
    pieces.emplace_back(piece);
  pieces.emplace_back();
  const auto end = static_cast<int32_t>(pieces.size() - 1);
  return Vocabulary::make(std::move(pieces), {end});
}

// Empty where the answer did not end in time.
Result<std::string> walk(const std::shared_ptr<const CompiledGrammar>& grammar, const GrammarSpec& spec,
                         const Vocabulary& words, uint64_t seed) {
  constexpr int kMostTokens = 600;
  NEREID_TRY(auto matcher, GrammarMatcher::make(grammar));
  SamplingParams params;
  params.temperature = 1.0F;
  params.seed = seed;
  params.grammar = spec;
  NEREID_TRY(Sampler sampler, Sampler::make(params, words));
  std::vector<uint32_t> mask(mask_words(words.size()));
  std::vector<float> logits(words.size());
  std::vector<int32_t> answer;
  std::string text;
  for (int i = 0; i < kMostTokens; ++i) {
    for (size_t t = 0; t < logits.size(); ++t) {
      // What is plain is likelier than what is odd; what closes grows likelier with time.
      const std::string_view piece = words.piece(static_cast<int32_t>(t));
      const bool odd = piece.size() == 1 && (piece[0] < ' ' || piece[0] > '~');
      const bool closes = !piece.empty() && std::string_view("\"}]").find(piece[0]) != std::string_view::npos;
      logits[t] = static_cast<float>(4 * uniform(seed, static_cast<uint64_t>(i) * 1000 + t, 77)) - (odd ? 5.0F : 0.0F) +
                  (closes ? 0.05F * static_cast<float>(i) : 0.0F) +
                  (piece.empty() ? 2.0F + 0.05F * static_cast<float>(i) : 0.0F);
    }
    matcher->fill_mask(mask);
    NEREID_TRY(const SampleResult drawn, sampler.sample(logits, answer, mask));
    if (!matcher->accept(drawn.token))
      return internal("the matcher refuses token {} that its mask allows", drawn.token);
    if (matcher->is_finished()) return text;
    answer.push_back(drawn.token);
    text += words.piece(drawn.token);
  }
  return not_found("no end");
}

Json run_case(const Json& one, GrammarCompiler& compiler, const Vocabulary& words, int walks) {
  Json out = {{"name", one.at("name")}};
  const auto kind = grammar_kind_of(one.at("kind").get<std::string>());
  const Json& text = one.at("text");
  const GrammarSpec spec{*kind, text.is_string() ? text.get<std::string>() : text.dump()};
  const auto grammar = compiler.compile(spec);
  if (!grammar.is_ok()) {
    out["refused"] = grammar.status().message();
    return out;
  }
  out["answers"] = Json::array();
  int unended = 0;
  for (int w = 0; w < walks; ++w) {
    const auto answer = walk(*grammar, spec, words, static_cast<uint64_t>(w));
    if (answer.is_ok()) {
      out["answers"].push_back(*answer);
    } else if (answer.status().code() == StatusCode::kNotFound) {
      ++unended;
    } else {
      out["failed"] = answer.status().message();
    }
  }
  out["unended"] = unended;
  return out;
}

int run(const char* path, int walks) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto cases = parse_json(text);
  const auto words = vocabulary();
  if (!cases.is_ok() || !words.is_ok()) return 2;
  const auto compiler = GrammarCompiler::make(*words);
  if (!compiler.is_ok()) return 2;
  for (const Json& one : *cases) {
    const std::string line =
        run_case(one, **compiler, *words, walks).dump(-1, ' ', false, Json::error_handler_t::ignore);
    std::printf("%s\n", line.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace nereid::sample

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: grammar_walk CASES WALKS\n");
    return 2;
  }
  return nereid::sample::run(argv[1], std::atoi(argv[2]));
}
