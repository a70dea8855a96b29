// SPDX-License-Identifier: Apache-2.0
#include "llm/run/draft_model.h"

#include <algorithm>

namespace nereid::llm {
namespace {

// Vocabularies are the same if every token of the smaller one is; a larger one may have places that stand for nothing.
Status check_vocabularies(const LanguageModel& draft, const LanguageModel& model) {
  const token::StringTable &a = draft.tokenizer().spec().tokens, &b = model.tokenizer().spec().tokens;
  if (draft.vocab() != model.vocab() && a.size() != b.size())
    return invalid_argument("the draft model has {} tokens and the model {}; guesses need the same vocabulary",
                            draft.vocab(), model.vocab());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] != b[i])
      return invalid_argument(
          "token {} is '{}' to the draft model and '{}' to the model; guesses need the same vocabulary", i, a[i], b[i]);
  return Status::ok();
}

// What guesses need not have: forms are checked by the model, log-probabilities are told by it.
sample::SamplingParams params_of_guesses(sample::SamplingParams params) {
  params.grammar = {};
  params.logprobs = -1;
  params.best_of = 1;
  return params;
}

}  // namespace

LoadOptions DraftModel::load_options(const DraftOptions& options) {
  LoadOptions load;
  load.max_sequences = options.answers;
  load.max_outputs = options.answers;
  load.step_tokens = options.step_tokens;
  load.cache_tokens = kCacheByMemory;
  return load;
}

Result<std::unique_ptr<DraftModel>> DraftModel::make(LanguageModel& draft, LanguageModel& model,
                                                     const DraftOptions& options) {
  if (options.answers < 1 || draft.max_sequences() < options.answers || draft.max_outputs() < options.answers)
    return invalid_argument("a draft for {} answers was loaded for {} sequences and {} outputs", options.answers,
                            draft.max_sequences(), draft.max_outputs());
  NEREID_RETURN_IF_ERROR(check_vocabularies(draft, model));
  return std::unique_ptr<DraftModel>(new DraftModel(draft, model, options));
}

DraftModel::DraftModel(LanguageModel& draft, LanguageModel& model, const DraftOptions& options)
    : draft_(draft), model_(model), options_(options), slots_(static_cast<size_t>(options.answers)) {
  for (int64_t page = draft.pages(); page-- > 0;) free_pages_.push_back(static_cast<int32_t>(page));
}

void DraftModel::empty(Slot& slot) {
  free_pages_.insert(free_pages_.end(), slot.pages.begin(), slot.pages.end());
  if (slot.answer) slot_of_.erase(*slot.answer);
  slot = {};
}

void DraftModel::forget(uint64_t answer) {
  if (const auto at = slot_of_.find(answer); at != slot_of_.end()) empty(slots_[at->second]);
}

void DraftModel::begin(uint64_t answer) {
  if (const auto at = slot_of_.find(answer); at != slot_of_.end()) slots_[at->second].sampler.reset();
}

// Its own, a free one, or the one that was not used for the longest time; none where all are of this round.
std::optional<size_t> DraftModel::slot_of(uint64_t answer) {
  const auto known = slot_of_.find(answer);
  size_t found = 0;
  if (known != slot_of_.end()) {
    found = known->second;
  } else {
    for (size_t i = 1; i < slots_.size(); ++i)
      if (slots_[i].used < slots_[found].used) found = i;
    if (slots_[found].used == round_) return std::nullopt;
    empty(slots_[found]);
    slots_[found].answer = answer;
    slot_of_[answer] = found;
  }
  slots_[found].used = round_;
  return found;
}

// Pages for so many tokens, if need be from slots that were not asked about in this round.
bool DraftModel::grow(size_t slot, size_t tokens) {
  const auto page_tokens = static_cast<size_t>(draft_.page_tokens());
  const size_t wanted = (tokens + page_tokens - 1) / page_tokens;
  std::vector<int32_t>& pages = slots_[slot].pages;
  while (pages.size() < wanted) {
    if (free_pages_.empty()) {
      Slot* oldest = nullptr;
      for (Slot& other : slots_)
        if (!other.pages.empty() && other.used < round_ && (oldest == nullptr || other.used < oldest->used))
          oldest = &other;
      if (oldest == nullptr) return false;
      empty(*oldest);
    }
    pages.push_back(free_pages_.back());
    free_pages_.pop_back();
  }
  return draft_.set_pages(static_cast<int32_t>(slot), 0, pages).is_ok();
}

