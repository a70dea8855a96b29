// SPDX-License-Identifier: Apache-2.0
#include "base/metadata.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace nereid {
namespace {

static_assert(std::endian::native == std::endian::little, "the serialized form is little endian and copied as is");

// "NMD1": Nereid metadata, form 1.
constexpr std::string_view kMagic = "NMD1";

// What the tag byte of a value says; the order is MetaValue's and is part of the serialized form.
constexpr size_t kTagCount = std::variant_size_v<MetaValue>;
constexpr std::string_view kTypeNames[kTagCount] = {
    "a boolean",           "an integer",          "a number", "a string", "an array of integers",
    "an array of numbers", "an array of strings",
};

class Writer {
 public:
  template <typename T>
  void number(T v) {
    char raw[sizeof(T)];
    std::memcpy(raw, &v, sizeof(T));
    out_.append(raw, sizeof(T));
  }
  void text(std::string_view s) {
    number(static_cast<uint64_t>(s.size()));
    out_.append(s);
  }
  void value(bool v) { number(static_cast<uint8_t>(v)); }
  void value(int64_t v) { number(v); }
  void value(double v) { number(v); }
  void value(std::string_view v) { text(v); }
  template <typename T>
  void value(const std::vector<T>& items) {
    number(static_cast<uint64_t>(items.size()));
    for (const T& item : items) value(item);
  }
  std::string take() && { return std::move(out_); }

 private:
  std::string out_{kMagic};
};

// Reads forward; after the first fault every read gives zero and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes), total_(bytes.size()) {}

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }
  size_t offset() const { return total_ - rest_.size(); }

  template <typename T>
  T number() {
    T v{};
    if (std::string_view raw = take(sizeof(T)); ok_) std::memcpy(&v, raw.data(), sizeof(T));
    return v;
  }
  bool boolean() {
    const auto v = number<uint8_t>();
    if (v > 1) ok_ = false;
    return v == 1;
  }
  std::string_view text() { return take(number<uint64_t>()); }
  // A count of items that need at least `item_bytes` bytes each: one that cannot fit is a fault, so that the
  // memory reserved for the items is bounded by the size of the input.
  size_t count(size_t item_bytes) {
    const auto n = number<uint64_t>();
    if (n > left() / item_bytes) ok_ = false;
    return ok_ ? static_cast<size_t>(n) : 0;
  }

 private:
  std::string_view take(uint64_t n) {
    if (!ok_ || n > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(n));
    rest_.remove_prefix(static_cast<size_t>(n));
    return taken;
  }
  std::string_view rest_;
  size_t total_;
  bool ok_ = true;
};

template <typename T>
T read_item(Reader& in) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return in.text();
  else
    return in.number<T>();
}

template <typename T>
std::vector<T> read_array(Reader& in) {
  const size_t n = in.count(std::is_same_v<T, std::string_view> ? sizeof(uint64_t) : sizeof(T));
  std::vector<T> items;
  items.reserve(n);
  for (size_t i = 0; i < n && in.ok(); ++i) items.push_back(read_item<T>(in));
  return items;
}

MetaValue read_value(Reader& in, uint8_t tag) {
  switch (tag) {
    case 0:
      return in.boolean();
    case 1:
      return in.number<int64_t>();
    case 2:
      return in.number<double>();
    case 3:
      return in.text();
    case 4:
      return read_array<int64_t>(in);
    case 5:
      return read_array<double>(in);
    default:
      return read_array<std::string_view>(in);
  }
}

// A key from outside in a message: bounded, and without control bytes.
std::string printable(std::string_view key) {
  std::string out(key.substr(0, 80));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

}  // namespace

Status Metadata::add(std::string_view key, MetaValue value) {
  if (!index_.emplace(key, entries_.size()).second)
    return invalid_argument("the metadata key '{}' appears twice; expected every key once", printable(key));
  entries_.emplace_back(key, std::move(value));
  return {};
}

std::string_view Metadata::own(std::string text) {
  return owned_.emplace_back(std::move(text));
}

