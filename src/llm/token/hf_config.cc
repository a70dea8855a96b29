// SPDX-License-Identifier: Apache-2.0
// The small files beside a tokenizer: tokenizer_config.json, special_tokens_map.json, generation_config.json,
// chat_template.jinja.
#include <algorithm>
#include <charconv>
#include <map>

#include "llm/token/end_tokens.h"
#include "llm/token/hf_steps.h"
#include "llm/token/source_huggingface.h"

namespace nereid::token {
namespace {

using hf::Json;
using hf::member;

Result<Json> parse_optional(std::string_view text, std::string_view name) {
  if (text.empty()) return Json::object();
  Result<Json> json = parse_json(text);
  if (!json.is_ok()) return invalid_argument("{} is no JSON text: {}", name, json.status().message());
  return json;
}

// A token is named by its text, or by an object that has it as "content".
std::string token_text(const Json& config, const char* name) {
  const Json* value = member(config, name);
  if (value == nullptr) return {};
  return value->is_string() ? value->get<std::string>() : hf::string_or(*value, "content", "");
}

int32_t find_token(const TokenizerSpec& spec, std::string_view text) {
  if (text.empty()) return kNoToken;
  for (const AddedToken& t : spec.added)
    if (t.text == text) return t.id;
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.tokens[id] == text) return static_cast<int32_t>(id);
  return kNoToken;
}

// Tokens that were added to a vocabulary whose own file (tokenizer.model) does not know them: id -> what it is.
Status read_added_tokens(const Json& config, TokenizerSpec& spec) {
  const Json* added = member(config, "added_tokens_decoder");
  if (added == nullptr || !added->is_object()) return Status::ok();
  std::map<int32_t, const Json*> by_id;
  for (const auto& [key, value] : added->items()) {
    int32_t id = kNoToken;
    const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), id);
    const size_t bound = spec.tokens.size() + 8 * added->size() + 4096;
    if (failure != std::errc() || end != key.data() + key.size() || id < 0 || static_cast<size_t>(id) >= bound) {
      return invalid_argument("added_tokens_decoder in tokenizer_config.json has the id '{}', which cannot be", key);
    }
    by_id[id] = &value;
  }
  for (const auto& [id, value] : by_id) {
    AddedToken t{.id = id, .text = hf::string_or(*value, "content", "")};
    t.special = hf::bool_or(*value, "special", false);
    t.left_strip = hf::bool_or(*value, "lstrip", false);
    t.right_strip = hf::bool_or(*value, "rstrip", false);
    t.single_word = hf::bool_or(*value, "single_word", false);
    while (spec.tokens.size() <= static_cast<size_t>(id)) {
      spec.tokens.add(spec.tokens.size() == static_cast<size_t>(id) ? std::string_view(t.text) : std::string_view());
      spec.types.push_back(spec.tokens.size() == static_cast<size_t>(id) + 1 && !t.special ? TokenType::kUserDefined
                                                                                           : TokenType::kControl);
      if (!spec.scores.empty()) spec.scores.push_back(0.0f);
    }
    if (spec.tokens[static_cast<size_t>(id)] != t.text) continue;  // the vocabulary knows better
    std::erase_if(spec.added, [&](const AddedToken& other) { return other.id == t.id; });
    spec.added.push_back(std::move(t));
  }
  return Status::ok();
}

void read_special_ids(const Json& config, const Json& map, TokenizerSpec& spec) {
  const auto read = [&](const char* name, int32_t& id) {
    std::string text = token_text(config, name);
    if (text.empty()) text = token_text(map, name);
    if (const int32_t found = find_token(spec, text); found != kNoToken) id = found;
  };
  read("bos_token", spec.bos_id);
  read("eos_token", spec.eos_id);
  read("pad_token", spec.padding_id);
  if (spec.unknown_id == kNoToken && spec.model != ModelKind::kBpe) read("unk_token", spec.unknown_id);
}

