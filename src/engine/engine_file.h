// SPDX-License-Identifier: Apache-2.0
// The engine file: a compiled model that is opened by mapping it, whose header can be read without loading anything.
//
//     4096 bytes  header: magic, version, file size, section table, hash of these
//     sections    each at a multiple of 64: "info" (JSON: who built it, from what, for what, the weights' table),
//                 "graph" (text), "metadata" (base/metadata.h: tokenizer, template), "weights.sums" (one hash a chunk)
//     "weights"   at a multiple of 4096, the last one
//
// Everything is little endian and a pure function of the inputs: the same model and options give the same bytes.
// The packed weights do not depend on the instruction set, so one file serves every CPU; a reader of another version
// refuses with a sentence, and the caller builds anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid::engine {

inline constexpr uint32_t kEngineVersion = 1;
inline constexpr int64_t kChunkBytes = int64_t{1} << 20;  // of the weights; each has its own hash

// One constant of the graph.
struct WeightEntry {
  std::string name;
  std::string
      layout;  // "" for plain row-major data of the constant's dtype; else how it is packed (kernels' text form)
  int64_t offset = 0;  // in the weights section; a multiple of 64
  int64_t bytes = 0;
};

// Writes beside the target and renames at commit(): no reader ever sees half an engine.
class EngineWriter {
 public:
  static Result<EngineWriter> create(const std::string& path);
  // Appends a weight in one or more pieces; entries keep the order of begin_weight.
  Status begin_weight(std::string name, std::string layout);
  Status write_weight(std::span<const std::byte> bytes);
  // Writes the other sections and the header. `info` gains "weights" (the table).
  Status commit(Json info, std::string_view graph_text, std::string_view metadata);

 private:
  explicit EngineWriter(AtomicFile file) : file_(std::move(file)) {}
  Status append(std::span<const std::byte> bytes);
  Status pad_to(int64_t alignment);
  Status add_section(std::string_view name, std::span<const std::byte> bytes);

  struct Section {
    std::string name;
    int64_t offset = 0, size = 0;
    uint64_t hash = 0;
  };
  AtomicFile file_;
  std::vector<WeightEntry> weights_;
  std::vector<Section> sections_;
  std::vector<std::byte> chunk_;  // bytes of the chunk being filled
  std::vector<uint64_t> sums_;
};

// Read only, any number of threads.
class EngineFile {
 public:
  // kInvalidArgument: not an engine, truncated or corrupt (says what and where); kUnsupported: another version.
  // All sections but the weights are verified here; weights are verified as they are read.
  static Result<EngineFile> open(const std::string& path);
  // True if a file's first bytes are an engine's.
  static bool has_magic(std::span<const std::byte> bytes);

  const std::string& path() const { return file_.path(); }
  const Json& info() const { return info_; }
  std::string_view graph_text() const { return graph_text_; }
  std::string_view metadata() const { return metadata_; }
  const std::vector<WeightEntry>& weights() const { return weights_; }
  int64_t weights_bytes() const { return weights_size_; }
  int64_t chunk_count() const { return static_cast<int64_t>(sums_.size()); }
  // Reads chunk i of the weights into dst (its full size, the last one shorter) and verifies it.
  Status read_chunk(int64_t i, std::byte* dst) const;

 private:
  MappedFile file_;
  UniqueFd fd_;  // weights are read through it: pages read this way count against no process
  Json info_;
  std::string_view graph_text_, metadata_;
  std::vector<WeightEntry> weights_;
  std::span<const uint64_t> sums_;
  int64_t weights_offset_ = 0, weights_size_ = 0;
};

}  // namespace nereid::engine
