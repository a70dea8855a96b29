// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/cpu_limits.h"
#include "base/wait_word.h"

namespace nereid {
namespace {

// A thread with a CPU of its own looks long enough to bridge the gaps between the layers of a model,
constexpr Patience kOwnCpu{.most_spin_ns = 50'000, .yields = 4};
// and between two steps of one, where the caller draws from the logits: to be woken costs 80 us.
constexpr Patience kBetweenRuns{.most_spin_ns = 200'000, .yields = 4};
// With fewer CPUs than threads, looking only keeps away the thread that is waited for.
constexpr Patience kSharedCpu{.most_spin_ns = 0, .yields = 50};

void pin_to(std::thread& thread, int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (cpu >= CPU_SETSIZE) return;
  CPU_SET(cpu, &mask);
  // Best effort: a sandbox may forbid it.
  (void)pthread_setaffinity_np(thread.native_handle(), sizeof(mask), &mask);
}

// Signals go to the program's own threads: a worker that runs a handler keeps the whole team waiting.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

struct ThreadPool::Team {
  int size = 1;
  struct Waits {
    Patience idle, meeting;  // between runs; at barriers and at the join
  };
  std::vector<Waits> waits;                          // one a worker
  const FunctionRef<void(Worker&)>* body = nullptr;  // written before `runs` changes; null: the end
  bool running = false;                              // of the calling thread alone

  WaitWord runs;                              // counts run() calls; a change is the fork
  WaitWord pending;                           // workers that have not returned yet; 0 is the join
  alignas(64) std::atomic<uint32_t> arrived;  // at the current barrier
  WaitWord barriers;                          // counts barriers passed

  std::vector<std::thread> threads;

  void work(int index) {
    Patience& idle = waits[static_cast<size_t>(index)].idle;
    for (uint32_t seen = 0;;) {
      seen = runs.wait_while(seen, idle);
      if (!body) return;
      Worker worker(index, size, this);
      (*body)(worker);
      if (pending.subtract(1) == 0) pending.wake();
    }
  }

  void fork(const FunctionRef<void(Worker&)>* next) {
    body = next;
    pending.store(static_cast<uint32_t>(size - 1));
    runs.store_and_wake(runs.load() + 1);
  }

  void join() {
    for (uint32_t left = pending.load(); left != 0;) left = pending.wait_while(left, waits[0].meeting);
  }
};

ThreadPool::ThreadPool(ThreadPoolOptions options) {
  const int usable = usable_cpus();
  const int wanted = options.threads > 0 ? options.threads : usable;
  if (wanted == 1) return;
  const std::vector<int> cpus = affinity_cpus();
  team_ = std::make_unique<Team>();
  team_->arrived.store(0, std::memory_order_relaxed);
  const Team::Waits waits = wanted > usable ? Team::Waits{kSharedCpu, kSharedCpu} : Team::Waits{kBetweenRuns, kOwnCpu};
  team_->waits.assign(static_cast<size_t>(wanted), waits);
  team_->threads.reserve(static_cast<size_t>(wanted - 1));
  {
    const BlockSignals blocked;  // inherited by the new threads
    Team* team = team_.get();
    try {
      for (int i = 1; i < wanted; ++i) team->threads.emplace_back([team, i] { team->work(i); });
    } catch (const std::system_error&) {
      // A limit on threads: those that started are the team.
    }
  }
  // Published to the workers by the first fork.
  size_ = team_->size = static_cast<int>(team_->threads.size()) + 1;
  for (size_t i = 0; i < team_->threads.size(); ++i) {
    pthread_setname_np(team_->threads[i].native_handle(), fmt::format("nereid-w{}", i + 1).c_str());
    if (options.pin && cpus.size() == static_cast<size_t>(size_)) pin_to(team_->threads[i], cpus[i + 1]);
  }
}

ThreadPool::~ThreadPool() {
  if (!team_) return;
  team_->fork(nullptr);
  for (std::thread& t : team_->threads) t.join();
}

void ThreadPool::run(FunctionRef<void(Worker&)> body) {
  Worker self(0, size_, team_.get());
  if (size_ == 1) return body(self);
  NEREID_CHECK(!team_->running);
  team_->running = true;
  team_->fork(&body);
  body(self);
  team_->join();
  team_->running = false;
}

void Worker::meet() {
  ThreadPool::Team& team = *team_;
  // Cannot change before this worker has arrived.
  const uint32_t passed = team.barriers.load();
  if (team.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(count_)) {
    team.arrived.store(0, std::memory_order_relaxed);
    team.barriers.store_and_wake(passed + 1);
  } else {
    team.barriers.wait_while(passed, team.waits[static_cast<size_t>(index_)].meeting);
  }
}

std::pair<int64_t, int64_t> Worker::slice(int64_t n, int64_t align) const {
  const int64_t units = n / align + (n % align != 0);
  const int64_t each = units / count_, more = units % count_;  // the first `more` workers take one unit more
  const int64_t first = each * index_ + std::min<int64_t>(index_, more);
  const int64_t last = first + each + (index_ < more);
  return {std::min(n, first * align), last >= units ? n : last * align};
}

}  // namespace nereid
