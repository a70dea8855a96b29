// SPDX-License-Identifier: Apache-2.0
// A model's configuration: from config.pbtxt or JSON, completed, put in normal form, checked, printed as JSON.
//
// The message behind it is protobuf's, which stays in config_file.cc and config_json.cc: its headers are heavy.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/core/model_config.h"

namespace inference {
class ModelConfig;
}

namespace nereid::server {

struct VersionPolicy {
  enum class Kind : uint8_t { kLatest, kAll, kSpecific } kind = Kind::kLatest;
  uint32_t latest = 1;
  std::vector<int64_t> specific;
};

class ConfigFile {
 public:
  ConfigFile();
  ConfigFile(ConfigFile&&) noexcept;
  ConfigFile& operator=(ConfigFile&&) noexcept;
  ~ConfigFile();

  // kInvalidArgument with the line and column of what is wrong.
  static Result<ConfigFile> from_text(std::string_view text);
  static Result<ConfigFile> from_json(std::string_view json);

  // As far as anything acts on it.
  ModelConfig config() const;
  VersionPolicy versions() const;
  // Effective: every plain field, numbers as numbers, in the order of the message.
  std::string json() const;

  // "" when the file names none; else it must be `folder` (kInvalidArgument).
  Status take_name(const std::string& folder);
  // Platform, backend and the model's file, each from the others and from what lies in a version's folder.
  void complete_backend(const std::vector<std::string>& files);
  // What the backend found in the files, where the configuration is silent.
  void complete(const ConfigCompletion& found);
  // The defaults that are written out: version policy, preferred sizes, groups of instances, pinned memory.
  void normalise();
  // kInvalidArgument: what clients and operators have always been told.
  Status check() const;

 private:
  std::unique_ptr<inference::ModelConfig> message_;
};

}  // namespace nereid::server
