// SPDX-License-Identifier: Apache-2.0
// A load test's figures for eyes (table, page) and for programs (JSON, CSV).
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "server/load/load_figures.h"

namespace nereid::server::load {

struct LoadReport {
  std::string url, model, endpoint;  // "/v1/chat/completions"
  ServiceLevel service_level;
  std::vector<LoadRun> runs;
};

std::string load_table(const LoadReport& report);
// Of inferences, which have neither tokens nor pieces.
std::string infer_table(const LoadReport& report);
Json load_json(const LoadReport& report);
// A line a request; times in milliseconds.
std::string load_csv(const LoadReport& report);
// A page that needs nothing else: the table, and drawings of the distributions.
std::string load_page(const LoadReport& report);

}  // namespace nereid::server::load
