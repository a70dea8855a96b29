// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nereid::cli {
namespace {

constexpr int32_t kAnswerTokens = 128;

std::string option_name(std::string_view setting) {
  std::string name = fmt::format("--{}", setting);
  std::replace(name.begin(), name.end(), '_', '-');
  return name == "--max-tokens" ? "-n,--max-tokens" : name;
}

template <typename Number>
bool parse_number(std::string_view text, Number* value) {
  const auto [end, e] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return e == std::errc() && end == text.data() + text.size();
}

// A value of the table. Whole numbers of 64 bits are read as such: a double would round a seed.
Status set_from_text(sample::SamplingParams* params, const sample::Setting& setting, const std::string& text) {
  if (const auto* seed = std::get_if<uint64_t sample::SamplingParams::*>(&setting.member))
    if (parse_number(text, &(params->**seed))) return Status::ok();
  double value = 0;
  if (!parse_number(text, &value)) return invalid_argument("{} must be a number, found '{}'", setting.name, text);
  return sample::set(params, setting.name, value);
}

// "ID=V", V a number or -inf.
Status add_bias(std::string_view text, std::map<int32_t, float>* biases) {
  const size_t equals = text.find('=');
  int32_t token = 0;
  float bias = 0;
  if (equals == std::string_view::npos || !parse_number(text.substr(0, equals), &token) ||
      !parse_number(text.substr(equals + 1), &bias))
    return invalid_argument("--logit-bias takes TOKEN=NUMBER, such as 42=-1.5 or 42=-inf, found '{}'", text);
  (*biases)[token] = bias;
  return Status::ok();
}

}  // namespace

SamplingOptions::SamplingOptions(CommandLine& app) {
  params_.max_tokens = kAnswerTokens;
  constexpr const char* kGroup = "Sampling";
  for (const sample::Setting& setting : sample::setting_table()) {
    const std::string name = option_name(setting.name);
    if (setting.name == "ignore_eos") {
      app.add_flag_callback(
             name, [this] { params_.ignore_eos = 1; }, "never draw an end-of-text token")
          ->group(kGroup);
      continue;
    }
    app.add_value(
           name, [this, &setting](const std::string& text) { return set_from_text(&params_, setting, text); },
           fmt::format("{} (default {:g})", setting.help, sample::get(params_, setting)))
        ->type_name("N")
        ->group(kGroup);
  }
  app.add_texts("--stop", params_.stop, "a text that ends the answer; may be given several times")->group(kGroup);
  app.add_texts("--logit-bias", biases_, "TOKEN=NUMBER, added to that token's logit; -inf bans it; several times")
      ->type_name("ID=V")
      ->group(kGroup);
}

Result<sample::SamplingParams> SamplingOptions::params() const {
  sample::SamplingParams params = params_;
  for (const std::string& text : biases_) NEREID_RETURN_IF_ERROR(add_bias(text, &params.logit_bias));
  NEREID_RETURN_IF_ERROR(params.validate());
  return params;
}

}  // namespace nereid::cli
