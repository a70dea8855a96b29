// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cached_response.h"

#include <cstring>
#include <optional>
#include <type_traits>

#include "server/core/infer_check.h"

namespace nereid::server {
namespace {

constexpr uint64_t kMark = 0x3152646972656e00;  // of this form; another one gets another number
constexpr size_t kMostParts = 65536;            // tensors, parameters and sizes of a shape
// Of a kept answer beyond its bytes: its names in three tables.
constexpr size_t kOverhead = 256;

class Writer {
 public:
  void number(uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view text) {
    number(text.size());
    out_ += text;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  // After the first that fails, all do.
  uint64_t number() {
    uint64_t value = 0;
    if (bytes_.size() - at_ < sizeof value) return fail();
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  size_t count() {
    const uint64_t value = number();
    return value > kMostParts ? fail() : value;
  }
  std::string_view text() {
    const uint64_t size = number();
    if (bytes_.size() - at_ < size) return fail(), std::string_view();
    const std::string_view out(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return out;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && at_ == bytes_.size(); }

 private:
  size_t fail() {
    is_good_ = false;
    at_ = bytes_.size();
    return 0;
  }
  const std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool is_good_ = true;
};

void write_parameter(const InferParameter& value, Writer* to) {
  to->number(value.index());
  std::visit(
      [&](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::string>) {
          to->text(one);
        } else {
          uint64_t bits = 0;
          std::memcpy(&bits, &one, sizeof one);
          to->number(bits);
        }
      },
      value);
}

template <typename T>
InferParameter from_bits(uint64_t bits) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::optional<InferParameter> read_parameter(Reader* from) {
  switch (from->number()) {
    case 0:
      return InferParameter(from->number() != 0);
    case 1:
      return from_bits<int64_t>(from->number());
    case 2:
      return from_bits<double>(from->number());
    case 3:
      return InferParameter(std::string(from->text()));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::shared_ptr<const CachedResponse> CachedResponse::copy_of(const InferResponse& response) {
  if (!response.status.is_ok() || !response.is_final || response.is_empty) return nullptr;
  auto out = std::make_shared<CachedResponse>();
  size_t total = 0;
  for (const InferTensor& tensor : response.outputs) total += tensor.bytes.size();
  out->memory_.reserve(total);
  for (const InferTensor& tensor : response.outputs) {
    out->tensors_.push_back({tensor.name, tensor.type, tensor.shape, out->memory_.size(), tensor.bytes.size()});
    out->memory_.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  out->parameters_ = response.parameters;
  return out;
}

InferResponse CachedResponse::response(const std::shared_ptr<const CachedResponse>& self) {
  InferResponse out;
  const auto all = std::as_bytes(std::span(self->memory_));
  for (const Tensor& tensor : self->tensors_)
    out.outputs.push_back({.name = tensor.name,
                           .type = tensor.type,
                           .shape = tensor.shape,
                           .bytes = all.subspan(tensor.begin, tensor.size),
                           .owner = self});
  out.parameters = self->parameters_;
  return out;
}

size_t CachedResponse::bytes() const {
  size_t total = kOverhead + memory_.size();
  for (const Tensor& tensor : tensors_) total += sizeof tensor + tensor.name.size() + 8 * tensor.shape.size();
  for (const auto& [name, value] : parameters_) total += sizeof value + name.size() + 32;
  return total;
}

std::string CachedResponse::serialize() const {
  Writer to;
  to.number(kMark);
  to.number(parameters_.size());
  for (const auto& [name, value] : parameters_) {
    to.text(name);
    write_parameter(value, &to);
  }
  to.number(tensors_.size());
  for (const Tensor& tensor : tensors_) {
    to.text(tensor.name);
    to.number(static_cast<uint64_t>(tensor.type));
    to.number(tensor.shape.size());
    for (const int64_t size : tensor.shape) to.number(static_cast<uint64_t>(size));
    to.text(std::string_view(memory_).substr(tensor.begin, tensor.size));
  }
  return to.take();
}

std::shared_ptr<const CachedResponse> CachedResponse::parse(std::span<const std::byte> bytes) {
  Reader from(bytes);
  if (from.number() != kMark) return nullptr;
  auto out = std::make_shared<CachedResponse>();
  for (size_t left = from.count(); left > 0 && from.is_good(); --left) {
    std::string name(from.text());
    std::optional<InferParameter> value = read_parameter(&from);
    if (!value) return nullptr;
    out->parameters_.emplace_back(std::move(name), std::move(*value));
  }
  for (size_t left = from.count(); left > 0 && from.is_good(); --left) {
    Tensor tensor{.name = std::string(from.text()), .type = {}, .shape = {}};
    const uint64_t type = from.number();
    if (type == 0 || type > static_cast<uint64_t>(InferType::kBf16)) return nullptr;
    tensor.type = static_cast<InferType>(type);
    for (size_t sizes = from.count(); sizes > 0 && from.is_good(); --sizes)
      tensor.shape.push_back(static_cast<int64_t>(from.number()));
    const std::string_view content = from.text();
    tensor.begin = out->memory_.size();
    tensor.size = content.size();
    // Sizes that do not fit their bytes would be believed by whoever reads the tensor.
    const int64_t elements = element_count(tensor.shape);
    if (elements < 0) return nullptr;
    if (tensor.type == InferType::kBytes &&
        !check_texts(tensor.name, "", std::as_bytes(std::span(content)), elements, "").is_ok())
      return nullptr;
    if (tensor.type != InferType::kBytes &&
        static_cast<uint64_t>(elements) * infer_type_info(tensor.type).bytes != content.size())
      return nullptr;
    out->memory_ += content;
    out->tensors_.push_back(std::move(tensor));
  }
  return from.is_at_end() ? out : nullptr;
}

}  // namespace nereid::server
