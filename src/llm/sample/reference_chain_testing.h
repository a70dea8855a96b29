// SPDX-License-Identifier: Apache-2.0
// For tests only: the chain written down naively, in double precision, with whole sorts and whole texts;
// make_goldens.py is the same in numpy, and goldens_test.cc holds the sampler to it.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "llm/sample/grammar.h"
#include "llm/sample/philox.h"
#include "llm/sample/sample_testing.h"

namespace nereid::sample {

struct ReferenceInput {
  const SamplingParams& params;
  const Vocabulary& vocabulary;
  const std::vector<float>& logits;
  const std::vector<int32_t>& history;
  size_t step;
  std::span<const uint32_t> mask;
  double mirostat_mu;
};

class ReferenceChain {
 public:
  // Probabilities by token; the tokens left have one above 0. `is_close`: a filter's border lies within rounding of a
  // token, so that either side is right.
  explicit ReferenceChain(const ReferenceInput& in) : in_(in), p_(in.params) {
    x_.assign(in.logits.begin(), in.logits.end());
    if (!change(true)) change(false);
    for (size_t t = 0; t < x_.size(); ++t)
      if (x_[t] > -kInf) order_.push_back(t);
    sort_order();
    if (p_.is_greedy()) {
      order_.resize(1);
      return;
    }
    if (p_.mirostat != 0) {
      temperature();
      mirostat();
      return;
    }
    sigma();
    if (p_.top_k > 0 && order_.size() > static_cast<size_t>(p_.top_k)) order_.resize(static_cast<size_t>(p_.top_k));
    typical();
    top_p();
    min_p();
    xtc();
    temperature();
  }

  std::map<int32_t, double> probabilities() const {
    const std::vector<double> q = softmax_left();
    std::map<int32_t, double> out;
    for (size_t i = 0; i < order_.size(); ++i) out[static_cast<int32_t>(order_[i])] = q[i];
    return out;
  }
  bool is_close() const { return is_close_; }

 private:
  bool bans(size_t t, bool soft) const {
    const auto token = static_cast<int32_t>(t);
    const auto has = [&](const std::vector<int32_t>& list) {
      return std::find(list.begin(), list.end(), token) != list.end();
    };
    const bool ends = in_.vocabulary.is_end(token) || has(p_.stop_token_ids);
    if (!in_.mask.empty() && !is_allowed(in_.mask, token)) return true;
    if (!p_.allowed_token_ids.empty() && !has(p_.allowed_token_ids) && !ends) return true;
    std::vector<int32_t> answer(in_.history.end() - static_cast<std::ptrdiff_t>(in_.step), in_.history.end());
    std::string said;
    for (int32_t a : answer) said += in_.vocabulary.piece(a);
    const std::string now = said + std::string(in_.vocabulary.piece(token));
    for (const std::string& word : p_.bad_words)
      for (size_t at = now.find(word); at != std::string::npos; at = now.find(word, at + 1))
        if (at + word.size() > said.size()) return true;
    answer.push_back(token);
    for (const auto& bad : p_.bad_token_ids)
      if (answer.size() >= bad.size() && std::equal(bad.rbegin(), bad.rend(), answer.rbegin())) return true;
    if (!soft) return false;
    if (ends && (p_.ignore_eos != 0 || in_.step < static_cast<size_t>(p_.min_tokens))) return true;
    const auto n = static_cast<size_t>(p_.no_repeat_ngram_size);
    std::vector<int32_t> all = in_.history;
    all.push_back(token);
    for (size_t i = 0; n > 0 && i + n < all.size(); ++i)
      if (std::equal(all.end() - static_cast<std::ptrdiff_t>(n), all.end(),
                     all.begin() + static_cast<std::ptrdiff_t>(i)))
        return true;
    return false;
  }

  double dry_penalty(int32_t token) const {
    std::vector<int32_t> h = in_.history;
    if (p_.dry_penalty_last_n >= 0 && h.size() > static_cast<size_t>(p_.dry_penalty_last_n))
      h.erase(h.begin(), h.end() - p_.dry_penalty_last_n);
    std::string text;
    std::vector<size_t> starts;
    for (int32_t t : h) {
      starts.push_back(text.size());
      text += in_.vocabulary.piece(t);
    }
    size_t limit = h.size();
    for (const std::string& breaker : p_.dry_sequence_breakers) {
      const size_t at = text.rfind(breaker);
      if (at == std::string::npos) continue;
      limit = std::min<size_t>(limit, static_cast<size_t>(std::count_if(starts.begin(), starts.end(), [&](size_t s) {
                                 return s >= at + breaker.size();
                               })));
    }
    size_t longest = 0;
    for (size_t end = 1; end < h.size(); ++end) {
      size_t n = 0;
      while (n < end && n < limit && h[end - 1 - n] == h[h.size() - 1 - n]) ++n;
      if (h[end] == token) longest = std::max(longest, n);
    }
    const auto allowed = static_cast<size_t>(p_.dry_allowed_length);
    return longest < allowed ? 0 : p_.dry_multiplier * std::pow(p_.dry_base, static_cast<double>(longest - allowed));
  }

