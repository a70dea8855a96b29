// SPDX-License-Identifier: Apache-2.0
#include "compile/network_engine.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "compile/network_refit.h"
#include "compile/pass_summary.h"

namespace nereid::compile {
namespace {

constexpr char kFormMark = '\x1f';  // between a constant's path and the name of a form; in no path
constexpr std::string_view kStrings = "strings";
const graph::PrintOptions kText{.inline_elements = 8, .all_attributes = true};

std::vector<std::byte> strings_as_bytes(const ConstTensorView& view) {
  std::vector<std::byte> out;
  const auto append = [&](const void* data, size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    out.insert(out.end(), first, first + size);
  };
  for (int64_t i = 0; i < view.elements(); ++i) {
    const std::string& text = view.as<std::string>()[i];
    const auto size = static_cast<uint64_t>(text.size());
    append(&size, sizeof(size));
    append(text.data(), text.size());
  }
  return out;
}

Result<ops::Tensor> strings_from_bytes(std::span<const std::byte> bytes, const ops::TensorType& type) {
  const Status damaged = invalid_argument("the texts of a constant are damaged");
  // Every text takes eight bytes at least: a small file asks for no huge tensor.
  if (*type.shape.elements() > static_cast<int64_t>(bytes.size() / 8)) return damaged;
  NEREID_TRY(ops::Tensor out, ops::Tensor::zeros(type.dtype, type.shape.sizes()));
  for (std::string& text : out.strings) {
    uint64_t size = 0;
    if (bytes.size() < sizeof(size)) return damaged;
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes = bytes.subspan(sizeof(size));
    if (size > bytes.size()) return damaged;
    text.assign(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return out;
}

Json named_types_json(const std::vector<NamedType>& values) {
  Json list = Json::array();
  for (const NamedType& v : values) list.push_back({{"name", v.name}, {"type", graph::print_type(v.type)}});
  return list;
}

class ConstantWriter {
 public:
  ConstantWriter(engine::EngineWriter& writer, NetworkBuild& build, const NetworkOptions& options,
                 const BuildProgress& progress)
      : writer_(writer), build_(build), options_(options), progress_(progress) {}

  Status write_all(const runtime::Network& network) {
    Status status;
    graph::visit_constants(network.graph(), [&](const std::string& path, const graph::Value& v) {
      if (status.is_ok()) status = write(path, v);
    });
    NEREID_RETURN_IF_ERROR(status);
    // Packed forms in the order of their constants, so that the file does not depend on addresses.
    std::vector<std::pair<std::string, std::span<const std::byte>>> forms;
    for (const runtime::Network::Ready& form : network.packed_forms()) {
      auto it = places_.upper_bound(static_cast<const std::byte*>(form.data));
      if (it == places_.begin()) continue;  // of bytes that are in the text
      --it;
      const auto offset = static_cast<const std::byte*>(form.data) - it->first;
      if (offset >= it->second.bytes) continue;
      forms.emplace_back(fmt::format("{}{}{}{}{}", it->second.path, kFormMark, offset, kFormMark, form.layout),
                         form.bytes);
    }
    std::ranges::sort(forms, {}, [](const auto& f) { return f.first; });
    for (const auto& [name, bytes] : forms) {
      NEREID_RETURN_IF_ERROR(check_interrupted());
      NEREID_RETURN_IF_ERROR(check_stop(options_));
      NEREID_RETURN_IF_ERROR(writer_.begin_weight(name, "packed"));
      if (options_.strip_weights) continue;
      NEREID_RETURN_IF_ERROR(writer_.write_weight(bytes));
      build_.packed_bytes += static_cast<int64_t>(bytes.size());
    }
    return Status::ok();
  }
  const Json& aliases() const { return aliases_; }
  // Of all constants and a text.
  std::string fingerprint(std::string_view text) const {
    std::vector<uint64_t> all = hashes_;
    all.push_back(xxhash64(std::as_bytes(std::span(text))));
    return fmt::format("{:016x}", xxhash64(std::as_bytes(std::span(all))));
  }

 private:
  struct Place {
    std::string path;
    int64_t bytes;
  };

  Status write(const std::string& path, const graph::Value& v) {
    if (v.data.parts.empty()) return internal("the constant %{} has no data", v.name);
    if (graph::is_inline(v, kText)) return Status::ok();
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_RETURN_IF_ERROR(check_stop(options_));
    if (v.type.dtype == DType::string) {
      NEREID_RETURN_IF_ERROR(writer_.begin_weight(path, std::string(kStrings)));
      const std::vector<std::byte> bytes = strings_as_bytes(v.data.parts[0]);
      hashes_.push_back(xxhash64(bytes));
      return options_.strip_weights ? Status::ok() : writer_.write_weight(bytes);
    }
    const auto* first = v.data.parts[0].as<std::byte>();
    if (v.data.parts.size() == 1) {
      const auto it = places_.find(first);
      if (it != places_.end() && it->second.bytes == v.data.parts[0].bytes()) {
        aliases_[path] = it->second.path;
        return Status::ok();
      }
      places_[first] = {path, v.data.parts[0].bytes()};
    }
    NEREID_RETURN_IF_ERROR(writer_.begin_weight(path, ""));
    for (const ConstTensorView& part : v.data.parts)
      hashes_.push_back(xxhash64({part.as<std::byte>(), static_cast<size_t>(part.bytes())}));
    if (options_.strip_weights) return Status::ok();
    for (const ConstTensorView& part : v.data.parts) {
      NEREID_RETURN_IF_ERROR(writer_.write_weight({part.as<std::byte>(), static_cast<size_t>(part.bytes())}));
      build_.constant_bytes += part.bytes();
      if (progress_) progress_("writing", build_.constant_bytes, 0);
    }
    return Status::ok();
  }

  engine::EngineWriter& writer_;
  NetworkBuild& build_;
  const NetworkOptions& options_;
  const BuildProgress& progress_;
  std::map<const std::byte*, Place> places_;
  std::vector<uint64_t> hashes_;
  Json aliases_ = Json::object();
};

// What a loaded network's constants point into.
struct EngineStorage {
  engine::EngineFile file;
  std::shared_ptr<const void> memory;
  std::deque<ops::Tensor> texts;
};

// A text of the info; `otherwise` where it is none.
std::string text_at(const Json& object, std::string_view key, const char* otherwise) {
  const Json* found = json_find(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : otherwise;
}

Result<std::vector<NamedType>> read_types(const Json& info, const char* key) {
  std::vector<NamedType> out;
  const auto list = info.find(key);
  if (list == info.end() || !list->is_array()) return invalid_argument("the engine's info lacks '{}'", key);
  for (const Json& entry : *list) {
    if (!entry.is_object() || !entry.contains("name") || !entry.at("name").is_string())
      return invalid_argument("the engine's '{}' are damaged", key);
    out.push_back({entry.at("name").get<std::string>(), {}});
  }
  return out;
}

}  // namespace

graph::PrintOptions engine_text() {
  return kText;
}

Result<NetworkBuild> build_network(const std::string& path, const std::string& engine, const NetworkOptions& options,
                                   ThreadPool& pool, const BuildProgress& progress) {
  const int64_t start_ns = now_ns();
  if (progress) progress("reading and optimising", 0, 0);
  NEREID_TRY(OpenedNetwork opened, open_network(path, options));
  NEREID_TRY(NetworkBuild build, write_network(std::move(opened), std::filesystem::path(path).filename().string(),
                                               engine, options, pool, progress));
  build.build_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  return build;
}

Result<NetworkBuild> write_network(OpenedNetwork opened, const std::string& source, const std::string& engine,
                                   const NetworkOptions& options, ThreadPool& pool, const BuildProgress& progress) {
  NetworkBuild build;
  const int64_t start_ns = now_ns();
  build.opened = std::move(opened);
  NEREID_RETURN_IF_ERROR(check_stop(options));
  NEREID_TRY(
      build.choices,
      choose_kernels(
          build.opened, pool,
          {.level = options.level, .timing_cache = options.timing_cache, .progress = progress, .stop = options.stop},
          build.notes));
  NEREID_TRY(engine::EngineWriter writer, engine::EngineWriter::create(engine));
  ConstantWriter constants(writer, build, options, progress);
  NEREID_RETURN_IF_ERROR(constants.write_all(*build.opened.network));
  Json info = {{"producer", "nereid"},
               {"kind", "network"},
               {"isa", std::string(isa_name(build.opened.network->kernels().isa))},
               {"precision", std::string(precision_name(build.opened.network->precision()))},
               {"source", {{"file", source}}},
               {"inputs", named_types_json(build.opened.inputs)},
               {"outputs", named_types_json(build.opened.outputs)},
               {"nodes", {{"imported", build.opened.nodes_imported}, {"optimised", build.opened.nodes_optimised}}},
               {"passes", passes_info(summarize_passes(build.opened.passes))},
               {"aliases", constants.aliases()}};
  NEREID_TRY(info["refit"], refit_info(build.opened, options));
  if (options.strip_weights) info[kStrippedKey] = true;
  const std::string text = graph::print(build.opened.network->graph(), kText);
  const std::string fingerprint = constants.fingerprint(text);
  info["refit"]["fingerprint"] = fingerprint;
  // What was measured is true of the weights it was measured with.
  const bool is_certified = build.opened.certified.empty() || build.opened.certified == fingerprint;
  if (const std::string& certificate = build.opened.certificate; !certificate.empty() && is_certified) {
    NEREID_TRY(info["accuracy"], parse_json(certificate));
  }
  Json tactics = build.choices.engine_info();
  if (!build.opened.tactics.empty()) {
    NEREID_TRY(tactics, parse_json(build.opened.tactics));
  }
  if (!tactics.is_null()) info["tactics"] = std::move(tactics);
  if (interrupted()) return cancelled("stopped while writing the engine; nothing was written");
  NEREID_RETURN_IF_ERROR(writer.commit(std::move(info), text, ""));
  std::error_code ec;
  build.file_bytes = static_cast<int64_t>(std::filesystem::file_size(engine, ec));
  build.build_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  return build;
}

Result<OpenedNetwork> load_network(engine::EngineFile file, const NetworkOptions& options, ThreadPool& pool,
                                   std::shared_ptr<const void> memory) {
  const int64_t start_ns = now_ns();
  const Json& info = file.info();
  if (text_at(info, "kind", "") != "network")
    return invalid_argument("{} is the engine of a {}, not of a network", file.path(),
                            text_at(info, "kind", "language model"));
  if (is_stripped(info)) return stripped_refusal(file);
  NEREID_RETURN_IF_ERROR(file.read_weights(pool));
  auto storage = std::make_shared<EngineStorage>();
  storage->file = std::move(file);
  storage->memory = std::move(memory);
  const engine::EngineFile& f = storage->file;
  std::map<std::string, const engine::WeightEntry*, std::less<>> entries;
  for (const engine::WeightEntry& w : f.weights()) entries[w.name] = &w;
  const auto bytes_of = [&](const engine::WeightEntry& w) {
    return f.mapped_weights().subspan(static_cast<size_t>(w.offset), static_cast<size_t>(w.bytes));
  };
  const Json aliases = f.info().value("aliases", Json::object());
  std::map<std::string, const std::byte*, std::less<>> placed;  // constants by path
  const auto source = [&](const std::string& path, const ops::TensorType& type) -> Result<const void*> {
    const auto alias = aliases.is_object() ? aliases.find(path) : aliases.end();
    const std::string& name =
        alias != aliases.end() && alias->is_string() ? alias->get_ref<const std::string&>() : path;
    const auto it = entries.find(name);
    if (it == entries.end()) return invalid_argument("the engine has no data for the constant '{}'", path);
    const std::span<const std::byte> bytes = bytes_of(*it->second);
    if (type.dtype == DType::string) {
      NEREID_TRY(ops::Tensor texts, strings_from_bytes(bytes, type));
      storage->texts.push_back(std::move(texts));
      return storage->texts.back().view().data;
    }
    if (dtype_bytes(type.dtype, *type.shape.elements()) != static_cast<int64_t>(bytes.size()))
      return invalid_argument("the engine's constant '{}' has {} bytes, which does not fit its type {}", path,
                              bytes.size(), type.to_string());
    placed[name] = bytes.data();
    return static_cast<const void*>(bytes.data());
  };
  NEREID_TRY(graph::Graph graph, graph::parse(f.graph_text(), source).with("the engine's graph"));
  OpenedNetwork out;
  NEREID_TRY(out.inputs, read_types(f.info(), "inputs"));
  NEREID_TRY(out.outputs, read_types(f.info(), "outputs"));
  if (out.inputs.size() != graph.inputs().size() || out.outputs.size() != graph.outputs().size())
    return invalid_argument("the engine's info and its graph have different inputs or outputs");
  for (size_t i = 0; i < out.inputs.size(); ++i) out.inputs[i].type = graph.value(graph.inputs()[i]).type;
  for (size_t i = 0; i < out.outputs.size(); ++i) out.outputs[i].type = graph.value(graph.outputs()[i]).type;
  for (const std::string& name : options.import.overridden)
    if (std::ranges::find(out.inputs, name, &NamedType::name) == out.inputs.end())
      return invalid_argument("there is no input '{}' (what the ONNX file had a value for is built into the engine)",
                              name);
  for (NamedType& in : out.inputs) {
    const auto it = options.import.shapes.find(in.name);
    if (it != options.import.shapes.end() && in.type.is_tensor()) in.type.shape = Shape::of(it->second);
  }
  std::vector<runtime::Network::Ready> ready;
  for (const engine::WeightEntry& w : f.weights()) {
    if (w.layout != "packed") continue;
    const size_t first = w.name.find(kFormMark), second = w.name.find(kFormMark, first + 1);
    if (first == std::string::npos || second == std::string::npos)
      return invalid_argument("the engine's form '{}' has no name of a constant", w.name);
    const auto it = placed.find(w.name.substr(0, first));
    if (it == placed.end()) continue;
    const int64_t offset = std::strtoll(w.name.c_str() + first + 1, nullptr, 10);
    ready.push_back({it->second + offset, w.name.substr(second + 1), bytes_of(w)});
  }
  out.nodes_optimised = static_cast<int64_t>(graph.order().size());
  if (const Json* nodes = json_find(f.info(), "nodes"))
    if (const Json* imported = json_find(*nodes, "imported"); imported != nullptr && imported->is_number_integer())
      out.nodes_imported = imported->get<int64_t>();
  NEREID_TRY(const Isa best, best_isa(read_cpu_info()));
  NEREID_TRY(const runtime::NetPrecision precision, precision_from_name(text_at(f.info(), "precision", "f32")));
  const std::string built_for = text_at(f.info(), "isa", "");
  runtime::NetChoices choices = choices_of_engine(f.info(), options.isa.value_or(best), out.warnings);
  out.network = runtime::Network::create(std::move(graph), std::move(storage), options.isa.value_or(best), precision,
                                         ready, std::move(choices));
  if (const std::string_view here = isa_name(out.network->kernels().isa); built_for != here)
    out.warnings.push_back(
        fmt::format("the engine was built for {} kernels; here it runs with those for {}", built_for, here));
  out.import_ms = static_cast<double>(now_ns() - start_ns) / 1e6;
  return out;
}

}  // namespace nereid::compile
