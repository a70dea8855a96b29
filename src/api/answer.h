// SPDX-License-Identifier: Apache-2.0
// The rim: what a call's body says, as a status code and a sentence of this thread. No exception passes.
#pragma once

#include <new>

#include "base/function_ref.h"
#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid::api {

nereid_status code_of(const Status& status);
// Keeps the sentence for nereid_last_error() if the status is an error.
nereid_status answer(const Status& status) noexcept;
// The same for what `body` returns. Memory that ran out is kExhausted; what else is thrown, kInternal.
nereid_status answer(FunctionRef<Status()> body) noexcept;

}  // namespace nereid::api
