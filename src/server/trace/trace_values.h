// SPDX-License-Identifier: Apache-2.0
// The settings of tracing: their values, how requests write them, and which scope a value comes from. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/tracer.h"

namespace nereid::server::trace {

enum class Mode : uint8_t { kTriton, kOtlp };

// What is noted, as bits.
inline constexpr uint8_t kOff = 0, kTimestamps = 1, kTensors = 2;

struct Values {
  uint8_t level = kOff;
  uint32_t rate = 1000;        // every so many requests one is traced
  int64_t count = -1;          // that are still to be traced; -1: any number
  uint32_t log_frequency = 0;  // traces in a file; 0: all in one
};

// What of them a model has of its own, or was changed; nothing: as the scope above has it.
struct Overrides {
  std::optional<uint8_t> level;
  std::optional<uint32_t> rate;
  std::optional<int64_t> count;
  std::optional<uint32_t> log_frequency;
  bool any() const { return level || rate || count || log_frequency; }
};

Values with(const Values& below, const Overrides& above);
// kInvalidArgument and kUnsupported as Tracer::change.
Status apply(const TraceChange& change, Overrides* out);
bool is_level(const std::string& name);
// "OFF", "TIMESTAMPS", "TENSORS"; others change nothing, as they always did.
void add_level(const std::string& name, uint8_t* level);
std::vector<TraceSetting> setting_texts(const Values& values, const std::string& file, Mode mode);

}  // namespace nereid::server::trace
