// SPDX-License-Identifier: Apache-2.0
// Element types and shapes between requests and networks.
#pragma once

#include <optional>
#include <vector>

#include "base/dtype.h"
#include "server/core/model_config.h"

namespace nereid::server {

std::optional<DType> dtype_of(InferType type);
InferType infer_type_of(DType dtype);  // kInvalid: requests cannot hold it

// `from` and `to` are two ways to write one tensor's sizes, with -1 where any is taken, of which the first in `from` is
// the first in `to`, and so on. `have` fits `from`; the result is the same in `to`. Empty when it cannot be said.
std::optional<std::vector<int64_t>> reshaped(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                                             std::vector<int64_t> have);

}  // namespace nereid::server
