// SPDX-License-Identifier: Apache-2.0
// For tests only: random decoders of all shapes as graph text, run by kernels and by the reference interpreter.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/test_program.h"

namespace nereid::runtime::testing {

struct Decoder {
  const char* dtype = "f32";  // of matrices
  int layers = 2, hidden = 64, ffn = 96, vocab = 80;
  int heads = 4, kv_heads = 2, head_dim = 16;
  int page_tokens = 16, window = 0;
  double softcap = 0;
  bool biases = false, head_norms = false, post_norms = false;
  const char* activation = "silu";

  std::string text() const {
    const int q = heads * head_dim, kv = kv_heads * head_dim;
    std::string s =
        "graph decoder {\n  input %tokens: i32[tokens]\n  input %positions: i32[tokens]\n"
        "  input %sequence: i32[tokens]\n  input %page_table: i32[sequences, pages_per_sequence]\n"
        "  input %output_rows: i32[outputs]\n";
    const auto line = [&s](std::string_view form, const auto&... args) {
      s += "  " + fmt::format(fmt::runtime(form), args...) + "\n";
    };
    for (int l = 0; l < layers; ++l)
      for (const char* which : {"k", "v"})
        line("state %{}_cache.{}: f16[pages, {}, {}, {}]", which, l, kv_heads, page_tokens, head_dim);
    line("const %embed: {}[{}, {}]", dtype, vocab, hidden);
    line("const %final_norm: f32[{}]", hidden);
    std::string frequencies = "1";
    for (int i = 1; i < head_dim / 2; ++i) frequencies += fmt::format(", {:.6f}", std::pow(0.5, i));
    line("const %inv_freq: f32[{}] = [{}]", head_dim / 2, frequencies);
    const auto matrix = [&](int l, const char* name, int rows, int cols) {
      line("const %{}.{}: {}[{}, {}]", l, name, dtype, rows, cols);
    };
    const auto vector = [&](int l, const char* name, int size) { line("const %{}.{}: f32[{}]", l, name, size); };
    for (int l = 0; l < layers; ++l) {
      matrix(l, "q", q, hidden);
      matrix(l, "k", kv, hidden);
      matrix(l, "v", kv, hidden);
      matrix(l, "o", hidden, q);
      matrix(l, "gate", ffn, hidden);
      matrix(l, "up", ffn, hidden);
      matrix(l, "down", hidden, ffn);
      for (const char* name : {"norm", "mlp_norm", "post_norm", "o_bias"}) vector(l, name, hidden);
      vector(l, "q_bias", q);
      vector(l, "k_bias", kv);
      vector(l, "v_bias", kv);
      vector(l, "q_norm", head_dim);
      vector(l, "k_norm", head_dim);
    }
    line("%x0 = embedding(%tokens, %embed)");
    for (int l = 0; l < layers; ++l) {
      line("%n{0} = rms_norm(%x{0}, %{0}.norm)", l);
      for (const char* name : {"q", "k", "v"})
        line(biases ? "%{1}{0} = linear(%n{0}, %{0}.{1}, %{0}.{1}_bias)" : "%{1}{0} = linear(%n{0}, %{0}.{1})", l,
             name);
      for (const char* name : {"q", "k"}) {
        if (head_norms) line("%{1}n{0} = rms_norm(%{1}{0}, %{0}.{1}_norm) {{group={2}}}", l, name, head_dim);
        line("%{1}r{0} = rope(%{1}{2}{0}, %positions, %inv_freq) {{head_dim={3}}}", l, name, head_norms ? "n" : "",
             head_dim);
      }
      line(
          "%a{0} = attention(%qr{0}, %kr{0}, %v{0}, %k_cache.{0}, %v_cache.{0}, %positions, %sequence, %page_table) "
          "{{heads={1}, kv_heads={2}, head_dim={3}, scale={4}, window={5}, softcap={6:.1f}}}",
          l, heads, kv_heads, head_dim, 1 / std::sqrt(head_dim), window, softcap);
      line("%o{0} = linear(%a{0}, %{0}.o)", l);
      if (post_norms) line("%p{0} = rms_norm(%o{0}, %{0}.post_norm)", l);
      line("%s{0} = add(%x{0}, %{1}{0})", l, post_norms ? "p" : "o");
      line("%m{0} = rms_norm(%s{0}, %{0}.mlp_norm)", l);
      line("%g{0} = linear(%m{0}, %{0}.gate)", l);
      line("%u{0} = linear(%m{0}, %{0}.up)", l);
      line("%h{0} = gated(%g{0}, %u{0}) {{activation=\"{1}\"}}", l, activation);
      line("%d{0} = linear(%h{0}, %{0}.down)", l);
      line("%x{1} = add(%s{0}, %d{0})", l, l + 1);
    }
    line("%rows = select_rows(%x{}, %output_rows)", layers);
    line("%rows_norm = rms_norm(%rows, %final_norm)");
    line("%logits = linear(%rows_norm, %embed)");
    line("output %logits");
    return s + "}\n";
  }
};

struct Token {
  int32_t id, position, sequence;
};
using Tokens = std::vector<Token>;

// Tokens first ... first + count - 1 of a sequence; which ones depends on sequence and position alone.
inline Tokens tokens_of(int32_t sequence, int32_t first, int32_t count, int vocab = 80) {
  Tokens out;
  for (int32_t i = first; i < first + count; ++i) out.push_back({(i * 31 + sequence * 17 + 5) % vocab, i, sequence});
  return out;
}

constexpr int kSequences = 2, kPagesPerSequence = 6, kMaxTokens = 64;

// A decoder's context with caches of its own; pages in no order.
class DecoderRun {
 public:
  DecoderRun(std::shared_ptr<const Program> program, const Decoder& d, ThreadPool& pool) {
    ContextOptions options{.bounds = {{"tokens", kMaxTokens},
                                      {"outputs", kMaxTokens},
                                      {"sequences", kSequences},
                                      {"pages_per_sequence", kPagesPerSequence},
                                      {"pages", kSequences * kPagesPerSequence}},
                           .states = {}};
    const auto elements = static_cast<size_t>(kSequences * kPagesPerSequence * d.kv_heads * d.page_tokens * d.head_dim);
    for (int l = 0; l < d.layers; ++l)
      for (const char* which : {"k", "v"}) {
        caches_.emplace_back(elements, uint16_t{0x7e00});  // NaN where nothing was stored
        options.states[fmt::format("{}_cache.{}", which, l)] = reinterpret_cast<std::byte*>(caches_.back().data());
      }
    Result<std::unique_ptr<Context>> context = Context::create(std::move(program), pool, options);
    EXPECT_TRUE(context.is_ok()) << context.status().message();
    context_ = std::move(context).value();
    const std::vector<int32_t> table = page_table();
    std::copy(table.begin(), table.end(), context_->input<int32_t>("page_table"));
  }

