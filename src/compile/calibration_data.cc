// SPDX-License-Identifier: Apache-2.0
#include "compile/calibration_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "compile/infer_outputs.h"
#include "ops/elements.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string path, name;  // name: without the folder
  bool is_folder = false;
  std::string ending() const { return fs::path(name).extension(); }
  std::string stem() const { return fs::path(name).stem(); }
};

// Hidden files and those of other kinds are left out.
Result<std::vector<Entry>> entries_of(const std::string& folder) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec)) return not_found("there is no folder '{}' of calibration data", folder);
  std::vector<Entry> out;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    Entry e{.path = it->path(), .name = it->path().filename(), .is_folder = it->is_directory(ec)};
    const std::string ending = e.ending();
    if (e.name.starts_with('.')) continue;
    if (e.is_folder || ending == ".npy" || ending == ".npz" || ending == ".pb") out.push_back(std::move(e));
  }
  if (ec) return invalid_argument("the folder '{}' of calibration data cannot be read: {}", folder, ec.message());
  std::ranges::sort(out, {}, &Entry::name);
  return out;
}

// The file of each input among these; a sentence says which one is missing.
Result<InputFiles> files_of(const std::vector<Entry>& entries, const std::vector<InputType>& inputs,
                            const std::string& where) {
  const auto find = [&](const std::string& stem) -> const Entry* {
    for (const Entry& e : entries)
      if (!e.is_folder && e.ending() != ".npz" && e.stem() == stem) return &e;
    return nullptr;
  };
  const Entry* archive = nullptr;
  for (const Entry& e : entries)
    if (!e.is_folder && e.ending() == ".npz") archive = &e;
  InputFiles files;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Entry* file = find(output_stem(inputs[i].name, i));
    if (file == nullptr) file = find(fmt::format("input_{}", i));
    if (file == nullptr) file = archive;
    if (file == nullptr && inputs.size() == 1 && entries.size() == 1 && !entries[0].is_folder) file = &entries[0];
    if (file == nullptr)
      return invalid_argument(
          "the calibration sample {} has no file for the input '{}' ({}); expected {}.npy or .pb, input_{}.pb, or an "
          ".npz with all inputs",
          where, inputs[i].name, inputs[i].type.to_string(), output_stem(inputs[i].name, i), i);
    files[inputs[i].name] = file->path;
  }
  return files;
}

Status check_finite(const ops::Datum& value) {
  if (!value.is_tensor() || dtype_info(value.tensor.dtype).kind != DTypeInfo::Kind::kFloat) return Status::ok();
  const ops::Elements<double> numbers = ops::load<double>(value.view());
  for (int64_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      return invalid_argument("element {} is {}; calibration needs finite numbers", i,
                              std::isnan(numbers[i]) ? "NaN" : "infinite");
  return Status::ok();
}

}  // namespace

Result<CalibrationData> CalibrationData::open(const std::string& folder, std::vector<InputType> inputs) {
  NEREID_TRY(const std::vector<Entry> entries, entries_of(folder));
  if (entries.empty())
    return invalid_argument(
        "the folder '{}' holds no calibration data: no .npy, .npz or .pb files, nor folders of them", folder);
  CalibrationData out;
  const bool folders = std::ranges::any_of(entries, &Entry::is_folder);
  const bool archives = !folders && std::ranges::all_of(entries, [](const Entry& e) { return e.ending() == ".npz"; });
  if (folders) {
    for (const Entry& e : entries) {
      if (!e.is_folder) continue;
      NEREID_TRY(const std::vector<Entry> inside, entries_of(e.path));
      NEREID_TRY(InputFiles files, files_of(inside, inputs, "'" + e.path + "'"));
      out.samples_.push_back({e.path, std::move(files)});
    }
  } else if (archives || inputs.size() == 1) {
    for (const Entry& e : entries) {
      InputFiles files;
      for (const InputType& input : inputs) files[input.name] = e.path;
      out.samples_.push_back({e.path, std::move(files)});
    }
  } else {
    NEREID_TRY(InputFiles files, files_of(entries, inputs, "'" + folder + "'"));
    out.samples_.push_back({folder, std::move(files)});
  }
  out.inputs_ = std::move(inputs);
  return out;
}

Result<std::map<std::string, ops::Datum, std::less<>>> CalibrationData::read(int64_t index) const {
  const Sample& sample = samples_[static_cast<size_t>(index)];
  NEREID_TRY(auto values, read_inputs(inputs_, sample.files, {}, std::nullopt).with("calibration data"));
  for (const auto& [name, value] : values)
    NEREID_RETURN_IF_ERROR(
        check_finite(value).with(fmt::format("calibration data: the input '{}' from {}", name, sample.files.at(name))));
  return values;
}

}  // namespace nereid::compile
