// SPDX-License-Identifier: Apache-2.0
// What the port for metrics answers besides them: a page that shows a repository's models, and the numbers it shows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/infer_models.h"
#include "server/host/model_metrics.h"
#include "server/net/endpoint.h"

namespace nereid::server {

struct StatusPageParts {
  std::string_view html, style, script;
};
extern const StatusPageParts kStatusPageParts;

struct StatusSource {
  std::string server_name, version;
  std::shared_ptr<InferModels> models;
  std::shared_ptr<const ModelMetrics> metrics;
};

// GET /, /status and /metrics, open to everybody who reaches the port.
std::vector<net::Endpoint> status_endpoints(const StatusSource& source);
// What /status answers: a JSON object.
std::string status_text(const StatusSource& source);

}  // namespace nereid::server
