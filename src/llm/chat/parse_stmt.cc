// SPDX-License-Identifier: Apache-2.0
// The statements: one function a tag, found by one table.
#include <algorithm>

#include "llm/chat/parser.h"
#include "llm/chat/parser_impl.h"

namespace nereid::chat {

struct Parser::Tag {
  std::string_view name;
  Result<const Stmt*> (*parse)(Parser&);
};

const Parser::Tag Parser::kTags[] = {
    {"if", [](Parser& p) { return p.parse_if(); }},
    {"for", [](Parser& p) { return p.parse_for(); }},
    {"set", [](Parser& p) { return p.parse_set(); }},
    {"macro", [](Parser& p) { return p.parse_macro(); }},
    {"call", [](Parser& p) { return p.parse_call(); }},
    {"filter", [](Parser& p) { return p.parse_filter_block(); }},
    {"with", [](Parser& p) { return p.parse_with(); }},
    {"block", [](Parser& p) { return p.parse_named_block(); }},
    {"generation", [](Parser& p) { return p.parse_generation(); }},
    {"print", [](Parser& p) { return p.parse_print(); }},
    {"break", [](Parser& p) { return p.parse_loop_control(StmtKind::kBreak); }},
    {"continue", [](Parser& p) { return p.parse_loop_control(StmtKind::kContinue); }},
    {"include", [](Parser& p) { return p.parse_unsupported(); }},
    {"import", [](Parser& p) { return p.parse_unsupported(); }},
    {"from", [](Parser& p) { return p.parse_unsupported(); }},
    {"extends", [](Parser& p) { return p.parse_unsupported(); }},
    {"autoescape", [](Parser& p) { return p.parse_unsupported(); }},
};

Stmt* Parser::make(StmtKind kind, int line) {
  Stmt& s = ast_->stmts.emplace_back();
  s.kind = kind;
  s.line = line;
  return &s;
}

Result<Block> Parser::parse_all() {
  return block({});
}

Result<Block> Parser::block(Words ends) {
  Block out;
  for (;;) {
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::kData: {
        Stmt* data = make(StmtKind::kData, take().line);
        data->text = token.text;
        out.push_back(data);
        break;
      }
      case TokenKind::kVariableBegin: {
        Stmt* print = make(StmtKind::kPrint, take().line);
        NEREID_TRY(const Expr* value, tuple(TupleOf::kExpressions));
        print->exprs.push_back(value);
        NEREID_RETURN_IF_ERROR(expect(TokenKind::kVariableEnd, "'}}'"));
        out.push_back(print);
        break;
      }
      case TokenKind::kBlockBegin: {
        take();
        if (current().kind == TokenKind::kName && std::find(ends.begin(), ends.end(), current().text) != ends.end()) {
          return out;
        }
        NEREID_TRY(const Stmt* stmt, statement());
        out.push_back(stmt);
        NEREID_RETURN_IF_ERROR(expect(TokenKind::kBlockEnd, "'%}'"));
        break;
      }
      default:
        if (ends.size() == 0) return out;
        return fail(token.line, "the template ends, but the '{}' block is still open.", open_tags_.back());
    }
  }
}

Result<Block> Parser::block_until(std::string_view end) {
  skip_operator(":");
  NEREID_RETURN_IF_ERROR(expect(TokenKind::kBlockEnd, "'%}'"));
  NEREID_TRY(Block out, block({end}));
  take();
  return out;
}

Status Parser::body(Stmt* stmt, std::string_view end) {
  NEREID_TRY(stmt->body, block_until(end));
  return Status::ok();
}

Result<const Stmt*> Parser::statement() {
  const Token& token = current();
  if (token.kind != TokenKind::kName) return unexpected("the name of a tag");
  const auto* tag =
      std::find_if(std::begin(kTags), std::end(kTags), [&](const Tag& t) { return t.name == token.text; });
  if (tag == std::end(kTags)) {
    if (open_tags_.empty()) return fail(token.line, "'{}' is no tag of a chat template.", token.text);
    return fail(token.line, "'{}' is no tag that may stand here; the innermost open block is '{}'.", token.text,
                open_tags_.back());
  }
  if (open_tags_.size() >= kMaxNesting) return fail(token.line, "blocks are nested more than {} deep.", kMaxNesting);
  open_tags_.push_back(tag->name);
  auto result = tag->parse(*this);
  open_tags_.pop_back();
  return result;
}

