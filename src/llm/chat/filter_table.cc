// SPDX-License-Identifier: Apache-2.0
// The filters a template can use, in alphabetical order: name, parameters, how many are required, more arguments
// allowed.
#include "llm/chat/filters.h"

namespace nereid::chat {
namespace {

constexpr FunctionRow kFilters[] = {
    {"abs", {}, 0, false, filter_abs},
    {"attr", {"name"}, 1, false, filter_attr},
    {"batch", {"linecount", "fill_with"}, 1, false, filter_batch},
    {"capitalize", {}, 0, false, filter_capitalize},
    {"center", {"width"}, 0, false, filter_center},
    {"count", {}, 0, false, filter_length},
    {"d", {"default_value", "boolean"}, 0, false, filter_default},
    {"default", {"default_value", "boolean"}, 0, false, filter_default},
    {"dictsort", {"case_sensitive", "by", "reverse"}, 0, false, filter_dictsort},
    {"e", {}, 0, false, filter_escape},
    {"escape", {}, 0, false, filter_escape},
    {"first", {}, 0, false, filter_first},
    {"float", {"default"}, 0, false, filter_float},
    {"forceescape", {}, 0, false, filter_forceescape},
    {"format", {}, 0, true, filter_format},
    {"from_json", {}, 0, false, filter_from_json},  // no jinja2 filter; DeepSeek's templates expect it
    {"groupby", {"attribute", "default", "case_sensitive"}, 1, false, filter_groupby},
    {"indent", {"width", "first", "blank"}, 0, false, filter_indent},
    {"int", {"default", "base"}, 0, false, filter_int},
    {"items", {}, 0, false, filter_items},
    {"join", {"d", "attribute"}, 0, false, filter_join},
    {"last", {}, 0, false, filter_last},
    {"length", {}, 0, false, filter_length},
    {"list", {}, 0, false, filter_list},
    {"lower", {}, 0, false, filter_lower},
    {"map", {}, 0, true, filter_map},
    {"max", {"case_sensitive", "attribute"}, 0, false, filter_max},
    {"min", {"case_sensitive", "attribute"}, 0, false, filter_min},
    {"reject", {}, 0, true, filter_reject},
    {"rejectattr", {}, 0, true, filter_rejectattr},
    {"replace", {"old", "new", "count"}, 2, false, filter_replace},
    {"reverse", {}, 0, false, filter_reverse},
    {"round", {"precision", "method"}, 0, false, filter_round},
    {"safe", {}, 0, false, filter_safe},
    {"select", {}, 0, true, filter_select},
    {"selectattr", {}, 0, true, filter_selectattr},
    {"slice", {"slices", "fill_with"}, 1, false, filter_slice},
    {"sort", {"reverse", "case_sensitive", "attribute"}, 0, false, filter_sort},
    {"string", {}, 0, false, filter_string},
    {"sum", {"attribute", "start"}, 0, false, filter_sum},
    {"title", {}, 0, false, filter_title},
    {"tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, 0, false, filter_tojson},
    {"trim", {"chars"}, 0, false, filter_trim},
    {"truncate", {"length", "killwords", "end", "leeway"}, 0, false, filter_truncate},
    {"unique", {"case_sensitive", "attribute"}, 0, false, filter_unique},
    {"upper", {}, 0, false, filter_upper},
    {"urlencode", {}, 0, false, filter_urlencode},
    {"wordcount", {}, 0, false, filter_wordcount},
};

}  // namespace

std::span<const FunctionRow> filter_table() {
  return kFilters;
}

}  // namespace nereid::chat
