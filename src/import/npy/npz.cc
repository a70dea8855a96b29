// SPDX-License-Identifier: Apache-2.0
// Archives of arrays: as much of the zip format as NumPy writes. All numbers are little endian; the directory at the
// end is what counts, a local header only tells where its data begins.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "base/mapped_file.h"
#include "import/npy/npy.h"

namespace nereid::import::npy {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint64_t kIn64 = 0xffffffff;  // "the zip64 part has it"

uint64_t number(std::span<const std::byte> bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i > 0; --i) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i - 1]);
  return value;
}

// The part [at, at + size), if it is there.
std::optional<std::span<const std::byte>> part(std::span<const std::byte> bytes, uint64_t at, uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.subspan(static_cast<size_t>(at), static_cast<size_t>(size));
}

struct Directory {
  uint64_t entries = 0, offset = 0;
};

Result<Directory> find_directory(std::span<const std::byte> file) {
  // The end record is last but for a comment of at most 64 KiB.
  const size_t lowest = file.size() > kEndBytes + 0xffff ? file.size() - kEndBytes - 0xffff : 0;
  for (size_t at = file.size() < kEndBytes ? 0 : file.size() - kEndBytes + 1; at-- > lowest;) {
    if (number(file, at, 4) != kEndMagic) continue;
    Directory found{number(file, at + 10, 2), number(file, at + 16, 4)};
    if (at >= kLocator64Bytes && number(file, at - kLocator64Bytes, 4) == kLocator64Magic) {
      const auto end64 = part(file, number(file, at - kLocator64Bytes + 8, 8), kEnd64Bytes);
      if (!end64 || number(*end64, 0, 4) != kEnd64Magic)
        return invalid_argument("its zip64 end record is not where its locator says");
      found = {number(*end64, 32, 8), number(*end64, 48, 8)};
    }
    return found;
  }
  return invalid_argument("it has no zip directory at its end, so it is no .npz file or was cut off");
}

