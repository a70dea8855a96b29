// SPDX-License-Identifier: Apache-2.0
// JSON of requests, read into one flat array: 16 bytes a value, whatever the text nests. NaN and infinities are taken,
// as clients of the protocol send them. What is wrong is said in the words that these clients know, with the offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::server::kserve {

enum class JsonKind : uint8_t { kNull, kFalse, kTrue, kInt, kUint, kDouble, kString, kArray, kObject };

class JsonValue;

class JsonDocument {
 public:
  // kInternal (which is what clients get for it): "failed to parse the request JSON buffer: ... at 12".
  static Result<JsonDocument> parse(std::string_view text);
  JsonValue root() const;

 private:
  friend class JsonValue;
  friend class JsonParser;
  struct Node {
    JsonKind kind = JsonKind::kNull;
    uint32_t end = 0;   // the node behind this value; strings: their length
    uint64_t bits = 0;  // a number, or where a string begins
  };
  std::vector<Node> nodes_;  // an object's children: name, value, name, value
  std::string texts_;
};

// A view of one value; the document must live and stay where it is.
class JsonValue {
 public:
  JsonKind kind() const { return node().kind; }
  bool is_array() const { return kind() == JsonKind::kArray; }
  bool is_object() const { return kind() == JsonKind::kObject; }
  bool is_string() const { return kind() == JsonKind::kString; }
  bool is_bool() const { return kind() == JsonKind::kTrue || kind() == JsonKind::kFalse; }
  bool is_integer() const { return kind() == JsonKind::kInt || kind() == JsonKind::kUint; }
  bool is_number() const { return is_integer() || kind() == JsonKind::kDouble; }

  std::string_view text() const;  // of a string
  bool boolean() const { return kind() == JsonKind::kTrue; }
  std::optional<int64_t> as_int() const;  // an integer that fits
  std::optional<uint64_t> as_uint() const;
  double number() const;  // of a number

  // The children of an array or the members of an object, one after the other.
  std::optional<JsonValue> first() const;
  std::optional<JsonValue> next(const JsonValue& parent) const;
  // The member of that name; of several the first. Nothing where this is no object.
  std::optional<JsonValue> find(std::string_view name) const;
  // For a name of an object: what it names.
  JsonValue named() const { return {document_, index_ + 1}; }

 private:
  friend class JsonDocument;
  JsonValue(const JsonDocument* document, uint32_t index) : document_(document), index_(index) {}
  const JsonDocument::Node& node() const { return document_->nodes_[index_]; }
  uint32_t behind() const;
  const JsonDocument* document_;
  uint32_t index_;
};

inline JsonValue JsonDocument::root() const {
  return {this, 0};
}

// The errors of a value of the wrong kind, and of one that is not there: kInternal.
Status wrong_kind(std::string_view name, std::string_view found_not, std::string_view wanted);
Status missing_member(std::string_view name);
// As wrong_kind, where clients have never been told the name.
Status wrong_json(std::string_view found_not, std::string_view wanted);
// Members, with those errors.
Result<std::string_view> member_text(const JsonValue& object, std::string_view name);
Result<JsonValue> member_array(const JsonValue& object, std::string_view name);
Result<uint64_t> value_uint(std::string_view name, const JsonValue& value);

}  // namespace nereid::server::kserve
