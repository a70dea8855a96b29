// SPDX-License-Identifier: Apache-2.0
// Arrays one at a time.
#include "import/npy/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"
#include "base/shape.h"
#include "import/npy/header.h"

namespace nereid::import::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostHeaderBytes = size_t{1} << 20;
constexpr size_t kAlignment = 64;

size_t little_endian(std::span<const std::byte> bytes) {
  size_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | std::to_integer<size_t>(bytes[i - 1]);
  return value;
}

// Reverses each number's bytes; a complex number is two.
void swap_numbers(std::span<std::byte> bytes, DType dtype) {
  const bool is_complex = dtype_info(dtype).kind == DTypeInfo::Kind::kComplex;
  const size_t width = dtype_info(dtype).block_bytes / (is_complex ? 2U : 1U);
  for (size_t at = 0; width > 1 && at < bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at + width));
}

// From columns first (the first index runs fastest) to rows first.
void transpose_columns(std::span<const std::byte> src, const TensorView& dst) {
  const size_t width = dtype_info(dst.dtype).block_bytes;
  const size_t rank = dst.sizes.size();
  std::vector<size_t> stride(rank, width), index(rank, 0);  // of src, in bytes
  for (size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * static_cast<size_t>(dst.sizes[d - 1]);
  auto* to = dst.as<std::byte>();
  size_t from = 0;
  for (int64_t i = 0, n = dst.elements(); i < n; ++i, to += width) {
    std::memcpy(to, src.data() + from, width);
    for (size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < static_cast<size_t>(dst.sizes[d])) break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
}

}  // namespace

bool fits(DType dtype) {
  return !numpy_name(dtype).empty();
}

bool looks_like_npy(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<ops::Tensor> parse_npy(std::span<const std::byte> bytes) {
  if (!looks_like_npy(bytes)) return invalid_argument("it does not begin with \\x93NUMPY, so it is no .npy file");
  if (bytes.size() < 10) return invalid_argument("it ends within its first 10 bytes");
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3) return unsupported("it is of version {}; versions 1 to 3 are read", version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = 8 + length_bytes;
  if (bytes.size() < start) return invalid_argument("it ends within its first {} bytes", start);
  const size_t length = little_endian(bytes.subspan(8, length_bytes));
  if (length > std::min(bytes.size() - start, kMostHeaderBytes))
    return invalid_argument("its header is said to have {} bytes, but {}", length,
                            length > kMostHeaderBytes ? "1 MiB is the most that is read"
                                                      : fmt::format("only {} follow", bytes.size() - start));
  NEREID_TRY(const Header header, parse_header({reinterpret_cast<const char*>(bytes.data()) + start, length}));
  const auto elements = checked_product(header.sizes);
  const auto size = elements ? dtype_bytes(header.dtype, *elements) : std::nullopt;
  const std::span<const std::byte> data = bytes.subspan(start + length);
  if (!size || static_cast<uint64_t>(*size) != data.size())
    return invalid_argument("its shape {}{} needs {} bytes, but {} follow the header", dtype_name(header.dtype),
                            Shape::of(header.sizes).to_string(), size ? fmt::to_string(*size) : "more than 2^63",
                            data.size());
  NEREID_TRY(ops::Tensor tensor, ops::Tensor::zeros(header.dtype, header.sizes));
  if (header.columns_first && header.sizes.size() > 1) {
    transpose_columns(data, tensor.view());
  } else if (!data.empty()) {
    std::memcpy(tensor.bytes.data(), data.data(), data.size());
  }
  if (header.is_swapped) swap_numbers(tensor.bytes, tensor.dtype);
  if (tensor.dtype == DType::boolean)
    for (std::byte& b : tensor.bytes) b = std::byte{b != std::byte{0}};
  return tensor;
}

Result<ops::Tensor> read_npy(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  return parse_npy(file.bytes()).with(fmt::format("reading {}", path));
}

std::string npy_header(DType dtype, std::span<const int64_t> sizes) {
  NEREID_CHECK(fits(dtype));
  const bool one_byte = dtype_info(dtype).block_bytes == 1;
  std::string shape;
  for (const int64_t size : sizes) shape += fmt::format("{}{}", shape.empty() ? "" : " ", size) + ",";
  if (sizes.size() > 1) shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", one_byte ? '|' : '<',
                                   numpy_name(dtype), shape);
  const bool is_long = header.size() + kAlignment > 0xffff;
  const size_t start = is_long ? 12 : 10;
  const size_t whole = (start + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.append(whole - start - header.size() - 1, ' ').push_back('\n');
  std::string out(kMagic);
  out.push_back(is_long ? '\2' : '\1');
  out.push_back('\0');
  for (size_t i = 0, length = header.size(); i < start - 8; ++i, length >>= 8)
    out.push_back(static_cast<char>(length & 0xff));
  return out + header;
}

}  // namespace nereid::import::npy
