// SPDX-License-Identifier: Apache-2.0
// Low-rank addends against a plain f64 product, alone and in company, and what linear does with them.
#include "kernels/cpu/low_rank.h"

#include <gtest/gtest.h>

#include "base/float_convert.h"
#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::make_weights;
using testing::random_floats;
using testing::Weights;

// A and B of a part as an adapter file has them, and as the kernel wants them.
struct Part {
  std::vector<float> a, b;  // [rank, cols], [tiles * 16, rank]
  std::vector<std::byte> down, up;
  LowRankPart part;
};

DType dtype_of(Codes codes) {
  return codes == Codes::kF32 ? DType::f32 : codes == Codes::kF16 ? DType::f16 : DType::bf16;
}

// What the type keeps of the value, appended to `bytes`.
float put(Codes codes, float value, std::vector<std::byte>* bytes) {
  const auto append = [&](auto v) {
    const auto* p = reinterpret_cast<const std::byte*>(&v);
    bytes->insert(bytes->end(), p, p + sizeof(v));
  };
  if (codes == Codes::kF32) return append(value), value;
  const uint16_t half = codes == Codes::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
  append(half);
  return codes == Codes::kF16 ? f16_to_f32(half) : bf16_to_f32(half);
}

Part make_part(Codes codes, int64_t rank, int64_t cols, int64_t first_tile, int64_t tiles, uint32_t seed) {
  Part p;
  p.a = random_floats(static_cast<size_t>(rank * cols), seed);
  p.b = random_floats(static_cast<size_t>(tiles * 16 * rank), seed + 1);
  for (int64_t k = 0; k < rank; ++k)
    for (int64_t c = 0; c < low_rank_columns(cols); ++c) {
      float zero = 0;
      float& value = c < cols ? p.a[static_cast<size_t>(k * cols + c)] : zero;
      value = put(codes, value, &p.down);
    }
  for (float& value : p.b) value = put(codes, value, &p.up);
  const PackedLayout layout = packed_layout(dtype_of(codes), tiles * 16, rank).value();
  std::vector<std::byte> packed(static_cast<size_t>(layout.bytes()) + 4096);
  const ConstTensorView view(p.up.data(), dtype_of(codes), {tiles * 16, rank});
  pack_tiles(layout, {&view, 1}, 0, layout.tiles(), packed.data());
  p.up = std::move(packed);
  p.part = {.codes = codes,
            .down = p.down.data(),
            .up = p.up.data(),
            .rank = rank,
            .first_tile = first_tile,
            .tiles = tiles,
            .scale = 0.5F + static_cast<float>(seed % 3)};
  return p;
}

struct Case {
  int64_t cols, tiles, matrices;
  std::vector<std::vector<Part>> adapters;
  std::vector<std::vector<int32_t>> tokens;  // of each adapter
  bool has_norm = false;
};

constexpr int64_t kTokens = 23;

struct Input {
  std::vector<float> x, norm;
  int64_t stride;
  explicit Input(int64_t cols)
      : x(random_floats(static_cast<size_t>(kTokens * (cols + 3)), 77)),
        norm(random_floats(static_cast<size_t>(cols), 78)),
        stride(cols + 3) {}
};

