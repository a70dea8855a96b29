// SPDX-License-Identifier: Apache-2.0
// The rank of a token is its id and the order of merging: two neighbours merge if their joined bytes are a token.
#include "llm/token/source_tiktoken.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "llm/token/base64.h"
#include "llm/token/end_tokens.h"
#include "llm/token/pre_table.h"

namespace nereid::token {
namespace {

using SpecialTokens = std::vector<std::pair<std::string, int32_t>>;

struct Line {
  std::string bytes;
  int32_t rank = 0;
};

std::optional<Line> parse_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  std::optional<std::string> bytes = decode_base64(line.substr(0, space));
  const std::string_view number = line.substr(space + 1);
  Line out;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), out.rank);
  if (!bytes || bytes->empty() || failure != std::errc() || end != number.data() + number.size() || out.rank < 0) {
    return std::nullopt;
  }
  out.bytes = *std::move(bytes);
  return out;
}

// The special tokens of a family that has so many ordinary ones.
struct Family {
  size_t ranks;
  std::string_view pattern;
  SpecialTokens (*special)(int32_t first);
  bool nfc = false;  // the family's own code composes the text first
};

SpecialTokens gpt2_tokens(int32_t first) {
  return {{"<|endoftext|>", first}};
}
SpecialTokens gpt4_tokens(int32_t first) {
  return {{"<|endoftext|>", first + 1},
          {"<|fim_prefix|>", first + 2},
          {"<|fim_middle|>", first + 3},
          {"<|fim_suffix|>", first + 4},
          {"<|endofprompt|>", first + 20}};
}
SpecialTokens gpt4o_tokens(int32_t first) {
  return {{"<|endoftext|>", first + 1}, {"<|endofprompt|>", first + 20}};
}
SpecialTokens qwen_tokens(int32_t first) {
  SpecialTokens tokens = {{"<|endoftext|>", first}, {"<|im_start|>", first + 1}, {"<|im_end|>", first + 2}};
  for (int32_t i = 0; i < 205; ++i) tokens.emplace_back(fmt::format("<|extra_{}|>", i), first + 3 + i);
  return tokens;
}
SpecialTokens qwen35_tokens(int32_t first) {
  constexpr std::string_view kNames[] = {"<|endoftext|>",
                                         "<|im_start|>",
                                         "<|im_end|>",
                                         "<|object_ref_start|>",
                                         "<|object_ref_end|>",
                                         "<|box_start|>",
                                         "<|box_end|>",
                                         "<|quad_start|>",
                                         "<|quad_end|>",
                                         "<|vision_start|>",
                                         "<|vision_end|>",
                                         "<|vision_pad|>",
                                         "<|image_pad|>",
                                         "<|video_pad|>",
                                         "<tool_call>",
                                         "</tool_call>",
                                         "<|fim_prefix|>",
                                         "<|fim_middle|>",
                                         "<|fim_suffix|>",
                                         "<|fim_pad|>",
                                         "<|repo_name|>",
                                         "<|file_sep|>",
                                         "<tool_response>",
                                         "</tool_response>",
                                         "<think>",
                                         "</think>",
                                         "<|audio_start|>",
                                         "<|audio_end|>",
                                         "<tts_pad>",
                                         "<tts_text_bos>",
                                         "<tts_text_eod>",
                                         "<tts_text_bos_single>",
                                         "<|audio_pad|>"};
  SpecialTokens tokens;
  for (const std::string_view name : kNames) tokens.emplace_back(name, first + static_cast<int32_t>(tokens.size()));
  return tokens;
}
SpecialTokens llama3_tokens(int32_t first) {
  SpecialTokens tokens;
  constexpr std::string_view kNamed[] = {"<|begin_of_text|>",
                                         "<|end_of_text|>",
                                         "<|reserved_special_token_0|>",
                                         "<|reserved_special_token_1|>",
                                         "<|finetune_right_pad_id|>",
                                         "<|reserved_special_token_2|>",
                                         "<|start_header_id|>",
                                         "<|end_header_id|>",
                                         "<|eom_id|>",
                                         "<|eot_id|>",
                                         "<|python_tag|>"};
  for (const std::string_view name : kNamed) tokens.emplace_back(name, first + static_cast<int32_t>(tokens.size()));
  for (int32_t i = 3; tokens.size() < 256; ++i)
    tokens.emplace_back(fmt::format("<|reserved_special_token_{}|>", i), first + static_cast<int32_t>(tokens.size()));
  return tokens;
}

