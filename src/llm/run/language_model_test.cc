// SPDX-License-Identifier: Apache-2.0
// LanguageModel on the tiny models against what transformers continues them with, and everything it must refuse.
#include "llm/run/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::Expected;
using ::testing::HasSubstr;
using testing::tiny_expected;
using testing::tiny_path;
using testing::TinyModel;

constexpr const char* kTinyModels[] = {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"};

std::vector<Isa> isas_here() {
  static const Isa kBest = best_isa(read_cpu_info()).value();
  std::vector<Isa> out;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= kBest) out.push_back(isa);
  return out;
}

engine::EngineFile open_tiny(const std::string& path, ThreadPool& pool) {
  const TestDir cache;
  ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
  return compile::open_engine(path, {}, pool).value().file;
}

// Runs tokens at consecutive positions; logits of the last one.
std::span<float> run(LanguageModel& m, std::span<const int32_t> tokens, int32_t first, int32_t sequence = 0) {
  std::vector<int32_t> positions(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) positions[i] = first + static_cast<int32_t>(i);
  const std::vector<int32_t> sequences(tokens.size(), sequence);
  const auto last = static_cast<int32_t>(tokens.size() - 1);
  const Status s = m.step({tokens, positions, sequences, {&last, 1}});
  EXPECT_TRUE(s.is_ok()) << s.message();
  return m.logits(0);
}

int32_t best(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// The prompt in one step and then 24 tokens; logits of every token that is continued.
std::vector<float> all_logits(LanguageModel& m, const Expected& e, size_t prompt_step) {
  std::vector<float> out;
  std::vector<int32_t> tokens = e.prompt_tokens;
  tokens.insert(tokens.end(), e.greedy_tokens.begin(), e.greedy_tokens.end());
  for (size_t at = 0; at < tokens.size();) {
    const size_t end = at < e.prompt_tokens.size() ? std::min(at + prompt_step, e.prompt_tokens.size()) : at + 1;
    const auto logits = run(m, std::span(tokens).subspan(at, end - at), static_cast<int32_t>(at));
    if (end >= e.prompt_tokens.size()) out.insert(out.end(), logits.begin(), logits.end());
    at = end;
  }
  return out;
}

TEST(LanguageModel, continues_as_transformers_does_from_both_formats_on_every_instruction_set) {
  for (const char* name : kTinyModels)
    for (const char* ending : {".gguf", ""}) {
      const Expected e = tiny_expected(name);
      ThreadPool pool({.threads = 2, .pin = false});
      const engine::EngineFile file = open_tiny(tiny_path(name) + ending, pool);
      for (Isa isa : isas_here()) {
        const std::string what = fmt::format("{}{} on {}", name, ending, isa_name(isa));
        auto model = LanguageModel::load(file, {.isa = isa}, pool);
        ASSERT_TRUE(model.is_ok()) << what << ": " << model.status().message();
        LanguageModel& m = **model;
        EXPECT_EQ(m.tokenizer().encode(e.prompt, {.add_special = true, .parse_special = true}), e.prompt_tokens)
            << what;
        std::span<float> logits = run(m, e.prompt_tokens, 0);
        for (size_t i = 0; i < e.greedy_tokens.size(); ++i) {
          const int32_t want = e.greedy_tokens[i];
          const int32_t got = best(logits);
          ASSERT_TRUE(got == want || logits[static_cast<size_t>(got)] - logits[static_cast<size_t>(want)] < 1e-2f)
              << what << ": token " << i << " is " << got << ", transformers' is " << want;
          logits = run(m, {&want, 1}, static_cast<int32_t>(e.prompt_tokens.size() + i));
        }
      }
    }
}

TEST(LanguageModel, the_prompts_steps_the_threads_and_the_company_do_not_change_a_bit) {
  for (const char* name : kTinyModels) {
    const Expected e = tiny_expected(name);
    TinyModel one(name), other(name, {.max_sequences = 3}, 2);
    const std::vector<float> want = all_logits(*one.model, e, 1000);
    for (size_t prompt_step : {size_t{1}, size_t{3}, size_t{7}})
      EXPECT_EQ(all_logits(*one.model, e, prompt_step), want) << name;
    EXPECT_EQ(all_logits(*other.model, e, 5), want) << name;
    // The same prompt as the second of two sequences in one step.
    std::vector<int32_t> tokens, positions, sequences;
    for (int32_t sequence : {0, 2})
      for (size_t i = 0; i < e.prompt_tokens.size(); ++i) {
        tokens.push_back(sequence == 2 ? e.prompt_tokens[i] : 7);
        positions.push_back(static_cast<int32_t>(i));
        sequences.push_back(sequence);
      }
    const auto last = static_cast<int32_t>(tokens.size() - 1);
    ASSERT_TRUE(other.model->step({tokens, positions, sequences, {&last, 1}}).is_ok());
    const std::span<float> logits = other.model->logits(0);
    EXPECT_TRUE(std::equal(logits.begin(), logits.end(), want.begin())) << name;
  }
}

TEST(LanguageModel, a_step_may_want_no_logits) {
  const Expected e = tiny_expected("tiny-llama");
  TinyModel tiny("tiny-llama"), plain("tiny-llama");
  const auto n = e.prompt_tokens.size();
  std::vector<int32_t> positions(n), sequences(n, 0);
  for (size_t i = 0; i < n; ++i) positions[i] = static_cast<int32_t>(i);
  ASSERT_TRUE(tiny.model->step({e.prompt_tokens, positions, sequences, {}}).is_ok());
  run(*plain.model, e.prompt_tokens, 0);
  const auto a = run(*tiny.model, {e.greedy_tokens.data(), 1}, static_cast<int32_t>(n));
  const auto b = run(*plain.model, {e.greedy_tokens.data(), 1}, static_cast<int32_t>(n));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

TEST(LanguageModel, logits_of_several_rows_come_in_the_order_asked_for) {
  const Expected e = tiny_expected("tiny-qwen3");
  TinyModel tiny("tiny-qwen3", {.max_outputs = 3}), plain("tiny-qwen3");
  const auto n = e.prompt_tokens.size();
  std::vector<int32_t> positions(n), sequences(n, 0);
  for (size_t i = 0; i < n; ++i) positions[i] = static_cast<int32_t>(i);
  const std::vector<int32_t> rows = {4, 0, 4};
  ASSERT_TRUE(tiny.model->step({e.prompt_tokens, positions, sequences, rows}).is_ok());
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto want = run(*plain.model, std::span(e.prompt_tokens).first(static_cast<size_t>(rows[r] + 1)), 0);
    const auto got = tiny.model->logits(static_cast<int64_t>(r));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin())) << r;
  }
}

