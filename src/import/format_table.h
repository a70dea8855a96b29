// SPDX-License-Identifier: Apache-2.0
// The model formats that open_model() knows, one row each, and what it says about paths that are none of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "import/model_source.h"

namespace nereid::import {

// What can be seen of a path without reading it.
struct Probe {
  std::string path;
  bool is_directory = false;
  std::vector<std::byte> head;       // the first bytes of a file, at most 4096
  std::vector<std::string> entries;  // the names in a directory, sorted, at most 4096

  bool has_entry(std::string_view name) const;
  // The path ends in `ending`, whatever the case of its letters.
  bool is_named(std::string_view ending) const;
};

struct ModelFormat {
  std::string_view name;
  std::string_view description;  // for `expected ...` sentences
  bool (*recognises)(const Probe&);
  Result<ModelSource> (*open)(const std::string& path);
};

// Rows are asked in order; the first that recognises the probe opens it.
std::span<const ModelFormat> format_table();

Result<Probe> probe(const std::string& path);

// The refusal for a probe that no row recognises.
Status explain_unknown(const Probe& probe);

}  // namespace nereid::import
