// SPDX-License-Identifier: Apache-2.0
#include "import/gguf/types.h"

#include <array>

namespace nereid::import::gguf {
namespace {

// Numbers that were given out and later withdrawn (4, 5, 31-33, 36-38) are left out on purpose.
constexpr std::array kTensorTypes = {
    TensorType{0, "F32", DType::f32},        TensorType{1, "F16", DType::f16},
    TensorType{2, "Q4_0", DType::q4_0},      TensorType{3, "Q4_1", DType::q4_1},
    TensorType{6, "Q5_0", DType::q5_0},      TensorType{7, "Q5_1", DType::q5_1},
    TensorType{8, "Q8_0", DType::q8_0},      TensorType{9, "Q8_1", std::nullopt},
    TensorType{10, "Q2_K", DType::q2_k},     TensorType{11, "Q3_K", DType::q3_k},
    TensorType{12, "Q4_K", DType::q4_k},     TensorType{13, "Q5_K", DType::q5_k},
    TensorType{14, "Q6_K", DType::q6_k},     TensorType{15, "Q8_K", std::nullopt},
    TensorType{16, "IQ2_XXS", std::nullopt}, TensorType{17, "IQ2_XS", std::nullopt},
    TensorType{18, "IQ3_XXS", std::nullopt}, TensorType{19, "IQ1_S", std::nullopt},
    TensorType{20, "IQ4_NL", DType::iq4_nl}, TensorType{21, "IQ3_S", std::nullopt},
    TensorType{22, "IQ2_S", std::nullopt},   TensorType{23, "IQ4_XS", DType::iq4_xs},
    TensorType{24, "I8", DType::i8},         TensorType{25, "I16", DType::i16},
    TensorType{26, "I32", DType::i32},       TensorType{27, "I64", DType::i64},
    TensorType{28, "F64", DType::f64},       TensorType{29, "IQ1_M", std::nullopt},
    TensorType{30, "BF16", DType::bf16},     TensorType{34, "TQ1_0", std::nullopt},
    TensorType{35, "TQ2_0", std::nullopt},   TensorType{39, "MXFP4", std::nullopt},
};

}  // namespace

const TensorType* find_tensor_type(uint32_t number) {
  for (const TensorType& row : kTensorTypes)
    if (row.number == number) return &row;
  return nullptr;
}

std::string supported_tensor_types() {
  std::string list;
  for (const TensorType& row : kTensorTypes) {
    if (!row.dtype) continue;
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

uint32_t min_bytes(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
    case ValueType::kInt8:
    case ValueType::kBool:
      return 1;
    case ValueType::kUint16:
    case ValueType::kInt16:
      return 2;
    case ValueType::kUint32:
    case ValueType::kInt32:
    case ValueType::kFloat32:
      return 4;
    case ValueType::kUint64:
    case ValueType::kInt64:
    case ValueType::kFloat64:
    case ValueType::kString:
      return 8;
    case ValueType::kArray:
      return 12;
  }
  return 0;
}

}  // namespace nereid::import::gguf
