// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tactic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "kernels/cpu/conv_plan.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {
namespace {

constexpr std::array<std::string_view, 5> kWays = {"gemm", "depthwise", "winograd2", "winograd4", "bf16"};
constexpr std::array<std::string_view, 4> kRows = {"", "in-place", "banded", "gathered"};
constexpr int64_t kMostSize = int64_t{1} << 40;
constexpr int64_t kMostProduct = int64_t{1} << 60;

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMostSize) return std::nullopt;
  return value;
}

// The words of a line, one space between.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text), empty_(text.empty()) {}
  bool empty() const { return empty_; }
  std::string_view next() {
    const size_t space = left_.find(' ');
    const std::string_view word = left_.substr(0, space);
    empty_ = space == std::string_view::npos;
    left_ = empty_ ? std::string_view() : left_.substr(space + 1);
    return word;
  }

 private:
  std::string_view left_;
  bool empty_;
};

// "name=7" or, for two numbers, "name=7x8".
bool read_sizes(std::string_view word, std::string_view name, std::initializer_list<int64_t*> to) {
  if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=') return false;
  std::string_view rest = word.substr(name.size() + 1);
  size_t left = to.size();
  for (int64_t* out : to) {
    const size_t end = --left > 0 ? rest.find('x') : rest.size();
    if (end == std::string_view::npos) return false;
    const std::optional<int64_t> value = number(rest.substr(0, end));
    if (!value) return false;
    *out = *value;
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  return true;
}

bool fits(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t s : sizes) {
    if (s <= 0 || product > kMostProduct / s) return false;
    product *= s;
  }
  return true;
}

bool is_sane(const ConvShape& s) {
  const int64_t input[] = {s.batch, s.in_h, s.in_w, s.in_c, s.kernel_h, s.kernel_w};
  const int64_t output[] = {s.batch, s.out_h, s.out_w, s.out_c, s.in_c, s.kernel_h, s.kernel_w};
  const int64_t reach_h[] = {s.out_h + s.kernel_h, s.stride_h + s.dilation_h};
  const int64_t reach_w[] = {s.out_w + s.kernel_w, s.stride_w + s.dilation_w};
  return fits(input) && fits(output) && fits(reach_h) && fits(reach_w) && s.groups > 0 && s.stride_h > 0 &&
         s.stride_w > 0 && s.dilation_h > 0 && s.dilation_w > 0 && s.in_c % s.groups == 0 && s.out_c % s.groups == 0;
}

bool read_conv(Words& words, ConvShape& s) {
  return read_sizes(words.next(), "n", {&s.batch}) && read_sizes(words.next(), "h", {&s.in_h}) &&
         read_sizes(words.next(), "w", {&s.in_w}) && read_sizes(words.next(), "c", {&s.in_c}) &&
         read_sizes(words.next(), "o", {&s.out_c}) && read_sizes(words.next(), "y", {&s.out_h, &s.out_w}) &&
         read_sizes(words.next(), "k", {&s.kernel_h, &s.kernel_w}) &&
         read_sizes(words.next(), "s", {&s.stride_h, &s.stride_w}) &&
         read_sizes(words.next(), "d", {&s.dilation_h, &s.dilation_w}) &&
         read_sizes(words.next(), "p", {&s.pad_top, &s.pad_left}) && read_sizes(words.next(), "g", {&s.groups}) &&
         words.empty() && is_sane(s);
}

template <size_t N>
std::optional<size_t> index_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<size_t>(it - names.begin());
}

// One "name=value" of a tactic.
bool read_setting(std::string_view word, ConvBlocking& b) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "rows") {
    const std::optional<size_t> rows = index_in(kRows, value);
    if (!rows || *rows == 0) return false;
    b.rows = static_cast<ConvRows>(*rows);
    return true;
  }
  if (name == "tiles" && value == "team") {
    b.tiles = kTeamTiles;
    return true;
  }
  const std::optional<int64_t> n = number(value);
  if (!n || *n == 0) return false;
  const auto put = [&](auto& field, int64_t most) {
    if (*n > most) return false;
    field = static_cast<std::remove_reference_t<decltype(field)>>(*n);
    return true;
  };
  if (name == "band") return put(b.band_kib, 1 << 16);
  if (name == "block") return put(b.gemm.block_kib, 1 << 16);
  if (name == "panels") return (*n == 1 || *n == 2 || *n == 4) && put(b.gemm.panels, 4);
  if (name == "across") return put(b.gemm.across, 64);
  if (name == "tiles") return put(b.tiles, 1 << 16);
  return false;
}

}  // namespace