std::vector<int32_t> iota(size_t n, int32_t first) {
  std::vector<int32_t> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = first + static_cast<int32_t>(i);
  return all;
}

TEST(LanguageModel, pages_that_the_caller_lays_out_give_the_same_bits_in_any_order) {
  for (const char* name : kTinyModels) {
    const Expected e = tiny_expected(name);
    TinyModel plain(name), paged(name, {.max_sequences = 2, .cache_tokens = 320});
    ASSERT_EQ(paged.model->pages(), 320 / paged.model->page_tokens());
    std::vector<int32_t> pages = iota(static_cast<size_t>(paged.model->pages()), 0);
    std::reverse(pages.begin(), pages.end());
    ASSERT_TRUE(paged.model->set_pages(0, 0, std::span(pages).first(3)).is_ok());
    ASSERT_TRUE(paged.model->set_pages(0, 3, std::span(pages).subspan(5)).is_ok());
    EXPECT_EQ(all_logits(*paged.model, e, 5), all_logits(*plain.model, e, 1000)) << name;
  }
}

TEST(LanguageModel, sequences_share_pages_and_go_their_own_ways_on_copies) {
  const Expected e = tiny_expected("tiny-llama");
  TinyModel plain("tiny-llama"), paged("tiny-llama", {.max_sequences = 2, .cache_tokens = 256});
  LanguageModel& m = *paged.model;
  std::vector<int32_t> prompt(static_cast<size_t>(m.page_tokens()) + 5);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i % 7) + 30;
  const auto next = static_cast<int32_t>(prompt.size());
  const std::vector<int32_t> first = {4, 2}, second = {4, 6};  // the first page is shared, the second one copied
  ASSERT_TRUE(m.set_pages(0, 0, first).is_ok());
  run(m, prompt, 0);
  m.copy_page(2, 6);
  ASSERT_TRUE(m.set_pages(1, 0, second).is_ok());
  const std::vector<int32_t> one = {50, 51, 52}, other = {60, 61, 62};
  run(m, one, next, 0);
  const auto last = next + 3;
  const auto got = run(m, other, next, 1);
  std::vector<float> got_other(got.begin(), got.end());
  const int32_t more = 70;
  const auto got_one = run(m, {&more, 1}, last, 0);

  run(*plain.model, prompt, 0);
  const auto want_other = run(*plain.model, other, next);
  EXPECT_TRUE(std::equal(got_other.begin(), got_other.end(), want_other.begin()));
  run(*plain.model, one, next);  // rolls back to the end of the prompt
  const auto want_one = run(*plain.model, {&more, 1}, last);
  EXPECT_TRUE(std::equal(got_one.begin(), got_one.end(), want_one.begin()));
}

