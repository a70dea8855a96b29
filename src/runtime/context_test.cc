// SPDX-License-Identifier: Apache-2.0
// A context's kernels against the reference interpreter on the same graph, and what contexts promise.
#include "runtime/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/test_allocations.h"
#include "runtime/test_decoder.h"

namespace nereid::runtime {
namespace {

using ::testing::AllOf;
using testing::Decoder;
using testing::DecoderReference;
using testing::DecoderRun;
using ::testing::HasSubstr;
using testing::isas_here;
using ::testing::IsEmpty;
using testing::TestGraph;
using testing::Tokens;
using testing::tokens_of;

double largest(const std::vector<double>& v) {
  double m = 0;
  for (double x : v) m = std::max(m, std::fabs(x));
  return m;
}

// A share of the largest logit. int8 activations err by up to 0.4 % in every matrix; f32 differs by the rounding of
// cached keys and values to f16.
double tolerance(const Decoder& d) {
  return std::string_view(d.dtype)[0] == 'f' || std::string_view(d.dtype) == "bf16" ? 2e-3 : 4e-2;
}

void expect_agreement(const Decoder& d) {
  for (bool fuse : {false, true}) {
    const TestGraph g(d.text(), fuse);
    const Tokens together = [] {
      Tokens t = tokens_of(0, 19, 1), other = tokens_of(1, 0, 9);
      t.insert(t.end(), other.begin(), other.end());
      return t;
    }();
    const std::vector<Tokens> steps = {tokens_of(0, 0, 17), tokens_of(0, 17, 1), tokens_of(0, 18, 1), together};
    DecoderReference reference(g.graph, d);
    std::vector<std::vector<double>> want;
    for (const Tokens& step : steps) want.push_back(reference.step(step));
    for (Isa isa : isas_here()) {
      ThreadPool pool({.threads = 2, .pin = false});
      DecoderRun run(g.program(isa, pool), d, pool);
      EXPECT_THAT(run.context().notes(), IsEmpty());
      for (size_t s = 0; s < steps.size(); ++s) {
        const std::vector<float> got = run.step(steps[s]);
        ASSERT_EQ(got.size(), want[s].size());
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(got[i], want[s][i], tolerance(d) * largest(want[s]))
              << d.dtype << (fuse ? " fused" : " plain") << " on " << isa_name(isa) << ", step " << s << " at " << i;
      }
    }
  }
}

TEST(Context, decoders_of_every_weight_format_agree_with_the_interpreter) {
  for (const char* dtype : {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"})
    expect_agreement({.dtype = dtype});
  for (const char* dtype : {"q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs"})
    expect_agreement(
        {.dtype = dtype, .layers = 1, .hidden = 256, .ffn = 256, .heads = 8, .kv_heads = 2, .head_dim = 32});
}

TEST(Context, decoders_of_every_build_agree_with_the_interpreter) {
  expect_agreement({.heads = 9, .kv_heads = 3, .biases = true});
  expect_agreement({.heads = 3, .kv_heads = 1, .head_dim = 32, .page_tokens = 32, .head_norms = true});
  expect_agreement({.layers = 3, .window = 5, .post_norms = true, .activation = "gelu_tanh"});
  expect_agreement({.dtype = "q8_0", .hidden = 96, .softcap = 20, .head_norms = true, .activation = "gelu"});
  expect_agreement({.hidden = 50, .ffn = 70, .vocab = 81, .biases = true, .activation = "relu"});
}

TEST(Context, a_step_at_a_time_gives_the_bits_of_one_step) {
  for (const char* dtype : {"f16", "q4_1", "q6_k"}) {
    Decoder d{.dtype = dtype, .biases = true};
    if (std::string_view(dtype) == "q6_k") d = {.dtype = dtype, .hidden = 256, .ffn = 256, .heads = 16, .kv_heads = 16};
    const TestGraph g(d.text(), true);
    for (Isa isa : isas_here()) {
      ThreadPool pool({.threads = 2, .pin = false}), other({.threads = 3, .pin = false});
      const auto program = g.program(isa, pool);
      DecoderRun whole(program, d, pool), single(program, d, other), mixed(program, d, pool);
      const std::vector<float> want = whole.step(tokens_of(0, 0, 37));
      std::vector<float> ones, pieces;
      for (int32_t i = 0; i < 37; ++i) {
        const std::vector<float> y = single.step(tokens_of(0, i, 1));
        ones.insert(ones.end(), y.begin(), y.end());
      }
      EXPECT_EQ(ones, want) << dtype << " on " << isa_name(isa);
      for (int32_t i = 0, n = 1; i < 37; i += n, n = std::min(2 * n + 1, 37 - i)) {
        Tokens step = tokens_of(1, i, n), mine = tokens_of(0, i, n);
        step.insert(step.end(), mine.begin(), mine.end());
        const std::vector<float> y = mixed.step(step);
        pieces.insert(pieces.end(), y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), y.end());
      }
      EXPECT_EQ(pieces, want) << dtype << " on " << isa_name(isa);
    }
  }
}

TEST(Context, two_contexts_share_a_program_from_two_threads) {
  const Decoder d{.dtype = "q4_1"};
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 1});
  const auto program = g.program(isas_here().back(), pool);
  const auto run_all = [&](int32_t sequence) {
    ThreadPool own({.threads = 2, .pin = false});
    DecoderRun run(program, d, own);
    std::vector<float> all;
    for (int32_t i = 0; i < 60; i += 3) {
      const std::vector<float> y = run.step(tokens_of(sequence, i, 3));
      all.insert(all.end(), y.begin(), y.end());
    }
    return all;
  };
  const std::vector<float> want[] = {run_all(0), run_all(1)};
  std::vector<float> got[2];
  std::thread threads[] = {std::thread([&] { got[0] = run_all(0); }), std::thread([&] { got[1] = run_all(1); })};
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(got[0], want[0]);
  EXPECT_EQ(got[1], want[1]);
}

TEST(Context, a_run_allocates_nothing) {
  const Decoder d{.dtype = "q8_0", .biases = true};
  const TestGraph g(d.text(), true);
  ThreadPool pool({.threads = 2, .pin = false});
  DecoderRun run(g.program(isas_here().back(), pool), d, pool);
  const Tokens prompt = tokens_of(0, 0, 40), token = tokens_of(0, 40, 1);
  run.run(prompt);
  const int64_t before = allocation_count();
  run.run(prompt);
  run.run(token);
  EXPECT_EQ(allocation_count(), before);
}

TEST(Context, results_share_their_memory) {
  const Decoder shallow{.layers = 1}, deep{.layers = 12};
  ThreadPool pool({.threads = 1});
  const auto arena = [&](const Decoder& d) {
    const TestGraph g(d.text(), true);
    return DecoderRun(g.program(Isa::baseline, pool), d, pool).context().arena_bytes();
  };
  EXPECT_LT(arena(deep), arena(shallow) + 100'000);
}

TEST(Context, a_step_without_tokens_or_outputs_is_no_work) {
  const Decoder d{.dtype = "q4_0"};
  const TestGraph g(d.text(), true);
  for (Isa isa : isas_here()) {
    ThreadPool pool({.threads = 2, .pin = false});
    DecoderRun run(g.program(isa, pool), d, pool), plain(g.program(isa, pool), d, pool);
    run.run({});
    const Tokens prompt = tokens_of(0, 0, 20);
    for (size_t t = 0; t < prompt.size(); ++t) {
      run.context().input<int32_t>("tokens")[t] = prompt[t].id;
      run.context().input<int32_t>("positions")[t] = prompt[t].position;
      run.context().input<int32_t>("sequence")[t] = 0;
    }
    run.context().set_size(run.context().symbol("tokens"), 20);
    run.context().set_size(run.context().symbol("outputs"), 0);
    ASSERT_TRUE(run.context().run().is_ok());
    plain.run(prompt);
    EXPECT_EQ(run.step(tokens_of(0, 20, 1)), plain.step(tokens_of(0, 20, 1))) << isa_name(isa);
  }
}

// Graphs of a few nodes. Inputs are normal numbers; sizes may be below their bounds.

struct SmallCase {
  std::string text;
  std::map<std::string, int64_t> sizes;
  bool has_notes = false;
};

void expect_same(const SmallCase& c) {
  const TestGraph g(c.text);
  ThreadPool pool({.threads = 2, .pin = false});
  ContextOptions options;
  for (const auto& [symbol, size] : c.sizes) options.bounds[symbol] = size + 3;
  auto context = Context::create(g.program(isas_here().back(), pool), pool, options);
  ASSERT_TRUE(context.is_ok()) << context.status().message() << c.text;
  for (const auto& [symbol, size] : c.sizes) (*context)->set_size((*context)->symbol(symbol), size);
  EXPECT_EQ(!(*context)->notes().empty(), c.has_notes) << c.text;
  std::map<std::string, ops::Tensor> inputs;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (graph::ValueId id : g.graph.inputs()) {
    const graph::Value& v = g.graph.value(id);
    std::vector<int64_t> sizes;
    for (const Dim& dim : v.type.shape.dims()) sizes.push_back(dim.is_static() ? dim.size() : c.sizes.at(dim.symbol()));
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    std::vector<double> numbers(static_cast<size_t>(n));
    for (double& x : numbers) x = v.type.dtype == DType::i32 ? static_cast<double>(random() % 3) : normal(random);
    inputs[v.name] = ops::Tensor::of(v.type.dtype, sizes, numbers);
    // Rows lie input_stride apart.
    const int64_t width = sizes.size() < 2 ? 1 : sizes.back();
    for (int64_t i = 0; i < n; ++i)
      (*context)->input<int32_t>(v.name)[i / width * (*context)->input_stride(v.name) + i % width] =
          inputs[v.name].view().as<int32_t>()[i];
  }
  graph::Bindings bindings;
  for (const auto& [name, t] : inputs) bindings.inputs[name] = t.view();
  const auto want = graph::evaluate(g.graph, bindings);
  ASSERT_TRUE(want.is_ok()) << want.status().message();
  for (int run = 0; run < 2; ++run) {  // the second one finds what the first left
    ASSERT_TRUE((*context)->run().is_ok());
    for (size_t o = 0; o < want->size(); ++o) {
      const std::string& name = g.graph.value(g.graph.outputs()[o]).name;
      const std::vector<double> numbers = (*want)[o].numbers();
      const int64_t width = (*want)[o].sizes.size() < 2 ? 1 : (*want)[o].sizes.back();
      for (size_t i = 0; i < numbers.size(); ++i) {
        const int64_t at =
            static_cast<int64_t>(i) / width * (*context)->output_stride(name) + static_cast<int64_t>(i) % width;
        ASSERT_NEAR((*context)->output(name)[at], numbers[i], 1e-4 * std::max(1.0, largest(numbers)))
            << "run " << run << " output " << name << " at " << i << c.text;
      }
    }
  }
}

TEST(Context, constants_are_operands_like_any_other) {
  expect_same({R"(graph g {
    input %x: f32[3, 5]
    const %c: f32[3, 5]
    %y = add(%x, %c)
    %z = rms_norm(%c, _, %x)
    %w = rms_norm(%x, _, %c)
    output %y, %z, %w
  })",
               {}});
  expect_same({R"(graph g {
    input %x: f32[3, 32]
    const %residual: f32[3, 16]
    const %m: f32[16, 32]
    %y = linear(%x, %m, _, %residual)
    output %y
  })",
               {}});
}

