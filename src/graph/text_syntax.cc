// SPDX-License-Identifier: Apache-2.0
// A hand-written reader of the text form's grammar.
#include "graph/text_syntax.h"

#include <algorithm>
#include <cctype>

#include "ops/attr_text.h"

namespace nereid::graph {
namespace {

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         (c != '\0' && std::string_view("_.*+-$").find(c) != std::string_view::npos);
}

constexpr int kMostDepth = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { skip_space(); }

  Result<std::vector<GraphSyntax>> file() {
    std::vector<GraphSyntax> graphs;
    while (!at_end()) {
      if (peek_word() != "graph") return expected("'graph'");
      NEREID_TRY(GraphSyntax graph, one_graph());
      graphs.push_back(std::move(graph));
    }
    return graphs;
  }

 private:
  Result<GraphSyntax> one_graph() {
    GraphSyntax graph;
    graph.place = place_;
    if (++depth_ > kMostDepth) return invalid_argument("{}: graphs lie too deep in each other", place_.to_string());
    take_word();
    if (next_is('"')) {
      NEREID_TRY(graph.name, unquoted());
    } else if (graph.name = take_word(); graph.name.empty()) {
      return expected("a graph's name");
    }
    NEREID_RETURN_IF_ERROR(take('{', "after the graph's name"));
    while (!next_is('}')) {
      if (at_end()) return expected("a statement or '}'");
      NEREID_TRY(StatementSyntax s, statement());
      graph.statements.push_back(std::move(s));
    }
    NEREID_RETURN_IF_ERROR(take('}', "at the graph's end"));
    --depth_;
    return graph;
  }

  bool at_end() const { return pos_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[pos_]; }
  bool next_is(char c) const { return !at_end() && text_[pos_] == c; }

  void step() {
    if (text_[pos_++] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
  }

  void skip_space() {
    while (!at_end()) {
      if (peek() == '#') {
        while (!at_end() && peek() != '\n') step();
      } else if (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') {
        step();
      } else {
        return;
      }
    }
  }

  Status expected(std::string_view what) const {
    std::string found = "the end of the text";
    if (std::string_view word = peek_word(); !word.empty()) {
      found = fmt::format("'{}'", word.substr(0, 40));
    } else if (!at_end()) {
      found = std::isprint(static_cast<unsigned char>(peek()))
                  ? fmt::format("'{}'", peek())
                  : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(peek()));
    }
    return invalid_argument("{}: expected {}, found {}", place_.to_string(), what, found);
  }

  Status take(char c, std::string_view where) {
    if (!next_is(c)) return expected(fmt::format("'{}' {}", c, where));
    step();
    skip_space();
    return Status::ok();
  }

  // True, and the character is taken, if it comes next.
  bool take_if(char c) {
    if (!next_is(c)) return false;
    step();
    skip_space();
    return true;
  }

  std::string_view peek_word() const {
    size_t end = pos_;
    while (end < text_.size() && is_word_char(text_[end])) ++end;
    return text_.substr(pos_, end - pos_);
  }

  std::string take_word() {
    const std::string word(peek_word());
    for (size_t i = 0; i < word.size(); ++i) step();
    skip_space();
    return word;
  }

  // A string in quotes, as written; the text after it is not skipped to.
  Result<std::string_view> quoted() {
    const size_t start = pos_;
    const TextPlace open = place_;
    step();
    while (!at_end() && peek() != '"') {
      if (peek() == '\\') step();
      if (!at_end()) step();
    }
    if (at_end()) return invalid_argument("{}: the quote that opens here is never closed", open.to_string());
    step();
    return text_.substr(start, pos_ - start);
  }

  Result<std::string> unquoted() {
    const TextPlace open = place_;
    NEREID_TRY(std::string_view raw, quoted());
    skip_space();
    return ops::unquote(raw.substr(1, raw.size() - 2)).with(open.to_string());
  }

  Result<std::string> list() {
    const size_t start = pos_;
    const TextPlace open = place_;
    while (!at_end() && peek() != ']') {
      if (peek() == '"') {
        NEREID_RETURN_IF_ERROR(quoted());
      } else {
        step();
      }
    }
    if (at_end()) return invalid_argument("{}: the list that opens here is never closed", open.to_string());
    step();
    std::string raw(text_.substr(start, pos_ - start));
    skip_space();
    return raw;
  }

