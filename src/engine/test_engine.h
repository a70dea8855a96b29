// SPDX-License-Identifier: Apache-2.0
// For tests only: a small engine, its bytes, and changes to them that keep the checksums right.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/test_dir.h"
#include "engine/engine_file.h"
#include "engine/engine_format.h"

namespace nereid::engine::testing {

inline std::vector<std::byte> numbered_bytes(size_t n) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Three weights, the second one in two pieces and `middle` bytes long; more than one chunk from about a megabyte on.
inline Status write_engine(const std::string& path, size_t middle = 1000) {
  NEREID_TRY(EngineWriter writer, EngineWriter::create(path));
  NEREID_RETURN_IF_ERROR(writer.begin_weight("norm", ""));
  NEREID_RETURN_IF_ERROR(writer.write_weight(numbered_bytes(36)));
  NEREID_RETURN_IF_ERROR(writer.begin_weight("matrix", "tile16 f32 group=32 offset=0 zero=0 rows=1 cols=1"));
  const std::vector<std::byte> bytes = numbered_bytes(middle);
  NEREID_RETURN_IF_ERROR(writer.write_weight(std::span(bytes).first(middle / 3)));
  NEREID_RETURN_IF_ERROR(writer.write_weight(std::span(bytes).subspan(middle / 3)));
  NEREID_RETURN_IF_ERROR(writer.begin_weight("last", ""));
  NEREID_RETURN_IF_ERROR(writer.write_weight(numbered_bytes(5)));
  return writer.commit({{"producer", "test"}}, "graph main {\n}\n", "metadata");
}

inline std::vector<std::byte> engine_bytes(size_t middle = 1000) {
  const TestDir dir;
  NEREID_CHECK(write_engine(dir / "e", middle).is_ok());
  const std::string text = read_file(dir / "e", size_t{64} << 20).value();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The bytes with their header changed and all hashes made right again: what is left wrong must be found by looking.
inline std::vector<std::byte> with_header(std::vector<std::byte> bytes, const std::function<void(Header&)>& change) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  for (SectionRecord& r : header.sections) {
    const auto size = static_cast<int64_t>(bytes.size());
    if (&r != &header.sections[kWeights] && r.offset >= 0 && r.size >= 0 && r.offset <= size &&
        r.size <= size - r.offset)
      r.hash = xxhash64(std::span(bytes).subspan(static_cast<size_t>(r.offset), static_cast<size_t>(r.size)));
  }
  header.hash = header_hash(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

// The same engine with another info section.
inline std::vector<std::byte> with_info(const std::vector<std::byte>& bytes, std::string_view info) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::vector<std::byte> out(bytes.begin(), bytes.begin() + header.sections[kInfo].offset);
  const auto append = [&](SectionIndex i, std::span<const std::byte> section) {
    out.resize(static_cast<size_t>(next_section(static_cast<int64_t>(out.size()))));
    header.sections[i].offset = static_cast<int64_t>(out.size());
    header.sections[i].size = static_cast<int64_t>(section.size());
    out.insert(out.end(), section.begin(), section.end());
  };
  const auto old = [&](SectionIndex i) {
    Header before;
    std::memcpy(&before, bytes.data(), sizeof(before));
    return std::span(bytes).subspan(static_cast<size_t>(before.sections[i].offset),
                                    static_cast<size_t>(before.sections[i].size));
  };
  append(kInfo, std::as_bytes(std::span(info)));
  append(kGraph, old(kGraph));
  append(kMetadata, old(kMetadata));
  header.file_size = static_cast<int64_t>(out.size());
  const Header moved = header;
  return with_header(std::move(out), [&](Header& h) { h = moved; });
}

}  // namespace nereid::engine::testing
