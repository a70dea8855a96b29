// SPDX-License-Identifier: Apache-2.0
// Follows one JSON object that is a call, {"name": ..., "arguments": {...}}, byte by byte, and gives out the arguments
// as they come.
//
// "parameters" is another word for arguments, "function" for name; a call may lie inside a member "function", as OpenAI
// writes it. Arguments that are a string hold JSON, and are given out without the quotes, whole.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {

class JsonCall {
 public:
  enum class State : uint8_t {
    kOpen,    // more must come
    kDone,    // the object has ended
    kBroken,  // this is no object of such a kind
  };

  // Takes a byte; the state after it. Not to be called once it is not kOpen.
  State push(char c);
  State state() const { return state_; }

  // Known once the member has been read.
  bool has_name() const { return has_name_; }
  const std::string& name() const { return name_; }
  bool has_arguments() const { return has_arguments_; }
  // The arguments that came since the last time; those before the name was known are among them.
  std::string take_arguments() { return std::exchange(arguments_, {}); }

 private:
  enum class Expect : uint8_t { kObject, kKey, kColon, kValue, kComma };
  enum class Role : uint8_t { kOther, kKey, kName, kArguments };

  State broken() { return state_ = State::kBroken; }
  void end_string();
  State structure(char c);
  State begin_value(char c);

  State state_ = State::kOpen;
  Expect expect_ = Expect::kObject;
  Role role_ = Role::kOther;
  int depth_ = 0;       // open brackets
  int call_depth_ = 1;  // at which the call's own members stand
  bool in_string_ = false;
  bool escaped_ = false;
  bool captures_ = false;  // what comes belongs to the arguments
  std::string string_;     // the string at hand, with its quotes: a key, a name, arguments in a string
  std::string key_;
  bool has_name_ = false, has_arguments_ = false;
  std::string name_;
  std::string arguments_;
};

// Follows any JSON value that is an object or array: where it ends.
class JsonExtent {
 public:
  // Takes a byte. True once the byte was the last of the value.
  bool push(char c);

 private:
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace nereid::server::openai
