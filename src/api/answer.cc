// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"

#include <exception>
#include <string>

namespace nereid::api {
namespace {

// The last error of this thread. Statuses share their text: keeping one allocates nothing.
thread_local Status t_last_error;

}  // namespace

nereid_status code_of(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return NEREID_OK;
    case StatusCode::kInvalidArgument:
      return NEREID_INVALID_ARGUMENT;
    case StatusCode::kNotFound:
      return NEREID_NOT_FOUND;
    case StatusCode::kUnsupported:
      return NEREID_UNSUPPORTED;
    case StatusCode::kExhausted:
      return NEREID_EXHAUSTED;
    case StatusCode::kCancelled:
      return NEREID_CANCELLED;
    case StatusCode::kUnavailable:
      return NEREID_UNAVAILABLE;
    case StatusCode::kInternal:
      break;
  }
  return NEREID_INTERNAL;
}

nereid_status answer(const Status& status) noexcept {
  if (!status.is_ok()) t_last_error = status;
  return code_of(status);
}

nereid_status answer(FunctionRef<Status()> body) noexcept {
  try {
    return answer(body());
  } catch (const std::bad_alloc&) {
    static const Status kNoMemory = exhausted("there is no more memory");
    return answer(kNoMemory);
  } catch (const std::exception& e) {
    return answer(internal("something unexpected was thrown: {}", e.what()));
  }
}

}  // namespace nereid::api

extern "C" {

const char* nereid_last_error(void) {
  return nereid::api::t_last_error.message().c_str();
}

const char* nereid_status_name(nereid_status status) {
  static constexpr const char* kNames[] = {"ok",        "invalid argument", "not found",   "unsupported",
                                           "exhausted", "cancelled",        "unavailable", "internal"};
  return status >= 0 && status <= NEREID_INTERNAL ? kNames[status] : "unknown";
}

const char* nereid_version(void) {
  return NEREID_VERSION;
}

int32_t nereid_abi_version(void) {
  return NEREID_ABI_VERSION;
}

}  // extern "C"
