// SPDX-License-Identifier: Apache-2.0
// For tests only: the device's kernels as plain loops on the host, for a fake driver. Written from the headers under
// src/kernels/cuda, in f32, so that what binds and launches them is tested where there is no GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/float_convert.h"
#include "device/cuda/fake_driver.h"
#include "kernels/cuda/kernel_table.h"

namespace nereid::runtime::testing {

namespace gpu = kernels::cuda;

inline float get(gpu::Element e, const void* p, int64_t i) {
  switch (e) {
    case gpu::Element::kF32:
      return static_cast<const float*>(p)[i];
    case gpu::Element::kF16:
      return f16_to_f32(static_cast<const uint16_t*>(p)[i]);
    case gpu::Element::kBF16:
      return bf16_to_f32(static_cast<const uint16_t*>(p)[i]);
    default:
      return f8e4m3_to_f32(static_cast<const uint8_t*>(p)[i]);
  }
}
inline void put(gpu::Element e, void* p, int64_t i, float v) {
  switch (e) {
    case gpu::Element::kF32:
      static_cast<float*>(p)[i] = v;
      break;
    case gpu::Element::kF16:
      static_cast<uint16_t*>(p)[i] = f32_to_f16(v);
      break;
    case gpu::Element::kBF16:
      static_cast<uint16_t*>(p)[i] = f32_to_bf16(v);
      break;
    default:
      static_cast<uint8_t*>(p)[i] = f32_to_f8e4m3(v);
  }
}

// Codes lie row after row here, each behind its scale and offset: the GPU's own order is the kernels' to test.
struct TestRow {
  static int64_t bytes(const gpu::Weight& w) { return gpu::tile_bytes(w) / gpu::kTileRows; }
};
inline float weight_at(const gpu::Weight& w, int64_t row, int64_t col) {
  if (w.codes == gpu::Codes::kF16) return get(gpu::Element::kF16, w.data, row * w.stride + col);
  if (w.codes == gpu::Codes::kBF16) return get(gpu::Element::kBF16, w.data, row * w.stride + col);
  if (w.codes == gpu::Codes::kF8E4M3)
    return get(gpu::Element::kF8E4M3, w.data, row * w.stride + col) *
           (w.row_scale != nullptr ? w.row_scale[row] : w.scale);
  const auto* tile = static_cast<const std::byte*>(w.data) + row / gpu::kTileRows * gpu::tile_bytes(w);
  const auto* p = reinterpret_cast<const uint8_t*>(tile + row % gpu::kTileRows * TestRow::bytes(w));
  const int64_t groups = w.cols / w.group;
  const auto* scales = reinterpret_cast<const uint16_t*>(p);
  const uint8_t* codes = p + groups * (w.has_offset ? 4 : 2);
  const int code = w.codes == gpu::Codes::kCode4 ? codes[col / 2] >> (col % 2 * 4) & 15 : codes[col];
  const float scale = f16_to_f32(scales[col / w.group]);
  const float offset = w.has_offset ? f16_to_f32(scales[groups + col / w.group]) : 0;
  return scale * static_cast<float>(code - w.zero) + offset;
}
inline void test_pack_tile(const gpu::Weight& w, const uint8_t* codes, const float* scale, const float* offset,
                           int64_t row_count, void* dst) {
  const int64_t groups = w.cols / w.group;
  std::memset(dst, 0, static_cast<size_t>(gpu::tile_bytes(w)));
  for (int64_t r = 0; r < row_count; ++r) {
    auto* p = static_cast<uint8_t*>(dst) + r * TestRow::bytes(w);
    auto* scales = reinterpret_cast<uint16_t*>(p);
    uint8_t* out = p + groups * (w.has_offset ? 4 : 2);
    for (int64_t g = 0; g < groups; ++g) {
      scales[g] = f32_to_f16(scale[r * groups + g]);
      if (w.has_offset) scales[groups + g] = f32_to_f16(offset[r * groups + g]);
    }
    for (int64_t c = 0; c < w.cols; ++c) {
      const uint8_t code = codes[r * w.cols + c];
      if (w.codes == gpu::Codes::kCode4)
        out[c / 2] = static_cast<uint8_t>(out[c / 2] | code << (c % 2 * 4));
      else
        out[c] = code;
    }
  }
}

inline float activate(gpu::Activation a, float x) {
  switch (a) {
    case gpu::Activation::kSilu:
      return x / (1 + std::exp(-x));
    case gpu::Activation::kGelu:
      return 0.5f * x * (1 + std::erf(x * 0.70710678f));
    case gpu::Activation::kGeluTanh:
      return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case gpu::Activation::kRelu:
      return std::max(x, 0.0f);
    default:
      return x;
  }
}

inline void run_linear(const gpu::LinearParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int64_t r = 0; r < p.weight.rows; ++r) {
      float sum = p.bias != nullptr ? p.bias[r] : 0, up = p.bias_up != nullptr ? p.bias_up[r] : 0;
      for (int64_t c = 0; c < p.weight.cols; ++c) {
        const float x = get(p.element, p.x, t * p.x_stride + c);
        sum += x * weight_at(p.weight, r, c);
        if (p.weight_up.data != nullptr) up += x * weight_at(p.weight_up, r, c);
      }
      float y = activate(p.activation, sum);
      if (p.weight_up.data != nullptr) y *= up;
      if (p.residual != nullptr) y += get(p.element, p.residual, t * p.residual_stride + r);
      put(p.y_element, p.y, t * p.y_stride + r, y);
    }
}

