// SPDX-License-Identifier: Apache-2.0
#include "server/repository/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "server/repository/layout.h"
#include "server/repository/model_source.h"

namespace nereid::server {
namespace {

// Folders of a model that are no versions.
constexpr std::string_view kOtherFolders[] = {"warmup", "initial_state", "configs"};

// A version whose configuration can be acted on.
struct Sound {
  LoadedConfig loaded;
  ModelPlace place;
};

class Linter {
 public:
  Linter(std::string folder, std::vector<std::string> models, ModelLoader& loader)
      : folder_(std::move(folder)), models_(std::move(models)), loader_(loader) {}

  std::vector<LintFinding> run() {
    for (model_ = models_.begin(); model_ != models_.end(); ++model_) check_model();
    // Those of ensembles once all the others are known.
    for (const auto& [name, seen] : sound_) {
      model_ = std::lower_bound(models_.begin(), models_.end(), name);
      for (const Sound& one : seen) check_sound(one);
    }
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const LintFinding& a, const LintFinding& b) { return a.model < b.model; });
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
    const size_t findings_before = findings_.size();
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
    if (findings_.size() == findings_before)
      sound_[*model_].push_back({{.config = file.config(), .json = file.json(), .labels = {}}, place});
  }

  // What the model's own backend has against it.
  void check_sound(const Sound& one) {
    const ModelConfig& config = one.loaded.config;
    if (config.is_ensemble()) {
      const bool is_whole = std::all_of(config.steps.begin(), config.steps.end(), [&](const EnsembleStep& step) {
        return sound_.contains(step.model);  // what is wrong with the others is told already
      });
      if (!is_whole) return;
      std::vector<std::string> path{config.name};
      std::set<std::string> seen;
      if (leads_back(config, &path, &seen)) {
        std::string text;
        for (const std::string& name : path) text += (text.empty() ? "'" : " -> '") + name + "'";
        return note(fmt::format("the ensemble '{}' is a step of itself: {}", config.name, text),
                    "take one of these steps out");
      }
    }
    const auto find = [&](const std::string& model, int64_t version) -> Result<ModelConfig> {
      const auto it = sound_.find(model);
      if (it == sound_.end()) return not_found("there is no model '{}'", model);
      for (const Sound& other : it->second)
        if (other.place.version == version || (version == -1 && &other == &it->second.back()))
          return other.loaded.config;
      return not_found("the model '{}' has no version {}", model, version);
    };
    if (const Status status = loader_.check(one.loaded, one.place, find); !status.is_ok())
      note(status.message(), "see the sentence");
  }

  // Whether the steps of the last ensemble of the path lead back to its first; the path is the way then.
  bool leads_back(const ModelConfig& config, std::vector<std::string>* path, std::set<std::string>* seen) const {
    for (const EnsembleStep& step : config.steps) {
      path->push_back(step.model);
      if (step.model == path->front()) return true;
      const auto it = sound_.find(step.model);
      if (it != sound_.end() && seen->insert(step.model).second &&
          leads_back(it->second.back().loaded.config, path, seen))
        return true;
      path->pop_back();
    }
    return false;
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
  std::map<std::string, std::vector<Sound>> sound_;  // models, by name, of which nothing has been found wrong
};

}  // namespace

bool looks_like_repository(const std::string& folder) {
  if (is_remote_store(folder)) return true;
  const auto models = list_models(folder);
  if (!models.is_ok()) return false;
  if (list_files(folder).empty()) return true;  // its models are still to come
  return std::any_of(models->begin(), models->end(), [&](const std::string& model) {
    const std::string path = folder + "/" + model;
    return file_info(path + "/config.pbtxt").is_ok() || !list_versions(path).empty();
  });
}

Result<std::vector<LintFinding>> lint_repository(const std::string& folder, ModelLoader& loader) {
  if (is_remote_store(folder))
    return unsupported("'{}' lies in a store, and folders of this machine are checked; copy it to one, and check that",
                       folder);
  NEREID_TRY(std::vector<std::string> models, list_models(folder));
  return Linter(folder, std::move(models), loader).run();
}

}  // namespace nereid::server
