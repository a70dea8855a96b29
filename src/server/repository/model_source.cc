// SPDX-License-Identifier: Apache-2.0
#include "server/repository/model_source.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/log.h"
#include "server/repository/layout.h"
#include "server/repository/store/scratch_folder.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostConfigBytes = size_t{16} << 20;

// The files of a request in a folder of their own, which goes when the source does.
Status write_files(const LoadOverride& instead, ModelSource* source) {
  for (const auto& [path, bytes] : instead.files) NEREID_RETURN_IF_ERROR(check_inner_path(path));
  NEREID_TRY(ScratchFolder scratch, make_scratch_folder());
  source->folder = std::move(scratch.path);
  source->scratch = std::move(scratch.holder);
  for (const auto& [path, bytes] : instead.files) {
    const fs::path to = fs::path(source->folder) / path;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return unavailable("the folder '{}' could not be made: {}", to.parent_path().string(), error.message());
    NEREID_TRY(AtomicFile file, AtomicFile::create(to.string()));
    NEREID_RETURN_IF_ERROR(file.write(bytes));
    NEREID_RETURN_IF_ERROR(file.commit());
  }
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<const ModelSource>> find_source(const std::string& name, const std::vector<std::string>& folders,
                                                       const ModelStores& stores, const LoadOverride& instead) {
  auto source = std::make_shared<ModelSource>();
  source->name = name;
  source->config_json = instead.config;
  if (!instead.files.empty()) {
    if (instead.config.empty())
      return invalid_argument("a load with files needs the parameter 'config' as well; none was given");
    NEREID_RETURN_IF_ERROR(write_files(instead, source.get()));
  } else {
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      std::error_code error;
      if (!fs::is_directory(path, error)) continue;
      if (!source->folder.empty())
        return invalid_argument("two repositories have a model of that name: '{}' and '{}'", source->folder, path);
      source->folder = path;
    }
    for (const std::unique_ptr<ModelStore>& store : stores) {
      NEREID_TRY(const uint64_t mark, store->mark(name));
      if (mark == 0) continue;
      if (!source->folder.empty() || source->store != nullptr)
        return invalid_argument("two repositories have a model of that name: '{}' and '{}'",
                                source->store != nullptr ? source->store->address() : source->folder, store->address());
      source->store = store.get();
      if (instead.config.empty()) source->mark = mark;
    }
    if (source->store != nullptr) return std::shared_ptr<const ModelSource>(std::move(source));
    if (source->folder.empty()) return not_found("no model repository has a folder of that name");
    if (instead.config.empty()) source->mark = folder_mark(source->folder);
  }
  source->versions = list_versions(source->folder);
  return std::shared_ptr<const ModelSource>(std::move(source));
}

Result<std::shared_ptr<const ModelSource>> bring_source(std::shared_ptr<const ModelSource> source) {
  if (source->store == nullptr) return source;
  log_info("copying the model '{}' from {}", source->name, source->store->address());
  NEREID_TRY(ModelStore::Copy copy, source->store->copy(source->name));
  auto brought = std::make_shared<ModelSource>(*source);
  brought->store = nullptr;
  brought->folder = std::move(copy.folder);
  brought->scratch = std::move(copy.holder);
  brought->versions = list_versions(brought->folder);
  return std::shared_ptr<const ModelSource>(std::move(brought));
}

Result<ConfigFile> read_config(const ModelSource& source) {
  ConfigFile file;
  const std::string path = source.folder + "/config.pbtxt";
  if (!source.config_json.empty()) {
    NEREID_TRY(file, ConfigFile::from_json(source.config_json));
  } else if (file_info(path).is_ok()) {
    NEREID_TRY(const std::string text, read_file(path, kMostConfigBytes));
    NEREID_TRY(file, ConfigFile::from_text(text).with(path));
  }
  NEREID_RETURN_IF_ERROR(file.take_name(source.name).with(path));
  return file;
}

Result<std::vector<std::vector<std::string>>> read_labels(const ModelConfig& config, const std::string& folder) {
  std::vector<std::vector<std::string>> all;
  for (const TensorConfig& output : config.outputs) {
    std::vector<std::string>& labels = all.emplace_back();
    if (output.label_file.empty()) continue;
    NEREID_RETURN_IF_ERROR(check_inner_path(output.label_file).with("the labels of output '" + output.name + "'"));
    NEREID_TRY(const std::string text, read_file(folder + "/" + output.label_file, kMostConfigBytes)
                                           .with("the labels of output '" + output.name + "'"));
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      if (line.ends_with('\r')) line.pop_back();
      labels.push_back(std::move(line));
      at = end + 1;
    }
  }
  return all;
}

}  // namespace nereid::server
