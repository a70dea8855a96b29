// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_options.h"

#include <charconv>
#include <limits>

namespace nereid::server::trace {
namespace {

constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();

Result<int64_t> read_number(std::string_view setting, std::string_view text, int64_t least) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > kMost)
    return invalid_argument("--trace-config: '{}' takes a number from {} to {}, found '{}'", setting, least, kMost,
                            text);
  return number;
}

Status set_global(const std::string& name, const std::string& value, Options* out) {
  if (name == "rate") {
    NEREID_TRY(const int64_t rate, read_number(name, value, 0));
    out->values.rate = static_cast<uint32_t>(rate);
  } else if (name == "count") {
    NEREID_TRY(out->values.count, read_number(name, value, -1));
  } else if (name == "level") {
    if (!is_level(value))
      return invalid_argument("--trace-config: 'level' is OFF, TIMESTAMPS or TENSORS, found '{}'", value);
    add_level(value, &out->values.level);
  } else if (name == "mode") {
    if (value != "triton" && value != "opentelemetry")
      return invalid_argument("--trace-config: 'mode' is triton or opentelemetry, found '{}'", value);
    out->mode = value == "triton" ? Mode::kTriton : Mode::kOtlp;
  } else {
    return invalid_argument(
        "--trace-config: there is no setting '{}'; there are rate, level, count and mode, and those that begin with "
        "'triton,' or 'opentelemetry,'",
        name);
  }
  return Status::ok();
}

Status set_triton(const std::string& name, const std::string& value, Options* out) {
  if (name == "file") {
    out->file = value;
    return Status::ok();
  }
  if (name != "log-frequency")
    return invalid_argument("--trace-config: there is no setting 'triton,{}'; there are file and log-frequency", name);
  NEREID_TRY(const int64_t every, read_number(name, value, 0));
  out->values.log_frequency = static_cast<uint32_t>(every);
  return Status::ok();
}

Status set_otlp(const std::string& name, const std::string& value, OtlpOptions* out) {
  if (name == "url") {
    out->url = value;
  } else if (name == "resource") {
    const size_t equals = value.find('=');
    if (equals == value.npos || equals == 0)
      return invalid_argument("--trace-config: 'opentelemetry,resource' takes KEY=VALUE, found '{}'", value);
    out->resource.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  } else if (name == "bsp_max_queue_size") {
    NEREID_TRY(out->max_queue, read_number(name, value, 1));
  } else if (name == "bsp_schedule_delay") {
    NEREID_TRY(out->delay_ms, read_number(name, value, 1));
  } else if (name == "bsp_max_export_batch_size") {
    NEREID_TRY(out->max_batch, read_number(name, value, 1));
  } else {
    return invalid_argument(
        "--trace-config: there is no setting 'opentelemetry,{}'; there are url, resource, bsp_max_queue_size, "
        "bsp_schedule_delay and bsp_max_export_batch_size",
        name);
  }
  return Status::ok();
}

}  // namespace

Result<Options> parse_options(std::span<const std::string> texts) {
  Options out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos)
      return invalid_argument("--trace-config takes SETTING=VALUE or MODE,SETTING=VALUE, found '{}'", text);
    const std::string value = text.substr(equals + 1);
    const std::string left = text.substr(0, equals);
    const size_t comma = left.find(',');
    if (comma == left.npos) {
      NEREID_RETURN_IF_ERROR(set_global(left, value, &out));
      continue;
    }
    const std::string mode = left.substr(0, comma), name = left.substr(comma + 1);
    if (mode == "triton") {
      NEREID_RETURN_IF_ERROR(set_triton(name, value, &out));
    } else if (mode == "opentelemetry") {
      NEREID_RETURN_IF_ERROR(set_otlp(name, value, &out.otlp));
    } else {
      return invalid_argument("--trace-config: there is no mode '{}'; there are triton and opentelemetry", mode);
    }
  }
  if (out.mode == Mode::kOtlp && (out.values.level & kTensors) != 0)
    return invalid_argument("--trace-config: tensors are written in mode triton alone; take level=TIMESTAMPS");
  return out;
}

}  // namespace nereid::server::trace