Result<const Stmt*> Parser::parse_if() {
  Stmt* stmt = make(StmtKind::kIf, take().line);
  for (bool open = true; open;) {
    NEREID_TRY(const Expr* condition, tuple(TupleOf::kUnconditional));
    skip_operator(":");
    NEREID_RETURN_IF_ERROR(expect(TokenKind::kBlockEnd, "'%}'"));
    NEREID_TRY(Block branch, block({"elif", "else", "endif"}));
    stmt->branches.push_back({condition, std::move(branch)});
    const std::string_view word = take().text;
    if (word == "else") {
      NEREID_TRY(Block otherwise, block_until("endif"));
      stmt->branches.push_back({nullptr, std::move(otherwise)});
    }
    open = word == "elif";
  }
  return stmt;
}

Result<const Stmt*> Parser::parse_for() {
  Stmt* stmt = make(StmtKind::kFor, take().line);
  NEREID_TRY(stmt->target, target(false, "in"));
  if (!skip_name("in")) return unexpected("'in'");
  NEREID_TRY(const Expr* iterable, tuple(TupleOf::kUnconditional, "recursive"));
  const Expr* condition = nullptr;
  if (skip_name("if")) {
    NEREID_TRY(condition, expression());
  }
  stmt->exprs = {iterable, condition};
  stmt->is_recursive = skip_name("recursive");
  skip_operator(":");
  NEREID_RETURN_IF_ERROR(expect(TokenKind::kBlockEnd, "'%}'"));
  ++loops_;
  auto loop_body = block({"endfor", "else"});
  --loops_;
  NEREID_TRY(stmt->body, std::move(loop_body));
  if (take().text == "else") {
    NEREID_TRY(stmt->otherwise, block_until("endfor"));
  }
  return stmt;
}

Result<const Stmt*> Parser::parse_set() {
  const int line = take().line;
  NEREID_TRY(const Expr* destination, target(true));
  if (skip_operator("=")) {
    Stmt* stmt = make(StmtKind::kSet, line);
    stmt->target = destination;
    NEREID_TRY(const Expr* value, tuple(TupleOf::kExpressions));
    stmt->exprs = {value};
    return stmt;
  }
  Stmt* stmt = make(StmtKind::kSetBlock, line);
  stmt->target = destination;
  const Expr* chain = nullptr;
  while (skip_operator("|")) {
    NEREID_TRY(chain, filter(chain));
  }
  stmt->exprs = {chain};
  NEREID_RETURN_IF_ERROR(body(stmt, "endset"));
  return stmt;
}

