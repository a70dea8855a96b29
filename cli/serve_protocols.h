// SPDX-License-Identifier: Apache-2.0
// The options of `nereid serve` about what a model repository's protocols do besides inference: traces, log, metrics,
// who may, TLS of gRPC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "server/host/model_server.h"

namespace nereid::cli {

struct ProtocolArguments {
  std::vector<std::string> trace, trace_levels;
  std::optional<std::string> trace_file, trace_rate, trace_count, trace_frequency;
  std::string log_verbose = "0", log_info = "true", log_warning = "true", log_error = "true", log_format = "plain";
  std::string log_file;
  std::vector<std::string> metrics;
  std::string cpu_metrics = "true";
  double metrics_interval_ms = 2000;
  std::string http_pattern, grpc_pattern;
  std::vector<std::string> http_restricted, grpc_restricted;
  std::string grpc_ssl = "false", grpc_ssl_mutual = "false", grpc_cert, grpc_key, grpc_root;
  std::string grpc_compression = "none", grpc_permit;
  std::vector<std::optional<int64_t>> grpc_arguments;  // one a row of the table in serve_protocols.cc
};

// As tritonserver takes them: true, false, on, off, 1, 0, in any case.
Result<bool> read_switch(std::string_view option, std::string text);

void declare_protocols(CommandLine& app, ProtocolArguments& a);
// kInvalidArgument, kNotFound: what is not understood, certificates that cannot be read.
Result<server::ProtocolOptions> read_protocols(const ProtocolArguments& a);

}  // namespace nereid::cli
