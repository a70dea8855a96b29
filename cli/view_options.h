// SPDX-License-Identifier: Apache-2.0
// What `nereid view` and `nereid explain` are asked for.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "compile/network_view.h"

namespace nereid::cli {

struct ViewArguments {
  std::string model, precision = "f32";
  std::vector<std::string> shapes, inputs;
  int threads = 0;
  bool profile = false;
  int64_t runs = 20;
};

void add_view_options(CommandLine& app, ViewArguments& a);
// Checked, and the model found. Sizes that are open are 1 when the layers are timed, as `nereid bench` takes them.
Result<compile::ViewOptions> view_options(const ViewArguments& a);

}  // namespace nereid::cli