  // False where the bans leave nothing.
  bool change(bool soft) {
    bool any = false;
    for (size_t t = 0; t < x_.size(); ++t) {
      const auto token = static_cast<int32_t>(t);
      double x = in_.logits[t];
      if (const auto bias = p_.logit_bias.find(token); bias != p_.logit_bias.end()) x += bias->second;
      if (p_.has_penalties()) {
        const auto n = p_.penalty_last_n < 0 ? in_.history.size()
                                             : std::min(in_.history.size(), static_cast<size_t>(p_.penalty_last_n));
        const auto count = std::count(in_.history.end() - static_cast<std::ptrdiff_t>(n), in_.history.end(), token);
        if (count > 0) {
          x = x > 0 ? x / p_.repetition_penalty : x * p_.repetition_penalty;
          x -= static_cast<double>(count) * p_.frequency_penalty + p_.presence_penalty;
        }
      }
      if (p_.has_dry()) x -= dry_penalty(token);
      x_[t] = bans(t, soft) ? -kInf : x;
      any = any || x_[t] > -kInf;
    }
    return any;
  }

  void sort_order() {
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return x_[a] > x_[b]; });
  }

  std::vector<double> softmax_left() const {
    std::vector<double> q;
    double sum = 0;
    for (size_t t : order_) {
      q.push_back(std::exp(x_[t] - x_[order_[0]]));
      sum += q.back();
    }
    for (double& v : q) v /= sum;
    return q;
  }

  void note_border(double value, double border) {
    if (std::abs(value - border) < 1e-5 * std::max(1.0, std::abs(border))) is_close_ = true;
  }

  void sigma() {
    if (p_.top_n_sigma <= 0) return;
    double mean = 0, squares = 0;
    for (size_t t : order_) mean += x_[t] / static_cast<double>(order_.size());
    for (size_t t : order_) squares += (x_[t] - mean) * (x_[t] - mean);
    const double bound = x_[order_[0]] - p_.top_n_sigma * std::sqrt(squares / static_cast<double>(order_.size()));
    for (size_t t : order_) note_border(x_[t], bound);
    std::erase_if(order_, [&](size_t t) { return x_[t] < bound; });
  }

  void typical() {
    if (p_.typical_p >= 1) return;
    const std::vector<double> q = softmax_left();
    double entropy = 0;
    for (double v : q) entropy -= v > 0 ? v * std::log(v) : 0;
    std::vector<size_t> by(order_.size());
    std::iota(by.begin(), by.end(), size_t{0});
    const auto distance = [&](size_t i) { return std::abs(-std::log(q[i]) - entropy); };
    std::stable_sort(by.begin(), by.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
    double sum = 0;
    std::vector<size_t> kept;
    for (size_t i = 0; i < by.size() && (i == 0 || sum <= p_.typical_p); ++i) {
      sum += q[by[i]];
      note_border(sum, p_.typical_p);
      if (i + 1 < by.size()) note_border(distance(by[i]), distance(by[i + 1]));
      kept.push_back(order_[by[i]]);
    }
    order_ = kept;
    sort_order();
  }

  void top_p() {
    if (p_.top_p >= 1) return;
    const std::vector<double> q = softmax_left();
    size_t kept = 0;
    for (double sum = 0; kept < q.size() && (kept == 0 || sum < p_.top_p);) {
      sum += q[kept++];
      note_border(sum, p_.top_p);
    }
    order_.resize(kept);
  }

  void min_p() {
    if (p_.min_p <= 0) return;
    const double bound = x_[order_[0]] + std::log(p_.min_p);
    for (size_t t : order_) note_border(x_[t], bound);
    std::erase_if(order_, [&](size_t t) { return x_[t] < bound; });
  }

  void xtc() {
    if (p_.xtc_probability <= 0 || p_.xtc_threshold > 0.5F || uniform(p_.seed, in_.step, 1) >= p_.xtc_probability)
      return;
    const std::vector<double> q = softmax_left();
    size_t above = 0;
    for (double v : q) {
      note_border(v, p_.xtc_threshold);
      above += v >= p_.xtc_threshold ? 1 : 0;
    }
    if (above >= 2) order_.erase(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(above - 1));
  }

  void temperature() {
    double t = p_.temperature;
    if (p_.dynatemp_range > 0) {
      if (order_.size() < 2) return;
      double entropy = 0;
      for (double v : softmax_left()) entropy -= v > 0 ? v * std::log(v) : 0;
      const double low = std::max(0.0F, p_.temperature - p_.dynatemp_range);
      t = low + (p_.temperature + p_.dynatemp_range - low) *
                    std::pow(entropy / std::log(static_cast<double>(order_.size())), p_.dynatemp_exponent);
    }
    for (size_t i : order_) x_[i] /= t;
  }

  void mirostat() {
    const std::vector<double> q = softmax_left();
    size_t kept = 0;
    if (p_.mirostat == 2) {
      for (double v : q) {
        note_border(-std::log2(v), in_.mirostat_mu);
        kept += -std::log2(v) <= in_.mirostat_mu ? 1 : 0;
      }
    } else {
      double products = 0, squares = 0;
      for (size_t i = 0; i + 1 < std::min<size_t>(q.size(), 100); ++i) {
        const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
        products += t * std::log(q[i] / q[i + 1]);
        squares += t * t;
      }
      const double s = squares > 0 ? products / squares : 0;
      const double e = s - 1;
      const double k =
          s > 0 ? std::pow(e * std::exp2(in_.mirostat_mu) / (1 - std::pow(static_cast<double>(x_.size()), -e)), 1 / s)
                : std::exp2(in_.mirostat_mu);
      note_border(k, std::round(k));
      kept = k < static_cast<double>(q.size()) ? static_cast<size_t>(std::max(k, 1.0)) : q.size();
    }
    order_.resize(std::max<size_t>(kept, 1));
  }

  const ReferenceInput& in_;
  const SamplingParams& p_;
  std::vector<double> x_;
  std::vector<size_t> order_;  // tokens left, best first
  bool is_close_ = false;
};

}  // namespace nereid::sample
