// SPDX-License-Identifier: Apache-2.0
#include "tune/timing_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "kernels/cpu/tactic.h"
#include "tune/level.h"

namespace nereid::tune {
namespace {

constexpr std::string_view kTitle =
    "# nereid timing cache 1: device, problem, tactic, level, times in us, reason; tabs between\n";
constexpr int64_t kMostBytes = int64_t{64} << 20;
constexpr size_t kMostLine = 16 << 10;

std::string_view cut(std::string_view& text, std::string_view mark) {
  const size_t at = text.find(mark);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
  return head;
}

bool is_printable(std::string_view text) {
  for (char c : text)
    if (c < ' ' || c == '\x7f') return false;  // bytes past ASCII are negative: none is written
  return true;
}

bool is_tactic_for(std::string_view text, const kernels::Problem& problem) {
  const Result<kernels::Tactic> tactic = kernels::parse_tactic(text);
  return tactic.is_ok() && kernels::solves(*tactic, problem);
}

std::optional<double> microseconds(std::string_view text) {
  double us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(us) || us <= 0) return std::nullopt;
  return us;
}

bool read_times(std::string_view text, const kernels::Problem& problem, std::vector<TimedTactic>& timed) {
  while (!text.empty()) {
    std::string_view entry = cut(text, "; ");
    const std::string_view tactic = cut(entry, ": ");
    TimedTactic t{.tactic = std::string(tactic), .given_up = entry.ends_with('+')};
    if (t.given_up) entry.remove_suffix(1);
    const std::optional<double> us = microseconds(entry);
    if (!us || !is_tactic_for(tactic, problem)) return false;
    t.us = *us;
    timed.push_back(std::move(t));
  }
  return true;
}

struct Line {
  std::string device;
  ProblemChoice choice;
};

std::optional<Line> read_line(std::string_view line) {
  if (line.size() > kMostLine) return std::nullopt;
  std::array<std::string_view, 6> fields;
  for (std::string_view& field : fields) {
    field = cut(line, "\t");
    if (!is_printable(field)) return std::nullopt;
  }
  const auto& [device, problem, tactic, level, times, reason] = fields;
  const Result<kernels::Problem> parsed = kernels::parse_problem(problem);
  if (!line.empty() || device.empty() || reason.empty() || !parsed.is_ok() || parsed->text() != problem)
    return std::nullopt;
  if (level.size() != 1 || level[0] < '0' || level[0] > '0' + kMostLevel) return std::nullopt;
  Line out{.device = std::string(device),
           .choice = {.problem = std::string(problem),
                      .rule = {},
                      .chosen = std::string(tactic),
                      .timed = {},
                      .reason = std::string(reason),
                      .level = level[0] - '0',
                      .from_cache = true}};
  if (!is_tactic_for(tactic, *parsed) || !read_times(times, *parsed, out.choice.timed)) return std::nullopt;
  return out;
}

}  // namespace

TimingCache TimingCache::parse(std::string_view text) {
  TimingCache cache;
  for (int64_t number = 1; !text.empty(); ++number) {
    std::string_view line = cut(text, "\n");
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    if (const std::optional<Line> read = read_line(line)) {
      cache.put(read->device, read->choice);
    } else if (cache.skipped_++ == 0) {
      cache.first_skipped_line_ = number;
    }
  }
  return cache;
}

Result<TimingCache> TimingCache::read(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  if (status.type() == std::filesystem::file_type::not_found) return TimingCache();
  if (status.type() != std::filesystem::file_type::regular)
    return invalid_argument("the timing cache {} is no file", path);
  NEREID_TRY(const std::string text, read_file(path, kMostBytes));
  return parse(text);
}

std::string TimingCache::print() const {
  std::string text(kTitle);
  for (const auto& [key, choice] : entries_) {
    text += fmt::format("{}\t{}\t{}\t{}\t", key.first, key.second, choice.chosen, choice.level);
    for (size_t i = 0; i < choice.timed.size(); ++i)
      text += fmt::format("{}{}: {:.2f}{}", i > 0 ? "; " : "", choice.timed[i].tactic,
                          std::max(choice.timed[i].us, 0.01), choice.timed[i].given_up ? "+" : "");
    text += fmt::format("\t{}\n", choice.reason);
  }
  return text;
}

const ProblemChoice* TimingCache::find(const DeviceKey& device, std::string_view problem, int level) const {
  const auto it = entries_.find({device.text(), std::string(problem)});
  return it != entries_.end() && it->second.level >= level ? &it->second : nullptr;
}

void TimingCache::add(const DeviceKey& device, const ProblemChoice& choice) {
  put(device.text(), choice);
}

void TimingCache::put(const std::string& device, const ProblemChoice& choice) {
  const auto [it, is_new] = entries_.try_emplace({device, choice.problem}, choice);
  if (!is_new && choice.level > it->second.level) it->second = choice;
}

void TimingCache::merge(const TimingCache& other) {
  for (const auto& [key, choice] : other.entries_) put(key.first, choice);
}

std::map<std::string, std::string, std::less<>> TimingCache::choices(const DeviceKey& device) const {
  std::map<std::string, std::string, std::less<>> out;
  const std::string name = device.text();
  for (auto it = entries_.lower_bound({name, ""}); it != entries_.end() && it->first.first == name; ++it)
    out.emplace(it->first.second, it->second.chosen);
  return out;
}

std::string TimingCache::warning(const std::string& path) const {
  if (skipped_ == 0) return {};
  return fmt::format("{} of the timing cache {} {} no answer of this version and {} skipped, line {} first",
                     skipped_ == 1 ? std::string("one line") : fmt::format("{} lines", skipped_), path,
                     skipped_ == 1 ? "is" : "are", skipped_ == 1 ? "was" : "were", first_skipped_line_);
}

}  // namespace nereid::tune
