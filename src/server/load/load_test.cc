// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "server/load/load_client.h"
#include "server/load/load_figures.h"
#include "server/load/load_report.h"
#include "server/load/planned_request.h"
#include "server/load/response_reader.h"

namespace nereid::server::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  ResponseReader reader;
  std::string body;
  size_t left = 0;  // bytes that were not taken
};

Read read_in_pieces(std::string_view text, size_t step) {
  Read r;
  while (!text.empty()) {
    const size_t n = std::min(step, text.size());
    const size_t taken = r.reader.feed(text.substr(0, n), [&](std::string_view piece) { r.body += piece; });
    text.remove_prefix(taken);
    if (taken < n) break;
  }
  r.left = text.size();
  return r;
}

TEST(ResponseReader, reads_the_same_however_it_is_cut) {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTRANSFER-encoding: Chunked\r\nX: y\r\n\r\n"
      "3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: z\r\n\r\nHTTP/1.1";
  for (const size_t step : {size_t{1}, size_t{5}, size_t{1000}}) {
    const Read r = read_in_pieces(text, step);
    EXPECT_TRUE(r.reader.is_done());
    EXPECT_EQ(r.reader.status(), 200);
    EXPECT_EQ(r.body, "abc0123456789");
    EXPECT_EQ(r.left, 8U) << "what follows belongs to the next";
    EXPECT_TRUE(r.reader.keeps_alive());
  }
}

TEST(ResponseReader, knows_where_bodies_end) {
  const Read length = read_in_pieces("HTTP/1.1 404 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab", 3);
  EXPECT_TRUE(length.reader.is_done());
  EXPECT_FALSE(length.reader.keeps_alive());
  Read open = read_in_pieces("HTTP/1.0 200 OK\r\n\r\nall", 100);
  EXPECT_FALSE(open.reader.is_done());
  open.reader.end();
  EXPECT_TRUE(open.reader.is_done());
  Read cut = read_in_pieces("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", 100);
  cut.reader.end();
  EXPECT_TRUE(cut.reader.is_failed());
  EXPECT_TRUE(read_in_pieces("HTTP/1.1 204 No\r\n\r\n", 100).reader.is_done());
}

TEST(ResponseReader, refuses_what_is_no_response) {
  for (const char* text : {"hello\r\n", "HTTP/1.1 x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"})
    EXPECT_TRUE(read_in_pieces(text, 100).reader.is_failed()) << text;
  EXPECT_TRUE(read_in_pieces(std::string(1 << 20, 'x'), 4096).reader.is_failed());
}

TEST(EventReader, gives_the_data_of_events) {
  std::vector<std::string> events;
  EventReader reader;
  for (const char c :
       std::string("data: one\n\n: comment\ndata:two\r\ndata: lines\r\n\r\nevent: x\n\ndata: [DONE]\n\n"))
    reader.feed(std::string_view(&c, 1), [&](std::string_view e) { events.emplace_back(e); });
  EXPECT_THAT(events, ElementsAre("one", "two\nlines", "[DONE]"));
}

TEST(EventReader, tells_text_from_roles_and_usage) {
  EXPECT_TRUE(brings_text(R"({"choices":[{"delta":{"content":"x"}}]})"));
  EXPECT_TRUE(brings_text(R"({"choices":[{"text": " "}]})"));
  EXPECT_TRUE(brings_text(R"({"choices":[{"delta":{"role":"assistant","content":""}},{"delta":{"content":"y"}}]})"));
  EXPECT_FALSE(brings_text(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})"));
  EXPECT_FALSE(brings_text(R"({"choices":[{"delta":{"content":null}}]})"));
  EXPECT_FALSE(brings_text(R"({"choices":[],"usage":{"prompt_tokens":3}})"));
}

