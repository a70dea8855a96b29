// SPDX-License-Identifier: Apache-2.0
#include "compile/describe_onnx.h"

#include <algorithm>

#include "graph/text.h"
#include "import/onnx/model_facts.h"
#include "import/onnx/onnx_model.h"
#include "passes/pipeline.h"

namespace nereid::compile {
namespace {

DescribedValue text_value(std::string key, std::string text) {
  return {.key = std::move(key), .value = Json(std::move(text))};
}

DescribedNetwork describe_network(const import::onnx::ModelFacts& facts,
                                  const std::vector<import::onnx::Coverage>& coverage) {
  DescribedNetwork out;
  for (const auto& in : facts.inputs) out.inputs.emplace_back(in.name, in.type);
  for (const auto& o : facts.outputs) out.outputs.emplace_back(o.name, o.type);
  for (const auto& line : coverage) {
    out.operators.push_back({line.domain, line.name, line.version, line.nodes, line.refusal});
    out.nodes += line.nodes;
  }
  return out;
}

}  // namespace

int64_t DescribedNetwork::refused_nodes() const {
  int64_t sum = 0;
  for (const DescribedOperator& op : operators) sum += op.refusal.empty() ? 0 : op.nodes;
  return sum;
}

Result<Description> describe_onnx(const std::string& path, const DescribeOptions&) {
  NEREID_TRY(const import::onnx::ModelFacts facts, import::onnx::model_facts(path));
  NEREID_TRY(const std::vector<import::onnx::Coverage> coverage, import::onnx::coverage(path));
  Description d{.path = path, .format = fmt::format("ONNX version {}", facts.ir_version), .label = {}, .files = {path}};
  for (const import::onnx::StoredTensor& t : facts.tensors) {
    d.tensors.push_back({.name = t.name, .dtype = t.dtype, .sizes = t.sizes, .bytes = t.bytes, .layout = {}});
    if (!t.file.empty() && std::ranges::find(d.files, t.file) == d.files.end()) d.files.push_back(t.file);
  }
  d.network = describe_network(facts, coverage);
  d.model = {{"producer", facts.producer}, {"graph", facts.graph}};
  for (const auto& [domain, version] : facts.opsets) d.model["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  if (!facts.domain.empty()) d.model["domain"] = facts.domain;
  if (facts.model_version != 0) d.model["model_version"] = facts.model_version;
  d.model["nodes"] = facts.nodes;
  d.model["functions"] = facts.functions;
  if (!facts.description.empty()) d.metadata.push_back(text_value("doc_string", facts.description));
  for (const auto& [key, value] : facts.metadata) d.metadata.push_back(text_value(key, value));
  for (const DescribedOperator& op : d.network->operators)
    if (!op.refusal.empty()) d.problems.push_back(op.refusal);
  return d;
}

DescribedNetwork describe_engine_network(Json& info) {
  const auto take = [&](const char* key) {
    std::vector<std::pair<std::string, std::string>> values;
    if (const Json* list = json_find(info, key); list != nullptr && list->is_array())
      for (const Json& one : *list)
        if (one.is_object()) values.emplace_back(one.value("name", ""), one.value("type", ""));
    info.erase(key);
    return values;
  };
  DescribedNetwork out;
  out.inputs = take("inputs");
  out.outputs = take("outputs");
  info.erase("aliases");
  info.erase("passes");  // `nereid explain` has them
  info.erase("refit");
  return out;
}

Result<std::string> onnx_graph_text(const std::string& path, GraphStage stage) {
  NEREID_TRY(import::onnx::OnnxModel model, import::onnx::import_file(path));
  if (stage == GraphStage::kFused) {
    const Result<passes::Report> report = passes::run_network_pipeline(model.graph);
    if (!report.is_ok()) return report.status();
  }
  return graph::print(model.graph);
}

}  // namespace nereid::compile
