// SPDX-License-Identifier: Apache-2.0
// What a kernel's cases are made of: device arrays of random numbers, their values on the host, and a Case that can be
// run, checked against float64 and timed.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/harness/case_line.h"
#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda::harness {

// Ends the program with the sentence of a failed call: nothing that follows could be trusted.
inline void ok(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline Element element_of(const std::string& name) {
  if (name == "f32") return Element::kF32;
  if (name == "bf16") return Element::kBF16;
  if (name == "f8") return Element::kF8E4M3;
  return Element::kF16;
}

// Uniform in [-scale, scale] (+ shift), rounded to the element type.
void fill_random(Element element, void* data, int64_t count, uint64_t seed, float scale, float shift = 0);

// Reads `bytes`, and copies them where dst is not null.
void stream_bytes(const void* src, void* dst, void* sink, int64_t bytes, const Queue& queue);

// One element's value.
double value_of(Element element, const void* data, int64_t index);

class Array {
 public:
  Array() = default;
  Array(Element element, int64_t count) : element_(element), count_(count) {
    ok(cudaMalloc(&data_, static_cast<size_t>(bytes() + 256)), "cudaMalloc");
  }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(element_, other.element_), std::swap(count_, other.count_), std::swap(data_, other.data_);
    return *this;
  }
  ~Array() { cudaFree(data_); }
  static Array random(Element element, int64_t count, uint64_t seed, float scale, float shift = 0) {
    Array a(element, count);
    fill_random(element, a.data_, count, seed, scale, shift);
    return a;
  }
  template <typename T>
  static Array of(const std::vector<T>& values) {
    Array a(Element::kF8E4M3, static_cast<int64_t>(values.size() * sizeof(T)));
    ok(cudaMemcpy(a.data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return a;
  }
  Element element() const { return element_; }
  int64_t count() const { return count_; }
  int64_t bytes() const { return count_ * element_bytes(element_); }
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  void fill(int byte) { ok(cudaMemset(data_, byte, static_cast<size_t>(bytes())), "cudaMemset"); }
  std::vector<char> bytes_on_host() const {
    std::vector<char> host(static_cast<size_t>(bytes()));
    ok(cudaMemcpy(host.data(), data_, host.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }
  std::vector<double> on_host() const {
    const std::vector<char> host = bytes_on_host();
    std::vector<double> values(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i) values[static_cast<size_t>(i)] = value_of(element_, host.data(), i);
    return values;
  }

 private:
  Element element_ = Element::kF32;
  int64_t count_ = 0;
  void* data_ = nullptr;
};

// ||a - b|| / ||b||, and infinite where a has a NaN.
struct Distance {
  double difference = 0, norm = 0;
  void add(double got, double expected) {
    difference += got == got ? (got - expected) * (got - expected) : 1e300;
    norm += expected * expected;
  }
  double value() const;
};

// How far rounding may take a result of this type whose operands are of type `operand`.
double tolerance(Element result, Element operand);

struct Case {
  double bytes = 0, flops = 0;
  int sets = 1;  // data sets that runs take turns with, so that none is found in the cache
  std::function<void(int set, const Queue& queue)> run;
  std::function<double()> error;  // of set 0's result, after one run
  double limit = 0;
};

// Enough sets that together they are several times the second-level cache.
int sets_for(int64_t bytes);

using MakeCase = Case (*)(const CaseLine& line);
Case linear_case(const CaseLine& line);
Case linear_equal_case(const CaseLine& line);
Case attention_case(const CaseLine& line);
Case norm_case(const CaseLine& line);
Case rope_case(const CaseLine& line);
Case gated_case(const CaseLine& line);
Case embedding_case(const CaseLine& line);
Case argmax_case(const CaseLine& line);
Case top_k_case(const CaseLine& line);
Case draw_case(const CaseLine& line);
Case copy_case(const CaseLine& line);

}  // namespace nereid::kernels::cuda::harness
