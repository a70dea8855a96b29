// SPDX-License-Identifier: Apache-2.0
#include "server/repository/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "server/repository/layout.h"
#include "server/repository/model_names.h"
#include "server/repository/model_reaper.h"
#include "server/repository/model_source.h"

namespace nereid::server {
namespace {

constexpr std::string_view kUnloaded = "unloaded";

struct Version {
  ModelState state = ModelState::kUnknown;
  std::string reason;
  std::shared_ptr<InferModel> model;
};

struct Entry {
  std::map<int64_t, Version> versions;
  std::vector<std::string> members;  // of an ensemble
  bool was_asked_for = false;        // not only because of an ensemble
  uint64_t mark = 0;                 // of its folder when it was loaded
  std::shared_ptr<const ModelSource> source;
};

std::string_view code_text(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
      return "Invalid argument";
    case StatusCode::kNotFound:
      return "Not found";
    case StatusCode::kUnsupported:
      return "Unsupported";
    case StatusCode::kExhausted:
    case StatusCode::kUnavailable:
      return "Unavailable";
    case StatusCode::kCancelled:
      return "Cancelled";
    case StatusCode::kOk:
    case StatusCode::kInternal:
      break;
  }
  return "Internal";
}

class FolderRepository final : public Repository {
 public:
  FolderRepository(RepositoryOptions options, std::vector<std::string> folders, ModelStores stores, ModelLoader& loader)
      : options_(std::move(options)), folders_(std::move(folders)), stores_(std::move(stores)), loader_(loader) {}
  ~FolderRepository() override { stop(); }

  Status start() override {
    std::vector<std::string> failed;
    const std::lock_guard turn(load_mutex_);
    std::vector<std::string> names = options_.load;
    if (options_.mode != ControlMode::kExplicit || (names.size() == 1 && names[0] == "*")) names = names_.look();
    for (const std::string& name : names) {
      const Status status = load_one(name, {}, true);
      if (interrupted()) return cancelled("interrupted while the models were being loaded");
      if (status.is_ok()) continue;
      log_error("{}", status.message());
      failed.push_back(name);
    }
    {
      const std::unique_lock lock(mutex_);
      has_started_ = true;
    }
    if (failed.empty()) return Status::ok();
    std::string list;
    for (const std::string& name : failed) list += (list.empty() ? "" : ", ") + name;
    return internal("failed to load all models: {}", list);
  }

  Result<std::shared_ptr<InferModel>> find(std::string_view name, int64_t version) const override {
    const std::shared_lock lock(mutex_);
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.versions.empty())
      return not_found("Request for unknown model: '{}' is not found", name);
    const auto& versions = it->second.versions;
    if (version == -1) {
      for (auto one = versions.rbegin(); one != versions.rend(); ++one)
        if (one->second.model != nullptr) return one->second.model;
      return not_found("Request for unknown model: '{}' has no available versions", name);
    }
    const auto found = versions.find(version);
    if (found == versions.end())
      return not_found("Request for unknown model: '{}' version {} is not found", name, version);
    if (found->second.model == nullptr)
      return unavailable("Request for unknown model: '{}' version {} is not at ready state", name, version);
    return found->second.model;
  }

  std::vector<std::shared_ptr<InferModel>> ready(std::string_view name) const override {
    std::vector<std::shared_ptr<InferModel>> out;
    const std::shared_lock lock(mutex_);
    if (const auto it = entries_.find(name); it != entries_.end())
      for (const auto& [number, version] : it->second.versions)
        if (version.model != nullptr) out.push_back(version.model);
    return out;
  }

  std::vector<std::shared_ptr<InferModel>> all_ready() const override {
    std::vector<std::shared_ptr<InferModel>> out;
    const std::shared_lock lock(mutex_);
    for (const auto& [name, entry] : entries_)
      for (const auto& [number, version] : entry.versions)
        if (version.model != nullptr) out.push_back(version.model);
    return out;
  }

  std::vector<IndexRow> index(bool ready_only) override {
    std::vector<IndexRow> rows;
    const std::vector<std::string> names = names_.look();
    const std::shared_lock lock(mutex_);
    for (const std::string& name : names) {
      const auto it = entries_.find(name);
      if (it == entries_.end()) {
        if (!ready_only) rows.push_back({.name = name, .version = {}, .state = ModelState::kUnknown, .reason = {}});
        continue;
      }
      for (const auto& [number, version] : it->second.versions)
        if (!ready_only || version.state == ModelState::kReady)
          rows.push_back({name, std::to_string(number), version.state, version.reason});
    }
    return rows;
  }

