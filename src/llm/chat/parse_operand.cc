// SPDX-License-Identifier: Apache-2.0
// Operands of expressions: literals, names, calls, items, filters and tests, and what may be assigned to.
#include "llm/chat/parser_impl.h"

namespace nereid::chat {

Parser::ExprResult Parser::primary(bool with_namespace) {
  const Token& token = current();
  Expr* constant = nullptr;
  switch (token.kind) {
    case TokenKind::kName:
      return name(with_namespace);
    case TokenKind::kString: {
      constant = make(ExprKind::kConstant, take().line);
      if (current().kind != TokenKind::kString) {
        constant->constant = Value::text(token.text);
        return constant;
      }
      std::string joined(token.text);
      while (current().kind == TokenKind::kString) joined += take().text;
      constant->constant = Value::text(ast_->decoded.emplace_back(std::move(joined)));
      return constant;
    }
    case TokenKind::kInteger:
      constant = make(ExprKind::kConstant, take().line);
      constant->constant = Value::integer(token.integer);
      return constant;
    case TokenKind::kFloat:
      constant = make(ExprKind::kConstant, take().line);
      constant->constant = Value::real(token.real);
      return constant;
    default:
      break;
  }
  if (skip_operator("(")) {
    NEREID_TRY(const Expr* inner, tuple(TupleOf::kExpressions, {}, true));
    NEREID_RETURN_IF_ERROR(expect_operator(")"));
    return inner;
  }
  if (token.is_operator("[")) return list();
  if (token.is_operator("{")) return dict();
  return unexpected("an expression");
}

Parser::ExprResult Parser::name(bool with_namespace) {
  const Token& token = take();
  const std::string_view t = token.text;
  if (t == "true" || t == "True" || t == "false" || t == "False" || t == "none" || t == "None") {
    Expr* constant = make(ExprKind::kConstant, token.line);
    constant->constant = t[0] == 'n' || t[0] == 'N' ? Value::none() : Value::boolean(t[0] == 't' || t[0] == 'T');
    return constant;
  }
  if (with_namespace && skip_operator(".")) {
    NEREID_TRY(std::string_view attribute, expect_name());
    Expr* ref = make(ExprKind::kNamespaceRef, token.line, {}, t);
    ref->attribute = attribute;
    return ref;
  }
  return make(ExprKind::kName, token.line, {}, t);
}

Parser::ExprResult Parser::list() {
  Expr* node = make(ExprKind::kList, take().line);
  while (!current().is_operator("]")) {
    if (!node->children.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    if (current().is_operator("]")) break;
    NEREID_TRY(const Expr* item, expression());
    node->children.push_back(item);
  }
  NEREID_RETURN_IF_ERROR(expect_operator("]"));
  return node;
}

Parser::ExprResult Parser::dict() {
  Expr* node = make(ExprKind::kDict, take().line);
  while (!current().is_operator("}")) {
    if (!node->children.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    if (current().is_operator("}")) break;
    NEREID_TRY(const Expr* key, expression());
    NEREID_RETURN_IF_ERROR(expect_operator(":"));
    NEREID_TRY(const Expr* value, expression());
    node->children.push_back(key);
    node->children.push_back(value);
  }
  NEREID_RETURN_IF_ERROR(expect_operator("}"));
  return node;
}

Parser::ExprResult Parser::postfix(const Expr* node) {
  for (;;) {
    if (current().is_operator(".") || current().is_operator("[")) {
      NEREID_TRY(node, subscript(node));
    } else if (current().is_operator("(")) {
      NEREID_TRY(node, call(node));
    } else {
      return node;
    }
  }
}

Parser::ExprResult Parser::filters_and_tests(const Expr* node) {
  for (;;) {
    if (skip_operator("|")) {
      NEREID_TRY(node, filter(node));
    } else if (current().is_name("is")) {
      NEREID_TRY(node, test(node));
    } else if (current().is_operator("(")) {
      NEREID_TRY(node, call(node));
    } else {
      return node;
    }
  }
}

Parser::ExprResult Parser::subscript(const Expr* object) {
  const Token& open = take();
  if (open.text == ".") {
    const Token& token = take();
    if (token.kind == TokenKind::kName) return make(ExprKind::kAttribute, open.line, {object}, token.text);
    if (token.kind != TokenKind::kInteger) return fail(token.line, "expected a name or a number after '.'.");
    Expr* number = make(ExprKind::kConstant, token.line);
    number->constant = Value::integer(token.integer);
    return make(ExprKind::kItem, open.line, {object, number});
  }
  std::vector<const Expr*> indices;
  while (!current().is_operator("]")) {
    if (!indices.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    NEREID_TRY(const Expr* i, index());
    indices.push_back(i);
  }
  NEREID_RETURN_IF_ERROR(expect_operator("]"));
  if (indices.empty()) return fail(open.line, "expected an index between '[' and ']'.");
  const Expr* i = indices.size() == 1 ? indices[0] : make(ExprKind::kTuple, open.line, std::move(indices));
  return make(ExprKind::kItem, open.line, {object, i});
}

Parser::ExprResult Parser::index() {
  const int line = current().line;
  std::vector<const Expr*> parts(3, nullptr);
  if (!current().is_operator(":")) {
    NEREID_TRY(parts[0], expression());
    if (!current().is_operator(":")) return parts[0];
  }
  for (size_t i = 1; i < 3 && skip_operator(":"); ++i) {
    if (current().is_operator("]") || current().is_operator(",") || current().is_operator(":")) continue;
    NEREID_TRY(parts[i], expression());
  }
  return make(ExprKind::kSlice, line, std::move(parts));
}

Status Parser::arguments(Arguments* out) {
  const int line = current().line;
  NEREID_RETURN_IF_ERROR(expect_operator("("));
  for (bool first = true; !current().is_operator(")"); first = false) {
    if (!first) {
      NEREID_RETURN_IF_ERROR(expect_operator(","));
      if (current().is_operator(")")) break;
    }
    bool ordered = out->double_star == nullptr;
    if (skip_operator("*")) {
      ordered = ordered && out->star == nullptr;
      NEREID_TRY(out->star, expression());
    } else if (skip_operator("**")) {
      NEREID_TRY(out->double_star, expression());
    } else if (current().kind == TokenKind::kName && next().is_operator("=")) {
      const std::string_view name = take().text;
      take();
      NEREID_TRY(const Expr* value, expression());
      out->keywords.push_back({name, value});
    } else {
      ordered = ordered && out->star == nullptr && out->keywords.empty();
      NEREID_TRY(const Expr* value, expression());
      out->positional.push_back(value);
    }
    if (!ordered) return fail(line, "the arguments of a call must be in the order: values, names, *list, **dict.");
  }
  return expect_operator(")");
}

Parser::ExprResult Parser::call(const Expr* callee) {
  Expr* node = make(ExprKind::kCall, current().line, {callee});
  NEREID_RETURN_IF_ERROR(arguments(&node->arguments));
  return node;
}

// After the bar.
Parser::ExprResult Parser::filter(const Expr* subject) {
  const int line = current().line;
  NEREID_TRY(std::string_view filter_name, expect_name());
  Expr* node = make(ExprKind::kFilter, line, {subject}, filter_name);
  if (current().is_operator("(")) NEREID_RETURN_IF_ERROR(arguments(&node->arguments));
  return node;
}

Parser::ExprResult Parser::test(const Expr* subject) {
  const int line = take().line;
  const bool negated = skip_name("not");
  NEREID_TRY(std::string_view test_name, expect_name());
  Expr* node = make(ExprKind::kTest, line, {subject}, test_name);
  const Token& token = current();
  const bool is_value =
      token.kind == TokenKind::kString || token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat ||
      token.is_operator("[") || token.is_operator("{") ||
      (token.kind == TokenKind::kName && !token.is_name("else") && !token.is_name("or") && !token.is_name("and"));
  if (token.is_operator("(")) {
    NEREID_RETURN_IF_ERROR(arguments(&node->arguments));
  } else if (is_value) {
    if (token.is_name("is")) return fail(token.line, "tests cannot be chained with 'is'.");
    NEREID_TRY(const Expr* argument, primary());
    NEREID_TRY(argument, postfix(argument));
    node->arguments.positional.push_back(argument);
  }
  return negated ? make(ExprKind::kNot, line, {node}) : node;
}

Parser::ExprResult Parser::tuple(TupleOf of, std::string_view stop, bool in_brackets) {
  const int line = current().line;
  std::vector<const Expr*> items;
  bool is_tuple = false;
  for (;;) {
    const TokenKind k = current().kind;
    const bool ended = k == TokenKind::kVariableEnd || k == TokenKind::kBlockEnd || current().is_operator(")") ||
                       (!stop.empty() && current().is_name(stop));
    if (ended) break;
    ExprResult item = of == TupleOf::kTargets               ? primary()
                      : of == TupleOf::kTargetsOrNamespaces ? primary(true)
                                                            : expression(of == TupleOf::kExpressions);
    NEREID_RETURN_IF_ERROR(item);
    items.push_back(*item);
    if (!skip_operator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return items[0];
    if (!in_brackets) return unexpected("an expression");
  }
  return make(ExprKind::kTuple, line, std::move(items));
}

Status Parser::check_target(const Expr* target) const {
  if (target->kind == ExprKind::kName || target->kind == ExprKind::kNamespaceRef) return Status::ok();
  if (target->kind != ExprKind::kTuple)
    return fail(target->line, "a value can be assigned to a name or a tuple of names only.");
  for (const Expr* item : target->children) NEREID_RETURN_IF_ERROR(check_target(item));
  return Status::ok();
}

Parser::ExprResult Parser::target(bool with_namespace, std::string_view stop) {
  NEREID_TRY(const Expr* target, tuple(with_namespace ? TupleOf::kTargetsOrNamespaces : TupleOf::kTargets, stop));
  NEREID_RETURN_IF_ERROR(check_target(target));
  return target;
}

}  // namespace nereid::chat
