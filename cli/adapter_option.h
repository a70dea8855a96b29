// SPDX-License-Identifier: Apache-2.0
// What follows --lora: folders of adapters, with names where requests are to choose among them.
#pragma once

#include <span>
#include <string>

#include "llm/run/adapter_set.h"

namespace nereid::cli {

// "DIR" or "DIR:SCALE". What follows the last ':' is a scale if it is a number and no such folder exists.
// kInvalidArgument: nothing, or a number that is infinite or none.
Result<llm::AdapterSource> parse_adapter(const std::string& text);

struct NamedAdapter {
  std::string model;  // the model that it is for, one of those served
  std::string name;
  llm::AdapterSource source;
};

// "NAME=DIR[:SCALE]" or "MODEL:NAME=DIR[:SCALE]"; the model must be said where there are several.
Result<NamedAdapter> parse_named_adapter(const std::string& text, std::span<const std::string> models);

}  // namespace nereid::cli
