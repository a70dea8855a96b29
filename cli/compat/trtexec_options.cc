// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/trtexec_options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "cli/compat/trtexec_flags.h"

namespace nereid::cli {
namespace {

using Value = TrtexecFlag::Value;
using Use = TrtexecFlag::Use;

template <typename Number>
Status read_number(std::string_view flag, std::string_view text, Number least, Number* out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (problem != std::errc() || end != text.data() + text.size() || !(*out >= least))
    return invalid_argument("{} takes a number from {}, found '{}'", flag, least, text);
  return Status::ok();
}

// At ',' outside of quotes, which are taken off.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Status read_percentiles(std::string_view flag, std::string_view text, std::vector<double>* out) {
  out->clear();
  for (const std::string& part : split_list(text)) {
    double percent = 0;
    NEREID_RETURN_IF_ERROR(read_number(flag, part, 0.0, &percent));
    if (percent > 100) return invalid_argument("{} takes numbers from 0 to 100, found '{}'", flag, part);
    out->push_back(percent);
  }
  return Status::ok();
}

Status read_inputs(std::string_view flag, std::string_view text, std::vector<std::string>* out) {
  for (const std::string& part : split_list(text)) {
    const size_t colon = part.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == part.size())
      return invalid_argument("{} takes NAME:FILE,NAME:FILE, found '{}'", flag, part);
    // A name may hold ':' itself ("x:0"); a file's name here does not.
    const size_t last = part.rfind(':');
    out->push_back(part.substr(0, last) + "=" + part.substr(last + 1));
  }
  return Status::ok();
}

using Setter = std::function<Status(TrtexecOptions&, std::string_view flag, std::string_view value)>;

Setter text_into(std::string TrtexecOptions::*member) {
  return [member](TrtexecOptions& o, std::string_view flag, std::string_view value) {
    if (value.empty()) return invalid_argument("{} needs a file: {}=FILE", flag, flag);
    o.*member = value;
    return Status::ok();
  };
}

Setter flag_into(bool TrtexecOptions::*member) {
  return [member](TrtexecOptions& o, std::string_view, std::string_view) {
    o.*member = true;
    return Status::ok();
  };
}

Setter shapes_into(compile::InputShapes TrtexecOptions::*member) {
  return [member](TrtexecOptions& o, std::string_view flag, std::string_view value) {
    NEREID_TRY(o.*member, parse_trtexec_shapes(flag, value));
    return Status::ok();
  };
}

template <typename Number>
Setter number_into(Number TrtexecOptions::*member, Number least) {
  return [member, least](TrtexecOptions& o, std::string_view flag, std::string_view value) {
    return read_number(flag, value, least, &(o.*member));
  };
}

const std::map<std::string_view, Setter>& setters() {
  using O = TrtexecOptions;
  const auto verbosity = [](O& o, std::string_view flag, std::string_view value) {
    constexpr std::string_view kKnown[] = {"layer_names_only", "detailed", "none", "default", "verbose"};
    if (std::ranges::find(kKnown, value) == std::end(kKnown))
      return invalid_argument("{} takes layer_names_only, detailed or none, found '{}'", flag, value);
    o.detailed = value == "detailed" || value == "verbose";
    return Status::ok();
  };
  static const std::map<std::string_view, Setter> kSetters = {
      {"--onnx", text_into(&O::onnx)},
      {"--loadEngine", text_into(&O::load_engine)},
      {"--saveEngine", text_into(&O::save_engine)},
      {"--stripWeights", flag_into(&O::strip)},
      {"--stripAllWeights", flag_into(&O::strip)},
      {"--refitFromOnnx", text_into(&O::refit_from)},
      {"--timeRefit", flag_into(&O::time_refit)},
      {"--dumpRefit", flag_into(&O::dump_refit)},
      {"--shapes", shapes_into(&O::run)},
      {"--minShapes", shapes_into(&O::least)},
      {"--optShapes", shapes_into(&O::best)},
      {"--maxShapes", shapes_into(&O::most)},
      {"--iterations", number_into<int64_t>(&O::iterations, 1)},
      {"--duration", number_into<double>(&O::duration_s, 0)},
      {"--warmUp", number_into<double>(&O::warmup_ms, 0)},
      {"--idleTime", number_into<double>(&O::idle_ms, 0)},
      {"--avgRuns", number_into<int64_t>(&O::average_runs, 1)},
      {"--cpuThreads", number_into<int>(&O::threads, 0)},
      {"--isa", text_into(&O::isa)},
      {"--bf16", flag_into(&O::bf16)},
      {"--fp16",
       [](O& o, std::string_view, std::string_view) {
         o.bf16 = true;
         o.remarks.emplace_back("--fp16: processors multiply bf16, not f16; what may be bf16 is");
         return Status::ok();
       }},
      {"--int8", flag_into(&O::int8)},
      {"--best",
       [](O& o, std::string_view, std::string_view) {
         o.bf16 = true;
         o.int8 = true;
         return Status::ok();
       }},
      {"--calib", text_into(&O::calib)},
      {"--builderOptimizationLevel",
       [](O& o, std::string_view flag, std::string_view value) {
         NEREID_RETURN_IF_ERROR(read_number(flag, value, 0, &o.level));
         if (o.level > 5) return invalid_argument("{} takes a number from 0 to 5, found {}", flag, o.level);
         return Status::ok();
       }},
      {"--timingCacheFile", text_into(&O::timing_cache)},
      {"--skipInference", flag_into(&O::skip_inference)},
      {"--buildOnly", flag_into(&O::skip_inference)},
      {"--separateProfileRun", [](O&, std::string_view, std::string_view) { return Status::ok(); }},
      {"--profilingVerbosity", verbosity},
      {"--nvtxMode", verbosity},
      {"--percentile", [](O& o, std::string_view flag,
                          std::string_view value) { return read_percentiles(flag, value, &o.percentiles); }},
      {"--loadInputs",
       [](O& o, std::string_view flag, std::string_view value) { return read_inputs(flag, value, &o.inputs); }},
      {"--verbose", flag_into(&O::verbose)},
      {"--dumpOutput", flag_into(&O::dump_output)},
      {"--dumpProfile", flag_into(&O::dump_profile)},
      {"--dumpLayerInfo", flag_into(&O::dump_layers)},
      {"--exportTimes", text_into(&O::export_times)},
      {"--exportOutput", text_into(&O::export_output)},
      {"--exportProfile", text_into(&O::export_profile)},
      {"--exportLayerInfo", text_into(&O::export_layers)},
      {"--help", flag_into(&O::help)},
  };
  return kSetters;
}

