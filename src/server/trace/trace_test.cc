// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/test_dir.h"
#include "server/trace/otlp_spans.h"
#include "server/trace/trace_center.h"
#include "server/trace/trace_text.h"

namespace nereid::server::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string value_of(const Tracer& tracer, const std::string& model, const std::string& name) {
  for (const auto& [key, values] : tracer.settings(model))
    if (key == name) return values.empty() ? "" : values.front();
  return "none";
}

Options traced(uint32_t rate, int64_t count = -1) {
  return {.mode = Mode::kTriton,
          .values = {.level = kTimestamps, .rate = rate, .count = count, .log_frequency = 0},
          .file = {},
          .otlp = {}};
}

TEST(TraceOptions, are_read_as_the_option_writes_them) {
  const std::vector<std::string> texts{"level=TIMESTAMPS", "level=TENSORS",           "rate=3",     "count=7",
                                       "triton,file=a=b",  "triton,log-frequency=10", "mode=triton"};
  const auto options = parse_options(texts);
  ASSERT_TRUE(options.is_ok()) << options.status().message();
  EXPECT_EQ(options->values.level, kTimestamps | kTensors);
  EXPECT_EQ(options->values.rate, 3u);
  EXPECT_EQ(options->values.count, 7);
  EXPECT_EQ(options->values.log_frequency, 10u);
  EXPECT_EQ(options->file, "a=b");
}

TEST(TraceOptions, refuse_what_is_not_there_with_what_is) {
  for (const char* text : {"rate", "rate=x", "rate=-1", "count=-2", "level=ALL", "speed=1", "triton,colour=red",
                           "jaeger,file=x", "mode=jaeger", "opentelemetry,resource=x"}) {
    const std::vector<std::string> texts{text};
    EXPECT_FALSE(parse_options(texts).is_ok()) << text;
  }
}

TEST(Tracer, takes_every_so_many_requests_until_the_count_is_over) {
  const auto tracer = make_tracer(traced(3, 2));
  std::vector<bool> taken;
  for (int i = 0; i < 10; ++i)
    taken.push_back(tracer->begin({.model = "m", .request_id = "", .traceparent = ""}) != nullptr);
  EXPECT_THAT(taken, ElementsAre(false, false, true, false, false, true, false, false, false, false));
  EXPECT_EQ(value_of(*tracer, "", "trace_count"), "0");
}

TEST(Tracer, a_model_keeps_what_it_has_of_its_own_and_follows_the_server_elsewhere) {
  const TestDir folder;
  const auto tracer = make_tracer({.file = folder / "trace.json"});
  ASSERT_TRUE(tracer->change("m", {{"trace_rate", {{"5"}}}}).is_ok());
  ASSERT_TRUE(tracer->change("", {{"trace_rate", {{"9"}}}, {"trace_level", {{"TIMESTAMPS"}}}}).is_ok());
  EXPECT_EQ(value_of(*tracer, "m", "trace_rate"), "5");
  EXPECT_EQ(value_of(*tracer, "m", "trace_level"), "TIMESTAMPS");
  EXPECT_EQ(value_of(*tracer, "other", "trace_rate"), "9");
  ASSERT_TRUE(tracer->change("m", {{"trace_rate", std::nullopt}}).is_ok());
  EXPECT_EQ(value_of(*tracer, "m", "trace_rate"), "9");
  ASSERT_TRUE(tracer->change("", {{"trace_rate", std::nullopt}}).is_ok());
  EXPECT_EQ(value_of(*tracer, "", "trace_rate"), "1000");
}

