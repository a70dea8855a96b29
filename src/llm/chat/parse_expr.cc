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

}  // namespace nereid::chat
