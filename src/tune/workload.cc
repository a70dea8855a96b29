// SPDX-License-Identifier: Apache-2.0
#include "tune/workload.h"

#include <algorithm>
#include <cstring>

namespace nereid::tune {
namespace {

using kernels::ConvParams;
using kernels::ConvShape;
using kernels::GemmParams;
using kernels::LowConvParams;
using kernels::LowGemmParams;
using kernels::LowType;
using kernels::Tactic;
using kernels::Way;

constexpr int64_t kMostBytes = int64_t{2} << 30;
constexpr int64_t kMostCold = int64_t{256} << 20;

int64_t aligned(int64_t bytes) {
  return (bytes + 256 + 4095) / 4096 * 4096;
}

// Small numbers that neither overflow nor become denormal in any precision: every other byte pair is about 0.01, as
// f32 and as bf16 alike.
void fill(Buffer& buffer) {
  auto* words = reinterpret_cast<uint32_t*>(buffer.data());
  uint32_t state = 1;
  for (size_t i = 0; i < buffer.size() / 4; ++i) {
    state = state * 1664525 + 1013904223;
    // Exponent of 2^-7, seven random bits of mantissa and a random sign, in both halves.
    const uint32_t half = 0x3c00 | (state >> 25) | (state >> 9 & 0x8000);
    words[i] = half << 16 | half;
  }
}

Status make(Buffer& buffer, int64_t bytes) {
  if (static_cast<int64_t>(buffer.size()) >= bytes) return Status::ok();
  if (bytes > kMostBytes) return exhausted("timing it would take {} MiB", bytes >> 20);
  NEREID_TRY(buffer,
             Buffer::allocate(static_cast<size_t>(bytes), bytes >= (2 << 20) ? PageSize::kHuge : PageSize::kDefault));
  fill(buffer);
  return Status::ok();
}

int64_t x_elements(const kernels::Problem& p) {
  return p.is_conv ? p.conv.batch * p.conv.in_h * p.conv.in_w * p.conv.in_c : p.m * p.k;
}
int64_t y_elements(const kernels::Problem& p) {
  return p.is_conv ? p.conv.batch * p.conv.out_h * p.conv.out_w * p.conv.out_c : p.m * p.n;
}
int64_t columns(const kernels::Problem& p) {
  return p.is_conv ? p.conv.out_c : p.n;
}

template <typename T>
const T* as(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}

}  // namespace

double problem_flops(const kernels::Problem& p) {
  if (!p.is_conv) return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const ConvShape& s = p.conv;
  return 2.0 * static_cast<double>(y_elements(p)) * static_cast<double>(s.in_c / s.groups) *
         static_cast<double>(s.kernel_h * s.kernel_w);
}

Result<std::unique_ptr<Workload>> Workload::create(const kernels::Problem& problem, const kernels::IsaKernels& kernels,
                                                   ThreadPool& pool, const WorkloadOptions& options) {
  if (x_elements(problem) > kMostBytes / 4 || y_elements(problem) > kMostBytes / 4)
    return exhausted("timing it would take more than {} MiB", kMostBytes >> 20);
  std::unique_ptr<Workload> w(new Workload(problem, kernels, pool));
  w->cold_bytes_ = options.cold_bytes;
  w->weights_ = options.weights;
  NEREID_RETURN_IF_ERROR(make(w->x_, aligned(x_elements(problem) * 4)));
  NEREID_RETURN_IF_ERROR(make(w->y_, aligned(y_elements(problem) * 4)));
  NEREID_RETURN_IF_ERROR(make(w->bias_, aligned(columns(problem) * 4)));
  return w;
}

int64_t Workload::weight_bytes(const Tactic& t) const {
  if (problem_.is_conv)
    return t.way == Way::kBF16 ? kernels::low_conv_weight_bytes(problem_.conv, LowType::kF32)
                               : kernels::conv_weight_elements(problem_.conv, kernels::conv_algorithm(t.way)) * 4;
  return t.way == Way::kBF16 ? kernels::low_packed_bytes(LowType::kBF16, problem_.k, problem_.n)
                             : kernels::gemm_packed_elements(problem_.k, problem_.n) * 4;
}

int64_t Workload::scratch_bytes(const Tactic& t) const {
  const int workers = pool_.size();
  if (problem_.is_conv)
    return t.way == Way::kBF16
               ? kernels::low_conv_scratch_bytes(problem_.conv, LowType::kF32, workers)
               : kernels::conv_scratch_bytes(problem_.conv, kernels::conv_algorithm(t.way), workers, t.blocking);
  if (t.way != Way::kBF16)
    return kernels::gemm_scratch_bytes({.m = problem_.m, .n = problem_.n, .k = problem_.k}, workers);
  return kernels::low_gemm_scratch_bytes(
      {.a_type = LowType::kF32, .a_stride = problem_.k, .m = problem_.m, .n = problem_.n, .k = problem_.k}, workers);
}

Status Workload::prepare(const Tactic& tactic) {
  NEREID_RETURN_IF_ERROR(make(scratch_, aligned(scratch_bytes(tactic))));
  return make(*weights_, std::max(aligned(weight_bytes(tactic)), std::min(cold_bytes_, kMostCold)));
}

void Workload::run(const Tactic& t, int64_t times) {
  const int64_t step = aligned(weight_bytes(t));
  const int64_t copies = cold_bytes_ > 0 ? std::max(static_cast<int64_t>(weights_->size()) / step, int64_t{1}) : 1;
  const int64_t first = turn_;
  turn_ = (turn_ + times) % copies;
  const bool low = t.way == Way::kBF16;
  const int64_t n = columns(problem_);
  const auto* bias = as<float>(bias_.data());
  pool_.run([&](Worker& worker) {
    for (int64_t i = 0; i < times; ++i) {
      const std::byte* weight = weights_->data() + (first + i) % copies * step;
      if (problem_.is_conv && low)
        kernels_.low_conv({.shape = problem_.conv,
                           .x = x_.data(),
                           .x_type = LowType::kF32,
                           .x_stride = problem_.conv.in_c,
                           .weight = weight,
                           .y = y_.data(),
                           .y_stride = n,
                           .epilogue = {.bias = bias},
                           .scratch = scratch_.data()},
                          worker);
      else if (problem_.is_conv)
        kernels_.conv({.shape = problem_.conv,
                       .algorithm = kernels::conv_algorithm(t.way),
                       .x = as<float>(x_.data()),
                       .x_stride = problem_.conv.in_c,
                       .weight = as<float>(weight),
                       .y = reinterpret_cast<float*>(y_.data()),
                       .y_stride = n,
                       .epilogue = {.bias = bias},
                       .blocking = t.blocking,
                       .scratch = scratch_.data()},
                      worker);
      else if (low)
        kernels_.low_gemm({.a = x_.data(),
                           .a_type = LowType::kF32,
                           .a_stride = problem_.k,
                           .b = weight,
                           .m = problem_.m,
                           .n = n,
                           .k = problem_.k,
                           .c = y_.data(),
                           .c_stride = n,
                           .epilogue = {.bias = bias},
                           .scratch = scratch_.data()},
                          worker);
      else
        kernels_.gemm({.a = as<float>(x_.data()),
                       .a_stride = problem_.k,
                       .b = as<float>(weight),
                       .m = problem_.m,
                       .n = n,
                       .k = problem_.k,
                       .c = reinterpret_cast<float*>(y_.data()),
                       .c_stride = n,
                       .epilogue = {.bias = bias},
                       .blocking = t.blocking.gemm,
                       .scratch = scratch_.data()},
                      worker);
      worker.barrier();
    }
  });
}

}  // namespace nereid::tune
