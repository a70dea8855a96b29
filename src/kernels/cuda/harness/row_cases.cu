// SPDX-License-Identifier: Apache-2.0
// norm, rope, gated, embedding: the steps between products; copy: the roof.
#include <cmath>

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/harness/harness.h"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/rope.h"

namespace nereid::kernels::cuda::harness {
namespace {

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

struct NormData {
  Array x, residual, sum, y, weight, bias;
  RmsNormParams rms;
  LayerNormParams layer;
};

double norm_error(const NormData& d, bool is_layer) {
  const RmsNormParams& p = d.rms;
  const std::vector<double> x = d.x.on_host(), r = d.residual.on_host(), y = d.y.on_host(), w = d.weight.on_host(),
                            b = d.bias.on_host(), sum = d.sum.on_host();
  Distance distance;
  for (int64_t t = 0; t < p.tokens; ++t) {
    double mean = 0, squares = 0;
    for (int64_t c = 0; c < p.cols; ++c) {
      distance.add(sum[at(t * p.cols + c)], x[at(t * p.cols + c)] + r[at(t * p.cols + c)]);
      mean += is_layer ? sum[at(t * p.cols + c)] / static_cast<double>(p.cols) : 0;
    }
    for (int64_t c = 0; c < p.cols; ++c) squares += std::pow(sum[at(t * p.cols + c)] - mean, 2);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(p.cols) + p.eps);
    for (int64_t c = 0; c < p.cols; ++c) {
      distance.add(y[at(t * p.cols + c)],
                   (sum[at(t * p.cols + c)] - mean) * factor * w[at(c)] + (is_layer ? b[at(c)] : 0));
    }
  }
  return distance.value();
}

}  // namespace

// norm m= n= [layer] [x=f16]
Case norm_case(const CaseLine& line) {
  auto d = std::make_shared<NormData>();
  const Element e = element_of(line.word("x", "f16"));
  const int64_t m = line.number("m", 1), n = line.number("n", 4096);
  const bool is_layer = line.number("layer", 0) != 0;
  d->x = Array::random(e, m * n, 1, 1.0f, 0.5f);
  d->residual = Array::random(e, m * n, 2, 1.0f);
  d->sum = Array(e, m * n), d->y = Array(e, m * n);
  d->y.fill(0xff), d->sum.fill(0xff);
  d->weight = Array::random(Element::kF32, n, 3, 1.0f, 1.0f), d->bias = Array::random(Element::kF32, n, 4, 1.0f);
  d->rms = {.element = e,
            .x = d->x.data(),
            .x_stride = n,
            .tokens = m,
            .cols = n,
            .residual = d->residual.data(),
            .residual_stride = n,
            .sum = d->sum.data(),
            .sum_stride = n,
            .weight = d->weight.as<float>(),
            .eps = 1e-5f,
            .y = d->y.data(),
            .y_stride = n};
  d->layer = {.element = e,
              .x = d->x.data(),
              .x_stride = n,
              .tokens = m,
              .cols = n,
              .residual = d->residual.data(),
              .residual_stride = n,
              .sum = d->sum.data(),
              .sum_stride = n,
              .weight = d->weight.as<float>(),
              .bias = d->bias.as<float>(),
              .eps = 1e-5f,
              .y = d->y.data(),
              .y_stride = n};
  Case c;
  c.bytes = 4.0 * static_cast<double>(d->x.bytes());
  c.run = [d, is_layer](int, const Queue& queue) { is_layer ? layer_norm(d->layer, queue) : rms_norm(d->rms, queue); };
  c.error = [d, is_layer] { return norm_error(*d, is_layer); };
  c.limit = tolerance(e, e);
  return c;
}