TEST(Context, splits_are_views_of_results_and_copies_of_anything_else) {
  expect_same({R"(graph g {
    input %x: f32[n, 6]
    %y = neg(%x)
    %a, %b = split(%y) {sizes=[2, 4]}
    %c, %d = split(%b) {sizes=[1, 3]}
    output %a, %c, %d
  })",
               {{"n", 4}},
               true});
  expect_same({R"(graph g {
    input %x: f32[n, 6]
    const %k: f32[2, 6]
    %a, %b = split(%x) {sizes=[2, 4]}
    %c, %d = split(%k) {sizes=[3, 3]}
    output %a, %b, %c, %d
  })",
               {{"n", 4}},
               true});
}

TEST(Context, sizes_below_their_bounds_are_right_in_every_dimension) {
  expect_same({R"(graph g {
    input %x: f32[n, m]
    %y = softmax(%x)
    %z = rms_norm(%y)
    %w = scale(%z) {factor=0.5}
    output %y, %z, %w
  })",
               {{"n", 4}, {"m", 7}},
               true});
  expect_same({R"(graph g {
    input %x: f32[n, 3, m]
    %y = silu(%x)
    %z = add(%x, %y)
    %w = softcap(%z) {cap=2.0}
    output %y, %w
  })",
               {{"n", 2}, {"m", 5}},
               true});
}

