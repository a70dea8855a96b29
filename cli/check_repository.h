// SPDX-License-Identifier: Apache-2.0
// `nereid check` of a model repository: what is wrong with it, before anything is loaded.
#pragma once

#include <string>

#include "cli/command.h"

namespace nereid::cli {

// kDone: nothing; kFailed: something, which is printed, one line a mistake and one what to do.
int check_repository(const std::string& folder, bool as_json);

}  // namespace nereid::cli
