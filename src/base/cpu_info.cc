// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/cpu_limits.h"
#include "base/file.h"

namespace nereid {
namespace {

constexpr std::array<std::string_view, 4> kIsaNames = {"baseline", "avx2", "avx512", "amx"};

constexpr bool has_avx2(const CpuFeatures& f) {
  return f.avx2 && f.fma && f.f16c && f.bmi2;
}
constexpr bool has_avx512(const CpuFeatures& f) {
  return has_avx2(f) && f.avx512f && f.avx512bw && f.avx512vl && f.avx512dq && f.avx512_vnni;
}
constexpr bool has_amx(const CpuFeatures& f) {
  return has_avx512(f) && f.avx512_bf16 && f.amx_tile && f.amx_int8 && f.amx_bf16;
}

std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path, size_t{16} << 20);
  return text.is_ok() ? std::move(*text) : std::string();
}

// /sys describes each cache of CPU 0 in a folder of its own.
void read_caches(CpuInfo& info) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string level(trimmed(text_of(folder + "level"))), type(trimmed(text_of(folder + "type")));
    const int64_t bytes = parse_cache_size(text_of(folder + "size"));
    if (type == "Instruction") continue;
    if (level == "1") info.l1d_bytes = bytes;
    if (level == "2") info.l2_bytes = bytes;
    if (level == "3") info.l3_bytes = bytes;
  }
}

}  // namespace

std::string_view isa_name(Isa isa) {
  return kIsaNames[static_cast<size_t>(isa)];
}

Result<Isa> best_isa(const CpuFeatures& f, std::string_view limit) {
  const Isa best = has_amx(f) ? Isa::amx : has_avx512(f) ? Isa::avx512 : has_avx2(f) ? Isa::avx2 : Isa::baseline;
  if (limit.empty()) return best;
  const auto name = std::find(kIsaNames.begin(), kIsaNames.end(), limit);
  if (name == kIsaNames.end())
    return invalid_argument("expected NEREID_ISA to be baseline, avx2, avx512 or amx, found '{}'", limit);
  return std::min(best, static_cast<Isa>(name - kIsaNames.begin()));
}

Result<Isa> best_isa(const CpuInfo& info) {
  const char* limit = std::getenv("NEREID_ISA");
  NEREID_TRY(const Isa isa, best_isa(info.features, limit ? limit : ""));
  return isa == Isa::amx && !request_amx_permission() ? Isa::avx512 : isa;
}

CpuInfo read_cpu_info() {
  CpuInfo info;
  CpuInfoText text = parse_proc_cpuinfo(text_of("/proc/cpuinfo"));
  info.vendor = std::move(text.vendor);
  info.model = std::move(text.model);
  info.usable_cpus = usable_cpus();
  info.logical_cpus = std::max({1, text.logical_cpus, count_cpu_list(text_of("/sys/devices/system/cpu/online"))});
  info.numa_nodes = std::max(1, count_cpu_list(text_of("/sys/devices/system/node/online")));
  info.features = read_cpu_features();
  read_caches(info);
  info.huge_pages = parse_huge_page_mode(text_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  return info;
}

CpuInfoText parse_proc_cpuinfo(std::string_view text) {
  CpuInfoText info;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "processor") ++info.logical_cpus;
    if (key == "vendor_id" && info.vendor.empty()) info.vendor = value;
    if (key == "model name" && info.model.empty()) info.model = value;
    // arm64 has neither of the two; 0x41 is Arm's own number.
    if (key == "CPU implementer" && info.vendor.empty()) info.vendor = value == "0x41" ? "ARM" : std::string(value);
    if (key == "CPU part" && info.model.empty()) info.model = fmt::format("part {}", value);
  }
  return info;
}

int64_t parse_cache_size(std::string_view text) {
  text = trimmed(text);
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || n < 0 || n > (int64_t{1} << 40)) return 0;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.empty()) return n;
  if (unit == "K") return n << 10;
  if (unit == "M") return n << 20;
  return 0;
}

int count_cpu_list(std::string_view text) {
  constexpr int64_t kMost = 1 << 20;
  text = trimmed(text);
  int64_t count = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    int64_t first = 0, last = 0;
    const char* const stop = part.data() + part.size();
    const auto one = std::from_chars(part.data(), stop, first);
    if (one.ec != std::errc()) return 0;
    last = first;
    if (one.ptr != stop && (*one.ptr != '-' || std::from_chars(one.ptr + 1, stop, last).ec != std::errc())) return 0;
    if (first < 0 || last < first || last >= kMost) return 0;
    count += last - first + 1;
  }
  return static_cast<int>(std::min(count, kMost));
}

std::string parse_huge_page_mode(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace nereid
