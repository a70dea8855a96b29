// SPDX-License-Identifier: Apache-2.0
// One function a kind of step; each turns the list of words into a finer one.
#include "llm/token/splitter.h"

#include <utility>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/normalizer.h"
#include "llm/token/pre_table.h"
#include "llm/token/split_parts.h"
#include "llm/token/unicode.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

constexpr std::string_view kWhitespacePattern = R"([\w\p{Join_Control}]+|[^\w\s\p{Join_Control}]+)";

// Each character that `is_match` accepts is a match of its own.
template <typename IsMatch>
void split_characters(std::string_view text, SplitBehavior behavior, const IsMatch& is_match,
                      std::vector<std::string_view>& words) {
  PartWriter parts(text, behavior, false, words);
  for (size_t i = 0; i < text.size();) {
    const Char c = decode_char(text, i);
    if (is_match(c.code)) parts.match({i, i + c.size});
    i += c.size;
  }
  parts.finish();
}

void split_literal(std::string_view text, std::string_view literal, SplitBehavior behavior, bool invert,
                   std::vector<std::string_view>& words) {
  PartWriter parts(text, behavior, invert, words);
  if (!literal.empty()) {
    for (size_t i = text.find(literal); i != std::string_view::npos; i = text.find(literal, i + literal.size()))
      parts.match({i, i + literal.size()});
  }
  parts.finish();
}

void split_fixed_length(std::string_view text, uint32_t length, std::vector<std::string_view>& words) {
  size_t begin = 0;
  uint32_t count = 0;
  for (size_t i = 0; i < text.size();) {
    i += decode_char(text, i).size;
    if (++count == length || i == text.size()) {
      words.push_back(text.substr(begin, i - begin));
      begin = i;
      count = 0;
    }
  }
}

bool is_bert_punctuation(char32_t c) {
  return is_ascii_punctuation(c) || is_punctuation(c);
}

std::string_view regex_of(const SplitStep& step) {
  if (step.kind == SplitKind::kByteLevel) return kGpt2Pattern;
  return step.kind == SplitKind::kWhitespace ? kWhitespacePattern : std::string_view(step.pattern);
}

bool needs_regex(const SplitStep& step) {
  return step.kind == SplitKind::kWhitespace ||
         (step.regex && (step.kind == SplitKind::kPattern || step.kind == SplitKind::kByteLevel));
}

bool can_be_native(const SplitStep& step) {
  const bool isolated = step.behavior == SplitBehavior::kIsolated && !step.invert;
  return step.kind == SplitKind::kByteLevel || (step.kind == SplitKind::kPattern && isolated);
}

}  // namespace

Result<Splitter> Splitter::make(const std::vector<SplitStep>& steps, bool text_is_mapped) {
  Splitter splitter;
  splitter.text_is_mapped_ = text_is_mapped;
  for (const SplitStep& spec : steps) {
    Step step;
    step.spec = spec;
    if (spec.kind == SplitKind::kWhitespace) step.spec.invert = true;  // the matches are the words, the rest goes
    if (needs_regex(spec)) {
      const std::string_view regex = regex_of(spec);
      if (can_be_native(spec)) step.native = find_native_split(regex);
      NEREID_TRY(Pattern pattern, Pattern::compile(regex).with("reading the pre-tokenizer"));
      step.pattern = std::make_shared<const Pattern>(std::move(pattern));
    }
    splitter.steps_.push_back(std::move(step));
  }
  return splitter;
}

Status Splitter::run(std::string_view text, bool first, Scratch& scratch) const {
  scratch.words.clear();
  if (text.empty()) return Status::ok();
  scratch.words.push_back(text);
  bool mapped = text_is_mapped_;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bool last = i + 1 == steps_.size();
    NEREID_RETURN_IF_ERROR(apply(i, first, last, scratch));
    mapped = mapped || (steps_[i].spec.kind == SplitKind::kByteLevel && !last);
  }
  if (!mapped) return Status::ok();
  for (std::string_view& word : scratch.words) {
    std::string bytes;
    if (append_unmapped(word, bytes)) word = scratch.owned.emplace_back(std::move(bytes));
  }
  return Status::ok();
}

