// SPDX-License-Identifier: Apache-2.0
// Which product takes a number of tokens and a kind of weight.
#include <algorithm>

#include "kernels/cuda/linear.h"
#include "kernels/cuda/linear_few.cuh"
#include "kernels/cuda/linear_many.cuh"
#include "kernels/cuda/linear_mid.cuh"

namespace nereid::kernels::cuda {

void linear_few_as(const LinearParams& params, FewShape shape, const Queue& queue) {
  if (params.tokens == 0) return;
  const FewJob job = {.p = params, .shape = shape};
  switch (params.weight.codes) {
    case Codes::kF16:
    case Codes::kBF16:
      return linear_few_halves(job, queue);
    case Codes::kF8E4M3:
      return linear_few_f8(job, queue);
    case Codes::kCode4:
      return linear_few_codes4(job, queue);
    case Codes::kCode8:
      return linear_few_codes8(job, queue);
  }
}

void linear_few(const LinearParams& params, const Queue& queue) {
  linear_few_as(params, FewShape::kAuto, queue);
}

namespace {

int64_t unpacked_bytes(const Weight& w) {
  return 2 * w.rows * w.cols;
}

// A weight as rows of x's type, in the workspace where it is anything else.
Weight as_rows(const Weight& w, Element element, char* place, const Queue& queue) {
  if (w.codes == Codes::kF16 || w.codes == Codes::kBF16) return w;
  unpack({.weight = w, .count = w.rows, .element = element, .y = place, .y_stride = w.cols}, queue);
  return {.codes = element == Element::kF16 ? Codes::kF16 : Codes::kBF16,
          .rows = w.rows,
          .cols = w.cols,
          .stride = w.cols,
          .data = place};
}

// Floats of x's type by wgmma.
void linear_rows(const LinearParams& params, const Queue& queue) {
  can_linear_mid(params) ? linear_mid(params, 0, queue) : linear_many(params, queue);
}

}  // namespace

void linear_unpacked(const LinearParams& params, const Queue& queue) {
  LinearParams rows = params;
  char* place = static_cast<char*>(params.workspace);
  rows.weight = as_rows(params.weight, params.element, place, queue);
  if (params.weight_up.data != nullptr) {
    rows.weight_up = as_rows(params.weight_up, params.element, place + unpacked_bytes(params.weight), queue);
  }
  linear_rows(rows, queue);
}

void linear(const LinearParams& params, const Queue& queue) {
  if (params.tokens > kNarrowTokens && can_linear_mid(params)) return linear_mid(params, 0, queue);
  if (params.tokens <= kFewTokens) return linear_few(params, queue);
  const bool is_plain = params.weight.codes == Codes::kF16 || params.weight.codes == Codes::kBF16;
  if (can_linear_many() && is_plain) return linear_rows(params, queue);
  if (can_linear_many() && params.workspace != nullptr) return linear_unpacked(params, queue);
  const int64_t y_bytes = element_bytes(params.y_element);
  for (int64_t first = 0; first < params.tokens; first += kFewTokens) {
    LinearParams part = params;
    part.tokens = params.tokens - first < kFewTokens ? params.tokens - first : kFewTokens;
    part.x = static_cast<const char*>(params.x) + 2 * first * params.x_stride;
    part.y = static_cast<char*>(params.y) + y_bytes * first * params.y_stride;
    if (params.residual != nullptr) {
      part.residual = static_cast<const char*>(params.residual) + 2 * first * params.residual_stride;
    }
    linear_few(part, queue);
  }
}

int64_t linear_workspace_bytes(const Weight& weight, bool gated, int64_t tokens) {
  if (tokens <= kFewTokens || weight.codes == Codes::kF16 || weight.codes == Codes::kBF16) return 0;
  return unpacked_bytes(weight) * (gated ? 2 : 1);
}

}  // namespace nereid::kernels::cuda
