// SPDX-License-Identifier: Apache-2.0
// Reading an einsum's equation.
#include "ops/einsum_equation.h"

#include <algorithm>
#include <map>
#include <string>

namespace nereid::ops {
namespace {

constexpr int kEllipsis = 256;

// The labels of one term; an ellipsis becomes `ellipsis` labels, as many as the rank leaves if that is negative.
Result<std::vector<int>> parse_term(std::string_view term, int rank, int ellipsis) {
  int letters = 0;
  const size_t dots = term.find("...");
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) i += 3;
    if (i == term.size()) break;
    const char c = term[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return invalid_argument("'{}' in the term '{}' is no label: labels are letters", c, term);
    ++letters;
  }
  if (dots == std::string_view::npos) ellipsis = 0;
  if (ellipsis < 0) ellipsis = rank - letters;
  if (ellipsis < 0 || (rank >= 0 && letters + ellipsis != rank))
    return invalid_argument("the term '{}' has {} labels for {} dimensions", term, letters, rank);
  std::vector<int> labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (int e = ellipsis; e-- > 0;) labels.push_back(kEllipsis + e);
      i += 2;
    } else {
      labels.push_back(term[i]);
    }
  }
  return labels;
}

// The result of an equation without "->": the ellipsis, then labels that appear once, in alphabetical order.
std::vector<int> implied_result(const std::vector<std::vector<int>>& terms, int ellipsis) {
  std::map<int, int> count;
  for (const auto& term : terms)
    for (int label : term) ++count[label];
  std::vector<int> result;
  for (int e = ellipsis; e-- > 0;) result.push_back(kEllipsis + e);
  for (const auto& [label, times] : count)
    if (label < kEllipsis && times == 1) result.push_back(label);
  return result;
}

}  // namespace

Result<EinsumEquation> parse_einsum(std::string_view equation, std::span<const int> ranks) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  EinsumEquation parsed;
  int ellipsis = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == ranks.size()))
      return invalid_argument("the equation '{}' does not have one term for each of {} operands", equation,
                              ranks.size());
    NEREID_TRY(auto labels, parse_term(left.substr(0, comma), ranks[i], -1));
    ellipsis =
        std::max(ellipsis, static_cast<int>(std::ranges::count_if(labels, [](int l) { return l >= kEllipsis; })));
    parsed.terms.push_back(std::move(labels));
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    parsed.result = implied_result(parsed.terms, ellipsis);
    return parsed;
  }
  NEREID_TRY(parsed.result, parse_term(std::string_view(text).substr(arrow + 2), -1, ellipsis));
  for (auto label = parsed.result.begin(); label != parsed.result.end(); ++label) {
    if (std::find(parsed.result.begin(), label, *label) != label)
      return invalid_argument("the result of '{}' names a label twice", equation);
    if (*label < kEllipsis &&
        std::ranges::none_of(parsed.terms, [&](const auto& t) { return std::ranges::count(t, *label) > 0; }))
      return invalid_argument("the label '{}' of the result of '{}' is in no operand", static_cast<char>(*label),
                              equation);
  }
  return parsed;
}

}  // namespace nereid::ops
