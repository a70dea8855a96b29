// SPDX-License-Identifier: Apache-2.0
// tritonserver: `nereid serve --model-repository` under that program's command line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/command.h"
#include "cli/compat/tritonserver_flags.h"
#include "server/host/host.h"

namespace nereid::cli {

int serve_command(Arguments args);

namespace {

using Use = TritonFlag::Use;

// Options that may stand without a value.
bool is_bare(std::string_view name) {
  return name == "--disable-auto-complete-config";
}

bool is_true(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.empty() || text == "true" || text == "on" || text == "1";
}

void print_help() {
  fmt::print("Usage: tritonserver [options]\n\nThe options of tritonserver, as `nereid serve` takes them:\n\n");
  for (const TritonFlag& flag : triton_flags()) {
    if (flag.use == Use::kPassed || flag.use == Use::kSwitched) {
      fmt::print("  {}\n", flag.name);
    } else {
      fmt::print("  {}  ({}: {})\n", flag.name, flag.use == Use::kIgnored ? "no effect" : "refused", flag.text);
    }
  }
}

Result<int64_t> read_number(std::string_view name, const std::string& text, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return invalid_argument("{} takes a number from {} to {}, found '{}'", name, least, most, text);
  return number;
}

// A value out of bounds is told by the name that it was given by, not by that of `nereid serve`.
Status check_setting(const TritonFlag& flag, const std::string& value) {
  for (const server::net::SettingRow& row : server::net::setting_table())
    if (flag.text == "--" + std::string(row.name) && flag.name != flag.text)
      return Status(read_number(flag.name, value, row.least, row.most).status());
  return Status::ok();
}

// What `nereid serve` is to be called with. kInvalidArgument: as the tool says it.
Result<std::vector<std::string>> translate(Arguments args) {
  std::vector<std::string> out;
  const auto names_format = [](const char* word) { return std::string_view(word).starts_with("--log-format"); };
  if (std::none_of(args.begin(), args.end(), names_format)) out.emplace_back("--log-format=default");
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const TritonFlag* flag = find_triton_flag(name);
    if (flag == nullptr) return invalid_argument("Bad option: \"{}\"", word);
    std::string value;
    if (equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (!is_bare(name)) {
      if (i + 1 == args.size()) return invalid_argument("the option {} wants a value", name);
      value = args[++i];
    }
    switch (flag->use) {
      case Use::kRefused:
        return invalid_argument("{} is not there: {}", name, flag->text);
      case Use::kIgnored:
        log_info("{} changes nothing: {}", name, flag->text);
        break;
      case Use::kSwitched:
        if (is_true(value)) out.emplace_back(flag->text);
        break;
      case Use::kPassed:
        if (name == "--exit-timeout-secs") {
          NEREID_TRY(const int64_t seconds, read_number(name, value, 0, 86400));
          out.push_back(fmt::format("--drain-timeout-ms={}", seconds * 1000));
        } else {
          NEREID_RETURN_IF_ERROR(check_setting(*flag, value));
          out.push_back(fmt::format("{}={}", flag->text, value));
        }
    }
  }
  return out;
}

}  // namespace

int tritonserver_command(Arguments args) {
  for (const char* word : args)
    if (std::string_view(word) == "--help" || std::string_view(word) == "-h") {
      print_help();
      return kDone;
    }
  const Result<std::vector<std::string>> words = translate(args);
  if (!words.is_ok()) return fail(words.status());
  std::vector<const char*> pointers;
  for (const std::string& word : *words) pointers.push_back(word.c_str());
  return serve_command(pointers);
}

}  // namespace nereid::cli
