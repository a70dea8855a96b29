// SPDX-License-Identifier: Apache-2.0
// What a handle of an engine stands for. Immutable but for its team of threads, which contexts take turns with.
#pragma once

#include <memory>
#include <mutex>

#include "api/tensors.h"
#include "base/thread_pool.h"
#include "compile/network.h"

namespace nereid::api {

// One run at a time.
struct Team {
  explicit Team(int threads) : pool({.threads = threads, .pin = false}) {}
  ThreadPool pool;
  std::mutex mutex;
};

// Shared by its handle and its contexts.
struct Engine {
  compile::OpenedNetwork opened;
  ValueInfos inputs, outputs;
  std::unique_ptr<Team> team;
};

}  // namespace nereid::api

struct nereid_engine {
  std::shared_ptr<const nereid::api::Engine> engine;
};
