// SPDX-License-Identifier: Apache-2.0
// The fields of sentencepiece_model.proto that matter for running a model.
#include "llm/token/source_sentencepiece.h"

#include <algorithm>
#include <cmath>

#include "llm/token/end_tokens.h"
#include "llm/token/normalizer.h"
#include "llm/token/wire_reader.h"

namespace nereid::token {
namespace {

using WireField = WireReader::Field;
using Type = WireReader::Type;

struct Trainer {
  uint64_t model_type = 1;  // 1 unigram, 2 BPE, 3 word, 4 char
  bool byte_fallback = false;
  bool space_as_suffix = false;
  std::string unknown_surface = " \xE2\x81\x87 ";  // U+2047
  int32_t unknown_id = 0, bos_id = 1, eos_id = 2, padding_id = -1;
};

// Calls f(field) for each field of the message; kInvalidArgument if the bytes are none.
template <typename F>
Status for_each_field(std::string_view message, std::string_view what, const F& f) {
  WireReader reader(message);
  while (const std::optional<WireField> field = reader.next()) NEREID_RETURN_IF_ERROR(f(*field));
  if (reader.failed()) return invalid_argument("the {} of the SentencePiece model is damaged", what);
  return Status::ok();
}

Status read_piece(std::string_view message, TokenizerSpec& spec) {
  std::string_view text;
  float score = 0;
  TokenType type = TokenType::kNormal;
  NEREID_RETURN_IF_ERROR(for_each_field(message, "list of pieces", [&](const WireField& f) -> Status {
    if (f.number == 1 && f.type == Type::kBytes) text = f.bytes;
    if (f.number == 2 && f.type == Type::kFixed32) score = f.as_float();
    if (f.number == 3 && f.type == Type::kVarint) {
      if (f.value < 1 || f.value > 6) {
        return invalid_argument("piece {} of the SentencePiece model has the type {}, which does not exist",
                                spec.tokens.size(), f.value);
      }
      type = static_cast<TokenType>(f.value);
    }
    return Status::ok();
  }));
  if (!std::isfinite(score)) {
    return invalid_argument("piece {} of the SentencePiece model has a score that is no number", spec.tokens.size());
  }
  spec.tokens.add(text);
  spec.scores.push_back(score);
  spec.types.push_back(type);
  return Status::ok();
}

Status read_trainer(std::string_view message, Trainer& trainer) {
  return for_each_field(message, "training parameters", [&](const WireField& f) {
    if (f.number == 44 && f.type == Type::kBytes) trainer.unknown_surface = f.bytes;
    if (f.type != Type::kVarint) return Status::ok();
    const auto id = static_cast<int32_t>(static_cast<int64_t>(f.value));
    if (f.number == 3) trainer.model_type = f.value;
    if (f.number == 24) trainer.space_as_suffix = f.value != 0;
    if (f.number == 35) trainer.byte_fallback = f.value != 0;
    if (f.number == 40) trainer.unknown_id = id;
    if (f.number == 41) trainer.bos_id = id;
    if (f.number == 42) trainer.eos_id = id;
    if (f.number == 43) trainer.padding_id = id;
    return Status::ok();
  });
}

Status read_normalizer(std::string_view message, NormalizerStep& step) {
  return for_each_field(message, "normaliser", [&](const WireField& f) {
    if (f.number == 2 && f.type == Type::kBytes) step.charsmap = f.bytes;
    if (f.type != Type::kVarint) return Status::ok();
    if (f.number == 3) step.prepend_space = f.value != 0;
    if (f.number == 4) step.collapse_spaces = f.value != 0;
    if (f.number == 5) step.escape_spaces = f.value != 0;
    return Status::ok();
  });
}

// The id if the vocabulary has it and marks it as such a token.
int32_t checked_id(const TokenizerSpec& spec, int32_t id, TokenType type) {
  const bool there = id >= 0 && static_cast<size_t>(id) < spec.types.size();
  return there && spec.types[static_cast<size_t>(id)] == type ? id : kNoToken;
}

void read_special(const Trainer& trainer, TokenizerSpec& spec) {
  spec.unknown_id = checked_id(spec, trainer.unknown_id, TokenType::kUnknown);
  spec.bos_id = checked_id(spec, trainer.bos_id, TokenType::kControl);
  spec.eos_id = checked_id(spec, trainer.eos_id, TokenType::kControl);
  spec.padding_id = checked_id(spec, trainer.padding_id, TokenType::kControl);
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const auto i = static_cast<int32_t>(id);
    if (spec.types[id] == TokenType::kUnknown && spec.unknown_id == kNoToken) spec.unknown_id = i;
    if (spec.types[id] != TokenType::kControl && spec.types[id] != TokenType::kUnknown) continue;
    spec.added.push_back({.id = i, .text = std::string(spec.tokens[id]), .special = true});
  }
  if (spec.model == ModelKind::kBpe && spec.bos_id != kNoToken) spec.prefix_ids.push_back(spec.bos_id);
}

}  // namespace

Result<TokenizerSpec> spec_from_sentencepiece(std::string_view bytes) {
  TokenizerSpec spec;
  spec.source = "SentencePiece";
  Trainer trainer;
  NormalizerStep step;
  step.kind = NormalizerKind::kSentencePiece;
  step.prepend_space = step.collapse_spaces = step.escape_spaces = true;
  NEREID_RETURN_IF_ERROR(for_each_field(bytes, "list of fields", [&](const WireField& f) -> Status {
    if (f.type != Type::kBytes) return Status::ok();
    if (f.number == 1) return read_piece(f.bytes, spec);
    if (f.number == 2) return read_trainer(f.bytes, trainer);
    if (f.number == 3) return read_normalizer(f.bytes, step);
    return Status::ok();
  }));
  if (spec.tokens.empty()) return invalid_argument("the SentencePiece model has no pieces");
  if (trainer.model_type != 1 && trainer.model_type != 2) {
    return unsupported("the SentencePiece model is of type {}; known types are 1 (unigram) and 2 (BPE)",
                       trainer.model_type);
  }
  if (trainer.space_as_suffix) return unsupported("the SentencePiece model puts spaces after words");
  spec.model = trainer.model_type == 1 ? ModelKind::kUnigram : ModelKind::kBpe;
  spec.merge_by_score = spec.model == ModelKind::kBpe;
  spec.byte_fallback = trainer.byte_fallback;
  spec.fuse_unknown = true;
  spec.user_defined_in_model = true;
  spec.prefix_every_segment = true;
  spec.unknown_surface = trainer.unknown_surface;
  read_special(trainer, spec);

  DecoderStep decoder;
  decoder.kind = DecoderKind::kSentencePiece;
  decoder.content = kMetaspaceUtf8;
  decoder.start = step.prepend_space || step.collapse_spaces ? 1 : 0;
  decoder.cleanup = step.collapse_spaces;
  spec.decoder = {decoder, {.kind = DecoderKind::kByteFallback}};
  spec.normalizer.push_back(std::move(step));
  collect_end_tokens(spec);
  NEREID_RETURN_IF_ERROR(spec.validate());
  return spec;
}

}  // namespace nereid::token
