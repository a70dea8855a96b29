// SPDX-License-Identifier: Apache-2.0
// The filters behind the rows of filter_table.cc. Signatures and meaning are jinja2's; tojson is transformers'.
#pragma once

#include "llm/chat/function.h"

namespace nereid::chat {

using FilterResult = Result<Value>;

// filters_text.cc
FilterResult filter_capitalize(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_center(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_escape(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_forceescape(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_format(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_from_json(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_indent(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_lower(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_replace(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_safe(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_string(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_title(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_tojson(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_trim(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_truncate(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_upper(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_urlencode(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_wordcount(Interpreter& in, const Value& self, const Args& args);

// filters_list.cc
FilterResult filter_batch(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_dictsort(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_first(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_groupby(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_items(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_join(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_last(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_length(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_list(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_max(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_min(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_reverse(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_slice(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_sort(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_sum(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_unique(Interpreter& in, const Value& self, const Args& args);

// filters_select.cc
FilterResult filter_attr(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_map(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_reject(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_rejectattr(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_select(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_selectattr(Interpreter& in, const Value& self, const Args& args);

// filters_number.cc
FilterResult filter_abs(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_default(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_float(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_int(Interpreter& in, const Value& self, const Args& args);
FilterResult filter_round(Interpreter& in, const Value& self, const Args& args);

}  // namespace nereid::chat