TEST(Context, vectors_and_scalars_work) {
  expect_same({R"(graph g {
    input %x: f32[n]
    input %s: f32[]
    %y = rms_norm(%x)
    %z = scale(%x) {factor=3.0}
    %t = scale(%s) {factor=3.0}
    %u = mul(%x, %s)
    output %y, %z, %t, %u
  })",
               {{"n", 5}},
               true});
}

TEST(Context, gated_linear_and_embedding_of_odd_sizes_agree) {
  expect_same({R"(graph g {
    input %ids: i32[n]
    const %table: f16[3, 33]
    const %gate: f16[7, 33]
    const %up: f16[7, 33]
    const %norm: f32[33]
    %x = embedding(%ids, %table)
    %y = gated_linear(%x, %gate, %up, %norm) {activation="gelu"}
    output %x, %y
  })",
               {{"n", 6}}});
}

// The kernel rotates queries where they lie.
TEST(Context, queries_that_others_read_are_not_rotated_under_them) {
  for (const char* outputs : {"%y, %q", "%y, %qkv", "%y, %q2"}) {
    const TestGraph g(fmt::format(R"(graph g {{
      input %x: f32[tokens, 16]
      input %positions: i32[tokens]
      input %sequence: i32[tokens]
      input %page_table: i32[2, 6]
      state %k_cache.0: f16[12, 1, 16, 16]
      state %v_cache.0: f16[12, 1, 16, 16]
      const %w: f32[48, 16]
      const %inv_freq: f32[8] = [1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005]
      %qkv = linear(%x, %w)
      %q, %k, %v = split(%qkv) {{sizes=[16, 16, 16]}}
      %y = attention(%q, %k, %v, %k_cache.0, %v_cache.0, %positions, %sequence, %page_table, %inv_freq) {{heads=1, kv_heads=1, head_dim=16, scale=0.25}}
      %q2 = scale(%q) {{factor=2.0}}
      output {}
    }})",
                                  outputs));
    ThreadPool pool({.threads = 1});
    std::vector<uint16_t> k(12 * 16 * 16), v(12 * 16 * 16);
    auto context = Context::create(g.program(Isa::baseline, pool), pool,
                                   {.bounds = {{"tokens", 5}},
                                    .states = {{"k_cache.0", reinterpret_cast<std::byte*>(k.data())},
                                               {"v_cache.0", reinterpret_cast<std::byte*>(v.data())}}});
    ASSERT_TRUE(context.is_ok()) << context.status().message();
    EXPECT_THAT((*context)->notes(), ::testing::ElementsAre(HasSubstr("used elsewhere")));
    std::vector<double> x(5 * 16), positions = {0, 1, 2, 3, 4};
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
    std::copy(x.begin(), x.end(), (*context)->input<float>("x"));
    std::copy(positions.begin(), positions.end(), (*context)->input<int32_t>("positions"));
    std::fill_n((*context)->input<int32_t>("sequence"), 5, 0);
    const std::vector<int32_t> table = DecoderRun::page_table();
    std::copy(table.begin(), table.end(), (*context)->input<int32_t>("page_table"));
    ASSERT_TRUE((*context)->run().is_ok());
    const ops::Tensor tx = ops::Tensor::of(DType::f32, {5, 16}, x), tp = ops::Tensor::of(DType::i32, {5}, positions),
                      ts = ops::Tensor::of(DType::i32, {5}, {0, 0, 0, 0, 0}),
                      tt = ops::Tensor::of(DType::i32, {2, 6}, {table.begin(), table.end()});
    ops::Tensor kc = ops::Tensor::zeros(DType::f16, {12, 1, 16, 16}).value(), vc = kc;
    const auto want = graph::evaluate(
        g.graph,
        {.inputs = {{"x", tx.view()}, {"positions", tp.view()}, {"sequence", ts.view()}, {"page_table", tt.view()}},
         .states = {{"k_cache.0", kc.view()}, {"v_cache.0", vc.view()}}});
    ASSERT_TRUE(want.is_ok()) << want.status().message();
    for (size_t o = 0; o < 2; ++o) {
      const std::string& name = g.graph.value(g.graph.outputs()[o]).name;
      const std::vector<double> numbers = (*want)[o].numbers();
      const auto width = static_cast<size_t>((*want)[o].sizes[1]);
      for (size_t i = 0; i < numbers.size(); ++i)
        ASSERT_NEAR((*context)->output(name)[static_cast<int64_t>(i / width) * (*context)->output_stride(name) +
                                             static_cast<int64_t>(i % width)],
                    numbers[i], 1e-3)
            << name << " at " << i;
    }
  }
}

