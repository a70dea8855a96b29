// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_inputs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "import/npy/npy.h"
#include "import/onnx/value_file.h"

namespace nereid::compile {
namespace {

using ops::Container;
using ops::Datum;
using ops::TensorType;

constexpr size_t kMostListBytes = size_t{64} << 20;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Status add_file(InputFiles& files, std::string name, std::string file) {
  if (file.empty()) return invalid_argument("the input '{}' is given without a file", name);
  const auto [it, fresh] = files.emplace(std::move(name), std::move(file));
  if (!fresh) return invalid_argument("the input '{}' is given twice", it->first);
  return Status::ok();
}

Status add_listed(InputFiles& files, const std::string& path) {
  NEREID_TRY(const std::string text, read_file(path, kMostListBytes));
  NEREID_TRY(const Json list, parse_json(text).with(path));
  if (!list.is_object()) return invalid_argument("{} should hold an object {{\"NAME\":\"FILE\"}}", path);
  for (const auto& [name, file] : list.items()) {
    if (!file.is_string()) return invalid_argument("{} names no file (a text) for the input '{}'", path, name);
    NEREID_RETURN_IF_ERROR(add_file(files, name, file.get<std::string>()));
  }
  return Status::ok();
}

Status add_archive(InputFiles& files, const std::string& path) {
  NEREID_TRY(const auto arrays, import::npy::read_npz(path));
  for (const auto& [name, tensor] : arrays) NEREID_RETURN_IF_ERROR(add_file(files, name, path));
  return Status::ok();
}

std::string names_of(std::span<const InputType> inputs) {
  std::string names;
  for (const InputType& input : inputs) {
    names += names.empty() ? "" : ", ";
    names += fmt::format("'{}' ({})", input.name, input.type.to_string());
    if (names.size() > 600) return names + ", ...";
  }
  return names.empty() ? "none" : names;
}

bool is_optional(const TensorType& type) {
  return type.container == Container::kOptional || type.container == Container::kOptionalSequence;
}

// Declared sizes that are known must be those that are there.
bool shape_fits(const Shape& declared, std::span<const int64_t> sizes) {
  if (!declared.is_ranked()) return true;
  if (declared.rank() != static_cast<int>(sizes.size())) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Dim& dim = declared[static_cast<int>(d)];
    if (dim.is_static() && dim.size() != sizes[d]) return false;
  }
  return true;
}

Status check_tensor(const ops::Tensor& tensor, const TensorType& declared) {
  if (tensor.dtype == declared.dtype && (!declared.is_tensor() || shape_fits(declared.shape, tensor.sizes)))
    return Status::ok();
  return invalid_argument("it holds {}{}, but the model declares {}", dtype_name(tensor.dtype),
                          Shape::of(tensor.sizes).to_string(), declared.to_string());
}

// The sizes that raw bytes and random numbers take.
Result<std::vector<int64_t>> wanted_sizes(const InputType& input, const InputShapes& shapes) {
  if (const auto it = shapes.find(input.name); it != shapes.end()) {
    if (!shape_fits(input.type.shape, it->second))
      return invalid_argument("--shapes gives it {}, but the model declares {}", Shape::of(it->second).to_string(),
                              input.type.to_string());
    return it->second;
  }
  if (!input.type.shape.is_static())
    return invalid_argument("its sizes are not all known ({}); give them with --shapes '{}:...'",
                            input.type.to_string(), input.name);
  return input.type.shape.sizes();
}

Result<ops::Tensor> read_raw(std::string_view bytes, const InputType& input, const InputShapes& shapes) {
  if (input.type.dtype == DType::string) return unsupported("texts cannot be given as raw bytes");
  NEREID_TRY(std::vector<int64_t> sizes, wanted_sizes(input, shapes));
  const auto elements = checked_product(sizes);
  const auto size = elements ? dtype_bytes(input.type.dtype, *elements) : std::nullopt;
  if (!size || static_cast<uint64_t>(*size) != bytes.size())
    return invalid_argument("it has {} bytes, but {}{} needs {}", bytes.size(), dtype_name(input.type.dtype),
                            Shape::of(sizes).to_string(), size ? fmt::to_string(*size) : "more than 2^63");
  NEREID_TRY(ops::Tensor tensor, ops::Tensor::zeros(input.type.dtype, std::move(sizes)));
  if (!bytes.empty()) std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
  if (tensor.dtype == DType::boolean)
    for (std::byte& b : tensor.bytes) b = std::byte{b != std::byte{0}};
  return tensor;
}

Result<ops::Tensor> pick(import::npy::NamedTensors arrays, const std::string& name) {
  for (auto& [key, tensor] : arrays)
    if (key == name || arrays.size() == 1) return std::move(tensor);
  return not_found("it holds {} arrays, but none of the input's name", arrays.size());
}

Result<Datum> read_input(const std::string& path, const InputType& input, const InputShapes& shapes) {
  NEREID_TRY(const MappedFile file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file.bytes();
  if (path.ends_with(".pb")) {
    NEREID_TRY(Datum value, import::onnx::read_value(file.text(), input.type));
    if (value.is_tensor()) NEREID_RETURN_IF_ERROR(check_tensor(value.tensor, input.type));
    return value;
  }
  ops::Tensor tensor;
  if (path.ends_with(".npz")) {
    NEREID_TRY(auto arrays, import::npy::parse_npz(bytes));
    NEREID_TRY(tensor, pick(std::move(arrays), input.name));
  } else if (path.ends_with(".bin") || path.ends_with(".raw")) {
    NEREID_TRY(tensor, read_raw(file.text(), input, shapes));
  } else if (path.ends_with(".npy") || import::npy::looks_like_npy(bytes)) {
    NEREID_TRY(tensor, import::npy::parse_npy(bytes));
  } else {
    return unsupported("its name ends in none of .npy, .npz, .pb, .bin and .raw, which tell how to read it");
  }
  if (!input.type.is_tensor() && input.type.container != Container::kOptional)
    return invalid_argument("the model declares {}, which only a .pb file can hold", input.type.to_string());
  NEREID_RETURN_IF_ERROR(check_tensor(tensor, input.type));
  return Datum(std::move(tensor));
}

// splitmix64: the same numbers everywhere.
uint64_t next_random(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

Result<Datum> random_input(const InputType& input, const InputShapes& shapes, uint64_t seed) {
  if (is_optional(input.type)) return Datum::none(input.type.dtype);
  const DTypeInfo::Kind kind = dtype_info(input.type.dtype).kind;
  if (!input.type.is_tensor() || kind == DTypeInfo::Kind::kString || kind == DTypeInfo::Kind::kComplex)
    return unsupported("there are no random values of the type {}; give a file", input.type.to_string());
  NEREID_TRY(std::vector<int64_t> sizes, wanted_sizes(input, shapes));
  // Each input has a stream of its own, so that giving one of them does not change the others.
  for (const char c : input.name) seed = seed * 1099511628211ULL + static_cast<uint8_t>(c);
  NEREID_TRY(ops::Tensor tensor, ops::Tensor::zeros(input.type.dtype, sizes));
  const int64_t count = *checked_product(sizes);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& v : values) {
    const uint64_t random = next_random(seed);
    if (kind == DTypeInfo::Kind::kFloat)
      v = static_cast<double>(random >> 40) / (1 << 23) - 1;
    else
      v = static_cast<double>(random % (kind == DTypeInfo::Kind::kBool ? 2 : 10));
  }
  return Datum(ops::Tensor::of(input.type.dtype, std::move(sizes), values));
}

}  // namespace

Result<InputFiles> parse_input_files(std::span<const std::string> texts) {
  InputFiles files;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    if (text.starts_with('@')) {
      NEREID_RETURN_IF_ERROR(add_listed(files, text.substr(1)));
      continue;
    }
    for (const std::string_view part : split(text, ',')) {
      const size_t equals = part.find('=');
      if (equals != std::string_view::npos) {
        NEREID_RETURN_IF_ERROR(
            add_file(files, std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))));
      } else if (part.ends_with(".npz")) {
        NEREID_RETURN_IF_ERROR(add_archive(files, std::string(part)));
      } else {
        return invalid_argument(
            "'{}' is no input: expected NAME=FILE, @FILE.json or an .npz file (names with ',' or '=' go into a .json)",
            part);
      }
    }
  }
  return files;
}