inline void run_rms_norm(const gpu::RmsNormParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t) {
    float squares = 0;
    for (int64_t c = 0; c < p.cols; ++c) {
      const float v = get(p.element, p.x, t * p.x_stride + c);
      squares += v * v;
    }
    const float factor = 1 / std::sqrt(squares / static_cast<float>(p.cols) + p.eps);
    for (int64_t c = 0; c < p.cols; ++c) {
      float v = get(p.element, p.x, t * p.x_stride + c) * factor * (p.weight != nullptr ? p.weight[c] : 1);
      if (p.after != nullptr) v += get(p.element, p.after, t * p.after_stride + c);
      put(p.element, p.y, t * p.y_stride + c, v);
    }
  }
}

inline void run_rope_table(const gpu::RopeTableParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int j = 0; j < p.rotary_dim / 2; ++j) {
      const float angle = static_cast<float>(p.positions[t]) * p.inv_freq[j];
      p.cos_sin[t * p.rotary_dim + j] = p.scale * std::cos(angle);
      p.cos_sin[t * p.rotary_dim + p.rotary_dim / 2 + j] = p.scale * std::sin(angle);
    }
}

// One head: its norm and its rotation.
inline void norm_and_rotate(const gpu::RopeKvParams& p, int64_t t, const float* norm, std::vector<float>& head) {
  if (norm != nullptr) {
    float squares = 0;
    for (float v : head) squares += v * v;
    const float factor = 1 / std::sqrt(squares / static_cast<float>(head.size()) + p.norm_eps);
    for (size_t i = 0; i < head.size(); ++i) head[i] *= factor * norm[i];
  }
  if (p.cos_sin == nullptr) return;
  const int half = p.rotary_dim / 2;
  const float* table = p.cos_sin + t * p.rotary_dim;
  for (int j = 0; j < half; ++j) {
    float& a = head[static_cast<size_t>(p.interleaved ? 2 * j : j)];
    float& b = head[static_cast<size_t>(p.interleaved ? 2 * j + 1 : j + half)];
    const float x = a, y = b;
    a = x * table[j] - y * table[half + j];
    b = y * table[j] + x * table[half + j];
  }
}
inline int64_t cache_row(const gpu::RopeKvParams& p, int64_t t, int head) {
  const int32_t page = p.page_table[p.sequence[t] * p.pages_per_sequence + p.positions[t] / p.page_tokens];
  return ((static_cast<int64_t>(page) * p.kv_heads + head) * p.page_tokens + p.positions[t] % p.page_tokens) *
         p.head_dim;
}
inline void run_rope_kv(const gpu::RopeKvParams& p) {
  std::vector<float> head(static_cast<size_t>(p.head_dim));
  const auto load = [&](const void* from, int64_t at) {
    for (int i = 0; i < p.head_dim; ++i) head[static_cast<size_t>(i)] = get(p.element, from, at + i);
  };
  const auto store = [&](gpu::Element e, void* to, int64_t at, float factor) {
    for (int i = 0; i < p.head_dim; ++i) put(e, to, at + i, head[static_cast<size_t>(i)] / factor);
  };
  for (int64_t t = 0; t < p.tokens; ++t) {
    for (int h = 0; h < p.heads; ++h) {
      const int64_t at = t * p.q_stride + h * p.head_dim;
      load(p.q, at);
      norm_and_rotate(p, t, p.q_norm, head);
      store(p.element, p.q, at, 1);
    }
    if (p.k == nullptr || p.positions[t] < 0) continue;
    for (int h = 0; h < p.kv_heads; ++h) {
      load(p.k, t * p.k_stride + h * p.head_dim);
      norm_and_rotate(p, t, p.k_norm, head);
      store(p.cache, p.k_cache, cache_row(p, t, h), p.k_scale);
      load(p.v, t * p.v_stride + h * p.head_dim);
      store(p.cache, p.v_cache, cache_row(p, t, h), p.v_scale);
    }
  }
}