TEST(Context, what_is_missing_or_out_of_bounds_is_a_sentence) {
  const Decoder d;
  const TestGraph g(d.text());
  ThreadPool pool({.threads = 1});
  const auto program = g.program(Isa::baseline, pool);
  std::byte cache[64];
  ContextOptions good{
      .bounds = {{"tokens", 4}, {"outputs", 1}, {"sequences", 1}, {"pages_per_sequence", 1}, {"pages", 1}},
      .states = {}};
  for (int l = 0; l < d.layers; ++l)
    for (const char* which : {"k", "v"}) good.states[fmt::format("{}_cache.{}", which, l)] = cache;
  ASSERT_TRUE(Context::create(program, pool, good).is_ok());
  const auto refusal = [&](const ContextOptions& options) {
    const auto context = Context::create(program, pool, options);
    return context.is_ok() ? Status() : context.status();
  };
  for (const char* symbol : {"tokens", "outputs", "sequences", "pages_per_sequence", "pages"}) {
    ContextOptions options = good;
    options.bounds.erase(symbol);
    EXPECT_THAT(refusal(options).message(), AllOf(HasSubstr(fmt::format("'{}'", symbol)), HasSubstr("no bound")));
    for (int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN, (int64_t{1} << 31) + 1}) {
      options.bounds[symbol] = bad;
      EXPECT_THAT(refusal(options).message(), HasSubstr(fmt::format("the bound of '{}' is {}", symbol, bad)));
    }
  }
  ContextOptions options = good;
  options.states.erase("v_cache.1");
  EXPECT_THAT(refusal(options).message(), HasSubstr("'v_cache.1' has no memory"));
  options.states["v_cache.1"] = nullptr;
  EXPECT_THAT(refusal(options).message(), HasSubstr("'v_cache.1' has no memory"));
  options = good;
  options.bounds["tokens"] = options.bounds["pages"] = int64_t{1} << 31;
  EXPECT_EQ(refusal(options).code(), StatusCode::kExhausted);
}

