// SPDX-License-Identifier: Apache-2.0
// NumPy's files: .npy (one array) and .npz (a zip of them), as tensors.
//
// .npy: "\x93NUMPY", two bytes of version, the header's length (u16; from version 2 on u32; little endian), the header
// (a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }), then the elements. Read:
// versions 1 to 3; bool, (u)int8...64, float16/32/64, complex64/128; both byte orders; rows or columns first. .npz:
// entries stored or deflated, with or without zip64; each entry is checked against its CRC.
//
// Errors: kInvalidArgument for a damaged file, kUnsupported for an element type or a zip feature that is not read,
// kNotFound for a file that is not there. Memory: the file's bytes and the tensors; a compressed entry cannot claim
// more than its bytes can unpack to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ops/tensor.h"

namespace nereid::import::npy {

// True if a .npy file can hold elements of that type.
bool fits(DType dtype);

bool looks_like_npy(std::span<const std::byte> bytes);
Result<ops::Tensor> parse_npy(std::span<const std::byte> bytes);
Result<ops::Tensor> read_npy(const std::string& path);

// Everything before the elements, which follow as they lie in memory: version 1 (2 where the shape is very long),
// little endian, rows first, data aligned to 64 bytes as NumPy does. Only for types that fit (checked).
std::string npy_header(DType dtype, std::span<const int64_t> sizes);

// The arrays by name (without ".npy"), in the order of the file's directory. Entries that are no .npy are refused.
using NamedTensors = std::vector<std::pair<std::string, ops::Tensor>>;
bool looks_like_zip(std::span<const std::byte> bytes);
Result<NamedTensors> parse_npz(std::span<const std::byte> bytes);
Result<NamedTensors> read_npz(const std::string& path);

}  // namespace nereid::import::npy
