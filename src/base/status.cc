// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <array>

namespace nereid {

std::string_view status_code_name(StatusCode code) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "ok", "invalid argument", "not found", "unsupported", "exhausted", "cancelled", "unavailable", "internal"};
  return kNames[static_cast<size_t>(code)];
}

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

Status Status::with(std::string_view context) const& {
  if (is_ok()) return *this;
  return Status(code(), fmt::format("{}: {}", context, message()));
}

Status Status::with(std::string_view context) && {
  return std::as_const(*this).with(context);
}

}  // namespace nereid
