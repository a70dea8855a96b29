// SPDX-License-Identifier: Apache-2.0
#include "cli/model_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/model_list.h"

namespace nereid::cli {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// build/models of the checkout that this program was built in; empty when it was not.
std::string checkout_models() {
  std::error_code e;
  fs::path folder = fs::read_symlink("/proc/self/exe", e);
  for (int up = 0; !e && up < 5 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (fs::exists(folder / "scripts" / "models.json", e)) return (folder / "build" / "models").string();
    e.clear();
  }
  return "";
}

// The file that opens the model: its only one, or the folder that holds its config.json.
std::string entry_of(const std::vector<ModelFile>& files, const std::string& folder) {
  if (files.size() == 1) return folder + "/" + files.front().path();
  for (const ModelFile& f : files)
    if (fs::path(f.file).filename() == "config.json") return fs::path(folder + "/" + f.path()).parent_path().string();
  return fs::path(folder + "/" + files.front().path()).parent_path().string();
}

bool all_present(const std::vector<ModelFile>& files, const std::string& folder) {
  return std::all_of(files.begin(), files.end(), [&](const ModelFile& f) {
    std::error_code e;
    return fs::is_regular_file(folder + "/" + f.path(), e);
  });
}

}  // namespace

std::vector<std::string> model_folders() {
  std::vector<std::string> folders;
  if (std::string own = environment("NEREID_MODELS_DIR"); !own.empty()) folders.push_back(std::move(own));
  if (const std::string data = environment("XDG_DATA_HOME"); data.starts_with('/'))
    folders.push_back(data + "/nereid/models");
  else if (const std::string home = environment("HOME"); !home.empty())
    folders.push_back(home + "/.local/share/nereid/models");
  if (std::string checkout = checkout_models(); !checkout.empty()) folders.push_back(std::move(checkout));
  return folders;
}

Result<std::string> resolve_model(std::string_view model) {
  return resolve_model(model, model_folders());
}

Result<std::string> resolve_model(std::string_view model, const std::vector<std::string>& folders) {
  std::error_code e;
  if (model.empty()) return invalid_argument("the model's path or name is empty");
  if (fs::exists(fs::path(model), e)) return std::string(model);
  NEREID_TRY(std::vector<ModelFile> files, read_model_list());
  std::erase_if(files, [&](const ModelFile& f) { return f.name != model && f.alias != model; });
  if (files.empty())
    return not_found("there is no file or folder '{}', and no model of that name; `nereid models` lists the names",
                     model);
  for (const std::string& folder : folders)
    if (all_present(files, folder)) return entry_of(files, folder);
  return not_found("the model '{}' is not on this machine yet; `nereid models pull {}` fetches it", model, model);
}

}  // namespace nereid::cli
