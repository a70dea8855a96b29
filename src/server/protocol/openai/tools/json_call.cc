// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/tools/json_call.h"

#include "base/json.h"

namespace nereid::server::openai {
namespace {

constexpr int kMaxDepth = 100;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Models write line ends into strings as they are.
std::string unescape(const std::string& quoted) {
  const Result<Json> json = parse_json(quoted);
  return json.is_ok() && json->is_string() ? json->get<std::string>() : quoted.substr(1, quoted.size() - 2);
}

}  // namespace

bool JsonExtent::push(char c) {
  if (in_string_) {
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = false;
    return false;
  }
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
  return !in_string_ && depth_ <= 0;
}

void JsonCall::end_string() {
  in_string_ = false;
  switch (role_) {
    case Role::kKey:
      key_ = unescape(string_);
      expect_ = Expect::kColon;
      break;
    case Role::kName:
      name_ = unescape(string_);
      has_name_ = true;
      expect_ = Expect::kComma;
      break;
    case Role::kArguments:
      arguments_ += unescape(string_);
      has_arguments_ = true;
      expect_ = Expect::kComma;
      break;
    case Role::kOther:
      break;
  }
  string_.clear();
}

JsonCall::State JsonCall::begin_value(char c) {
  expect_ = Expect::kComma;
  role_ = Role::kOther;
  if ((key_ == "name" || key_ == "function") && c == '"') {
    role_ = Role::kName;
  } else if (key_ == "name") {
    return broken();
  } else if (key_ == "function" && c == '{') {
    call_depth_ = ++depth_;
    expect_ = Expect::kKey;
    return state_;
  } else if (key_ == "arguments" || key_ == "parameters") {
    if (c == '"') {
      role_ = Role::kArguments;
    } else {
      captures_ = has_arguments_ = true;
    }
  }
  if (captures_) arguments_ += c;
  if (c == '"') {
    in_string_ = true;
    string_ = role_ == Role::kOther ? "" : "\"";
  } else if (c == '{' || c == '[') {
    ++depth_;
  }
  return state_;
}

JsonCall::State JsonCall::structure(char c) {
  if (depth_ > call_depth_) {  // inside of a value
    if (captures_) arguments_ += c;
    if (c == '"') {
      in_string_ = true;
      role_ = Role::kOther;
    }
    if ((c == '{' || c == '[') && ++depth_ > kMaxDepth) return broken();
    if (c == '}' || c == ']') --depth_;
    return state_;
  }
  if (is_space(c)) return state_;
  if (depth_ < call_depth_ && depth_ > 0) {  // after the object inside "function"
    if (c == '}') --depth_;
    if (c == '"') in_string_ = true, role_ = Role::kOther;
    if (c == '{' || c == '[') return broken();
    return depth_ == 0 ? state_ = State::kDone : state_;
  }
  switch (expect_) {
    case Expect::kObject:
      if (c != '{') return broken();
      depth_ = 1;
      expect_ = Expect::kKey;
      return state_;
    case Expect::kKey:
    case Expect::kComma:
      if (c == '}') {
        captures_ = false;
        --depth_;
        return depth_ == 0 ? state_ = State::kDone : state_;
      }
      if (expect_ == Expect::kKey) {
        if (c != '"') return broken();
        in_string_ = true;
        role_ = Role::kKey;
        string_ = "\"";
        return state_;
      }
      if (c == ',') {
        captures_ = false;
        expect_ = Expect::kKey;
        return state_;
      }
      // The rest of a number or of a word.
      if (c == '"' || c == '{' || c == '[' || c == ']' || c == ':' || c == '<') return broken();
      if (captures_) arguments_ += c;
      return state_;
    case Expect::kColon:
      if (c != ':') return broken();
      expect_ = Expect::kValue;
      return state_;
    case Expect::kValue:
      return begin_value(c);
  }
  return state_;
}

JsonCall::State JsonCall::push(char c) {
  if (!in_string_) return structure(c);
  if (role_ != Role::kOther)
    string_ += c;
  else if (captures_)
    arguments_ += c;
  if (escaped_)
    escaped_ = false;
  else if (c == '\\')
    escaped_ = true;
  else if (c == '"')
    end_string();
  return state_;
}

}  // namespace nereid::server::openai
