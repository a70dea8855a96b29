// SPDX-License-Identifier: Apache-2.0
// Which requests of which sequences run next, and on which instance: a policy without threads, clock or tensors.
//
// A sequence begins with a request that says so and ends with one that says so. While it lives it has a slot of one
// instance, so that the instance can keep its state; its requests run there one after the other, in the order they
// came. Sequences that find no slot wait for one in the order they began. A sequence that has sent nothing for max_idle
// loses its slot.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace nereid::server {

struct SequenceOptions {
  int instances = 1;
  int slots = 1;  // of each instance, which is also the largest batch
  int64_t max_idle_ns = 1'000'000'000;
};

struct SequenceRequest {
  uint64_t ticket = 0;
  std::string sequence;
  bool is_start = false, is_end = false;
  int64_t arrival_ns = 0;
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
  };
  std::vector<Step> next(int instance, int64_t now_ns);
  // What next() gave has run. Sequences that have ended lose their slots.
  void done(int instance, const std::vector<Step>& steps, int64_t now_ns);

  // When an idle sequence is to be looked for though nothing came; kNever: no sequence lives.
  int64_t again_ns() const;
  // Takes the slots of idle sequences.
  void reap(int64_t now_ns);
  size_t waiting() const { return waiting_; }
  size_t living() const { return sequences_.size(); }

 private:
  struct Sequence {
    std::deque<SequenceRequest> requests;
    int instance = -1, slot = -1;  // -1: waits for a slot
    int64_t last_ns = 0;           // that something was heard of it, or ran
    bool is_running = false;
    bool is_ended = false;  // its last request has been taken
  };
  void place_waiting();
  void free(std::map<std::string, Sequence>::iterator it);

  const SequenceOptions options_;
  std::map<std::string, Sequence> sequences_;
  std::vector<std::vector<std::string>> slots_;  // by instance and slot; "": free
  std::deque<std::string> backlog_;
  size_t waiting_ = 0;
};

}  // namespace nereid::server
