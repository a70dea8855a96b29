// SPDX-License-Identifier: Apache-2.0
// attention m= context= heads= kv= dim= [cache=f16|f8] [x=f16] [window=] [softcap] [splits=] [page=64] [settled]:
// decode. The tokens are sequences of their own at positions context - 1, context - 8, ...; pages are scattered.
// prefill m= context= ...: the last m positions before each of `blocks` contexts, tokens of a block one sequence.
#include <cmath>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/harness/harness.h"

namespace nereid::kernels::cuda::harness {
namespace {

struct AttentionData {
  AttentionParams params;
  Array q, y, positions, sequence, page_table, workspace;
  std::vector<Array> k, v;
  std::vector<int32_t> positions_host, pages_host, sequence_host;
  Array query_begin;
  int64_t blocks = 0, max_queries = 0;
};

double attention_error(const AttentionData& d) {
  const AttentionParams& p = d.params;
  const std::vector<double> q = d.q.on_host(), y = d.y.on_host(), k = d.k[0].on_host(), v = d.v[0].on_host();
  Distance distance;
  for (const double one : y) distance.add(one == one ? 0 : one, 0);
  const int group = p.heads / p.kv_heads;
  for (int64_t t = 0; t < p.tokens; t += std::max<int64_t>(1, p.tokens / 9)) {
    const int position = d.positions_host[static_cast<size_t>(t)];
    for (int head = 0; head < p.heads; head += std::max(1, p.heads / 7)) {
      const auto at = [&](int pos, int dim) {
        const int32_t page = d.pages_host[static_cast<size_t>(
            d.sequence_host[static_cast<size_t>(t)] * p.pages_per_sequence + pos / p.page_tokens)];
        return static_cast<size_t>(
            ((static_cast<int64_t>(page) * p.kv_heads + head / group) * p.page_tokens + pos % p.page_tokens) *
                p.head_dim +
            dim);
      };
      const double* query = q.data() + t * p.q_stride + head * p.head_dim;
      const int begin = p.window > 0 ? std::max<int>(0, position + 1 - static_cast<int>(p.window)) : 0;
      std::vector<double> scores, sums(static_cast<size_t>(p.head_dim));
      double most = -1e300, total = 0;
      for (int pos = begin; pos <= position; ++pos) {
        double s = 0;
        for (int dim = 0; dim < p.head_dim; ++dim) s += query[dim] * k[at(pos, dim)];
        s *= p.scale * p.k_scale;
        if (p.softcap != 0) s = p.softcap * std::tanh(s / p.softcap);
        scores.push_back(s);
        most = std::max(most, s);
      }
      for (int pos = begin; pos <= position; ++pos) {
        const double weight = std::exp(scores[static_cast<size_t>(pos - begin)] - most);
        total += weight;
        for (int dim = 0; dim < p.head_dim; ++dim) sums[static_cast<size_t>(dim)] += weight * v[at(pos, dim)];
      }
      for (int dim = 0; dim < p.head_dim; ++dim) {
        distance.add(y[static_cast<size_t>(t * p.y_stride + head * p.head_dim + dim)],
                     sums[static_cast<size_t>(dim)] / total * p.v_scale);
      }
    }
  }
  return distance.value();
}

}  // namespace

Case attention_case(const CaseLine& line) {
  auto d = std::make_shared<AttentionData>();
  AttentionParams& p = d->params;
  p.element = element_of(line.word("x", "f16"));
  p.cache = element_of(line.word("cache", line.word("x", "f16")));
  p.tokens = line.number("m", 1);
  p.heads = static_cast<int>(line.number("heads", 32));
  p.kv_heads = static_cast<int>(line.number("kv", 32));
  p.head_dim = static_cast<int>(line.number("dim", 128));
  p.page_tokens = static_cast<int>(line.number("page", 64));
  p.window = line.number("window", 0);
  p.settled = line.number("settled", 0) != 0;
  p.softcap = line.number("softcap", 0) != 0 ? 5.0f : 0.0f;
  p.splits = static_cast<int>(line.number("splits", 0));
  p.scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  if (p.cache == Element::kF8E4M3) p.k_scale = 0.5f, p.v_scale = 0.25f;
  const int64_t context = line.number("context", 512), width = static_cast<int64_t>(p.heads) * p.head_dim;
  p.max_positions = context;
  p.pages_per_sequence = (context + p.page_tokens - 1) / p.page_tokens;
  const bool is_prefill = line.kernel == "prefill";
  const int64_t queries = p.tokens, blocks = line.number("blocks", 1);
  if (is_prefill) p.tokens = queries * blocks;
  const int64_t pages = (is_prefill ? blocks : p.tokens) * p.pages_per_sequence;
  double positions = 0;
  for (int64_t t = 0; t < p.tokens; ++t) {
    d->positions_host.push_back(static_cast<int32_t>(is_prefill ? context - queries + t % queries
                                                                : std::max<int64_t>(0, context - 1 - 7 * (t % 16))));
    d->sequence_host.push_back(static_cast<int32_t>(is_prefill ? t / queries : t));
    const int64_t seen = d->positions_host.back() + 1;
    positions += static_cast<double>(p.window > 0 ? std::min(seen, p.window) : seen);
  }
  for (int64_t i = 0; i < pages; ++i) d->pages_host.push_back(static_cast<int32_t>((i * 7 + 3) % pages));
  if (pages % 7 == 0) {
    for (int64_t i = 0; i < pages; ++i) d->pages_host[static_cast<size_t>(i)] = static_cast<int32_t>(pages - 1 - i);
  }
  const int64_t elements = pages * p.kv_heads * p.page_tokens * p.head_dim;
  Case c;
  c.sets = sets_for(2 * elements * element_bytes(p.cache));
  for (int s = 0; s < c.sets; ++s) {
    d->k.push_back(Array::random(p.cache, elements, static_cast<uint64_t>(11 + 2 * s), 2.0f));
    d->v.push_back(Array::random(p.cache, elements, static_cast<uint64_t>(12 + 2 * s), 2.0f));
  }
  d->q = Array::random(p.element, p.tokens * width, 5, 3.0f);
  d->y = Array(p.element, p.tokens * width);
  d->y.fill(0xff);
  d->positions = Array::of(d->positions_host);
  d->sequence = Array::of(d->sequence_host);
  d->page_table = Array::of(d->pages_host);
  d->workspace = Array(Element::kF8E4M3, attention_workspace_bytes(p.tokens, p.heads, p.head_dim, p.max_positions));
  d->workspace.fill(0);
  p.q = d->q.data(), p.q_stride = width, p.y = d->y.data(), p.y_stride = width;
  p.positions = d->positions.as<int32_t>(), p.sequence = d->sequence.as<int32_t>();
  p.page_table = d->page_table.as<int32_t>(), p.workspace = d->workspace.data();
  c.bytes = 2 * positions * p.kv_heads * p.head_dim * static_cast<double>(element_bytes(p.cache));
  c.flops = 4 * positions * static_cast<double>(width);
  if (is_prefill) {
    std::vector<int32_t> begins;
    for (int64_t b = 0; b <= blocks; ++b) begins.push_back(static_cast<int32_t>(b * queries));
    d->query_begin = Array::of(begins);
    d->blocks = blocks, d->max_queries = queries;
    c.bytes = static_cast<double>(2 * elements * element_bytes(p.cache) + 2 * d->q.bytes());
  }
  c.run = [d](int set, const Queue& queue) {
    AttentionParams one = d->params;
    one.k_cache = d->k[static_cast<size_t>(set)].data();
    one.v_cache = d->v[static_cast<size_t>(set)].data();
    if (d->blocks == 0) return attention_decode(one, queue);
    attention_prefill({.common = one,
                       .query_begin = d->query_begin.as<int32_t>(),
                       .blocks = d->blocks,
                       .max_queries = d->max_queries},
                      queue);
  };
  c.error = [d] { return attention_error(*d); };
  c.limit = tolerance(p.element, Element::kF32);
  return c;
}

}  // namespace nereid::kernels::cuda::harness
