// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_values.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace nereid::server::trace {
namespace {

// The number that a text begins with, whatever follows: so these settings have always been read.
Result<int64_t> read_number(const std::string& name, const std::vector<std::string>& values, int64_t least,
                            int64_t most) {
  if (values.size() != 1) return invalid_argument("expect only 1 value for '{}'", name);
  const std::string& text = values[0];
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument) return invalid_argument("Unable to parse '{}', got: {}", name, text);
  if (error != std::errc() || number > most || number < least)
    return invalid_argument("Unable to parse '{}', value is out of range [ {}, {} ], got: {}", name,
                            std::max<int64_t>(least, -1), most, text);
  return number;
}

Status set_unsigned(const TraceChange& change, std::optional<uint32_t>* out) {
  out->reset();
  if (!change.second) return Status::ok();
  NEREID_TRY(const int64_t number, read_number(change.first, *change.second, 0, std::numeric_limits<uint32_t>::max()));
  *out = static_cast<uint32_t>(number);
  return Status::ok();
}

Status set_count(const TraceChange& change, std::optional<int64_t>* out) {
  out->reset();
  if (!change.second) return Status::ok();
  constexpr int64_t kAny = std::numeric_limits<int64_t>::min();  // what is too small has a sentence of its own
  NEREID_TRY(const int64_t number,
             read_number(change.first, *change.second, kAny, std::numeric_limits<int32_t>::max()));
  if (number < -1) return invalid_argument("Unable to parse 'trace_count'. Expecting value >= -1, got:{}", number);
  *out = number;
  return Status::ok();
}

}  // namespace

Values with(const Values& below, const Overrides& above) {
  return {.level = above.level.value_or(below.level),
          .rate = above.rate.value_or(below.rate),
          .count = above.count.value_or(below.count),
          .log_frequency = above.log_frequency.value_or(below.log_frequency)};
}

bool is_level(const std::string& name) {
  return name == "OFF" || name == "TIMESTAMPS" || name == "TENSORS";
}

void add_level(const std::string& name, uint8_t* level) {
  if (name == "TIMESTAMPS") *level |= kTimestamps;
  if (name == "TENSORS") *level |= kTensors;
}

Status apply(const TraceChange& change, Overrides* out) {
  const std::string& name = change.first;
  if (name == "trace_rate") return set_unsigned(change, &out->rate);
  if (name == "trace_count") return set_count(change, &out->count);
  if (name == "log_frequency") return set_unsigned(change, &out->log_frequency);
  if (name == "trace_file") return unsupported("trace file location can not be updated through network protocol");
  if (name != "trace_level")
    return invalid_argument(
        "there is no trace setting '{}' that can be changed; there are trace_level, trace_rate, trace_count and "
        "log_frequency",
        name);
  if (!change.second) {
    out->level.reset();
    return Status::ok();
  }
  uint8_t level = kOff;
  for (const std::string& one : *change.second) {
    if (one == "OFF" && change.second->size() > 1)
      return invalid_argument("Expect only one trace level 'OFF' is specified");
    if (!is_level(one))
      return invalid_argument("there is no trace level '{}'; there are OFF, TIMESTAMPS and TENSORS", one);
    add_level(one, &level);
  }
  out->level = level;
  return Status::ok();
}

std::vector<TraceSetting> setting_texts(const Values& values, const std::string& file, Mode mode) {
  std::vector<std::string> levels;
  if ((values.level & kTimestamps) != 0) levels.emplace_back("TIMESTAMPS");
  if ((values.level & kTensors) != 0) levels.emplace_back("TENSORS");
  if (levels.empty()) levels.emplace_back("OFF");
  std::vector<TraceSetting> out{{"trace_level", std::move(levels)},
                                {"trace_rate", {std::to_string(values.rate)}},
                                {"trace_count", {std::to_string(values.count)}}};
  if (mode == Mode::kTriton) {
    out.push_back({"log_frequency", {std::to_string(values.log_frequency)}});
    out.push_back({"trace_file", {file}});
  }
  out.push_back({"trace_mode", {mode == Mode::kTriton ? "triton" : "opentelemetry"}});
  return out;
}

}  // namespace nereid::server::trace