struct Entry {
  std::string name;
  uint64_t flags = 0, method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

// The zip64 extra field holds those of size, packed and offset that do not fit 32 bits, in this order.
Status read_extra(std::span<const std::byte> extra, Entry* entry) {
  while (extra.size() >= 4) {
    const uint64_t id = number(extra, 0, 2);
    auto field = part(extra, 4, number(extra, 2, 2));
    if (!field) break;
    extra = extra.subspan(4 + field->size());
    if (id != 1) continue;
    for (uint64_t* value : {&entry->size, &entry->packed, &entry->offset}) {
      if (*value != kIn64) continue;
      if (field->size() < 8) return invalid_argument("the zip64 field of '{}' is too short", entry->name);
      *value = number(*field, 0, 8);
      field = field->subspan(8);
    }
  }
  return Status::ok();
}

// Reads the directory entry at `*at` and moves behind it.
Result<Entry> next_entry(std::span<const std::byte> file, uint64_t* at) {
  const auto fixed = part(file, *at, kEntryBytes);
  if (!fixed || number(*fixed, 0, 4) != kEntryMagic)
    return invalid_argument("its directory is damaged at byte {}", *at);
  Entry entry{.name = {},
              .flags = number(*fixed, 8, 2),
              .method = number(*fixed, 10, 2),
              .crc = number(*fixed, 16, 4),
              .packed = number(*fixed, 20, 4),
              .size = number(*fixed, 24, 4),
              .offset = number(*fixed, 42, 4)};
  const uint64_t name_bytes = number(*fixed, 28, 2), extra_bytes = number(*fixed, 30, 2);
  const auto name = part(file, *at + kEntryBytes, name_bytes);
  const auto extra = part(file, *at + kEntryBytes + name_bytes, extra_bytes);
  if (!name || !extra) return invalid_argument("its directory is cut off at byte {}", *at);
  entry.name.assign(reinterpret_cast<const char*>(name->data()), name->size());
  NEREID_RETURN_IF_ERROR(read_extra(*extra, &entry));
  *at += kEntryBytes + name_bytes + extra_bytes + number(*fixed, 32, 2);
  return entry;
}

Result<std::vector<std::byte>> inflate_all(std::span<const std::byte> packed, uint64_t size) {
  // Deflate packs at most 1032 to one: what claims more is damaged, and nothing is allocated for it.
  if (size / 1032 > packed.size() || packed.size() > std::numeric_limits<uInt>::max() ||
      size > std::numeric_limits<uInt>::max())
    return invalid_argument("it is said to unpack {} bytes to {}, which deflate cannot do or is over 4 GiB",
                            packed.size(), size);
  std::vector<std::byte> out(static_cast<size_t>(size) + 1);  // one more, to see what is too long
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return exhausted("zlib has no memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size(), std::numeric_limits<uInt>::max()));
  const int code = inflate(&stream, Z_FINISH);
  const uint64_t made = stream.total_out;
  inflateEnd(&stream);
  if (code != Z_STREAM_END || made != size)
    return invalid_argument("its packed bytes are damaged: they unpack to {} bytes where {} are expected", made, size);
  out.resize(static_cast<size_t>(size));
  return out;
}

uint64_t crc_of(std::span<const std::byte> bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

Result<ops::Tensor> unpack(std::span<const std::byte> file, const Entry& entry) {
  if (entry.flags & 1) return unsupported("it is encrypted");
  const auto local = part(file, entry.offset, kLocalBytes);
  if (!local || number(*local, 0, 4) != kLocalMagic) return invalid_argument("it is not where the directory says");
  const auto packed =
      part(file, entry.offset + kLocalBytes + number(*local, 26, 2) + number(*local, 28, 2), entry.packed);
  if (!packed) return invalid_argument("its {} bytes go past the end of the file", entry.packed);
  std::vector<std::byte> unpacked;
  std::span<const std::byte> bytes = *packed;
  if (entry.method == 8) {
    NEREID_TRY(unpacked, inflate_all(*packed, entry.size));
    bytes = unpacked;
  } else if (entry.method != 0) {
    return unsupported("its compression method is {}; 0 (stored) and 8 (deflated) are read", entry.method);
  } else if (entry.size != entry.packed) {
    return invalid_argument("it is stored, but its two sizes are {} and {}", entry.packed, entry.size);
  }
  if (crc_of(bytes) != entry.crc) return invalid_argument("its bytes do not match its checksum");
  return parse_npy(bytes);
}

}  // namespace

bool looks_like_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && (number(bytes, 0, 4) == kLocalMagic || number(bytes, 0, 4) == kEndMagic);
}

Result<NamedTensors> parse_npz(std::span<const std::byte> bytes) {
  NEREID_TRY(const Directory directory, find_directory(bytes));
  if (directory.entries > bytes.size() / kEntryBytes)
    return invalid_argument("its directory is said to have {} entries, more than fit the file", directory.entries);
  NamedTensors tensors;
  std::set<std::string, std::less<>> names;
  uint64_t total = 0;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    NEREID_TRY(Entry entry, next_entry(bytes, &at));
    // Entries that share bytes could unpack the same ones again and again.
    total += entry.packed;
    if (total > bytes.size()) return invalid_argument("its entries overlap");
    if (!entry.name.ends_with(".npy")) return unsupported("it holds '{}', which is no .npy file", entry.name);
    NEREID_TRY(ops::Tensor tensor, unpack(bytes, entry).with(fmt::format("'{}'", entry.name)));
    entry.name.resize(entry.name.size() - 4);
    if (!names.insert(entry.name).second) return invalid_argument("it holds '{}' twice", entry.name);
    tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return tensors;
}

Result<NamedTensors> read_npz(const std::string& path) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  return parse_npz(file.bytes()).with(fmt::format("reading {}", path));
}

}  // namespace nereid::import::npy
