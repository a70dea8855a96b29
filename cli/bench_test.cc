// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/bench_report.h"
#include "cli/process_memory.h"

namespace nereid::cli {
namespace {

BenchResult result(BenchCase what, std::vector<double> seconds, double bytes) {
  return {.what = what, .seconds = std::move(seconds), .bytes = bytes};
}

BenchReport sample_report() {
  BenchReport report{.model = "m.gguf",
                     .description = "llama q4_1",
                     .weight_bytes = 100 << 20,
                     .parameters = 134515008,
                     .isa = "avx512",
                     .threads = 2,
                     .load_ms = 50.25,
                     .peak_bytes = 110 << 20,
                     .roof_bytes_per_second = 20e9};
  report.results.push_back(result({.kind = BenchCase::Kind::kPrompt, .tokens = 512}, {0.5, 0.25, 1.0}, 1e8));
  report.results.push_back(result({.kind = BenchCase::Kind::kGenerate, .tokens = 128, .batch = 8}, {1.0, 2.0}, 12.8e9));
  return report;
}

TEST(Bench, the_median_of_an_even_number_is_the_mean_of_the_middle_two) {
  EXPECT_DOUBLE_EQ(result({.tokens = 1}, {3, 1, 2}, 0).median_seconds(), 2);
  EXPECT_DOUBLE_EQ(result({.tokens = 1}, {4, 1, 2, 3}, 0).median_seconds(), 2.5);
  EXPECT_DOUBLE_EQ(result({.tokens = 1}, {4, 1, 2, 3}, 0).best_seconds(), 1);
}

TEST(Bench, tokens_per_second_count_all_sequences_of_a_batch) {
  const BenchResult r = result({.kind = BenchCase::Kind::kGenerate, .tokens = 128, .batch = 8}, {2.0}, 1e9);
  EXPECT_DOUBLE_EQ(r.best_tokens_per_second(), 512);
  EXPECT_DOUBLE_EQ(r.bytes_per_token(), 1e9 / 1024);
}

TEST(Bench, a_case_is_named_as_llama_bench_names_it) {
  EXPECT_EQ((BenchCase{.kind = BenchCase::Kind::kPrompt, .tokens = 512}).name(), "pp512");
  EXPECT_EQ((BenchCase{.kind = BenchCase::Kind::kGenerate, .tokens = 128}).name(), "tg128");
  EXPECT_EQ((BenchCase{.kind = BenchCase::Kind::kGenerate, .tokens = 128, .depth = 1024}).name(), "tg128@d1024");
}

TEST(Bench, the_json_object_is_exactly_the_documented_one) {
  const Json expected = Json::parse(R"({
    "model": "m.gguf", "isa": "avx512", "threads": 2,
    "results": [
      {"test": "pp512", "batch": 1, "tokens_per_second": {"best": 2048.0, "median": 1024.0},
       "gb_per_second": 0.4, "roof_share": 0.02},
      {"test": "tg128", "batch": 8, "tokens_per_second": {"best": 1024.0, "median": 682.667},
       "gb_per_second": 12.8, "roof_share": 0.64}],
    "load_ms": 50.25, "rss_mib": 110.0})");
  EXPECT_EQ(bench_json(sample_report()), expected);
}

TEST(Bench, the_table_has_a_line_a_test_and_a_note_a_number_of_threads) {
  EXPECT_EQ(
      bench_markdown({sample_report()}),
      "| model      |      size |   params | isa    | threads | test  | batch | t/s best | t/s median | MB/token | "
      " GB/s | of roof |\n"
      "| ---------- | --------: | -------: | ------ | ------: | ----- | ----: | -------: | ---------: | -------: | "
      "----: | ------: |\n"
      "| llama q4_1 | 100.0 MiB | 134.52 M | avx512 |       2 | pp512 |     1 |  2048.00 |    1024.00 |     0.20 | "
      " 0.40 |   2.0 % |\n"
      "| llama q4_1 | 100.0 MiB | 134.52 M | avx512 |       2 | tg128 |     8 |  1024.00 |     682.67 |    12.50 | "
      "12.80 |    64 % |\n"
      "\n"
      "2 threads: loaded in 50.2 ms, at most 110.0 MiB resident, memory roof 20.00 GB/s\n");
}

TEST(Bench, without_a_roof_no_share_is_claimed) {
  BenchReport report = sample_report();
  report.roof_bytes_per_second = 0;
  EXPECT_EQ(bench_json(report)["results"][1]["roof_share"], 0);
  EXPECT_EQ(bench_markdown({report}).find("roof 20"), std::string::npos);
}

TEST(Bench, a_model_is_loaded_with_room_for_its_largest_case) {
  const llm::LoadOptions options =
      BenchRunner::load_options({{.kind = BenchCase::Kind::kPrompt, .tokens = 512, .batch = 1, .depth = 100},
                                 {.kind = BenchCase::Kind::kGenerate, .tokens = 128, .batch = 32, .depth = 0}});
  EXPECT_EQ(options.context_tokens, 612);
  EXPECT_EQ(options.max_sequences, 32);
  EXPECT_EQ(options.max_outputs, 32);
  EXPECT_EQ(options.step_tokens, 512);
}

TEST(Bench, counts_are_short) {
  EXPECT_EQ(format_count(7), "7");
  EXPECT_EQ(format_count(134515008), "134.52 M");
  EXPECT_EQ(format_count(7241732096), "7.24 B");
}

TEST(ProcessMemory, resident_and_peak_are_read_from_the_status_file) {
  const ProcessMemory m = parse_process_memory("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\nXVmRSS:\t 9 kB\n");
  EXPECT_EQ(m.peak_bytes, 2 << 20);
  EXPECT_EQ(m.resident_bytes, 1 << 20);
}

TEST(ProcessMemory, a_status_without_the_lines_gives_zeros) {
  EXPECT_EQ(parse_process_memory("").peak_bytes, 0);
  EXPECT_EQ(parse_process_memory("VmHWM:").peak_bytes, 0);
  EXPECT_EQ(parse_process_memory("xVmHWM: 5 kB").peak_bytes, 0);
}

TEST(ProcessMemory, this_process_has_some) {
  EXPECT_GT(process_memory().resident_bytes, 1 << 16);
  EXPECT_GE(process_memory().peak_bytes, process_memory().resident_bytes / 2);
}

}  // namespace
}  // namespace nereid::cli
