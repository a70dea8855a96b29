// SPDX-License-Identifier: Apache-2.0
// What a path looks like, and the sentence for one that is no model.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "import/format_table.h"

namespace nereid::import {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 4096;
constexpr size_t kMaxEntries = 4096;

Result<std::vector<std::byte>> read_head(const std::string& path) {
  NEREID_TRY(const OpenedFile file, open_regular_file(path));
  std::vector<std::byte> head(kHeadBytes);
  size_t size = 0;
  while (size < head.size()) {
    const ssize_t n = ::read(file.fd.get(), head.data() + size, head.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error(errno, "read", path);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  head.resize(size);
  return head;
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end && names.size() < kMaxEntries;
       it.increment(error))
    names.push_back(it->path().filename().string());
  if (error) return file_error(error.value(), "list", path);
  std::sort(names.begin(), names.end());
  return names;
}

// "a, b, c and 4 more"
std::string summary(const std::vector<std::string>& names) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) text.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

bool starts_with(const Probe& probe, std::string_view bytes) {
  return probe.head.size() >= bytes.size() && std::memcmp(probe.head.data(), bytes.data(), bytes.size()) == 0;
}

std::string expected() {
  std::string text;
  for (const ModelFormat& row : format_table()) text.append(text.empty() ? "" : " or ").append(row.description);
  return text;
}

Status explain_directory(const Probe& p) {
  if (p.entries.empty()) return not_found("the folder {} is empty; expected {}", p.path, expected());
  const auto ends_in = [](std::string_view ending) {
    return [ending](const std::string& n) { return n.ends_with(ending); };
  };
  if (const auto at = std::ranges::find_if(p.entries, ends_in(".gguf")); at != p.entries.end())
    return not_found("the folder {} has no config.json, but a GGUF file: name it, {}", p.path,
                     (fs::path(p.path) / *at).string());
  if (const auto at = std::ranges::find_if(p.entries, ends_in(".safetensors")); at != p.entries.end())
    return not_found(
        "the folder {} has {}, but no config.json, which describes the model; copy it from where the weights come from",
        p.path, *at);
  return not_found("the folder {} is no model: it holds {}; expected {}", p.path, summary(p.entries), expected());
}

// What a file may be instead; the first row that fits is told.
struct Lookalike {
  bool (*fits)(const Probe&);
  std::string_view what;
  std::string_view advice;
};
constexpr std::array kLookalikes = {
    Lookalike{[](const Probe& p) { return p.head.empty(); }, "an empty file",
              "it may be a download that did not finish"},
    Lookalike{[](const Probe& p) { return safetensors::looks_like_safetensors(p.head) || p.is_named(".safetensors"); },
              "a safetensors file without its description", "name the folder that also holds config.json"},
    Lookalike{[](const Probe& p) { return p.is_named(".onnx"); }, "an ONNX network, not a language model's checkpoint",
              "build or benchmark it with 'nereid build' or 'nereid bench'"},
    Lookalike{[](const Probe& p) { return p.is_named(".engine") || p.is_named(".plan"); },
              "an engine, which is built already", "run it, or build again from the model it came from"},
    Lookalike{[](const Probe& p) {
                return starts_with(p, "PK\x03\x04") || starts_with(p, "\x80\x02") || p.is_named(".bin") ||
                       p.is_named(".pt") || p.is_named(".pth") || p.is_named(".ckpt");
              },
              "a PyTorch pickle, which can run code when it is read",
              "save the model again as safetensors and name its folder"},
    Lookalike{[](const Probe& p) { return starts_with(p, "ggml") || starts_with(p, "tjgg") || starts_with(p, "lmgg"); },
              "a model of the formats before GGUF", "convert the original model to GGUF"},
    Lookalike{[](const Probe& p) { return starts_with(p, "version https://git-lfs"); },
              "a Git LFS pointer, not the file it stands for", "fetch the real file with 'git lfs pull'"},
    Lookalike{[](const Probe& p) { return starts_with(p, "<!DOCTYPE") || starts_with(p, "<html"); }, "a web page",
              "download the file itself, not the page that shows it"},
    Lookalike{[](const Probe& p) { return p.is_named(".gguf"); },
              "no GGUF file in spite of its name (its first bytes are not GGUF)",
              "the file is damaged or a download did not finish; fetch it again"},
    Lookalike{[](const Probe& p) { return p.is_named(".json"); }, "one file of a model's folder", "name the folder"},
};

}  // namespace

bool Probe::has_entry(std::string_view name) const {
  return std::binary_search(entries.begin(), entries.end(), name);
}

bool Probe::is_named(std::string_view ending) const {
  if (path.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), path.end() - static_cast<ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

Result<Probe> probe(const std::string& path) {
  NEREID_TRY(const FileInfo info, file_info(path));
  Probe p{.path = path, .is_directory = info.is_directory, .head = {}, .entries = {}};
  if (p.is_directory) {
    NEREID_TRY(p.entries, list_directory(path));
  } else {
    NEREID_TRY(p.head, read_head(path));
  }
  return p;
}

Status explain_unknown(const Probe& p) {
  if (p.is_directory) return explain_directory(p);
  for (const Lookalike& row : kLookalikes)
    if (row.fits(p)) return unsupported("{} is {}; expected {}: {}", p.path, row.what, expected(), row.advice);
  return invalid_argument("{} is of no known format; expected {}", p.path, expected());
}

}  // namespace nereid::import