namespace {

struct RopeData {
  RopeTableParams table;
  RopeKvParams params;
  Array q, kept_q, k, v, positions, sequence, page_table, frequencies, cos_sin, k_cache, v_cache, q_norm, k_norm;
  std::vector<int32_t> positions_host;
};

// The rotated (and normed) head of a token in float64.
std::vector<double> rotated(const RopeData& d, const double* head, const std::vector<double>* norm, int64_t t) {
  const RopeKvParams& p = d.params;
  const std::vector<double> frequencies = d.frequencies.on_host();
  std::vector<double> v(head, head + p.head_dim);
  if (norm != nullptr) {
    double squares = 0;
    for (const double x : v) squares += x * x;
    const double factor = 1 / std::sqrt(squares / p.head_dim + p.norm_eps);
    for (size_t i = 0; i < v.size(); ++i) v[i] *= factor * (*norm)[i];
  }
  std::vector<double> out = v;
  const int half = p.rotary_dim / 2;
  for (int j = 0; j < half; ++j) {
    const double angle =
        static_cast<double>(static_cast<float>(d.positions_host[at(t)]) * static_cast<float>(frequencies[at(j)]));
    const size_t a = at(p.interleaved ? 2 * j : j), b = at(p.interleaved ? 2 * j + 1 : j + half);
    out[a] = v[a] * std::cos(angle) - v[b] * std::sin(angle);
    out[b] = v[b] * std::cos(angle) + v[a] * std::sin(angle);
  }
  return out;
}

double rope_error(const RopeData& d) {
  const RopeKvParams& p = d.params;
  const std::vector<double> before = d.kept_q.on_host(), q = d.q.on_host(), k = d.k.on_host(), v = d.v.on_host(),
                            k_cache = d.k_cache.on_host(), v_cache = d.v_cache.on_host(),
                            q_norm = d.q_norm.count() > 0 ? d.q_norm.on_host() : std::vector<double>(),
                            k_norm = d.k_norm.count() > 0 ? d.k_norm.on_host() : std::vector<double>();
  Distance distance;
  for (int64_t t = 0; t < p.tokens; ++t) {
    for (int h = 0; h < p.heads; ++h) {
      const int64_t from = t * p.q_stride + static_cast<int64_t>(h) * p.head_dim;
      const std::vector<double> expected = rotated(d, before.data() + from, q_norm.empty() ? nullptr : &q_norm, t);
      for (int i = 0; i < p.head_dim; ++i) distance.add(q[at(from + i)], expected[at(i)]);
    }
    const int64_t page = t, slot = d.positions_host[at(t)] % p.page_tokens;
    for (int h = 0; h < p.kv_heads; ++h) {
      const int64_t from = t * p.k_stride + static_cast<int64_t>(h) * p.head_dim;
      const int64_t to = ((page * p.kv_heads + h) * p.page_tokens + slot) * p.head_dim;
      const std::vector<double> expected = rotated(d, k.data() + from, k_norm.empty() ? nullptr : &k_norm, t);
      for (int i = 0; i < p.head_dim; ++i) {
        distance.add(k_cache[at(to + i)] * p.k_scale, expected[at(i)]);
        distance.add(v_cache[at(to + i)] * p.v_scale, v[at(from + i)]);
      }
    }
  }
  return distance.value();
}

}  // namespace

// rope m= heads= kv= dim= [rotary=] [interleaved] [norm] [cache=] [x=]; token t lies in page t.
Case rope_case(const CaseLine& line) {
  auto d = std::make_shared<RopeData>();
  RopeKvParams& p = d->params;
  p.element = element_of(line.word("x", "f16"));
  p.cache = element_of(line.word("cache", line.word("x", "f16")));
  p.tokens = line.number("m", 1);
  p.heads = static_cast<int>(line.number("heads", 32)), p.kv_heads = static_cast<int>(line.number("kv", 8));
  p.head_dim = static_cast<int>(line.number("dim", 128));
  p.rotary_dim = static_cast<int>(line.number("rotary", p.head_dim));
  p.interleaved = line.number("interleaved", 0) != 0;
  p.norm_eps = 1e-6f;
  p.page_tokens = 16, p.pages_per_sequence = 64;
  if (p.cache == Element::kF8E4M3) p.k_scale = 0.01f, p.v_scale = 0.02f;
  p.q_stride = static_cast<int64_t>(p.heads) * p.head_dim,
  p.k_stride = p.v_stride = static_cast<int64_t>(p.kv_heads) * p.head_dim;
  std::vector<int32_t> sequence, pages(at(p.tokens * p.pages_per_sequence), -1);
  for (int64_t t = 0; t < p.tokens; ++t) {
    d->positions_host.push_back(static_cast<int32_t>(37 * t % 1000));
    sequence.push_back(static_cast<int32_t>(t));
    pages[at(t * p.pages_per_sequence + d->positions_host.back() / p.page_tokens)] = static_cast<int32_t>(t);
  }
  std::vector<float> frequencies;
  for (int j = 0; j < p.rotary_dim / 2; ++j)
    frequencies.push_back(std::pow(10000.0f, -2.0f * static_cast<float>(j) / static_cast<float>(p.rotary_dim)));
  d->frequencies = Array(Element::kF32, p.rotary_dim / 2);
  ok(cudaMemcpy(d->frequencies.data(), frequencies.data(), frequencies.size() * 4, cudaMemcpyHostToDevice),
     "cudaMemcpy");
  d->q = Array::random(p.element, p.tokens * p.q_stride, 1, 2.0f),
  d->kept_q = Array::random(p.element, p.tokens * p.q_stride, 1, 2.0f);
  d->k = Array::random(p.element, p.tokens * p.k_stride, 2, 2.0f),
  d->v = Array::random(p.element, p.tokens * p.k_stride, 3, 2.0f);
  const int64_t elements = p.tokens * p.kv_heads * p.page_tokens * p.head_dim;
  d->k_cache = Array(p.cache, elements), d->v_cache = Array(p.cache, elements);
  d->k_cache.fill(0xff), d->v_cache.fill(0xff);
  if (line.number("norm", 0) != 0) {
    d->q_norm = Array::random(Element::kF32, p.head_dim, 8, 1.0f, 1.0f),
    d->k_norm = Array::random(Element::kF32, p.head_dim, 9, 1.0f, 1.0f);
    p.q_norm = d->q_norm.as<float>(), p.k_norm = d->k_norm.as<float>();
  }
  d->positions = Array::of(d->positions_host), d->sequence = Array::of(sequence), d->page_table = Array::of(pages);
  d->cos_sin = Array(Element::kF32, p.tokens * p.rotary_dim);
  d->table = {.positions = d->positions.as<int32_t>(),
              .tokens = p.tokens,
              .inv_freq = d->frequencies.as<float>(),
              .rotary_dim = p.rotary_dim,
              .cos_sin = d->cos_sin.as<float>()};
  p.q = d->q.data(), p.k = d->k.data(), p.v = d->v.data(), p.cos_sin = d->cos_sin.as<float>();
  p.positions = d->positions.as<int32_t>(), p.sequence = d->sequence.as<int32_t>(),
  p.page_table = d->page_table.as<int32_t>();
  p.k_cache = d->k_cache.data(), p.v_cache = d->v_cache.data();
  rope_table(d->table, {});
  Case c;
  c.bytes = static_cast<double>(2 * d->q.bytes() + d->k.bytes() + d->v.bytes()) +
            2.0 * static_cast<double>(p.tokens * p.k_stride * element_bytes(p.cache));
  c.run = [d](int, const Queue& queue) { rope_kv(d->params, queue); };
  c.error = [d] { return rope_error(*d); };
  c.limit = tolerance(p.cache, p.element);
  return c;
}