Status Parser::signature(Signature* out) {
  NEREID_RETURN_IF_ERROR(expect_operator("("));
  bool needs_fallback = false;
  while (!current().is_operator(")")) {
    if (!out->parameters.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    const int line = current().line;
    NEREID_TRY(std::string_view parameter, expect_name());
    const Expr* fallback = nullptr;
    if (skip_operator("=")) {
      NEREID_TRY(fallback, expression());
      needs_fallback = true;
    } else if (needs_fallback) {
      return fail(line, "the parameter '{}' needs a default, as one before it has one.", parameter);
    }
    out->parameters.push_back({parameter, fallback});
  }
  return expect_operator(")");
}

// A macro takes extra arguments only if its body names varargs or kwargs, and a call block only if it names caller.
void Parser::note_implicit_names(size_t first_token, Signature* out) const {
  for (size_t i = first_token; i < pos_; ++i) {
    out->wants_caller |= tokens_[i].is_name("caller");
    out->wants_varargs |= tokens_[i].is_name("varargs");
    out->wants_kwargs |= tokens_[i].is_name("kwargs");
  }
}

Result<const Stmt*> Parser::parse_macro() {
  Stmt* stmt = make(StmtKind::kMacro, take().line);
  NEREID_TRY(stmt->text, expect_name());
  NEREID_RETURN_IF_ERROR(signature(&stmt->signature));
  const size_t first = pos_;
  const int outer_loops = std::exchange(loops_, 0);
  const Status parsed = body(stmt, "endmacro");
  loops_ = outer_loops;
  NEREID_RETURN_IF_ERROR(parsed);
  note_implicit_names(first, &stmt->signature);
  return stmt;
}

Result<const Stmt*> Parser::parse_call() {
  Stmt* stmt = make(StmtKind::kCallBlock, take().line);
  if (current().is_operator("(")) NEREID_RETURN_IF_ERROR(signature(&stmt->signature));
  NEREID_TRY(const Expr* callee, expression());
  if (callee->kind != ExprKind::kCall)
    return fail(stmt->line, "the tag 'call' must be followed by the call of a macro.");
  stmt->exprs = {callee};
  const size_t first = pos_;
  const int outer_loops = std::exchange(loops_, 0);
  const Status parsed = body(stmt, "endcall");
  loops_ = outer_loops;
  NEREID_RETURN_IF_ERROR(parsed);
  note_implicit_names(first, &stmt->signature);
  return stmt;
}

Result<const Stmt*> Parser::parse_filter_block() {
  Stmt* stmt = make(StmtKind::kFilter, take().line);
  NEREID_TRY(const Expr* chain, filter(nullptr));
  while (skip_operator("|")) {
    NEREID_TRY(chain, filter(chain));
  }
  stmt->exprs = {chain};
  NEREID_RETURN_IF_ERROR(body(stmt, "endfilter"));
  return stmt;
}

Result<const Stmt*> Parser::parse_with() {
  Stmt* stmt = make(StmtKind::kWith, take().line);
  while (current().kind != TokenKind::kBlockEnd) {
    if (!stmt->targets.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    NEREID_TRY(const Expr* destination, primary());
    NEREID_RETURN_IF_ERROR(check_target(destination));
    NEREID_RETURN_IF_ERROR(expect_operator("="));
    NEREID_TRY(const Expr* value, expression());
    stmt->targets.push_back(destination);
    stmt->exprs.push_back(value);
  }
  NEREID_RETURN_IF_ERROR(body(stmt, "endwith"));
  return stmt;
}

// Without inheritance a block is its body, in a scope of its own.
Result<const Stmt*> Parser::parse_named_block() {
  Stmt* stmt = make(StmtKind::kScope, take().line);
  NEREID_TRY(std::string_view block_name, expect_name());
  skip_name("scoped");
  skip_name("required");
  NEREID_RETURN_IF_ERROR(body(stmt, "endblock"));
  skip_name(block_name);
  return stmt;
}

// Marks what the model generated; transformers uses it for training masks. Runs as a call block does, in a scope.
Result<const Stmt*> Parser::parse_generation() {
  Stmt* stmt = make(StmtKind::kScope, take().line);
  const int outer_loops = std::exchange(loops_, 0);
  const Status parsed = body(stmt, "endgeneration");
  loops_ = outer_loops;
  NEREID_RETURN_IF_ERROR(parsed);
  return stmt;
}

Result<const Stmt*> Parser::parse_print() {
  Stmt* stmt = make(StmtKind::kPrint, take().line);
  while (current().kind != TokenKind::kBlockEnd) {
    if (!stmt->exprs.empty()) NEREID_RETURN_IF_ERROR(expect_operator(","));
    NEREID_TRY(const Expr* value, expression());
    stmt->exprs.push_back(value);
  }
  return stmt;
}

Result<const Stmt*> Parser::parse_loop_control(StmtKind kind) {
  const Token& token = take();
  if (loops_ == 0) return fail(token.line, "'{}' stands outside of a loop.", token.text);
  return make(kind, token.line);
}

Result<const Stmt*> Parser::parse_unsupported() {
  return unsupported(
      "line {}: the tag '{}' is not supported: a chat template stands alone and its output is plain text.",
      current().line, current().text);
}

Result<std::unique_ptr<const Ast>> parse_template(std::string_view source) {
  auto ast = std::make_unique<Ast>();
  ast->source = normalize_newlines(source);
  NEREID_TRY(std::vector<Token> tokens, tokenize(ast->source, &ast->decoded));
  NEREID_TRY(ast->body, Parser(std::move(tokens), ast.get()).parse_all());
  return std::unique_ptr<const Ast>(std::move(ast));
}

}  // namespace nereid::chat
