// SPDX-License-Identifier: Apache-2.0
// What `nereid explain` prints.
#pragma once

#include <string>
#include <string_view>

#include "compile/network_view.h"

namespace nereid::cli {

// A sentence with the names of values taken out ("linear %…: %… is q4_0"), so that what differs in names alone is one.
std::string without_names(std::string_view sentence);

std::string explain_text(const compile::NetworkView& view, bool all);

}  // namespace nereid::cli
