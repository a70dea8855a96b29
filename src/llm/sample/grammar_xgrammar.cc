// SPDX-License-Identifier: Apache-2.0
// Grammars by xgrammar. What it throws is caught here, what it names stays here.
//
// Masks are made when a state is first met and kept with the grammar, so compiling costs little whatever the
// vocabulary; its own caches know no bound and stay off.
#include "llm/sample/grammar.h"

#include <xgrammar/xgrammar.h>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "base/json.h"
#include "llm/sample/grammar_limits.h"
#include "llm/sample/philox.h"
#include "llm/sample/xgrammar_log.h"

namespace nereid::sample {
namespace {

constexpr int kMostWhitespace = 24;   // in a row, in JSON: enough to indent, too little to go on for ever
constexpr size_t kMostGrammars = 64;  // kept
// Of this thread's time. A mask takes microseconds, or some milliseconds where its state is met for the first time.
constexpr double kMostMaskSeconds = 2;      // one mask, while the grammar is tried out
constexpr double kMostSequenceSeconds = 5;  // all of one sequence, and a millisecond for each of its tokens
constexpr double kTrialSeconds = 0.02;      // for trying out
constexpr int kTrialTokens = 64;

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Without the place in its sources and the check that failed, which some of xgrammar's messages begin with.
std::string cut(std::string text) {
  if (const size_t place = text.find(".cc:"); place != std::string::npos) {
    const size_t begin = text.find(": ", place);
    if (begin != std::string::npos) text.erase(0, begin + 2);
  }
  constexpr std::string_view kFalse = ") is false: ";
  if (const size_t check = text.find(kFalse); check != std::string::npos && text.starts_with("Check failed"))
    text.erase(0, check + kFalse.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  constexpr size_t kMost = 600;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// What it ignores makes answers that are not what was asked for. Of oneOf it takes anyOf where it cannot tell the
// branches apart, as everybody does.
bool is_harmless(const std::string& warning) {
  return warning.find("oneOf") != std::string::npos;
}

using Mask = std::vector<uint32_t>;

class Compiled final : public CompiledGrammar {
 public:
  Compiled(xgrammar::CompiledGrammar grammar, std::shared_ptr<const Mask> never)
      : grammar_(std::move(grammar)), never_(std::move(never)) {}
  const xgrammar::CompiledGrammar& grammar() const { return grammar_; }
  // Tokens that are not allowed whatever the grammar says; nothing: all as it says.
  const Mask* never() const { return never_.get(); }

 private:
  xgrammar::CompiledGrammar grammar_;
  std::shared_ptr<const Mask> never_;
};

// JSON has no control characters but newlines between values (and what spaces do as well as tabs): xgrammar's strings
// of bounded length would take them.
std::shared_ptr<const Mask> tokens_never_in_json(const Vocabulary& vocabulary) {
  Mask mask(mask_words(vocabulary.size()));
  for (size_t t = 0; t < vocabulary.size(); ++t) {
    const std::string& piece = vocabulary.pieces()[t];
    const bool has_control =
        std::any_of(piece.begin(), piece.end(), [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n'; });
    if (has_control) mask[t / 32] |= 1U << (t % 32);
  }
  return std::make_shared<const Mask>(std::move(mask));
}

class Matcher final : public GrammarMatcher {
 public:
  Matcher(std::shared_ptr<const Compiled> grammar, xgrammar::GrammarMatcher matcher, size_t vocabulary,
          int32_t accepted)
      : grammar_(std::move(grammar)), matcher_(std::move(matcher)), vocabulary_(vocabulary), accepted_(accepted) {}

  void fill_mask(std::span<uint32_t> mask) override {
    std::fill(mask.begin(), mask.end(), 0);
    auto words = static_cast<int64_t>(mask_words(vocabulary_));
    if (std::ssize(mask) < words || matcher_.IsTerminated() || is_spent()) return;
    const double start = thread_seconds();
    DLTensor tensor{};
    tensor.data = mask.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 1;
    tensor.dtype = xgrammar::GetBitmaskDLType();
    tensor.shape = &words;
    try {
      matcher_.FillNextTokenBitmask(&tensor);
    } catch (const std::exception&) {  // then no token is allowed, which ends the sequence with an error
      std::fill(mask.begin(), mask.end(), 0);
    }
    if (const Mask* never = grammar_->never(); never != nullptr) {
      for (size_t w = 0; w < never->size(); ++w) mask[w] &= ~(*never)[w];
    }
    seconds_ += thread_seconds() - start;
  }

  bool accept(int32_t token) override {
    if (token < 0 || static_cast<size_t>(token) >= vocabulary_ || matcher_.IsTerminated()) return false;
    if (const Mask* never = grammar_->never(); never != nullptr && is_allowed(*never, token)) return false;
    const double start = thread_seconds();
    bool is_accepted = false;
    try {
      is_accepted = matcher_.AcceptToken(token);
    } catch (const std::exception&) {  // then it is not
    }
    seconds_ += thread_seconds() - start;
    accepted_ += is_accepted ? 1 : 0;
    return is_accepted;
  }

  bool rollback(int32_t count) override {
    if (count < 0 || count > accepted_) return false;
    if (count > 0) matcher_.Rollback(count);
    accepted_ -= count;
    return true;
  }

  std::unique_ptr<GrammarMatcher> fork() const override {
    auto copy = std::make_unique<Matcher>(grammar_, matcher_.Fork(), vocabulary_, accepted_);
    copy->seconds_ = seconds_;  // a beam's is what its line of beams has spent
    return copy;
  }

  bool is_finished() const override { return matcher_.IsTerminated(); }
  bool can_end() const override { return matcher_.IsCompleted() && !matcher_.IsTerminated(); }

 private:
  bool is_spent() const { return seconds_ > kMostSequenceSeconds + 1e-3 * accepted_; }

  std::shared_ptr<const Compiled> grammar_;
  xgrammar::GrammarMatcher matcher_;
  size_t vocabulary_;
  int32_t accepted_;
  double seconds_ = 0;  // spent in it; a grammar on which it runs out allows nothing more, which is an error
};

// Meets the first states of a grammar, so that their masks are made here and not while a batch waits for them, and
// refuses one that would make it wait long.
Status try_out(const std::shared_ptr<const Compiled>& compiled, size_t vocabulary) {
  Matcher matcher(compiled, xgrammar::GrammarMatcher(compiled->grammar()), vocabulary, 0);
  Mask mask(mask_words(vocabulary));
  std::vector<int32_t> allowed;
  const double start = thread_seconds();
  for (int i = 0; i < kTrialTokens && !matcher.is_finished() && thread_seconds() - start < kTrialSeconds; ++i) {
    const double before = thread_seconds();
    matcher.fill_mask(mask);
    if (const double seconds = thread_seconds() - before; seconds > kMostMaskSeconds)
      return invalid_argument(
          "the grammar can go on in so many ways that looking at them takes {:.1f} s a token; write it "
          "with fewer optional and repeated parts.",
          seconds);
    allowed.clear();
    for (int32_t t = 0; t < static_cast<int32_t>(vocabulary); ++t)
      if (is_allowed(mask, t)) allowed.push_back(t);
    if (allowed.empty()) break;
    const double u = uniform(0, static_cast<uint64_t>(i));
    matcher.accept(allowed[static_cast<size_t>(u * static_cast<double>(allowed.size()))]);
  }
  return Status::ok();
}

// root ::= "yes" | "no"; what is not a letter, digit or beyond ASCII is written as a number.
std::string ebnf_of(const Json& choices) {
  std::string text = "root ::= ";
  for (size_t i = 0; i < choices.size(); ++i) {
    text += i == 0 ? "\"" : " | \"";
    for (char c : choices[i].get_ref<const std::string&>()) {
      const auto byte = static_cast<uint8_t>(c);
      const bool plain =
          byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ';
      text += plain ? std::string(1, c) : fmt::format("\\u{:04x}", byte);
    }
    text += '"';
  }
  return text + "\n";
}

class Compiler final : public GrammarCompiler {
 public:
  Compiler(const Vocabulary& vocabulary, const xgrammar::TokenizerInfo& info, const Options& options)
      : vocabulary_(vocabulary.size()),
        never_in_json_(tokens_never_in_json(vocabulary)),
        compiler_(info, /*max_threads=*/1, /*cache_enabled=*/false, /*max_memory_bytes=*/-1,
                  /*enable_dynamic_compilation=*/true),
        options_(options) {}

  Result<std::shared_ptr<const CompiledGrammar>> compile(const GrammarSpec& spec) override {
    std::unique_lock lock(mutex_);
    while (true) {
      if (auto found = find(spec)) return found;
      if (!is_compiling(spec)) break;
      done_.wait(lock);
    }
    compiling_.push_back(spec);
    lock.unlock();
    auto result = compile_now(spec);
    lock.lock();
    std::erase(compiling_, spec);
    if (result.is_ok()) keep(spec, *result);
    lock.unlock();
    done_.notify_all();
    if (!result.is_ok()) return result.status();
    return std::shared_ptr<const CompiledGrammar>(*result);
  }

 private:
  struct Kept {
    GrammarSpec spec;
    std::shared_ptr<const Compiled> grammar;
  };

  // The latest used stands first.
  std::shared_ptr<const CompiledGrammar> find(const GrammarSpec& spec) {
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (!(it->spec == spec)) continue;
      kept_.splice(kept_.begin(), kept_, it);
      return kept_.front().grammar;
    }
    return nullptr;
  }

  bool is_compiling(const GrammarSpec& spec) const {
    for (const GrammarSpec& other : compiling_)
      if (other == spec) return true;
    return false;
  }

  // Grammars grow as their masks are made, so what they take is asked anew each time.
  void keep(const GrammarSpec& spec, std::shared_ptr<const Compiled> grammar) {
    kept_.push_front({spec, std::move(grammar)});
    size_t bytes = 0;
    size_t count = 0;
    for (auto it = kept_.begin(); it != kept_.end(); ++it, ++count) {
      bytes += it->grammar->grammar().MemorySizeBytes() + it->spec.text.size();
      if (count > 0 && (bytes > options_.cache_bytes || count >= kMostGrammars)) {
        kept_.erase(it, kept_.end());
        break;
      }
    }
  }

  Result<std::shared_ptr<const Compiled>> compile_now(const GrammarSpec& spec) {
    NEREID_RETURN_IF_ERROR(check_grammar(spec));
    std::vector<std::string> warnings;
    const KeepWarnings keep_warnings(&warnings);
    try {
      const bool is_json = spec.kind == GrammarKind::kJson || spec.kind == GrammarKind::kJsonSchema;
      auto compiled = std::make_shared<const Compiled>(compile_checked(spec), is_json ? never_in_json_ : nullptr);
      for (const std::string& warning : warnings) {
        if (!is_harmless(warning))
          return unsupported("the {} asks for what cannot be held to: {}.", grammar_kind_name(spec.kind), cut(warning));
      }
      NEREID_RETURN_IF_ERROR(try_out(compiled, vocabulary_));
      return compiled;
    } catch (const std::exception& e) {
      return invalid_argument("the {} cannot be compiled: {}", grammar_kind_name(spec.kind), cut(e.what()));
    }
  }

  xgrammar::CompiledGrammar compile_checked(const GrammarSpec& spec) {
    switch (spec.kind) {
      case GrammarKind::kJsonSchema:
        return compiler_.CompileJSONSchema(spec.text, true, std::nullopt, std::nullopt, true, kMostWhitespace);
      case GrammarKind::kRegex:
        return compiler_.CompileRegex(spec.text);
      case GrammarKind::kEbnf:
        return compiler_.CompileGrammar(spec.text);
      case GrammarKind::kChoice:
        return compiler_.CompileGrammar(ebnf_of(*parse_json(spec.text)));
      case GrammarKind::kStructuralTag:
        return compiler_.CompileStructuralTag(spec.text);
      default:
        return compiler_.CompileJSONSchema(R"({"type": "object"})", true, std::nullopt, std::nullopt, false,
                                           kMostWhitespace);
    }
  }

  const size_t vocabulary_;
  const std::shared_ptr<const Mask> never_in_json_;
  xgrammar::GrammarCompiler compiler_;
  const Options options_;
  std::mutex mutex_;  // of what follows
  std::condition_variable done_;
  std::list<Kept> kept_;
  std::list<GrammarSpec> compiling_;
};

}  // namespace

bool has_grammars() {
  return true;
}

Result<std::unique_ptr<GrammarMatcher>> GrammarMatcher::make(std::shared_ptr<const CompiledGrammar> grammar) {
  auto compiled = std::static_pointer_cast<const Compiled>(std::move(grammar));
  try {
    xgrammar::GrammarMatcher matcher(compiled->grammar());
    const auto vocabulary = static_cast<size_t>(compiled->grammar().GetTokenizerInfo().GetVocabSize());
    return std::unique_ptr<GrammarMatcher>(
        std::make_unique<Matcher>(std::move(compiled), std::move(matcher), vocabulary, 0));
  } catch (const std::exception& e) {
    return invalid_argument("the grammar cannot be matched: {}", cut(e.what()));
  }
}

Result<std::unique_ptr<GrammarCompiler>> GrammarCompiler::make(const Vocabulary& vocabulary, const Options& options) {
  if (vocabulary.end_tokens().empty())
    return unsupported("the vocabulary has no token that ends a text, so no grammar could ever end.");
  try {
    const xgrammar::TokenizerInfo info(vocabulary.pieces(), xgrammar::VocabType::RAW,
                                       static_cast<int>(vocabulary.size()), vocabulary.end_tokens());
    return std::unique_ptr<GrammarCompiler>(std::make_unique<Compiler>(vocabulary, info, options));
  } catch (const std::exception& e) {
    return internal("xgrammar refuses the vocabulary: {}", cut(e.what()));
  }
}

}  // namespace nereid::sample
