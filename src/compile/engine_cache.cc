// SPDX-License-Identifier: Apache-2.0
#include "compile/engine_cache.h"

#include <algorithm>
#include <filesystem>

#include "base/checksum.h"
#include "base/file.h"
#include "compile/encode_use.h"
#include "compile/tokenizer_source.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;

std::string hex(uint64_t v) {
  return fmt::format("{:016x}", v);
}

uint64_t hash_text(std::string_view text) {
  return xxhash64(std::as_bytes(std::span(text)));
}

std::string options_text(const EngineOptions& o) {
  return fmt::format("engine {} page {} context {}{}", engine::kEngineVersion, o.page_tokens, o.max_context,
                     o.exact ? " exact" : "");
}

// What tells a file from a changed one without reading it.
Result<std::string> identity_of(const std::string& path) {
  NEREID_TRY(const FileInfo info, file_info(path));
  return fmt::format("{} {} {} {} {}\n", path, info.size, info.mtime_ns, info.device, info.inode);
}

// The model's files: the file itself with the other parts of a split one, or a directory's regular files.
Result<std::string> model_identity(const std::string& path) {
  std::error_code e;
  const fs::path absolute = fs::canonical(path, e);
  if (e) return not_found("the model '{}' is not there: {}", path, e.message());
  if (!fs::is_directory(absolute, e)) return identity_of(absolute.string());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(absolute, e))
    if (entry.is_regular_file(e)) names.push_back(entry.path().string());
  for (std::string& name : encode_use_files(absolute.string())) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) {
    NEREID_TRY(const std::string one, identity_of(name));
    text += one;
  }
  return text;
}

// Everything an engine is made of, besides the options. The tokenizer of a GGUF file is among its metadata; that of a
// directory lies in files of its own.
Result<uint64_t> engine_content(const import::ModelSource& source) {
  const uint64_t model = source.content_checksum();
  if (source.metadata()) return model;
  NEREID_TRY(const token::TokenizerSpec spec, read_tokenizer(source));
  Metadata metadata;
  NEREID_RETURN_IF_ERROR(spec.to_metadata(metadata));
  NEREID_TRY(const std::optional<EncodeUse> use, read_encode_use(source));
  const uint64_t tokens = xxhash64(metadata.serialize(), model);
  return use ? xxhash64(use->to_json().dump(), tokens) : tokens;
}

bool is_engine(const std::string& path) {
  Result<OpenedFile> file = open_regular_file(path);
  if (!file.is_ok()) return false;
  std::byte head[16];
  const ssize_t n = pread(file->fd.get(), head, sizeof(head), 0);
  return n > 0 && engine::EngineFile::has_magic({head, static_cast<size_t>(n)});
}

}  // namespace

Result<OpenedEngine> open_engine(const std::string& path, const EngineOptions& options, ThreadPool& pool,
                                 const ProgressFn& progress) {
  if (is_engine(path)) {
    NEREID_TRY(engine::EngineFile file, engine::EngineFile::open(path));
    return OpenedEngine{.file = std::move(file)};
  }
  NEREID_TRY(const std::string cache, cache_dir());
  NEREID_TRY(const std::string identity, model_identity(path));
  const std::string index = fmt::format("{}/index/{}", cache, hex(hash_text(options_text(options) + "\n" + identity)));
  // The quick way: seen before and unchanged.
  if (Result<std::string> name = read_file(index, 4096); name.is_ok())
    if (Result<engine::EngineFile> file = engine::EngineFile::open(cache + "/engines/" + *name); file.is_ok())
      return OpenedEngine{.file = std::move(file).value()};

  NEREID_TRY(const import::ModelSource source, import::open_model(path));
  NEREID_TRY(const uint64_t content, engine_content(source).with("the tokenizer of " + source.path));
  const std::string name = fmt::format("{}-{}.engine", hex(content), hex(hash_text(options_text(options))));
  const std::string target = cache + "/engines/" + name;
  std::error_code e;
  fs::create_directories(cache + "/engines", e);
  if (!e) fs::create_directories(cache + "/index", e);
  if (e)
    return exhausted("the cache folder '{}' cannot be written: {}; set NEREID_CACHE_DIR to one that can", cache,
                     e.message());
  OpenedEngine opened;
  Result<engine::EngineFile> file = engine::EngineFile::open(target);
  if (!file.is_ok()) {
    NEREID_TRY(BuildReport report, build_engine(source, target, options, pool, progress));
    opened.warnings = std::move(report.warnings);
    opened.was_built = true;
    file = engine::EngineFile::open(target);
    if (!file.is_ok()) return file.status();
  }
  opened.file = std::move(file).value();
  // Only a shortcut: failing to write it costs the next start some time, no more.
  if (Result<AtomicFile> out = AtomicFile::create(index); out.is_ok())
    if (out->write(name).is_ok()) (void)out->commit();
  return opened;
}

}  // namespace nereid::compile
