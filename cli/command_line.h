// SPDX-License-Identifier: Apache-2.0
// The options of a command: declared on variables, which parse() (command.h) fills.
//
// CLI11 does the work, in command_line.cc alone: it takes seven seconds to compile, wherever it is included. Names,
// defaults and help texts are as CLI11 has them: "--threads,-t" is an option, "MODEL" stands by its place,
// "--graph{import}" is a flag that may have a value.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace nereid::cli {

// What a value must be.
class Check {
 public:
  static Check range(double least, double most);
  static Check member(std::initializer_list<std::string> names);
  static Check existing_directory();

 private:
  friend class Option;
  enum class Kind : uint8_t { kRange, kMember, kDirectory };
  Kind kind_ = Kind::kRange;
  double least_ = 0, most_ = 0;
  std::vector<std::string> names_;
};

// One option of a CommandLine, which owns it. Each function gives the option again.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* required();
  Option* capture_default_str();  // the help shows the value that the variable has now
  Option* check(const Check& check);
  Option* delimiter(char separator);  // of a list in one word
  Option* group(const std::string& name);
  Option* type_name(const std::string& name);
  Option* excludes(Option* other);
  bool given() const;  // after parsing

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;

  // The variables must live until the line is parsed.
  Option* add_option(const std::string& names, std::string& value, const std::string& help);
  Option* add_option(const std::string& names, int& value, const std::string& help);
  Option* add_option(const std::string& names, int64_t& value, const std::string& help);
  Option* add_option(const std::string& names, uint64_t& value, const std::string& help);
  Option* add_option(const std::string& names, double& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<int>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<int64_t>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<uint64_t>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<double>& value, const std::string& help);
  Option* add_option(const std::string& names, std::optional<std::string>& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<int>& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<int64_t>& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<double>& value, const std::string& help);
  // Each time it is given its text is handed over as it is; an error ends the parsing.
  Option* add_value(const std::string& names, std::function<Status(const std::string&)> take, const std::string& help);
  // A text that may be given several times, each taken as it is: CLI11's own lists would read "[a,b]" as two and "{}"
  // as none.
  Option* add_texts(const std::string& names, std::vector<std::string>& texts, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Option* add_flag(const std::string& names, std::string& value, const std::string& help);
  Option* add_flag_callback(const std::string& names, std::function<void()> callback, const std::string& help);

  void remove_option(const std::string& name);
  void footer(const std::string& text);  // below the help

  // At most one of them may be given.
  CommandLine* add_subcommand(const std::string& name, const std::string& description);
  bool parsed() const;  // this subcommand was given

  CLI::App& app() { return *app_; }

 private:
  explicit CommandLine(CLI::App* app);
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> owned_;  // of the command; a subcommand's is its command's
  CLI::App* app_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
};

}  // namespace nereid::cli
