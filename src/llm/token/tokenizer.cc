// SPDX-License-Identifier: Apache-2.0
// The pipeline: added tokens, normalizer, splitter, model; and the way back.
#include "llm/token/tokenizer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "llm/token/added_tokens.h"
#include "llm/token/byte_stand_ins.h"
#include "llm/token/decoder.h"
#include "llm/token/model.h"
#include "llm/token/normalizer.h"
#include "llm/token/splitter.h"
#include "llm/token/utf8.h"
#include "llm/token/word_cache.h"

namespace nereid::token {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;
constexpr uint8_t kSpecialFlag = 1, kEndFlag = 2;

// Tokens that the model may make out of text.
bool is_model_token(const TokenizerSpec& spec, size_t id) {
  switch (spec.types[id]) {
    case TokenType::kNormal:
      return !spec.tokens[id].empty();
    case TokenType::kUserDefined:
      return !spec.byte_level;
    case TokenType::kUnused:
      return spec.model == ModelKind::kBpe && !spec.byte_level;
    case TokenType::kUnknown:
    case TokenType::kControl:
    case TokenType::kByte:
      return false;
  }
  return false;
}

// "<0x41>" for byte fallback; by value for byte-level models.
std::vector<int32_t> find_byte_tokens(const TokenizerSpec& spec, const StringIndex& index) {
  std::vector<int32_t> ids(256, kNoToken);
  if (spec.byte_level) {
    for (size_t b = 0; b < 256; ++b) {
      const char byte = static_cast<char>(b);
      ids[b] = index.find({&byte, 1});
    }
    return ids;
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string_view t = spec.tokens[id];
    if (t.size() != 6 || !t.starts_with("<0x") || t[5] != '>') continue;
    const size_t high = kHex.find(t[3]), low = kHex.find(t[4]);
    if (high != std::string_view::npos && low != std::string_view::npos)
      ids[high * 16 + low] = static_cast<int32_t>(id);
  }
  return ids;
}

// Whether no token reaches across "x▁": text may then be cut there and each part be handled (and remembered) alone.
bool can_cut_before_spaces(const TokenizerSpec& spec, const StringIndex& index) {
  if (spec.byte_level || spec.model == ModelKind::kWordPiece || spec.ignore_merges || !spec.word_suffix.empty() ||
      !spec.continuing_prefix.empty() || index.find(kMetaspaceUtf8) == StringIndex::kNone) {
    return false;
  }
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string_view token = spec.tokens[id];
    size_t last = token.rfind(kMetaspaceUtf8);
    if (last == std::string_view::npos || !is_model_token(spec, id)) continue;
    // All before the last one must be the same character.
    while (last >= kMetaspaceUtf8.size() && token.substr(last - kMetaspaceUtf8.size()).starts_with(kMetaspaceUtf8))
      last -= kMetaspaceUtf8.size();
    if (last != 0) return false;
  }
  return true;
}

}  // namespace

struct Tokenizer::Impl {
  TokenizerSpec spec;
  ModelVocabulary vocabulary;
  Normalizer normalizer;
  AddedTokens raw_added, normalized_added;
  Splitter splitter;
  std::unique_ptr<const Model> model;
  Decoder decoder;
  std::vector<uint8_t> flags;
  bool cut_before_spaces = false;

  // One encode() call.
  struct Run {
    Splitter::Scratch split;
    ModelScratch model;
    WordCache cache;
    std::vector<AddedTokens::Segment> segments;
    std::deque<std::string> normalized;
    std::vector<int32_t> ids;
    bool strict;
    explicit Run(size_t text_bytes, bool fail) : cache(text_bytes), strict(fail) {}
  };

  void encode_word(std::string_view word, Run& run) const {
    if (run.cache.repeat(word, run.ids)) return;
    const size_t begin = run.ids.size();
    model->encode(word, run.model, run.ids);
    run.cache.remember(word, begin, run.ids.size());
  }

  void encode_pieces(std::string_view word, Run& run) const {
    if (!cut_before_spaces) return encode_word(word, run);
    size_t begin = 0;
    for (size_t at = word.find(kMetaspaceUtf8, 1); at != std::string_view::npos;) {
      const bool in_run = at >= kMetaspaceUtf8.size() &&
                          word.substr(at - kMetaspaceUtf8.size(), kMetaspaceUtf8.size()) == kMetaspaceUtf8;
      if (!in_run) {
        encode_word(word.substr(begin, at - begin), run);
        begin = at;
      }
      at = word.find(kMetaspaceUtf8, at + kMetaspaceUtf8.size());
    }
    encode_word(word.substr(begin), run);
  }

