// SPDX-License-Identifier: Apache-2.0
// Recursive descent over jinja2's expression grammar; its binding order is the order of the functions here.
#include <algorithm>
#include <array>

#include "llm/chat/parser_impl.h"

namespace nereid::chat {
namespace {

constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<=", ">=", "<", ">"};

}  // namespace

bool Parser::skip_operator(std::string_view op) {
  if (!current().is_operator(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

Status Parser::unexpected(std::string_view wanted) const {
  return fail(current().line, "expected {}, found '{}'.", wanted, current().describe());
}

Status Parser::expect_operator(std::string_view op) {
  if (skip_operator(op)) return Status::ok();
  return unexpected(fmt::format("'{}'", op));
}

Status Parser::expect(TokenKind kind, std::string_view what) {
  if (current().kind != kind) return unexpected(what);
  take();
  return Status::ok();
}

Result<std::string_view> Parser::expect_name() {
  if (current().kind != TokenKind::kName) return unexpected("a name");
  return take().text;
}

Expr* Parser::make(ExprKind kind, int line, std::vector<const Expr*> children, std::string_view text) {
  Expr& e = ast_->exprs.emplace_back();
  e.kind = kind;
  e.line = line;
  e.children = std::move(children);
  e.text = text;
  return &e;
}

Parser::ExprResult Parser::expression(bool with_conditional) {
  if (nesting_ >= kMaxNesting) return fail(current().line, "expressions are nested more than {} deep.", kMaxNesting);
  ++nesting_;
  auto result = with_conditional ? conditional() : disjunction();
  --nesting_;
  return result;
}

Parser::ExprResult Parser::conditional() {
  const int line = current().line;
  NEREID_TRY(const Expr* value, disjunction());
  while (skip_name("if")) {
    NEREID_TRY(const Expr* condition, disjunction());
    const Expr* otherwise = nullptr;
    if (skip_name("else")) {
      NEREID_TRY(otherwise, expression());
    }
    value = make(ExprKind::kConditional, line, {condition, value, otherwise});
  }
  return value;
}

Parser::ExprResult Parser::disjunction() {
  NEREID_TRY(const Expr* left, conjunction());
  while (current().is_name("or")) {
    const int line = take().line;
    NEREID_TRY(const Expr* right, conjunction());
    left = make(ExprKind::kOr, line, {left, right});
  }
  return left;
}

Parser::ExprResult Parser::conjunction() {
  NEREID_TRY(const Expr* left, negation());
  while (current().is_name("and")) {
    const int line = take().line;
    NEREID_TRY(const Expr* right, negation());
    left = make(ExprKind::kAnd, line, {left, right});
  }
  return left;
}

Parser::ExprResult Parser::negation() {
  int count = 0;
  const int line = current().line;
  while (skip_name("not")) ++count;
  NEREID_TRY(const Expr* operand, comparison());
  // Two are one conversion to a boolean: no need for a node each.
  if (count > 2) count = count % 2 == 0 ? 2 : 1;
  for (; count > 0; --count) operand = make(ExprKind::kNot, line, {operand});
  return operand;
}

Parser::ExprResult Parser::comparison() {
  const int line = current().line;
  NEREID_TRY(const Expr* first, sum());
  Expr* compare = nullptr;
  for (;;) {
    std::string_view op;
    if (current().kind == TokenKind::kOperator &&
        std::find(kComparisons.begin(), kComparisons.end(), current().text) != kComparisons.end()) {
      op = take().text;
    } else if (skip_name("in")) {
      op = "in";
    } else if (current().is_name("not") && next().is_name("in")) {
      take();
      take();
      op = "notin";
    } else {
      break;
    }
    if (!compare) compare = make(ExprKind::kCompare, line, {first});
    NEREID_TRY(const Expr* right, sum());
    compare->operators.push_back(op);
    compare->children.push_back(right);
  }
  return compare ? compare : first;
}

Parser::ExprResult Parser::sum() {
  NEREID_TRY(const Expr* left, concatenation());
  while (current().is_operator("+") || current().is_operator("-")) {
    const Token& op = take();
    NEREID_TRY(const Expr* right, concatenation());
    left = make(ExprKind::kBinary, op.line, {left, right}, op.text);
  }
  return left;
}

Parser::ExprResult Parser::concatenation() {
  const int line = current().line;
  NEREID_TRY(const Expr* first, product());
  if (!current().is_operator("~")) return first;
  Expr* concat = make(ExprKind::kConcat, line, {first});
  while (skip_operator("~")) {
    NEREID_TRY(const Expr* operand, product());
    concat->children.push_back(operand);
  }
  return concat;
}

Parser::ExprResult Parser::product() {
  NEREID_TRY(const Expr* left, power());
  while (current().is_operator("*") || current().is_operator("/") || current().is_operator("//") ||
         current().is_operator("%")) {
    const Token& op = take();
    NEREID_TRY(const Expr* right, power());
    left = make(ExprKind::kBinary, op.line, {left, right}, op.text);
  }
  return left;
}

// Left-associative, as in jinja2 (Python's is not).
Parser::ExprResult Parser::power() {
  NEREID_TRY(const Expr* left, unary(true));
  while (current().is_operator("**")) {
    const Token& op = take();
    NEREID_TRY(const Expr* right, unary(true));
    left = make(ExprKind::kBinary, op.line, {left, right}, op.text);
  }
  return left;
}

// A filter binds looser than the sign: -x|abs is (-x)|abs.
Parser::ExprResult Parser::unary(bool with_filter) {
  std::vector<const Token*> signs;
  while (current().is_operator("-") || current().is_operator("+")) {
    if (signs.size() >= kMaxNesting) return fail(current().line, "more than {} signs stand in a row.", kMaxNesting);
    signs.push_back(&take());
  }
  NEREID_TRY(const Expr* node, primary());
  NEREID_TRY(node, postfix(node));
  for (size_t i = signs.size(); i > 0; --i) {
    const Token& sign = *signs[i - 1];
    node = make(sign.text == "-" ? ExprKind::kNegative : ExprKind::kPositive, sign.line, {node});
  }
  return with_filter ? filters_and_tests(node) : node;
}

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
