// SPDX-License-Identifier: Apache-2.0
// Bytes a second that the content hashes take in.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/checksum.h"

namespace nereid {
namespace {

void xxhash64_bytes(benchmark::State& state) {
  const std::vector<std::byte> bytes(1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(xxhash64(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(xxhash64_bytes);

void sha256_bytes(benchmark::State& state) {
  const std::vector<std::byte> bytes(1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(sha256_hex(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK(sha256_bytes);

}  // namespace
}  // namespace nereid