  // Text without tokens in it.
  Status encode_plain(std::string_view text, bool first, Run& run) const {
    if (const Status status = splitter.run(text, first, run.split); !status.is_ok()) {
      if (run.strict) return status;
      run.split.words.assign(1, text);
    }
    for (const std::string_view word : run.split.words) encode_pieces(word, run);
    return Status::ok();
  }

  Status encode_segment(std::string_view text, bool first, bool parse_special, Run& run) const {
    if (!normalizer.empty()) {
      NEREID_TRY(std::string normalized, normalizer.run(text, first || spec.prefix_every_segment));
      text = run.normalized.emplace_back(std::move(normalized));
    }
    if (normalized_added.empty()) return encode_plain(text, first, run);
    std::vector<AddedTokens::Segment> parts;
    normalized_added.split(text, parse_special, parts);
    for (const AddedTokens::Segment& part : parts) {
      if (part.id != kNoToken) {
        run.ids.push_back(part.id);
      } else {
        NEREID_RETURN_IF_ERROR(encode_plain(part.text, first && part.text.data() == text.data(), run));
      }
    }
    return Status::ok();
  }

  Result<std::vector<int32_t>> encode(std::string_view text, EncodeOptions options, bool strict) const {
    if (text.size() > kMaxTextBytes) {
      return exhausted("the text has {} bytes; at most {} can be encoded at once", text.size(), kMaxTextBytes);
    }
    std::string valid;
    if (find_invalid(text) != std::string_view::npos) {
      valid = sanitize(text);
      text = valid;
    }
    Run run(text.size(), strict);
    run.ids.reserve(text.size() / 3 + 8);
    if (options.add_special) run.ids = spec.prefix_ids;
    raw_added.split(text, options.parse_special, run.segments);
    for (const AddedTokens::Segment& segment : run.segments) {
      if (segment.id != kNoToken) {
        run.ids.push_back(segment.id);
        continue;
      }
      const bool first = segment.text.data() == text.data();
      NEREID_RETURN_IF_ERROR(encode_segment(segment.text, first, options.parse_special, run));
    }
    if (options.add_special) run.ids.insert(run.ids.end(), spec.suffix_ids.begin(), spec.suffix_ids.end());
    return std::move(run.ids);
  }

  bool in_range(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < flags.size(); }
  bool has_flag(int32_t id, uint8_t flag) const { return in_range(id) && (flags[static_cast<size_t>(id)] & flag) != 0; }
};

Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec) {
  NEREID_RETURN_IF_ERROR(spec.validate());
  auto impl = std::make_unique<Tokenizer::Impl>();
  impl->spec = std::move(spec);
  const TokenizerSpec& s = impl->spec;
  const size_t n = s.tokens.size();

  ModelVocabulary& v = impl->vocabulary;
  v.spec = &s;
  v.index = StringIndex(&s.tokens, n);
  for (size_t id = 0; id < n; ++id) {
    if (!is_model_token(s, id)) continue;
    v.index.insert(static_cast<int32_t>(id));
    v.longest_token = std::max(v.longest_token, s.tokens[id].size());
    if (s.user_defined_in_model && s.types[id] == TokenType::kUserDefined) {
      v.user_defined.add(s.tokens[id], static_cast<int32_t>(id));
    }
  }
  v.user_defined.build();
  v.byte_tokens = find_byte_tokens(s, v.index);

  const bool mapped = std::any_of(s.normalizer.begin(), s.normalizer.end(),
                                  [](const NormalizerStep& step) { return step.kind == NormalizerKind::kByteLevel; });
  NEREID_TRY(impl->normalizer, Normalizer::make(s.normalizer));
  NEREID_TRY(impl->raw_added, AddedTokens::make(s.added, false, impl->normalizer));
  NEREID_TRY(impl->normalized_added, AddedTokens::make(s.added, true, impl->normalizer));
  NEREID_TRY(impl->splitter, Splitter::make(s.pre_tokenizer, mapped));
  NEREID_TRY(impl->decoder, Decoder::make(s));
  switch (s.model) {
    case ModelKind::kBpe:
      impl->model = make_bpe(v);
      break;
    case ModelKind::kUnigram:
      impl->model = make_unigram(v);
      break;
    case ModelKind::kWordPiece:
      impl->model = make_wordpiece(v);
      break;
  }
  impl->cut_before_spaces = can_cut_before_spaces(s, v.index);

  impl->flags.assign(n, 0);
  for (size_t id = 0; id < n; ++id) {
    const bool special = s.types[id] == TokenType::kControl || s.types[id] == TokenType::kUnknown;
    if (special) impl->flags[id] |= kSpecialFlag;
  }
  for (const AddedToken& added : s.added)
    if (added.special) impl->flags[static_cast<size_t>(added.id)] |= kSpecialFlag;
  if (s.unknown_id != kNoToken && !s.unknown_surface.empty()) {
    impl->flags[static_cast<size_t>(s.unknown_id)] &= static_cast<uint8_t>(~kSpecialFlag);
  }
  for (const int32_t id : s.end_of_generation) impl->flags[static_cast<size_t>(id)] |= kEndFlag;
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(impl)));
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::vector<int32_t>> Tokenizer::encode_checked(std::string_view text, EncodeOptions options) const {
  return impl_->encode(text, options, true);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  Result<std::vector<int32_t>> ids = impl_->encode(text, options, false);
  return ids.is_ok() ? std::move(ids).value() : std::vector<int32_t>();
}

