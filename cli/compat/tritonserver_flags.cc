// SPDX-License-Identifier: Apache-2.0
#include "cli/compat/tritonserver_flags.h"

namespace nereid::cli {
namespace {

using enum TritonFlag::Use;

constexpr std::string_view kNoGpu = "models run on the processors";
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
    {"--allow-http", kPassed, "--allow-http"},
    {"--http-address", kPassed, "--http-address"},
    {"--http-port", kPassed, "--http-port"},
    {"--http-thread-count", kPassed, "--worker-threads"},
    {"--http-max-input-size", kPassed, "--max-body-bytes"},
    {"--reuse-http-port", kIgnored, "a port belongs to one server"},
    {"--http-header-forward-pattern", kPassed, "--http-header-forward-pattern"},
    {"--http-restricted-api", kPassed, "--http-restricted-api"},
    {"--allow-grpc", kPassed, "--allow-grpc"},
    {"--grpc-address", kPassed, "--grpc-address"},
    {"--grpc-port", kPassed, "--grpc-port"},
    {"--reuse-grpc-port", kIgnored, "a port belongs to one server"},
    {"--grpc-header-forward-pattern", kPassed, "--grpc-header-forward-pattern"},
    {"--grpc-infer-thread-count", kIgnored, kGrpcTunes},
    {"--grpc-infer-allocation-pool-size", kIgnored, kGrpcTunes},
    {"--grpc-max-response-pool-size", kIgnored, kGrpcTunes},
    {"--grpc-use-ssl", kPassed, "--grpc-use-ssl"},
    {"--grpc-use-ssl-mutual", kPassed, "--grpc-use-ssl-mutual"},
    {"--grpc-server-cert", kPassed, "--grpc-server-cert"},
    {"--grpc-server-key", kPassed, "--grpc-server-key"},
    {"--grpc-root-cert", kPassed, "--grpc-root-cert"},
    {"--grpc-infer-response-compression-level", kPassed, "--grpc-infer-response-compression-level"},
    {"--grpc-keepalive-time", kPassed, "--grpc-keepalive-time"},
    {"--grpc-keepalive-timeout", kPassed, "--grpc-keepalive-timeout"},
    {"--grpc-keepalive-permit-without-calls", kPassed, "--grpc-keepalive-permit-without-calls"},
    {"--grpc-http2-max-pings-without-data", kPassed, "--grpc-http2-max-pings-without-data"},
    {"--grpc-http2-min-recv-ping-interval-without-data", kPassed, "--grpc-http2-min-recv-ping-interval-without-data"},
    {"--grpc-http2-max-ping-strikes", kPassed, "--grpc-http2-max-ping-strikes"},
    {"--grpc-max-connection-age", kPassed, "--grpc-max-connection-age"},
    {"--grpc-max-connection-age-grace", kPassed, "--grpc-max-connection-age-grace"},
    {"--grpc-restricted-protocol", kPassed, "--grpc-restricted-protocol"},
    {"--allow-metrics", kPassed, "--allow-metrics"},
    {"--metrics-address", kPassed, "--metrics-address"},
    {"--metrics-port", kPassed, "--metrics-port"},
    {"--allow-gpu-metrics", kIgnored, kNoGpu},
    {"--allow-cpu-metrics", kPassed, "--allow-cpu-metrics"},
    {"--metrics-interval-ms", kPassed, "--metrics-interval-ms"},
    {"--metrics-config", kPassed, "--metrics-config"},
    {"--log-verbose", kPassed, "--log-verbose"},
    {"--log-info", kPassed, "--log-info"},
    {"--log-warning", kPassed, "--log-warning"},
    {"--log-error", kPassed, "--log-error"},
    {"--log-format", kPassed, "--log-format"},
    {"--log-file", kPassed, "--log-file"},
    {"--trace-config", kPassed, "--trace-config"},
    {"--trace-file", kPassed, "--trace-file"},
    {"--trace-level", kPassed, "--trace-level"},
    {"--trace-rate", kPassed, "--trace-rate"},
    {"--trace-count", kPassed, "--trace-count"},
    {"--trace-log-frequency", kPassed, "--trace-log-frequency"},
    {"--backend-directory", kIgnored, kNoLibraries},
    {"--backend-config", kIgnored, kNoLibraries},
    {"--repoagent-directory", kIgnored, "there are no repository agents"},
    {"--cache-config", kPassed, "--cache-config"},
    {"--cache-directory", kIgnored, "caches are part of the program"},
    {"--response-cache-byte-size", kPassed, "--response-cache-byte-size"},
    {"--rate-limit", kPassed, "--rate-limit"},
    {"--rate-limit-resource", kPassed, "--rate-limit-resource"},
    {"--pinned-memory-pool-byte-size", kIgnored, kNoGpu},
    {"--cuda-memory-pool-byte-size", kIgnored, kNoGpu},
    {"--cuda-virtual-address-size", kIgnored, kNoGpu},
    {"--min-supported-compute-capability", kIgnored, kNoGpu},
    {"--enable-peer-access", kIgnored, kNoGpu},
    {"--buffer-manager-thread-count", kIgnored, "tensors are not copied between devices"},
    {"--host-policy", kPassed, "--host-policy"},
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
