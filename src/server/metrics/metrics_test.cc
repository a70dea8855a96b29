// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "server/metrics/latency_windows.h"
#include "server/metrics/metrics_config.h"
#include "server/metrics/process_figures.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Registry, writes_what_the_format_asks_for) {
  Registry registry;
  registry.counter(Metric::kRequests, {"m", "stop"}).add(3);
  registry.counter(Metric::kRequests, {"m", "stop"}).add(2);
  registry.ask(Metric::kRequestsRunning, {"m"}, [] { return 1.5; });
  EXPECT_EQ(registry.text(),
            "# HELP nereid_requests_total choices that have ended: stop, length, cancelled, timeout, failed; and "
            "requests that were refused\n"
            "# TYPE nereid_requests_total counter\n"
            "nereid_requests_total{model=\"m\",outcome=\"stop\"} 5\n"
            "# HELP nereid_requests_running requests in the batch\n"
            "# TYPE nereid_requests_running gauge\n"
            "nereid_requests_running{model=\"m\"} 1.5\n");
}

TEST(Registry, counts_into_the_buckets_up_to_a_bound) {
  Registry registry;
  Histogram& h = registry.histogram(Metric::kTimeToFirstToken, {"m"});
  h.observe(0.005);  // bounds belong to their bucket
  h.observe(0.0051);
  h.observe(1e9);
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr("nereid_time_to_first_token_seconds_bucket{model=\"m\",le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("nereid_time_to_first_token_seconds_bucket{model=\"m\",le=\"0.01\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("nereid_time_to_first_token_seconds_bucket{model=\"m\",le=\"120\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("nereid_time_to_first_token_seconds_bucket{model=\"m\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("nereid_time_to_first_token_seconds_count{model=\"m\"} 3\n"));
}

TEST(Registry, escapes_what_names_may_hold) {
  EXPECT_EQ(escape_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(escape_help("a\"b\\c\nd"), "a\"b\\\\c\\nd");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(number_text(12), "12");
}

TEST(Registry, forgets_what_goes_away_and_keeps_its_totals) {
  Registry registry;
  registry.ask(Metric::kPages, {"gone"}, [] { return 1.0; });
  registry.ask(Metric::kPages, {"stays"}, [] { return 2.0; });
  registry.counter(Metric::kPromptTokens, {"gone"}).add(1);
  registry.forget("model", "gone");
  const std::string text = registry.text();
  EXPECT_THAT(text, Not(HasSubstr("nereid_cache_pages{model=\"gone\"}")));
  EXPECT_THAT(text, HasSubstr("nereid_cache_pages{model=\"stays\"} 2"));
  EXPECT_THAT(text, HasSubstr("nereid_prompt_tokens_total{model=\"gone\"} 1"));
}

TEST(Registry, loses_nothing_of_many_threads) {
  Registry registry;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        registry.counter(Metric::kAnswerTokens, {"m"}).add(1);
        registry.histogram(Metric::kInterToken, {"m"}).observe(0.5);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.counter(Metric::kAnswerTokens, {"m"}).value(), 40'000);
  const Histogram::Snapshot s = registry.histogram(Metric::kInterToken, {"m"}).snapshot();
  EXPECT_EQ(s.cumulative.back(), 40'000);
  EXPECT_EQ(s.sum, 20'000.0);
}

TEST(MetricsConfig, is_read_as_the_option_writes_it) {
  const std::vector<std::string> texts{"summary_latencies=true", "counter_latencies=false",
                                       "summary_quantiles=0.5:0.05,0.999:0.001"};
  const auto config = parse_metrics_config(texts);
  ASSERT_TRUE(config.is_ok());
  EXPECT_TRUE(config->summaries);
  EXPECT_FALSE(config->counters);
  EXPECT_FALSE(config->histograms);
  EXPECT_THAT(config->quantiles, ::testing::ElementsAre(0.5, 0.999));
  for (const char* wrong : {"summary_latencies", "summary_latencies=maybe", "colour=red", "summary_quantiles=2:0.1",
                            "summary_quantiles=x"}) {
    const std::vector<std::string> one{wrong};
    EXPECT_FALSE(parse_metrics_config(one).is_ok()) << wrong;
  }
}

constexpr int64_t kSecond = 1'000'000'000;

TEST(LatencyWindows, are_what_was_counted_in_the_last_minute) {
  LatencyWindows windows;
  LatencyWindows::Counts counts{};
  LatencyCounts& requests = counts[static_cast<size_t>(LatencyPhase::kRequest)];
  const auto recent = [&](int64_t now_s) {
    return windows.recent("m", LatencyPhase::kRequest, requests, now_s * kSecond).count;
  };
  windows.sample("m", counts, 0);
  requests.add(1000, 10);
  EXPECT_EQ(recent(1), 10u);  // all, where less than a minute is known
  for (int64_t s = 2; s <= 90; s += 2) windows.sample("m", counts, s * kSecond);
  EXPECT_EQ(recent(90), 0u);
  requests.add(1000, 5);
  windows.sample("m", counts, 92 * kSecond);
  EXPECT_EQ(recent(93), 5u);
  for (int64_t s = 94; s <= 300; s += 2) windows.sample("m", counts, s * kSecond);
  EXPECT_EQ(recent(300), 0u);
}

TEST(LatencyWindows, begin_anew_with_a_model_that_was_loaded_anew) {
  LatencyWindows windows;
  LatencyWindows::Counts old{}, fresh{};
  old[0].add(1000, 100);
  windows.sample("m", old, 0);
  windows.sample("m", old, 100 * kSecond);
  fresh[0].add(1000, 3);
  windows.sample("m", fresh, 101 * kSecond);
  EXPECT_EQ(windows.recent("m", LatencyPhase::kRequest, fresh[0], 102 * kSecond).count, 3u);
}

TEST(ProcessFigures, are_those_of_a_process_at_work) {
  Registry registry;
  add_process_metrics(registry);
  const std::string text = registry.text();
  for (const char* name :
       {"nereid_process_cpu_seconds_total ", "nereid_process_resident_memory_bytes ", "nereid_process_open_fds ",
        "nereid_process_max_fds ", "nereid_process_start_time_seconds "}) {
    const size_t at = text.find("\n" + std::string(name));
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(std::stod(text.substr(at + 1 + std::string(name).size())), 0) << name;
  }
}

}  // namespace
}  // namespace nereid::server::metrics
