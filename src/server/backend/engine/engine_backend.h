// SPDX-License-Identifier: Apache-2.0
// Models that are networks: ONNX files, and engines that `nereid build` makes of them.
#pragma once

#include <memory>

#include "server/core/backend.h"

namespace nereid::server {

std::unique_ptr<Backend> make_engine_backend();

}  // namespace nereid::server