TEST(LanguageModel, pages_out_of_bounds_are_sentences) {
  TinyModel tiny("tiny-llama", {.context_tokens = 128, .max_sequences = 2, .cache_tokens = 96});
  LanguageModel& m = *tiny.model;
  ASSERT_EQ(m.page_tokens(), 32);
  const auto refusal = [&](int32_t sequence, int64_t first, std::vector<int32_t> pages) {
    return m.set_pages(sequence, first, pages).message();
  };
  const int32_t token = 1, zero = 0;
  const auto step_at = [&](int32_t position) {
    return m.step({{&token, 1}, {&position, 1}, {&zero, 1}, {}}).message();
  };
  EXPECT_THAT(step_at(0), HasSubstr("position 0 of sequence 0 is past its 0 pages of 32 tokens"));
  EXPECT_THAT(refusal(2, 0, {0}), HasSubstr("sequence 2 is not below 2"));
  EXPECT_THAT(refusal(0, 0, {3}), HasSubstr("page 3 is not below 3"));
  EXPECT_THAT(refusal(0, 0, {-2}), HasSubstr("page -2"));
  EXPECT_THAT(refusal(0, 1, {0}), HasSubstr("leaves no place for 1 from 1 on"));
  EXPECT_THAT(refusal(0, 0, {0, 1, 2, 0, 1}), HasSubstr("can have 4"));
  EXPECT_EQ(refusal(0, 0, {0, 1}), "");
  EXPECT_EQ(step_at(63), "");
  EXPECT_THAT(step_at(64), HasSubstr("past its 2 pages"));
  EXPECT_EQ(refusal(0, 1, {}), "");
  EXPECT_THAT(step_at(32), HasSubstr("past its 1 pages"));
}

TEST(LanguageModel, a_cache_by_memory_holds_a_whole_context_and_no_more_than_all_sequences_need) {
  TinyModel tiny("tiny-llama", {.context_tokens = 64, .max_sequences = 3, .cache_tokens = kCacheByMemory});
  EXPECT_EQ(tiny.model->pages(), 3 * 64 / 32);
}