// gated m= n= [x=]
Case gated_case(const CaseLine& line) {
  struct Data {
    Array gate, up, y;
  };
  auto d = std::make_shared<Data>();
  const Element e = element_of(line.word("x", "f16"));
  const int64_t m = line.number("m", 1), n = line.number("n", 11008);
  d->gate = Array::random(e, m * n, 1, 4.0f), d->up = Array::random(e, m * n, 2, 2.0f), d->y = Array(e, m * n);
  d->y.fill(0xff);
  const GatedParams p = {.element = e,
                         .gate = d->gate.data(),
                         .gate_stride = n,
                         .up = d->up.data(),
                         .up_stride = n,
                         .tokens = m,
                         .cols = n,
                         .y = d->y.data(),
                         .y_stride = n};
  Case c;
  c.bytes = 3.0 * static_cast<double>(d->y.bytes());
  c.run = [d, p](int, const Queue& queue) { gated(p, queue); };
  c.error = [d] {
    const std::vector<double> gate = d->gate.on_host(), up = d->up.on_host(), y = d->y.on_host();
    Distance distance;
    for (size_t i = 0; i < y.size(); ++i) distance.add(y[i], gate[i] / (1 + std::exp(-gate[i])) * up[i]);
    return distance.value();
  };
  c.limit = tolerance(e, e);
  return c;
}

// embedding m= n= k=: rows of an f16 table.
Case embedding_case(const CaseLine& line) {
  struct Data {
    Array table, ids, y;
    std::vector<int32_t> host;
  };
  auto d = std::make_shared<Data>();
  const int64_t m = line.number("m", 1), n = line.number("n", 32000), k = line.number("k", 4096);
  d->table = Array::random(Element::kF16, n * k, 1, 1.0f), d->y = Array(Element::kF16, m * k);
  for (int64_t t = 0; t < m; ++t) d->host.push_back(static_cast<int32_t>(t == 1 ? -1 : t * 7919 % n));
  d->ids = Array::of(d->host);
  EmbeddingParams p = {.ids = d->ids.as<int32_t>(), .tokens = m, .factor = 2.0f, .y = d->y.data(), .y_stride = k};
  p.weight = {.rows = n, .cols = k, .stride = k, .data = d->table.data()};
  Case c;
  c.bytes = 2.0 * static_cast<double>(d->y.bytes());
  c.run = [d, p](int, const Queue& queue) { embedding(p, queue); };
  c.error = [d, k] {
    const std::vector<double> table = d->table.on_host(), y = d->y.on_host();
    Distance distance;
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t id = d->host[i / at(k)];
      distance.add(y[i], id < 0 ? 0 : 2 * table[at(id * k) + i % at(k)]);
    }
    return distance.value();
  };
  c.limit = tolerance(Element::kF16, Element::kF16);
  return c;
}

// copy mib=: bytes read and written, 16 a thread at a time; read: bytes read only.
Case copy_case(const CaseLine& line) {
  const int64_t bytes = line.number("mib", 2048) << 20;
  const bool is_read = line.kernel == "read";
  auto a = std::make_shared<Array>(Array::random(Element::kF32, bytes / 4, 1, 1.0f));
  auto b = std::make_shared<Array>(Element::kF32, is_read ? 64 : bytes / 4);
  Case c;
  c.bytes = (is_read ? 1.0 : 2.0) * static_cast<double>(bytes);
  c.run = [a, b, is_read](int, const Queue& queue) {
    stream_bytes(a->data(), is_read ? nullptr : b->data(), b->data(), a->bytes(), queue);
  };
  return c;
}

}  // namespace nereid::kernels::cuda::harness
