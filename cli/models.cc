// SPDX-License-Identifier: Apache-2.0
// nereid models: the models known by name, where they are, and how to get them.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/model_fetch.h"
#include "cli/model_path.h"
#include "cli/model_store.h"
#include "compile/random_checkpoint.h"

namespace nereid::cli {
namespace {

struct ModelsArguments {
  std::string name;
  std::string dir;   // instead of the usual folders
  std::string list;  // instead of the list that was compiled in
  bool json = false;
  bool quiet = false;
  std::string config;  // of `random`
  std::string output;
  uint64_t seed = 1;
  int threads = 0;

  std::vector<std::string> folders() const { return dir.empty() ? model_folders() : std::vector<std::string>{dir}; }
};

// A list from elsewhere must not name files outside the folder for models.
bool stays_inside(const ModelFile& file) {
  const std::filesystem::path path = file.path();
  return path.is_relative() && std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; }) &&
         !file.file.starts_with('/') && file.package.find('/') == std::string::npos &&
         file.version.find('/') == std::string::npos;
}

Result<std::vector<NamedModel>> read_models(const ModelsArguments& a) {
  if (a.list.empty()) {
    NEREID_TRY(const std::vector<ModelFile> files, read_model_list());
    return group_models(files);
  }
  constexpr size_t kLongestList = size_t{16} << 20;
  NEREID_TRY(const std::string text, read_file(a.list, kLongestList));
  NEREID_TRY(const std::vector<ModelFile> files, read_model_list(text).with("reading " + a.list));
  for (const ModelFile& f : files)
    if (!stays_inside(f)) return invalid_argument("{}: the file '{}' leaves its package", a.list, f.file);
  return group_models(files);
}

std::string where_text(const NamedModel& model, const FoundModel& found) {
  if (found.present == 0) return "";
  if (found.present == model.files.size()) return found.folder;
  return fmt::format("{} ({} of {} files)", found.folder, found.present, model.files.size());
}

int list_models(const ModelsArguments& a) {
  const Result<std::vector<NamedModel>> models = read_models(a);
  if (!models.is_ok()) return fail(models.status());
  Table table({{"name"}, {"for"}, {"size", Table::Align::right}, {"licence"}, {"present"}, {"where"}});
  Json json = Json::array();
  for (const NamedModel& m : *models) {
    const FoundModel found = look_for(m, a.folders());
    const bool present = found.present == m.files.size();
    const std::string& name = m.alias.empty() ? m.name : m.alias;
    table.add_row({name, m.purpose, format_bytes(m.bytes()), m.licence(),
                   present         ? "yes"
                   : found.present ? "in part"
                                   : "no",
                   where_text(m, found)});
    json.push_back({{"name", name},
                    {"purpose", m.purpose},
                    {"files", m.files.size()},
                    {"bytes", m.bytes()},
                    {"licence", m.licence()},
                    {"present", present},
                    {"folder", found.folder}});
  }
  if (a.json)
    std::printf("%s\n", json.dump().c_str());
  else
    std::printf("%s\n`nereid models pull NAME` fetches one; `nereid run NAME -p \"...\"` answers with it.\n",
                table.markdown().c_str());
  return kDone;
}

// The files of the model, package by package.
std::vector<std::vector<ModelFile>> by_package(const std::vector<ModelFile>& files) {
  std::vector<std::vector<ModelFile>> packages;
  for (const ModelFile& f : files) {
    auto it = std::find_if(packages.begin(), packages.end(), [&](const std::vector<ModelFile>& p) {
      return p.front().package == f.package && p.front().version == f.version && p.front().kind == f.kind;
    });
    if (it == packages.end()) it = packages.insert(it, std::vector<ModelFile>());
    it->push_back(f);
  }
  return packages;
}

// The files that are absent or not what they should be.
std::vector<ModelFile> missing_files(const NamedModel& model, const std::string& folder) {
  std::vector<ModelFile> missing;
  for (const ModelFile& f : model.files) {
    const std::string path = folder + "/" + f.path();
    const Status sound = verify_file(path, f);
    if (sound.code() == StatusCode::kInvalidArgument && file_info(path).is_ok())
      log_warn("{}; it is fetched anew", sound.message());
    if (!sound.is_ok()) missing.push_back(f);
  }
  return missing;
}

Status fetch_missing(const std::vector<ModelFile>& missing, const std::string& folder, bool quiet) {
  NEREID_TRY(const std::string python, python_with_pip());
  remove_leftovers(folder);
  for (const std::vector<ModelFile>& files : by_package(missing)) {
    int64_t bytes = 0;
    for (const ModelFile& f : files) bytes += f.bytes;
    Progress progress({.what = fmt::format("fetching {} {}", files.front().package, files.front().version),
                       .total = bytes,
                       .unit = Progress::Unit::bytes,
                       .silent = quiet});
    // The package is packed, and may hold more than the files: near the end the figure is a guess.
    NEREID_RETURN_IF_ERROR(
        fetch_package(python, files, folder, [&](int64_t arrived) { progress.set(std::min(arrived, bytes)); }));
    progress.set(bytes);
    progress.finish();
  }
  return Status::ok();
}

