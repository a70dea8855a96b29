// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/tritonserver_flags.h"

namespace nereid::cli {
namespace {

using enum TritonFlag::Use;

constexpr std::string_view kNoGpu = "models run on the processors";
constexpr std::string_view kOneLog = "the log goes to standard error, in one form";
constexpr std::string_view kNoTrace = "requests are not traced";
constexpr std::string_view kNoLibraries = "backends are part of the program";
constexpr std::string_view kGrpcTunes = "gRPC keeps its own defaults";
constexpr std::string_view kNoHosting = "the endpoints of hosting services are not there";

constexpr TritonFlag kFlags[] = {
    {"--id", kPassed, "--id"},
    {"--exit-timeout-secs", kPassed, "--exit-timeout-secs"},
    {"--model-repository", kPassed, "--model-repository"},
    {"--model-store", kPassed, "--model-repository"},
    {"--exit-on-error", kPassed, "--exit-on-error"},
    {"--disable-auto-complete-config", kSwitched, "--disable-auto-complete-config"},
    {"--strict-model-config", kPassed, "--strict-model-config"},
    {"--strict-readiness", kPassed, "--strict-readiness"},
    {"--model-control-mode", kPassed, "--model-control-mode"},
    {"--repository-poll-secs", kPassed, "--repository-poll-secs"},
    {"--load-model", kPassed, "--load-model"},
    {"--allow-http", kIgnored, "HTTP is always served"},
    {"--http-address", kPassed, "--http-address"},
    {"--http-port", kPassed, "--http-port"},
    {"--http-thread-count", kPassed, "--worker-threads"},
    {"--http-max-input-size", kPassed, "--max-body-bytes"},
    {"--reuse-http-port", kIgnored, "a port belongs to one server"},
    {"--http-header-forward-pattern", kIgnored, "headers are not handed to models"},
    {"--http-restricted-api", kRefused, "restrict the whole server with `nereid serve --api-key` instead"},
    {"--allow-grpc", kPassed, "--allow-grpc"},
    {"--grpc-address", kPassed, "--grpc-address"},
    {"--grpc-port", kPassed, "--grpc-port"},
    {"--reuse-grpc-port", kIgnored, "a port belongs to one server"},
    {"--grpc-header-forward-pattern", kIgnored, "metadata is not handed to models"},
    {"--grpc-infer-thread-count", kIgnored, kGrpcTunes},
    {"--grpc-infer-allocation-pool-size", kIgnored, kGrpcTunes},
    {"--grpc-max-response-pool-size", kIgnored, kGrpcTunes},
    {"--grpc-use-ssl", kRefused, "gRPC is served in the clear; put a proxy that speaks TLS before it"},
    {"--grpc-use-ssl-mutual", kRefused, "gRPC is served in the clear; put a proxy that speaks TLS before it"},
    {"--grpc-server-cert", kIgnored, "gRPC is served in the clear"},
    {"--grpc-server-key", kIgnored, "gRPC is served in the clear"},
    {"--grpc-root-cert", kIgnored, "gRPC is served in the clear"},
    {"--grpc-infer-response-compression-level", kIgnored, kGrpcTunes},
    {"--grpc-keepalive-time", kIgnored, kGrpcTunes},
    {"--grpc-keepalive-timeout", kIgnored, kGrpcTunes},
    {"--grpc-keepalive-permit-without-calls", kIgnored, kGrpcTunes},
    {"--grpc-http2-max-pings-without-data", kIgnored, kGrpcTunes},
    {"--grpc-http2-min-recv-ping-interval-without-data", kIgnored, kGrpcTunes},
    {"--grpc-http2-max-ping-strikes", kIgnored, kGrpcTunes},
    {"--grpc-max-connection-age", kIgnored, kGrpcTunes},
    {"--grpc-max-connection-age-grace", kIgnored, kGrpcTunes},
    {"--grpc-restricted-protocol", kRefused, "restrict who reaches the port instead"},
    {"--allow-metrics", kPassed, "--allow-metrics"},
    {"--metrics-address", kPassed, "--metrics-address"},
    {"--metrics-port", kPassed, "--metrics-port"},
    {"--allow-gpu-metrics", kIgnored, kNoGpu},
    {"--allow-cpu-metrics", kIgnored, "the metrics of the process are always there"},
    {"--metrics-interval-ms", kIgnored, "metrics are read when they are asked for"},
    {"--metrics-config", kIgnored, "the counters are always there"},
    {"--log-verbose", kIgnored, kOneLog},
    {"--log-info", kIgnored, kOneLog},
    {"--log-warning", kIgnored, kOneLog},
    {"--log-error", kIgnored, kOneLog},
    {"--log-format", kIgnored, kOneLog},
    {"--log-file", kIgnored, kOneLog},
    {"--trace-config", kIgnored, kNoTrace},
    {"--trace-file", kIgnored, kNoTrace},
    {"--trace-level", kIgnored, kNoTrace},
    {"--trace-rate", kIgnored, kNoTrace},
    {"--trace-count", kIgnored, kNoTrace},
    {"--trace-log-frequency", kIgnored, kNoTrace},
    {"--backend-directory", kIgnored, kNoLibraries},
    {"--backend-config", kIgnored, kNoLibraries},
    {"--repoagent-directory", kIgnored, "there are no repository agents"},
    {"--cache-config", kIgnored, "responses are not kept"},
    {"--cache-directory", kIgnored, "responses are not kept"},
    {"--response-cache-byte-size", kIgnored, "responses are not kept"},
    {"--rate-limit", kIgnored, "instances share the processors as they are"},
    {"--rate-limit-resource", kIgnored, "instances share the processors as they are"},
    {"--pinned-memory-pool-byte-size", kIgnored, kNoGpu},
    {"--cuda-memory-pool-byte-size", kIgnored, kNoGpu},
    {"--cuda-virtual-address-size", kIgnored, kNoGpu},
    {"--min-supported-compute-capability", kIgnored, kNoGpu},
    {"--enable-peer-access", kIgnored, kNoGpu},
    {"--buffer-manager-thread-count", kIgnored, "tensors are not copied between devices"},
    {"--host-policy", kIgnored, "the system places threads"},
    {"--model-load-gpu-limit", kIgnored, kNoGpu},
    {"--model-load-thread-count", kIgnored, "models are loaded one after the other, each with all processors"},
    {"--model-load-retry-count", kIgnored, "a load that fails is told at once"},
    {"--model-namespacing", kIgnored, "names are the same in all repositories"},
    {"--model-config-name", kIgnored, "config.pbtxt is the configuration"},
    {"--allow-client-shm", kPassed, "--allow-client-shm"},
    {"--allow-sagemaker", kIgnored, kNoHosting},
    {"--sagemaker-port", kIgnored, kNoHosting},
    {"--sagemaker-safe-port-range", kIgnored, kNoHosting},
    {"--sagemaker-thread-count", kIgnored, kNoHosting},
    {"--allow-vertex-ai", kIgnored, kNoHosting},
    {"--vertex-ai-port", kIgnored, kNoHosting},
    {"--vertex-ai-thread-count", kIgnored, kNoHosting},
    {"--vertex-ai-default-model", kIgnored, kNoHosting},
};

}  // namespace

std::span<const TritonFlag> triton_flags() {
  return kFlags;
}

const TritonFlag* find_triton_flag(std::string_view name) {
  for (const TritonFlag& flag : kFlags)
    if (flag.name == name) return &flag;
  return nullptr;
}

}  // namespace nereid::cli