TEST(Plan, arrivals_by_chance_have_the_mean_and_the_spread_of_their_rate) {
  const auto plan = poisson_plan(20'000, 50, 3, 4, 7);
  EXPECT_EQ(plan.front().at_us, 0);
  std::vector<double> gaps;
  for (size_t i = 1; i < plan.size(); ++i)
    gaps.push_back(1e-6 * static_cast<double>(plan[i].at_us - plan[i - 1].at_us));
  const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
  double squares = 0;
  for (const double gap : gaps) squares += (gap - mean) * (gap - mean);
  EXPECT_NEAR(mean, 0.02, 0.0005);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(gaps.size())), 0.02, 0.001);  // an exponential's is its mean
  EXPECT_EQ(poisson_plan(5, 50, 3, 4, 7)[4].at_us, plan[4].at_us);
  EXPECT_NE(poisson_plan(5, 50, 3, 4, 8)[4].at_us, plan[4].at_us);
}

TEST(Plan, traces_of_both_kinds_are_read_and_sorted) {
  const auto plan = parse_trace(
                        "{\"timestamp\": 3000, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": [1]}\n\n"
                        "{\"at_s\": 2.5, \"prompt_tokens\": 7, \"answer_tokens\": 0}\r\n",
                        2)
                        .value();
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].prompt_tokens, 7);
  EXPECT_EQ(plan[0].answer_tokens, 1);
  EXPECT_EQ(plan[0].at_us, 0);
  EXPECT_EQ(plan[1].at_us, 250'000);
  for (const char* wrong : {"", "x", "{}", "{\"at_s\":-1,\"prompt_tokens\":1,\"answer_tokens\":1}",
                            "{\"at_s\":1,\"prompt_tokens\":\"1\",\"answer_tokens\":1}",
                            "{\"at_s\":1,\"prompt_tokens\":1e300,\"answer_tokens\":1}"})
    EXPECT_EQ(parse_trace(wrong, 1).status().code() == StatusCode::kOk, false) << wrong;
  EXPECT_THAT(parse_trace("{\"at_s\":1,\"prompt_tokens\":1,\"answer_tokens\":1}\nx", 1).status().message(),
              HasSubstr("line 2"));
}

TEST(Plan, prompts_share_what_they_are_to_share) {
  const std::string a = prompt_text(20, 10, 1), b = prompt_text(20, 10, 2);
  EXPECT_NE(a, b);
  EXPECT_EQ(std::count(a.begin(), a.end(), ' '), 19);
  size_t same = 0, words = 0;
  while (a[same] == b[same]) words += a[same++] == ' ';
  EXPECT_GE(words, 10U);
  EXPECT_EQ(prompt_text(20, 10, 1), a);
}

// numpy.percentile([15, 20, 35, 40, 50], [50, 90, 95, 99]) = 35, 46, 48, 49.6
TEST(Figures, percentiles_are_numpys) {
  const Spread s = spread_of({50, 15, 40, 20, 35});
  EXPECT_DOUBLE_EQ(s.p50, 35);
  EXPECT_DOUBLE_EQ(s.p90, 46);
  EXPECT_DOUBLE_EQ(s.p95, 48);
  EXPECT_DOUBLE_EQ(s.p99, 49.6);
  EXPECT_DOUBLE_EQ(s.max, 50);
  EXPECT_DOUBLE_EQ(s.mean, 32);
  EXPECT_EQ(spread_of({}).p99, 0);
}

RequestFigures figures(int64_t due_ms, int64_t first_ms, std::vector<int64_t> gaps_ms) {
  RequestFigures r;
  r.due_ns = due_ms * 1'000'000 + 1;
  r.first_ns = first_ms * 1'000'000 + 1;
  r.end_ns = r.first_ns;
  for (const int64_t gap : gaps_ms) {
    r.gaps_ns.push_back(gap * 1'000'000);
    r.end_ns += gap * 1'000'000;
  }
  r.answer_tokens = static_cast<int64_t>(gaps_ms.size()) + 1;
  r.prompt_tokens = 10;
  r.status = 200;
  return r;
}

