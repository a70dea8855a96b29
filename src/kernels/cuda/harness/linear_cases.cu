// SPDX-License-Identifier: Apache-2.0
// linear n= k= m= w=f16|bf16|f8|i4|i8 [g=32] [offset] [gated] [x=f16] [y=] [shape=narrow|wide|mid1|mid2|mid4|unpack]
// [residual]: products. linear_equal: token 0 has the same bits whatever the number of tokens.
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/cuda/harness/harness.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/linear_few.cuh"
#include "kernels/cuda/linear_mid.cuh"

namespace nereid::kernels::cuda::harness {
namespace {

// Coded weights repeat after so many rows: enough that no kernel can profit, little enough to pack in no time.
constexpr int64_t kPeriod = 256;

struct WeightData {
  Weight weight;
  Array data;
  std::vector<char> host;            // float weights
  std::vector<uint8_t> codes;        // coded ones: [kPeriod, cols]
  std::vector<float> scale, offset;  // [kPeriod, cols / group], as f16 has them
  Array row_scale;

  double at(int64_t row, int64_t col) const {
    if (!is_coded(weight.codes)) {
      const double v = value_of(data.element(), host.data(), row * weight.stride + col);
      return weight.codes == Codes::kF8E4M3 ? v * weight.scale * (0.5 + static_cast<double>(row % 7)) : v;
    }
    const size_t r = static_cast<size_t>(row % kPeriod), groups = static_cast<size_t>(weight.cols / weight.group);
    const size_t g = r * groups + static_cast<size_t>(col / weight.group);
    return scale[g] * (static_cast<double>(codes[r * static_cast<size_t>(weight.cols) + static_cast<size_t>(col)]) -
                       weight.zero) +
           (weight.has_offset ? offset[g] : 0.0f);
  }
};

float rounded(float x) {
  return __half2float(__float2half_rn(x));
}

WeightData make_weight(const CaseLine& line, uint64_t seed, bool on_host) {
  WeightData w;
  const std::string kind = line.word("w", "f16");
  w.weight.rows = line.number("n", 4096);
  w.weight.cols = line.number("k", 4096);
  const int64_t rows = w.weight.rows, cols = w.weight.cols;
  if (kind == "f16" || kind == "bf16" || kind == "f8") {
    const Element e = element_of(kind);
    w.weight.codes = kind == "f16" ? Codes::kF16 : kind == "bf16" ? Codes::kBF16 : Codes::kF8E4M3;
    w.weight.stride = cols;
    w.data = Array::random(e, rows * cols, seed, kind == "f8" ? 16.0f : 0.05f);
    if (kind == "f8") {
      std::vector<float> scales(static_cast<size_t>(rows));
      for (size_t r = 0; r < scales.size(); ++r) scales[r] = 0.5f + static_cast<float>(r % 7);
      w.row_scale = Array::of(scales);
      w.weight.row_scale = w.row_scale.as<float>();
      w.weight.scale = 0.003f;
    }
    if (on_host) w.host = w.data.bytes_on_host();
  } else {
    w.weight.codes = kind == "i4" ? Codes::kCode4 : Codes::kCode8;
    w.weight.group = static_cast<uint8_t>(line.number("g", 32));
    w.weight.has_offset = line.number("offset", 0) != 0;
    w.weight.zero = w.weight.has_offset ? 0 : kind == "i4" ? 8 : 128;
    const int64_t groups = cols / w.weight.group, tile = tile_bytes(w.weight);
    std::mt19937 random(static_cast<unsigned>(seed));
    w.codes.resize(static_cast<size_t>(kPeriod * cols));
    for (uint8_t& c : w.codes) c = static_cast<uint8_t>(random() >> 13 & (kind == "i4" ? 15 : 255));
    w.scale.resize(static_cast<size_t>(kPeriod * groups));
    w.offset.resize(w.scale.size());
    for (float& s : w.scale) s = rounded(static_cast<float>(random() % 1000 + 1) * (kind == "i4" ? 1e-5f : 6e-7f));
    for (float& o : w.offset) o = rounded(static_cast<float>(random() % 1000) * -1e-4f);
    std::vector<char> packed(static_cast<size_t>(kPeriod / kTileRows * tile));
    for (int64_t t = 0; t < kPeriod / kTileRows; ++t) {
      pack_tile(w.weight, w.codes.data() + t * kTileRows * cols, w.scale.data() + t * kTileRows * groups,
                w.offset.data() + t * kTileRows * groups, kTileRows, packed.data() + t * tile);
    }
    w.data = Array(Element::kF8E4M3, packed_bytes(w.weight));
    const int64_t all = packed_bytes(w.weight), one = static_cast<int64_t>(packed.size());
    for (int64_t at = 0; at < all; at += one) {
      ok(cudaMemcpy(w.data.as<char>() + at, packed.data(), static_cast<size_t>(std::min(one, all - at)),
                    cudaMemcpyHostToDevice),
         "cudaMemcpy");
    }
  }
  w.weight.data = w.data.data();
  return w;
}

double activation_of(Activation a, double x) {
  if (a == Activation::kSilu) return x / (1 + std::exp(-x));
  if (a == Activation::kGelu) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  return x;
}

struct LinearData {
  std::vector<WeightData> weights, ups;
  Array x, y, residual, bias, workspace;
  LinearParams params;
  FewShape shape = FewShape::kAuto;
  int cluster = 0;  // shape=mid1, mid2, mid4
  bool is_unpacked = false;
};

std::shared_ptr<LinearData> make_data(const CaseLine& line, int sets) {
  auto d = std::make_shared<LinearData>();
  const bool gated = line.number("gated", 0) != 0;
  const std::string kind = line.word("w", "f16");
  const Element x = element_of(line.word("x", kind == "bf16" ? "bf16" : "f16"));
  const Element y = element_of(line.word("y", line.word("x", kind == "bf16" ? "bf16" : "f16")));
  const int64_t m = line.number("m", 1), n = line.number("n", 4096), k = line.number("k", 4096);
  for (int s = 0; s < sets; ++s) {
    d->weights.push_back(make_weight(line, static_cast<uint64_t>(2 * s + 1), s == 0));
    if (gated) d->ups.push_back(make_weight(line, static_cast<uint64_t>(2 * s + 2), s == 0));
  }
  d->x = Array::random(x, m * k, 77, 1.0f);
  d->y = Array(y, m * n);
  d->y.fill(0xff);
  LinearParams& p = d->params;
  p = {.element = x, .x = d->x.data(), .x_stride = k, .tokens = m, .y_element = y, .y = d->y.data(), .y_stride = n};
  if (line.number("residual", 0) != 0) {
    d->residual = Array::random(x, m * n, 78, 2.0f);
    p.residual = d->residual.data();
    p.residual_stride = n;
  }
  if (line.number("bias", 0) != 0) {
    d->bias = Array::random(Element::kF32, n, 79, 1.0f);
    p.bias = d->bias.as<float>();
  }
  const std::string shape = line.word("shape", "");
  d->is_unpacked = shape == "unpack";
  const int64_t workspace = linear_workspace_bytes(d->weights[0].weight, gated, d->is_unpacked ? 1000 : m);
  if (workspace > 0) {
    d->workspace = Array(Element::kF8E4M3, workspace);
    p.workspace = d->workspace.data();
  }
  if (gated) p.activation = Activation::kSilu;
  d->cluster = shape.starts_with("mid") ? std::stoi(shape.substr(3)) : 0;
  d->shape = shape == "narrow" ? FewShape::kNarrow

             : shape == "wide" ? FewShape::kWide
                               : FewShape::kAuto;
  return d;
}

void run_linear(const LinearData& d, int set, const Queue& queue) {
  LinearParams p = d.params;
  p.weight = d.weights[static_cast<size_t>(set)].weight;
  if (!d.ups.empty()) p.weight_up = d.ups[static_cast<size_t>(set)].weight;
  if (d.is_unpacked) return linear_unpacked(p, queue);
  if (d.cluster != 0) return linear_mid(p, d.cluster, queue);
  if (d.shape == FewShape::kAuto) return linear(p, queue);
  linear_few_as(p, d.shape, queue);
}

double linear_error(const LinearData& d) {
  const WeightData& w = d.weights[0];
  const int64_t n = w.weight.rows, k = w.weight.cols, m = d.params.tokens;
  const std::vector<double> x = d.x.on_host(), y = d.y.on_host();
  const std::vector<double> residual = d.params.residual != nullptr ? d.residual.on_host() : std::vector<double>();
  const std::vector<double> bias = d.params.bias != nullptr ? d.bias.on_host() : std::vector<double>();
  Distance distance;
  for (const double v : y) distance.add(v == v ? 0 : v, 0);  // every element was written
  for (int64_t i = 0; i < 96; ++i) {
    const int64_t row = i < 8 ? i : i < 24 ? n - 1 - (i - 8) : (i * 7919) % n;
    std::vector<double> weights(static_cast<size_t>(k)), ups(static_cast<size_t>(k));
    for (int64_t c = 0; c < k; ++c) {
      weights[static_cast<size_t>(c)] = w.at(row, c);
      if (!d.ups.empty()) ups[static_cast<size_t>(c)] = d.ups[0].at(row, c);
    }
    for (int64_t t = 0; t < m; ++t) {
      double sum = 0, up = 0;
      for (int64_t c = 0; c < k; ++c) {
        sum += x[static_cast<size_t>(t * k + c)] * weights[static_cast<size_t>(c)];
        up += x[static_cast<size_t>(t * k + c)] * ups[static_cast<size_t>(c)];
      }
      if (!bias.empty()) sum += bias[static_cast<size_t>(row)];
      sum = activation_of(d.params.activation, sum);
      if (!d.ups.empty()) sum *= up;
      if (!residual.empty()) sum += residual[static_cast<size_t>(t * n + row)];
      distance.add(y[static_cast<size_t>(t * n + row)], sum);
    }
  }
  return distance.value();
}

}  // namespace

Case linear_case(const CaseLine& line) {
  Weight shape = make_weight(CaseLine("linear n=16 k=" + line.word("k", "4096") + " w=" + line.word("w", "f16") +
                                      " g=" + line.word("g", "32") + " offset=" + line.word("offset", "0")),
                             1, false)
                     .weight;
  shape.rows = line.number("n", 4096);
  const int64_t weight_bytes =
      (is_coded(shape.codes) ? packed_bytes(shape)
                             : shape.rows * shape.cols * (shape.codes == Codes::kF8E4M3 ? 1 : 2)) *
      (line.number("gated", 0) != 0 ? 2 : 1);
  Case c;
  c.sets = sets_for(weight_bytes);
  auto d = make_data(line, c.sets);
  c.bytes = static_cast<double>(weight_bytes + d->x.bytes() + d->y.bytes() + (d->params.residual ? d->y.bytes() : 0));
  c.flops = 2.0 * static_cast<double>(d->params.tokens) * static_cast<double>(shape.rows * shape.cols) *
            (d->ups.empty() ? 1 : 2);
  c.run = [d](int set, const Queue& queue) { run_linear(*d, set, queue); };
  c.error = [d] { return linear_error(*d); };
  // Codes become f16 (bf16) weights with one rounding, as the sums' operands are.
  c.limit = std::max(tolerance(d->y.element(), Element::kF32),
                     is_coded(shape.codes) ? tolerance(d->x.element(), d->x.element()) : 0);
  return c;
}

Case linear_equal_case(const CaseLine& line) {
  auto d = make_data(line, 1);
  Case c;
  c.run = [d](int, const Queue& queue) { run_linear(*d, 0, queue); };
  c.error = [d] {
    const size_t row = static_cast<size_t>(d->weights[0].weight.rows * element_bytes(d->y.element()));
    const int64_t most = d->params.tokens;
    const auto result_of = [&](int64_t tokens) {
      d->params.tokens = tokens;
      d->y.fill(0xff);
      run_linear(*d, 0, {});
      ok(cudaDeviceSynchronize(), "linear");
      d->params.tokens = most;
      return d->y.bytes_on_host();
    };
    const std::vector<char> few = result_of(std::min(most, kNarrowTokens)), all = result_of(most);
    double different = 0;
    for (const int64_t tokens : {1, 5, 8, 9, 16, 17, 32, 33, 64}) {
      if (tokens > most) continue;
      const std::vector<char> one = result_of(tokens);
      const std::vector<char>& like = tokens <= kNarrowTokens ? few : all;
      if (std::memcmp(one.data(), like.data(), row * static_cast<size_t>(tokens)) != 0) different += 1;
    }
    return different;
  };
  c.limit = 0;
  return c;
}

}  // namespace nereid::kernels::cuda::harness
