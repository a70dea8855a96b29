// SPDX-License-Identifier: Apache-2.0
#include "server/batch/sequence_batcher.h"

#include <algorithm>
#include <utility>

namespace nereid::server {
namespace {

// Never past the end of time.
int64_t after(int64_t begin_ns, int64_t by_ns) {
  return by_ns > INT64_MAX - begin_ns ? INT64_MAX : begin_ns + by_ns;
}

}  // namespace

SequenceBatcher::SequenceBatcher(SequenceOptions options)
    : options_(std::move(options)),
      slots_(static_cast<size_t>(options_.instances)),
      due_ns_(static_cast<size_t>(options_.instances), kNever) {}

bool SequenceBatcher::add(const SequenceRequest& request) {
  auto it = sequences_.find(request.sequence);
  if (it == sequences_.end()) {
    if (!request.is_start) return false;
    it = sequences_.emplace(request.sequence, Sequence{}).first;
    backlog_.push_back(request.sequence);
  }
  Sequence& sequence = it->second;
  if (sequence.is_ended && !request.is_start) return false;
  // One that begins anew under the same name goes on where the old one was.
  sequence.is_ended = request.is_end;
  sequence.last_ns = std::max(sequence.last_ns, request.arrival_ns);
  sequence.requests.push_back(request);
  ++waiting_;
  reap_ns_ = std::min(reap_ns_, after(request.arrival_ns, options_.max_idle_ns));
  if (request.timeout_ns > 0) reap_ns_ = std::min(reap_ns_, after(request.arrival_ns, request.timeout_ns));
  place_waiting();
  return true;
}

void SequenceBatcher::place_waiting() {
  while (!backlog_.empty()) {
    // The instance with the most free slots, so that they share the work.
    size_t best = 0, most = 0;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const size_t free = static_cast<size_t>(options_.slots) - slots_[i].taken.size();
      if (free > most) best = i, most = free;
    }
    if (most == 0) return;
    Slots& slots = slots_[best];  // the first that is free
    const int slot =
        slots.given_back.empty() ? slots.fresh++ : slots.given_back.extract(slots.given_back.begin()).value();
    slots.taken.emplace(slot, backlog_.front());
    Sequence& sequence = sequences_[backlog_.front()];
    backlog_.pop_front();
    sequence.instance = static_cast<int>(best);
    sequence.slot = slot;
  }
}

// How many of those that are ready run now; 0: they wait for company until due_ns_.
size_t SequenceBatcher::count_to_run(size_t ready, int64_t oldest_ns, int64_t now_ns) {
  const auto most = static_cast<size_t>(options_.max_batch > 0 ? options_.max_batch : options_.slots);
  const int64_t due_ns = after(oldest_ns, options_.max_delay_ns);
  if (ready >= most || options_.max_delay_ns <= 0 || due_ns <= now_ns) return std::min(ready, most);
  if (options_.enough > 0 && ready >= static_cast<size_t>(options_.enough)) return ready;
  size_t preferred = 0;
  for (const int32_t size : options_.preferred_sizes)
    if (size > 0 && static_cast<size_t>(size) <= ready) preferred = std::max(preferred, static_cast<size_t>(size));
  return preferred;
}

std::vector<SequenceBatcher::Step> SequenceBatcher::next(int instance, int64_t now_ns) {
  struct Ready {
    Sequence* sequence;
    const std::string* name;
  };
  int64_t& due_ns = due_ns_[static_cast<size_t>(instance)];
  due_ns = kNever;
  std::vector<Ready> ready;
  for (const auto& [slot, name] : slots_[static_cast<size_t>(instance)].taken) {
    Sequence& sequence = sequences_[name];
    if (!sequence.is_running && !sequence.requests.empty()) ready.push_back({&sequence, &name});
  }
  if (ready.empty()) return {};
  const auto front = [](const Ready& one) -> const SequenceRequest& { return one.sequence->requests.front(); };
  // Those that came first go first, and decide the shape; sequences of one moment stay in the order of their slots.
  std::stable_sort(ready.begin(), ready.end(),
                   [&](const Ready& a, const Ready& b) { return front(a).arrival_ns < front(b).arrival_ns; });
  const uint64_t shape_key = front(ready[0]).shape_key;
  std::erase_if(ready, [&](const Ready& one) { return front(one).shape_key != shape_key; });
  const int64_t oldest_ns = front(ready[0]).arrival_ns;
  const size_t count = count_to_run(ready.size(), oldest_ns, now_ns);
  if (count == 0) due_ns = after(oldest_ns, options_.max_delay_ns);
  std::vector<Step> steps;
  for (size_t i = 0; i < count; ++i) {
    Sequence& sequence = *ready[i].sequence;
    sequence.current = std::move(sequence.requests.front());
    sequence.requests.pop_front();
    --waiting_;
    sequence.is_running = true;
    sequence.last_ns = now_ns;
    steps.push_back({.ticket = sequence.current.ticket,
                     .slot = sequence.slot,
                     .is_start = sequence.current.is_start,
                     .is_end = sequence.current.is_end,
                     .sequence = *ready[i].name});
  }
  return steps;
}

