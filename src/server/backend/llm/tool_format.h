// SPDX-License-Identifier: Apache-2.0
// How a chat template has its model write calls of tools and what it thinks, told from the template's text.
#pragma once

#include <string_view>

namespace nereid::server {

// The name of a format as ModelCard::tool_format has it; "" where the template knows no tools, or none that is known.
std::string_view tool_format_of(std::string_view chat_template);
// As ModelCard::thought_format; "" where the template has no marks for thoughts.
std::string_view thought_format_of(std::string_view chat_template);

}  // namespace nereid::server
