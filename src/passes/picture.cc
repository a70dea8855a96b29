// SPDX-License-Identifier: Apache-2.0
// Reading and checking pictures.
#include "passes/picture.h"

#include <algorithm>
#include <set>

#include "ops/attr_text.h"

namespace nereid::passes {
namespace {

using graph::AttrSyntax;
using graph::GraphSyntax;
using graph::StatementSyntax;
using graph::ValueSyntax;

class PictureReader {
 public:
  PictureReader(Picture& picture, bool is_pattern) : picture_(picture), is_pattern_(is_pattern) {}

  Status read(const GraphSyntax& syntax) {
    for (const StatementSyntax& s : syntax.statements) NEREID_RETURN_IF_ERROR(statement(s).with(s.place.to_string()));
    if (picture_.outputs.empty()) return invalid_argument("it has no output");
    if (is_pattern_ && picture_.nodes.empty()) return invalid_argument("it has no node");
    return Status::ok();
  }

 private:
  Status statement(const StatementSyntax& s) {
    PictureValue made;
    bool is_output = false;
    bool declared = false;
    for (const std::string& word : s.words) {
      if (word == "output") {
        is_output = true;
      } else if (word == "shared" && is_pattern_) {
        made.shared = true;
      } else if (word == "optional" && is_pattern_) {
        made.optional = declared = true;
      } else if ((word == "input" && is_pattern_) || word == "const") {
        made.kind = word == "const" ? PictureValue::Kind::kConstant : PictureValue::Kind::kInput;
        declared = true;
      } else {
        return invalid_argument("'{}' means nothing here", word);
      }
    }
    if (is_output) return outputs(s);
    if (!s.op.empty()) return declared ? join(s, std::move(made)) : node(s, std::move(made));
    if (!declared || made.shared || !is_pattern_)
      return invalid_argument("only patterns declare values, with input, const or optional");
    for (const ValueSyntax& v : s.values) NEREID_RETURN_IF_ERROR(add(v, made));
    return Status::ok();
  }

  Result<int> add(const ValueSyntax& v, PictureValue value) {
    const int known = picture_.find(v.name);
    // A replacement gives the pattern's outputs anew; everything else has one origin.
    if (known != kAbsent) {
      PictureValue& old = picture_.values[static_cast<size_t>(known)];
      if (is_pattern_ || !old.output || given_.contains(v.name))
        return invalid_argument("%{} is there already", v.name);
      given_.insert(v.name);
      return known;
    }
    value.name = v.name;
    value.type = v.type;
    picture_.values.push_back(std::move(value));
    return static_cast<int>(picture_.values.size()) - 1;
  }

  Result<int> use(const ValueSyntax& v) {
    if (v.name.empty()) return kAbsent;
    const int index = picture_.find(v.name);
    if (index == kAbsent) return invalid_argument("there is no value %{} before this", v.name);
    const PictureValue& value = picture_.values[static_cast<size_t>(index)];
    if (!is_pattern_ && value.output && !given_.contains(v.name))
      return invalid_argument("%{} is replaced and cannot be read", v.name);
    return index;
  }

  Status outputs(const StatementSyntax& s) {
    for (const ValueSyntax& v : s.values) {
      NEREID_TRY(int index, use(v));
      PictureValue& value = picture_.values[static_cast<size_t>(index)];
      if (is_pattern_ && value.kind != PictureValue::Kind::kResult) return invalid_argument("%{} is no result", v.name);
      value.output = true;
      picture_.outputs.push_back(index);
    }
    return Status::ok();
  }

  Status join(const StatementSyntax& s, PictureValue made) {
    if (is_pattern_ || s.op != "join_rows" || s.values.size() != 1 || s.args.empty() || !s.attrs.empty())
      return invalid_argument("a constant is made by `const %name = join_rows(%a, ...)`, in a replacement");
    PictureJoin join;
    for (const ValueSyntax& arg : s.args) {
      NEREID_TRY(int part, use(arg));
      if (part == kAbsent || picture_.values[static_cast<size_t>(part)].kind != PictureValue::Kind::kConstant)
        return invalid_argument("join_rows takes constants");
      join.parts.push_back(part);
    }
    NEREID_TRY(join.result, add(s.values[0], std::move(made)));
    picture_.joins.push_back(std::move(join));
    return Status::ok();
  }

  Status node(const StatementSyntax& s, PictureValue made) {
    PictureNode node;
    node.op = ops::find_op(s.op);
    if (node.op == nullptr) return invalid_argument("there is no op '{}'", s.op);
    const bool variadic = node.op->inputs.back().variadic;
    if (!variadic && s.args.size() > node.op->inputs.size())
      return invalid_argument("{} takes {} arguments", s.op, node.op->inputs.size());
    for (const ValueSyntax& arg : s.args) {
      NEREID_TRY(int index, use(arg));
      node.args.push_back(index);
    }
    if (!variadic) node.args.resize(node.op->inputs.size(), kAbsent);
    for (const AttrSyntax& a : s.attrs) NEREID_RETURN_IF_ERROR(attribute(a, node).with(a.place.to_string()));
    made.kind = PictureValue::Kind::kResult;
    for (const ValueSyntax& v : s.values) {
      NEREID_TRY(int index, add(v, made));
      node.results.push_back(index);
    }
    picture_.nodes.push_back(std::move(node));
    return Status::ok();
  }

  Status attribute(const AttrSyntax& a, PictureNode& node) {
    if (a.text.empty()) {
      node.rest = a.name;
      return Status::ok();
    }
    auto spec = std::ranges::find(node.op->attrs, a.name, &ops::AttrSpec::name);
    if (spec == node.op->attrs.end()) return invalid_argument("{} has no attribute '{}'", node.op->name, a.name);
    PictureAttr attr{.name = a.name, .capture = {}, .text = a.text, .value = {}};
    if (a.text[0] == '$' && a.text.find('.') == std::string::npos) {
      attr.capture = a.text.substr(1);
    } else if (is_pattern_) {
      NEREID_TRY(attr.value, ops::attr_from_text(spec->kind, a.text));
    }
    node.attrs.push_back(std::move(attr));
    return Status::ok();
  }

  Picture& picture_;
  const bool is_pattern_;
  std::set<std::string> given_;  // outputs that the replacement has given so far
};

Status read(std::string_view text, bool is_pattern, Picture& picture) {
  NEREID_TRY(auto graphs, graph::parse_syntax(text));
  if (graphs.size() != 1) return invalid_argument("it holds {} graphs", graphs.size());
  return PictureReader(picture, is_pattern).read(graphs[0]);
}

}  // namespace

int Picture::find(std::string_view name) const {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name) return static_cast<int>(i);
  return kAbsent;
}

Result<Rewrite> parse_rewrite(std::string_view pattern, std::string_view replacement) {
  Rewrite rewrite;
  NEREID_RETURN_IF_ERROR(read(pattern, true, rewrite.pattern).with("the pattern"));
  rewrite.replacement.values = rewrite.pattern.values;
  NEREID_RETURN_IF_ERROR(read(replacement, false, rewrite.replacement).with("the replacement"));
  if (rewrite.replacement.outputs != rewrite.pattern.outputs)
    return invalid_argument("pattern and replacement should have the same outputs in the same order");
  return rewrite;
}

}  // namespace nereid::passes
