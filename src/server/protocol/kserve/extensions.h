// SPDX-License-Identifier: Apache-2.0
// The extensions of the protocol that clients ask for, in the order in which they have always been listed.
#pragma once

#include <span>
#include <string_view>

namespace nereid::server::kserve {

std::span<const std::string_view> extensions();

}  // namespace nereid::server::kserve
