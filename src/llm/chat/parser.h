// SPDX-License-Identifier: Apache-2.0
// From source to Ast: jinja2's grammar without template inheritance and includes, with break and continue.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "llm/chat/ast.h"

namespace nereid::chat {

// Errors: kInvalidArgument, or kUnsupported for a tag that jinja2 has and chat templates cannot use; "line N: ...".
Result<std::unique_ptr<const Ast>> parse_template(std::string_view source);

}  // namespace nereid::chat