  Result<ValueSyntax> name() {
    ValueSyntax v;
    v.place = place_;
    if (!next_is('%')) return expected("a value (%name)");
    step();
    if (next_is('"')) {
      NEREID_TRY(v.name, unquoted());
    } else {
      v.name = take_word();
    }
    if (v.name.empty()) return expected("a name after '%'");
    return v;
  }

  Result<TypeSyntax> type() {
    TypeSyntax t;
    t.place = place_;
    if (t.dtype = take_word(); t.dtype.empty()) return expected("an element type");
    while (!peek_word().empty()) {
      t.container.push_back(std::move(t.dtype));
      t.dtype = take_word();
    }
    NEREID_RETURN_IF_ERROR(take('[', "after the element type"));
    while (!next_is(']')) {
      if (!t.dims.empty()) NEREID_RETURN_IF_ERROR(take(',', "between dimensions"));
      if (next_is('"')) {
        NEREID_TRY(std::string symbol, unquoted());
        t.dims.push_back({std::move(symbol), true});
      } else {
        t.dims.push_back({take_word(), false});
      }
      if (t.dims.back().text.empty()) return expected("a dimension");
    }
    NEREID_RETURN_IF_ERROR(take(']', "after the dimensions"));
    return t;
  }

  Status attributes(StatementSyntax& s) {
    if (!take_if('{')) return Status::ok();
    while (!next_is('}')) {
      if (!s.attrs.empty()) NEREID_RETURN_IF_ERROR(take(',', "between attributes"));
      AttrSyntax a;
      a.place = place_;
      if (a.name = take_word(); a.name.empty()) return expected("an attribute's name");
      if (a.name.starts_with("...")) {
        a.name.erase(0, 3);
      } else {
        NEREID_RETURN_IF_ERROR(take('=', "after the attribute's name"));
        if (next_is('[')) {
          NEREID_TRY(a.text, list());
        } else if (next_is('"')) {
          NEREID_TRY(std::string_view raw, quoted());
          a.text = raw;
          skip_space();
        } else {
          a.text = take_word();
        }
        if (a.text.empty()) return expected("an attribute's value");
      }
      s.attrs.push_back(std::move(a));
    }
    return take('}', "after the attributes");
  }

  Status call(StatementSyntax& s) {
    if (s.op = take_word(); s.op.empty()) return expected("an op's name or a list");
    NEREID_RETURN_IF_ERROR(take('(', "after the op's name"));
    while (!next_is(')')) {
      if (!s.args.empty()) NEREID_RETURN_IF_ERROR(take(',', "between arguments"));
      if (peek_word() == "_") {
        s.args.push_back({.name = {}, .type = {}, .place = place_});
        take_word();
      } else {
        NEREID_TRY(ValueSyntax arg, name());
        s.args.push_back(std::move(arg));
      }
    }
    NEREID_RETURN_IF_ERROR(take(')', "after the arguments"));
    return attributes(s);
  }

  Result<StatementSyntax> statement() {
    StatementSyntax s;
    s.place = place_;
    while (!peek_word().empty()) s.words.push_back(take_word());
    do {
      NEREID_TRY(ValueSyntax v, name());
      if (take_if(':')) {
        NEREID_TRY(v.type, type());
      }
      s.values.push_back(std::move(v));
    } while (take_if(','));
    if (!take_if('=')) {
      if (s.words.empty()) return expected("'=' after the results");
      return s;
    }
    if (next_is('[')) {
      NEREID_TRY(s.literal, list());
    } else {
      NEREID_RETURN_IF_ERROR(call(s));
      while (peek_word() == "graph") {
        NEREID_TRY(GraphSyntax region, one_graph());
        s.regions.push_back(std::move(region));
      }
    }
    return s;
  }

  std::string_view text_;
  size_t pos_ = 0;
  int depth_ = 0;
  TextPlace place_;
};

}  // namespace

std::string TextPlace::to_string() const {
  return fmt::format("line {}, column {}", line, column);
}

Result<std::vector<GraphSyntax>> parse_syntax(std::string_view text) {
  return Reader(text).file();
}

std::string name_to_text(std::string_view name) {
  const bool plain = !name.empty() && std::ranges::all_of(name, is_word_char);
  return plain ? std::string(name) : ops::quote(name);
}

}  // namespace nereid::graph
