// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/file.h"
#include "engine/engine_format.h"

namespace nereid::engine {
namespace {

Status corrupt(const std::string& path, std::string_view what) {
  return invalid_argument("the engine '{}' is corrupt: {}; build it anew", path, what);
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// The header, which says where everything is, checked against the file around it.
Result<Header> read_header(std::span<const std::byte> bytes, const std::string& path) {
  if (!EngineFile::has_magic(bytes))
    return invalid_argument("'{}' is not a Nereid engine: it does not begin with NEREIDEN", path);
  if (bytes.size() < kHeaderBytes)
    return corrupt(path, fmt::format("it ends after {} bytes, inside its header", bytes.size()));
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kEngineVersion)
    return unsupported("the engine '{}' has format version {}, this Nereid reads version {}; build it anew", path,
                       header.version, kEngineVersion);
  if (header.hash != header_hash(header)) return corrupt(path, "its header does not match its checksum");
  if (header.file_size != static_cast<int64_t>(bytes.size()))
    return corrupt(path, fmt::format("it has {} bytes, its header says {}", bytes.size(), header.file_size));
  if (header.section_count != kSectionCount)
    return corrupt(path, fmt::format("it has {} sections instead of {}", header.section_count, size_t{kSectionCount}));
  return header;
}

// The sections, which follow each other without overlap and with zeros between.
Result<std::array<std::span<const std::byte>, kSectionCount>> read_sections(std::span<const std::byte> bytes,
                                                                            const Header& header,
                                                                            const std::string& path) {
  std::array<std::span<const std::byte>, kSectionCount> sections;
  int64_t end = kHeaderBytes;
  for (size_t i = 0; i < kSectionCount; ++i) {
    const SectionRecord& r = header.sections[i];
    const std::string_view name = kSectionNames[i];
    if (std::string_view(r.name.data(), strnlen(r.name.data(), r.name.size())) != name)
      return corrupt(path, fmt::format("its section {} should be '{}'", i, name));
    if (r.offset != next_section(end) || r.size < 0 || r.offset > header.file_size ||
        r.size > header.file_size - r.offset)
      return corrupt(path, fmt::format("its section '{}' lies outside the file or on top of another", name));
    if (!all_zero(bytes.subspan(static_cast<size_t>(end), static_cast<size_t>(r.offset - end))))
      return corrupt(path, fmt::format("there is something between its sections, before '{}'", name));
    end = r.offset + r.size;
    sections[i] = bytes.subspan(static_cast<size_t>(r.offset), static_cast<size_t>(r.size));
    if (i != kWeights && xxhash64(sections[i]) != r.hash)
      return corrupt(path, fmt::format("its section '{}' does not match its checksum", name));
  }
  if (end != header.file_size) return corrupt(path, "there is something behind its last section");
  return sections;
}

Result<std::vector<WeightEntry>> read_table(const Json& info, int64_t weights_bytes, const std::string& path) {
  const Json* table = json_find(info, "weights");
  if (!table || !table->is_array()) return corrupt(path, "it has no table of weights");
  std::vector<WeightEntry> weights;
  for (const Json& row : *table) {
    if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_string() ||
        !row[2].is_number_integer() || !row[3].is_number_integer())
      return corrupt(path, "its table of weights is malformed");
    WeightEntry w{row[0].get<std::string>(), row[1].get<std::string>(), row[2].get<int64_t>(), row[3].get<int64_t>()};
    if (w.offset < 0 || w.bytes < 0 || w.offset % kSectionAlignment != 0 || w.offset > weights_bytes ||
        w.bytes > weights_bytes - w.offset)
      return corrupt(path, fmt::format("its weight '{}' lies outside the weights", w.name));
    weights.push_back(std::move(w));
  }
  return weights;
}

std::string_view text(std::span<const std::byte> section) {
  return {reinterpret_cast<const char*>(section.data()), section.size()};
}

}  // namespace

bool EngineFile::has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<EngineFile> EngineFile::parse(std::span<const std::byte> bytes, std::string path) {
  EngineFile e;
  e.path_ = std::move(path);
  NEREID_TRY(const Header header, read_header(bytes, e.path_));
  NEREID_TRY(const auto sections, read_sections(bytes, header, e.path_));
  e.weights_section_ = sections[kWeights];
  const size_t chunks = (e.weights_section_.size() + kChunkBytes - 1) / kChunkBytes;
  if (sections[kSums].size() != chunks * sizeof(uint64_t))
    return corrupt(e.path_, "it has not one checksum for each chunk of weights");
  e.sums_.resize(chunks);
  std::memcpy(e.sums_.data(), sections[kSums].data(), sections[kSums].size());
  e.graph_text_ = text(sections[kGraph]);
  e.metadata_ = text(sections[kMetadata]);
  NEREID_TRY(e.info_, parse_json(text(sections[kInfo])).with("the engine '" + e.path_ + "'"));
  NEREID_TRY(e.weights_, read_table(e.info_, e.weights_bytes(), e.path_));
  return e;
}

Result<EngineFile> EngineFile::open(const std::string& path) {
  NEREID_TRY(MappedFile file, MappedFile::open(path));
  NEREID_TRY(EngineFile e, parse(file.bytes(), path));
  NEREID_TRY(OpenedFile opened, open_regular_file(path));
  e.file_ = std::move(file);
  e.fd_ = std::move(opened.fd);
  return e;
}

uint64_t EngineFile::fingerprint() const {
  XxHash64 hash;
  hash.update(std::as_bytes(std::span(sums_)));
  hash.update(graph_text_);
  hash.update(metadata_);
  return hash.digest();
}

Status EngineFile::read_chunk(int64_t i, std::byte* dst) const {
  NEREID_CHECK(i >= 0 && i < chunk_count());
  const auto offset = static_cast<size_t>(i * kChunkBytes);
  const size_t size = std::min(static_cast<size_t>(kChunkBytes), weights_section_.size() - offset);
  if (fd_) {
    for (size_t done = 0; done < size;) {
      const ssize_t n = pread(fd_.get(), dst + done, size - done, static_cast<off_t>(kHeaderBytes + offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return file_error(errno, "read", path());
      if (n == 0) return corrupt(path(), "it was cut short while it was read");
      done += static_cast<size_t>(n);
    }
  } else {
    std::memcpy(dst, weights_section_.data() + offset, size);
  }
  if (xxhash64({dst, size}) != sums_[static_cast<size_t>(i)])
    return corrupt(path(), fmt::format("the weights at byte {} do not match their checksum", offset));
  return Status::ok();
}

Status EngineFile::read_weights(ThreadPool& pool, std::byte* dst) const {
  std::mutex mutex;
  Status first;
  std::atomic<int64_t> next{0};
  pool.run([&](Worker&) {
    std::vector<std::byte> nowhere(dst == nullptr ? kChunkBytes : 0);
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunk_count();) {
      Status s = read_chunk(i, dst == nullptr ? nowhere.data() : dst + i * kChunkBytes);
      if (s.is_ok()) continue;
      const std::lock_guard lock(mutex);
      if (first.is_ok()) first = std::move(s);
    }
  });
  return first;
}

}  // namespace nereid::engine