// The addends of each adapter's tokens in order.
std::vector<float> run(const IsaKernels& kernels, const Case& c, const Input& input, int threads) {
  std::vector<LowRankGroup> groups;
  std::vector<std::vector<LowRankPart>> parts;
  LowRankParams p{
      .x = input.x.data(), .x_stride = input.stride, .cols = c.cols, .tiles = c.tiles, .matrices = c.matrices};
  if (c.has_norm) {
    p.norm_weight = input.norm.data();
    p.norm_eps = 1e-5F;
  }
  for (const auto& adapter : c.adapters) {
    int64_t ranks = 0;
    parts.emplace_back();
    for (const Part& part : adapter) {
      parts.back().push_back(part.part);
      ranks += part.part.rank;
    }
    p.ranks = std::max(p.ranks, ranks);
  }
  for (size_t i = 0; i < c.tokens.size(); ++i) {
    groups.push_back({.tokens = c.tokens[i].data(),
                      .count = static_cast<int64_t>(c.tokens[i].size()),
                      .parts = parts[i].data(),
                      .part_count = static_cast<int64_t>(parts[i].size())});
    p.tokens += groups.back().count;
  }
  p.groups = groups.data();
  p.group_count = static_cast<int64_t>(groups.size());
  std::vector<float> addend(static_cast<size_t>(p.tokens * c.matrices * c.tiles * 16), -1e9F);
  Buffer scratch =
      Buffer::allocate(static_cast<size_t>(low_rank_scratch_bytes(p.tokens, c.cols, p.ranks, threads))).value();
  p.addend = addend.data();
  p.scratch = scratch.data();
  testing::run_kernel(kernels.low_rank, p, threads);
  return addend;
}

std::vector<double> plain(const Case& c, const Input& input) {
  std::vector<double> out;
  for (size_t g = 0; g < c.tokens.size(); ++g)
    for (int32_t token : c.tokens[g]) {
      std::vector<double> x(input.x.begin() + token * input.stride, input.x.begin() + token * input.stride + c.cols);
      if (c.has_norm) {
        double sum = 0;
        for (double v : x) sum += v * v;
        for (size_t i = 0; i < x.size(); ++i)
          x[i] *= input.norm[i] / std::sqrt(sum / static_cast<double>(c.cols) + 1e-5);
      }
      std::vector<double> row(static_cast<size_t>(c.matrices * c.tiles * 16));
      for (const Part& p : c.adapters[g])
        for (int64_t k = 0; k < p.part.rank; ++k) {
          double h = 0;
          for (int64_t i = 0; i < c.cols; ++i)
            h += double{p.a[static_cast<size_t>(k * c.cols + i)]} * x[static_cast<size_t>(i)];
          for (int64_t r = 0; r < p.part.tiles * 16; ++r)
            row[static_cast<size_t>(p.part.first_tile * 16 + r)] +=
                p.part.scale * h * double{p.b[static_cast<size_t>(r * p.part.rank + k)]};
        }
      out.insert(out.end(), row.begin(), row.end());
    }
  return out;
}

Case some_case(Codes codes, int64_t cols, bool has_norm) {
  Case c{.cols = cols,
         .tiles = 7,
         .matrices = 2,
         .adapters = {},
         .tokens = {{0, 3, 4, 5, 6, 9, 10, 11, 12, 20, 22}, {1}, {2, 7, 8}},
         .has_norm = has_norm};
  c.adapters.resize(3);
  c.adapters[0].push_back(make_part(codes, 8, cols, 0, 7, 1));   // all of the gate
  c.adapters[0].push_back(make_part(codes, 5, cols, 9, 2, 3));   // a run of the up matrix
  c.adapters[1].push_back(make_part(codes, 16, cols, 2, 3, 5));  // two that meet in a tile
  c.adapters[1].push_back(make_part(codes, 16, cols, 4, 2, 8));
  c.adapters[2].push_back(make_part(codes, 1, cols, 13, 1, 10));
  return c;
}

TEST(LowRank, agrees_with_the_plain_product_for_every_type_and_isa) {
  for (Isa isa : isas_here())
    for (Codes codes : {Codes::kF32, Codes::kF16, Codes::kBF16})
      for (int64_t cols : {1, 16, 33, 100})
        for (bool has_norm : {false, true}) {
          const Case c = some_case(codes, cols, has_norm);
          const Input input(cols);
          const std::vector<float> got = run(isa_kernels(isa), c, input, 2);
          const std::vector<double> want = plain(c, input);
          double largest = 0;
          for (double v : want) largest = std::max(largest, std::fabs(v));
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR(got[i], want[i], 2e-6 * largest)
                << isa_name(isa) << " codes " << static_cast<int>(codes) << " columns " << cols << " at " << i;
        }
}