TEST(Program, engines_whose_weights_do_not_fit_their_graph_are_refused) {
  ThreadPool pool({.threads = 1});
  const auto refusal = [&](std::string_view graph, const char* name, const char* layout, size_t bytes) {
    const TestDir dir;
    engine::EngineWriter writer = engine::EngineWriter::create(dir / "e").value();
    EXPECT_TRUE(writer.begin_weight(name, layout).is_ok());
    EXPECT_TRUE(writer.write_weight(std::vector<std::byte>(bytes)).is_ok());
    EXPECT_TRUE(writer.commit(Json::object(), graph, "").is_ok());
    const engine::EngineFile file = engine::EngineFile::open(dir / "e").value();
    return Program::load(file, Isa::baseline, pool).status().message();
  };
  const char* graph =
      "graph g {\n  input %x: f32[n, 4]\n  const %w: f32[16, 4]\n  %y = linear(%x, %w)\n  output %y\n}\n";
  const char* layout = "tile16 f32 group=32 offset=0 zero=0 rows=16 cols=4";
  EXPECT_EQ(refusal(graph, "w", layout, 256), "");
  EXPECT_EQ(refusal(graph, "w", "", 256), "");
  EXPECT_THAT(refusal("graph g {", "w", layout, 256), HasSubstr("the engine's graph: line "));
  EXPECT_THAT(refusal(graph, "v", layout, 256), HasSubstr("'v' is not in its graph"));
  EXPECT_THAT(refusal(graph, "x", layout, 256), HasSubstr("'x' is no constant"));
  EXPECT_THAT(refusal(graph, "w", layout, 252), HasSubstr("has 252 bytes, its layout wants 256"));
  EXPECT_THAT(refusal(graph, "w", "", 252), HasSubstr("does not fit its type f32[16, 4]"));
  EXPECT_THAT(refusal(graph, "w", "tile16", 256), HasSubstr("expected a packed layout"));
  EXPECT_THAT(refusal(graph, "w", "tile16 f32 group=32 offset=0 zero=0 rows=4 cols=16", 1024),
              HasSubstr("packed as 4 x 16, which does not fit its type f32[16, 4]"));
}

TEST(Program, a_damaged_weight_is_found_while_it_is_read) {
  const TestDir dir;
  const TestGraph g(
      "graph g {\n  input %x: f32[n, 4]\n  const %w: f32[16, 4]\n  %y = linear(%x, %w)\n  output %y\n}\n");
  g.write(dir / "e");
  {
    std::FILE* f = std::fopen((dir / "e").c_str(), "r+b");
    std::fseek(f, 4100, SEEK_SET);
    std::fputc('!', f);
    std::fclose(f);
  }
  ThreadPool pool({.threads = 2, .pin = false});
  const engine::EngineFile file = engine::EngineFile::open(dir / "e").value();
  EXPECT_THAT(Program::load(file, Isa::baseline, pool).status().message(), HasSubstr("do not match their checksum"));
}

}  // namespace
}  // namespace nereid::runtime