inline void attend(const gpu::AttentionParams& p, int64_t t) {
  for (int h = 0; h < p.heads; ++h) {
    std::vector<float> scores, y(static_cast<size_t>(p.head_dim));
    const int64_t last = p.positions[t], first = p.window > 0 ? std::max<int64_t>(0, last - p.window + 1) : 0;
    const auto row = [&](int64_t position) {
      const int32_t page = p.page_table[p.sequence[t] * p.pages_per_sequence + position / p.page_tokens];
      return ((static_cast<int64_t>(page) * p.kv_heads + h / (p.heads / p.kv_heads)) * p.page_tokens +
              position % p.page_tokens) *
             p.head_dim;
    };
    float most = -INFINITY, sum = 0;
    for (int64_t at = first; at <= last; ++at) {
      float s = 0;
      for (int i = 0; i < p.head_dim; ++i)
        s += get(p.element, p.q, t * p.q_stride + h * p.head_dim + i) * get(p.cache, p.k_cache, row(at) + i);
      s *= p.scale * p.k_scale;
      if (p.softcap > 0) s = p.softcap * std::tanh(s / p.softcap);
      scores.push_back(s);
      most = std::max(most, s);
    }
    for (float& s : scores) sum += s = std::exp(s - most);
    for (int64_t at = first; at <= last; ++at)
      for (int i = 0; i < p.head_dim; ++i)
        y[static_cast<size_t>(i)] +=
            scores[static_cast<size_t>(at - first)] / sum * get(p.cache, p.v_cache, row(at) + i) * p.v_scale;
    for (int i = 0; i < p.head_dim; ++i)
      put(p.element, p.y, t * p.y_stride + h * p.head_dim + i, y[static_cast<size_t>(i)]);
  }
}
inline void run_decode(const gpu::AttentionParams& p) {
  // As the kernel finds them, and leaves them.
  for (int64_t i = 0; i < p.tokens * p.heads; ++i) NEREID_CHECK(static_cast<const int32_t*>(p.workspace)[i] == 0);
  std::memset(static_cast<int32_t*>(p.workspace) + p.tokens * p.heads, 0x7f, 64);
  for (int64_t t = 0; t < p.tokens; ++t) {
    NEREID_CHECK(p.positions[t] < p.max_positions);
    attend(p, t);
  }
}
inline void run_prefill(const gpu::AttentionPrefillParams& p) {
  for (int64_t b = 0; b < p.blocks; ++b) {
    NEREID_CHECK(p.query_begin[b + 1] - p.query_begin[b] <= p.max_queries);
    for (int32_t t = p.query_begin[b]; t < p.query_begin[b + 1]; ++t) {
      NEREID_CHECK(p.common.sequence[t] == p.common.sequence[p.query_begin[b]]);
      NEREID_CHECK(p.common.positions[t] == p.common.positions[p.query_begin[b]] + t - p.query_begin[b]);
      attend(p.common, t);
    }
  }
}

