// SPDX-License-Identifier: Apache-2.0
#include "import/safetensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "import/safetensors/header.h"

namespace nereid::import::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are used as they stand in the file");

constexpr uint64_t kLengthBytes = 8;
// The limit of the format's own library; a real header of a thousand layers has a few megabytes.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

uint64_t header_length(std::span<const std::byte> bytes) {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length;
}

// The tensors in the order of their data must follow one another from 0 to `data_bytes`.
Status check_tiling(const std::vector<HeaderTensor>& tensors, uint64_t data_bytes) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(tensors[a].begin, tensors[a].end) < std::pair(tensors[b].begin, tensors[b].end);
  });
  uint64_t at = 0;
  for (uint32_t index : order) {
    const HeaderTensor& t = tensors[index];
    if (t.end > data_bytes)
      return invalid_argument(
          "tensor '{}': its data ends at byte {} of the data section, which has {}; the file is cut short or damaged",
          t.name, t.end, data_bytes);
    if (t.begin != at)
      return invalid_argument(
          "tensor '{}': its data starts at byte {} of the data section; expected {}, the end of the one before ({})",
          t.name, t.begin, at, t.begin < at ? "they overlap" : "there is a hole between them");
    at = t.end;
  }
  if (at != data_bytes)
    return invalid_argument("the tensors take {} bytes, but the data section has {}", at, data_bytes);
  return {};
}

// The view of a tensor's bytes where they stand, or of an aligned copy where its elements may not stand there.
Result<const void*> aligned_data(std::span<const std::byte> data, size_t element_bytes, std::vector<Buffer>& copies) {
  if (reinterpret_cast<uintptr_t>(data.data()) % element_bytes == 0) return static_cast<const void*>(data.data());
  NEREID_TRY(Buffer copy, Buffer::allocate(data.size()));
  std::memcpy(copy.data(), data.data(), data.size());
  copies.push_back(std::move(copy));
  return static_cast<const void*>(copies.back().data());
}

}  // namespace

const Tensor* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                   [](const Tensor& t, std::string_view n) { return std::string_view(t.name) < n; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

bool looks_like_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > kLengthBytes && header_length(bytes) <= kMaxHeaderBytes &&
         bytes[kLengthBytes] == std::byte{'{'};
}

Result<SafetensorsFile> parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes)
    return invalid_argument("the file has {} bytes; a safetensors file starts with an 8-byte header length",
                            bytes.size());
  const uint64_t length = header_length(bytes);
  if (length > kMaxHeaderBytes)
    return invalid_argument("the header length is {} bytes; expected at most {}: this is not a safetensors file",
                            length, kMaxHeaderBytes);
  if (length > bytes.size() - kLengthBytes)
    return invalid_argument(
        "the header length is {} bytes, but only {} follow; the file is cut short or is no safetensors file", length,
        bytes.size() - kLengthBytes);
  NEREID_TRY(const Header header,
             parse_header({reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, static_cast<size_t>(length)}));
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + length);
  NEREID_RETURN_IF_ERROR(check_tiling(header.tensors, data.size()));

  SafetensorsFile file;
  for (const auto& [key, value] : header.metadata)
    NEREID_RETURN_IF_ERROR(file.metadata.add(file.metadata.own(key), file.metadata.own(value)));
  file.tensors.reserve(header.tensors.size());
  for (const HeaderTensor& t : header.tensors) {
    NEREID_TRY(const void* at,
               aligned_data(data.subspan(t.begin, t.end - t.begin), dtype_info(t.dtype).block_bytes, file.copies));
    file.tensors.push_back({.name = t.name, .view = ConstTensorView(at, t.dtype, t.sizes)});
  }
  return file;
}

Result<SafetensorsFile> open(const std::string& path) {
  NEREID_TRY(MappedFile mapping, MappedFile::open(path));
  auto file = parse(mapping.bytes());
  if (!file) return file.status().with("reading " + path);
  file->files.push_back(std::move(mapping));
  return file;
}

}  // namespace nereid::import::safetensors
