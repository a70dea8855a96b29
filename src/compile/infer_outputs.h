// SPDX-License-Identifier: Apache-2.0
// The folder that `nereid infer` writes: one file an output, and outputs.json.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/infer_files.h"
#include "ops/datum.h"

namespace nereid::compile {

// The file of an output without its ending: its name with bytes outside [A-Za-z0-9._-] and a leading '.' as %XX;
// output_INDEX where the name is empty or too long for a file.
std::string output_stem(std::string_view name, size_t index);

// Writes nothing outside its folder, not even through a link that lies there. Unless commit() is called, the destructor
// removes every file written and every folder made.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  OutputFolder(const OutputFolder&) = delete;
  ~OutputFolder();

  // Refuses what is there and no folder; removes the results of an earlier run, but for files that are `in_use`: a
  // result may be the next run's input.
  Status prepare(std::span<const std::string> in_use = {});
  // `type` is the declared one: whether a tensor is the value of an optional is not seen in the value.
  Result<InferredValue> write(std::string_view name, const ops::Datum& value, const ops::TensorType& type);
  // Writes the list.
  Status commit(const std::vector<InferredValue>& outputs);

 private:
  Status make();
  Status write_file(const std::string& name, std::span<const std::string_view> parts);

  std::string path_;
  std::vector<std::string> made_;     // folders, outermost first
  std::vector<std::string> written_;  // paths
  std::set<std::string> names_;       // of files, taken
  size_t count_ = 0;
  bool is_made_ = false, is_done_ = false;
};

}  // namespace nereid::compile
