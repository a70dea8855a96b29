// SPDX-License-Identifier: Apache-2.0
#include "compile/network_refit.h"

#include <filesystem>
#include <map>
#include <set>

#include "compile/choose_kernels.h"
#include "compile/mixed_network.h"

namespace nereid::compile {
namespace {

using import::onnx::SourceWeight;

// A text of the info; `otherwise` where there is none.
std::string text_of(const Json& object, std::string_view key, const char* otherwise) {
  const Json* found = object.is_object() ? json_find(object, key) : nullptr;
  return found != nullptr && found->is_string() ? found->get<std::string>() : otherwise;
}

Status damaged(const engine::EngineFile& file) {
  return invalid_argument("{} does not say what it was made of: it is of an older Nereid; build it anew", file.path());
}

Result<engine::EngineFile> open_network_engine(const std::string& path) {
  NEREID_TRY(engine::EngineFile file, engine::EngineFile::open(path));
  if (text_of(file.info(), "kind", "") != "network")
    return invalid_argument("{} is no engine of a network: only those can be stripped and refitted", path);
  return file;
}

Result<std::vector<SourceWeight>> read_weights(const engine::EngineFile& file, const Json& refit) {
  const Json* list = json_find(refit, "weights");
  if (list == nullptr || !list->is_array()) return damaged(file);
  std::vector<SourceWeight> out;
  for (const Json& row : *list) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_string()) return damaged(file);
    out.push_back({row[0].get<std::string>(), row[1].get<std::string>()});
  }
  return out;
}

// How the engine's file was read. Whatever is missing is as it is by default.
Result<NetworkOptions> read_options(const engine::EngineFile& file, const Json& refit) {
  NetworkOptions out;
  NEREID_TRY(out.precision, precision_from_name(text_of(file.info(), "precision", "f32")));
  const auto texts = [&](const char* key, std::set<std::string, std::less<>>& into) {
    if (const Json* list = json_find(refit, key); list != nullptr && list->is_array())
      for (const Json& one : *list)
        if (one.is_string()) into.insert(one.get<std::string>());
  };
  texts("overridden", out.import.overridden);
  texts("disabled_passes", out.disabled_passes);
  if (const Json* optimised = json_find(refit, "optimised"); optimised != nullptr && optimised->is_boolean())
    out.optimise = optimised->get<bool>();
  if (const Json* shapes = json_find(refit, "shapes"); shapes != nullptr && shapes->is_object())
    for (const auto& [name, sizes] : shapes->items()) {
      if (!sizes.is_array()) return damaged(file);
      std::vector<int64_t>& into = out.import.shapes[name];
      for (const Json& size : sizes) {
        if (!size.is_number_integer()) return damaged(file);
        into.push_back(size.get<int64_t>());
      }
    }
  return out;
}

Status check_weights(const std::vector<SourceWeight>& wanted, std::span<const SourceWeight> found,
                     const std::string& onnx) {
  std::map<std::string_view, std::string_view> there;
  for (const SourceWeight& w : found) there.emplace(w.name, w.type);
  for (const SourceWeight& w : wanted) {
    const auto it = there.find(w.name);
    if (it == there.end())
      return invalid_argument("{} has no weight '{}' ({}), which the engine was built with", onnx, w.name, w.type);
    if (it->second != w.type)
      return invalid_argument("the weight '{}' is {} in {}, but the engine was built with {}", w.name, it->second, onnx,
                              w.type);
    there.erase(it);
  }
  for (const SourceWeight& w : found)
    if (there.contains(w.name))
      return invalid_argument("{} has the weight '{}' ({}), which the engine was built without", onnx, w.name, w.type);
  return Status::ok();
}

// A line of the graph's text without a constant's numbers, which are weights if they are reals.
std::string_view without_numbers(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos || !line.substr(first).starts_with("const ")) return line;
  const size_t equals = line.rfind(" = [");
  return equals != std::string_view::npos && line.substr(0, equals).find(": f32[") != std::string_view::npos
             ? line.substr(0, equals)
             : line;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? "nothing" : line.substr(first);
}

Status same_graph(std::string_view wanted, std::string_view found, const std::string& onnx) {
  while (!wanted.empty() || !found.empty()) {
    const std::string_view a = without_numbers(take_line(wanted)), b = without_numbers(take_line(found));
    if (a != b)
      return invalid_argument(
          "the weights of {} fit, but its network is another one: where the engine has `{}`, it has `{}`; build an "
          "engine of it",
          onnx, trimmed(a), trimmed(b));
  }
  return Status::ok();
}

