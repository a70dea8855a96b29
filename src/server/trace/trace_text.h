// SPDX-License-Identifier: Apache-2.0
// A trace as the members of a trace file's array, in the order of time, separated by commas.
#pragma once

#include <string>

#include "server/trace/trace_sink.h"

namespace nereid::server::trace {

// {"id":1,"model_name":"m","model_version":1},{"id":1,"timestamps":[{"name":"REQUEST_START","ns":5}]},...
std::string trace_text(const FinishedTrace& trace, bool has_timestamps);
void append_json_text(std::string* out, std::string_view text);

}  // namespace nereid::server::trace
