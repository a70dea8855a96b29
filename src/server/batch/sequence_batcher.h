// SPDX-License-Identifier: Apache-2.0
// Which requests of which sequences run next, and on which instance: a policy without threads, clock or tensors.
//
// A sequence begins with a request that says so and ends with one that says so. While it lives it has a slot of one
// instance, so that the instance can keep its state; its requests run there one after the other, in the order they
// came. Sequences that find no slot wait for one in the order they began. A sequence that has sent nothing for max_idle
// loses its slot. Requests of several sequences run together when their shapes are equal; rules say how long one waits
// for such company.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::server {

struct SequenceOptions {
  int instances = 1;
  int slots = 1;      // of each instance: sequences that it serves at a time
  int max_batch = 0;  // requests that run together; 0: as many as there are slots
  int64_t max_idle_ns = 1'000'000'000;
  int64_t max_delay_ns = 0;                // that a request may wait for company
  int enough = 0;                          // so many need not wait; 0: only a full batch
  std::vector<int32_t> preferred_sizes{};  // nor need so many
};

struct SequenceRequest {
  uint64_t ticket = 0;
  std::string sequence;
  bool is_start = false, is_end = false;
  int64_t arrival_ns = 0;
  int64_t timeout_ns = 0;  // that it may wait for a slot; 0: any time
  uint64_t shape_key = 0;
};

class SequenceBatcher {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  explicit SequenceBatcher(SequenceOptions options);

  // False: the sequence has not begun.
  bool add(const SequenceRequest& request);

  // For an instance that is free: at most one request of each of its sequences.
  struct Step {
    uint64_t ticket = 0;
    int slot = 0;
    bool is_start = false, is_end = false;
    bool is_again = false;  // set by whoever ran it: the same request is to run once more (done)
    std::string sequence{};
  };
  std::vector<Step> next(int instance, int64_t now_ns);
  // What next() gave has run. Sequences that have ended lose their slots.
  void done(int instance, const std::vector<Step>& steps, int64_t now_ns);

  // When to look again though nothing came: a sequence gets idle, or a request late, or has waited for company long
  // enough (told by the last next() of any instance). kNever: there is nothing to look for.
  int64_t again_ns() const;
  // Takes the slots of idle sequences. Names the requests that have waited for a slot longer than they may, and those
  // of the same sequences behind them: they are to be refused.
  std::vector<uint64_t> reap(int64_t now_ns);
  // The sequence ends here, whatever it was to send: the requests that wait and are to be refused.
  std::vector<uint64_t> drop(const std::string& sequence);
  // Sequences that have ended since this was asked last: what is kept of them can go.
  std::vector<std::string> take_ended();

  size_t waiting() const { return waiting_; }
  size_t living() const { return sequences_.size(); }

 private:
  struct Sequence {
    std::deque<SequenceRequest> requests;
    SequenceRequest current;       // that runs
    int instance = -1, slot = -1;  // -1: waits for a slot
    int64_t last_ns = 0;           // that something was heard of it, or ran
    bool is_running = false;
    bool is_ended = false;  // its last request has been taken
  };
  using Sequences = std::map<std::string, Sequence>;
  // An instance's slots: what they cost follows how many are taken, however many there may be.
  struct Slots {
    std::map<int, std::string> taken;  // by slot: the sequence
    std::set<int> given_back;          // below `fresh`
    int fresh = 0;                     // from here on none was ever taken
  };
  void place_waiting();
  void free(Sequences::iterator it);
  std::vector<uint64_t> take_requests(Sequence* sequence);
  size_t count_to_run(size_t ready, int64_t oldest_ns, int64_t now_ns);

  const SequenceOptions options_;
  Sequences sequences_;
  std::vector<Slots> slots_;  // by instance
  std::deque<std::string> backlog_;
  std::vector<std::string> ended_;
  std::vector<int64_t> due_ns_;  // by instance: when what waits for company runs without
  int64_t reap_ns_ = kNever;     // nothing is idle or late before that
  size_t waiting_ = 0;
};

}  // namespace nereid::server
