// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/checksum.h"
#include "base/file.h"

namespace nereid::engine {
namespace {

constexpr std::array<char, 8> kMagic = {'N', 'E', 'R', 'E', 'I', 'D', 'E', 'N'};
constexpr int64_t kHeaderBytes = 4096;
constexpr int64_t kSectionAlignment = 64;
constexpr int64_t kWeightsAlignment = 4096;
constexpr size_t kMaxSections = 16;

struct SectionRecord {
  char name[16];  // zero padded
  int64_t offset, size;
  uint64_t hash;  // of the bytes; 0 for "weights", which has a hash a chunk
};
static_assert(sizeof(SectionRecord) == 40);

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  int64_t file_size;
  SectionRecord sections[kMaxSections];
  uint64_t hash;  // of all the bytes before it
};
static_assert(sizeof(Header) == 24 + 40 * kMaxSections + 8);

uint64_t header_hash(const Header& h) {
  return xxhash64(std::as_bytes(std::span(&h, 1)).first(offsetof(Header, hash)));
}

Status corrupt(const std::string& path, std::string_view what) {
  return invalid_argument("the engine '{}' is corrupt: {}; build it anew", path, what);
}

}  // namespace

Result<EngineWriter> EngineWriter::create(const std::string& path) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  EngineWriter writer(std::move(file));
  const std::vector<std::byte> zeros(kHeaderBytes);
  NEREID_RETURN_IF_ERROR(writer.file_.write(zeros));
  writer.sections_.push_back({.name = "weights", .offset = kHeaderBytes});
  return writer;
}

// Weights come first in the file, since their size is known last; "offset" counts from the section's start.
Status EngineWriter::begin_weight(std::string name, std::string layout) {
  NEREID_RETURN_IF_ERROR(pad_to(kSectionAlignment));
  weights_.push_back({.name = std::move(name), .layout = std::move(layout), .offset = sections_[0].size});
  return Status::ok();
}

Status EngineWriter::write_weight(std::span<const std::byte> bytes) {
  weights_.back().bytes += static_cast<int64_t>(bytes.size());
  return append(bytes);
}

Status EngineWriter::append(std::span<const std::byte> bytes) {
  NEREID_RETURN_IF_ERROR(file_.write(bytes));
  sections_[0].size += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), static_cast<size_t>(kChunkBytes) - chunk_.size());
    chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    bytes = bytes.subspan(n);
    if (chunk_.size() == static_cast<size_t>(kChunkBytes)) {
      sums_.push_back(xxhash64(chunk_));
      chunk_.clear();
    }
  }
  return Status::ok();
}

Status EngineWriter::pad_to(int64_t alignment) {
  static constexpr std::byte kZeros[kSectionAlignment] = {};
  const int64_t rest = sections_[0].size % alignment;
  if (rest == 0) return Status::ok();
  return append({kZeros, static_cast<size_t>(alignment - rest)});
}

Status EngineWriter::add_section(std::string_view name, std::span<const std::byte> bytes) {
  static constexpr std::byte kZeros[kSectionAlignment] = {};
  const int64_t rest = file_.size() % kSectionAlignment;
  if (rest) NEREID_RETURN_IF_ERROR(file_.write(std::span(kZeros, static_cast<size_t>(kSectionAlignment - rest))));
  sections_.push_back({std::string(name), file_.size(), static_cast<int64_t>(bytes.size()), xxhash64(bytes)});
  return file_.write(bytes);
}

Status EngineWriter::commit(Json info, std::string_view graph_text, std::string_view metadata) {
  if (!chunk_.empty()) sums_.push_back(xxhash64(chunk_));
  Json table = Json::array();
  for (const WeightEntry& w : weights_) table.push_back({w.name, w.layout, w.offset, w.bytes});
  info["weights"] = std::move(table);
  info["engine_version"] = kEngineVersion;
  const std::string text = info.dump();
  NEREID_RETURN_IF_ERROR(add_section("weights.sums", std::as_bytes(std::span(sums_))));
  NEREID_RETURN_IF_ERROR(add_section("info", std::as_bytes(std::span(text))));
  NEREID_RETURN_IF_ERROR(add_section("graph", std::as_bytes(std::span(graph_text))));
  NEREID_RETURN_IF_ERROR(add_section("metadata", std::as_bytes(std::span(metadata))));
  Header header{};
  header.magic = kMagic;
  header.version = kEngineVersion;
  header.section_count = static_cast<uint32_t>(sections_.size());
  header.file_size = file_.size();
  for (size_t i = 0; i < sections_.size(); ++i) {
    SectionRecord& r = header.sections[i];
    std::memcpy(r.name, sections_[i].name.data(), std::min(sections_[i].name.size(), sizeof(r.name) - 1));
    r.offset = sections_[i].offset;
    r.size = sections_[i].size;
    r.hash = sections_[i].hash;
  }
  header.hash = header_hash(header);
  NEREID_RETURN_IF_ERROR(file_.write_at(0, std::as_bytes(std::span(&header, 1))));
  return file_.commit();
}

