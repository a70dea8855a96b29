// SPDX-License-Identifier: Apache-2.0
#include "compile/describe_parts.h"

#include <algorithm>
#include <array>

namespace nereid::compile {
namespace {

template <typename T>
DescribedValue shortened(std::string_view key, const std::vector<T>& items, int64_t most) {
  DescribedValue d{.key = std::string(key), .value = Json::array(), .count = static_cast<int64_t>(items.size())};
  for (int64_t i = 0; i < std::min(most, d.count); ++i) d.value.push_back(items[static_cast<size_t>(i)]);
  return d;
}

struct Describe {
  std::string_view key;
  int64_t most;  // items of an array

  template <typename T>
  DescribedValue operator()(const std::vector<T>& items) const {
    return shortened(key, items, most);
  }
  template <typename T>
  DescribedValue operator()(const T& value) const {
    return {.key = std::string(key), .value = value};
  }
};

std::string_view scaling_name(llm::RopeScaling scaling) {
  constexpr std::array<std::string_view, 6> kNames = {"none", "linear", "dynamic", "llama3", "yarn", "longrope"};
  return kNames[static_cast<size_t>(scaling)];
}

std::string_view model_name(token::ModelKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"bpe", "unigram", "wordpiece"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::vector<DescribedValue> describe_metadata(const Metadata& metadata, int64_t array_items) {
  std::vector<DescribedValue> values;
  for (const auto& [key, value] : metadata.entries()) values.push_back(std::visit(Describe{key, array_items}, value));
  return values;
}

std::vector<DescribedValue> describe_object(const Json& object, int64_t array_items) {
  std::vector<DescribedValue> values;
  for (const auto& [key, value] : object.items()) {
    if (value.is_array())
      values.push_back(shortened(key, value.get_ref<const Json::array_t&>(), array_items));
    else
      values.push_back({.key = key, .value = value});
  }
  return values;
}

Json describe_config(const llm::ModelConfig& c) {
  Json ropes = Json::array();
  for (const llm::RopeConfig& r : c.ropes)
    ropes.push_back({{"theta", r.theta},
                     {"dim", r.dim},
                     {"interleaved", r.interleaved},
                     {"scaling", scaling_name(r.scaling)},
                     {"factor", r.factor}});
  const auto windowed =
      std::count_if(c.spans.begin(), c.spans.end(), [](const llm::AttentionSpan& s) { return s.window > 0; });
  Json model = {{"architecture", c.architecture},
                {"layers", c.layers},
                {"hidden", c.hidden},
                {"ffn", c.ffn},
                {"heads", c.heads},
                {"kv_heads", c.kv_heads},
                {"head_dim", c.head_dim},
                {"vocab", c.vocab},
                {"context_length", c.context_length},
                {"norm_eps", c.norm_eps},
                {"activation", c.activation},
                {"attention_scale", c.attention_scale},
                {"tied_head", c.tied_head},
                {"windowed_layers", windowed},
                {"ropes", std::move(ropes)}};
  if (windowed > 0)
    model["window"] = std::max_element(c.spans.begin(), c.spans.end(), [](const auto& a, const auto& b) {
                        return a.window < b.window;
                      })->window;
  if (c.embedding_scale != 1) model["embedding_scale"] = c.embedding_scale;
  if (c.attention_softcap != 0) model["attention_softcap"] = c.attention_softcap;
  if (c.logit_softcap != 0) model["logit_softcap"] = c.logit_softcap;
  return model;
}

DescribedTokenizer describe_tokenizer(const token::TokenizerSpec& spec) {
  DescribedTokenizer d{.source = spec.source,
                       .model = std::string(model_name(spec.model)),
                       .byte_level = spec.byte_level,
                       .vocab = static_cast<int64_t>(spec.tokens.size()),
                       .merges = static_cast<int64_t>(spec.merges.size()),
                       .added = static_cast<int64_t>(spec.added.size()),
                       .bos_id = spec.bos_id,
                       .eos_id = spec.eos_id,
                       .unknown_id = spec.unknown_id,
                       .padding_id = spec.padding_id,
                       .end_of_generation = {spec.end_of_generation.begin(), spec.end_of_generation.end()},
                       .chat_template = spec.chat_template};
  for (const auto& [name, text] : spec.named_templates) d.named_templates.push_back(name);
  return d;
}

}  // namespace nereid::compile
