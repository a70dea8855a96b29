// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/forwarded_headers.h"

namespace nereid::server::kserve {

Status forward_header(const net::NamePattern& pattern, std::string_view name, std::string_view value,
                      InferRequest* request) {
  if (!pattern.matches(name)) return Status::ok();
  for (const std::string_view reserved :
       {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout", "headers", "binary_data_output"})
    if (name == reserved)
      return invalid_argument("the header '{}' cannot be forwarded to the model: the server has that parameter itself",
                              name);
  if (name.starts_with("triton_"))
    return invalid_argument(
        "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.");
  std::erase_if(request->parameters, [&](const auto& one) { return one.first == name; });
  request->parameters.emplace_back(std::string(name), std::string(value));
  return Status::ok();
}

}  // namespace nereid::server::kserve