  bool is_ready() const override {
    std::vector<std::shared_ptr<InferModel>> models;  // asked without the lock: some ask for others
    {
      const std::shared_lock lock(mutex_);
      if (!has_started_ || is_stopping_) return false;
      if (!options_.strict_readiness) return true;
      for (const auto& [name, entry] : entries_)
        for (const auto& [number, version] : entry.versions) {
          if (version.model != nullptr) {
            models.push_back(version.model);
          } else if (version.state != ModelState::kUnloading &&
                     (version.state != ModelState::kUnavailable || version.reason != kUnloaded)) {
            return false;
          }
        }
    }
    return std::all_of(models.begin(), models.end(), [](const auto& model) { return model->is_ready(); });
  }

  Status load(const std::string& name, const LoadOverride& instead) override {
    NEREID_RETURN_IF_ERROR(check_control());
    NEREID_RETURN_IF_ERROR(check_model_name(name));
    const std::lock_guard turn(load_mutex_);
    if (is_stopping_) return unavailable("the server is stopping and loads no models");
    Status status = load_one(name, instead, true);
    if (status.is_ok()) return status;
    if (interrupted()) return unavailable("the server is stopping; '{}' was not loaded", name);
    log_warn("{}", status.message());
    return status;
  }

  Status unload(const std::string& name, bool with_dependents) override {
    NEREID_RETURN_IF_ERROR(check_control());
    const std::lock_guard turn(load_mutex_);
    unload_one(name, with_dependents);
    return Status::ok();
  }

  void poll() override {
    const std::lock_guard turn(load_mutex_);
    if (is_stopping_) return;
    bool is_whole = true;
    const std::vector<std::string> names = names_.look(&is_whole);
    if (!is_whole) return;
    for (const std::string& name : names) {
      const Status status = load_one(name, {}, true);
      if (interrupted()) return;
      if (!status.is_ok()) log_error("{}", status.message());
    }
    std::vector<std::string> gone;
    {
      const std::shared_lock lock(mutex_);
      for (const auto& [name, entry] : entries_)
        if (!std::binary_search(names.begin(), names.end(), name)) gone.push_back(name);
    }
    for (const std::string& name : gone) unload_one(name, false);
  }

  void stop() override {
    const std::lock_guard turn(load_mutex_);
    std::vector<std::string> names;
    {
      const std::unique_lock lock(mutex_);
      is_stopping_ = true;
      for (const auto& [name, entry] : entries_) names.push_back(name);
    }
    for (const std::string& name : names) unload_one(name, false);
    reaper_.wait();
  }

  void watch(Watcher watcher) override { watcher_ = std::move(watcher); }

 private:
  Status check_control() const {
    if (options_.mode == ControlMode::kExplicit) return Status::ok();
    return unavailable("explicit model load / unload is not allowed if polling is enabled");
  }

