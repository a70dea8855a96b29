// SPDX-License-Identifier: Apache-2.0
// From TensorProto and TypeProto to ours, and back.
#include "import/onnx/tensor_proto.h"

#include <charconv>
#include <cstring>
#include <filesystem>

#include "import/onnx/element_type.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

std::string name_of(const ::onnx::TensorProto& t) {
  return t.name().empty() ? "a tensor" : fmt::format("tensor '{}'", t.name());
}

Result<std::vector<int64_t>> sizes_of(const ::onnx::TensorProto& t) {
  std::vector<int64_t> sizes(t.dims().begin(), t.dims().end());
  for (int64_t s : sizes)
    if (s < 0) return invalid_argument("{} has the negative size {}", name_of(t), s);
  if (!checked_product(sizes)) return invalid_argument("{} has more elements than can be counted", name_of(t));
  return sizes;
}

Status wrong_count(const ::onnx::TensorProto& t, int64_t found, int64_t wanted) {
  return invalid_argument("{} should hold {} elements, but its data has {}", name_of(t), wanted, found);
}

// Numbers of a list field, each stored in a wider type than it needs; f16, bf16 and f8 are stored as their bits.
template <typename Stored, typename List>
Status copy_list(const ::onnx::TensorProto& t, const List& list, ops::Tensor& out) {
  const int64_t n = std::as_const(out).view().elements();
  if (list.size() != n) return wrong_count(t, list.size(), n);
  auto* dst = reinterpret_cast<Stored*>(out.bytes.data());
  for (int i = 0; i < list.size(); ++i) dst[i] = static_cast<Stored>(list[i]);
  return Status::ok();
}

// Of types below a byte, each entry of the list is one packed byte.
template <typename List>
Status copy_packed(const ::onnx::TensorProto& t, const List& list, ops::Tensor& out) {
  if (static_cast<size_t>(list.size()) != out.bytes.size())
    return invalid_argument("{} should hold {} packed bytes, but its data has {}", name_of(t), out.bytes.size(),
                            list.size());
  for (int i = 0; i < list.size(); ++i) out.bytes[static_cast<size_t>(i)] = static_cast<std::byte>(list[i]);
  return Status::ok();
}

template <typename Part, typename List>
Status copy_complex(const ::onnx::TensorProto& t, const List& list, ops::Tensor& out) {
  const int64_t n = std::as_const(out).view().elements() * 2;
  if (list.size() != n) return wrong_count(t, list.size() / 2, n / 2);
  auto* dst = reinterpret_cast<Part*>(out.bytes.data());
  for (int i = 0; i < list.size(); ++i) dst[i] = list[i];
  return Status::ok();
}

Status copy_lists(const ::onnx::TensorProto& t, ops::Tensor& out) {
  switch (out.dtype) {
    case DType::f32:
      return copy_list<float>(t, t.float_data(), out);
    case DType::f64:
      return copy_list<double>(t, t.double_data(), out);
    case DType::i64:
      return copy_list<int64_t>(t, t.int64_data(), out);
    case DType::u64:
      return copy_list<uint64_t>(t, t.uint64_data(), out);
    case DType::u32:
      return copy_list<uint32_t>(t, t.uint64_data(), out);
    case DType::i32:
      return copy_list<int32_t>(t, t.int32_data(), out);
    case DType::c64:
      return copy_complex<float>(t, t.float_data(), out);
    case DType::c128:
      return copy_complex<double>(t, t.double_data(), out);
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return copy_list<uint16_t>(t, t.int32_data(), out);
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
      return copy_list<uint8_t>(t, t.int32_data(), out);
    case DType::i2:
    case DType::u2:
    case DType::i4:
    case DType::u4:
    case DType::f4e2m1:
      return copy_packed(t, t.int32_data(), out);
    default:
      return unsupported("{} has elements of type {}", name_of(t), dtype_name(out.dtype));
  }
}

// Elements that the data really holds, so that a small file cannot ask for a huge allocation.
int64_t stored_elements(const ::onnx::TensorProto& t, DType dtype) {
  const int64_t lists = std::max({t.float_data_size(), t.int32_data_size(), t.int64_data_size(), t.double_data_size(),
                                  t.uint64_data_size(), t.string_data_size()});
  const int64_t raw = static_cast<int64_t>(t.raw_data().size());
  return std::max(lists, raw) * std::max<int64_t>(1, dtype_info(dtype).block_elements);
}

Result<int64_t> number(const ::onnx::TensorProto& t, std::string_view key, const std::string& text) {
  int64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value < 0)
    return invalid_argument("{} has the {} '{}' of its external data, which is no count of bytes", name_of(t), key,
                            text);
  return value;
}

