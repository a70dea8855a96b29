// SPDX-License-Identifier: Apache-2.0
#include "compile/infer_files.h"

#include "base/clock.h"
#include "compile/infer_inputs.h"
#include "compile/infer_outputs.h"
#include "graph/evaluate.h"
#include "import/onnx/onnx_model.h"

namespace nereid::compile {
namespace {

using Values = std::map<std::string, ops::Datum, std::less<>>;

std::vector<InputType> inputs_of(const import::onnx::OnnxModel& model) {
  std::vector<InputType> inputs;
  for (const graph::ValueId id : model.graph.inputs()) {
    const graph::Value& value = model.graph.value(id);
    inputs.push_back({value.name, value.type});
  }
  return inputs;
}

Result<std::vector<InferredValue>> write_outputs(const import::onnx::OnnxModel& model,
                                                 const std::vector<ops::Datum>& values, OutputFolder& folder) {
  std::vector<InferredValue> outputs;
  const auto& ids = model.graph.outputs();
  if (values.size() != ids.size())
    return internal("the run gave {} values for the model's {} outputs", values.size(), ids.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const graph::Value& declared = model.graph.value(ids[i]);
    const std::string& name = model.output_names.size() == ids.size() ? model.output_names[i] : declared.name;
    NEREID_TRY(InferredValue written,
               folder.write(name, values[i], declared.type).with(fmt::format("the output '{}'", name)));
    outputs.push_back(std::move(written));
  }
  NEREID_RETURN_IF_ERROR(folder.commit(outputs));
  return outputs;
}

}  // namespace

Result<InferReport> infer_files(const InferRequest& request) {
  InferReport report;
  OutputFolder folder(request.outputs);
  NEREID_RETURN_IF_ERROR(folder.prepare());
  NEREID_TRY(const InputFiles files, parse_input_files(request.inputs));
  NEREID_TRY(const InputShapes shapes, parse_input_shapes(request.shapes));

  const int64_t start_ns = now_ns();
  import::onnx::ImportOptions options{.shapes = shapes};
  for (const auto& [name, file] : files) options.overridden.insert(name);
  NEREID_TRY(const import::onnx::OnnxModel model, import::onnx::import_file(request.model, options));
  report.warnings = model.warnings;
  const std::vector<InputType> inputs = inputs_of(model);
  NEREID_TRY(const Values values, read_inputs(inputs, files, shapes, request.random_seed));
  const int64_t loaded_ns = now_ns();
  NEREID_TRY(const std::vector<ops::Datum> results, graph::evaluate_any(model.graph, values));
  const int64_t done_ns = now_ns();
  NEREID_TRY(report.outputs, write_outputs(model, results, folder));
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
