// SPDX-License-Identifier: Apache-2.0
#include "server/repository/lint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "server/repository/layout.h"
#include "server/repository/model_source.h"

namespace nereid::server {
namespace {

// Folders of a model that are no versions.
constexpr std::string_view kOtherFolders[] = {"warmup", "initial_state", "configs"};

class Linter {
 public:
  Linter(std::string folder, std::vector<std::string> models, ModelLoader& loader)
      : folder_(std::move(folder)), models_(std::move(models)), loader_(loader) {}

  std::vector<LintFinding> run() {
    for (model_ = models_.begin(); model_ != models_.end(); ++model_) check_model();
    return std::move(findings_);
  }

 private:
  void note(std::string message, std::string fix) {
    findings_.push_back({*model_, std::move(message), std::move(fix)});
  }

  void check_model() {
    const auto source = find_source(*model_, {folder_}, {}, {});
    if (!source.is_ok()) return note(source.status().message(), "give the folder a plain name");
    const ModelSource& s = **source;
    auto file = read_config(s);
    if (!file.is_ok())
      return note(file.status().message(), "correct that place; nothing of the model is read until then");
    check_folders(s);
    const std::vector<int64_t> versions = pick_versions(file->versions(), s.versions);
    if (s.versions.empty()) {
      note(fmt::format("{} has no version", s.folder),
           "make a folder '1' in it; the model's file goes there (an ensemble's stays empty)");
    } else if (versions.empty()) {
      note(fmt::format("{}/config.pbtxt: its version_policy picks none of the versions that are there", s.folder),
           "name a version that is there, or take the policy out: the latest is the default");
    }
    for (const int64_t version : versions) check_version(s, version);
    if (const auto labels = read_labels(file->config(), s.folder); !labels.is_ok())
      note(labels.status().message(), "put the file into the model's folder, or take label_filename out");
  }

  void check_folders(const ModelSource& s) {
    for (const std::string& name : list_files(s.folder)) {
      const auto info = file_info(s.folder + "/" + name);
      if (!info.is_ok() || !info->is_directory) continue;
      const bool is_version = std::any_of(s.versions.begin(), s.versions.end(),
                                          [&](int64_t version) { return std::to_string(version) == name; });
      if (!is_version && std::find(std::begin(kOtherFolders), std::end(kOtherFolders), name) == std::end(kOtherFolders))
        note(fmt::format("{}/{} is no version: versions are folders whose names are numbers without leading zeros",
                         s.folder, name),
             "rename it to a number, or take it away");
    }
  }

  void check_version(const ModelSource& s, int64_t version) {
    const ModelPlace place{
        .folder = s.folder, .version_folder = fmt::format("{}/{}", s.folder, version), .version = version};
    ConfigFile file = std::move(*read_config(s));
    file.complete_backend(list_files(place.version_folder));
    const ModelConfig before = file.config();
    if (before.is_ensemble()) {
      check_members(before);
    } else {
      if (!before.model_file.empty() && !file_info(place.version_folder + "/" + before.model_file).is_ok())
        note(fmt::format("{}/{} is not there", place.version_folder, before.model_file),
             "put the model's file there, or name the one that is there with default_model_filename");
      const auto found = loader_.complete(before, place);
      if (!found.is_ok()) return note(found.status().message(), "see the sentence");
      file.complete(*found);
    }
    file.normalise();
    if (const Status status = file.check(); !status.is_ok())
      return note(fmt::format("{}/config.pbtxt: {}", s.folder, status.message()), "correct that field");
    check_data_files(s, file.config());
    if (!before.is_ensemble() && (file.config().inputs.empty() || file.config().outputs.empty()))
      note(fmt::format("{}/config.pbtxt names no {}", s.folder, file.config().inputs.empty() ? "input" : "output"),
           "name them with their data_type and dims");
  }

  // What warms the model up and what its states begin with.
  void check_data_files(const ModelSource& s, const ModelConfig& config) {
    const auto check_file = [&](const std::string& folder, const std::string& name) {
      if (!name.empty() && !file_info(fmt::format("{}/{}/{}", s.folder, folder, name)).is_ok())
        note(fmt::format("{}/{}/{} is not there", s.folder, folder, name),
             "put the file there, or take it out of the configuration (zero_data: true stands for zeros)");
    };
    for (const WarmupSample& sample : config.warmups)
      for (const WarmupInput& input : sample.inputs) check_file("warmup", input.file);
    if (config.sequence_batching)
      for (const SequenceState& state : config.sequence_batching->states)
        check_file("initial_state", state.initial_file);
  }

  void check_members(const ModelConfig& config) {
    for (const EnsembleStep& step : config.steps)
      if (!std::binary_search(models_.begin(), models_.end(), step.model))
        note(fmt::format("the step '{}' of the ensemble '{}' is no model of this repository", step.model, config.name),
             "add the model, or correct model_name");
  }

  const std::string folder_;
  const std::vector<std::string> models_;
  ModelLoader& loader_;
  std::vector<std::string>::const_iterator model_;
  std::vector<LintFinding> findings_;
};

}  // namespace

bool looks_like_repository(const std::string& folder) {
  const auto models = list_models(folder);
  if (!models.is_ok()) return false;
  return std::any_of(models->begin(), models->end(), [&](const std::string& model) {
    const std::string path = folder + "/" + model;
    return file_info(path + "/config.pbtxt").is_ok() || !list_versions(path).empty();
  });
}

Result<std::vector<LintFinding>> lint_repository(const std::string& folder, ModelLoader& loader) {
  NEREID_TRY(std::vector<std::string> models, list_models(folder));
  return Linter(folder, std::move(models), loader).run();
}

}  // namespace nereid::server
