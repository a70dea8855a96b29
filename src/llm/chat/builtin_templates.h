// SPDX-License-Identifier: Apache-2.0
// Templates by name, for models that bring none of their own.
#pragma once

#include <span>
#include <string_view>

#include "llm/chat/chat_template.h"

namespace nereid::chat {

struct BuiltinTemplate {
  std::string_view name;
  std::string_view source;
};

std::span<const BuiltinTemplate> builtin_templates();

// Error: kNotFound with the names there are.
Result<ChatTemplate> builtin_template(std::string_view name);

}  // namespace nereid::chat
