// SPDX-License-Identifier: Apache-2.0
// Typed access to attributes and the text of types.
#include "ops/op.h"

#include "base/check.h"

namespace nereid::ops {
namespace {

template <typename T>
const T& get(const Attrs& attrs, std::string_view name) {
  const AttrValue* value = attrs.find(name);
  NEREID_CHECK(value != nullptr);
  const T* typed = std::get_if<T>(value);
  NEREID_CHECK(typed != nullptr);
  return *typed;
}

}  // namespace

std::string container_text(const TensorType& type) {
  static constexpr std::string_view kNames[] = {"",     "sequence ",    "optional ", "optional sequence ",
                                                "map ", "sequence map "};
  std::string text(kNames[static_cast<size_t>(type.container)]);
  const bool keyed = type.container == Container::kMap || type.container == Container::kSequenceOfMaps;
  return keyed ? fmt::format("{}{} ", text, dtype_name(type.key)) : text;
}

bool container_from_text(std::span<const std::string> words, TensorType& type) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  for (const Container c : {Container::kNone, Container::kSequence, Container::kOptional, Container::kOptionalSequence,
                            Container::kMap, Container::kSequenceOfMaps})
    for (const DType key : {DType::i64, DType::string}) {
      type.container = c;
      type.key = key;
      if (container_text(type) == text) return true;
    }
  return false;
}

std::string TensorType::to_string() const {
  return container_text(*this) + std::string(dtype_name(dtype)) + shape.to_string();
}

const AttrValue* Attrs::find(std::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

bool Attrs::boolean(std::string_view name) const {
  return get<bool>(*this, name);
}
int64_t Attrs::integer(std::string_view name) const {
  return get<int64_t>(*this, name);
}

double Attrs::real(std::string_view name) const {
  const AttrValue* value = find(name);
  if (value != nullptr && std::holds_alternative<int64_t>(*value))
    return static_cast<double>(std::get<int64_t>(*value));
  return get<double>(*this, name);
}

const std::string& Attrs::text(std::string_view name) const {
  return get<std::string>(*this, name);
}
const std::vector<int64_t>& Attrs::integers(std::string_view name) const {
  return get<std::vector<int64_t>>(*this, name);
}
const std::vector<double>& Attrs::reals(std::string_view name) const {
  return get<std::vector<double>>(*this, name);
}
const std::vector<std::string>& Attrs::texts(std::string_view name) const {
  return get<std::vector<std::string>>(*this, name);
}

}  // namespace nereid::ops