const MetaValue* Metadata::find(std::string_view key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &entries_[at->second].second;
}

template <typename T>
Result<T> Metadata::get(std::string_view key) const {
  const MetaValue* value = find(key);
  if (!value) return not_found("the metadata has no key '{}'", key);
  if (const T* v = std::get_if<T>(value)) return *v;
  if constexpr (std::is_same_v<T, double>)
    if (const auto* v = std::get_if<int64_t>(value)) return static_cast<double>(*v);
  return invalid_argument("the metadata key '{}' is {}; expected {}", key, kTypeNames[value->index()],
                          kTypeNames[MetaValue(T{}).index()]);
}

Result<int64_t> Metadata::get_int(std::string_view key) const {
  return get<int64_t>(key);
}
Result<double> Metadata::get_float(std::string_view key) const {
  return get<double>(key);
}
Result<std::string_view> Metadata::get_string(std::string_view key) const {
  return get<std::string_view>(key);
}
Result<bool> Metadata::get_bool(std::string_view key) const {
  return get<bool>(key);
}

template <typename T>
const T* Metadata::get_if(std::string_view key) const {
  const MetaValue* value = find(key);
  return value ? std::get_if<T>(value) : nullptr;
}

int64_t Metadata::int_or(std::string_view key, int64_t fallback) const {
  const auto* v = get_if<int64_t>(key);
  return v ? *v : fallback;
}

double Metadata::float_or(std::string_view key, double fallback) const {
  if (const auto* v = get_if<double>(key)) return *v;
  const auto* v = get_if<int64_t>(key);
  return v ? static_cast<double>(*v) : fallback;
}

std::string_view Metadata::string_or(std::string_view key, std::string_view fallback) const {
  const auto* v = get_if<std::string_view>(key);
  return v ? *v : fallback;
}

bool Metadata::bool_or(std::string_view key, bool fallback) const {
  const auto* v = get_if<bool>(key);
  return v ? *v : fallback;
}

const std::vector<int64_t>* Metadata::ints(std::string_view key) const {
  return get_if<std::vector<int64_t>>(key);
}
const std::vector<double>* Metadata::floats(std::string_view key) const {
  return get_if<std::vector<double>>(key);
}
const std::vector<std::string_view>* Metadata::strings(std::string_view key) const {
  return get_if<std::vector<std::string_view>>(key);
}

// magic, u64 pairs; a pair: key (u64 length, bytes), u8 tag, value. Strings and arrays: u64 count before the items.
std::string Metadata::serialize() const {
  Writer out;
  out.number(static_cast<uint64_t>(entries_.size()));
  for (const auto& [key, value] : entries_) {
    out.text(key);
    out.number(static_cast<uint8_t>(value.index()));
    std::visit([&out](const auto& v) { out.value(v); }, value);
  }
  return std::move(out).take();
}

Result<Metadata> Metadata::parse(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return invalid_argument("metadata: expected the four bytes '{}' at the start, found other ones", kMagic);
  Reader in(bytes);
  in.number<uint32_t>();  // the magic
  const auto pairs = in.number<uint64_t>();
  Metadata metadata;
  for (uint64_t i = 0; i < pairs && in.ok(); ++i) {
    const std::string_view key = in.text();
    const size_t tag_at = in.offset();
    const auto tag = in.number<uint8_t>();
    if (in.ok() && tag >= kTagCount)
      return invalid_argument("metadata: the key '{}' has a value of type {} at byte {}; expected 0 to {}",
                              printable(key), tag, tag_at, kTagCount - 1);
    MetaValue value = read_value(in, tag);
    if (in.ok()) NEREID_RETURN_IF_ERROR(metadata.add(key, std::move(value)));
  }
  if (!in.ok())
    return invalid_argument("metadata: of the {} bytes, those at byte {} do not fit the {} pairs that are announced",
                            bytes.size(), in.offset(), pairs);
  if (in.left())
    return invalid_argument("metadata: {} bytes are left over after the last of {} pairs; expected none", in.left(),
                            pairs);
  return metadata;
}

}  // namespace nereid
