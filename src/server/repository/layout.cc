// SPDX-License-Identifier: Apache-2.0
#include "server/repository/layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/checksum.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// Sorted names of what lies in `folder`; of folders alone if so asked.
std::vector<std::string> names_in(const std::string& folder, bool folders_only) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (folders_only && !it->is_directory(ignored)) continue;
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Among them what ends a name (0) or a line.
bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

Status check_model_name(std::string_view name) {
  if (name.empty() || name == "." || name.find("..") != name.npos || name.find('/') != name.npos || has_control(name) ||
      name.find_first_not_of(" \t") == name.npos)
    return invalid_argument("'{}' is no model's name: it is the name of one folder, without '/', '..' and line ends",
                            name);
  return Status::ok();
}

Status check_inner_path(std::string_view path) {
  const fs::path parts(path);
  if (path.empty() || has_control(path) || parts.is_absolute() ||
      std::any_of(parts.begin(), parts.end(), [](const fs::path& one) { return one == ".."; }))
    return invalid_argument("the file '{}' would lie outside of the model's folder; give a path inside it", path);
  return Status::ok();
}

Result<std::vector<std::string>> list_models(const std::string& repository) {
  std::error_code error;
  if (!fs::is_directory(repository, error))
    return not_found("the model repository '{}' is no folder that can be read", repository);
  (void)fs::directory_iterator(repository, error);
  if (error)
    return unavailable("the folders of the model repository '{}' cannot be listed: {}", repository, error.message());
  std::vector<std::string> names = names_in(repository, true);
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  return names;
}

std::vector<int64_t> list_versions(const std::string& model_folder) {
  std::vector<int64_t> versions;
  for (const std::string& name : names_in(model_folder, true)) {
    int64_t version = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
    if (error == std::errc() && end == name.data() + name.size() && version > 0 && name[0] != '0')
      versions.push_back(version);
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::vector<std::string> list_files(const std::string& folder) {
  return names_in(folder, false);
}

std::vector<int64_t> pick_versions(const VersionPolicy& policy, const std::vector<int64_t>& there) {
  std::vector<int64_t> out;
  switch (policy.kind) {
    case VersionPolicy::Kind::kAll:
      return there;
    case VersionPolicy::Kind::kLatest:
      return {there.end() - static_cast<int64_t>(std::min<size_t>(policy.latest, there.size())), there.end()};
    case VersionPolicy::Kind::kSpecific:
      for (const int64_t version : there)
        if (std::find(policy.specific.begin(), policy.specific.end(), version) != policy.specific.end())
          out.push_back(version);
  }
  return out;
}

uint64_t content_mark(const std::string& folder) {
  uint64_t mark = 1;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    struct stat s = {};
    if (::stat(it->path().c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    uint64_t one = xxhash64(it->path().string().substr(folder.size()));
    one = mix(one, static_cast<uint64_t>(s.st_mtim.tv_sec));
    mark += mix(one, static_cast<uint64_t>(s.st_size));
  }
  return mark;
}

uint64_t folder_mark(const std::string& folder) {
  uint64_t mark = 1;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    struct stat s = {};
    if (::stat(it->path().c_str(), &s) != 0) continue;
    // Sums do not depend on the order in which the folder is read.
    uint64_t one = std::hash<std::string>{}(it->path().string());
    one = mix(one, static_cast<uint64_t>(s.st_mtim.tv_sec));
    one = mix(one, static_cast<uint64_t>(s.st_mtim.tv_nsec));
    if (S_ISREG(s.st_mode)) one = mix(one, static_cast<uint64_t>(s.st_size));
    mark += one;
  }
  return mark;
}

}  // namespace nereid::server