Result<std::string> entry_path(const ModelsArguments& a, const NamedModel& model, const std::string& folder) {
  if (a.list.empty()) return resolve_model(model.name, {folder});
  return folder + "/" + model.files.front().path();
}

int pull_model(const ModelsArguments& a) {
  const Result<std::vector<NamedModel>> models = read_models(a);
  if (!models.is_ok()) return fail(models.status());
  const Result<NamedModel> model = find_model(*models, a.name);
  if (!model.is_ok()) return fail(model.status());
  // Wherever it is whole already, else where `run` looks first.
  const std::vector<std::string> folders = a.folders();
  if (folders.empty())
    return fail(invalid_argument("there is no folder for models: set HOME or NEREID_MODELS_DIR, or give --dir"));
  const FoundModel found = look_for(*model, folders);
  const std::string folder = found.present == model->files.size() ? found.folder : folders.front();
  const std::vector<ModelFile> missing = missing_files(*model, folder);
  // Fetching that fails is work that failed, whatever was wrong with the package.
  if (const Status status = missing.empty() ? Status::ok() : fetch_missing(missing, folder, a.quiet); !status.is_ok())
    return fail(status, kFailed);
  const Result<std::string> path = entry_path(a, *model, folder);
  if (!path.is_ok()) return fail(path.status());
  if (!a.quiet)
    log_info("{} {} ({}, checksum{} verified)", a.name, missing.empty() ? "is here already" : "is here now",
             format_bytes(model->bytes()), model->files.size() == 1 ? "" : "s");
  std::printf("%s\n", path->c_str());
  return kDone;
}

int print_path(const ModelsArguments& a) {
  const Result<std::vector<NamedModel>> models = read_models(a);
  if (!models.is_ok()) return fail(models.status());
  const Result<NamedModel> model = find_model(*models, a.name);
  if (!model.is_ok()) return fail(model.status());
  const FoundModel found = look_for(*model, a.folders());
  if (found.present < model->files.size())
    return fail(
        not_found("the model '{}' is not on this machine yet; `nereid models pull {}` fetches it", a.name, a.name),
        kFailed);
  const Result<std::string> path = entry_path(a, *model, found.folder);
  if (!path.is_ok()) return fail(path.status());
  std::printf("%s\n", path->c_str());
  return kDone;
}

int write_random(const ModelsArguments& a) {
  ThreadPool pool({.threads = a.threads});
  std::unique_ptr<Progress> progress;
  const Status status = compile::write_random_checkpoint(
      {.config_path = a.config, .folder = a.output, .seed = a.seed}, pool, [&](int64_t done, int64_t total) {
        if (!progress)
          progress = std::make_unique<Progress>(ProgressOptions{
              .what = "writing random weights", .total = total, .unit = Progress::Unit::bytes, .silent = a.quiet});
        progress->set(done);
      });
  if (progress) progress->finish();
  if (!status.is_ok()) return fail(status);
  std::printf("%s\n", a.output.c_str());
  return kDone;
}

}  // namespace

int models_command(Arguments args) {
  CommandLine app("Lists, fetches and finds models by name.", "nereid models");
  ModelsArguments a;
  const auto declare_common = [&](CommandLine* command) {
    command->add_option("--dir", a.dir,
                        "the folder for models (default: NEREID_MODELS_DIR, or the user's data folder)");
    command->add_option("--list", a.list, "another list of models, in the form of scripts/models.json");
  };
  CommandLine* list = app.add_subcommand("list", "what there is, and what of it is here (the default)");
  CommandLine* pull = app.add_subcommand("pull", "fetches a model, checks it and prints its path");
  CommandLine* path = app.add_subcommand("path", "prints where a model lies");
  CommandLine* random = app.add_subcommand("random", "writes a checkpoint of random weights, to measure a shape with");
  random->add_option("CONFIG", a.config, "a config.json as Hugging Face has it")->required();
  random->add_option("--output,-o", a.output, "the folder to write to")->required();
  random->add_option("--seed", a.seed, "the same seed gives the same weights")->capture_default_str();
  random->add_option("--threads,-t", a.threads, "CPU threads (default: all that this process may use)");
  random->add_flag("--quiet,-q", a.quiet, "no progress");
  declare_common(&app);
  for (CommandLine* command : {list, pull, path}) declare_common(command);
  app.add_flag("--json", a.json, "a JSON array on stdout");
  list->add_flag("--json", a.json, "a JSON array on stdout");
  for (CommandLine* command : {pull, path}) command->add_option("NAME", a.name, "a name of the list")->required();
  pull->add_flag("--quiet,-q", a.quiet, "no progress");
  if (const auto code = parse(app, args)) return *code;
  if (pull->parsed()) return pull_model(a);
  if (path->parsed()) return print_path(a);
  if (random->parsed()) return write_random(a);
  return list_models(a);
}

}  // namespace nereid::cli