TEST(Tracer, a_change_with_a_mistake_changes_nothing) {
  const auto tracer = make_tracer({});
  EXPECT_EQ(tracer->change("", {{"trace_rate", {{"5"}}}, {"trace_count", {{"-2"}}}}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(tracer->change("", {{"trace_file", {{"x"}}}}).code(), StatusCode::kUnsupported);
  EXPECT_EQ(tracer->change("", {{"trace_level", {{"OFF", "TENSORS"}}}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(tracer->change("", {{"trace_level", {{"TIMESTAMPS"}}}}).code(), StatusCode::kInvalidArgument);  // no file
  EXPECT_EQ(value_of(*tracer, "", "trace_rate"), "1000");
}

Json read_json(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  EXPECT_TRUE(text.is_ok()) << path;
  const auto json = parse_json(text.is_ok() ? *text : "null");
  EXPECT_TRUE(json.is_ok()) << path;
  return json.is_ok() ? *json : Json();
}

TEST(TraceFiles, hold_a_request_its_times_and_the_models_it_led_to) {
  const TestDir folder;
  const std::string path = folder / "trace.json";
  {
    Options options = traced(1);
    options.file = path;
    const auto tracer = make_tracer(options);
    const auto request = tracer->begin({.model = "outer", .version = 2, .request_id = "a\"b", .traceparent = ""});
    ASSERT_NE(request, nullptr);
    request->mark(TraceMark::kRequestStart, 10);
    request->mark(TraceMark::kRequestEnd, 90);
    request->child("inner", 1, "a\"b")->mark(TraceMark::kComputeStart, 30);
  }
  const Json trace = read_json(path);
  ASSERT_EQ(trace.size(), 5u) << trace.dump();
  EXPECT_EQ(trace[0].dump(), R"({"id":1,"model_name":"outer","model_version":2,"request_id":"a\"b"})");
  EXPECT_EQ(trace[2].dump(), R"({"id":1,"timestamps":[{"name":"REQUEST_END","ns":90}]})");
  EXPECT_EQ(trace[3].dump(), R"({"id":2,"model_name":"inner","model_version":1,"parent_id":1,"request_id":"a\"b"})");
  EXPECT_EQ(trace[4].dump(), R"({"id":2,"timestamps":[{"name":"COMPUTE_START","ns":30}]})");
}

TEST(TraceFiles, are_numbered_where_each_holds_so_many_traces) {
  const TestDir folder;
  const std::string path = folder / "trace.json";
  {
    Options options = traced(1);
    options.file = path;
    options.values.log_frequency = 2;
    const auto tracer = make_tracer(options);
    for (int i = 0; i < 5; ++i)
      tracer->begin({.model = "m", .request_id = "", .traceparent = ""})->mark(TraceMark::kRequestStart, 1);
    (void)tracer->begin({.model = "m", .request_id = "", .traceparent = ""});  // that no model took
  }
  EXPECT_EQ(read_json(path + ".0").size(), 4u);
  EXPECT_EQ(read_json(path + ".1").size(), 4u);
  EXPECT_EQ(read_json(path).size(), 2u);
}

TEST(TraceFiles, have_tensors_where_they_are_wanted) {
  const TestDir folder;
  const std::string path = folder / "trace.json";
  {
    Options options = traced(1);
    options.values.level = kTensors;
    options.file = path;
    const auto tracer = make_tracer(options);
    const auto request = tracer->begin({.model = "m", .request_id = "", .traceparent = ""});
    ASSERT_TRUE(request->wants_tensors());
    request->mark(TraceMark::kRequestStart, 10);
    request->tensor(TraceTensor::kQueueInput, tensor_of("x", InferType::kInt32, {1, 2}, std::vector<int32_t>{4, -5}));
  }
  const Json trace = read_json(path);
  ASSERT_EQ(trace.size(), 2u) << trace.dump();
  EXPECT_EQ(trace[1]["activity"], "TENSOR_QUEUE_INPUT");
  EXPECT_EQ(trace[1]["tensor"]["data"], "4,-5");
  EXPECT_EQ(trace[1]["tensor"]["shape"], "1,2");
  EXPECT_EQ(trace[1]["tensor"]["dtype"], "INT32");
}

FinishedTrace finished(std::string traceparent) {
  TracedModel model{.id = 1, .parent_id = 0, .model = "m", .request_id = "r", .version = 1, .marks = {}, .tensors = {}};
  const auto set = [&](TraceMark mark, int64_t at) { model.marks[static_cast<size_t>(mark)] = at; };
  set(TraceMark::kHttpRecvStart, 100), set(TraceMark::kRequestStart, 200), set(TraceMark::kComputeStart, 300);
  set(TraceMark::kComputeEnd, 400), set(TraceMark::kRequestEnd, 500), set(TraceMark::kHttpSendEnd, 600);
  return {.traceparent = std::move(traceparent), .models = {std::move(model)}};
}

TEST(OtlpSpans, are_the_request_the_model_and_its_computing) {
  uint64_t next = 0;
  const SpanIds ids{.random = [&next] { return next += 16; }, .unix_offset_ns = 1'000'000};
  const std::vector<std::string> spans = spans_of(finished(""), ids);
  ASSERT_EQ(spans.size(), 3u);
  const std::vector<std::pair<std::string, std::string>> resource{{"service.name", "here"}};
  const auto read = parse_json(export_text(spans, resource));
  ASSERT_TRUE(read.is_ok());
  const Json& all = (*read)["resourceSpans"][0]["scopeSpans"][0]["spans"];
  EXPECT_EQ((*read)["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"], "here");
  EXPECT_EQ(all[0]["name"], "InferRequest");
  EXPECT_EQ(all[0]["startTimeUnixNano"], "1000100");
  EXPECT_EQ(all[0]["endTimeUnixNano"], "1000600");
  EXPECT_EQ(all[1]["name"], "m");
  EXPECT_EQ(all[1]["parentSpanId"], all[0]["spanId"]);
  EXPECT_EQ(all[2]["name"], "compute");
  EXPECT_EQ(all[2]["parentSpanId"], all[1]["spanId"]);
  EXPECT_EQ(all[2]["events"].size(), 2u);
  for (const Json& span : all) EXPECT_EQ(span["traceId"], all[0]["traceId"]);
}

TEST(OtlpSpans, go_on_with_a_trace_that_came_with_the_request) {
  const SpanIds ids{.random = [] { return uint64_t{1}; }, .unix_offset_ns = 0};
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_THAT(spans_of(finished(parent), ids)[0], HasSubstr(R"("traceId":"0af7651916cd43dd8448eb211c80319c")"));
  EXPECT_THAT(spans_of(finished(parent), ids)[0], HasSubstr(R"("parentSpanId":"b7ad6b7169203331")"));
  for (const char* wrong : {"00-x", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"})
    EXPECT_THAT(spans_of(finished(wrong), ids)[0], ::testing::Not(HasSubstr("parentSpanId"))) << wrong;
}

}  // namespace
}  // namespace nereid::server::trace
