// SPDX-License-Identifier: Apache-2.0
#include "server/trace/otlp_spans.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/trace/trace_text.h"

namespace nereid::server::trace {
namespace {

using enum TraceMark;

constexpr TraceMark kOfRequest[] = {kHttpRecvStart, kHttpRecvEnd, kGrpcWaitReadStart, kGrpcWaitReadEnd,
                                    kHttpSendStart, kHttpSendEnd, kGrpcSendStart,     kGrpcSendEnd};
constexpr TraceMark kOfModel[] = {kRequestStart, kQueueStart, kResponseComplete, kRequestEnd};
constexpr TraceMark kOfCompute[] = {kComputeStart, kComputeInputEnd, kComputeOutputStart, kComputeEnd};

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// "00-<32 hex digits>-<16 hex digits>-<2 hex digits>", neither id all zeros; empty otherwise.
std::pair<std::string_view, std::string_view> parent_of(std::string_view text) {
  if (text.size() != 55 || text.substr(0, 3) != "00-" || text[35] != '-' || text[52] != '-') return {};
  const std::string_view trace = text.substr(3, 32), span = text.substr(36, 16);
  const auto is_zero = [](std::string_view t) { return t.find_first_not_of('0') == t.npos; };
  if (!is_hex(trace) || !is_hex(span) || is_zero(trace) || is_zero(span)) return {};
  return {trace, span};
}

struct Time {
  int64_t begin = 0, end = 0;
};

template <size_t N>
Time time_of(const TracedModel& model, const TraceMark (&marks)[N]) {
  Time time;
  for (const TraceMark mark : marks) {
    const int64_t at = model.at(mark);
    if (at == 0) continue;
    time.begin = time.begin == 0 ? at : std::min(time.begin, at);
    time.end = std::max(time.end, at);
  }
  return time;
}

class Writer {
 public:
  Writer(const FinishedTrace& trace, const SpanIds& ids) : ids_(ids) {
    const auto [from, parent] = parent_of(trace.traceparent);
    trace_id_ = from.empty() ? fmt::format("{:016x}{:016x}", ids.random() | 1, ids.random()) : std::string(from);
    parent_ = parent;
  }

  std::string new_id() const { return fmt::format("{:016x}", ids_.random() | 1); }
  const std::string& outer() const { return parent_; }

  template <size_t N>
  std::string span(const TracedModel& model, std::string_view name, const std::string& id, const std::string& parent,
                   int kind, Time time, const TraceMark (&marks)[N], const std::string& attributes) const {
    std::string out = fmt::format("{{\"traceId\":\"{}\",\"spanId\":\"{}\"", trace_id_, id);
    if (!parent.empty()) out += fmt::format(",\"parentSpanId\":\"{}\"", parent);
    out += ",\"name\":";
    append_json_text(&out, name);
    out += fmt::format(",\"kind\":{},\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\",\"attributes\":[{}]", kind,
                       unix_ns(time.begin), unix_ns(time.end), attributes);
    out += ",\"events\":[";
    bool is_first = true;
    for (const TraceMark mark : marks) {
      if (model.at(mark) == 0) continue;
      out += fmt::format("{}{{\"timeUnixNano\":\"{}\",\"name\":\"{}\"}}", is_first ? "" : ",", unix_ns(model.at(mark)),
                         mark_name(mark));
      is_first = false;
    }
    return out + "],\"status\":{}}";
  }

 private:
  int64_t unix_ns(int64_t at) const { return at + ids_.unix_offset_ns; }

  const SpanIds& ids_;
  std::string trace_id_, parent_;
};

std::string text_attribute(std::string_view key, std::string_view value) {
  std::string out = fmt::format("{{\"key\":\"{}\",\"value\":{{\"stringValue\":", key);
  append_json_text(&out, value);
  return out + "}}";
}

std::string attributes_of(const TracedModel& model) {
  std::string out = text_attribute("triton.model_name", model.model) +
                    fmt::format(
                        ",{{\"key\":\"triton.model_version\",\"value\":{{\"intValue\":\"{}\"}}}}"
                        ",{{\"key\":\"triton.trace_parent_id\",\"value\":{{\"intValue\":\"{}\"}}}}",
                        model.version, model.parent_id);
  if (!model.request_id.empty()) out += "," + text_attribute("triton.request_id", model.request_id);
  return out;
}

}  // namespace

std::vector<std::string> spans_of(const FinishedTrace& trace, const SpanIds& ids) {
  std::vector<std::string> out;
  if (trace.models.empty()) return out;
  const Writer writer(trace, ids);
  std::vector<std::string> span_of(trace.models.size());
  for (std::string& id : span_of) id = writer.new_id();
  const std::string request_id = writer.new_id();
  const TracedModel& root = trace.models.front();
  // An answer may be on its way before its execution is over; what led to another lasts as long as that.
  std::vector<Time> times;
  std::vector<size_t> parents(trace.models.size(), 0);
  for (size_t i = 0; i < trace.models.size(); ++i) {
    times.push_back(time_of(trace.models[i], kOfModel));
    times[i].end = std::max(times[i].end, time_of(trace.models[i], kOfCompute).end);
    for (size_t j = 0; j < i; ++j)
      if (trace.models[j].id == trace.models[i].parent_id) parents[i] = j;
  }
  for (size_t i = times.size(); i-- > 1;) times[parents[i]].end = std::max(times[parents[i]].end, times[i].end);
  Time whole = time_of(root, kOfRequest);
  whole.begin = whole.begin == 0 ? times[0].begin : whole.begin;
  whole.end = std::max(whole.end, times[0].end);
  constexpr int kInternal = 1, kServer = 2;  // SpanKind
  out.push_back(writer.span(root, "InferRequest", request_id, writer.outer(), kServer, whole, kOfRequest, ""));
  for (size_t i = 0; i < trace.models.size(); ++i) {
    const TracedModel& model = trace.models[i];
    const std::string& parent = i == 0 ? request_id : span_of[parents[i]];
    out.push_back(
        writer.span(model, model.model, span_of[i], parent, kInternal, times[i], kOfModel, attributes_of(model)));
    if (const Time compute = time_of(model, kOfCompute); compute.begin != 0)
      out.push_back(writer.span(model, "compute", writer.new_id(), span_of[i], kInternal, compute, kOfCompute, ""));
  }
  return out;
}

std::string export_text(std::span<const std::string> spans,
                        std::span<const std::pair<std::string, std::string>> resource) {
  std::string out = "{\"resourceSpans\":[{\"resource\":{\"attributes\":[";
  bool has_name = false;
  for (const auto& [key, value] : resource) {
    has_name |= key == "service.name";
    std::string name;
    append_json_text(&name, key);
    if (!out.ends_with('[')) out += ',';
    out += "{\"key\":" + name + ",\"value\":{\"stringValue\":";
    append_json_text(&out, value);
    out += "}}";
  }
  if (!has_name) {
    if (!out.ends_with('[')) out += ',';
    out += text_attribute("service.name", "triton-inference-server");
  }
  out += "]},\"scopeSpans\":[{\"scope\":{\"name\":\"nereid\"},\"spans\":[";
  for (size_t i = 0; i < spans.size(); ++i) {
    if (i > 0) out += ',';
    out += spans[i];
  }
  return out + "]}]}]}";
}

}  // namespace nereid::server::trace
