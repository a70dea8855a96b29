// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/fake_driver.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/cuda/cuda_faults.h"
#include "device/device.h"

namespace nereid::device {
namespace {

constexpr int kInvalidValue = 1, kCaptureInvalid = 901;
constexpr size_t kAlignment = 256;

struct FakeGraph {
  std::vector<std::function<void()>> work;
};
struct FakeStream {
  bool captures = false;
  FakeGraph captured;
};
struct FakeEvent {
  double ms = -1;
};

struct State {
  FakeDriver* driver = nullptr;
  uint64_t allocated = 0;
  int64_t launches = 0;
  std::map<void*, uint64_t> sizes;
} state;

FakeFaults& set_faults() {
  return state.driver->faults;
}
// Counts down to the fault.
bool is_due(int& in) {
  return in > 0 && --in == 0;
}

double now_ms() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

int allocate(void** memory, size_t bytes) {
  if (is_due(set_faults().fail_allocate_in) || bytes > set_faults().memory_bytes - state.allocated)
    return kCudaOutOfMemory;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return kCudaOutOfMemory;
  std::memset(*memory, 0xff, bytes);  // NaN in every float type: what is read before it is written shows
  state.sizes[*memory] = bytes;
  state.allocated += bytes;
  return 0;
}
int release(void* memory) {
  const auto it = state.sizes.find(memory);
  if (it == state.sizes.end()) return kInvalidValue;
  state.allocated -= it->second;
  state.sizes.erase(it);
  std::free(memory);
  return 0;
}
int allocate_host(void** memory, size_t bytes) {
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? kCudaOutOfMemory : 0;
}
int release_host(void* memory) {
  std::free(memory);
  return 0;
}
int synchronize(void*) {
  return is_due(set_faults().fail_synchronize_in) ? set_faults().code : 0;
}
int capture_begin(void* stream) {
  auto* s = static_cast<FakeStream*>(stream);
  if (s->captures) return kCaptureInvalid;
  s->captures = true;
  return 0;
}
int capture_end(void* stream, void** graph) {
  auto* s = static_cast<FakeStream*>(stream);
  if (!s->captures) return kCaptureInvalid;
  s->captures = false;
  *graph = new FakeGraph(std::exchange(s->captured, {}));
  return 0;
}
int graph_launch(void* graph, void* stream) {
  if (static_cast<FakeStream*>(stream)->captures) return kCaptureInvalid;
  if (is_due(set_faults().fail_launch_in)) return set_faults().code;
  ++state.launches;
  for (const auto& work : static_cast<FakeGraph*>(graph)->work) work();
  return 0;
}
int describe(int, NereidCudaGpu* found) {
  std::snprintf(found->name, sizeof(found->name), "Fake GPU");
  found->memory_bytes = set_faults().memory_bytes;
  found->cache_bytes = 1 << 20;
  found->architecture = set_faults().architecture;
  found->multiprocessors = 4;
  return 0;
}
int elapsed(float* ms, void* from, void* to) {
  const auto *a = static_cast<FakeEvent*>(from), *b = static_cast<FakeEvent*>(to);
  if (a->ms < 0 || b->ms < 0) return kInvalidValue;
  *ms = static_cast<float>(b->ms - a->ms);
  return 0;
}
template <typename T>
int create(void** handle) {
  *handle = new T;
  return 0;
}
template <typename T>
int destroy(void* handle) {
  delete static_cast<T*>(handle);
  return 0;
}

}  // namespace

FakeDriver::FakeDriver(const void* kernels) {
  NEREID_CHECK(state.driver == nullptr);
  state = {.driver = this};
  table_ = {.version = kNereidCudaTable,
            .bytes = sizeof(NereidCudaTable),
            .driver_version = [](int* v) { return *v = set_faults().driver_version, 0; },
            .runtime_version = [](int* v) { return *v = set_faults().runtime_version, 0; },
            .count = [](int* n) { return *n = set_faults().gpus, set_faults().count_error; },
            .describe = describe,
            .select = [](int) { return 0; },
            .probe = [] { return set_faults().probe_error; },
            .free_bytes = [](size_t* bytes) { return *bytes = set_faults().memory_bytes - state.allocated, 0; },
            .allocate = allocate,
            .release = release,
            .allocate_host = allocate_host,
            .release_host = release_host,
            .copy = [](void* dst, const void* src, size_t bytes, int,
                       void* stream) { return FakeDriver::run(stream, [=] { std::memmove(dst, src, bytes); }); },
            .fill = [](void* dst, int byte, size_t bytes,
                       void* stream) { return FakeDriver::run(stream, [=] { std::memset(dst, byte, bytes); }); },
            .stream_create = create<FakeStream>,
            .stream_destroy = destroy<FakeStream>,
            .stream_synchronize = synchronize,
            .event_create = create<FakeEvent>,
            .event_destroy = destroy<FakeEvent>,
            .event_record =
                [](void* event, void* stream) {
                  return FakeDriver::run(stream, [event] { static_cast<FakeEvent*>(event)->ms = now_ms(); });
                },
            .event_synchronize = [](void*) { return 0; },
            .event_wait = [](void*, void*) { return 0; },
            .event_elapsed_ms = elapsed,
            .capture_begin = capture_begin,
            .capture_end = capture_end,
            .graph_launch = graph_launch,
            .graph_destroy = destroy<FakeGraph>,
            .error_name = [](int) { return "cudaErrorOfTheFake"; },
            .error_text = [](int) { return "a fault that a test set off"; },
            .kernels = kernels};
}

FakeDriver::~FakeDriver() {
  state = {};
}

uint64_t FakeDriver::allocated_bytes() const {
  return state.allocated;
}

int64_t FakeDriver::launches() const {
  return state.launches;
}

int FakeDriver::run(void* stream, std::function<void()> work) {
  auto* s = static_cast<FakeStream*>(stream);
  if (s->captures) {
    s->captured.work.push_back(std::move(work));
    return 0;
  }
  if (is_due(set_faults().fail_launch_in)) return set_faults().code;
  work();
  return 0;
}

}  // namespace nereid::device
