// SPDX-License-Identifier: Apache-2.0
// Writes an engine file front to back: weights first, since their size is known last, the header at the end.
#include <algorithm>
#include <cstring>

#include "engine/engine_file.h"
#include "engine/engine_format.h"

namespace nereid::engine {

Result<EngineWriter> EngineWriter::create(const std::string& path) {
  NEREID_TRY(AtomicFile file, AtomicFile::create(path));
  EngineWriter writer(std::move(file));
  const std::vector<std::byte> zeros(kHeaderBytes);
  NEREID_RETURN_IF_ERROR(writer.file_.write(zeros));
  return writer;
}

Status EngineWriter::begin_weight(std::string name, std::string layout) {
  static constexpr std::byte kZeros[kSectionAlignment] = {};
  const int64_t padding = next_section(weights_bytes_) - weights_bytes_;
  NEREID_RETURN_IF_ERROR(append({kZeros, static_cast<size_t>(padding)}));
  weights_.push_back({.name = std::move(name), .layout = std::move(layout), .offset = weights_bytes_});
  return Status::ok();
}

Status EngineWriter::write_weight(std::span<const std::byte> bytes) {
  NEREID_CHECK(!weights_.empty());
  weights_.back().bytes += static_cast<int64_t>(bytes.size());
  return append(bytes);
}

Status EngineWriter::append(std::span<const std::byte> bytes) {
  NEREID_RETURN_IF_ERROR(file_.write(bytes));
  weights_bytes_ += static_cast<int64_t>(bytes.size());
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

Status EngineWriter::commit(Json info, std::string_view graph_text, std::string_view metadata) {
  if (!chunk_.empty()) sums_.push_back(xxhash64(chunk_));
  Json table = Json::array();
  for (const WeightEntry& w : weights_) table.push_back({w.name, w.layout, w.offset, w.bytes});
  info["weights"] = std::move(table);
  info["engine_version"] = kEngineVersion;
  // Paths need not be UTF-8.
  const std::string text = info.dump(-1, ' ', false, Json::error_handler_t::replace);

  Header header{};
  header.magic = kMagic;
  header.version = kEngineVersion;
  header.section_count = kSectionCount;
  header.sections[kWeights].offset = kHeaderBytes;
  header.sections[kWeights].size = weights_bytes_;
  const std::array<std::span<const std::byte>, kSectionCount> contents = {
      std::span<const std::byte>(), std::as_bytes(std::span(sums_)), std::as_bytes(std::span(text)),
      std::as_bytes(std::span(graph_text)), std::as_bytes(std::span(metadata))};
  for (size_t i = 0; i < kSectionCount; ++i) {
    SectionRecord& r = header.sections[i];
    std::copy(kSectionNames[i].begin(), kSectionNames[i].end(), r.name.begin());
    if (i == kWeights) continue;
    const std::vector<std::byte> padding(static_cast<size_t>(next_section(file_.size()) - file_.size()));
    NEREID_RETURN_IF_ERROR(file_.write(padding));
    r.offset = file_.size();
    r.size = static_cast<int64_t>(contents[i].size());
    r.hash = xxhash64(contents[i]);
    NEREID_RETURN_IF_ERROR(file_.write(contents[i]));
  }
  header.file_size = file_.size();
  header.hash = header_hash(header);
  NEREID_RETURN_IF_ERROR(file_.write_at(0, std::as_bytes(std::span(&header, 1))));
  return file_.commit();
}

}  // namespace nereid::engine
