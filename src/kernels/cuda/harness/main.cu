// SPDX-License-Identifier: Apache-2.0
// kernel_cases [--check] [--time] [--overlap] [FILE | CASE...]: runs cases, checks them against float64 on the host,
// times them, and prints one line each. Exit code 1 when a check failed.
//
// A time is the median over replays of a captured graph of launches that take turns with several sets of data; with
// --overlap they are launched as a decoder's step is (Queue::overlap). "roof" is the share of the copy bandwidth that
// this program measures first.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>

#include "kernels/cuda/harness/harness.h"

namespace nereid::kernels::cuda::harness {
namespace {

struct Row {
  const char* name;
  MakeCase make;
};
constexpr Row kTable[] = {
    {"linear", linear_case},       {"linear_equal", linear_equal_case},
    {"attention", attention_case}, {"prefill", attention_case},
    {"norm", norm_case},           {"rope", rope_case},
    {"gated", gated_case},         {"embedding", embedding_case},
    {"argmax", argmax_case},       {"top_k", top_k_case},
    {"draw", draw_case},           {"copy", copy_case},
    {"read", copy_case},
};

// Microseconds a launch.
double time_us(const Case& c, bool overlap) {
  cudaStream_t stream;
  ok(cudaStreamCreate(&stream), "cudaStreamCreate");
  const Queue queue = {.stream = stream, .overlap = overlap};
  for (int i = 0; i < c.sets; ++i) c.run(i, queue);
  ok(cudaStreamSynchronize(stream), "a first run");
  const int launches = std::max(20, c.sets);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < launches; ++i) c.run(i % c.sets, queue);
  ok(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  ok(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  cudaEvent_t begin, end;
  ok(cudaEventCreate(&begin), "cudaEventCreate");
  ok(cudaEventCreate(&end), "cudaEventCreate");
  ok(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
  std::vector<float> times;
  float total = 0;
  while (times.size() < 11 || (total < 20 && times.size() < 100)) {
    ok(cudaEventRecord(begin, stream), "cudaEventRecord");
    ok(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
    ok(cudaEventRecord(end, stream), "cudaEventRecord");
    ok(cudaEventSynchronize(end), "a graph");
    float ms = 0;
    ok(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    times.push_back(ms);
    total += ms;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  return times[times.size() / 2] * 1000.0 / launches;
}

int run_all(const std::vector<std::string>& lines, bool check, bool timed, bool overlap) {
  int failed = 0;
  double roof = 0;  // bytes a second
  if (timed) {
    const Case copy = copy_case(CaseLine("copy mib=2048"));
    roof = copy.bytes / time_us(copy, false) * 1e6;
    std::printf("copy bandwidth %.0f GB/s (bytes read and written): the roof\n", roof / 1e9);
  }
  for (const std::string& text : lines) {
    const CaseLine line(text);
    if (line.kernel.empty()) continue;
    const Row* row =
        std::find_if(std::begin(kTable), std::end(kTable), [&](const Row& r) { return line.kernel == r.name; });
    if (row == std::end(kTable)) {
      std::fprintf(stderr, "There is no kernel \"%s\" in the table of main.cu.\n", line.kernel.c_str());
      return 2;
    }
    const Case c = row->make(line);
    std::printf("%-64s", line.text.c_str());
    if (check && c.error) {
      c.run(0, {.overlap = overlap});
      ok(cudaDeviceSynchronize(), line.text.c_str());
      const double error = c.error();
      const bool good = error <= c.limit;
      failed += good ? 0 : 1;
      std::printf(" | error %.1e %s", error, good ? "ok" : "FAILED");
    }
    if (timed) {
      const double us = time_us(c, overlap);
      std::printf(" | %9.2f us %7.0f GB/s %5.1f %% roof", us, c.bytes / us / 1e3, 100 * c.bytes / us * 1e6 / roof);
      if (c.flops > 0) std::printf(" %7.1f Tflop/s", c.flops / us / 1e6);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  if (check) std::printf(failed == 0 ? "all checks passed\n" : "%d checks FAILED\n", failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nereid::kernels::cuda::harness

int main(int argc, char** argv) {
  bool check = false, timed = false, overlap = false;
  std::vector<std::string> lines;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) {
      check = true;
    } else if (std::strcmp(argv[i], "--time") == 0) {
      timed = true;
    } else if (std::strcmp(argv[i], "--overlap") == 0) {
      overlap = true;
    } else if (std::ifstream file(argv[i]); file) {
      for (std::string line; std::getline(file, line);) lines.push_back(line);
    } else {
      lines.emplace_back(argv[i]);
    }
  }
  return nereid::kernels::cuda::harness::run_all(lines, check, timed, overlap);
}