  // Whether all that the policy picks answers already, from files as they are now.
  bool is_current(const std::string& name, uint64_t mark) const {
    const std::shared_lock lock(mutex_);
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.mark != mark || mark == 0) return false;
    bool answers = false;
    for (const auto& [number, version] : it->second.versions) {
      answers |= version.model != nullptr;
      if (version.model == nullptr && version.reason != kUnloaded) return options_.mode == ControlMode::kPoll;
    }
    return answers;
  }

  // The load_mutex_ is held by whoever calls it.
  Status load_one(const std::string& name, const LoadOverride& instead, bool is_asked_for) {
    const auto unreadable = [&](const Status& status) {
      return internal("failed to load '{}', failed to poll from model repository: {}", name, status.message());
    };
    Result<std::shared_ptr<const ModelSource>> source = find_source(name, folders_, stores_, instead);
    if (!source.is_ok()) return unreadable(source.status());
    if (is_current(name, (*source)->mark)) {
      const std::unique_lock lock(mutex_);
      entries_.find(name)->second.was_asked_for |= is_asked_for;
      return Status::ok();
    }
    source = bring_source(std::move(*source));
    if (!source.is_ok()) return unreadable(source.status());
    Result<ConfigFile> file = read_config(**source);
    if (!file.is_ok()) return unreadable(file.status());
    const std::vector<int64_t> versions = pick_versions(file->versions(), (*source)->versions);
    if (const ModelConfig config = file->config(); config.is_ensemble()) NEREID_RETURN_IF_ERROR(load_members(config));
    {
      const std::unique_lock lock(mutex_);
      Entry& entry = entries_[name];
      entry.was_asked_for |= is_asked_for;
      entry.mark = (*source)->mark;
      entry.members.clear();
      for (const EnsembleStep& step : file->config().steps) entry.members.push_back(step.model);
    }
    if (versions.empty())
      return invalid_argument(
          "load failed for model '{}': at least one version must be available under the version policy of model "
          "'{}'\n",
          name, name);
    std::string failures;
    bool any_loaded = false;
    for (const int64_t version : versions) {
      const Status status = load_version(name, version, **source);
      any_loaded |= status.is_ok();
      if (!status.is_ok())
        failures += fmt::format("version {} is at UNAVAILABLE state: {}: {};\n", version, code_text(status.code()),
                                status.message());
    }
    unload_others(name, versions);
    if (any_loaded) {
      keep_source(name, *source);
    } else if (!instead.files.empty()) {
      forget_upload(name);
    }
    if (!failures.empty()) return invalid_argument("load failed for model '{}': {}", name, failures);
    return Status::ok();
  }

  // Its files stay for as long as it may be asked for more of them.
  void keep_source(const std::string& name, std::shared_ptr<const ModelSource> source) {
    const std::unique_lock lock(mutex_);
    entries_.find(name)->second.source = std::move(source);
  }

  // Files of a request that were no model leave nothing behind where no repository has a model of that name: it could
  // not be found in the index, and would keep the server from being ready.
  void forget_upload(const std::string& name) {
    if (names_.holds(name)) return;
    const std::unique_lock lock(mutex_);
    const auto it = entries_.find(name);
    const auto goes = [](const auto& version) {
      return version.second.model == nullptr && version.second.state != ModelState::kUnloading;
    };
    if (std::all_of(it->second.versions.begin(), it->second.versions.end(), goes)) entries_.erase(it);
  }

  Status load_members(const ModelConfig& config) {
    std::string missing;
    std::set<std::string> seen;
    for (const EnsembleStep& step : config.steps) {
      if (step.model == config.name || !seen.insert(step.model).second) continue;
      if (++depth_ <= 32 && find(step.model, step.version).is_ok()) {
        --depth_;
        continue;
      }
      const bool is_loaded = depth_ <= 32 && load_one(step.model, {}, options_.mode != ControlMode::kExplicit).is_ok();
      --depth_;
      if (!is_loaded || !find(step.model, step.version).is_ok()) missing += (missing.empty() ? "" : ", ") + step.model;
    }
    if (missing.empty()) return Status::ok();
    return invalid_argument(
        "load failed for model '{}': ensemble {} contains models that are not available or ambiguous: {}\n",
        config.name, config.name, missing);
  }

  Status load_version(const std::string& name, int64_t number, const ModelSource& source) {
    {
      const std::unique_lock lock(mutex_);
      Version& version = entries_[name].versions[number];
      if (version.model == nullptr) version.state = ModelState::kLoading, version.reason.clear();
    }
    Result<std::shared_ptr<InferModel>> made = make_version(number, source);
    std::shared_ptr<InferModel> old;
    {
      const std::unique_lock lock(mutex_);
      Version& version = entries_[name].versions[number];
      if (made.is_ok()) {
        old = std::exchange(version.model, *made);
        version.state = ModelState::kReady;
        version.reason.clear();
      } else if (version.model == nullptr) {  // else the one before goes on answering
        version.state = ModelState::kUnavailable;
        version.reason = fmt::format("{}: {}", code_text(made.status().code()), made.status().message());
      }
    }
    if (old != nullptr) reap_later(std::move(old), {}, 0);
    if (made.is_ok() && watcher_) watcher_(*made, true);
    return made.status();
  }

  Result<std::shared_ptr<InferModel>> make_version(int64_t number, const ModelSource& source) {
    const ModelPlace place{
        .folder = source.folder, .version_folder = fmt::format("{}/{}", source.folder, number), .version = number};
    NEREID_TRY(ConfigFile file, read_config(source));
    file.complete_backend(list_files(place.version_folder));
    if (options_.completes_configs && !file.config().is_ensemble()) {
      NEREID_TRY(const ConfigCompletion found, loader_.complete(file.config(), place));
      file.complete(found);
    }
    file.normalise();
    NEREID_RETURN_IF_ERROR(file.check());
    LoadedConfig loaded{.config = file.config(), .json = file.json(), .labels = {}};
    NEREID_TRY(loaded.labels, read_labels(loaded.config, source.folder));
    return loader_.load(loaded, place);
  }

  void unload_others(const std::string& name, const std::vector<int64_t>& keep) {
    std::vector<int64_t> others;
    {
      const std::shared_lock lock(mutex_);
      for (const auto& [number, version] : entries_.find(name)->second.versions)
        if (!std::binary_search(keep.begin(), keep.end(), number)) others.push_back(number);
    }
    for (const int64_t number : others) unload_version(name, number);
  }

  void unload_one(const std::string& name, bool with_dependents) {
    std::vector<int64_t> versions;
    std::vector<std::string> members;
    {
      const std::unique_lock lock(mutex_);
      const auto it = entries_.find(name);
      if (it == entries_.end()) return;
      for (const auto& [number, version] : it->second.versions) versions.push_back(number);
      members = it->second.members;
      it->second.was_asked_for = false;
      it->second.mark = 0;
    }
    for (const int64_t number : versions) unload_version(name, number);
    if (!with_dependents) return;
    for (const std::string& member : members) {
      {
        const std::shared_lock lock(mutex_);
        const auto it = entries_.find(member);
        if (it == entries_.end() || it->second.was_asked_for || is_member_of_another(member, name)) continue;
      }
      unload_one(member, true);
    }
  }

  // Of an ensemble that answers; mutex_ is held.
  bool is_member_of_another(const std::string& member, const std::string& but) const {
    for (const auto& [name, entry] : entries_) {
      if (name == but || std::find(entry.members.begin(), entry.members.end(), member) == entry.members.end()) continue;
      for (const auto& [number, version] : entry.versions)
        if (version.model != nullptr) return true;
    }
    return false;
  }

  void unload_version(const std::string& name, int64_t number) {
    std::shared_ptr<InferModel> model;
    {
      const std::unique_lock lock(mutex_);
      Version& version = entries_[name].versions[number];
      model = std::exchange(version.model, nullptr);
      if (version.state == ModelState::kUnloading) return;
      version.state = model != nullptr ? ModelState::kUnloading : ModelState::kUnavailable;
      version.reason = model != nullptr ? "" : std::string(kUnloaded);
    }
    if (model != nullptr) reap_later(std::move(model), name, number);
  }

  void reap_later(std::shared_ptr<InferModel> model, const std::string& name, int64_t number) {
    if (watcher_) watcher_(model, false);
    reaper_.add(std::move(model), [this, name, number] {
      const std::unique_lock lock(mutex_);
      const auto it = entries_.find(name);
      if (it == entries_.end()) return;  // another has taken its place, and has its name
      if (Version& version = it->second.versions[number]; version.state == ModelState::kUnloading)
        version.state = ModelState::kUnavailable, version.reason = kUnloaded;
    });
  }

  const RepositoryOptions options_;
  const std::vector<std::string> folders_;  // of this machine
  const ModelStores stores_;
  ModelNames names_{folders_, stores_};
  ModelLoader& loader_;
  Watcher watcher_;
  std::mutex load_mutex_;  // one load or unload at a time
  int depth_ = 0;          // of ensembles in ensembles
  mutable std::shared_mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  bool has_started_ = false, is_stopping_ = false;
  ModelReaper reaper_;  // goes first: it changes entries
};

}  // namespace

Result<std::unique_ptr<Repository>> Repository::open(RepositoryOptions options, ModelLoader& loader) {
  std::vector<std::string> folders;
  ModelStores stores;
  for (const std::string& one : options.folders) {
    if (is_remote_store(one)) {
      NEREID_TRY(std::unique_ptr<ModelStore> store, open_model_store(one, process_environment));
      log_info("asking {} for its models", one);
      NEREID_RETURN_IF_ERROR(store->models());
      stores.push_back(std::move(store));
    } else {
      NEREID_RETURN_IF_ERROR(list_models(one));
      folders.push_back(one);
    }
  }
  return std::unique_ptr<Repository>(
      std::make_unique<FolderRepository>(std::move(options), std::move(folders), std::move(stores), loader));
}

}  // namespace nereid::server
