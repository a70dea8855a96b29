// SPDX-License-Identifier: Apache-2.0
#include "compile/tokenizer_source.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/mapped_file.h"
#include "engine/engine_file.h"
#include "llm/token/source_gguf.h"
#include "llm/token/source_huggingface.h"
#include "llm/token/source_sentencepiece.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostVocabularyBytes = size_t{256} << 20;  // the largest vocabularies have some 35 MB

// The file's content; empty when the directory has none of that name.
Result<std::string> read_optional(const std::string& directory, std::string_view name) {
  const std::string path = (fs::path(directory) / name).string();
  std::error_code e;
  if (!fs::is_regular_file(path, e)) return std::string();
  return read_file(path, kMostVocabularyBytes);
}

Result<token::HuggingFaceFiles> read_small_files(const std::string& directory) {
  token::HuggingFaceFiles files;
  NEREID_TRY(files.tokenizer_config, read_optional(directory, "tokenizer_config.json"));
  NEREID_TRY(files.special_tokens_map, read_optional(directory, "special_tokens_map.json"));
  NEREID_TRY(files.generation_config, read_optional(directory, "generation_config.json"));
  NEREID_TRY(files.chat_template, read_optional(directory, "chat_template.jinja"));
  if (files.chat_template.empty()) {
    NEREID_TRY(files.chat_template, read_optional(directory, "chat_template.json"));
  }
  return files;
}

Result<token::TokenizerSpec> from_tokenizer_json(std::string text, const std::string& directory) {
  NEREID_TRY(token::HuggingFaceFiles files, read_small_files(directory));
  files.tokenizer_json = std::move(text);
  return token::spec_from_huggingface(files);
}

Result<token::TokenizerSpec> from_sentencepiece(std::string_view bytes, const std::string& directory) {
  NEREID_TRY(token::TokenizerSpec spec, token::spec_from_sentencepiece(bytes));
  NEREID_TRY(const token::HuggingFaceFiles files, read_small_files(directory));
  NEREID_RETURN_IF_ERROR(token::apply_huggingface_config(files, spec));
  return spec;
}

// The one file of the directory whose name ends so; "" if there is none.
std::string find_ending(const std::string& directory, std::string_view ending) {
  std::vector<std::string> found;
  std::error_code e;
  for (fs::directory_iterator it(directory, e), end; !e && it != end; it.increment(e))
    if (it->path().string().ends_with(ending)) found.push_back(it->path().string());
  return found.empty() ? "" : *std::min_element(found.begin(), found.end());
}

Result<token::TokenizerSpec> from_directory(const std::string& directory, const token::TiktokenOptions& tiktoken) {
  NEREID_TRY(std::string json, read_optional(directory, "tokenizer.json"));
  if (!json.empty()) return from_tokenizer_json(std::move(json), directory);
  for (std::string_view name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"}) {
    NEREID_TRY(const std::string model, read_optional(directory, name));
    if (!model.empty()) return from_sentencepiece(model, directory).with(name);
  }
  if (const std::string ranks = find_ending(directory, ".tiktoken"); !ranks.empty()) {
    NEREID_TRY(const std::string text, read_file(ranks, kMostVocabularyBytes));
    NEREID_TRY(token::TokenizerSpec spec, token::spec_from_tiktoken(text, tiktoken).with(ranks));
    NEREID_TRY(const token::HuggingFaceFiles files, read_small_files(directory));
    NEREID_RETURN_IF_ERROR(token::apply_huggingface_config(files, spec));
    return spec;
  }
  return not_found("the folder '{}' has no tokenizer: no tokenizer.json, tokenizer.model, spiece.model or *.tiktoken",
                   directory);
}

// "<base64> <number>" is how each line of a tiktoken file looks.
bool is_tiktoken(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() || line.size() > 4096) return false;
  const auto is_base64 = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
  };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '\r'; };
  return std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(space), is_base64) &&
         std::all_of(line.begin() + static_cast<ptrdiff_t>(space) + 1, line.end(), is_digit);
}

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Result<token::TokenizerSpec> from_engine(const std::string& path) {
  NEREID_TRY(const engine::EngineFile file, engine::EngineFile::open(path));
  NEREID_TRY(const Metadata metadata, Metadata::parse(file.metadata()).with("the engine's metadata"));
  return token::TokenizerSpec::from_metadata(metadata);
}

Result<token::TokenizerSpec> from_gguf(const std::string& path, std::string* warning) {
  NEREID_TRY(const import::gguf::GgufFile file, import::gguf::open(path));
  return token::spec_from_gguf(file.metadata, warning);
}

}  // namespace

Result<token::TokenizerSpec> read_tokenizer(const import::ModelSource& source, std::string* warning) {
  if (warning) warning->clear();
  if (source.metadata()) return token::spec_from_gguf(*source.metadata(), warning);
  return from_directory(source.hf->directory, {});
}

Result<token::TokenizerSpec> open_tokenizer(const std::string& path, const token::TiktokenOptions& tiktoken,
                                            std::string* warning) {
  if (warning) warning->clear();
  NEREID_TRY(const FileInfo info, file_info(path));
  if (info.is_directory) return from_directory(path, tiktoken).with(path);
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  if (is_tiktoken(file.text())) return token::spec_from_tiktoken(file.text(), tiktoken).with(path);
  if (!tiktoken.pattern.empty())
    return invalid_argument("a pattern is only for tiktoken files, which say none; '{}' has its own", path);
  if (import::gguf::has_gguf_magic(file.bytes())) return from_gguf(path, warning).with(path);
  if (engine::EngineFile::has_magic(file.bytes())) return from_engine(path).with(path);
  const std::string directory = fs::path(path).parent_path().string();
  if (is_json(file.text())) return from_tokenizer_json(std::string(file.text()), directory).with(path);
  return from_sentencepiece(file.text(), directory)
      .with(path + " is no GGUF file, engine, tokenizer.json or tiktoken file, and not a SentencePiece model either");
}

}  // namespace nereid::compile
