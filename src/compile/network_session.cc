// SPDX-License-Identifier: Apache-2.0
#include "compile/network_session.h"

#include "base/clock.h"
#include "compile/model_kind.h"

namespace nereid::compile {
namespace {

std::vector<InputType> types_of(const std::vector<NamedType>& inputs) {
  std::vector<InputType> types;
  for (const NamedType& in : inputs) types.push_back({in.name, in.type});
  return types;
}

// As the file declares them, before any size is fixed.
Result<std::vector<InputType>> declared_inputs(const std::string& path, const import::onnx::ImportOptions& options) {
  NEREID_TRY(const import::onnx::OnnxModel model, import::onnx::import_file(path, options));
  std::vector<InputType> types;
  for (const graph::ValueId id : model.graph.inputs())
    types.push_back({model.graph.value(id).name, model.graph.value(id).type});
  return types;
}

// Names with one '*' stand for all inputs that fit and are not named otherwise.
InputShapes expand_names(std::span<const InputType> inputs, const InputShapes& given) {
  InputShapes out;
  for (const auto& [name, sizes] : given)
    if (name.find('*') == std::string::npos) out.emplace(name, sizes);
  for (const auto& [pattern, sizes] : given) {
    const size_t star = pattern.find('*');
    if (star == std::string::npos) continue;
    const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
    bool fits_one = false;
    for (const InputType& input : inputs) {
      if (input.name.size() < head.size() + tail.size() || !input.name.starts_with(head) || !input.name.ends_with(tail))
        continue;
      fits_one = true;
      out.emplace(input.name, sizes);
    }
    if (!fits_one) out.emplace(pattern, sizes);  // the reader of inputs says that there is none
  }
  return out;
}

Result<std::map<std::string, ops::Datum, std::less<>>> values_for(std::span<const InputType> declared,
                                                                  const InputFiles& files, const InputShapes& named,
                                                                  uint64_t seed, std::vector<std::string>& remarks) {
  const InputShapes given = expand_names(declared, named);
  // Files have sizes of their own: only what is random is given sizes here.
  std::vector<InputType> random;
  for (const InputType& input : declared)
    if (!files.contains(input.name) || given.contains(input.name)) random.push_back(input);
  return read_inputs(declared, files, complete_shapes(random, given, remarks), seed);
}

}  // namespace

InputShapes complete_shapes(std::span<const InputType> inputs, const InputShapes& given,
                            std::vector<std::string>& remarks) {
  std::map<std::string, int64_t, std::less<>> bound;
  for (const InputType& input : inputs) {
    const auto it = given.find(input.name);
    if (it == given.end() || static_cast<int>(it->second.size()) != input.type.shape.rank()) continue;
    for (int d = 0; d < input.type.shape.rank(); ++d)
      if (const Dim& dim = input.type.shape[d]; !dim.is_static() && !dim.is_unknown())
        bound.emplace(dim.symbol(), it->second[static_cast<size_t>(d)]);
  }
  InputShapes shapes = given;
  for (const InputType& input : inputs) {
    if (!input.type.is_tensor() || !input.type.shape.is_ranked() || shapes.contains(input.name)) continue;
    std::vector<int64_t> sizes;
    bool guessed = false;
    for (const Dim& dim : input.type.shape.dims()) {
      const auto it = bound.find(dim.symbol());
      const bool known = dim.is_static() || it != bound.end();
      guessed |= !known;
      sizes.push_back(dim.is_static() ? dim.size() : known ? it->second : 1);
    }
    if (guessed)
      remarks.push_back(
          fmt::format("the model leaves sizes of the input '{}' open ({}); {} is taken: give others with --shapes",
                      input.name, input.type.to_string(), Shape::of(sizes).to_string()));
    shapes.emplace(input.name, std::move(sizes));
  }
  return shapes;
}

Result<std::unique_ptr<runtime::NetContext>> NetworkSession::context(ThreadPool& pool) const {
  std::unique_ptr<runtime::NetContext> context = runtime::NetContext::create(network.network, pool);
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const auto it = values.find(network.inputs[i].name);
    NEREID_CHECK(it != values.end());
    NEREID_RETURN_IF_ERROR(context->set_input(i, it->second));
  }
  return context;
}

Result<NetworkSession> open_session(const SessionOptions& options, ThreadPool& pool) {
  NEREID_TRY(const InputFiles files, parse_input_files(options.inputs));
  NEREID_TRY(const InputShapes given, parse_input_shapes(options.shapes));
  NetworkSession session;
  NetworkOptions open{.import = {},
                      .optimise = options.optimise,
                      .disabled_passes = {},
                      .precision = options.precision,
                      .frees_weights = true,
                      .isa = options.isa,
                      .level = options.level,
                      .timing_cache = options.timing_cache};
  if (model_kind(options.model) == ModelKind::kNetworkEngine) {
    const int64_t start_ns = now_ns();
    NEREID_TRY(session.network, open_network(options.model, open, pool));
    session.open_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
    session.is_engine = true;
    NEREID_TRY(session.values,
               values_for(types_of(session.network.inputs), files, given, options.seed, session.remarks));
    return session;
  }
  for (const auto& [name, file] : files) open.import.overridden.insert(name);
  for (const auto& [name, sizes] : given)
    if (name.find('*') == std::string::npos) open.import.overridden.insert(name);
  NEREID_TRY(const std::vector<InputType> declared, declared_inputs(options.model, open.import));
  NEREID_TRY(session.values, values_for(declared, files, given, options.seed, session.remarks));
  for (const InputType& input : declared)
    if (const ops::Datum& value = session.values.find(input.name)->second; input.type.is_tensor() && value.is_tensor())
      open.import.shapes.emplace(input.name, value.tensor.sizes);
  const int64_t start_ns = now_ns();
  NEREID_TRY(session.network, open_network(options.model, open, pool));
  session.open_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  return session;
}

}  // namespace nereid::compile