std::string Problem::text() const {
  const std::string_view type = may_be_bf16 ? "f32|bf16" : "f32";
  if (!is_conv) return fmt::format("gemm {} m={} n={} k={}", type, m, n, k);
  const ConvShape& s = conv;
  return fmt::format("conv {} n={} h={} w={} c={} o={} y={}x{} k={}x{} s={}x{} d={}x{} p={}x{} g={}", type, s.batch,
                     s.in_h, s.in_w, s.in_c, s.out_c, s.out_h, s.out_w, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
                     s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, s.groups);
}

std::string Tactic::text() const {
  std::string text(kWays[static_cast<size_t>(way)]);
  const auto add = [&](std::string_view name, int64_t value) {
    if (value != 0) text += fmt::format(" {}={}", name, value);
  };
  if (blocking.rows != ConvRows::kByRule) text += fmt::format(" rows={}", kRows[static_cast<size_t>(blocking.rows)]);
  add("band", blocking.band_kib);
  add("block", blocking.gemm.block_kib);
  add("panels", blocking.gemm.panels);
  add("across", blocking.gemm.across);
  if (blocking.tiles == kTeamTiles)
    text += " tiles=team";
  else
    add("tiles", blocking.tiles);
  return text;
}

Result<Problem> parse_problem(std::string_view text) {
  const auto refuse = [&] {
    return invalid_argument("'{}' is no problem of a kernel, such as 'gemm f32 m=128 n=384 k=384'",
                            text.substr(0, 200));
  };
  Words words(text);
  Problem problem;
  const std::string_view kind = words.next(), type = words.next();
  if (type != "f32" && type != "f32|bf16") return refuse();
  problem.may_be_bf16 = type == "f32|bf16";
  problem.is_conv = kind == "conv";
  if (problem.is_conv) {
    if (!read_conv(words, problem.conv)) return refuse();
    return problem;
  }
  if (kind != "gemm" || !read_sizes(words.next(), "m", {&problem.m}) || !read_sizes(words.next(), "n", {&problem.n}) ||
      !read_sizes(words.next(), "k", {&problem.k}) || !words.empty())
    return refuse();
  const int64_t sizes[] = {problem.m, problem.n, problem.k};
  if (!fits(sizes)) return refuse();
  return problem;
}

Result<Tactic> parse_tactic(std::string_view text) {
  Words words(text);
  Tactic tactic;
  const std::optional<size_t> way = index_in(kWays, words.next());
  bool good = way.has_value();
  if (good) tactic.way = static_cast<Way>(*way);
  while (good && !words.empty()) good = read_setting(words.next(), tactic.blocking);
  if (!good) return invalid_argument("'{}' is no way to solve a problem, such as 'gemm panels=4'", text.substr(0, 200));
  return tactic;
}

bool solves(const Tactic& tactic, const Problem& problem) {
  const ConvBlocking& b = tactic.blocking;
  const bool is_winograd = tactic.way == Way::kWinograd2 || tactic.way == Way::kWinograd4;
  if (tactic.way == Way::kBF16)
    return problem.may_be_bf16 && b == ConvBlocking{} && !(problem.is_conv && low_conv_is_depthwise(problem.conv));
  if (!is_winograd && b.tiles != 0) return false;
  if (!problem.is_conv) return tactic.way == Way::kGemm && b.rows == ConvRows::kByRule && b.band_kib == 0;
  const ConvShape& s = problem.conv;
  if (!conv_has_algorithm(s, conv_algorithm(tactic.way))) return false;
  if (tactic.way != Way::kGemm) {
    if (b.rows != ConvRows::kByRule || b.band_kib != 0 || b.gemm.across != 0) return false;
    return is_winograd || b == ConvBlocking{};
  }
  const ConvWay way = conv_way(s, b.rows);
  if (b.rows == ConvRows::kInPlace && way != ConvWay::kInPlace) return false;
  if (b.rows == ConvRows::kBanded && way != ConvWay::kBanded) return false;
  return b.band_kib == 0 || way == ConvWay::kBanded;
}

}  // namespace nereid::kernels
