// SPDX-License-Identifier: Apache-2.0
#include "compile/describe.h"

#include <algorithm>
#include <map>

#include "base/interrupt.h"
#include "compile/arch_source.h"
#include "compile/describe_onnx.h"
#include "compile/describe_parts.h"
#include "compile/model_kind.h"
#include "compile/tokenizer_source.h"
#include "engine/engine_file.h"
#include "graph/text.h"
#include "import/safetensors/safetensors.h"
#include "llm/arch/build_model.h"
#include "passes/pipeline.h"

namespace nereid::compile {
namespace {

DescribedTensor described(std::string_view name, const ConstTensorView& view) {
  return {.name = std::string(name),
          .dtype = std::string(dtype_name(view.dtype)),
          .sizes = view.sizes,
          .bytes = view.bytes(),
          .layout = ""};
}

// Totals and label, once the tensors are there.
void sum_up(Description& d) {
  std::map<std::string, int64_t> bytes;
  for (const DescribedTensor& t : d.tensors) {
    d.tensor_bytes += t.bytes;
    d.parameters += t.elements();
    bytes[t.dtype] += t.bytes;
  }
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string architecture = d.model.is_object() ? d.model.value("architecture", "") : "";
  d.label = most == bytes.end() ? architecture : architecture.empty() ? most->first : architecture + " " + most->first;
}

void take_tokenizer(Result<token::TokenizerSpec> spec, Description& d) {
  if (spec.is_ok())
    d.tokenizer = describe_tokenizer(*spec);
  else
    d.problems.push_back(spec.status().message());
}

Result<Description> describe_source(const std::string& path, const DescribeOptions& options) {
  NEREID_TRY(const import::ModelSource source, import::open_model(path));
  Description d{.path = path,
                .format = source.gguf ? fmt::format("GGUF version {}", source.gguf->version) : "Hugging Face directory",
                .files = source.weight_paths()};
  if (source.gguf)
    d.metadata = describe_metadata(source.gguf->metadata, options.array_items);
  else
    d.metadata = describe_object(source.hf->config, options.array_items);
  // In the order of the file where there is one file.
  if (source.gguf)
    for (const auto& t : source.gguf->tensors) d.tensors.push_back(described(t.name, t.view));
  else
    for (const import::SourceTensor& t : source.tensors) d.tensors.push_back(described(t.name, t.view));

  const Result<llm::BuiltModel> model = llm::build_model(arch_input(source));
  if (model.is_ok()) {
    d.model = describe_config(model->config);
    if (std::string warning = model->warning(); !warning.empty()) d.problems.push_back(std::move(warning));
  } else {
    d.problems.push_back(model.status().message());
  }
  if (options.tokenizer) take_tokenizer(read_tokenizer(source), d);
  sum_up(d);
  return d;
}

Result<Description> describe_safetensors(const std::string& path, const DescribeOptions& options) {
  NEREID_TRY(const import::safetensors::SafetensorsFile file, import::safetensors::open(path).with("reading " + path));
  Description d{.path = path, .format = "safetensors file", .files = {path}};
  d.metadata = describe_metadata(file.metadata, options.array_items);
  for (const import::safetensors::Tensor& t : file.tensors) d.tensors.push_back(described(t.name, t.view));
  d.problems.emplace_back("the file holds tensors alone: what model they are is said by the config.json beside it");
  sum_up(d);
  return d;
}

Result<EngineChecks> verify_weights(const engine::EngineFile& file) {
  EngineChecks checks{.chunks = file.chunk_count()};
  std::vector<std::byte> chunk(static_cast<size_t>(engine::kChunkBytes));
  for (int64_t i = 0; i < checks.chunks; ++i) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_RETURN_IF_ERROR(file.read_chunk(i, chunk.data()));
  }
  checks.verified = true;
  return checks;
}

Result<Description> describe_engine(const std::string& path, const DescribeOptions& options) {
  NEREID_TRY(const engine::EngineFile file, engine::EngineFile::open(path));
  Description d{
      .path = path, .format = fmt::format("Nereid engine version {}", engine::kEngineVersion), .files = {path}};
  d.engine = file.info();
  d.engine.erase("weights");  // they are the tensors below
  if (const Json* model = json_find(d.engine, "model")) d.model = *model;

  const bool is_network = d.engine.value("kind", "") == "network";
  graph::Graph g("");
  // The graph of a network does not stand without its constants, and its info says what else there is to know.
  if (is_network) {
    d.network = describe_engine_network(d.engine);
  } else {
    NEREID_TRY(g, graph::parse(file.graph_text()).with("the engine's graph"));
  }
  for (const engine::WeightEntry& w : file.weights()) {
    DescribedTensor t{.name = w.name, .dtype = "", .sizes = {}, .bytes = w.bytes, .layout = w.layout};
    if (is_network)
      std::ranges::replace(t.name, '\x1f', ' ');
    else if (const graph::ValueId id = g.find_value(w.name); id.valid()) {
      t.dtype = dtype_name(g.value(id).type.dtype);
      if (g.value(id).type.shape.is_static()) t.sizes = g.value(id).type.shape.sizes();
    }
    d.tensors.push_back(std::move(t));
  }
  if (!is_network) {
    NEREID_TRY(const Metadata metadata, Metadata::parse(file.metadata()).with("the engine's metadata"));
    d.metadata = describe_metadata(metadata, options.array_items);
    if (options.tokenizer && token::TokenizerSpec::is_in(metadata))
      take_tokenizer(token::TokenizerSpec::from_metadata(metadata), d);
  }
  if (options.verify) {
    NEREID_TRY(d.checks, verify_weights(file).with("checking " + path));
  } else {
    d.checks = EngineChecks{.chunks = file.chunk_count()};
  }
  sum_up(d);
  return d;
}

}  // namespace

int64_t DescribedTensor::elements() const {
  return checked_product(sizes).value_or(0);
}

double Description::bits_per_weight() const {
  return parameters > 0 ? 8.0 * static_cast<double>(tensor_bytes) / static_cast<double>(parameters) : 0;
}

Result<Description> describe(const std::string& path, const DescribeOptions& options) {
  switch (model_kind(path)) {
    case ModelKind::kEngine:
    case ModelKind::kNetworkEngine:
      return describe_engine(path, options);
    case ModelKind::kSafetensors:
      return describe_safetensors(path, options);
    case ModelKind::kOnnx: {
      NEREID_TRY(Description d, describe_onnx(path, options));
      sum_up(d);
      return d;
    }
    case ModelKind::kOther:
      break;
  }
  return describe_source(path, options);
}

Result<std::string> graph_text(const std::string& path, GraphStage stage) {
  const ModelKind kind = model_kind(path);
  if (kind == ModelKind::kEngine || kind == ModelKind::kNetworkEngine) {
    if (stage == GraphStage::kImported)
      return unsupported("the engine '{}' holds the graph after the passes only; ask for that one", path);
    NEREID_TRY(const engine::EngineFile file, engine::EngineFile::open(path));
    if (kind == ModelKind::kNetworkEngine) return std::string(file.graph_text());
    NEREID_TRY(const graph::Graph g, graph::parse(file.graph_text()).with("the engine's graph"));
    return graph::print(g);
  }
  if (kind == ModelKind::kOnnx) return onnx_graph_text(path, stage);
  NEREID_TRY(const import::ModelSource source, import::open_model(path));
  NEREID_TRY(llm::BuiltModel model, llm::build_model(arch_input(source)));
  if (stage == GraphStage::kFused) NEREID_RETURN_IF_ERROR(passes::run_pipeline(model.graph));
  return graph::print(model.graph);
}

}  // namespace nereid::compile
