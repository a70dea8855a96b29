// SPDX-License-Identifier: Apache-2.0
// The program's version, as CMake's project() states it.
#pragma once

#include <string_view>

namespace nereid::cli {

inline constexpr std::string_view kVersion = NEREID_VERSION;

}  // namespace nereid::cli
