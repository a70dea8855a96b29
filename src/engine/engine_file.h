// SPDX-License-Identifier: Apache-2.0
// The engine file: a compiled model that is opened by mapping it, whose header can be read without loading anything.
//
//     header        4096 bytes: magic, version, file size, section table, hash of these
//     weights       packed, each weight at a multiple of 64 bytes
//     weights.sums  one hash a chunk of the weights
//     info          JSON: who built it, from what, for what, the weights' table
//     graph         text (graph/text.h)
//     metadata      base/metadata.h: tokenizer, chat template
//
// Sections follow each other at multiples of 64 with zeros between, and every byte is under some checksum or checked to
// be zero: no change goes unseen, and no two files mean the same.
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
#include "base/thread_pool.h"
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

  AtomicFile file_;
  std::vector<WeightEntry> weights_;
  int64_t weights_bytes_ = 0;     // with the padding between
  std::vector<std::byte> chunk_;  // bytes of the chunk being filled
  std::vector<uint64_t> sums_;
};

// Read only, any number of threads.
class EngineFile {
 public:
  // kInvalidArgument: not an engine, truncated or corrupt (says what and where); kUnsupported: another version.
  // All sections but the weights are verified here; weights are verified as they are read.
  static Result<EngineFile> open(const std::string& path);
  // The same on bytes that outlive it; `path` is for messages. For what is in memory already: tests, fuzzers.
  static Result<EngineFile> parse(std::span<const std::byte> bytes, std::string path);
  // True if a file's first bytes are an engine's.
  static bool has_magic(std::span<const std::byte> bytes);

  const std::string& path() const { return path_; }
  const Json& info() const { return info_; }
  std::string_view graph_text() const { return graph_text_; }
  std::string_view metadata() const { return metadata_; }
  const std::vector<WeightEntry>& weights() const { return weights_; }
  int64_t weights_bytes() const { return static_cast<int64_t>(weights_section_.size()); }
  // Of what is computed with it: graph, weights and metadata; not of who made it from what.
  uint64_t fingerprint() const;
  // The weights where they are mapped, not verified; they live as long as this object (moving it changes nothing).
  std::span<const std::byte> mapped_weights() const { return weights_section_; }
  int64_t chunk_count() const { return static_cast<int64_t>(sums_.size()); }
  // Reads chunk i of the weights into dst (its full size, the last one shorter) and verifies it.
  Status read_chunk(int64_t i, std::byte* dst) const;
  // Reads and verifies all of them with all workers; into dst, which holds weights_bytes(), or nowhere if it is null
  // (beside the mapping, so that none of its pages become resident).
  Status read_weights(ThreadPool& pool, std::byte* dst = nullptr) const;

 private:
  std::string path_;
  MappedFile file_;
  UniqueFd fd_;  // weights are read through it: pages read this way count against no process
  Json info_;
  std::string_view graph_text_, metadata_;
  std::vector<WeightEntry> weights_;
  std::vector<uint64_t> sums_;
  std::span<const std::byte> weights_section_;
};

}  // namespace nereid::engine
