// SPDX-License-Identifier: Apache-2.0
// A configuration from the JSON it is sent in (config_json.h) to the bytes of its message.
#pragma once

#include <string>

#include "base/status.h"

namespace nereid::server {

// The wire form of the message ModelConfig. kInternal: the text is no such configuration.
Result<std::string> config_message(const std::string& json);

}  // namespace nereid::server