TEST(Figures, a_summary_counts_what_went_well_and_what_was_good) {
  std::vector<RequestFigures> all = {figures(0, 100, {10, 30}), figures(100, 600, {50, 50, 50})};
  RequestFigures failed;
  failed.due_ns = 1;
  failed.end_ns = 2'000'000'001;
  failed.error = "HTTP 503: full";
  all.push_back(failed);
  const LoadSummary s = summarize("x", 2, all, parse_service_level("ttft=0.2s,itl=25").value());
  EXPECT_EQ(s.requests, 3);
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.first_error, "HTTP 503: full");
  EXPECT_DOUBLE_EQ(s.seconds, 2);
  EXPECT_DOUBLE_EQ(s.requests_per_second, 1);
  EXPECT_DOUBLE_EQ(s.answer_tokens_per_second, 3.5);
  EXPECT_DOUBLE_EQ(s.ttft_ms.max, 500);
  EXPECT_DOUBLE_EQ(s.itl_ms.p50, 50);
  EXPECT_DOUBLE_EQ(s.tpot_ms.mean, 35);
  EXPECT_DOUBLE_EQ(s.goodput_per_second, 0.5);  // the first: 100 ms, then 20 ms a token
  EXPECT_NEAR(s.goodput_share, 1.0 / 3, 1e-9);
}

TEST(Figures, service_levels_have_units) {
  const ServiceLevel level = parse_service_level("ttft=500ms,itl=0.05s,e2e=20s").value();
  EXPECT_EQ(level.ttft_ms, 500);
  EXPECT_EQ(level.itl_ms, 50);
  EXPECT_EQ(level.e2e_ms, 20'000);
  EXPECT_FALSE(parse_service_level("").value().any());
  for (const char* wrong : {"ttft", "ttft=", "ttft=-1", "ttft=1m", "tftt=1", "ttft=nan", "itl=1,,"})
    EXPECT_FALSE(parse_service_level(wrong).is_ok()) << wrong;
}

TEST(Target, urls_are_taken_apart) {
  const LoadTarget plain = parse_target("http://localhost:8000/v1/").value();
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, 8000);
  EXPECT_EQ(plain.base, "");
  EXPECT_EQ(parse_target("http://[::1]:81/x").value().host, "::1");
  EXPECT_EQ(parse_target("http://[::1]").value().port, 80);
  EXPECT_EQ(parse_target("http://h/x/").value().base, "/x");
  EXPECT_EQ(parse_target("unix:/a/b").value().host, "/a/b");
  EXPECT_EQ(parse_target("https://h").status().code(), StatusCode::kUnsupported);
  for (const char* wrong : {"http://", "http://:80", "http://h:x", "http://h:0", "http://h:65536", "ftp://h"})
    EXPECT_FALSE(parse_target(wrong).is_ok()) << wrong;
}

TEST(Report, says_the_same_in_every_form) {
  std::vector<RequestFigures> all = {figures(0, 100, {10, 30})};
  RequestFigures failed;
  failed.end_ns = 1;
  failed.error = "a \"quoted\" error\nof two lines <b>";
  all.push_back(failed);
  LoadReport report{
      .url = "http://x", .model = "m<script>", .endpoint = "/v1/completions", .service_level = {}, .runs = {}};
  for (const double level : {1.0, 2.0})
    report.runs.push_back(
        {.summary = summarize(fmt::format("concurrency {}", level), level, all, {}), .requests = all});
  EXPECT_THAT(load_table(report), HasSubstr("| concurrency 1 |        2 |      1 |"));
  EXPECT_EQ(load_json(report)["results"][1]["failed"], 1);
  EXPECT_THAT(load_csv(report), HasSubstr("\"a \"\"quoted\"\" error of two lines <b>\"\n"));
  const std::string page = load_page(report);
  EXPECT_THAT(page, HasSubstr("m&lt;script&gt;"));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_EQ(page.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace nereid::server::load
