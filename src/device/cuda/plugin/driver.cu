// SPDX-License-Identifier: Apache-2.0
// The plugin's side of plugin_table.h: CUDA's runtime behind plain functions. The runtime is linked in and finds the
// driver's libcuda.so.1 itself; where there is none, its calls say so.
#include <cuda_runtime.h>

#include <cstring>

#include "device/cuda/plugin_table.h"

// The kernels' table (src/kernels/cuda).
extern "C" const void* nereid_cuda_kernels();

namespace {

cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t event_of(void* event) {
  return static_cast<cudaEvent_t>(event);
}

// Errors that are not sticky stay behind as the last one, where a later check would take them for its own.
int told(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

__global__ void probe_kernel() {}

int describe(int gpu, NereidCudaGpu* found) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, gpu); error != cudaSuccess) return told(error);
  std::strncpy(found->name, properties.name, sizeof(found->name) - 1);
  found->name[sizeof(found->name) - 1] = '\0';
  found->memory_bytes = properties.totalGlobalMem;
  found->cache_bytes = static_cast<uint64_t>(properties.l2CacheSize);
  found->architecture = properties.major * 10 + properties.minor;
  found->multiprocessors = properties.multiProcessorCount;
  return 0;
}

int probe() {
  probe_kernel<<<1, 1>>>();
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  return told(cudaDeviceSynchronize());
}

int free_bytes(size_t* bytes) {
  size_t total = 0;
  return told(cudaMemGetInfo(bytes, &total));
}

int copy(void* dst, const void* src, size_t bytes, int direction, void* stream) {
  static constexpr cudaMemcpyKind kKinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice};
  return told(cudaMemcpyAsync(dst, src, bytes, kKinds[direction], stream_of(stream)));
}

// Waits spin: a step takes less than what waking a thread costs.
int stream_create(void** stream) {
  cudaStream_t s = nullptr;
  const cudaError_t error = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  *stream = s;
  return told(error);
}

int event_create(void** event) {
  cudaEvent_t e = nullptr;
  const cudaError_t error = cudaEventCreate(&e);
  *event = e;
  return told(error);
}

int capture_end(void* stream, void** graph) {
  cudaGraph_t captured = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream_of(stream), &captured);
  if (error != cudaSuccess) return told(error);
  cudaGraphExec_t exec = nullptr;
  error = cudaGraphInstantiate(&exec, captured, 0);
  cudaGraphDestroy(captured);
  *graph = exec;
  return told(error);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const NereidCudaTable* nereid_cuda_plugin() {
  static const NereidCudaTable kTable = [] {
    NereidCudaTable t{};
    t.version = nereid::device::kNereidCudaTable;
    t.bytes = sizeof(NereidCudaTable);
    t.driver_version = [](int* v) { return told(cudaDriverGetVersion(v)); };
    t.runtime_version = [](int* v) { return told(cudaRuntimeGetVersion(v)); };
    t.count = [](int* n) { return told(cudaGetDeviceCount(n)); };
    t.describe = describe;
    t.select = [](int gpu) { return told(cudaSetDevice(gpu)); };
    t.probe = probe;
    t.free_bytes = free_bytes;
    t.allocate = [](void** m, size_t n) { return told(cudaMalloc(m, n)); };
    t.release = [](void* m) { return told(cudaFree(m)); };
    t.allocate_host = [](void** m, size_t n) { return told(cudaMallocHost(m, n)); };
    t.release_host = [](void* m) { return told(cudaFreeHost(m)); };
    t.copy = copy;
    t.fill = [](void* d, int b, size_t n, void* s) { return told(cudaMemsetAsync(d, b, n, stream_of(s))); };
    t.stream_create = stream_create;
    t.stream_destroy = [](void* s) { return told(cudaStreamDestroy(stream_of(s))); };
    t.stream_synchronize = [](void* s) { return told(cudaStreamSynchronize(stream_of(s))); };
    t.event_create = event_create;
    t.event_destroy = [](void* e) { return told(cudaEventDestroy(event_of(e))); };
    t.event_record = [](void* e, void* s) { return told(cudaEventRecord(event_of(e), stream_of(s))); };
    t.event_synchronize = [](void* e) { return told(cudaEventSynchronize(event_of(e))); };
    t.event_wait = [](void* s, void* e) { return told(cudaStreamWaitEvent(stream_of(s), event_of(e), 0)); };
    t.event_elapsed_ms = [](float* ms, void* a, void* b) {
      return told(cudaEventElapsedTime(ms, event_of(a), event_of(b)));
    };
    t.capture_begin = [](void* s) {
      return told(cudaStreamBeginCapture(stream_of(s), cudaStreamCaptureModeThreadLocal));
    };
    t.capture_end = capture_end;
    t.graph_launch = [](void* g, void* s) {
      return told(cudaGraphLaunch(static_cast<cudaGraphExec_t>(g), stream_of(s)));
    };
    t.graph_destroy = [](void* g) { return told(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g))); };
    t.error_name = [](int code) { return cudaGetErrorName(static_cast<cudaError_t>(code)); };
    t.error_text = [](int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); };
    t.kernels = nereid_cuda_kernels();
    return t;
  }();
  return &kTable;
}
