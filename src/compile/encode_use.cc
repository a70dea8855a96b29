// SPDX-License-Identifier: Apache-2.0
#include "compile/encode_use.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "compile/arch_source.h"
#include "compile/model_kind.h"
#include "engine/engine_file.h"
#include "llm/arch/arch_table.h"

namespace nereid::compile {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{16} << 20;
constexpr int64_t kMaxTokens = int64_t{1} << 30;

struct PoolingRow {
  Pooling pooling;
  std::string_view name;    // of pooling_mode
  std::string_view legacy;  // a flag of its own in older files
};
// In the order in which older files' results are joined.
constexpr std::array kPoolings = {
    PoolingRow{Pooling::kCls, "cls", "pooling_mode_cls_token"},
    PoolingRow{Pooling::kMax, "max", "pooling_mode_max_tokens"},
    PoolingRow{Pooling::kMean, "mean", "pooling_mode_mean_tokens"},
    PoolingRow{Pooling::kMeanSqrt, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    PoolingRow{Pooling::kWeightedMean, "weightedmean", "pooling_mode_weightedmean_tokens"},
    PoolingRow{Pooling::kLast, "lasttoken", "pooling_mode_lasttoken"},
};

std::string_view pooling_name(Pooling pooling) {
  return std::ranges::find(kPoolings, pooling, &PoolingRow::pooling)->name;
}

Result<Pooling> pooling_from(const Json& name) {
  const auto row = std::ranges::find_if(kPoolings, [&](const PoolingRow& r) { return name == std::string(r.name); });
  if (row != kPoolings.end()) return row->pooling;
  return unsupported("there is no pooling {}; known are cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken",
                     name.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 64));
}

// The file as JSON; null if it is not there.
Result<Json> read_json(const std::string& directory, const std::string& name) {
  const std::string path = (fs::path(directory) / name).string();
  std::error_code e;
  if (!fs::is_regular_file(path, e)) return Json();
  NEREID_TRY(const std::string text, read_file(path, kMaxFileBytes));
  Result<Json> json = parse_json(text);
  if (!json.is_ok()) return invalid_argument("{} is no JSON text: {}", path, json.status().message());
  return json;
}

const Json* member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::string text_of(const Json& object, std::string_view name) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_true(const Json& object, std::string_view name) {
  const Json* value = member(object, name);
  return value != nullptr && *value == true;
}

// A positive number of tokens that makes `most` less; others say nothing.
void take_limit(const Json& object, std::string_view name, int64_t& most) {
  const Json* value = member(object, name);
  if (value == nullptr || !value->is_number()) return;
  const double tokens = value->get<double>();  // "no bound" is written as 1e30
  if (tokens >= 1 && tokens < static_cast<double>(kMaxTokens) && (most == 0 || tokens < static_cast<double>(most)))
    most = static_cast<int64_t>(tokens);
}

Status read_pooling(const Json& config, const std::string& name, EncodeUse& use) {
  if (!config.is_object()) return not_found("{}, which modules.json names, is not there or is no object", name);
  if (const Json* mode = member(config, "pooling_mode"); mode != nullptr) {
    for (const Json& one : mode->is_array() ? *mode : Json::array({*mode})) {
      NEREID_TRY(const Pooling pooling, pooling_from(one).with(name));
      use.pooling.push_back(pooling);
    }
  } else {
    for (const PoolingRow& row : kPoolings)
      if (is_true(config, row.legacy)) use.pooling.push_back(row.pooling);
  }
  if (use.pooling.empty()) use.pooling.push_back(Pooling::kMean);
  if (use.pooling.size() > kPoolings.size())
    return invalid_argument("{} joins {} ways of pooling; there are {}", name, use.pooling.size(), kPoolings.size());
  return Status::ok();
}

Status read_modules(const std::string& directory, const Json& modules, EncodeUse& use) {
  if (!modules.is_array()) return invalid_argument("modules.json in '{}' is no list", directory);
  for (const Json& module : modules) {
    const std::string type = text_of(module, "type");
    const std::string kind = type.substr(type.rfind('.') + 1);
    const std::string path = text_of(module, "path");
    if (path.find("..") != std::string::npos || path.starts_with('/'))
      return invalid_argument("modules.json names the folder '{}', which is not in the model's own", path);
    if (kind == "Transformer") {
      if (!path.empty()) return unsupported("modules.json has its Transformer in the folder '{}'", path);
    } else if (kind == "Pooling") {
      const std::string name = path + "/config.json";
      NEREID_TRY(const Json config, read_json(directory, name));
      NEREID_RETURN_IF_ERROR(read_pooling(config, name, use));
    } else if (kind == "Normalize") {
      use.normalizes = true;
    } else {
      return unsupported(
          "modules.json has a module of the kind '{}'; Transformer, Pooling and Normalize are what there is",
          kind.substr(0, 64));
    }
  }
  return Status::ok();
}

Status read_prompts(const Json& config, EncodeUse& use) {
  const Json* prompts = member(config, "prompts");
  if (prompts != nullptr && prompts->is_object()) {
    for (const auto& [name, text] : prompts->items())
      if (text.is_string()) use.prompts.emplace_back(name, text.get<std::string>());
  }
  const std::string name = text_of(config, "default_prompt_name");
  for (const auto& [known, text] : use.prompts)
    if (known == name) use.default_prompt = text;
  return Status::ok();
}

// sentence-transformers' own rule: one score is a probability unless the files say otherwise.
bool reads_sigmoid(const Json& config) {
  std::string function = text_of(config, "sbert_ce_default_activation_function");
  if (const Json* own = member(config, "sentence_transformers"); own != nullptr)
    if (const std::string name = text_of(*own, "activation_fn"); !name.empty()) function = name;
  if (!function.empty()) return function.ends_with("Sigmoid");
  const Json* labels = member(config, "id2label");
  return labels != nullptr ? labels->size() == 1 : config.value("num_labels", Json()) == 1;
}

Result<std::optional<EncodeUse>> read_directory(const import::ModelSource& source, bool is_encoder) {
  const std::string& directory = source.hf->directory;
  const Json& config = *source.config();
  EncodeUse use;
  NEREID_TRY(const Json modules, read_json(directory, "modules.json"));
  if (!modules.is_null()) NEREID_RETURN_IF_ERROR(read_modules(directory, modules, use));
  if (!is_encoder && use.pooling.empty()) return std::optional<EncodeUse>();
  const Json* names = member(config, "architectures");
  const bool classifies = is_encoder && names != nullptr && names->is_array() && !names->empty() &&
                          (*names)[0].is_string() &&
                          (*names)[0].get<std::string>().ends_with("ForSequenceClassification");
  if (classifies) {
    use.pooling.clear();
    use.is_sigmoid = reads_sigmoid(config);
  } else if (use.pooling.empty()) {
    use.pooling.push_back(Pooling::kMean);
  }
  NEREID_TRY(const Json own, read_json(directory, "config_sentence_transformers.json"));
  NEREID_RETURN_IF_ERROR(read_prompts(own, use));
  if (classifies && own.is_object() && !text_of(own, "activation_fn").empty())
    use.is_sigmoid = text_of(own, "activation_fn").ends_with("Sigmoid");
  NEREID_TRY(const Json transformer, read_json(directory, "sentence_bert_config.json"));
  NEREID_TRY(const Json tokenizer, read_json(directory, "tokenizer_config.json"));
  take_limit(transformer, "max_seq_length", use.max_tokens);
  if (use.max_tokens == 0) take_limit(tokenizer, "model_max_length", use.max_tokens);
  if (is_true(transformer, "do_lower_case") && !is_true(tokenizer, "do_lower_case"))
    return unsupported("sentence_bert_config.json has texts in lower case before a tokenizer that tells cases apart");
  return std::optional(std::move(use));
}

// What llama.cpp's converter writes: 0 none, 1 mean, 2 the first token, 3 the last one, 4 scores.
Result<std::optional<EncodeUse>> read_gguf(const Metadata& metadata, const std::string& architecture, bool is_encoder) {
  const std::string key = architecture + ".pooling_type";
  EncodeUse use;
  constexpr std::array kTypes = {Pooling::kMean, Pooling::kMean, Pooling::kCls, Pooling::kLast};
  const Result<int64_t> type = metadata.get_int(key);
  if (!type.is_ok() && !is_encoder) return std::optional<EncodeUse>();
  const int64_t number = type.is_ok() ? *type : 1;
  if (number < 0 || number > 4) return unsupported("{} is {}; expected 0 to 4", key, number);
  if (number == 0 && !is_encoder) return std::optional<EncodeUse>();
  if (number == 4 && !is_encoder) return unsupported("{} is 4: decoders that give scores are not supported", key);
  if (number < 4) use.pooling.push_back(kTypes[static_cast<size_t>(number)]);
  use.normalizes = number != 4;  // as llama.cpp's server does
  use.is_sigmoid = false;
  return std::optional(std::move(use));
}

}  // namespace

