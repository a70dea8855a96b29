// SPDX-License-Identifier: Apache-2.0
// Files of traces in Triton's form: a JSON array each, FILE itself or, where a file holds only so many traces, FILE.0,
// FILE.1 and so on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace nereid::server::trace {

// Thread-safe. What cannot be written is told once and dropped.
class TraceFile {
 public:
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  ~TraceFile();  // ends the array of FILE
  const std::string& path() const { return path_; }
  // Members of an array, separated by commas, behind what FILE has.
  void append(std::string_view members);
  // A file of its own, by the next number.
  void write_numbered(std::string_view members);

 private:
  const std::string path_;
  std::mutex mutex_;
  bool has_begun_ = false;
  int next_ = 0;
};

// What a scope of settings has traced, until a file takes it: at the end, in portions that memory can hold, or whenever
// as many are there as a file is to hold. Thread-safe.
class TraceCollector {
 public:
  // `log_frequency` 0: no files of their own.
  TraceCollector(std::shared_ptr<TraceFile> file, uint32_t log_frequency)
      : file_(std::move(file)), log_frequency_(log_frequency) {}
  ~TraceCollector();
  void add(std::string_view members);

 private:
  const std::shared_ptr<TraceFile> file_;
  const uint32_t log_frequency_;
  std::mutex mutex_;
  std::string waiting_;
  uint32_t count_ = 0;
};

}  // namespace nereid::server::trace
