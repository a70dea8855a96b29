// SPDX-License-Identifier: Apache-2.0
#include "import/gguf/gguf.h"

#include <algorithm>
#include <cstring>

#include "import/gguf/cursor.h"
#include "import/gguf/read_metadata.h"
#include "import/gguf/read_tensors.h"

namespace nereid::import::gguf {
namespace {

constexpr char kMagic[4] = {'G', 'G', 'U', 'F'};
constexpr int64_t kDefaultAlignment = 32;  // bytes, when general.alignment is absent
constexpr uint64_t kAlignmentUnit = 8;     // bytes; the format wants a multiple of it

Result<uint32_t> read_version(Cursor& cursor) {
  NEREID_TRY(const uint32_t version, cursor.read<uint32_t>("its version"));
  // A small number stored the other way round has its low half empty.
  if (version != 0 && (version & 0xffffu) == 0)
    return unsupported(
        "the file is big endian (its version reads as {:#010x}); expected little endian: convert it with the tool that "
        "made it",
        version);
  if (version == 1)
    return unsupported(
        "the file is of GGUF version 1; expected version 2 or 3: convert the model again with a newer tool");
  if (version != 2 && version != 3)
    return unsupported("the file is of GGUF version {}; expected version 2 or 3", version);
  return version;
}

Result<uint64_t> read_alignment(const Metadata& metadata) {
  int64_t alignment = kDefaultAlignment;
  if (metadata.has("general.alignment")) {
    NEREID_TRY(alignment, metadata.get_int("general.alignment"));
  }
  if (alignment <= 0 || static_cast<uint64_t>(alignment) % kAlignmentUnit != 0)
    return invalid_argument("general.alignment is {}; expected a positive multiple of {}", alignment, kAlignmentUnit);
  return static_cast<uint64_t>(alignment);
}

}  // namespace

bool has_gguf_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(kMagic) && std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) == 0;
}

const Tensor* GgufFile::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name.begin(), by_name.end(), name,
                                   [this](uint32_t index, std::string_view n) { return tensors[index].name < n; });
  return at != by_name.end() && tensors[*at].name == name ? &tensors[*at] : nullptr;
}

Result<GgufFile> parse(std::span<const std::byte> bytes) {
  NEREID_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % kAlignmentUnit == 0);
  if (bytes.empty()) return invalid_argument("the file is empty; expected a GGUF file");
  if (!has_gguf_magic(bytes)) return invalid_argument("the file does not start with the four letters GGUF");
  Cursor cursor(bytes.subspan(0));
  NEREID_RETURN_IF_ERROR(cursor.read<uint32_t>("its magic"));

  GgufFile file;
  NEREID_TRY(file.version, read_version(cursor));
  NEREID_TRY(const uint64_t tensor_count, cursor.read<uint64_t>("its tensor count"));
  NEREID_TRY(const uint64_t pair_count, cursor.read<uint64_t>("its metadata count"));
  NEREID_TRY(file.metadata, read_metadata(cursor, pair_count));
  NEREID_TRY(file.alignment, read_alignment(file.metadata));
  NEREID_TRY(file.tensors, read_tensors(cursor, tensor_count, file.alignment, bytes));
  NEREID_TRY(file.by_name, index_by_name(file.tensors));
  return file;
}

}  // namespace nereid::import::gguf