Json EncodeUse::to_json() const {
  Json names = Json::array(), texts = Json::array();
  for (const Pooling one : pooling) names.push_back(std::string(pooling_name(one)));
  for (const auto& [name, text] : prompts) texts.push_back({name, text});
  return {{"pooling", names},         {"normalizes", normalizes}, {"is_sigmoid", is_sigmoid},
          {"max_tokens", max_tokens}, {"prompts", texts},         {"default_prompt", default_prompt}};
}

Result<EncodeUse> EncodeUse::from_json(const Json& json) {
  EncodeUse use;
  const Json* poolings = member(json, "pooling");
  if (poolings == nullptr || !poolings->is_array() || poolings->size() > kPoolings.size())
    return invalid_argument("the engine does not say how its tokens are pooled");
  for (const Json& one : *poolings) {
    NEREID_TRY(const Pooling pooling, pooling_from(one));
    use.pooling.push_back(pooling);
  }
  use.normalizes = is_true(json, "normalizes");
  use.is_sigmoid = is_true(json, "is_sigmoid");
  take_limit(json, "max_tokens", use.max_tokens);
  use.default_prompt = text_of(json, "default_prompt");
  if (const Json* prompts = member(json, "prompts"); prompts != nullptr && prompts->is_array()) {
    for (const Json& one : *prompts)
      if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string())
        use.prompts.emplace_back(one[0].get<std::string>(), one[1].get<std::string>());
  }
  return use;
}

