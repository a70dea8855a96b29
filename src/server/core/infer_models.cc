// SPDX-License-Identifier: Apache-2.0
#include "server/core/infer_models.h"

namespace nereid::server {

std::string_view model_state_name(ModelState state) {
  switch (state) {
    case ModelState::kUnknown:
      return "UNKNOWN";
    case ModelState::kReady:
      return "READY";
    case ModelState::kUnavailable:
      return "UNAVAILABLE";
    case ModelState::kLoading:
      return "LOADING";
    case ModelState::kUnloading:
      return "UNLOADING";
  }
  return "UNKNOWN";
}

}  // namespace nereid::server
