// SPDX-License-Identifier: Apache-2.0
#include "server/trace/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nereid::server::trace {
namespace {

void append_model(std::string* out, const TracedModel& model, bool has_timestamps) {
  const auto to = std::back_inserter(*out);
  fmt::format_to(to, "{{\"id\":{},\"model_name\":", model.id);
  append_json_text(out, model.model);
  fmt::format_to(to, ",\"model_version\":{}", model.version);
  if (!model.request_id.empty()) {
    *out += ",\"request_id\":";
    append_json_text(out, model.request_id);
  }
  if (model.parent_id != 0) fmt::format_to(to, ",\"parent_id\":{}", model.parent_id);
  *out += '}';
  std::array<size_t, static_cast<size_t>(TraceMark::kCount)> order{};
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return model.marks[a] < model.marks[b]; });
  for (const size_t i : order)
    if (has_timestamps && model.marks[i] != 0)
      fmt::format_to(to, ",{{\"id\":{},\"timestamps\":[{{\"name\":\"{}\",\"ns\":{}}}]}}", model.id,
                     mark_name(static_cast<TraceMark>(i)), model.marks[i]);
  for (const TracedTensor& tensor : model.tensors) {
    fmt::format_to(to, ",{{\"id\":{},\"activity\":\"{}\",\"tensor\":{{\"name\":", model.id, tensor_name(tensor.where));
    append_json_text(out, tensor.name);
    *out += ",\"data\":";
    append_json_text(out, tensor.data);
    fmt::format_to(to, ",\"shape\":\"{}\",\"dtype\":\"{}\"}}}}", tensor.shape, tensor.datatype);
  }
}

}  // namespace

void append_json_text(std::string* out, std::string_view text) {
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      *out += c;
    }
  }
  *out += '"';
}

std::string trace_text(const FinishedTrace& trace, bool has_timestamps) {
  std::string out;
  for (const TracedModel& model : trace.models) {
    if (!out.empty()) out += ',';
    append_model(&out, model, has_timestamps);
  }
  return out;
}

}  // namespace nereid::server::trace
