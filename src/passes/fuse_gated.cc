// SPDX-License-Identifier: Apache-2.0
// fuse_gated: an activation and a multiplication become one gated op, whichever activation it is.
#include <fmt/format.h>

#include "ops/activation.h"
#include "passes/pass_list.h"

namespace nereid::passes {

std::vector<RewriteText> fuse_gated() {
  std::vector<RewriteText> rewrites;
  for (const ops::Activation& activation : ops::activation_table()) {
    rewrites.push_back({fmt::format(R"(graph pattern {{
      input %gate, %up
      %a = {}(%gate)
      %y = mul(%a, %up)
      output %y
    }})",
                                    activation.name),
                        fmt::format(R"(graph replacement {{
      %y = gated(%gate, %up) {{activation={}}}
      output %y
    }})",
                                    activation.name)});
  }
  return rewrites;
}

}  // namespace nereid::passes
