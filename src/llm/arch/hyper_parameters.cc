// SPDX-License-Identifier: Apache-2.0
// Typed reading of hyper-parameters from GGUF metadata or a Hugging Face config.json, whichever a model has.
#include "llm/arch/hyper_parameters.h"

#include <cmath>

#include "base/json.h"

namespace nereid::llm {
namespace {

// A value that may hold megabytes, shortened for a message.
std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

// Whole numbers that some writer made floats ("8192.0") count as integers.
std::optional<int64_t> as_integer(double value) {
  if (!(std::abs(value) <= 9007199254740992.0) || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

template <typename T, typename Read>
Result<std::optional<T>> typed(const Json* object, std::string_view key, std::string_view where,
                               std::string_view expected, Read read) {
  const Json* value = json_member(object, key);
  if (value == nullptr) return std::optional<T>();
  std::optional<T> result = read(*value);
  if (!result) return invalid_argument("{} in {} is {}; expected {}.", key, where, shown(*value), expected);
  return result;
}

template <typename T>
Result<std::optional<T>> found(Result<T> value) {
  if (!value) return value.status();
  return std::optional<T>(std::move(value).value());
}

constexpr std::string_view kConfig = "config.json";

}  // namespace

const Json* json_member(const Json* object, std::string_view key) {
  return object == nullptr || key.empty() ? nullptr : json_find(*object, key);
}

Result<std::optional<int64_t>> json_integer(const Json* object, std::string_view key, std::string_view where) {
  return typed<int64_t>(object, key, where, "a whole number", [](const Json& v) -> std::optional<int64_t> {
    if (v.is_number_float()) return as_integer(v.get<double>());
    if (v.is_number_unsigned() && v.get<uint64_t>() > INT64_MAX) return std::nullopt;
    if (v.is_number_integer()) return v.get<int64_t>();
    return std::nullopt;
  });
}

Result<std::optional<double>> json_real(const Json* object, std::string_view key, std::string_view where) {
  return typed<double>(object, key, where, "a number", [](const Json& v) -> std::optional<double> {
    if (!v.is_number()) return std::nullopt;
    return v.get<double>();
  });
}

Result<std::optional<bool>> json_boolean(const Json* object, std::string_view key, std::string_view where) {
  return typed<bool>(object, key, where, "true or false", [](const Json& v) -> std::optional<bool> {
    if (!v.is_boolean()) return std::nullopt;
    return v.get<bool>();
  });
}

Result<std::optional<std::string>> json_text(const Json* object, std::string_view key, std::string_view where) {
  return typed<std::string>(object, key, where, "a string", [](const Json& v) -> std::optional<std::string> {
    if (!v.is_string()) return std::nullopt;
    return v.get<std::string>();
  });
}

HyperParameters::HyperParameters(const ArchInput& input) : gguf_(input.gguf), hf_(input.hf) {
  if (gguf_ != nullptr) prefix_ = fmt::format("{}.", gguf_->string_or("general.architecture", input.architecture));
  const Json* nested = json_member(hf_, "text_config");
  if (nested != nullptr && nested->is_object()) text_config_ = nested;
}

const MetaValue* HyperParameters::gguf(std::string_view key) const {
  return gguf_ == nullptr || key.empty() ? nullptr : gguf_->find(prefix_ + std::string(key));
}

const Json* HyperParameters::hf(std::string_view key) const {
  const Json* nested = json_member(text_config_, key);
  return nested != nullptr ? nested : json_member(hf_, key);
}

bool HyperParameters::is_null(std::string_view key) const {
  const Json* object = text_config_ != nullptr && text_config_->contains(key) ? text_config_ : hf_;
  if (object == nullptr || !object->is_object()) return false;
  const auto it = object->find(key);
  return it != object->end() && it->is_null();
}

std::string HyperParameters::name(std::string_view gguf, std::string_view hf) const {
  return is_gguf() ? fmt::format("{}{}", prefix_, gguf) : fmt::format("{} in {}", hf, kConfig);
}

Result<std::optional<int64_t>> HyperParameters::integer(std::string_view gguf, std::string_view hf) const {
  if (!is_gguf()) return json_integer(json_member(text_config_, hf) ? text_config_ : hf_, hf, kConfig);
  const MetaValue* value = this->gguf(gguf);
  if (value == nullptr) return std::optional<int64_t>();
  const auto* list = std::get_if<std::vector<int64_t>>(value);
  if (list == nullptr) return found(gguf_->get_int(prefix_ + std::string(gguf)));
  // Some writers give one value a layer; only equal ones mean what a single value means.
  for (const int64_t v : *list) {
    if (v != list->front()) {
      return unsupported("{} differs between layers ({} and {}); only models whose layers are alike are supported.",
                         name(gguf, hf), list->front(), v);
    }
  }
  if (list->empty()) return invalid_argument("{} is an empty list; expected a whole number.", name(gguf, hf));
  return std::optional<int64_t>(list->front());
}

Result<std::optional<double>> HyperParameters::real(std::string_view gguf, std::string_view hf) const {
  if (!is_gguf()) return json_real(json_member(text_config_, hf) ? text_config_ : hf_, hf, kConfig);
  if (this->gguf(gguf) == nullptr) return std::optional<double>();
  return found(gguf_->get_float(prefix_ + std::string(gguf)));
}

Result<std::optional<bool>> HyperParameters::boolean(std::string_view gguf, std::string_view hf) const {
  if (!is_gguf()) return json_boolean(json_member(text_config_, hf) ? text_config_ : hf_, hf, kConfig);
  if (this->gguf(gguf) == nullptr) return std::optional<bool>();
  return found(gguf_->get_bool(prefix_ + std::string(gguf)));
}

Result<std::optional<std::string>> HyperParameters::text(std::string_view gguf, std::string_view hf) const {
  if (!is_gguf()) return json_text(json_member(text_config_, hf) ? text_config_ : hf_, hf, kConfig);
  if (this->gguf(gguf) == nullptr) return std::optional<std::string>();
  NEREID_TRY(const std::string_view value, gguf_->get_string(prefix_ + std::string(gguf)));
  return std::optional<std::string>(std::string(value));
}

}  // namespace nereid::llm
