// SPDX-License-Identifier: Apache-2.0
// A function an endpoint, each in the file of its name.
#pragma once

#include "server/net/endpoint.h"
#include "server/protocol/kserve/endpoints/service.h"

namespace nereid::server::kserve {

// health.cc
net::Response live(const Service& service, const net::Request& request);
net::Response ready(const Service& service, const net::Request& request);
net::Response model_ready(const Service& service, const net::Request& request);
// metadata.cc
net::Response server_metadata(const Service& service, const net::Request& request);
net::Response model_metadata(const Service& service, const net::Request& request);
net::Response model_config(const Service& service, const net::Request& request);
// statistics.cc
net::Response model_statistics(const Service& service, const net::Request& request);
net::Response all_statistics(const Service& service, const net::Request& request);
// repository.cc
net::Response repository_index(const Service& service, const net::Request& request);
net::Response model_load(const Service& service, const net::Request& request);
net::Response model_unload(const Service& service, const net::Request& request);
// shared_memory.cc
net::Response shared_memory_status(const Service& service, const net::Request& request);
net::Response shared_memory_register(const Service& service, const net::Request& request);
net::Response shared_memory_unregister(const Service& service, const net::Request& request);
net::Response cuda_memory_status(const Service& service, const net::Request& request);
net::Response cuda_memory_register(const Service& service, const net::Request& request);
net::Response cuda_memory_unregister(const Service& service, const net::Request& request);
// trace.cc
net::Response trace_settings(const Service& service, const net::Request& request);
net::Response change_trace_settings(const Service& service, const net::Request& request);
// logging.cc
net::Response log_settings(const Service& service, const net::Request& request);
net::Response change_log_settings(const Service& service, const net::Request& request);
// infer.cc
void infer(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out);
// generate.cc
void generate(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out);
void generate_stream(const ServicePtr& service, net::Request request, std::shared_ptr<net::Responder> out);

}  // namespace nereid::server::kserve