Result<InputShapes> parse_input_shapes(std::span<const std::string> texts) {
  InputShapes shapes;
  for (const std::string& text : texts) {
    for (const std::string_view part : split(text, ',')) {
      const size_t colon = part.rfind(':');
      if (colon == std::string_view::npos)
        return invalid_argument("'{}' is no shape: expected NAME:SIZExSIZE, such as x:1x3x224x224", part);
      std::vector<int64_t> sizes;
      const std::string_view numbers = part.substr(colon + 1);
      for (const std::string_view number : numbers.empty() ? std::vector<std::string_view>() : split(numbers, 'x')) {
        int64_t size = -1;
        const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), size);
        if (problem != std::errc() || end != number.data() + number.size() || size < 0)
          return invalid_argument("'{}' in '{}' is no size from 0 to 2^63 - 1", number, part);
        sizes.push_back(size);
      }
      if (!checked_product(sizes)) return invalid_argument("'{}' has more elements than can be counted", part);
      if (!shapes.emplace(std::string(part.substr(0, colon)), std::move(sizes)).second)
        return invalid_argument("the shape of '{}' is given twice", part.substr(0, colon));
    }
  }
  return shapes;
}

Result<std::map<std::string, Datum, std::less<>>> read_inputs(std::span<const InputType> inputs,
                                                              const InputFiles& files, const InputShapes& shapes,
                                                              std::optional<uint64_t> random_seed) {
  std::map<std::string, Datum, std::less<>> values;
  const auto is_input = [&](const std::string& name) {
    for (const InputType& input : inputs)
      if (input.name == name) return true;
    return false;
  };
  for (const auto& [name, file] : files)
    if (!is_input(name)) return invalid_argument("the model has no input '{}'; its inputs: {}", name, names_of(inputs));
  for (const auto& [name, sizes] : shapes)
    if (!is_input(name))
      return invalid_argument("--shapes names '{}', which is no input; the inputs: {}", name, names_of(inputs));
  for (const InputType& input : inputs) {
    if (const auto it = files.find(input.name); it != files.end()) {
      NEREID_TRY(
          Datum value,
          read_input(it->second, input, shapes).with(fmt::format("the input '{}' from {}", input.name, it->second)));
      values.emplace(input.name, std::move(value));
    } else if (random_seed) {
      NEREID_TRY(Datum value,
                 random_input(input, shapes, *random_seed).with(fmt::format("the input '{}'", input.name)));
      values.emplace(input.name, std::move(value));
    } else {
      return invalid_argument(
          "the input '{}' ({}) is not given; name its file with --inputs NAME=FILE, or have random "
          "numbers with --random SEED",
          input.name, input.type.to_string());
    }
  }
  return values;
}

}  // namespace nereid::compile
