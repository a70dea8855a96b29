// SPDX-License-Identifier: Apache-2.0
// Runs the per-token decoder steps once over the vocabulary, at load time.
#include "llm/token/decoder.h"

#include <optional>
#include <utility>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/normalizer.h"

namespace nereid::token {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// "<0x0A>" -> '\n'
std::optional<char> byte_token_value(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

}  // namespace

std::string clean_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules)
    if (text.find(from) != std::string::npos) text = replace_all(text, from, to);
  return text;
}

Result<Decoder> Decoder::make(const TokenizerSpec& spec) {
  Decoder d;
  bool fused = false;
  for (const DecoderStep& step : spec.decoder) {
    switch (step.kind) {
      case DecoderKind::kFuse:
        fused = true;
        break;
      case DecoderKind::kStrip:
        if (step.content.size() != 1) {
          return unsupported("a decoder strips '{}'; only a character of one byte can be stripped", step.content);
        }
        d.strip_char_ = step.content[0];
        d.strip_start_ = step.start;
        d.strip_stop_ = step.stop;
        if (!fused) return unsupported("the decoder strips every token before joining them; no known tokenizer does");
        break;
      case DecoderKind::kMetaspace:
        if (step.prepend != PrependScheme::kNever) d.first_rule_ = FirstRule::kDropSpace;
        break;
      case DecoderKind::kWordPiece:
        d.first_rule_ = FirstRule::kWordPiece;
        break;
      case DecoderKind::kSentencePiece:
        if (step.start > 0) d.first_rule_ = FirstRule::kDropMarked;
        d.first_until_text_ = step.cleanup;
        break;
      case DecoderKind::kSuffix:
        d.drops_last_space_ = true;
        break;
      case DecoderKind::kByteLevel:
      case DecoderKind::kReplace:
      case DecoderKind::kByteFallback:
        break;
    }
  }
  const StringTable& tokens = spec.tokens;
  std::vector<bool> literal(tokens.size(), false);  // added tokens are text already
  for (const AddedToken& added : spec.added) literal[static_cast<size_t>(added.id)] = true;
  const bool trivial = spec.decoder.empty() ||
                       (spec.decoder.size() == 1 && spec.byte_level && spec.decoder[0].kind == DecoderKind::kByteLevel);
  if (trivial) {
    d.pieces_ = tokens;
    return d;
  }
  d.pieces_.reserve(tokens.size(), tokens.bytes().size());
  std::string piece, first;
  for (size_t id = 0; id < tokens.size(); ++id) {
    const bool surfaced = static_cast<int32_t>(id) == spec.unknown_id && !spec.unknown_surface.empty();
    piece = surfaced ? std::string_view(spec.unknown_surface) : tokens[id];
    first = piece;
    for (const DecoderStep& step : spec.decoder) {
      switch (step.kind) {
        case DecoderKind::kByteLevel:
          if (!spec.byte_level && !literal[id]) {
            std::string bytes;
            if (append_unmapped(piece, bytes)) piece = std::move(bytes);
          }
          break;
        case DecoderKind::kReplace:
          if (!step.pattern.empty()) piece = replace_all(piece, step.pattern, step.content);
          break;
        case DecoderKind::kByteFallback:
          if (const auto byte = byte_token_value(piece)) piece.assign(1, *byte);
          break;
        case DecoderKind::kMetaspace:
        case DecoderKind::kSentencePiece:
          if (!step.content.empty()) piece = replace_all(piece, step.content, " ");
          break;
        case DecoderKind::kWordPiece:
          piece =
              piece.starts_with(step.content) ? piece.substr(step.content.size()) : std::string(1, ' ').append(piece);
          if (step.cleanup) {
            piece = clean_up(std::move(piece));
            first = clean_up(std::move(first));
          }
          break;
        case DecoderKind::kSuffix:
          if (!step.content.empty()) piece = replace_all(piece, step.content, " ");
          break;
        case DecoderKind::kFuse:
        case DecoderKind::kStrip:
          break;
      }
    }
    d.pieces_.add(piece);
    if (d.first_rule_ == FirstRule::kWordPiece) d.first_pieces_.add(first);
    if (d.first_rule_ == FirstRule::kDropMarked) d.drops_space_.push_back(first.starts_with(kMetaspaceUtf8));
  }
  return d;
}

std::string_view Decoder::first_piece(int32_t id) const {
  const std::string_view bytes = piece(id);
  switch (first_rule_) {
    case FirstRule::kSame:
      return bytes;
    case FirstRule::kDropSpace:
      return bytes.starts_with(' ') ? bytes.substr(1) : bytes;
    case FirstRule::kDropMarked:
      return drops_space_[static_cast<size_t>(id)] ? bytes.substr(1) : bytes;
    case FirstRule::kWordPiece:
      return first_pieces_[static_cast<size_t>(id)];
  }
  return bytes;
}

}  // namespace nereid::token
