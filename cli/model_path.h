// SPDX-License-Identifier: Apache-2.0
// From what a user calls a model (a path, or a name of `nereid models`) to the path where it lies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::cli {

// Where models are looked for by name, in this order: $NEREID_MODELS_DIR; the user's data folder
// ($XDG_DATA_HOME/nereid/models, else ~/.local/share/nereid/models); and, when the program runs from a checkout, its
// build/models. Folders that do not exist are named too. The first two are where `nereid models pull` puts them.
std::vector<std::string> model_folders();

// A path that exists is itself; a name gives its file, or its folder where the model has several.
// kNotFound: neither; the sentence names `nereid models pull NAME` for a name that is known.
Result<std::string> resolve_model(std::string_view model);
Result<std::string> resolve_model(std::string_view model, const std::vector<std::string>& folders);

}  // namespace nereid::cli
