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
          int64_t seconds = 0;
          std::from_chars(value.data(), value.data() + value.size(), seconds);
          out.push_back(fmt::format("--drain-timeout-ms={}", std::clamp<int64_t>(seconds, 0, 86400) * 1000));
        } else {
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
  if (!words.is_ok()) return fail(words.status(), kFailed);  // as the tool ends
  std::vector<const char*> pointers;
  for (const std::string& word : *words) pointers.push_back(word.c_str());
  return serve_command(pointers);
}

}  // namespace nereid::cli