TEST(LowRank, a_token_gets_the_same_bits_alone_and_in_company_on_any_number_of_threads) {
  for (Isa isa : isas_here()) {
    const Case c = some_case(Codes::kBF16, 100, true);
    const Input input(100);
    const std::vector<float> all = run(isa_kernels(isa), c, input, 1);
    EXPECT_EQ(run(isa_kernels(isa), c, input, 3), all);
    size_t at = 0;
    const auto width = static_cast<size_t>(c.tiles * c.matrices * 16);
    for (size_t g = 0; g < c.tokens.size(); ++g)
      for (int32_t token : c.tokens[g]) {
        Case one = c;
        one.adapters = {c.adapters[g]};
        for (Part& p : one.adapters[0]) {  // the copies' own bytes
          p.part.down = p.down.data();
          p.part.up = p.up.data();
        }
        one.tokens = {{token}};
        const std::vector<float> alone = run(isa_kernels(isa), one, input, 2);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<ptrdiff_t>(at)))
            << isa_name(isa) << " token " << token;
        at += width;
      }
  }
}

// linear with addends against linear without: the gate's before its activation, up's before the product.
TEST(LowRank, linear_adds_to_the_tokens_that_have_an_addend_and_to_no_other) {
  const int64_t cols = 64, rows = 40, tiles = 3, tokens = 19;
  const auto x = random_floats(static_cast<size_t>(tokens * cols), 3);
  const auto bias = random_floats(static_cast<size_t>(rows), 4);
  const auto extra = random_floats(static_cast<size_t>(tokens * 2 * tiles * 16), 5);
  std::vector<const float*> addend(static_cast<size_t>(tokens));
  for (size_t t = 0; t < addend.size(); ++t) addend[t] = t % 3 == 1 ? extra.data() + t * 2 * tiles * 16 : nullptr;
  for (Isa isa : isas_here())
    for (DType dtype : {DType::q4_1, DType::f32})
      for (bool is_gated : {false, true}) {
        const Weights gate = make_weights(dtype, rows, cols, 1), up = make_weights(dtype, rows, cols, 2);
        const auto product = [&](LinearParams p) {
          std::vector<float> y(static_cast<size_t>(tokens * rows));
          Buffer scratch = Buffer::allocate(static_cast<size_t>(linear_scratch_bytes(tokens, cols, 2))).value();
          p.x = x.data();
          p.x_stride = cols;
          p.tokens = tokens;
          p.y = y.data();
          p.y_stride = rows;
          p.scratch = scratch.data();
          testing::run_kernel(isa_kernels(isa).linear, p, 2);
          return y;
        };
        LinearParams p{.weight = gate.weight, .bias = bias.data()};
        if (is_gated) {
          p.weight_up = up.weight;
          p.activation = Activation::kSilu;
        }
        const auto without = product(p);
        const auto g = product({.weight = gate.weight, .bias = bias.data()});
        const auto u = product({.weight = up.weight});
        p.addend = addend.data();
        const auto with = product(p);
        for (size_t i = 0; i < with.size(); ++i) {
          const size_t token = i / static_cast<size_t>(rows), row = i % static_cast<size_t>(rows);
          if (!addend[token]) {
            ASSERT_EQ(with[i], without[i]);
            continue;
          }
          double want = double{g[i]} + double{addend[token][row]};
          if (is_gated)
            want = want / (1 + std::exp(-want)) *
                   (double{u[i]} + double{addend[token][tiles * 16 + static_cast<int64_t>(row)]});
          ASSERT_NEAR(with[i], want, 1e-5 * (1 + std::fabs(want)) * 20)
              << isa_name(isa) << " " << dtype_name(dtype) << " at " << i;
        }
      }
}

TEST(LowRank, no_tokens_are_no_work) {
  for (Isa isa : isas_here()) testing::run_kernel(isa_kernels(isa).low_rank, LowRankParams{});
}

}  // namespace
}  // namespace nereid::kernels
