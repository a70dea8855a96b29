// SPDX-License-Identifier: Apache-2.0
// Small models for tests of a server and of clients, each of a behaviour that networks do not show.
#pragma once

#include <memory>

#include "server/core/backend.h"

namespace nereid::server {

// Decoupled: an INT32 n in, n responses with 0, 1, ... n - 1 out, then the end.
std::unique_ptr<Backend> make_count_backend();
// FP32: 1 fails the execution (internal), anything else fails the one request (invalid argument).
std::unique_ptr<Backend> make_fail_backend();
// INT32, with sequences: the sum of what the sequence has sent so far. Inputs: the value, START, CORRID.
std::unique_ptr<Backend> make_accumulate_backend();

}  // namespace nereid::server
