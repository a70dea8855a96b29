// SPDX-License-Identifier: Apache-2.0
// The pages of docs/reference, one function each: Markdown made from the tables the program itself uses.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace nereid::docs {

std::string architectures_page();
std::string commands_page();
std::string http_api_page();
std::string metrics_page();
std::string model_formats_page();
std::string ops_page();
std::string passes_page();
std::string pre_tokenizers_page();
std::string sampling_page();
std::string trtexec_page();
std::string weight_formats_page();

// "| a | b |\n"; a '|' or a line break inside a cell is made harmless.
std::string row(std::initializer_list<std::string_view> cells);
// "| a | b |\n|---|---|\n".
std::string header(std::initializer_list<std::string_view> cells);
// `text` between backquotes; nothing for an empty text.
std::string code(std::string_view text);

}  // namespace nereid::docs
