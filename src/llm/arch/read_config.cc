// SPDX-License-Identifier: Apache-2.0
// ModelConfig from a model's files, every number bounds-checked.
#include "llm/arch/read_config.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace nereid::llm {
namespace {

// Bounds keep products of sizes far below 2^63 and loops over layers short; real models are well inside.
constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxHeads = 4096;
constexpr int64_t kMaxHeadDim = 4096;
constexpr int64_t kMaxVocab = int64_t{1} << 24;
constexpr int64_t kMaxContext = int64_t{1} << 30;

// What every decoder has. 0 as a fallback means "follows from others": see derive().
constexpr IntKey kIntKeys[] = {
    {&ModelConfig::layers, "block_count", "num_hidden_layers", 1, kMaxLayers},
    {&ModelConfig::hidden, "embedding_length", "hidden_size", 1, kMaxWidth},
    {&ModelConfig::ffn, "feed_forward_length", "intermediate_size", 1, kMaxWidth},
    {&ModelConfig::heads, "attention.head_count", "num_attention_heads", 1, kMaxHeads},
    {&ModelConfig::kv_heads, "attention.head_count_kv", "num_key_value_heads", 1, kMaxHeads, 0},
    {&ModelConfig::head_dim, "attention.key_length", "head_dim", 2, kMaxHeadDim, 0},
    {&ModelConfig::vocab, "", "vocab_size", 1, kMaxVocab, 0},
    {&ModelConfig::context_length, "context_length", "max_position_embeddings", 1, kMaxContext, 2048},
};
constexpr RealKey kRealKeys[] = {
    {&ModelConfig::norm_eps, "attention.layer_norm_rms_epsilon", "rms_norm_eps", 0, 1, 1e-6},
    {&ModelConfig::query_scalar, "", "query_pre_attn_scalar", 1e-6, 1e6, 0},
    {&ModelConfig::attention_scale, "attention.scale", "", 0, 1e6, 0},
    {&ModelConfig::attention_softcap, "attn_logit_softcapping", "attn_logit_softcapping", 0, 1e6, 0},
    {&ModelConfig::logit_softcap, "final_logit_softcapping", "final_logit_softcapping", 0, 1e6, 0},
};

Result<std::optional<int64_t>> value_of(const HyperParameters& p, const IntKey& key) {
  return p.integer(key.gguf, key.hf);
}
Result<std::optional<double>> value_of(const HyperParameters& p, const RealKey& key) {
  return p.real(key.gguf, key.hf);
}

template <typename T>
Status read_key(const HyperParameters& p, const Key<T>& key, ModelConfig& config) {
  NEREID_TRY(const std::optional<T> value, value_of(p, key));
  if (!value && !key.fallback) return invalid_argument("{} is missing.", p.name(key.gguf, key.hf));
  if (value && !(*value >= key.min && *value <= key.max)) {
    return invalid_argument("{} is {}; expected {} to {}.", p.name(key.gguf, key.hf), *value, key.min, key.max);
  }
  config.*key.field = value ? *value : *key.fallback;
  return Status::ok();
}

// The architecture's own rows come instead of common ones of the same field.
template <typename T>
Status read_keys(const HyperParameters& p, std::span<const Key<T>> own, std::span<const Key<T>> common,
                 ModelConfig& config) {
  for (const Key<T>& key : own) NEREID_RETURN_IF_ERROR(read_key(p, key, config));
  for (const Key<T>& key : common) {
    const bool replaced = std::ranges::any_of(own, [&](const Key<T>& k) { return k.field == key.field; });
    if (!replaced) NEREID_RETURN_IF_ERROR(read_key(p, key, config));
  }
  return Status::ok();
}

// Sizes that follow from others, and what must hold between them.
Status derive(const Architecture& arch, const HyperParameters& p, int64_t vocab_rows, ModelConfig& c) {
  if (c.kv_heads == 0) c.kv_heads = c.heads;
  if (c.vocab == 0) c.vocab = vocab_rows;
  const std::string head_dim_name = p.name("attention.key_length", "head_dim");
  if (c.head_dim == 0) {
    if (c.hidden % c.heads != 0) {
      return invalid_argument("The width {} is not a multiple of the {} heads, and {} is missing.", c.hidden, c.heads,
                              head_dim_name);
    }
    c.head_dim = c.hidden / c.heads;
  }
  if (c.head_dim % 2 != 0) return invalid_argument("{} is {}; expected an even number.", head_dim_name, c.head_dim);
  if (c.heads % c.kv_heads != 0) {
    return invalid_argument(
        "{} query heads cannot share {} key/value heads: the first must be a multiple of the second.", c.heads,
        c.kv_heads);
  }
  if (c.query_width() > kMaxWidth) {
    return invalid_argument("{} heads of {} elements are wider than {}.", c.heads, c.head_dim, kMaxWidth);
  }
  if (c.vocab < 1 || c.vocab > kMaxVocab) {
    return invalid_argument("The vocabulary has {} entries; expected 1 to {}.", c.vocab, kMaxVocab);
  }
  for (const QueryScalar& known : arch.gguf_query_scalars) {
    if (p.is_gguf() && known.layers == c.layers) c.query_scalar = known.value;
  }
  if (c.query_scalar == 0) c.query_scalar = static_cast<double>(c.head_dim);
  if (c.attention_scale == 0) c.attention_scale = 1 / std::sqrt(c.query_scalar);
  NEREID_TRY(const std::optional<int64_t> value_dim, p.integer("attention.value_length", ""));
  if (value_dim && *value_dim != c.head_dim) {
    return unsupported("Keys of {} elements beside values of {} are not supported.", c.head_dim, *value_dim);
  }
  return Status::ok();
}

// Names of activations in Hugging Face configs, and the op's.
struct ActivationName {
  std::string_view hf;
  std::string_view op;
};
constexpr ActivationName kActivations[] = {
    {"silu", "silu"},          {"swish", "silu"},          {"gelu", "gelu"}, {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_new", "gelu_tanh"}, {"gelu_fast", "gelu_tanh"}, {"relu", "relu"},
};

Result<std::string> read_activation(const Architecture& arch, const HyperParameters& p) {
  NEREID_TRY(std::optional<std::string> given, p.text("", "hidden_activation"));
  if (!given) {
    NEREID_TRY(given, p.text("", arch.activation_key));
  }
  if (!given) return std::string(arch.activation);
  for (const ActivationName& a : kActivations) {
    if (a.hf == *given) return std::string(a.op);
  }
  return unsupported("The activation '{}' is not supported.", given->substr(0, 64));
}

// Where the table of positions begins: some models keep its first rows for tokens of padding.
Status read_positions(const Architecture& arch, const HyperParameters& p, ModelConfig& c) {
  if (!arch.positions_after_padding || p.is_gguf()) return Status::ok();
  NEREID_TRY(const std::optional<int64_t> padding, p.integer("", "pad_token_id"));
  c.position_offset = padding.value_or(1) + 1;
  if (c.position_offset < 1 || c.position_offset >= c.context_length) {
    return invalid_argument("pad_token_id in config.json is {} and leaves none of the {} positions to texts.",
                            c.position_offset - 1, c.context_length);
  }
  c.context_length -= c.position_offset;
  return Status::ok();
}

// Encoders that work in another way than the ones known here.
Status refuse_other_encoders(const HyperParameters& p) {
  NEREID_TRY(const std::optional<std::string> positions, p.text("", "position_embedding_type"));
  if (positions && *positions != "absolute") {
    return unsupported("position_embedding_type in config.json is '{}'; only 'absolute' is supported.",
                       positions->substr(0, 64));
  }
  for (const char* name : {"is_decoder", "add_cross_attention"}) {
    NEREID_TRY(const std::optional<bool> value, p.boolean("", name));
    if (value.value_or(false)) return unsupported("{} in config.json is true; only encoders are supported.", name);
  }
  return Status::ok();
}

// One flag a layer: does its attention have a window? Given by a list, by a period or by a first layer.
Result<std::vector<bool>> windowed_layers(const WindowKeys& keys, const HyperParameters& p, int64_t layers) {
  std::vector<bool> windowed(static_cast<size_t>(layers), true);
  const auto wrong_length = [&](std::string_view name, size_t found) {
    return invalid_argument("{} has {} entries for {} layers.", name, found, layers);
  };
  if (const Json* types = p.hf("layer_types"); types != nullptr && types->is_array()) {
    if (types->size() != windowed.size()) return wrong_length("layer_types in config.json", types->size());
    for (size_t i = 0; i < windowed.size(); ++i) {
      const Json& type = (*types)[i];
      if (type != "sliding_attention" && type != "full_attention") {
        return unsupported("Layer {} is of type {}; only sliding_attention and full_attention are supported.", i,
                           type.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 64));
      }
      windowed[i] = type == "sliding_attention";
    }
    return windowed;
  }
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const MetaValue* pattern = p.gguf(kPattern);
  if (const auto* flags = pattern ? std::get_if<std::vector<int64_t>>(pattern) : nullptr; flags != nullptr) {
    if (flags->size() != windowed.size()) return wrong_length(p.name(kPattern, ""), flags->size());
    for (size_t i = 0; i < windowed.size(); ++i) windowed[i] = (*flags)[i] != 0;
    return windowed;
  }
  if (!keys.hf_first_layer.empty() && !p.is_gguf()) {
    NEREID_TRY(const std::optional<int64_t> first, p.integer("", keys.hf_first_layer));
    for (int64_t i = 0; i < layers; ++i) windowed[static_cast<size_t>(i)] = i >= first.value_or(keys.first_layer);
    return windowed;
  }
  NEREID_TRY(const std::optional<int64_t> given, p.integer(kPattern, "sliding_window_pattern"));
  const int64_t period = given.value_or(keys.period);
  if (period < 0) return invalid_argument("The period of windowed layers is {}; expected at least 1.", period);
  for (int64_t i = 0; period > 0 && i < layers; ++i) windowed[static_cast<size_t>(i)] = (i + 1) % period != 0;
  return windowed;
}

Result<std::vector<AttentionSpan>> read_spans(const Architecture& arch, const HyperParameters& p, int64_t layers) {
  const WindowKeys& keys = arch.window;
  std::vector<AttentionSpan> spans(static_cast<size_t>(layers));
  if ((p.is_gguf() ? keys.gguf : keys.hf).empty()) return spans;
  NEREID_TRY(const std::optional<bool> on, p.boolean("", keys.hf_switch));
  if (!keys.hf_switch.empty() && !p.is_gguf() && !on.value_or(false)) return spans;
  NEREID_TRY(const std::optional<int64_t> given, p.integer(keys.gguf, keys.hf));
  const int64_t window = given.value_or(p.is_null(keys.hf) ? 0 : keys.fallback);  // null says "no window"
  if (window < 0 || window > kMaxContext) {
    return invalid_argument("{} is {}; expected 0 to {}.", p.name(keys.gguf, keys.hf), window, kMaxContext);
  }
  if (window == 0) return spans;
  NEREID_TRY(const std::vector<bool> windowed, windowed_layers(keys, p, layers));
  for (size_t i = 0; i < spans.size(); ++i) {
    if (windowed[i]) spans[i] = {.window = window, .rope = arch.local_theta > 0 ? size_t{1} : size_t{0}};
  }
  return spans;
}

// What would load and give nonsense.
Status refuse_unsupported(const HyperParameters& p) {
  for (const auto& [gguf, hf] : {std::pair{"expert_count", "num_local_experts"}, {"", "num_experts"}}) {
    NEREID_TRY(const std::optional<int64_t> experts, p.integer(gguf, hf));
    if (experts.value_or(0) != 0) {
      return unsupported("{} is {}; mixtures of experts are not supported yet.", p.name(gguf, hf), *experts);
    }
  }
  if (const Json* quantised = p.hf("quantization_config"); quantised != nullptr) {
    const Json* method = json_member(quantised, "quant_method");
    return unsupported(
        "The checkpoint's weights are quantised by '{}' (quantization_config in config.json), which is not supported; "
        "use the unquantised checkpoint or a GGUF file.",
        method != nullptr && method->is_string() ? method->get<std::string>().substr(0, 64) : "an unnamed method");
  }
  if (const Json* both = p.hf("use_bidirectional_attention"); both != nullptr && *both == true) {
    return unsupported("use_bidirectional_attention in config.json is true; only causal models are supported.");
  }
  return Status::ok();
}

}  // namespace

