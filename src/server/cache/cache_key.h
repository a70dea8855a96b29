// SPDX-License-Identifier: Apache-2.0
// What two requests must have in common to get one answer: the model, its version and its content, every input with its
// name, type, shape and bytes, the parameters, the outputs that are wanted, and the place in a sequence.
//
// Not in it: the request's id, priority and time limit, which change no answer.
#pragma once

#include <string>

#include "server/core/infer_model.h"

namespace nereid::server {

// 64 hexadecimal digits of SHA-256, so that nobody can make two requests meet. About 1 ms a MiB.
std::string cache_key(const InferModel& model, const InferRequest& request);

}  // namespace nereid::server
