// SPDX-License-Identifier: Apache-2.0
#include "import/npy/header.h"

#include <array>
#include <charconv>

#include "base/shape.h"

namespace nereid::import::npy {
namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kTypeNames = {
    TypeName{"b1", DType::boolean}, TypeName{"i1", DType::i8},   TypeName{"i2", DType::i16}, TypeName{"i4", DType::i32},
    TypeName{"i8", DType::i64},     TypeName{"u1", DType::u8},   TypeName{"u2", DType::u16}, TypeName{"u4", DType::u32},
    TypeName{"u8", DType::u64},     TypeName{"f2", DType::f16},  TypeName{"f4", DType::f32}, TypeName{"f8", DType::f64},
    TypeName{"c8", DType::c64},     TypeName{"c16", DType::c128}};
constexpr int kMostDimensions = 64;  // NumPy's own limit

// What may stand in a header: the few literals that NumPy writes there.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  void skip_space() {
    while (!rest_.empty() && std::string_view(" \t\r\n\f").find(rest_[0]) != std::string_view::npos)
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }
  Status expect(std::string_view token) {
    if (take(token)) return Status::ok();
    return invalid_argument("its header has {} where '{}' is expected", here(), token);
  }
  Result<std::string_view> string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      return invalid_argument("its header has {} where a quoted text is expected", here());
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }
  Result<bool> boolean() {
    if (take("True")) return true;
    if (take("False")) return false;
    return invalid_argument("its header has {} where True or False is expected", here());
  }
  Result<int64_t> size() {
    skip_space();
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc() || value < 0)
      return invalid_argument("its header has {} where a size from 0 to 2^63 - 1 is expected", here());
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    take("L");  // how Python 2 wrote them
    return value;
  }
  // What stands here, for sentences.
  std::string here() {
    skip_space();
    return rest_.empty() ? "its end" : fmt::format("'{}'", rest_.substr(0, 24));
  }

 private:
  std::string_view rest_;
};

Result<std::vector<int64_t>> parse_shape(Literals& in) {
  NEREID_RETURN_IF_ERROR(in.expect("("));
  std::vector<int64_t> sizes;
  while (!in.take(")")) {
    if (sizes.size() == kMostDimensions)
      return invalid_argument("its shape has more than {} dimensions", kMostDimensions);
    NEREID_TRY(const int64_t size, in.size());
    sizes.push_back(size);
    if (in.take(",")) continue;
    NEREID_RETURN_IF_ERROR(in.expect(")"));
    break;
  }
  return sizes;
}

Status parse_type(Literals& in, Header* header) {
  if (in.take("[")) return unsupported("its elements are records, not numbers");
  NEREID_TRY(const std::string_view text, in.string());
  std::string_view name = text;
  if (!name.empty() && std::string_view("<>=|").find(name[0]) != std::string_view::npos) {
    header->is_swapped = name[0] == '>';
    name.remove_prefix(1);
  }
  if (name == "?") name = "b1";
  for (const TypeName& row : kTypeNames) {
    if (row.name != name) continue;
    header->dtype = row.dtype;
    return Status::ok();
  }
  return unsupported(
      "its element type is '{}'; .npy files are read with bool, int8...64, uint8...64, float16, 32 and 64, complex64 "
      "and "
      "128 (give other types as .pb)",
      text.substr(0, 32));
}

}  // namespace

std::string_view numpy_name(DType dtype) {
  for (const TypeName& row : kTypeNames)
    if (row.dtype == dtype) return row.name;
  return {};
}

Result<Header> parse_header(std::string_view text) {
  Literals in(text);
  Header header;
  bool has_type = false, has_order = false, has_shape = false;
  NEREID_RETURN_IF_ERROR(in.expect("{"));
  while (!in.take("}")) {
    NEREID_TRY(const std::string_view key, in.string());
    NEREID_RETURN_IF_ERROR(in.expect(":"));
    if (key == "descr" && !has_type) {
      NEREID_RETURN_IF_ERROR(parse_type(in, &header));
      has_type = true;
    } else if (key == "fortran_order" && !has_order) {
      NEREID_TRY(header.columns_first, in.boolean());
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      NEREID_TRY(header.sizes, parse_shape(in));
      has_shape = true;
    } else {
      return invalid_argument(
          "its header has the key '{}', which is none of descr, fortran_order and shape or is there twice",
          key.substr(0, 32));
    }
    if (in.take(",")) continue;
    NEREID_RETURN_IF_ERROR(in.expect("}"));
    break;
  }
  if (!in.at_end()) return invalid_argument("its header has {} after its end", in.here());
  if (!has_type || !has_order || !has_shape)
    return invalid_argument("its header lacks '{}'", !has_type ? "descr" : !has_order ? "fortran_order" : "shape");
  return header;
}

}  // namespace nereid::import::npy
