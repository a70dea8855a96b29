// SPDX-License-Identifier: Apache-2.0
#include "server/batch/sequence_batcher.h"

#include <algorithm>

namespace nereid::server {

SequenceBatcher::SequenceBatcher(SequenceOptions options)
    : options_(options),
      slots_(static_cast<size_t>(options.instances), std::vector<std::string>(static_cast<size_t>(options.slots))) {}

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
  place_waiting();
  return true;
}

void SequenceBatcher::place_waiting() {
  while (!backlog_.empty()) {
    // The instance with the most free slots, so that they share the work.
    size_t best = 0, most = 0;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const auto free = static_cast<size_t>(std::count(slots_[i].begin(), slots_[i].end(), ""));
      if (free > most) best = i, most = free;
    }
    if (most == 0) return;
    const auto slot = std::find(slots_[best].begin(), slots_[best].end(), "");
    *slot = backlog_.front();
    Sequence& sequence = sequences_[backlog_.front()];
    backlog_.pop_front();
    sequence.instance = static_cast<int>(best);
    sequence.slot = static_cast<int>(slot - slots_[best].begin());
  }
}

std::vector<SequenceBatcher::Step> SequenceBatcher::next(int instance, int64_t now_ns) {
  std::vector<Step> steps;
  for (const std::string& name : slots_[static_cast<size_t>(instance)]) {
    if (name.empty()) continue;
    Sequence& sequence = sequences_[name];
    if (sequence.is_running || sequence.requests.empty()) continue;
    const SequenceRequest request = std::move(sequence.requests.front());
    sequence.requests.pop_front();
    --waiting_;
    sequence.is_running = true;
    sequence.last_ns = now_ns;
    steps.push_back(
        {.ticket = request.ticket, .slot = sequence.slot, .is_start = request.is_start, .is_end = request.is_end});
  }
  return steps;
}

void SequenceBatcher::done(int instance, const std::vector<Step>& steps, int64_t now_ns) {
  for (const Step& step : steps) {
    const auto it = sequences_.find(slots_[static_cast<size_t>(instance)][static_cast<size_t>(step.slot)]);
    if (it == sequences_.end()) continue;
    it->second.is_running = false;
    it->second.last_ns = now_ns;
    if (it->second.is_ended && it->second.requests.empty()) free(it);
  }
  place_waiting();
}

void SequenceBatcher::free(std::map<std::string, Sequence>::iterator it) {
  if (it->second.instance >= 0)
    slots_[static_cast<size_t>(it->second.instance)][static_cast<size_t>(it->second.slot)].clear();
  sequences_.erase(it);
}

int64_t SequenceBatcher::again_ns() const {
  int64_t first = kNever;
  for (const auto& [name, sequence] : sequences_)
    if (sequence.requests.empty() && !sequence.is_running)
      first = std::min(first, sequence.last_ns + options_.max_idle_ns);
  return first;
}

void SequenceBatcher::reap(int64_t now_ns) {
  for (auto it = sequences_.begin(); it != sequences_.end();) {
    const auto one = it++;
    const Sequence& sequence = one->second;
    if (sequence.requests.empty() && !sequence.is_running && sequence.last_ns + options_.max_idle_ns <= now_ns)
      free(one);
  }
  place_waiting();
}

}  // namespace nereid::server
