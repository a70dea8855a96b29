// SPDX-License-Identifier: Apache-2.0
#include "cli/graph_page.h"

#include <array>

namespace nereid::cli {
namespace {

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Part {
  std::string_view mark;
  std::string text;
};

}  // namespace

std::string script_json(const compile::OrderedJson& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, compile::OrderedJson::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string graph_page(const compile::OrderedJson& view, const GraphPageParts& parts) {
  // In the order in which they stand; what is put in is not looked at again.
  const std::array<Part, 5> inserts = {{{"<!--title-->", escape_html(view.value("model", ""))},
                                        {"/*style*/", std::string(parts.style)},
                                        {"<!--data-->", script_json(view)},
                                        {"/*dagre*/", std::string(parts.dagre)},
                                        {"/*script*/", std::string(parts.script)}}};
  std::string out;
  std::string_view rest = parts.html;
  for (const Part& part : inserts) {
    const size_t at = rest.find(part.mark);
    NEREID_CHECK(at != std::string_view::npos);
    out += rest.substr(0, at);
    out += part.text;
    rest.remove_prefix(at + part.mark.size());
  }
  return out += rest;
}

Status write_graph_page(AtomicFile& file, const compile::NetworkView& view) {
  NEREID_RETURN_IF_ERROR(file.write(graph_page(compile::view_json(view, true))));
  return file.commit();
}

}  // namespace nereid::cli