TEST(LanguageModel, steps_out_of_bounds_are_sentences_and_change_nothing) {
  TinyModel tiny("tiny-llama", {.context_tokens = 20, .max_sequences = 2, .step_tokens = 4, .max_outputs = 1});
  LanguageModel& m = *tiny.model;
  const auto refusal = [&](std::vector<int32_t> tokens, std::vector<int32_t> positions, std::vector<int32_t> sequences,
                           std::vector<int32_t> rows = {}) {
    return m.step({tokens, positions, sequences, rows}).message();
  };
  EXPECT_THAT(refusal({}, {}, {}), HasSubstr("1 to 4 tokens"));
  EXPECT_THAT(refusal({1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}, {0, 0, 0, 0, 0}), HasSubstr("found 5"));
  EXPECT_THAT(refusal({1, 2}, {0}, {0, 0}), HasSubstr("found 2, 1 and 2"));
  EXPECT_THAT(refusal({1}, {0}, {}), HasSubstr("found 1, 1 and 0"));
  EXPECT_THAT(refusal({-1}, {0}, {0}), HasSubstr("token -1 is outside"));
  EXPECT_THAT(refusal({264}, {0}, {0}), HasSubstr("token 264 is outside the vocabulary of 264"));
  EXPECT_THAT(refusal({1}, {-1}, {0}), HasSubstr("position -1"));
  EXPECT_THAT(refusal({1}, {20}, {0}), HasSubstr("position 20 is past the context of 20 tokens"));
  EXPECT_THAT(refusal({1}, {0}, {2}), HasSubstr("sequence 2 is not below 2"));
  EXPECT_THAT(refusal({1}, {0}, {-1}), HasSubstr("sequence -1"));
  EXPECT_THAT(refusal({1}, {0}, {0}, {1}), HasSubstr("output row 1"));
  EXPECT_THAT(refusal({1}, {0}, {0}, {-1}), HasSubstr("output row -1"));
  EXPECT_THAT(refusal({1, 2}, {0, 1}, {0, 0}, {0, 1}), HasSubstr("at most 1 tokens, 2 were asked for"));
  EXPECT_EQ(refusal({1}, {19}, {1}, {0}), "");
}

TEST(LanguageModel, options_out_of_bounds_are_sentences) {
  ThreadPool pool({.threads = 1});
  const engine::EngineFile file = open_tiny(tiny_path("tiny-llama.gguf"), pool);
  const auto refusal = [&](LoadOptions options) {
    const auto model = LanguageModel::load(file, options, pool);
    return model.is_ok() ? std::string() : model.status().message();
  };
  EXPECT_EQ(refusal({.context_tokens = 256}), "");
  EXPECT_THAT(refusal({.context_tokens = 257}),
              HasSubstr("257 tokens was asked for, but the model is made for at most 256"));
  EXPECT_THAT(refusal({.context_tokens = -1}), HasSubstr("context_tokens is -1"));
  EXPECT_THAT(refusal({.max_sequences = 0}), HasSubstr("max_sequences is 0"));
  EXPECT_THAT(refusal({.max_sequences = INT64_MAX}), HasSubstr("max_sequences is 9223372036854775807"));
  EXPECT_THAT(refusal({.max_sequences = INT32_MAX}), HasSubstr("more pages than can be numbered"));
  EXPECT_THAT(refusal({.step_tokens = 0}), HasSubstr("step_tokens is 0"));
  EXPECT_THAT(refusal({.cache_tokens = -2}), HasSubstr("cache_tokens is -2"));
  EXPECT_THAT(refusal({.max_outputs = -5}), HasSubstr("max_outputs is -5"));
  EXPECT_NE(refusal({.step_tokens = INT32_MAX, .max_outputs = INT32_MAX}), "");
}

// An engine like `file` with other info or another graph.
engine::EngineFile rewritten(const engine::EngineFile& file, const TestDir& dir, const Json& info,
                             std::string_view graph) {
  std::vector<std::byte> weights(static_cast<size_t>(file.weights_bytes()));
  for (int64_t i = 0; i < file.chunk_count(); ++i)
    EXPECT_TRUE(file.read_chunk(i, weights.data() + i * engine::kChunkBytes).is_ok());
  engine::EngineWriter writer = engine::EngineWriter::create(dir / "e").value();
  for (const engine::WeightEntry& w : file.weights()) {
    EXPECT_TRUE(writer.begin_weight(w.name, w.layout).is_ok());
    EXPECT_TRUE(
        writer.write_weight(std::span(weights).subspan(static_cast<size_t>(w.offset), static_cast<size_t>(w.bytes)))
            .is_ok());
  }
  EXPECT_TRUE(writer.commit(info, graph, file.metadata()).is_ok());
  return engine::EngineFile::open(dir / "e").value();
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = out.find(from, at + to.size())) out.replace(at, from.size(), to);
  return out;
}