bool EngineFile::has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<EngineFile> EngineFile::open(const std::string& path) {
  EngineFile e;
  NEREID_TRY(e.file_, MappedFile::open(path));
  NEREID_TRY(OpenedFile opened, open_regular_file(path));
  e.fd_ = std::move(opened.fd);
  const std::span<const std::byte> bytes = e.file_.bytes();
  if (!has_magic(bytes)) return invalid_argument("'{}' is not a Nereid engine: it does not begin with NEREIDEN", path);
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
  if (header.section_count > kMaxSections) return corrupt(path, "it has too many sections");

  std::string_view info_text;
  for (uint32_t i = 0; i < header.section_count; ++i) {
    const SectionRecord& r = header.sections[i];
    const std::string_view name(r.name, strnlen(r.name, sizeof(r.name)));
    if (r.offset < 0 || r.size < 0 || r.offset % kSectionAlignment != 0 || r.offset > header.file_size ||
        r.size > header.file_size - r.offset)
      return corrupt(path, fmt::format("its section '{}' lies outside the file", name));
    const std::span<const std::byte> section =
        bytes.subspan(static_cast<size_t>(r.offset), static_cast<size_t>(r.size));
    const std::string_view text(reinterpret_cast<const char*>(section.data()), section.size());
    if (name == "weights") {
      if (r.offset % kWeightsAlignment != 0) return corrupt(path, "its weights are misaligned");
      e.weights_offset_ = r.offset;
      e.weights_size_ = r.size;
      continue;
    }
    if (xxhash64(section) != r.hash)
      return corrupt(path, fmt::format("its section '{}' does not match its checksum", name));
    if (name == "info") info_text = text;
    if (name == "graph") e.graph_text_ = text;
    if (name == "metadata") e.metadata_ = text;
    if (name == "weights.sums") e.sums_ = {reinterpret_cast<const uint64_t*>(section.data()), section.size() / 8};
  }
  if (static_cast<int64_t>(e.sums_.size()) != (e.weights_size_ + kChunkBytes - 1) / kChunkBytes)
    return corrupt(path, "it has not one checksum for each chunk of weights");
  NEREID_TRY(e.info_, parse_json(info_text).with("the engine '" + path + "'"));
  const auto table = e.info_.find("weights");
  if (table == e.info_.end() || !table->is_array()) return corrupt(path, "it has no table of weights");
  for (const Json& row : *table) {
    if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_string() ||
        !row[2].is_number_integer() || !row[3].is_number_integer())
      return corrupt(path, "its table of weights is malformed");
    WeightEntry w{row[0].get<std::string>(), row[1].get<std::string>(), row[2].get<int64_t>(), row[3].get<int64_t>()};
    if (w.offset < 0 || w.bytes < 0 || w.offset % kSectionAlignment != 0 || w.offset > e.weights_size_ ||
        w.bytes > e.weights_size_ - w.offset)
      return corrupt(path, fmt::format("its weight '{}' lies outside the weights", w.name));
    e.weights_.push_back(std::move(w));
  }
  return e;
}

Status EngineFile::read_chunk(int64_t i, std::byte* dst) const {
  const int64_t offset = i * kChunkBytes;
  const auto size = static_cast<size_t>(std::min(kChunkBytes, weights_size_ - offset));
  for (size_t done = 0; done < size;) {
    const ssize_t n = pread(fd_.get(), dst + done, size - done, weights_offset_ + offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(errno, "read", path());
    if (n == 0) return corrupt(path(), "it was cut short while it was read");
    done += static_cast<size_t>(n);
  }
  if (xxhash64({dst, size}) != sums_[static_cast<size_t>(i)])
    return corrupt(path(), fmt::format("the weights at byte {} do not match their checksum", offset));
  return Status::ok();
}

}  // namespace nereid::engine
