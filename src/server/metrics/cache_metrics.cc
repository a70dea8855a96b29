// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/cache_metrics.h"

#include <fmt/format.h>

#include <iterator>

#include "server/metrics/family_row.h"
#include "server/metrics/model_labels.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

struct CacheFamily {
  std::string_view name, help;
  double (*value)(const CacheFigures& figures);
};

constexpr CacheFamily kCacheFamilies[] = {
    {"nv_cache_util", "Cache utilization [0.0 - 1.0]",
     [](const CacheFigures& f) {
       return f.capacity == 0 ? 0.0 : static_cast<double>(f.bytes) / static_cast<double>(f.capacity);
     }},
    {"nv_cache_num_entries", "Number of responses stored in response cache",
     [](const CacheFigures& f) { return static_cast<double>(f.entries); }},
    {"nv_cache_num_hits", "Number of cache hits in response cache",
     [](const CacheFigures& f) { return static_cast<double>(f.hits); }},
    {"nv_cache_num_misses", "Number of cache misses in response cache",
     [](const CacheFigures& f) { return static_cast<double>(f.misses); }},
    {"nv_cache_num_lookups", "Number of cache lookups in response cache",
     [](const CacheFigures& f) { return static_cast<double>(f.lookups); }},
    {"nv_cache_num_evictions", "Number of cache evictions in response cache",
     [](const CacheFigures& f) { return static_cast<double>(f.evictions); }},
    {"nv_cache_lookup_duration", "Total cache lookup duration (hit and miss), in microseconds",
     [](const CacheFigures& f) { return static_cast<double>(f.lookup_ns / 1000); }},
    {"nv_cache_insertion_duration", "Total cache insertion duration, in microseconds",
     [](const CacheFigures& f) { return static_cast<double>(f.insertion_ns / 1000); }},
};

struct ModelFamily {
  std::string_view name, help;
  uint64_t (*value)(const InferStatistics& statistics);
};

constexpr ModelFamily kModelFamilies[] = {
    {"nv_cache_num_hits_per_model", "Number of cache hits per model",
     [](const InferStatistics& s) { return s.cache_hit.count; }},
    {"nv_cache_num_misses_per_model", "Number of cache misses per model",
     [](const InferStatistics& s) { return s.cache_miss.count; }},
    {"nv_cache_hit_duration_per_model", "Total cache hit duration per model, in microseconds",
     [](const InferStatistics& s) { return s.cache_hit.ns / 1000; }},
    {"nv_cache_miss_duration_per_model", "Total cache miss (insert+lookup) duration per model, in microseconds",
     [](const InferStatistics& s) { return s.cache_miss.ns / 1000; }},
};

}  // namespace

std::vector<FamilyRow> cache_families() {
  std::vector<FamilyRow> out;
  for (const ModelFamily& family : kModelFamilies) out.push_back({family.name, "counter", family.help});
  for (const CacheFamily& family : kCacheFamilies) out.push_back({family.name, "gauge", family.help});
  return out;
}

std::string cache_metrics_text(const std::optional<CacheFigures>& figures,
                               const std::vector<std::shared_ptr<InferModel>>& models) {
  std::string out;
  const auto to = std::back_inserter(out);
  std::vector<std::pair<const InferModel*, InferStatistics>> cached;
  for (const auto& model : models)
    if (InferStatistics statistics = model->statistics(); statistics.has_cache)
      cached.emplace_back(model.get(), std::move(statistics));
  if (!cached.empty())
    for (const ModelFamily& family : kModelFamilies) {
      fmt::format_to(to, "# HELP {} {}\n# TYPE {} counter\n", family.name, family.help, family.name);
      for (const auto& [model, statistics] : cached)
        fmt::format_to(to, "{}{{{}}} {}\n", family.name, model_labels(*model), family.value(statistics));
    }
  if (figures)
    for (const CacheFamily& family : kCacheFamilies)
      fmt::format_to(to, "# HELP {} {}\n# TYPE {} gauge\n{} {}\n", family.name, family.help, family.name, family.name,
                     number_text(family.value(*figures)));
  return out;
}

}  // namespace nereid::server::metrics
