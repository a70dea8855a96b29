// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.h"

#include <algorithm>

namespace nereid::tune {
namespace {

using kernels::ConvBlocking;
using kernels::ConvRows;
using kernels::Tactic;
using kernels::Way;

// F(2x2) has 16/9 and F(4x4) 36/9 of the weights, and the latter about ten times the rounding error: they must earn it.
double handicap_of(Way way) {
  return way == Way::kWinograd4 ? 0.06 : way == Way::kWinograd2 ? 0.03 : 0;
}

class List {
 public:
  List(const CandidateQuery& query, const Level& level) : query_(query), level_(level) { add(query.rule); }

  std::vector<Candidate> make() {
    if (level_.algorithms)
      for (Way way : {Way::kGemm, Way::kDepthwise, Way::kWinograd2, Way::kWinograd4, Way::kBF16})
        add({.way = way, .blocking = {}});
    const std::vector<Candidate> plain = list_;
    if (level_.blockings > 0)
      for (size_t i = 0; i < plain.size(); ++i) {
        variant_of_ = i;
        cut(plain[i].tactic, level_.blockings >= 3 ? 2 : 1);
      }
    return std::move(list_);
  }

 private:
  void add(const Tactic& tactic) {
    if (!kernels::solves(tactic, query_.problem)) return;
    if (std::ranges::find(list_, tactic, &Candidate::tactic) != list_.end()) return;
    list_.push_back({tactic, handicap_of(tactic.way), variant_of_});
  }

  // The tactic with one setting more, and with `depth` of them.
  void cut(const Tactic& tactic, int depth) {
    if (depth == 0) return;
    const auto put = [&](auto set) {
      Tactic t = tactic;
      set(t.blocking);
      if (t == tactic) return;
      const size_t before = list_.size();
      add(t);
      if (list_.size() > before) cut(t, depth - 1);
    };
    const bool all = level_.blockings >= 2;
    const ConvBlocking& b = tactic.blocking;
    if (b.rows == ConvRows::kByRule)
      for (ConvRows rows : {ConvRows::kGathered, ConvRows::kBanded, ConvRows::kInPlace})
        put([&](ConvBlocking& c) { c.rows = rows; });
    if (b.gemm.panels == 0)
      for (int panels : {1, 2, 4}) put([&](ConvBlocking& c) { c.gemm.panels = static_cast<int8_t>(panels); });
    if (b.gemm.block_kib == 0)
      for (int kib : {96, 192, 384, 768, 1536})
        if (all || kib == 192 || kib == 1536) put([&](ConvBlocking& c) { c.gemm.block_kib = kib; });
    if (b.gemm.across == 0 && query_.workers > 1)
      for (int across = 1; across <= query_.workers && across <= 64; across *= 2)
        put([&](ConvBlocking& c) { c.gemm.across = static_cast<int8_t>(across); });
    if (b.tiles == 0)
      for (int32_t tiles : {14, 28, 56, 112, kernels::kTeamTiles})
        if (all || tiles == 28 || tiles == kernels::kTeamTiles) put([&](ConvBlocking& c) { c.tiles = tiles; });
    if (b.band_kib == 0 && all)
      for (int kib : {64, 128, 512, 1024}) put([&](ConvBlocking& c) { c.band_kib = kib; });
  }

  const CandidateQuery& query_;
  const Level& level_;
  std::vector<Candidate> list_;
  std::optional<size_t> variant_of_;
};

}  // namespace

std::vector<Candidate> candidates(const CandidateQuery& query, const Level& level) {
  return List(query, level).make();
}

}  // namespace nereid::tune