inline void run_scale_add(const gpu::ScaleAddParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int64_t c = 0; c < p.cols; ++c) {
      float v = p.factor * get(p.x_element, p.x, t * p.x_stride + c);
      if (p.b != nullptr) v += get(p.x_element, p.b, t * p.b_stride + c);
      if (p.cap != 0) v = p.cap * std::tanh(v / p.cap);
      put(p.y_element, p.y, t * p.y_stride + c, v);
    }
}
inline void run_gated(const gpu::GatedParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int64_t c = 0; c < p.cols; ++c)
      put(p.element, p.y, t * p.y_stride + c,
          activate(p.activation, get(p.element, p.gate, t * p.gate_stride + c)) *
              (p.up != nullptr ? get(p.element, p.up, t * p.up_stride + c) : 1));
}
inline void run_select_rows(const gpu::SelectRowsParams& p) {
  for (int64_t i = 0; i < p.count; ++i)
    for (int64_t c = 0; c < p.cols; ++c)
      put(p.element, p.y, i * p.y_stride + c, get(p.element, p.x, p.rows[i] * p.x_stride + c));
}
inline void run_embedding(const gpu::EmbeddingParams& p) {
  for (int64_t t = 0; t < p.tokens; ++t)
    for (int64_t c = 0; c < p.weight.cols; ++c)
      put(p.element, p.y, t * p.y_stride + c,
          p.ids[t] < 0 || p.ids[t] >= p.weight.rows ? 0 : p.factor * weight_at(p.weight, p.ids[t], c));
}