bool is_aligned(const void* p, DType dtype) {
  return reinterpret_cast<uintptr_t>(p) % std::min<uintptr_t>(dtype_info(dtype).block_bytes, 8) == 0;
}

}  // namespace

Result<std::string_view> ExternalFiles::find(const ::onnx::TensorProto& t) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset") {
      NEREID_TRY(offset, number(t, "offset", entry.value()));
    } else if (entry.key() == "length") {
      NEREID_TRY(length, number(t, "length", entry.value()));
    }
  }
  const std::filesystem::path path(location);
  bool leaves = location.empty() || path.is_absolute();
  for (const auto& part : path) leaves = leaves || part == "..";
  if (leaves)
    return invalid_argument("{} has its data in '{}', which is not a file in or below the model's folder", name_of(t),
                            location);
  if (folder_.empty())
    return not_found("{} has its data in the file '{}', but the model has no folder", name_of(t), location);
  auto it = files_.find(location);
  if (it == files_.end()) {
    const std::filesystem::path full = std::filesystem::path(folder_) / path;
    // A link may lead out of the folder as well as a path may.
    std::error_code ec;
    const auto real = std::filesystem::canonical(full, ec);
    if (ec) return not_found("{} has its data in '{}', which is not there", name_of(t), full.string());
    const auto root = std::filesystem::canonical(folder_, ec);
    const auto relative = real.lexically_relative(root);
    if (ec || relative.empty() || *relative.begin() == "..")
      return invalid_argument("{} has its data in '{}', which leads out of the model's folder", name_of(t), location);
    NEREID_TRY(MappedFile file, MappedFile::open(real.string()));
    it = files_.emplace(location, std::make_unique<MappedFile>(std::move(file))).first;
  }
  const auto bytes = it->second->bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  if (length < 0) length = std::max<int64_t>(0, size - offset);
  if (offset > size || length > size - offset)
    return invalid_argument("{} has {} bytes at {} of '{}', which has only {}", name_of(t), length, offset, location,
                            size);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + offset, static_cast<size_t>(length));
}

Result<ConstTensorView> view_tensor(const ::onnx::TensorProto& t, ExternalFiles* files, ops::Tensor& storage) {
  NEREID_TRY(const DType dtype, dtype_of_number(t.data_type()).with(name_of(t)));
  NEREID_TRY(std::vector<int64_t> sizes, sizes_of(t));
  const int64_t elements = *checked_product(sizes);
  const bool external = t.data_location() == ::onnx::TensorProto::EXTERNAL;
  if (external && files == nullptr) return unsupported("{} has its data in another file", name_of(t));
  if (dtype == DType::string) {
    if (t.string_data_size() != elements) return wrong_count(t, t.string_data_size(), elements);
    NEREID_TRY(storage, ops::Tensor::zeros(dtype, std::move(sizes)));
    storage.strings.assign(t.string_data().begin(), t.string_data().end());
    return std::as_const(storage).view();
  }
  const auto bytes = dtype_bytes(dtype, elements);
  if (!bytes) return invalid_argument("{} has more bytes than can be counted", name_of(t));
  std::string_view raw = t.raw_data();
  if (external) {
    NEREID_TRY(raw, files->find(t));
  }
  if (external || t.has_raw_data()) {
    if (static_cast<int64_t>(raw.size()) != *bytes)
      return invalid_argument("{} should hold {} bytes, but its data has {}", name_of(t), *bytes, raw.size());
    if (elements > 0 && is_aligned(raw.data(), dtype)) return ConstTensorView(raw.data(), dtype, std::move(sizes));
    NEREID_TRY(storage, ops::Tensor::zeros(dtype, std::move(sizes)));
    if (!raw.empty()) std::memcpy(storage.bytes.data(), raw.data(), raw.size());
    return std::as_const(storage).view();
  }
  if (elements > stored_elements(t, dtype)) return wrong_count(t, stored_elements(t, dtype), elements);
  NEREID_TRY(storage, ops::Tensor::zeros(dtype, std::move(sizes)));
  NEREID_RETURN_IF_ERROR(copy_lists(t, storage));
  return std::as_const(storage).view();
}

Result<ops::Tensor> read_tensor(const ::onnx::TensorProto& t, ExternalFiles* files) {
  ops::Tensor storage;
  NEREID_TRY(const ConstTensorView view, view_tensor(t, files, storage));
  if (view.data == std::as_const(storage).view().data) return storage;
  return ops::Tensor::copy(view);
}