void read_end_tokens(const Json& generation, TokenizerSpec& spec) {
  const auto add = [&](const Json& id) {
    if (!id.is_number_integer()) return;
    const auto value = id.get<int64_t>();
    if (value < 0 || static_cast<uint64_t>(value) >= spec.tokens.size()) return;
    spec.end_of_generation.push_back(static_cast<int32_t>(value));
    if (spec.eos_id == kNoToken) spec.eos_id = static_cast<int32_t>(value);
  };
  const Json* ends = member(generation, "eos_token_id");
  if (ends == nullptr) return;
  if (ends->is_array()) {
    for (const Json& id : *ends) add(id);
  } else {
    add(*ends);
  }
}

// Some configs say in so many words whether BOS and EOS are added; that overrides a template of the tokenizer.
void read_affix_flags(const Json& config, TokenizerSpec& spec) {
  const auto apply = [&](const char* name, int32_t id, std::vector<int32_t>& ids, bool front) {
    const Json* flag = member(config, name);
    if (flag == nullptr || !flag->is_boolean() || id == kNoToken) return;
    const auto at = std::find(ids.begin(), ids.end(), id);
    if (flag->get<bool>() && at == ids.end()) {
      ids.insert(front ? ids.begin() : ids.end(), id);
    } else if (!flag->get<bool>() && at != ids.end()) {
      ids.erase(at);
    }
  };
  apply("add_bos_token", spec.bos_id, spec.prefix_ids, true);
  apply("add_eos_token", spec.eos_id, spec.suffix_ids, false);
}

// A tokenizer that gives its model no types tells two texts apart by what stands between them alone.
void read_input_names(const Json& config, TokenizerSpec& spec) {
  const Json* names = member(config, "model_input_names");
  if (names == nullptr || !names->is_array()) return;
  if (std::find(names->begin(), names->end(), "token_type_ids") == names->end()) spec.second_type = 0;
}

void read_templates(const Json& config, TokenizerSpec& spec) {
  const Json* templates = member(config, "chat_template");
  if (templates == nullptr) return;
  if (templates->is_string()) {
    spec.chat_template = templates->get<std::string>();
    return;
  }
  if (!templates->is_array()) return;
  for (const Json& entry : *templates) {
    std::string name = hf::string_or(entry, "name", ""), text = hf::string_or(entry, "template", "");
    if (name == "default") {
      spec.chat_template = std::move(text);
    } else {
      spec.named_templates.emplace_back(std::move(name), std::move(text));
    }
  }
}

}  // namespace

Status apply_huggingface_config(const HuggingFaceFiles& files, TokenizerSpec& spec) {
  NEREID_TRY(const Json config, parse_optional(files.tokenizer_config, "tokenizer_config.json"));
  NEREID_TRY(const Json map, parse_optional(files.special_tokens_map, "special_tokens_map.json"));
  NEREID_TRY(const Json generation, parse_optional(files.generation_config, "generation_config.json"));
  if (spec.source != kTokenizerJson) {
    NEREID_RETURN_IF_ERROR(read_added_tokens(config, spec));
    spec.prefix_every_segment = hf::bool_or(config, "legacy", spec.prefix_every_segment);
  }
  read_special_ids(config, map, spec);
  read_end_tokens(generation, spec);
  read_affix_flags(config, spec);
  read_input_names(config, spec);
  read_templates(config, spec);
  if (!files.chat_template.empty()) {
    // A chat_template.json wraps the text; a .jinja file is the text.
    std::string inner;
    if (files.chat_template.starts_with('{')) {
      if (const Result<Json> wrapped = parse_json(files.chat_template); wrapped.is_ok())
        inner = hf::string_or(*wrapped, "chat_template", "");
    }
    spec.chat_template = inner.empty() ? files.chat_template : inner;
  }
  collect_end_tokens(spec);
  return Status::ok();
}

}  // namespace nereid::token