Result<ModelConfig> read_config(const Architecture& arch, const HyperParameters& p, int64_t vocab_rows) {
  NEREID_RETURN_IF_ERROR(refuse_unsupported(p));
  ModelConfig c;
  c.architecture = arch.name;
  NEREID_RETURN_IF_ERROR(read_keys<int64_t>(p, arch.int_keys, kIntKeys, c));
  NEREID_RETURN_IF_ERROR(read_keys<double>(p, arch.real_keys, kRealKeys, c));
  NEREID_RETURN_IF_ERROR(derive(arch, p, vocab_rows, c));
  NEREID_TRY(c.activation, read_activation(arch, p));
  if (arch.encodes) NEREID_RETURN_IF_ERROR(refuse_other_encoders(p));
  NEREID_RETURN_IF_ERROR(read_positions(arch, p, c));
  c.pooler_activation = arch.pooler_activation;
  NEREID_TRY(c.spans, read_spans(arch, p, c.layers));

  NEREID_TRY(const std::optional<bool> tied, p.boolean("", "tie_word_embeddings"));
  NEREID_TRY(const std::optional<bool> attention_bias, p.boolean("", "attention_bias"));
  NEREID_TRY(const std::optional<bool> mlp_bias, p.boolean("", "mlp_bias"));
  c.tied_head = !p.is_gguf() && tied.value_or(arch.tied_head);
  c.attention_bias = attention_bias.value_or(false);
  c.mlp_bias = mlp_bias.value_or(false);
  c.norm_offset = (p.is_gguf() ? arch.gguf : arch.hf).norm_offset;
  return c;
}

}  // namespace nereid::llm
