// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_outputs.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "import/npy/npy.h"
#include "import/onnx/value_file.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;
using ops::Container;
using ops::Datum;

constexpr std::string_view kList = "outputs.json";
constexpr size_t kLongestStem = 200;  // bytes; with its ending and a temporary's it is still a file's name everywhere
constexpr size_t kMostNamesBytes = size_t{64} << 20;

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// A name that write() may have given to a file.
bool is_output_file(std::string_view name) {
  if (name.size() > kLongestStem + 16 || name.starts_with('.')) return false;
  for (const char c : name)
    if (!is_plain(c) && c != '%') return false;
  return name.ends_with(".npy") || name.ends_with(".pb");
}

std::string_view kind_of(const Datum& value, const ops::TensorType& type) {
  if (type.container == Container::kOptional || type.container == Container::kOptionalSequence) return "optional";
  switch (value.kind) {
    case Datum::Kind::kTensor:
      return "tensor";
    case Datum::Kind::kSequence:
      return "sequence";
    case Datum::Kind::kNone:
      return "optional";
    case Datum::Kind::kMap:
      return "map";
  }
  return "tensor";
}

DType element_of(const Datum& value) {
  if (value.is_tensor() || value.kind == Datum::Kind::kMap) return value.tensor.dtype;
  return value.items.empty() ? value.element : value.items[0].tensor.dtype;
}

// Removes a file or a link; never what a link points to, never a folder.
void remove_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::is_regular_file(status) || fs::is_symlink(status)) fs::remove(path, ignored);
}

}  // namespace

std::string output_stem(std::string_view name, size_t index) {
  std::string stem;
  for (const char c : name) {
    if (is_plain(c) && !(c == '.' && stem.empty()))
      stem.push_back(c);
    else
      stem += fmt::format("%{:02X}", static_cast<uint8_t>(c));
    if (stem.size() > kLongestStem) break;
  }
  return stem.empty() || stem.size() > kLongestStem ? fmt::format("output_{}", index) : stem;
}

OutputFolder::~OutputFolder() {
  if (is_done_) return;
  for (const std::string& file : written_) remove_file(file);
  std::error_code ignored;
  for (auto it = made_.rbegin(); it != made_.rend(); ++it) fs::remove(*it, ignored);  // only if empty
}

Status OutputFolder::prepare(std::span<const std::string> in_use) {
  if (path_.empty()) return invalid_argument("the folder for the outputs has no name");
  std::error_code problem;
  const fs::file_status status = fs::status(path_, problem);
  if (!fs::exists(status)) return Status::ok();
  if (!fs::is_directory(status))
    return invalid_argument("the outputs cannot go into '{}', which is a file and no folder", path_);
  const fs::path list = fs::path(path_) / kList;
  const Result<std::string> text = read_file(list.string(), kMostNamesBytes);
  if (!text.is_ok()) return Status::ok();
  const Result<Json> earlier = parse_json(*text);
  if (!earlier.is_ok() || !earlier->is_array()) return Status::ok();
  for (const Json& one : *earlier) {
    const Json* file = json_find(one, "file");
    if (file == nullptr || !file->is_string() || !is_output_file(file->get_ref<const std::string&>())) continue;
    const fs::path path = fs::path(path_) / file->get<std::string>();
    const bool is_kept = std::any_of(in_use.begin(), in_use.end(), [&](const std::string& used) {
      return fs::equivalent(path, used, problem) && !problem;
    });
    if (!is_kept) remove_file(path);
  }
  remove_file(list);
  return Status::ok();
}

Status OutputFolder::make() {
  if (is_made_) return Status::ok();
  is_made_ = true;
  std::vector<fs::path> missing;
  std::error_code problem;
  for (fs::path p = fs::absolute(path_, problem).lexically_normal(); !p.empty() && !fs::exists(p, problem);
       p = p.parent_path()) {
    if (!p.has_filename()) continue;  // a trailing slash
    missing.push_back(p);
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (!fs::create_directory(*it, problem) && problem) return file_error(problem.value(), "make", it->string());
    made_.push_back(it->string());
  }
  return Status::ok();
}

Status OutputFolder::write_file(const std::string& name, std::span<const std::string_view> parts) {
  NEREID_RETURN_IF_ERROR(check_interrupted());
  NEREID_RETURN_IF_ERROR(make());
  const fs::path path = fs::path(path_) / name;
  std::error_code ignored;
  // An atomic file follows links; here they would lead out of the folder.
  if (fs::is_symlink(fs::symlink_status(path, ignored))) remove_file(path);
  NEREID_TRY(AtomicFile file, AtomicFile::create(path.string()));
  for (const std::string_view part : parts) NEREID_RETURN_IF_ERROR(file.write(part));
  NEREID_RETURN_IF_ERROR(file.commit());
  written_.push_back(path.string());
  return Status::ok();
}

Result<InferredValue> OutputFolder::write(std::string_view name, const Datum& value, const ops::TensorType& type) {
  const size_t index = count_++;
  const DType dtype = element_of(value);
  InferredValue described{.name = std::string(name),
                          .file = {},
                          .type = std::string(kind_of(value, type)),
                          .dtype = std::string(dtype_name(dtype)),
                          .sizes = {},
                          .length = {}};
  const bool as_npy = described.type == "tensor" && import::npy::fits(dtype);
  const std::string_view ending = as_npy ? ".npy" : ".pb";
  std::string stem = output_stem(name, index);
  for (int again = 1; !names_.insert(stem).second; ++again)
    stem = again == 1 ? fmt::format("output_{}", index) : fmt::format("output_{}_{}", index, again);
  described.file = stem.append(ending);
  if (value.is_tensor()) described.sizes = value.tensor.sizes;
  if (value.kind == Datum::Kind::kSequence) described.length = static_cast<int64_t>(value.items.size());
  if (value.kind == Datum::Kind::kMap) described.length = value.view().elements();
  if (as_npy) {
    const std::string header = import::npy::npy_header(dtype, value.tensor.sizes);
    const std::string_view data(reinterpret_cast<const char*>(value.tensor.bytes.data()), value.tensor.bytes.size());
    NEREID_RETURN_IF_ERROR(write_file(described.file, std::array{std::string_view(header), data}));
  } else {
    const std::string bytes = import::onnx::write_value(value, type, name);
    NEREID_RETURN_IF_ERROR(write_file(described.file, std::array{std::string_view(bytes)}));
  }
  return described;
}

Status OutputFolder::commit(const std::vector<InferredValue>& outputs) {
  std::string text = "[";
  for (const auto& row : outputs_json(outputs))
    text += (text.size() > 1 ? ",\n " : "\n ") + row.dump(-1, ' ', false, Json::error_handler_t::replace);
  text += "\n]\n";
  NEREID_RETURN_IF_ERROR(write_file(std::string(kList), std::array{std::string_view(text)}));
  is_done_ = true;
  return Status::ok();
}

}  // namespace nereid::compile
