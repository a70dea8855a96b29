// SPDX-License-Identifier: Apache-2.0
// Maps GGUF files; the parts of a split model become one GgufFile.
#include <iterator>
#include <utility>

#include "import/gguf/gguf.h"
#include "import/gguf/read_tensors.h"
#include "import/gguf/split.h"

namespace nereid::import::gguf {
namespace {

constexpr std::string_view kPartKey = "split.no";  // from 0
constexpr std::string_view kCountKey = "split.count";
constexpr std::string_view kTensorCountKey = "split.tensors.count";

Result<GgufFile> open_one(const std::string& path) {
  NEREID_TRY(MappedFile mapping, MappedFile::open(path));
  auto file = parse(mapping.bytes());
  if (!file) return file.status().with("reading " + path);
  file->files.push_back(std::move(mapping));
  return file;
}

Status check_part(const GgufFile& part, const SplitName& name, uint32_t which) {
  const int64_t number = part.metadata.int_or(kPartKey, -1);
  const int64_t count = part.metadata.int_or(kCountKey, -1);
  if (number + 1 == which && count == name.count) return {};
  return invalid_argument("{} says that it is part {} of {}; expected part {} of {}: the parts are of different models",
                          name.path_of(which), number + 1, count, which, name.count);
}

Result<GgufFile> open_split(const std::string& path, int64_t declared_count) {
  const auto name = parse_split_name(path);
  if (!name || name->count != declared_count)
    return invalid_argument(
        "{} is one part of a model split into {}; expected a name that ends in -00001-of-{:05}.gguf, so that the other "
        "parts can be found",
        path, declared_count, declared_count);
  NEREID_TRY(GgufFile whole, open_one(name->path_of(1)));
  NEREID_RETURN_IF_ERROR(check_part(whole, *name, 1));
  for (uint32_t which = 2; which <= name->count; ++which) {
    NEREID_TRY(GgufFile part,
               open_one(name->path_of(which)).with(fmt::format("opening part {} of {}", which, name->count)));
    NEREID_RETURN_IF_ERROR(check_part(part, *name, which));
    std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(whole.tensors));
    std::move(part.files.begin(), part.files.end(), std::back_inserter(whole.files));
  }
  const auto found = static_cast<int64_t>(whole.tensors.size());
  const int64_t declared = whole.metadata.int_or(kTensorCountKey, found);
  if (declared != found)
    return invalid_argument("the {} parts of {} hold {} tensors; expected {}", name->count, name->prefix, found,
                            declared);
  auto by_name = index_by_name(whole.tensors);
  if (!by_name) return by_name.status().with("joining the parts of " + name->prefix);
  whole.by_name = std::move(*by_name);
  return whole;
}

}  // namespace

Result<GgufFile> open(const std::string& path) {
  NEREID_TRY(GgufFile file, open_one(path));
  const int64_t parts = file.metadata.int_or(kCountKey, 1);
  if (parts <= 1) return file;
  return open_split(path, parts);
}

}  // namespace nereid::import::gguf
