// SPDX-License-Identifier: Apache-2.0
#include "llm/token/native_split.h"

namespace nereid::token {

NativeSplit find_native_split(std::string_view) {
  return nullptr;
}

}  // namespace nereid::token
