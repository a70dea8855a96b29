// SPDX-License-Identifier: Apache-2.0
// What a matrix product or convolution does to its sums before it stores them.
//
//   y = scale act(sum + bias[column] + residual[row, column]) + shift          residual_last = false (ResNet)
//   y = scale act(sum + bias[column]) + shift + residual[row, column]          residual_last = true (transformers,
//   YOLO)
//
// kNone, kRelu and kClip without scale and shift cost nothing; the others are one more pass over a tile that is still
// in L1. Scale and shift are PP-OCR's learnable affine blocks behind activations.
#pragma once

#include <cstdint>

namespace nereid::kernels {

enum class Act : uint8_t {
  kNone,
  kRelu,
  kClip,       // min(beta, max(alpha, x))
  kLeakyRelu,  // x < 0 ? alpha x : x
  kSigmoid,    // 1 / (1 + e^-x)
  kTanh,
  kSilu,         // x sigmoid(alpha x), alpha 1 by default: kSwish of any alpha
  kGelu,         // x/2 (1 + erf(x / sqrt 2))
  kGeluTanh,     // its approximation by tanh
  kHardSigmoid,  // min(1, max(0, alpha x + beta))
  kHardSwish,    // x min(1, max(0, alpha x + beta)), alpha 1/6 and beta 1/2 by ONNX
  kElu,          // x < 0 ? alpha (e^x - 1) : x
  kMish,         // x tanh(log(1 + e^x))
};

struct Epilogue {
  const float* bias = nullptr;      // [columns]
  const float* residual = nullptr;  // [rows, columns]; may be the result itself
  int64_t residual_stride = 0;      // elements between rows
  bool residual_last = false;
  Act act = Act::kNone;
  float alpha = 1, beta = 0;
  float scale = 1, shift = 0;
};

}  // namespace nereid::kernels
