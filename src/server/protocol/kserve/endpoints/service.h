// SPDX-License-Identifier: Apache-2.0
// What the endpoints of the open inference protocol work with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/core/infer_models.h"
#include "server/core/log_control.h"
#include "server/core/shared_memory.h"
#include "server/core/tracer.h"
#include "server/net/http.h"
#include "server/net/name_pattern.h"
#include "server/protocol/kserve/api_group.h"

namespace nereid::server::kserve {

struct Service {
  std::shared_ptr<InferModels> models;
  std::shared_ptr<SharedMemory> shared;
  std::string server_name = "triton";
  std::string version;
  std::function<bool()> is_stopping;  // takes no more work; empty: never
  std::function<bool()> is_ready;     // everything that should answer does
  std::shared_ptr<Tracer> tracer;
  std::shared_ptr<LogControl> log;
  net::NamePattern forwarded;  // headers that become parameters
  RestrictedApis restricted;
};

using ServicePtr = std::shared_ptr<const Service>;

// The model that a path names, in the version it names or the latest. kNotFound also for a version that is no number.
Result<std::shared_ptr<InferModel>> find_model(const Service& service, const net::Request& request);
// -1: the path names none; nothing: it is no number.
std::optional<int64_t> version_of(const net::Request& request);
// What of its headers the model is to know, and where it is traced, the trace. kInvalidArgument as forward_header.
Status prepare(const Service& service, const net::Request& request, const InferModel& model, InferRequest* infer);
// 404, as for a path that there is not.
net::Response no_such_path();

}  // namespace nereid::server::kserve