Result<std::optional<EncodeUse>> read_encode_use(const import::ModelSource& source) {
  const llm::ArchInput input = arch_input(source);
  const Result<const llm::Architecture*> found = llm::find_architecture(input);
  if (!found.is_ok()) return std::optional<EncodeUse>();  // whoever builds it says what is wrong
  const bool is_encoder = (*found)->encodes;
  if (source.metadata()) return read_gguf(*source.metadata(), std::string(input.architecture), is_encoder);
  return read_directory(source, is_encoder);
}

bool model_encodes(const std::string& path) {
  if (model_kind(path) == ModelKind::kEngine) {
    const Result<engine::EngineFile> file = engine::EngineFile::open(path);
    return file.is_ok() && file->info().is_object() && file->info().value("kind", Json()) == "encoder";
  }
  const Result<import::ModelSource> source = import::open_model(path);
  if (!source.is_ok()) return false;
  const Result<std::optional<EncodeUse>> use = read_encode_use(*source);
  return use.is_ok() && use->has_value();
}

std::vector<std::string> encode_use_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code e;
  for (const auto& entry : fs::directory_iterator(directory, e)) {
    if (!entry.is_directory(e)) continue;
    const std::string config = (entry.path() / "config.json").string();
    if (fs::is_regular_file(config, e)) files.push_back(config);
  }
  return files;
}

}  // namespace nereid::compile