constexpr Family kFamilies[] = {
    {50256, "gpt-2", gpt2_tokens},        {100256, "llama-bpe", gpt4_tokens},  // GPT-4 splits as Llama 3 does
    {128000, "llama-bpe", llama3_tokens}, {151643, "qwen2", qwen_tokens, true},
    {199998, "gpt-4o", gpt4o_tokens},     {248044, "qwen35", qwen35_tokens, true},
};

void add_pattern(std::string_view regex, TokenizerSpec& spec) {
  SplitStep step;
  step.kind = SplitKind::kPattern;
  step.pattern = regex;
  step.regex = true;
  spec.pre_tokenizer.push_back(std::move(step));
}

void add_pre_tokenizer(std::string_view pattern, TokenizerSpec& spec) {
  if (const PreTokenizerRow* row = find_pre_tokenizer(pattern)) {
    for (const std::string_view p : row->patterns)
      if (!p.empty()) add_pattern(p, spec);
  } else {
    add_pattern(pattern, spec);
  }
  SplitStep bytes;
  bytes.kind = SplitKind::kByteLevel;
  spec.pre_tokenizer.push_back(bytes);
}

Result<std::vector<Line>> read_lines(std::string_view text) {
  std::vector<Line> lines;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::optional<Line> parsed = parse_line(line);
    if (!parsed) {
      return invalid_argument("line {} of the tiktoken file is no token in base64, a space and a rank", number);
    }
    lines.push_back(*std::move(parsed));
  }
  if (lines.empty()) return invalid_argument("the tiktoken file has no tokens");
  return lines;
}

}  // namespace

Result<TokenizerSpec> spec_from_tiktoken(std::string_view text, const TiktokenOptions& options) {
  NEREID_TRY(std::vector<Line> lines, read_lines(text));
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.rank < b.rank; });
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& f) { return f.ranks == lines.size(); });
  SpecialTokens special = options.special_tokens;
  std::string_view pattern = options.pattern;
  bool nfc = false;
  if (family != std::end(kFamilies)) {
    if (special.empty()) special = family->special(static_cast<int32_t>(lines.size()));
    if (pattern.empty()) {
      pattern = family->pattern;
      nfc = family->nfc;
    }
  }
  if (pattern.empty()) pattern = "llama-bpe";

  int64_t last = lines.back().rank;
  for (const auto& [name, id] : special) last = std::max<int64_t>(last, id);
  if (static_cast<uint64_t>(last) > 8 * (lines.size() + special.size()) + 4096) {
    return invalid_argument("the tiktoken file has {} tokens, but ranks up to {}", lines.size(), last);
  }
  TokenizerSpec spec;
  spec.source = "tiktoken";
  if (nfc) spec.normalizer.push_back({.kind = NormalizerKind::kNfc});
  spec.model = ModelKind::kBpe;
  spec.byte_level = true;
  spec.merge_by_score = true;
  spec.ignore_merges = true;
  std::vector<std::string_view> texts(static_cast<size_t>(last) + 1);
  spec.types.assign(texts.size(), TokenType::kUnused);
  spec.scores.resize(texts.size());
  for (const Line& line : lines) {
    const auto id = static_cast<size_t>(line.rank);
    if (spec.types[id] == TokenType::kNormal)
      return invalid_argument("the tiktoken file has two tokens of rank {}", id);
    texts[id] = line.bytes;
    spec.types[id] = TokenType::kNormal;
    spec.scores[id] = -static_cast<float>(line.rank);
  }
  for (const auto& [name, id] : special) {
    if (id < 0 || spec.types[static_cast<size_t>(id)] == TokenType::kNormal) {
      return invalid_argument("the special token '{}' has the id {}, which an ordinary token has", name, id);
    }
    texts[static_cast<size_t>(id)] = name;
    spec.types[static_cast<size_t>(id)] = TokenType::kControl;
    spec.added.push_back({.id = id, .text = name, .special = true});
  }
  for (const std::string_view t : texts) spec.tokens.add(t);
  add_pre_tokenizer(pattern, spec);
  spec.decoder.push_back({.kind = DecoderKind::kByteLevel});
  const auto find = [&](std::string_view name) {
    const auto at = std::find_if(special.begin(), special.end(), [&](const auto& s) { return s.first == name; });
    return at == special.end() ? kNoToken : at->second;
  };
  spec.bos_id = find("<|begin_of_text|>");
  spec.eos_id = find(spec.bos_id == kNoToken ? "<|endoftext|>" : "<|end_of_text|>");
  if (spec.bos_id != kNoToken) spec.prefix_ids.push_back(spec.bos_id);
  collect_end_tokens(spec);
  NEREID_RETURN_IF_ERROR(spec.validate());
  return spec;
}

}  // namespace nereid::token
