// SPDX-License-Identifier: Apache-2.0
// The one file that includes CLI11: a command's options on it, and what parse() makes of its errors.
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/log.h"
#include "cli/command.h"

namespace nereid::cli {
namespace {

// CLI11 speaks in fragments ("--threads: 1 required"); a sentence for the line that did not parse.
std::string sentence(const CLI::ParseError& e, const CLI::App& app) {
  std::string text = e.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return fmt::format("the command line is wrong: {}; `{} --help` tells the options", text, app.get_name());
}

}  // namespace

std::optional<ExitCode> parse(CommandLine& line, Arguments args) {
  CLI::App& app = line.app();
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::string help = app.help();
    while (help.ends_with('\n')) help.pop_back();  // as many as CLI11 happens to add
    fmt::print("{}\n", help);
    return kDone;
  } catch (const CLI::ParseError& e) {
    return fail(invalid_argument("{}", sentence(e, app)));
  }
  return std::nullopt;
}

Check Check::range(double least, double most) {
  Check c;
  c.least_ = least;
  c.most_ = most;
  return c;
}

Check Check::member(std::initializer_list<std::string> names) {
  Check c;
  c.kind_ = Kind::kMember;
  c.names_ = names;
  return c;
}

Check Check::existing_directory() {
  Check c;
  c.kind_ = Kind::kDirectory;
  return c;
}

Option* Option::required() {
  option_->required();
  return this;
}
Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}
Option* Option::check(const Check& check) {
  switch (check.kind_) {
    case Check::Kind::kRange:
      // Whole bounds are shown without a point.
      if (check.least_ == std::floor(check.least_) && check.most_ == std::floor(check.most_))
        option_->check(CLI::Range(static_cast<int64_t>(check.least_), static_cast<int64_t>(check.most_)));
      else
        option_->check(CLI::Range(check.least_, check.most_));
      break;
    case Check::Kind::kMember:
      option_->check(CLI::IsMember(check.names_));
      break;
    case Check::Kind::kDirectory:
      option_->check(CLI::ExistingDirectory);
      break;
  }
  return this;
}
Option* Option::delimiter(char separator) {
  option_->delimiter(separator);
  return this;
}
Option* Option::group(const std::string& name) {
  option_->group(name);
  return this;
}
Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}
Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}
bool Option::given() const {
  return option_->count() > 0;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : owned_(std::make_unique<CLI::App>(description, name)), app_(owned_.get()) {}
CommandLine::CommandLine(CLI::App* app) : app_(app) {}
CommandLine::~CommandLine() = default;

Option* CommandLine::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

Option* CommandLine::add_option(const std::string& names, std::string& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, int& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, int64_t& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, uint64_t& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, double& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::optional<int>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::optional<int64_t>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::optional<uint64_t>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::optional<std::string>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::vector<int>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::vector<int64_t>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::vector<double>& value, const std::string& help) {
  return keep(app_->add_option(names, value, help));
}

Option* CommandLine::add_value(const std::string& names, std::function<Status(const std::string&)> take,
                               const std::string& help) {
  const auto call = [take = std::move(take)](const CLI::results_t& given) {
    const Status s = take(given.front());
    if (!s.is_ok()) throw CLI::ValidationError(s.message());  // CLI11's way; parse() makes it a sentence
    return true;
  };
  CLI::Option* option = app_->add_option(names, call, help);
  option->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return keep(option);
}

Option* CommandLine::add_texts(const std::string& names, std::vector<std::string>& texts, const std::string& help) {
  const auto take = [&texts](const CLI::results_t& given) {
    texts = given;
    return true;
  };
  CLI::Option* option = app_->add_option(names, take, help);
  option->type_name("TEXT")->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (!names.starts_with('-')) option->allow_extra_args();  // what stands by its place has no name to repeat
  return keep(option);
}

Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(app_->add_flag(names, value, help));
}
Option* CommandLine::add_flag(const std::string& names, std::string& value, const std::string& help) {
  return keep(app_->add_flag(names, value, help));
}
Option* CommandLine::add_flag_callback(const std::string& names, std::function<void()> callback,
                                       const std::string& help) {
  return keep(app_->add_flag_callback(names, std::move(callback), help));
}

void CommandLine::remove_option(const std::string& name) {
  app_->remove_option(app_->get_option(name));
}
void CommandLine::footer(const std::string& text) {
  app_->footer(text);
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  app_->require_subcommand(0, 1);
  CLI::App* app = app_->add_subcommand(name, description);
  return subcommands_.emplace_back(std::unique_ptr<CommandLine>(new CommandLine(app))).get();
}
bool CommandLine::parsed() const {
  return app_->parsed();
}

}  // namespace nereid::cli
