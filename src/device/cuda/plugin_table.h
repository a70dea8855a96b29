// SPDX-License-Identifier: Apache-2.0
// What the program and its CUDA plugin say to each other: a table of plain functions, so that the program itself knows
// nothing of CUDA and the plugin nothing of C++ types of ours.
//
// Functions return CUDA's error codes, 0 for none. Streams, events and graphs are CUDA's handles. select() makes a GPU
// the calling thread's; the others work on the thread's GPU.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct NereidCudaGpu {
  char name[128];
  uint64_t memory_bytes;
  uint64_t cache_bytes;  // L2
  int32_t architecture;  // 90 for compute capability 9.0
  int32_t multiprocessors;
};

struct NereidCudaTable {
  uint32_t version;  // kNereidCudaTable of the headers it was compiled with
  uint32_t bytes;    // sizeof, against a table of another compiler

  int (*driver_version)(int* version);   // 13000 for CUDA 13.0; 0 where there is no driver
  int (*runtime_version)(int* version);  // the one that the plugin was built with
  int (*count)(int* gpus);
  int (*describe)(int gpu, NereidCudaGpu* found);
  int (*select)(int gpu);
  int (*probe)();  // runs an empty kernel and waits for it: whether there is code for this GPU
  int (*free_bytes)(size_t* bytes);

  int (*allocate)(void** memory, size_t bytes);
  int (*release)(void* memory);
  int (*allocate_host)(void** memory, size_t bytes);
  int (*release_host)(void* memory);
  int (*copy)(void* dst, const void* src, size_t bytes, int direction, void* stream);  // device::Direction
  int (*fill)(void* dst, int byte, size_t bytes, void* stream);

  int (*stream_create)(void** stream);
  int (*stream_destroy)(void* stream);
  int (*stream_synchronize)(void* stream);
  int (*event_create)(void** event);
  int (*event_destroy)(void* event);
  int (*event_record)(void* event, void* stream);
  int (*event_synchronize)(void* event);
  int (*event_wait)(void* stream, void* event);
  int (*event_elapsed_ms)(float* ms, void* from, void* to);

  int (*capture_begin)(void* stream);
  int (*capture_end)(void* stream, void** graph);
  int (*graph_launch)(void* graph, void* stream);
  int (*graph_destroy)(void* graph);

  const char* (*error_name)(int code);  // "cudaErrorNoDevice"
  const char* (*error_text)(int code);

  // The kernels' table, for the module that knows them (src/kernels/cuda).
  const void* kernels;
};

// What the plugin exports.
using NereidCudaPlugin = const NereidCudaTable*();
}

namespace nereid::device {
inline constexpr uint32_t kNereidCudaTable = 1;
inline constexpr const char* kCudaPluginSymbol = "nereid_cuda_plugin";
inline constexpr const char* kCudaPluginFile = "libnereid_cuda.so";
}  // namespace nereid::device
