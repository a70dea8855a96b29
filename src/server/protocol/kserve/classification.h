// SPDX-License-Identifier: Apache-2.0
// The classification extension: instead of a tensor, the indices of its greatest elements, with values and labels.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "server/core/infer_tensor.h"

namespace nereid::server::kserve {

// "15.000000:15:label" for the `classes` greatest of each row (of the whole tensor where it has no batch), as BYTES.
// kInvalidArgument: a type without an order.
Result<InferTensor> classify(const InferTensor& tensor, uint64_t classes, bool has_batch,
                             const std::vector<std::string>& labels);

}  // namespace nereid::server::kserve
