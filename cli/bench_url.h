// SPDX-License-Identifier: Apache-2.0
// nereid bench URL: load on a server of OpenAI's API, and how it bears it.
#pragma once

#include "cli/command.h"

namespace nereid::cli {

// True where the first argument that is no option is a URL.
bool names_url(Arguments args);
int bench_url_command(Arguments args);

}  // namespace nereid::cli
