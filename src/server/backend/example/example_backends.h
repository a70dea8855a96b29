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
// INT32: four numbers for each item: the requests that the instance has seen, this one among them; the first element
// that it ever saw; the elements of this request, and the first of them.
std::unique_ptr<Backend> make_tally_backend();
// INT32 n, iterative: runs n times, from n down to 1 by its one state and the input START. Decoupled: each number on
// its way; else the last.
std::unique_ptr<Backend> make_countdown_backend();
// A text: the parameters of the request, as JSON sorted by their names.
std::unique_ptr<Backend> make_parameters_backend();

// Decoupled: each number of IN as OUT, with its index as IDX, after its DELAY in ms; over after WAIT ms at the
// earliest.
std::unique_ptr<Backend> make_repeat_backend();

}  // namespace nereid::server
