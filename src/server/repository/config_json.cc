// SPDX-License-Identifier: Apache-2.0
#include "server/repository/config_json.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/map_field.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>

namespace nereid::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void append_text(std::string* out, std::string_view text) {
  *out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

void append_float(std::string* out, double value) {
  if (!std::isfinite(value)) {
    append_text(out, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  *out += text;
}

void append_message(std::string* out, const Message& message);

// One value of a field; `index` -1: of a field that is not repeated.
void append_value(std::string* out, const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* r = message.GetReflection();
  const bool one = index < 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      *out += std::to_string(one ? r->GetInt32(message, field) : r->GetRepeatedInt32(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      *out += std::to_string(one ? r->GetInt64(message, field) : r->GetRepeatedInt64(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      *out += std::to_string(one ? r->GetUInt32(message, field) : r->GetRepeatedUInt32(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      *out += std::to_string(one ? r->GetUInt64(message, field) : r->GetRepeatedUInt64(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      append_float(out, one ? r->GetDouble(message, field) : r->GetRepeatedDouble(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      append_float(out,
                   static_cast<double>(one ? r->GetFloat(message, field) : r->GetRepeatedFloat(message, field, index)));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      *out += (one ? r->GetBool(message, field) : r->GetRepeatedBool(message, field, index)) ? "true" : "false";
      break;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = one ? r->GetEnumValue(message, field) : r->GetRepeatedEnumValue(message, field, index);
      const auto* value = field->enum_type()->FindValueByNumber(number);
      value != nullptr ? append_text(out, value->name()) : static_cast<void>(*out += std::to_string(number));
      break;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      append_text(out, one ? r->GetString(message, field) : r->GetRepeatedString(message, field, index));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      append_message(out, one ? r->GetMessage(message, field) : r->GetRepeatedMessage(message, field, index));
      break;
  }
}

// Entries of a map in the order of their keys, so that one configuration has one text.
void append_map(std::string* out, const Message& message, const FieldDescriptor* field) {
  const Reflection* r = message.GetReflection();
  const FieldDescriptor* key_field = field->message_type()->map_key();
  const FieldDescriptor* value_field = field->message_type()->map_value();
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < r->FieldSize(message, field); ++i) {
    const Message& entry = r->GetRepeatedMessage(message, field, i);
    std::string key, value;
    append_value(&key, entry, key_field, -1);
    append_value(&value, entry, value_field, -1);
    if (!key.starts_with('"')) key = "\"" + key + "\"";
    entries.emplace_back(std::move(key), std::move(value));
  }
  std::sort(entries.begin(), entries.end());
  *out += '{';
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) *out += ',';
    *out += entries[i].first + ":" + entries[i].second;
  }
  *out += '}';
}

void append_message(std::string* out, const Message& message) {
  const Reflection* r = message.GetReflection();
  *out += '{';
  bool is_first = true;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated();
    if ((is_message || field->real_containing_oneof() != nullptr) && !r->HasField(message, field)) continue;
    if (!is_first) *out += ',';
    is_first = false;
    append_text(out, field->name());
    *out += ':';
    if (field->is_map()) {
      append_map(out, message, field);
    } else if (field->is_repeated()) {
      *out += '[';
      for (int k = 0; k < r->FieldSize(message, field); ++k) {
        if (k > 0) *out += ',';
        append_value(out, message, field, k);
      }
      *out += ']';
    } else {
      append_value(out, message, field, -1);
    }
  }
  *out += '}';
}

}  // namespace

std::string config_json(const Message& message) {
  std::string out;
  append_message(&out, message);
  return out;
}

}  // namespace nereid::server