Status apply(TrtexecOptions& options, std::string_view arg) {
  const size_t equals = arg.find('=');
  std::string_view name = arg.substr(0, equals);
  if (name == "-h") name = "--help";
  if (name == "-v") name = "--verbose";
  const TrtexecFlag* flag = find_trtexec_flag(name);
  if (flag == nullptr) return invalid_argument("Unknown option: {}; --help lists the options", arg);
  const bool has_value = equals != std::string_view::npos;
  if (flag->value == Value::kRequired && !has_value) return invalid_argument("{} needs a value: {}=VALUE", name, name);
  if (flag->use == Use::kRefused) return unsupported("{}: {}", name, flag->text);
  if (flag->use == Use::kIgnored) {
    options.remarks.push_back(fmt::format("{} is accepted and changes nothing: {}", name, flag->text));
    return Status::ok();
  }
  return setters().at(name)(options, name, has_value ? arg.substr(equals + 1) : std::string_view());
}

}  // namespace

compile::InputShapes TrtexecOptions::fixed_shapes() const {
  if (!least.empty() || !most.empty()) return least == most ? least : compile::InputShapes();
  return run.empty() ? best : run;
}

Result<compile::InputShapes> parse_trtexec_shapes(std::string_view flag, std::string_view text) {
  std::vector<std::string> parts = split_list(text);
  for (std::string& part : parts)
    if (part.ends_with(":scalar")) part.resize(part.size() - std::string_view("scalar").size());
  NEREID_TRY(compile::InputShapes shapes, compile::parse_input_shapes(parts).with(std::string(flag)));
  return shapes;
}

Result<TrtexecOptions> parse_trtexec(Arguments args) {
  TrtexecOptions options;
  for (const std::string_view arg : args) NEREID_RETURN_IF_ERROR(apply(options, arg));
  if (options.help) return options;
  if (options.onnx.empty() && options.load_engine.empty())
    return invalid_argument("no model is given: name one with --onnx=FILE or --loadEngine=FILE");
  if (!options.onnx.empty() && !options.load_engine.empty())
    return invalid_argument("--onnx and --loadEngine are both given: one of them is enough");
  if (!options.load_engine.empty() && !options.save_engine.empty() && options.refit_from.empty())
    return invalid_argument("--saveEngine goes with --onnx: the engine that --loadEngine names is there already");
  if (options.load_engine.empty() && !options.refit_from.empty())
    return invalid_argument("--refitFromOnnx goes with --loadEngine, which names the engine that gets the weights");
  if (options.run.empty())
    options.run = !options.best.empty() ? options.best : options.most.empty() ? options.least : options.most;
  return options;
}

std::string trtexec_help() {
  std::string acts, ignored;
  for (const TrtexecFlag& flag : trtexec_flags()) {
    const std::string name = std::string(flag.name) + (flag.value == Value::kRequired ? "=..." : "");
    if (flag.use == Use::kActs)
      acts += fmt::format("  {:<26} {}\n", name, flag.text);
    else
      ignored += fmt::format("  {:<38} {}: {}\n", name, flag.use == Use::kIgnored ? "ignored" : "refused", flag.text);
  }
  return "Builds and times networks under the command line of trtexec.\n\nusage: trtexec --onnx=FILE|--loadEngine=FILE "
         "[options]\n\n" +
         acts + "\nAccepted for the sake of scripts, without effect:\n" + ignored;
}

}  // namespace nereid::cli