void SequenceBatcher::done(int instance, const std::vector<Step>& steps, int64_t now_ns) {
  for (const Step& step : steps) {
    const auto& taken = slots_[static_cast<size_t>(instance)].taken;
    const auto slot = taken.find(step.slot);
    const auto it = slot == taken.end() ? sequences_.end() : sequences_.find(slot->second);
    if (it == sequences_.end() || !it->second.is_running) continue;
    Sequence& sequence = it->second;
    sequence.is_running = false;
    sequence.last_ns = now_ns;
    reap_ns_ = std::min(reap_ns_, after(now_ns, options_.max_idle_ns));
    if (step.is_again) {
      sequence.requests.push_front(std::move(sequence.current));
      sequence.requests.front().is_start = false;
      ++waiting_;
    }
    if (sequence.is_ended && sequence.requests.empty()) free(it);
  }
  place_waiting();
}

void SequenceBatcher::free(Sequences::iterator it) {
  if (it->second.instance >= 0) {
    Slots& slots = slots_[static_cast<size_t>(it->second.instance)];
    slots.taken.erase(it->second.slot);
    slots.given_back.insert(it->second.slot);
  } else {
    std::erase(backlog_, it->first);
  }
  ended_.push_back(it->first);
  sequences_.erase(it);
}

std::vector<uint64_t> SequenceBatcher::take_requests(Sequence* sequence) {
  std::vector<uint64_t> tickets;
  for (const SequenceRequest& request : sequence->requests) tickets.push_back(request.ticket);
  waiting_ -= sequence->requests.size();
  sequence->requests.clear();
  return tickets;
}

int64_t SequenceBatcher::again_ns() const {
  int64_t first = *std::min_element(due_ns_.begin(), due_ns_.end());
  for (const auto& [name, sequence] : sequences_) {
    if (sequence.requests.empty() && !sequence.is_running)
      first = std::min(first, after(sequence.last_ns, options_.max_idle_ns));
    if (sequence.instance >= 0) continue;
    for (const SequenceRequest& request : sequence.requests)
      if (request.timeout_ns > 0) first = std::min(first, after(request.arrival_ns, request.timeout_ns));
  }
  return first;
}

std::vector<uint64_t> SequenceBatcher::reap(int64_t now_ns) {
  std::vector<uint64_t> late;
  if (now_ns < reap_ns_) return late;
  for (auto it = sequences_.begin(); it != sequences_.end();) {
    const auto one = it++;
    Sequence& sequence = one->second;
    if (sequence.instance < 0) {
      // What comes after a request that did not run would find another state than it expects.
      const auto is_late = [&](const SequenceRequest& request) {
        return request.timeout_ns > 0 && after(request.arrival_ns, request.timeout_ns) <= now_ns;
      };
      if (std::none_of(sequence.requests.begin(), sequence.requests.end(), is_late)) continue;
      const std::vector<uint64_t> tickets = take_requests(&sequence);
      late.insert(late.end(), tickets.begin(), tickets.end());
      free(one);
    } else if (sequence.requests.empty() && !sequence.is_running &&
               after(sequence.last_ns, options_.max_idle_ns) <= now_ns) {
      free(one);
    }
  }
  place_waiting();
  // Of those that have more to run, nothing is due before they have.
  reap_ns_ = kNever;
  for (const auto& [name, sequence] : sequences_) {
    reap_ns_ =
        std::min(reap_ns_, after(std::max(sequence.last_ns, now_ns - options_.max_idle_ns + 1), options_.max_idle_ns));
    for (const SequenceRequest& request : sequence.requests)
      if (sequence.instance < 0 && request.timeout_ns > 0)
        reap_ns_ = std::min(reap_ns_, after(request.arrival_ns, request.timeout_ns));
  }
  return late;
}

std::vector<uint64_t> SequenceBatcher::drop(const std::string& name) {
  const auto it = sequences_.find(name);
  if (it == sequences_.end()) return {};
  std::vector<uint64_t> tickets = take_requests(&it->second);
  if (it->second.is_running) {
    it->second.is_ended = true;  // goes when that is done
  } else {
    free(it);
    place_waiting();
  }
  return tickets;
}

std::vector<std::string> SequenceBatcher::take_ended() {
  return std::exchange(ended_, {});
}

}  // namespace nereid::server