  static std::vector<int32_t> page_table() {
    std::vector<int32_t> table(kSequences * kPagesPerSequence);
    std::iota(table.begin(), table.end(), 0);
    std::reverse(table.begin(), table.end());
    std::swap(table[1], table[7]);
    return table;
  }

  // Logits of all tokens.
  std::vector<float> step(const Tokens& tokens) {
    run(tokens);
    std::vector<float> out;
    const int64_t stride = context_->output_stride("logits");
    for (size_t t = 0; t < tokens.size(); ++t) {
      const float* row = context_->output("logits") + static_cast<int64_t>(t) * stride;
      out.insert(out.end(), row, row + stride);
    }
    return out;
  }
  void run(const Tokens& tokens) {
    for (size_t t = 0; t < tokens.size(); ++t) {
      context_->input<int32_t>("tokens")[t] = tokens[t].id;
      context_->input<int32_t>("positions")[t] = tokens[t].position;
      context_->input<int32_t>("sequence")[t] = tokens[t].sequence;
      context_->input<int32_t>("output_rows")[t] = static_cast<int32_t>(t);
    }
    for (const char* symbol : {"tokens", "outputs"})
      context_->set_size(context_->symbol(symbol), static_cast<int64_t>(tokens.size()));
    const Status ran = context_->run();
    EXPECT_TRUE(ran.is_ok()) << ran.message();
  }
  Context& context() { return *context_; }

 private:
  std::vector<std::vector<uint16_t>> caches_;
  std::unique_ptr<Context> context_;
};

// The same steps by the reference interpreter.
class DecoderReference {
 public:
  DecoderReference(const graph::Graph& g, const Decoder& d) : graph_(g) {
    for (graph::ValueId id : g.states())
      states_[g.value(id).name] =
          ops::Tensor::zeros(DType::f16, {kSequences * kPagesPerSequence, d.kv_heads, d.page_tokens, d.head_dim})
              .value();
  }
  std::vector<double> step(const Tokens& tokens) {
    std::vector<double> ids, positions, sequences, rows;
    for (const Token& t : tokens) {
      ids.push_back(t.id);
      positions.push_back(t.position);
      sequences.push_back(t.sequence);
      rows.push_back(static_cast<double>(rows.size()));
    }
    const auto n = static_cast<int64_t>(tokens.size());
    const std::vector<int32_t> table = DecoderRun::page_table();
    std::map<std::string, ops::Tensor> inputs;
    inputs["tokens"] = ops::Tensor::of(DType::i32, {n}, ids);
    inputs["positions"] = ops::Tensor::of(DType::i32, {n}, positions);
    inputs["sequence"] = ops::Tensor::of(DType::i32, {n}, sequences);
    inputs["output_rows"] = ops::Tensor::of(DType::i32, {n}, rows);
    inputs["page_table"] = ops::Tensor::of(DType::i32, {kSequences, kPagesPerSequence}, {table.begin(), table.end()});
    graph::Bindings bindings;
    for (const auto& [name, t] : inputs) bindings.inputs[name] = t.view();
    for (auto& [name, t] : states_) bindings.states[name] = t.view();
    auto out = graph::evaluate(graph_, bindings);
    EXPECT_TRUE(out.is_ok()) << out.status().message();
    return out.is_ok() ? (*out)[0].numbers() : std::vector<double>();
  }

 private:
  const graph::Graph& graph_;
  std::map<std::string, ops::Tensor> states_;
};

}  // namespace nereid::runtime::testing
