// SPDX-License-Identifier: Apache-2.0
#include "import/peft/peft.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "import/peft/config.h"

namespace nereid::import::peft {
namespace {

constexpr size_t kMaxJsonBytes = size_t{16} << 20;
constexpr std::string_view kConfig = "adapter_config.json";
constexpr std::string_view kWeights = "adapter_model.safetensors";
constexpr std::string_view kPrefix = "base_model.model.";

std::string sizes_text(const ConstTensorView& t) {
  return fmt::format("[{}]", fmt::join(t.sizes, ", "));
}

struct Parts {
  const safetensors::Tensor* a = nullptr;
  const safetensors::Tensor* b = nullptr;
  // PEFT puts a copy of the adapted head beside its matrices; it is the base model's unless its size says otherwise.
  const safetensors::Tensor* base = nullptr;
};

struct Ending {
  std::string_view text;
  const safetensors::Tensor* Parts::*place;
};
constexpr Ending kEndings[] = {
    {".lora_A.weight", &Parts::a}, {".lora_B.weight", &Parts::b}, {".base_layer.weight", &Parts::base}};

// "base_model.model.X.lora_A.weight": X, and which of its parts.
struct PartName {
  std::string module;
  const safetensors::Tensor* Parts::*place;
};
Result<PartName> part_name(std::string_view tensor) {
  if (tensor.find("lora_magnitude_vector") != std::string_view::npos)
    return unsupported("the tensor {} is a DoRA's, which is not supported", tensor);
  if (tensor.find("lora_embedding_") != std::string_view::npos)
    return unsupported("the tensor {} adapts an embedding table; only linear modules can be adapted", tensor);
  std::string_view rest = tensor;
  if (rest.starts_with(kPrefix)) rest.remove_prefix(kPrefix.size());
  for (const Ending& ending : kEndings)
    if (rest.ends_with(ending.text) && rest.size() > ending.text.size())
      return PartName{std::string(rest.substr(0, rest.size() - ending.text.size())), ending.place};
  return unsupported("the tensor {} is neither lora_A nor lora_B of a module; only those can be added", tensor);
}

Status check_type(const safetensors::Tensor& t) {
  if (t.view.dtype != DType::f32 && t.view.dtype != DType::f16 && t.view.dtype != DType::bf16)
    return unsupported("the tensor {} is of {}; expected f32, f16 or bf16", t.name, dtype_name(t.view.dtype));
  if (t.view.rank() != 2 || t.view.sizes[0] < 1 || t.view.sizes[1] < 1)
    return invalid_argument("the tensor {} is {} and should be a matrix", t.name, sizes_text(t.view));
  return Status::ok();
}

Result<Module> make_module(const std::string& name, const Parts& pair, const Config& config) {
  if (!pair.a || !pair.b) return invalid_argument("{} has no lora_{}", name, pair.a ? 'B' : 'A');
  NEREID_RETURN_IF_ERROR(check_type(*pair.a));
  NEREID_RETURN_IF_ERROR(check_type(*pair.b));
  if (pair.a->view.sizes[0] != pair.b->view.sizes[1] || pair.a->view.dtype != pair.b->view.dtype)
    return invalid_argument("lora_A of {} is {} {} and lora_B {} {}, which do not fit each other", name,
                            dtype_name(pair.a->view.dtype), sizes_text(pair.a->view), dtype_name(pair.b->view.dtype),
                            sizes_text(pair.b->view));
  Module module{.name = name, .a = pair.a->view, .b = pair.b->view};
  if (pair.base && pair.base->view.sizes != std::vector<int64_t>{module.b.sizes[0], module.a.sizes[1]})
    return unsupported("{} is {}, where lora_A and lora_B want [{}, {}]: the adapter brings another base weight",
                       pair.base->name, sizes_text(pair.base->view), module.b.sizes[0], module.a.sizes[1]);
  NEREID_TRY(const int64_t rank, config.rank_of(name));
  if (rank != module.rank())
    return invalid_argument("lora_A of {} is {}, but the configuration gives it a rank of {}", name,
                            sizes_text(module.a), rank);
  NEREID_TRY(module.scale, config.scale_of(name, rank));
  return module;
}

bool has_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

Result<Adapter> read(const Json& json, safetensors::SafetensorsFile weights) {
  NEREID_TRY(const Config config, Config::parse(json).with(kConfig));
  Adapter adapter{.directory = {}, .base_model = config.base_model(), .modules = {}, .weights = std::move(weights)};
  std::map<std::string, Parts> pairs;
  for (const safetensors::Tensor& t : adapter.weights.tensors) {
    NEREID_TRY(const PartName part, part_name(t.name).with(kWeights));
    const safetensors::Tensor*& place = pairs[part.module].*part.place;
    if (place) return invalid_argument("{}: {} and {} are the same matrix", kWeights, place->name, t.name);
    place = &t;
  }
  if (pairs.empty()) return invalid_argument("{} holds no tensors", kWeights);
  for (const auto& [name, pair] : pairs) {
    NEREID_TRY(Module module, make_module(name, pair, config).with(kWeights));
    adapter.modules.push_back(std::move(module));
  }
  return adapter;
}

Result<Adapter> open(const std::string& directory) {
  NEREID_TRY(const FileInfo info, file_info(directory));
  const std::filesystem::path folder(directory);
  if (!info.is_directory)
    return not_found("expected '{}' to be a folder with a LoRA adapter, but it is a file", directory);
  if (!has_file(folder / kConfig))
    return not_found("the folder {} has no {}; expected a LoRA adapter as PEFT saves it", directory, kConfig);
  if (!has_file(folder / kWeights)) {
    if (has_file(folder / "adapter_model.bin"))
      return unsupported(
          "{} has its weights only as a PyTorch pickle (adapter_model.bin); save it again as safetensors", directory);
    return not_found("the folder {} has no {}", directory, kWeights);
  }
  NEREID_TRY(const std::string text, read_file((folder / kConfig).string(), kMaxJsonBytes));
  NEREID_TRY(const Json config, parse_json(text).with(fmt::format("{}: {}", directory, kConfig)));
  NEREID_TRY(safetensors::SafetensorsFile weights, safetensors::open((folder / kWeights).string()));
  NEREID_TRY(Adapter adapter, read(config, std::move(weights)).with(directory));
  adapter.directory = directory;
  return adapter;
}

}  // namespace nereid::import::peft
