// SPDX-License-Identifier: Apache-2.0
// Python's methods of str, of list and tuple, of dict, and those of the loop variable: the tables behind
// method_table().
#pragma once

#include <span>

#include "llm/chat/function.h"

namespace nereid::chat {

std::span<const FunctionRow> string_methods();
std::span<const FunctionRow> list_methods();
std::span<const FunctionRow> tuple_methods();
std::span<const FunctionRow> dict_methods();
std::span<const FunctionRow> loop_methods();

}  // namespace nereid::chat
