// SPDX-License-Identifier: Apache-2.0
// Errors as values: Status (no payload) and Result<T>. Neither throws; both are cheap when all is well (one pointer).
//
// A message is a full sentence: what was expected, what was found, where, what to do. Context is added on the way up,
// outermost first: `reading model.gguf: tensor 'x': the offset 12 is past the end of the file (10 bytes)`.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace nereid {

enum class StatusCode : uint8_t {
  kOk = 0,
  kInvalidArgument,  // a file, flag or request is wrong; trying again with the same input fails again
  kNotFound,         // a named thing does not exist
  kUnsupported,      // well-formed, but Nereid cannot do it (yet)
  kExhausted,        // memory, disk, queue or pages ran out
  kCancelled,        // the caller asked to stop
  kUnavailable,      // may work later: not ready, shutting down, peer gone
  kInternal,         // a defect of ours
};

// "invalid argument", "not found", ...
std::string_view status_code_name(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message);
  static Status ok() { return {}; }

  bool is_ok() const { return rep_ == nullptr; }
  explicit operator bool() const { return is_ok(); }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  // The sentence, without the code's name; empty when ok.
  const std::string& message() const;
  // Puts "context: " before the message of an error; no effect when ok.
  Status with(std::string_view context) &&;
  Status with(std::string_view context) const&;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : value_(std::move(value)) {}
  Result(Status error) : status_(std::move(error)) { NEREID_CHECK(!status_.is_ok()); }

  bool is_ok() const { return value_.has_value(); }
  explicit operator bool() const { return is_ok(); }
  const Status& status() const { return status_; }

  // Only when is_ok(); checked.
  T& value() & { return checked(), *value_; }
  const T& value() const& { return checked(), *value_; }
  T&& value() && { return checked(), std::move(*value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Result with(std::string_view context) && {
    if (!is_ok()) status_ = std::move(status_).with(context);
    return std::move(*this);
  }

 private:
  void checked() const { NEREID_CHECK(value_.has_value()); }
  std::optional<T> value_;
  Status status_;
};

// Makers: `return invalid_argument("expected {} tensors, found {}", 3, n);`
template <typename... A>
Status error(StatusCode code, fmt::format_string<A...> f, A&&... a) {
  return Status(code, fmt::format(f, std::forward<A>(a)...));
}
#define NEREID_STATUS_MAKER(name, code)                                     \
  template <typename... A>                                                  \
  Status name(fmt::format_string<A...> f, A&&... a) {                       \
    return Status(StatusCode::code, fmt::format(f, std::forward<A>(a)...)); \
  }
NEREID_STATUS_MAKER(invalid_argument, kInvalidArgument)
NEREID_STATUS_MAKER(not_found, kNotFound)
NEREID_STATUS_MAKER(unsupported, kUnsupported)
NEREID_STATUS_MAKER(exhausted, kExhausted)
NEREID_STATUS_MAKER(cancelled, kCancelled)
NEREID_STATUS_MAKER(unavailable, kUnavailable)
NEREID_STATUS_MAKER(internal, kInternal)
#undef NEREID_STATUS_MAKER

inline const Status& as_status(const Status& s) {
  return s;
}
template <typename T>
const Status& as_status(const Result<T>& r) {
  return r.status();
}

}  // namespace nereid

#define NEREID_CONCAT_INNER(a, b) a##b
#define NEREID_CONCAT(a, b) NEREID_CONCAT_INNER(a, b)

// NEREID_RETURN_IF_ERROR(status_expr): leaves the function with the error.
#define NEREID_RETURN_IF_ERROR(...)                                      \
  do {                                                                   \
    if (auto&& nereid_s = (__VA_ARGS__); !nereid_s.is_ok()) [[unlikely]] \
      return ::nereid::as_status(nereid_s);                              \
  } while (false)

// NEREID_TRY(auto x, result_expr): x becomes the value, or the function returns the error.
#define NEREID_TRY(decl, ...) NEREID_TRY_IMPL(NEREID_CONCAT(nereid_r_, __LINE__), decl, __VA_ARGS__)
#define NEREID_TRY_IMPL(tmp, decl, ...) \
  auto tmp = (__VA_ARGS__);             \
  if (!tmp.is_ok()) [[unlikely]]        \
    return tmp.status();                \
  decl = std::move(tmp).value()
