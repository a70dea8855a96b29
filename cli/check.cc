// SPDX-License-Identifier: Apache-2.0
// nereid check: a network compared layer by layer with another way to compute it.
#include <cmath>

#include "base/log.h"
#include "cli/answer.h"
#include "cli/check_report.h"
#include "cli/check_repository.h"
#include "cli/command.h"
#include "cli/model_path.h"
#include "cli/onnxruntime_values.h"
#include "cli/options.h"
#include "cli/precision_options.h"
#include "compile/model_kind.h"
#include "compile/network_session.h"
#include "server/host/model_server.h"

namespace nereid::cli {
namespace {

using compile::ModelKind;

struct CheckArguments {
  compile::SessionOptions session;
  std::string against = "reference", python = "python3";
  std::optional<double> rtol, atol;
  int threads = 0;
  bool json = false, all = false, quiet = false, as_is = false;
};

// What counts as right unless somebody says otherwise: sums of products in another order; products rounded to bf16, or
// to 8 bits.
double usual_tolerance(runtime::NetPrecision precision, bool is_mixed) {
  return is_mixed ? 5e-2 : precision == runtime::NetPrecision::kBF16 ? 2e-2 : 1e-4;
}

Result<std::unique_ptr<compile::ValueSource>> expected_values(const CheckArguments& a,
                                                              const compile::NetworkSession& session,
                                                              const compile::PlainGraph& plain, ThreadPool& pool) {
  if (a.against == "reference") return compile::reference_values(plain.graph, plain.storage);
  if (a.against == "onnxruntime") {
    if (session.is_engine)
      return invalid_argument("onnxruntime runs ONNX files, and '{}' is an engine; check the file against the engine",
                              a.session.model);
    return onnxruntime_values(a.session.model, a.python);
  }
  NEREID_TRY(const std::string path, resolve_model(a.against));
  if (!compile::is_network(compile::model_kind(path)))
    return invalid_argument(
        "'{}' is neither an ONNX file nor the engine of a network; --against takes one of these, "
        "or reference, or onnxruntime",
        a.against);
  compile::NetworkOptions options{.import = {}, .disabled_passes = {}, .isa = {}};
  for (const auto& [name, value] : session.values) {
    options.import.overridden.insert(name);
    if (value.is_tensor()) options.import.shapes.emplace(name, value.tensor.sizes);
  }
  if (compile::model_kind(path) == ModelKind::kNetworkEngine) options.import.overridden.clear();
  NEREID_TRY(compile::OpenedNetwork other, compile::open_network(path, options, pool));
  return compile::network_values(std::move(other), path, pool);
}

Result<Checked> check(const CheckArguments& a, const PrecisionOptions& precisions) {
  ThreadPool pool({.threads = a.threads});
  NEREID_TRY(compile::NetworkSession session, compile::open_session(a.session, pool));
  if (precisions.is_mixed()) {
    NEREID_TRY(const compile::MixedOptions wanted, precisions.mixed());
    NEREID_RETURN_IF_ERROR(compile::mix_session(session, a.session.model, wanted, pool));
  }
  for (const std::string& warning : session.network.warnings) log_warn("{}", warning);
  if (!a.quiet)
    for (const std::string& remark : session.remarks) log_info("{}", remark);
  NEREID_TRY(const compile::PlainGraph plain, compile::plain_graph(a.session.model, session));
  NEREID_TRY(const std::unique_ptr<compile::ValueSource> expected, expected_values(a, session, plain, pool));
  Checked out{.model = a.session.model, .against = expected->what(), .report = {}};
  const runtime::NetPrecision precision = session.network.network->precision();
  out.tolerance = {.relative = a.rtol.value_or(usual_tolerance(precision, precisions.is_mixed())),
                   .absolute = a.atol.value_or(compile::Tolerance().absolute)};
  NEREID_TRY(
      out.report,
      compile::check_network(
          {.network = session.network, .plain = plain.graph, .inputs = session.values, .tolerance = out.tolerance},
          *expected, pool));
  return out;
}

Status look_at(CheckArguments& a, const PrecisionOptions& precisions) {
  if (!precisions.is_mixed()) {
    NEREID_TRY(a.session.precision, precisions.precision());
  }
  for (const auto& [flag, value] : {std::pair("--rtol", a.rtol), std::pair("--atol", a.atol)})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      return invalid_argument("{} takes a number from 0, found {}", flag, *value);
  return Status::ok();
}

}  // namespace

int check_command(Arguments args) {
  CommandLine app(
      "Compares a network layer by layer with another way to compute it, and names the first layer past the "
      "tolerance.",
      "nereid check");
  CheckArguments a;
  app.add_option("MODEL", a.session.model,
                 "an ONNX file, its engine, or a name that `nereid models` lists; of a model repository, a folder, the "
                 "mistakes "
                 "are listed, and nothing runs")
      ->required();
  app.add_option("--against", a.against,
                 "reference: every node of the file by its plain evaluator; onnxruntime: that package in a Python "
                 "process; else another ONNX file or engine with the same inputs and outputs")
      ->capture_default_str();
  app.add_texts("--inputs", a.session.inputs,
                "NAME=FILE,NAME=FILE or @FILE.json, as for `nereid infer`; what is not given gets random numbers");
  app.add_option("--seed", a.session.seed, "of the random inputs")->capture_default_str();
  app.add_texts("--shapes", a.session.shapes,
                "NAME:1x3x224x224,NAME:...; sizes that the model leaves open are 1 where nothing is said; repeatable");
  app.add_option("--rtol", a.rtol,
                 "how large an error may be as a share of the range of the expected values (1e-4; 2e-2 in bf16, 5e-2 "
                 "in int8)");
  app.add_option("--atol", a.atol, "how large an error may be besides (1e-6)");
  PrecisionOptions precisions(app);
  app.add_option("--python", a.python, "the Python that has onnxruntime")->capture_default_str();
  app.add_option("--threads", a.threads, "how many threads compute; 0: as many as there are cores");
  app.add_flag("--no-optimise", a.as_is, "check the nodes of the file one by one, as it has them");
  app.add_flag("--all", a.all, "list every value, however many there are");
  app.add_flag("--json", a.json, "one JSON object on stdout");
  app.add_flag("--quiet", a.quiet, "nothing on stdout but what is past the tolerance");
  if (const auto code = parse(app, args)) return *code;
  if (server::looks_like_repository(a.session.model)) return check_repository(a.session.model, a.json);

  if (const Status status = look_at(a, precisions); !status.is_ok()) return fail(status);
  const Result<std::string> path = resolve_model(a.session.model);
  if (!path.is_ok()) return fail(path.status());
  a.session.model = *path;
  a.session.optimise = !a.as_is;
  const Result<Checked> checked = check(a, precisions);
  if (!checked.is_ok()) return fail(checked.status());
  const std::string text = a.json    ? check_json(*checked).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                           : a.quiet ? verdict_text(*checked)
                                     : check_text(*checked, a.all);
  if (!(a.quiet && !checked->report.first))
    if (const Status written = write_out(text); !written.is_ok()) return fail(written);
  return checked->report.first ? kFailed : kDone;
}

}  // namespace nereid::cli
