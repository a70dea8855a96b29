// SPDX-License-Identifier: Apache-2.0
// The text form of attribute values: `true`, `12`, `1e-05`, `silu`, `"two words"`, `[1, 2]`.
//
// Which kind a text has is said by the attribute's declaration, never guessed: `1` is a fine kFloat.
// print then parse gives the same value back, bit for bit (not-a-numbers lose their payload).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

std::string_view attr_kind_name(AttrSpec::Kind kind);  // "an integer", "a list of integers", ...
AttrSpec::Kind attr_kind(const AttrValue& value);

std::string attr_to_text(const AttrValue& value);
Result<AttrValue> attr_from_text(AttrSpec::Kind kind, std::string_view text);

// Shortest text that reads back as the same number; always with a '.', an exponent, `inf` or `nan`.
std::string real_to_text(double value);
std::string real_to_text(float value);

// A string in double quotes with \" \\ \n \t \r and \xNN for other control bytes; and back (without the quotes around).
std::string quote(std::string_view text);
Result<std::string> unquote(std::string_view quoted);

// Fills absent attributes with their defaults, turns integers into reals where reals are declared; refuses unknown
// names, wrong kinds and absent required ones with a sentence.
Status complete_attrs(const OpDef& op, Attrs& attrs);

}  // namespace nereid::ops
