// SPDX-License-Identifier: Apache-2.0
// The decoding of paths and queries (RFC 3986, and the '+' of HTML forms).
#include "server/net/ascii.h"
#include "server/net/request_parser.h"

namespace nereid::server::net {
bool decode_percent(std::string_view text, bool is_query, std::string* decoded) {
  decoded->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && is_query) {
      decoded->push_back(' ');
    } else if (text[i] != '%') {
      decoded->push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      decoded->push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return true;
}

bool parse_query(std::string_view text, NamedValues* values) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string name, value;
    if (!decode_percent(pair.substr(0, equals), true, &name)) return false;
    if (equals != pair.npos && !decode_percent(pair.substr(equals + 1), true, &value)) return false;
    values->emplace_back(std::move(name), std::move(value));
  }
  return true;
}

}  // namespace nereid::server::net