// The file's network with the engine's mix of precisions.
Result<OpenedNetwork> open_as(const engine::EngineFile& file, const Json& refit, const std::string& onnx,
                              const NetworkOptions& options) {
  const Json* mix = json_find(refit, "mix");
  if (mix == nullptr) return open_network(onnx, options);
  const Json *precisions = json_find(*mix, "precisions"), *ranges = json_find(*mix, "ranges");
  if (precisions == nullptr || !precisions->is_object() || ranges == nullptr || !ranges->is_object())
    return damaged(file);
  NEREID_TRY(MixedNetwork mixed, MixedNetwork::open(onnx, options));
  calibrate::TensorRanges known;
  for (const auto& [name, range] : ranges->items()) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number()) return damaged(file);
    known[name] = {.least = range[0].get<double>(), .most = range[1].get<double>()};
  }
  mixed.set_ranges(std::move(known));
  calibrate::PrecisionMix chosen;
  for (const MixedNetwork::Layer& layer : mixed.layers()) {
    const Json* name = json_find(*precisions, layer.name);
    const bool is_text = name != nullptr && name->is_string();
    const calibrate::LayerPrecision precision = !is_text                             ? calibrate::LayerPrecision::kF32
                                                : name->get<std::string>() == "int8" ? calibrate::LayerPrecision::kInt8
                                                                                     : calibrate::LayerPrecision::kBF16;
    // What cannot be as it was shows in the graph, which is compared.
    chosen.push_back(mixed.can_be(layer, precision) ? precision : calibrate::LayerPrecision::kF32);
  }
  return mixed.with(chosen);
}

// Kernels that were timed on this machine stay as they are, and what was measured is kept for the same weights.
void keep_choices(const engine::EngineFile& file, const Json& refit, OpenedNetwork& opened) {
  runtime::NetChoices choices = choices_of_engine(file.info(), opened.network->kernels().isa, opened.warnings);
  if (!choices.empty()) {
    opened.network = opened.network->with_choices(std::move(choices));
    opened.tactics = file.info().at("tactics").dump();
  }
  const Json *accuracy = json_find(file.info(), "accuracy"), *fingerprint = json_find(refit, "fingerprint");
  if (accuracy == nullptr || fingerprint == nullptr || !fingerprint->is_string()) return;
  opened.certificate = accuracy->dump();
  opened.certified = fingerprint->get<std::string>();
}

}  // namespace

Result<Json> refit_info(const OpenedNetwork& opened, const NetworkOptions& options) {
  Json weights = Json::array();
  for (const SourceWeight& w : opened.weights) weights.push_back(Json::array({w.name, w.type}));
  Json info = {{"weights", std::move(weights)}};
  if (!options.import.shapes.empty()) info["shapes"] = options.import.shapes;
  if (!options.import.overridden.empty()) info["overridden"] = options.import.overridden;
  if (!options.disabled_passes.empty()) info["disabled_passes"] = options.disabled_passes;
  if (!options.optimise) info["optimised"] = false;
  if (!opened.mix.empty()) {
    NEREID_TRY(info["mix"], parse_json(opened.mix));
  }
  return info;
}

bool is_stripped(const Json& info) {
  const Json* stripped = json_find(info, kStrippedKey);
  return stripped != nullptr && stripped->is_boolean() && stripped->get<bool>();
}

Status stripped_refusal(const engine::EngineFile& file) {
  const Json* source = json_find(file.info(), "source");
  const std::string model = source == nullptr ? "" : text_of(*source, "file", "");
  return invalid_argument(
      "{} is an engine without weights; `nereid refit {} --weights {} -o OUT` gives it those of the file it was built "
      "from, or of another one of the same architecture",
      file.path(), file.path(), model.empty() ? "MODEL.onnx" : model);
}

Result<NetworkBuild> refit_network(const std::string& engine, const std::string& onnx, const std::string& result,
                                   const NetworkOptions& options, ThreadPool& pool, const BuildProgress& progress) {
  NEREID_TRY(const engine::EngineFile file, open_network_engine(engine));
  const Json* refit = json_find(file.info(), "refit");
  if (refit == nullptr || !refit->is_object()) return damaged(file);
  NEREID_TRY(const std::vector<SourceWeight> wanted, read_weights(file, *refit));
  NEREID_TRY(NetworkOptions read, read_options(file, *refit));
  read.isa = options.isa;
  read.stop = options.stop;
  read.import.check_weights = [&](std::span<const SourceWeight> found) { return check_weights(wanted, found, onnx); };
  if (progress) progress("reading and optimising", 0, 0);
  NEREID_TRY(OpenedNetwork opened, open_as(file, *refit, onnx, read));
  NEREID_RETURN_IF_ERROR(same_graph(file.graph_text(), graph::print(opened.network->graph(), engine_text()), onnx));
  keep_choices(file, *refit, opened);
  return write_network(std::move(opened), std::filesystem::path(onnx).filename().string(), result, read, pool,
                       progress);
}

Result<std::vector<SourceWeight>> refittable_weights(const std::string& engine) {
  NEREID_TRY(const engine::EngineFile file, open_network_engine(engine));
  const Json* refit = json_find(file.info(), "refit");
  if (refit == nullptr || !refit->is_object()) return damaged(file);
  return read_weights(file, *refit);
}

Status strip_network(const std::string& engine, const std::string& result) {
  NEREID_TRY(const engine::EngineFile file, open_network_engine(engine));
  NEREID_TRY(engine::EngineWriter writer, engine::EngineWriter::create(result));
  for (const engine::WeightEntry& w : file.weights()) NEREID_RETURN_IF_ERROR(writer.begin_weight(w.name, w.layout));
  Json info = file.info();
  info.erase("weights");
  info[kStrippedKey] = true;
  return writer.commit(std::move(info), file.graph_text(), file.metadata());
}

}  // namespace nereid::compile
