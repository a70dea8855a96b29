// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_files.h"

#include "base/clock.h"
#include "compile/infer_inputs.h"
#include "compile/infer_outputs.h"
#include "compile/network.h"

namespace nereid::compile {
namespace {

using Values = std::map<std::string, ops::Datum, std::less<>>;

std::vector<InputType> inputs_of(const OpenedNetwork& model) {
  std::vector<InputType> inputs;
  for (const NamedType& in : model.inputs) inputs.push_back({in.name, in.type});
  return inputs;
}

Result<std::vector<InferredValue>> write_outputs(const OpenedNetwork& model, const runtime::NetContext& context,
                                                 OutputFolder& folder) {
  std::vector<InferredValue> outputs;
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const NamedType& declared = model.outputs[i];
    NEREID_TRY(InferredValue written, folder.write(declared.name, context.output_value(i), declared.type)
                                          .with(fmt::format("the output '{}'", declared.name)));
    outputs.push_back(std::move(written));
  }
  NEREID_RETURN_IF_ERROR(folder.commit(outputs));
  return outputs;
}

}  // namespace

Result<InferReport> infer_files(const InferRequest& request) {
  InferReport report;
  OutputFolder folder(request.outputs);
  NEREID_TRY(const InputFiles files, parse_input_files(request.inputs));
  std::vector<std::string> in_use;
  for (const auto& [name, file] : files) in_use.push_back(file);
  NEREID_RETURN_IF_ERROR(folder.prepare(in_use));
  NEREID_TRY(const InputShapes shapes, parse_input_shapes(request.shapes));

  const int64_t start_ns = now_ns();
  NEREID_TRY(const runtime::NetPrecision precision, precision_from_name(request.precision));
  NetworkOptions options{
      .import = {.shapes = shapes}, .optimise = request.optimise, .precision = precision, .frees_weights = true};
  for (const auto& [name, file] : files) options.import.overridden.insert(name);
  ThreadPool pool({.threads = request.threads});
  NEREID_TRY(const OpenedNetwork model, open_network(request.model, options, pool));
  report.warnings = model.warnings;
  const std::vector<InputType> inputs = inputs_of(model);
  NEREID_TRY(const Values values, read_inputs(inputs, files, shapes, request.random_seed));
  const std::unique_ptr<runtime::NetContext> context = runtime::NetContext::create(model.network, pool);
  for (size_t i = 0; i < inputs.size(); ++i)
    NEREID_RETURN_IF_ERROR(context->set_input(i, values.find(inputs[i].name)->second));
  const int64_t loaded_ns = now_ns();
  NEREID_RETURN_IF_ERROR(context->run());
  const int64_t done_ns = now_ns();
  NEREID_TRY(report.outputs, write_outputs(model, *context, folder));
  report.load_ms = static_cast<double>(loaded_ns - start_ns) / 1e6;
  report.run_ms = static_cast<double>(done_ns - loaded_ns) / 1e6;
  return report;
}

nlohmann::ordered_json outputs_json(const std::vector<InferredValue>& outputs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const InferredValue& one : outputs) {
    nlohmann::ordered_json row = {{"name", one.name}, {"file", one.file}, {"type", one.type}, {"dtype", one.dtype}};
    row["shape"] = one.sizes ? nlohmann::ordered_json(*one.sizes) : nlohmann::ordered_json();
    if (one.length) row["length"] = *one.length;
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace nereid::compile