Result<ops::Tensor> read_sparse_tensor(const ::onnx::SparseTensorProto& t, ExternalFiles* files) {
  NEREID_TRY(const ops::Tensor values, read_tensor(t.values(), files));
  NEREID_TRY(const ops::Tensor places, read_tensor(t.indices(), files));
  NEREID_TRY(ops::Tensor out, ops::Tensor::zeros(values.dtype, std::vector<int64_t>(t.dims().begin(), t.dims().end())));
  const ConstTensorView from = values.view(), at = places.view();
  const int64_t rank = t.dims_size(), count = from.elements();
  const bool flat = at.rank() == 1;
  if (at.dtype != DType::i64 || at.elements() != (flat ? count : count * rank))
    return invalid_argument("the places of a sparse tensor's {} values are not i64[{}] or i64[{}, {}]", count, count,
                            count, rank);
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = flat ? at.as<int64_t>()[i] : 0;
    for (int64_t d = 0; !flat && d < rank; ++d) {
      const int64_t p = at.as<int64_t>()[i * rank + d];
      if (p < 0 || p >= out.sizes[static_cast<size_t>(d)])
        return invalid_argument("a sparse tensor has a value at {} of a dimension of {}", p,
                                out.sizes[static_cast<size_t>(d)]);
      index = index * out.sizes[static_cast<size_t>(d)] + p;
    }
    if (index < 0 || index >= std::as_const(out).view().elements())
      return invalid_argument("a sparse tensor has a value at {}, past its end", index);
    ops::copy_elements(out.view(), index, from, i, 1);
  }
  return out;
}

void write_tensor(const ConstTensorView& view, ::onnx::TensorProto& t) {
  t.set_data_type(number_of_dtype(view.dtype).value_or(0));
  for (int64_t s : view.sizes) t.add_dims(s);
  if (view.dtype == DType::string) {
    for (int64_t i = 0; i < view.elements(); ++i) t.add_string_data(view.as<std::string>()[i]);
  } else {
    t.set_raw_data(view.data, static_cast<size_t>(view.bytes()));
  }
}

namespace {

Result<ops::TensorType> read_tensor_type(const ::onnx::TypeProto::Tensor& t) {
  ops::TensorType type;
  NEREID_TRY(type.dtype, dtype_of_number(t.elem_type()));
  if (!t.has_shape()) {
    type.shape = Shape::unranked();
    return type;
  }
  std::vector<Dim> dims;
  for (const auto& d : t.shape().dim()) {
    // Exporters write -1 and 0 for sizes they do not know; 0 elements is not worth a tensor in a file's interface.
    if (d.has_dim_value() && d.dim_value() >= 0) {
      dims.emplace_back(d.dim_value());
    } else if (d.has_dim_param() && !d.dim_param().empty()) {
      dims.push_back(Dim::symbol(d.dim_param()));
    } else {
      dims.push_back(Dim::unknown());
    }
  }
  type.shape = Shape(std::move(dims));
  return type;
}

}  // namespace

Result<ops::TensorType> read_type(const ::onnx::TypeProto& type) {
  using ops::Container;
  if (type.has_tensor_type()) return read_tensor_type(type.tensor_type());
  if (type.has_sparse_tensor_type()) return unsupported("sparse inputs and outputs cannot be read");
  if (type.has_sequence_type()) {
    NEREID_TRY(ops::TensorType item, read_type(type.sequence_type().elem_type()));
    if (item.container != Container::kNone && item.container != Container::kMap)
      return unsupported("a sequence of {} cannot be read", item.to_string());
    item.container = item.container == Container::kMap ? Container::kSequenceOfMaps : Container::kSequence;
    return item;
  }
  if (type.has_optional_type()) {
    NEREID_TRY(ops::TensorType item, read_type(type.optional_type().elem_type()));
    if (item.container != Container::kNone && item.container != Container::kSequence)
      return unsupported("an optional {} cannot be read", item.to_string());
    item.container = item.container == Container::kSequence ? Container::kOptionalSequence : Container::kOptional;
    return item;
  }
  if (type.has_map_type()) {
    NEREID_TRY(const DType key, dtype_of_number(type.map_type().key_type()));
    NEREID_TRY(ops::TensorType item, read_type(type.map_type().value_type()));
    if (!item.is_tensor()) return unsupported("a map to {} cannot be read", item.to_string());
    item.container = Container::kMap;
    item.key = key;
    return item;
  }
  return invalid_argument("its type is not given");
}

}  // namespace nereid::import::onnx
