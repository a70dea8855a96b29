// SPDX-License-Identifier: Apache-2.0
// What an architecture's table says: names, hyper-parameter keys, tensors and recipes, for GGUF and Hugging Face files.
//
// A table holds no code. Where one would need a condition, it gets another recipe (llm/block) instead.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "llm/block/block.h"

namespace nereid::llm {

// A hyper-parameter. GGUF keys are written without the architecture's prefix ("block_count"); an empty key means that
// the format has none. A value outside [min, max] is an error, an absent one is `fallback` or, without that, an error.
template <typename T>
struct Key {
  T ModelConfig::*field;
  std::string_view gguf;
  std::string_view hf;
  T min;
  T max;
  std::optional<T> fallback = std::nullopt;
};
using IntKey = Key<int64_t>;
using RealKey = Key<double>;

// Sizes of tensors, in terms of ModelConfig.
enum class Extent : uint8_t {
  kNone,
  kVocab,
  kHidden,
  kFfn,
  kQuery,     // heads * head_dim
  kKeyValue,  // kv_heads * head_dim
  kHeadDim,
  kRopePairs,    // half the rotated width
  kPositionPad,  // rows of the table of positions that no place uses
  kPositions,    // places
  kTypes,
  kLabels,
  kHeads,
  kBuckets,  // of distances: kDistanceBuckets
};

// The rows of a tensor, top to bottom, and which of them the role takes: {{kQuery, kKeyValue, kKeyValue}, 1} is the
// keys' share of a fused q/k/v matrix. A view of rows costs nothing.
struct Rows {
  std::array<Extent, 3> parts = {};  // unused ones kNone
  size_t take = 0;
  constexpr Rows(Extent whole) : parts{whole} {}
  constexpr Rows(std::array<Extent, 3> fused, size_t taken) : parts(fused), take(taken) {}
};

// One tensor. "{i}" in a pattern is the layer; a row without it exists once a model. Hugging Face patterns start with
// "{body}" or "{head}" (see HfRoot). Rows of the same role are alternatives: the first whose tensor exists is taken.
struct WeightRow {
  Role role;
  std::string_view gguf;  // empty: never in GGUF files
  std::string_view hf;    // empty: never in Hugging Face files
  Rows rows;
  Extent columns = Extent::kNone;  // kNone: a vector
  enum class Need : uint8_t { kRequired, kOptional } need = Need::kRequired;
  bool ModelConfig::*required_if = nullptr;  // a kOptional row that the hyper-parameters may promise
};

inline constexpr int64_t kDistanceBuckets = 32;  // of MPNet and T5

// Where decoders sit in Hugging Face checkpoints: alone, bare, or beside a vision tower (older and newer naming).
struct HfRoot {
  std::string_view body;
  std::string_view head;
};
inline constexpr std::array<HfRoot, 4> kHfRoots = {
    {{"model.", ""}, {"", ""}, {"language_model.model.", "language_model."}, {"model.language_model.", ""}}};
// The same for encoders, whose heads have no prefix.
inline constexpr std::array<HfRoot, 6> kHfEncoderRoots = {
    {{"", ""}, {"bert.", ""}, {"roberta.", ""}, {"distilbert.", ""}, {"mpnet.", ""}, {"model.", ""}}};

// Sliding windows. Empty keys: layers of that format see everything, whatever its file says.
struct WindowKeys {
  std::string_view gguf = {};
  std::string_view hf = {};
  std::string_view hf_switch = {};       // a boolean that must be true for windows to count; empty: they always do
  std::string_view hf_first_layer = {};  // windows from this layer on, where the file lists no layer_types
  int64_t first_layer = 0;               // where the file does not give hf_first_layer
  int64_t fallback = 0;                  // tokens, where the file gives none; 0: no window
  int64_t period = 0;  // n: every n-th layer sees everything unless the file says otherwise; 0: none does
};

// How stored weights are to be read; differs between the formats of one architecture.
struct Conventions {
  bool rope_interleaved = false;  // GGUF's converter reorders rows of q and k for some architectures
  double norm_offset = 0;         // 1: norm weights are stored as w of a (1 + w) norm
};

// A query scalar that GGUF files do not carry, known by the number of layers.
struct QueryScalar {
  int64_t layers;
  double value;
};

enum class EmbeddingScale : uint8_t { kOne, kRootOfHidden };

struct Architecture {
  std::string_view name;                         // canonical: "llama"
  std::span<const std::string_view> gguf_names;  // values of general.architecture
  std::span<const std::string_view> hf_names;    // values of architectures[] and model_type
  std::span<const WeightRow> weights;
  std::span<const HfRoot> hf_roots = kHfRoots;
  Conventions gguf = {};
  Conventions hf = {};

  // Hyper-parameters beyond the common ones (read_config.cc), or instead of one of the same field.
  std::span<const IntKey> int_keys = {};
  std::span<const RealKey> real_keys = {};
  std::span<const QueryScalar> gguf_query_scalars = {};
  WindowKeys window = {};
  double theta = 10000;    // rope base, where the file gives none; 0: no rope
  double local_theta = 0;  // the same for windowed layers, if they have their own; 0: they do not
  std::string_view activation = "silu";
  std::string_view activation_key = "hidden_act";  // of config.json
  std::string_view pooler_activation = "tanh";     // of a classifier
  bool encodes = false;                            // never generates: no cache, and each token sees its whole text
  bool positions_after_padding = false;            // place 0 is the row behind that of pad_token_id
  bool tied_head = false;                          // where a Hugging Face config does not say
  EmbeddingScale embedding_scale = EmbeddingScale::kOne;

  EmbedRecipe embed;
  LayerRecipe layer;
  HeadRecipe head;
};

}  // namespace nereid::llm