Status Splitter::split_regex(size_t index, SplitBehavior behavior, Scratch& scratch) const {
  const Step& step = steps_[index];
  scratch.matchers.resize(steps_.size());
  std::optional<Pattern::Matcher>& matcher = scratch.matchers[index];
  for (const std::string_view word : scratch.previous) {
    if (step.native != nullptr && step.native(word, scratch.words)) continue;
    if (!matcher) matcher.emplace(*step.pattern);
    PartWriter parts(word, behavior, step.spec.invert, scratch.words);
    for (size_t from = 0; from < word.size();) {
      NEREID_TRY(const Span match, matcher->find(word, from));
      if (match.begin == std::string_view::npos) break;
      parts.match(match);
      from = match.end;
      if (match.begin == match.end && from < word.size()) from += decode_char(word, from).size;
    }
    parts.finish();
  }
  return Status::ok();
}

Status Splitter::apply(size_t index, bool first, bool last, Scratch& scratch) const {
  const SplitStep& s = steps_[index].spec;
  std::swap(scratch.words, scratch.previous);
  std::vector<std::string_view>& words = scratch.words;
  words.clear();
  const auto each = [&](const auto& split) {
    for (const std::string_view word : scratch.previous) split(word);
    return Status::ok();
  };
  switch (s.kind) {
    case SplitKind::kPattern:
      if (s.regex) return split_regex(index, s.behavior, scratch);
      return each([&](std::string_view w) { split_literal(w, s.pattern, s.behavior, s.invert, words); });
    case SplitKind::kByteLevel: {
      if (s.prepend != PrependScheme::kNever) {
        for (std::string_view& word : scratch.previous)
          if (word[0] != ' ') word = scratch.owned.emplace_back(std::string(1, ' ').append(word));
      }
      if (s.regex) {
        NEREID_RETURN_IF_ERROR(split_regex(index, SplitBehavior::kIsolated, scratch));
      } else {
        std::swap(words, scratch.previous);
      }
      // Steps after this one were written for the stand-in characters.
      for (std::string_view& word : words)
        if (!last) word = scratch.owned.emplace_back(map_bytes(word));
      return Status::ok();
    }
    case SplitKind::kDigits: {
      const auto behavior = s.individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
      return each([&](std::string_view w) { split_characters(w, behavior, is_number, words); });
    }
    case SplitKind::kPunctuation:
      return each([&](std::string_view w) { split_characters(w, s.behavior, is_bert_punctuation, words); });
    case SplitKind::kBert: {
      std::vector<std::string_view> parts;
      return each([&](std::string_view w) {
        parts.clear();
        split_characters(w, SplitBehavior::kRemoved, is_whitespace, parts);
        for (const std::string_view part : parts)
          split_characters(part, SplitBehavior::kIsolated, is_bert_punctuation, words);
      });
    }
    case SplitKind::kWhitespace:
      return split_regex(index, SplitBehavior::kRemoved, scratch);
    case SplitKind::kWhitespaceOnly:
      return each([&](std::string_view w) { split_characters(w, SplitBehavior::kRemoved, is_whitespace, words); });
    case SplitKind::kMetaspace:
      return each([&](std::string_view w) {
        std::string text = replace_all(w, " ", s.content);
        const bool wanted = s.prepend == PrependScheme::kAlways ||
                            (s.prepend == PrependScheme::kFirst && first && w.data() == scratch.previous[0].data());
        if (wanted && !text.starts_with(s.content)) text = std::string(s.content).append(text);
        const std::string_view replaced = scratch.owned.emplace_back(std::move(text));
        if (s.regex) {
          split_literal(replaced, s.content, SplitBehavior::kMergedWithNext, false, words);
        } else {
          words.push_back(replaced);
        }
      });
    case SplitKind::kFixedLength:
      return each([&](std::string_view w) { split_fixed_length(w, s.length, words); });
  }
  return Status::ok();
}

}  // namespace nereid::token