std::string_view Tokenizer::piece(int32_t id) const {
  return impl_->in_range(id) ? impl_->decoder.piece(id) : std::string_view();
}

int32_t Tokenizer::token_to_id(std::string_view text) const {
  const TokenizerSpec& s = impl_->spec;
  for (const AddedToken& added : s.added)
    if (added.text == text) return added.id;
  std::string bytes;
  if (s.byte_level && append_unmapped(text, bytes)) {
    if (const int32_t id = impl_->vocabulary.index.find(bytes); id != StringIndex::kNone) return id;
  }
  if (const int32_t id = impl_->vocabulary.index.find(text); id != StringIndex::kNone) return id;
  // Tokens that no text becomes (unused ones, byte tokens) are in no index.
  for (size_t id = 0; id < s.tokens.size(); ++id)
    if (s.tokens[id] == text) return static_cast<int32_t>(id);
  return kNoToken;
}

int32_t Tokenizer::vocab_size() const {
  return static_cast<int32_t>(impl_->spec.tokens.size());
}
bool Tokenizer::is_special(int32_t id) const {
  return impl_->has_flag(id, kSpecialFlag);
}
bool Tokenizer::is_end_of_generation(int32_t id) const {
  return impl_->has_flag(id, kEndFlag);
}
const TokenizerSpec& Tokenizer::spec() const {
  return impl_->spec;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, DecodeOptions options) const {
  const Decoder& d = impl_->decoder;
  std::string out;
  bool first = true;
  for (const int32_t id : ids) {
    if (!impl_->in_range(id) || (options.skip_special && is_special(id))) continue;
    out.append(first ? d.first_piece(id) : d.piece(id));
    first = first && d.first_until_text() && out.empty();
  }
  size_t begin = 0;
  while (begin < d.strip_start() && begin < out.size() && out[begin] == d.strip_char()) ++begin;
  out.erase(0, begin);
  for (uint32_t i = 0; i < d.strip_stop() && !out.empty() && out.back() == d.strip_char(); ++i) out.pop_back();
  if (d.drops_last_space() && out.ends_with(' ')) out.pop_back();
  return options.raw_bytes || find_invalid(out) == std::string_view::npos ? out : sanitize(out);
}

IncrementalDetokenizer::IncrementalDetokenizer(const Tokenizer& tokenizer, DecodeOptions options)
    : tokenizer_(tokenizer), options_(options), to_strip_(tokenizer.impl_->decoder.strip_start()) {}

std::string IncrementalDetokenizer::push(int32_t id) {
  const Tokenizer::Impl& impl = *tokenizer_.impl_;
  if (!impl.in_range(id) || (options_.skip_special && tokenizer_.is_special(id))) return {};
  const std::string_view bytes = at_start_ ? impl.decoder.first_piece(id) : impl.decoder.piece(id);
  at_start_ = at_start_ && impl.decoder.first_until_text() && bytes.empty() && pending_.empty();
  pending_.append(bytes);
  size_t begin = 0;
  while (to_strip_ > 0 && begin < pending_.size() && pending_[begin] == impl.decoder.strip_char()) ++begin, --to_strip_;
  if (begin < pending_.size()) to_strip_ = 0;
  size_t keep = incomplete_tail(pending_);
  // A space that goes if nothing follows waits too.
  if (keep == 0 && begin < pending_.size() && impl.decoder.drops_last_space() && pending_.ends_with(' ')) keep = 1;
  const std::string_view ready = std::string_view(pending_).substr(begin, pending_.size() - begin - keep);
  std::string out = options_.raw_bytes ? std::string(ready) : sanitize(ready);
  pending_.erase(0, pending_.size() - keep);
  return out;
}

std::string IncrementalDetokenizer::flush() {
  if (tokenizer_.impl_->decoder.drops_last_space() && pending_ == " ") pending_.clear();
  std::string out = options_.raw_bytes ? pending_ : sanitize(pending_);
  pending_.clear();
  return out;
}

}  // namespace nereid::token
