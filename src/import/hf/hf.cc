// SPDX-License-Identifier: Apache-2.0
#include "import/hf/hf.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"

namespace nereid::import::hf {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxJsonBytes = size_t{64} << 20;
constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

// What tokenizers of the known kinds are made of, most complete first.
constexpr std::array<std::string_view, 10> kTokenizerFiles = {
    "tokenizer.json",
    "tokenizer.model",
    "tekken.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "added_tokens.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
};

std::string path_in(const std::string& directory, std::string_view name) {
  return (fs::path(directory) / name).string();
}

bool has_file(const std::string& directory, std::string_view name) {
  std::error_code ignored;
  return fs::is_regular_file(path_in(directory, name), ignored);
}

Result<Json> read_json_object(const std::string& path) {
  NEREID_TRY(const std::string text, read_file(path, kMaxJsonBytes));
  NEREID_TRY(Json json, parse_json(text).with("reading " + path));
  if (!json.is_object()) return invalid_argument("reading {}: expected a JSON object, found another value", path);
  return json;
}

// A file of the directory that ends in one of `endings`, "" if there is none; the first by name, so that messages
// repeat.
std::string first_file_ending_in(const std::string& directory, std::initializer_list<std::string_view> endings) {
  std::string first;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool fits =
        std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
    if (fits && (first.empty() || name < first)) first = name;
  }
  return first;
}

Result<safetensors::SafetensorsFile> open_weights(const std::string& directory) {
  if (has_file(directory, kSingle)) return safetensors::open(path_in(directory, kSingle));
  if (has_file(directory, kIndex)) return safetensors::open_index(path_in(directory, kIndex));
  if (const std::string other = first_file_ending_in(directory, {".safetensors"}); !other.empty())
    return not_found("{} has {}, but neither {} nor {}; rename the weights or add the index of its shards", directory,
                     other, kSingle, kIndex);
  if (const std::string pickle = first_file_ending_in(directory, {".bin", ".pt", ".pth"}); !pickle.empty())
    return unsupported(
        "{} has its weights only as a PyTorch pickle ({}); expected {}: save the model again as safetensors", directory,
        pickle, kSingle);
  return not_found("{} has no weights; expected {} or {}", directory, kSingle, kIndex);
}

}  // namespace

std::vector<std::string_view> known_tokenizer_files() {
  return {kTokenizerFiles.begin(), kTokenizerFiles.end()};
}

std::string HfModel::tokenizer_file(std::string_view name) const {
  const auto at = std::find(tokenizer_files.begin(), tokenizer_files.end(), name);
  return at == tokenizer_files.end() ? std::string() : path_in(directory, *at);
}

Result<HfModel> open(const std::string& directory) {
  NEREID_TRY(const FileInfo info, file_info(directory));
  if (!info.is_directory) return not_found("expected '{}' to be a folder, but it is a file", directory);
  if (!has_file(directory, "config.json"))
    return not_found("the folder {} has no config.json; expected a Hugging Face model directory", directory);

  HfModel model{
      .directory = directory, .config = {}, .generation_config = Json::object(), .weights = {}, .tokenizer_files = {}};
  NEREID_TRY(model.config, read_json_object(path_in(directory, "config.json")));
  if (has_file(directory, "generation_config.json")) {
    NEREID_TRY(model.generation_config, read_json_object(path_in(directory, "generation_config.json")));
  }
  NEREID_TRY(model.weights, open_weights(directory));
  for (std::string_view name : kTokenizerFiles)
    if (has_file(directory, name)) model.tokenizer_files.emplace_back(name);
  return model;
}

}  // namespace nereid::import::hf