TEST(LanguageModel, engines_with_right_checksums_and_wrong_contents_are_refused) {
  ThreadPool pool({.threads = 1});
  const engine::EngineFile good = open_tiny(tiny_path("tiny-llama.gguf"), pool);
  const auto refusal = [&](const Json& info, std::string_view graph) {
    const TestDir dir;
    const engine::EngineFile file = rewritten(good, dir, info, graph);
    const auto model = LanguageModel::load(file, {}, pool);
    return model.is_ok() ? std::string() : model.status().message();
  };
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json info = good.info();
    change(info);
    return refusal(info, good.graph_text());
  };
  EXPECT_EQ(refusal(good.info(), good.graph_text()), "");
  EXPECT_THAT(with([](Json& j) { j.erase("model"); }), HasSubstr("describes no language model"));
  EXPECT_THAT(with([](Json& j) { j["model"] = 5; }), HasSubstr("describes no language model"));
  EXPECT_THAT(with([](Json& j) { j["model"]["vocab"] = "many"; }), HasSubstr("vocab"));
  EXPECT_THAT(with([](Json& j) { j["model"]["vocab"] = 300; }), HasSubstr("says that it has 300 tokens"));
  EXPECT_THAT(with([](Json& j) { j["model"].erase("max_context"); }), HasSubstr("max_context"));
  EXPECT_THAT(with([](Json& j) { j["model"]["max_context"] = 0; }), HasSubstr("a context of 0 tokens"));
  EXPECT_THAT(with([](Json& j) { j["model"]["max_context"] = -7; }), HasSubstr("a context of -7 tokens"));

  const std::string_view graph = good.graph_text();
  const auto graph_with = [&](std::string_view from, std::string_view to) {
    return refusal(good.info(), replaced(graph, from, to));
  };
  EXPECT_THAT(graph_with("%output_rows", "%rows"), HasSubstr("no input 'output_rows' of type i32[outputs]"));
  EXPECT_THAT(graph_with("%page_table: i32[sequences, pages_per_sequence]", "%page_table: i32[sequences, 2]"),
              HasSubstr("no input 'page_table'"));
  EXPECT_THAT(graph_with("%logits", "%scores"), HasSubstr("no output 'logits'"));
  EXPECT_THAT(graph_with("embedding(%tokens,", "embedding(%positions,"),
              HasSubstr("indexes by 'positions' in embedding"));
  EXPECT_THAT(graph_with("%positions, %sequence, %page_table", "%sequence, %positions, %page_table"),
              HasSubstr("in attention, which should be by"));
  EXPECT_THAT(graph_with("f16[pages, ", "f16[sequences, "), HasSubstr("and should be [pages, heads, tokens, size]"));
}

TEST(LanguageModel, an_engine_of_something_else_is_refused) {
  const TestDir dir;
  engine::EngineWriter writer = engine::EngineWriter::create(dir / "e").value();
  ASSERT_TRUE(writer.commit(Json::object(), "graph g {\n}\n", "").is_ok());
  ThreadPool pool({.threads = 1});
  EXPECT_THAT(LanguageModel::load(engine::EngineFile::open(dir / "e").value(), {}, pool).status().message(),
              HasSubstr("describes no language model"));
}

TEST(LanguageModel, bytes_per_token_grow_with_the_context) {
  TinyModel tiny("tiny-llama");
  // f16 keys and values of every layer and head.
  EXPECT_GT(tiny.model->bytes_per_token(0), 0);
  EXPECT_LT(tiny.model->bytes_per_token(0), static_cast<double>(tiny.model->weights_bytes()));
  const Json& model = tiny.model->info()["model"];
  EXPECT_EQ(
      tiny.model->bytes_per_token(10) - tiny.model->bytes_per_token(0),
      10 * 2 * 2 * model["layers"].get<double>() * model["kv_heads"].get<double>() * model["head_dim"].get<double>());
}

}  // namespace
}  // namespace nereid::llm
