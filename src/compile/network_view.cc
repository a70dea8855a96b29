// SPDX-License-Identifier: Apache-2.0
#include "compile/network_view.h"

#include <algorithm>
#include <filesystem>

#include "compile/describe.h"
#include "compile/model_kind.h"
#include "graph/text.h"

namespace nereid::compile {
namespace {

using ImportOptions = import::onnx::ImportOptions;

std::string file_name(const std::string& path) {
  const std::filesystem::path p(path);
  return p.has_filename() ? p.filename().string() : p.parent_path().filename().string();
}

// What the passes start from.
Status read_before(NetworkView& view, const std::string& path, const ImportOptions& options,
                   std::vector<std::shared_ptr<const void>>& kept) {
  NEREID_TRY(import::onnx::OnnxModel model, import::onnx::import_file(path, options));
  view.before = std::move(model.graph);
  kept.push_back(std::move(model.storage));
  NEREID_TRY(view.sources, import::onnx::source_nodes(path));
  return Status::ok();
}

// Inputs whose sizes the model leaves open, as a sentence; empty: none.
std::string open_sizes(const std::vector<NamedType>& inputs) {
  for (const NamedType& in : inputs)
    if (in.type.is_tensor() && !in.type.shape.elements())
      return fmt::format(
          "the model leaves sizes of the input '{}' open ({}), so kernels are not chosen: give them with --shapes",
          in.name, in.type.to_string());
  return {};
}

void take_network(NetworkView& view, const OpenedNetwork& opened) {
  view.inputs = opened.inputs;
  view.outputs = opened.outputs;
  view.after = opened.network->graph();
  view.isa = isa_name(opened.network->kernels().isa);
  view.precision = precision_name(opened.network->precision());
  view.passes = summarize_passes(opened.passes);
  view.remarks.insert(view.remarks.begin(), opened.warnings.begin(), opened.warnings.end());
}

std::shared_ptr<const void> keep(std::vector<std::shared_ptr<const void>> parts) {
  return std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(parts));
}

// As open_session imports the file.
Result<ImportOptions> import_options(const NetworkSession& session, const ViewOptions& view, const InputShapes& given) {
  NEREID_TRY(const InputFiles files, parse_input_files(view.inputs));
  ImportOptions options;
  for (const auto& [name, file] : files) options.overridden.insert(name);
  for (const auto& [name, sizes] : given)
    if (name.find('*') == std::string::npos) options.overridden.insert(name);
  for (const auto& [name, value] : session.values)
    if (value.is_tensor()) options.shapes.emplace(name, value.tensor.sizes);
  return options;
}

// An engine keeps what the passes did to what it was made of.
Status read_engine_passes(NetworkView& view, const std::string& path) {
  NEREID_TRY(const engine::EngineFile file, engine::EngineFile::open(path));
  view.passes = passes_from_info(file.info());
  return Status::ok();
}

Result<NetworkView> view_session(NetworkView view, const ViewOptions& options, const InputShapes& given,
                                 ThreadPool& pool) {
  NEREID_TRY(const NetworkSession session, open_session({.model = options.model,
                                                         .inputs = options.inputs,
                                                         .shapes = options.shapes,
                                                         .precision = options.precision,
                                                         .isa = {}},
                                                        pool));
  view.remarks = session.remarks;
  take_network(view, session.network);
  std::vector<std::shared_ptr<const void>> kept = {session.network.network};
  if (session.is_engine) {
    NEREID_RETURN_IF_ERROR(read_engine_passes(view, options.model));
  } else {
    NEREID_TRY(const ImportOptions same, import_options(session, options, given));
    NEREID_RETURN_IF_ERROR(read_before(view, options.model, same, kept));
  }
  NEREID_TRY(view.account, account_network(session, pool, options.account));
  view.storage = keep(std::move(kept));
  return view;
}

Result<NetworkView> view_network(NetworkView view, const ViewOptions& options, ThreadPool& pool) {
  NEREID_TRY(const InputShapes given, parse_input_shapes(options.shapes));
  if (options.guess_sizes || !given.empty() || !options.inputs.empty()) {
    Result<NetworkView> seen = view_session(std::move(view), options, given, pool);
    if (seen.is_ok() || !given.empty() || seen.status().code() != StatusCode::kInvalidArgument) return seen;
    return seen.status().with("with sizes of 1 where the model leaves them open (--shapes gives others)");
  }
  NEREID_TRY(const OpenedNetwork opened,
             open_network(options.model,
                          {.import = {}, .disabled_passes = {}, .precision = options.precision, .isa = {}}, pool));
  const std::string open = open_sizes(opened.inputs);
  if (open.empty()) return view_session(std::move(view), options, given, pool);
  take_network(view, opened);
  std::vector<std::shared_ptr<const void>> kept = {opened.network};
  NEREID_RETURN_IF_ERROR(view.kind == "engine" ? read_engine_passes(view, options.model)
                                               : read_before(view, options.model, {}, kept));
  view.account = account_graph(view.after, open);
  view.storage = keep(std::move(kept));
  return view;
}

Result<NetworkView> view_language_model(NetworkView view, const ViewOptions& options, bool is_engine) {
  view.kind = is_engine ? "engine of a language model" : "language model";
  if (!is_engine) {
    NEREID_TRY(const std::string text, graph_text(options.model, GraphStage::kImported));
    NEREID_TRY(view.before, graph::parse(text).with("the graph as imported"));
  }
  NEREID_TRY(const std::string text, graph_text(options.model, GraphStage::kFused));
  NEREID_TRY(view.after, graph::parse(text).with("the graph after the passes"));
  for (const graph::ValueId id : view.after.inputs())
    view.inputs.push_back({view.after.value(id).name, view.after.value(id).type});
  for (const graph::ValueId id : view.after.outputs())
    view.outputs.push_back({view.after.value(id).name, view.after.value(id).type});
  view.account =
      account_graph(view.after, "a language model is measured with `nereid bench MODEL --profile`, not here");
  return view;
}

NetworkView empty_view(const ViewOptions& options, std::string kind) {
  NetworkView view;
  view.file = file_name(options.model);
  view.kind = std::move(kind);
  return view;
}

void add_choices(NetworkAccount& account, std::span<const tune::LayerChoice> choices) {
  for (LayerAccount& layer : account.layers) {
    const auto it = std::ranges::find(choices, fmt::format("{} %{}", layer.op, layer.name), &tune::LayerChoice::layer);
    if (!layer.path.empty() || it == choices.end()) continue;
    layer.chosen_because = it->choice.reason;
    for (const tune::TimedTactic& one : it->choice.timed)
      layer.candidates.push_back({.tactic = one.tactic, .ms = one.us / 1e3, .given_up = one.given_up});
  }
}

}  // namespace