// Row by row with everything sorted; sums in doubles.
inline void run_draw_rows(const gpu::DrawRowsParams& p) {
  struct One {
    int32_t token;
    float logit;
    double weight;
  };
  const auto is_better = [](const One& a, const One& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  for (int64_t d = 0; d < p.draws; ++d) {
    const gpu::DrawRule& rule = p.rules[d];
    const float* raw = p.logits + rule.row * p.stride;
    std::vector<One> all, left;
    double total = 0;
    for (int64_t i = 0; i < p.vocab; ++i) {
      all.push_back({static_cast<int32_t>(i), raw[i] == raw[i] ? raw[i] : -INFINITY, 0});
      total += std::exp(static_cast<double>(all.back().logit));
    }
    const double log_total = std::log(total);
    const auto logprob = [&](float logit) {
      if (std::isinf(log_total)) return logit == log_total ? 0 : -INFINITY;
      return static_cast<float>(logit - log_total);
    };
    std::vector<One> best = all;
    std::sort(best.begin(), best.end(), is_better);
    for (int i = 0; i < gpu::kDrawTops && rule.logprobs > 0; ++i) {
      const bool is_one = i < rule.logprobs && i < p.vocab;
      p.top_tokens[d * gpu::kDrawTops + i] = is_one ? best[static_cast<size_t>(i)].token : -1;
      p.top_logprobs[d * gpu::kDrawTops + i] = is_one ? logprob(best[static_cast<size_t>(i)].logit) : -INFINITY;
    }
    for (int32_t e = rule.first_edit; e < rule.first_edit + rule.edits; ++e) {
      float& x = all[static_cast<size_t>(p.edits[e].token)].logit;
      x += p.edits[e].add;
      x = (x > 0 ? x / p.edits[e].factor : x * p.edits[e].factor) - p.edits[e].less;
    }
    const uint32_t* mask = rule.mask < 0 ? nullptr : p.masks + rule.mask * ((p.vocab + 31) / 32);
    for (const One& one : all)
      if (one.logit > -INFINITY && (mask == nullptr || (mask[one.token / 32] >> (one.token % 32) & 1) != 0))
        left.push_back(one);
    p.tokens[d] = -1;
    p.logprobs[d] = 0;
    if (left.empty()) continue;
    const One top = *std::min_element(left.begin(), left.end(), is_better);
    int32_t token = top.token;
    if (rule.kind != gpu::DrawKind::kGreedy && top.logit < INFINITY) {
      const bool has_top_k = rule.top_k > 0 && rule.top_k < p.vocab;
      if (rule.kind == gpu::DrawKind::kFiltered && (has_top_k || rule.top_p < 1)) {
        // Unless they are the k best, those that min-p drops are gone before top-p has its order.
        double sum = 0, so_far = 0;
        if (!has_top_k) {
          for (const One& one : left) sum += std::exp(static_cast<double>(one.logit - top.logit));
          std::erase_if(left, [&](const One& one) { return one.logit < top.logit + rule.log_min_p; });
        }
        std::sort(left.begin(), left.end(), is_better);
        if (has_top_k && left.size() > static_cast<size_t>(rule.top_k)) left.resize(static_cast<size_t>(rule.top_k));
        if (has_top_k)
          for (const One& one : left) sum += std::exp(static_cast<double>(one.logit - top.logit));
        size_t kept = 0;
        while (kept < left.size() && (kept == 0 || so_far < sum * rule.top_p))
          so_far += std::exp(static_cast<double>(left[kept++].logit - top.logit));
        const bool is_reached = so_far >= sum * rule.top_p;
        if (rule.top_p < 1) left.resize(kept);
        // llm/sample's order of these: whole bins of 1/16 by token, then those of the last bin best first.
        const auto bin = [&](const One& one) { return static_cast<int>((top.logit - one.logit) * 16.0F); };
        const int border = is_reached ? bin(left.back()) : 1023;
        if (!has_top_k)
          std::stable_sort(left.begin(), left.end(), [&](const One& a, const One& b) {
            const bool a_in = bin(a) < border, b_in = bin(b) < border;
            return a_in != b_in ? a_in : a_in && a.token < b.token;
          });
      }
      std::erase_if(left, [&](const One& one) { return one.logit < top.logit + rule.log_min_p; });
      double sum = 0;
      for (One& one : left) sum += one.weight = std::exp(static_cast<double>(one.logit - top.logit) / rule.temperature);
      double target = rule.uniform * sum;
      size_t at = 0;
      while (at + 1 < left.size() && (target -= left[at].weight) >= 0) ++at;
      token = left[at].token;
    }
    p.tokens[d] = token;
    if (rule.logprobs >= 0) p.logprobs[d] = logprob(raw[token]);
  }
}

// A kernel that runs, or is kept for the graph.
template <typename P, void (*kRun)(const P&)>
void queued(const P& params, const gpu::Queue& queue) {
  device::FakeDriver::run(queue.stream, [params] { kRun(params); });
}

inline const gpu::KernelTable& test_kernels() {
  static constexpr gpu::KernelTable kTable = {
      .last_error = [] { return 0; },
      .takes_head_dim = [](int head_dim) { return head_dim % 8 == 0; },
      .rope_table = queued<gpu::RopeTableParams, run_rope_table>,
      .rope_kv = queued<gpu::RopeKvParams, run_rope_kv>,
      .attention_decode = queued<gpu::AttentionParams, run_decode>,
      .attention_workspace_bytes = [](int64_t tokens, int heads, int, int64_t) { return tokens * heads * 4 + 64; },
      .attention_prefill = queued<gpu::AttentionPrefillParams, run_prefill>,
      .linear = queued<gpu::LinearParams, run_linear>,
      .linear_workspace_bytes = [](const gpu::Weight&, bool, int64_t) { return int64_t{0}; },
      .rms_norm = queued<gpu::RmsNormParams, run_rms_norm>,
      .layer_norm = nullptr,
      .gated = queued<gpu::GatedParams, run_gated>,
      .scale_add = queued<gpu::ScaleAddParams, run_scale_add>,
      .select_rows = queued<gpu::SelectRowsParams, run_select_rows>,
      .embedding = queued<gpu::EmbeddingParams, run_embedding>,
      .draw_rows = queued<gpu::DrawRowsParams, run_draw_rows>,
      .pack_tile = test_pack_tile};
  return kTable;
}

}  // namespace nereid::runtime::testing
