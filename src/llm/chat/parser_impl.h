// SPDX-License-Identifier: Apache-2.0
// The parser's state and its two halves: expressions (parse_expr.cc) and statements (parse_stmt.cc).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/ast.h"
#include "llm/chat/lexer.h"

namespace nereid::chat {

class Parser {
 public:
  Parser(std::vector<Token> tokens, Ast* ast) : tokens_(std::move(tokens)), ast_(ast) {}
  Result<Block> parse_all();

 private:
  using ExprResult = Result<const Expr*>;
  using Words = std::initializer_list<std::string_view>;
  static constexpr int kMaxNesting = 200;

  // Tokens.
  const Token& current() const { return tokens_[pos_]; }
  const Token& next() const { return tokens_[std::min(pos_ + 1, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[pos_ + 1 < tokens_.size() ? pos_++ : pos_]; }
  bool skip_operator(std::string_view op);
  bool skip_name(std::string_view name);
  Status expect_operator(std::string_view op);
  Status expect(TokenKind kind, std::string_view what);
  Result<std::string_view> expect_name();
  template <typename... A>
  Status fail(int line, fmt::format_string<A...> f, A&&... a) const {
    return invalid_argument("line {}: {}", line, fmt::format(f, std::forward<A>(a)...));
  }
  Status unexpected(std::string_view wanted) const;

  Expr* make(ExprKind kind, int line, std::vector<const Expr*> children = {}, std::string_view text = {});
  Stmt* make(StmtKind kind, int line);

  // Expressions, loosest binding first.
  ExprResult expression(bool with_conditional = true);
  ExprResult conditional();
  ExprResult disjunction();
  ExprResult conjunction();
  ExprResult negation();
  ExprResult comparison();
  ExprResult sum();
  ExprResult concatenation();
  ExprResult product();
  ExprResult power();
  ExprResult unary(bool with_filter);
  ExprResult primary(bool with_namespace = false);
  ExprResult name(bool with_namespace);
  ExprResult list();
  ExprResult dict();
  ExprResult postfix(const Expr* node);
  ExprResult filters_and_tests(const Expr* node);
  ExprResult subscript(const Expr* object);
  ExprResult index();
  ExprResult call(const Expr* callee);
  ExprResult filter(const Expr* subject);
  ExprResult test(const Expr* subject);
  Status arguments(Arguments* out);
  // What may stand without brackets: `a, b`. `stop` is a name that ends it.
  enum class TupleOf { kExpressions, kUnconditional, kTargets, kTargetsOrNamespaces };
  ExprResult tuple(TupleOf of, std::string_view stop = {}, bool in_brackets = false);
  ExprResult target(bool with_namespace, std::string_view stop = {});
  Status check_target(const Expr* target) const;

  // Statements. A block ends before one of the words; the tag's opening is then consumed, the word is not.
  Result<Block> block(Words ends);
  Result<Block> block_until(std::string_view end);  // and consumes the end
  Result<const Stmt*> statement();
  Result<const Stmt*> parse_if();
  Result<const Stmt*> parse_for();
  Result<const Stmt*> parse_set();
  Result<const Stmt*> parse_macro();
  Result<const Stmt*> parse_call();
  Result<const Stmt*> parse_filter_block();
  Result<const Stmt*> parse_with();
  Result<const Stmt*> parse_named_block();
  Result<const Stmt*> parse_generation();
  Result<const Stmt*> parse_print();
  Result<const Stmt*> parse_loop_control(StmtKind kind);
  Result<const Stmt*> parse_unsupported();
  Status signature(Signature* out);
  Status body(Stmt* stmt, std::string_view end);  // sets stmt->body
  void note_implicit_names(size_t first_token, Signature* out) const;

  struct Tag;
  static const Tag kTags[];

  std::vector<Token> tokens_;
  Ast* ast_;
  size_t pos_ = 0;
  int nesting_ = 0;
  int loops_ = 0;
  std::vector<std::string_view> open_tags_;
};

}  // namespace nereid::chat