Result<NetworkView> view_model(const ViewOptions& options, ThreadPool& pool) {
  const ModelKind kind = model_kind(options.model);
  NetworkView view = empty_view(options, kind == ModelKind::kNetworkEngine ? "engine" : "ONNX file");
  if (is_network(kind)) return view_network(std::move(view), options, pool);
  if (!options.shapes.empty() || !options.inputs.empty() || options.account.runs > 0)
    return invalid_argument("{} is no network: --shapes, --inputs and --profile are for ONNX files and their engines",
                            options.model);
  return view_language_model(std::move(view), options, kind == ModelKind::kEngine);
}

Result<NetworkView> view_build(const ViewOptions& options, const NetworkOptions& built, NetworkBuild build,
                               std::span<const tune::LayerChoice> choices, ThreadPool& pool) {
  NetworkView view = empty_view(options, "ONNX file");
  NetworkSession session{.network = std::move(build.opened), .values = {}, .remarks = {}};
  std::vector<InputType> types;
  for (const NamedType& in : session.network.inputs) types.push_back({in.name, in.type});
  NEREID_TRY(session.values, read_inputs(types, {}, complete_shapes(types, built.import.shapes, session.remarks), 1));
  view.remarks = session.remarks;
  take_network(view, session.network);
  std::vector<std::shared_ptr<const void>> kept = {session.network.network};
  NEREID_RETURN_IF_ERROR(read_before(view, options.model, built.import, kept));
  NEREID_TRY(view.account, account_network(session, pool, options.account));
  add_choices(view.account, choices);
  view.storage = keep(std::move(kept));
  return view;
}

}  // namespace nereid::compile