// What of the text is there already, and the sampler at the place of the next token.
Status DraftModel::prepare(const DraftAsk& ask, Slot& slot, Turn& turn) {
  turn.text.assign(ask.history.begin(), ask.history.end());
  turn.left = ask.most;
  const auto [held, text] = std::ranges::mismatch(slot.held, turn.text);
  // The last token always runs: its logits begin the guesses.
  turn.next = std::min(static_cast<size_t>(held - slot.held.begin()), turn.text.size() - 1);
  slot.held.resize(turn.next);
  if (!slot.sampler) {
    NEREID_TRY(Drawer drawer, model_.samplers().make(params_of_guesses(ask.drawer->params())));
    slot.sampler = std::move(drawer.sampler);
  }
  slot.sampler->restore(ask.drawer->state());
  return Status::ok();
}

Status DraftModel::guess(std::span<const DraftAsk> asks, std::span<std::vector<int32_t>* const> guesses) {
  ++round_;
  std::vector<Turn> turns;
  for (size_t i = 0; i < asks.size(); ++i) {
    const DraftAsk& ask = asks[i];
    const size_t longest = ask.history.size() + static_cast<size_t>(std::max(ask.most, 0));
    if (ask.most <= 0 || ask.history.empty() || longest > static_cast<size_t>(draft_.context_tokens())) continue;
    const std::optional<size_t> slot = slot_of(ask.answer);
    if (!slot || !grow(*slot, longest)) continue;
    Turn turn{.ask = i, .slot = *slot, .text = {}};
    NEREID_RETURN_IF_ERROR(prepare(ask, slots_[*slot], turn));
    turns.push_back(std::move(turn));
  }
  while (!turns.empty()) {
    NEREID_RETURN_IF_ERROR(step(turns, guesses));
    std::erase_if(turns, [](const Turn& turn) { return turn.left == 0; });
  }
  return Status::ok();
}

// Runs what fits of all turns' tokens, and draws a guess for each whose text is run to its end.
Status DraftModel::step(std::vector<Turn>& turns, std::span<std::vector<int32_t>* const> guesses) {
  for (std::vector<int32_t>* list : {&tokens_, &positions_, &sequences_, &rows_}) list->clear();
  drawn_.clear();
  size_t room = static_cast<size_t>(draft_.step_tokens());
  for (size_t t = 0; t < turns.size() && room > 0; ++t) {
    Turn& turn = turns[t];
    Slot& slot = slots_[turn.slot];
    const size_t count = std::min(turn.text.size() - turn.next, room);
    for (size_t i = 0; i < count; ++i) {
      tokens_.push_back(turn.text[turn.next]);
      positions_.push_back(static_cast<int32_t>(turn.next++));
      sequences_.push_back(static_cast<int32_t>(turn.slot));
    }
    slot.held.insert(slot.held.end(), tokens_.end() - static_cast<std::ptrdiff_t>(count), tokens_.end());
    room -= count;
    if (turn.next < turn.text.size()) continue;
    rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
    drawn_.push_back(t);
  }
  if (const Status status = draft_.step({tokens_, positions_, sequences_, rows_}); !status.is_ok()) {
    for (const Turn& turn : turns) empty(slots_[turn.slot]);
    return status;
  }
  for (size_t row = 0; row < drawn_.size(); ++row) {
    Turn& turn = turns[drawn_[row]];
    // The model may know fewer tokens than the draft has places for.
    const std::span<float> logits = draft_.logits(static_cast<int64_t>(row));
    const auto known = static_cast<size_t>(std::min(draft_.vocab(), model_.vocab()));
    const Result<sample::SampleResult> drawn = slots_[turn.slot].sampler->sample(logits.first(known), turn.text);
    if (!drawn.is_ok()) {
      turn.left = 0;
      continue;
    }
    turn.text.push_back(drawn->token);
    guesses[turn.ask]->push_back(drawn->token);
    --turn.left;
  }
  return Status::ok();
}

}  // namespace nereid::llm
