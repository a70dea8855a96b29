// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_protocols.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/file.h"
#include "server/host/server_log.h"

namespace nereid::cli {
namespace {

using server::LogFormat;

struct GrpcArgument {
  std::string_view option, name, help;  // name: gRPC's own
};

constexpr GrpcArgument kGrpcArguments[] = {
    {"--grpc-keepalive-time", "grpc.keepalive_time_ms", "milliseconds between gRPC's pings of a connection"},
    {"--grpc-keepalive-timeout", "grpc.keepalive_timeout_ms", "milliseconds that the answer to a ping may take"},
    {"--grpc-http2-max-pings-without-data", "grpc.http2.max_pings_without_data",
     "pings that may be sent while nothing else is; 0: any number"},
    {"--grpc-http2-min-recv-ping-interval-without-data", "grpc.http2.min_ping_interval_without_data_ms",
     "milliseconds that have to lie between pings of a client"},
    {"--grpc-http2-max-ping-strikes", "grpc.http2.max_ping_strikes",
     "pings that may come too early before the connection is closed; 0: any number"},
    {"--grpc-max-connection-age", "grpc.max_connection_age_ms", "milliseconds after which a connection is closed"},
    {"--grpc-max-connection-age-grace", "grpc.max_connection_age_grace_ms",
     "milliseconds that its calls have to end then"},
};

Result<uint32_t> read_verbose(std::string text) {
  if (const auto flag = read_switch("--log-verbose", text); flag.is_ok()) return *flag ? 1u : 0u;
  uint32_t level = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (error == std::errc() && end == text.data() + text.size()) return level;
  return invalid_argument("--log-verbose takes a level from 0 on, or true or false, found '{}'", text);
}

Result<server::LogSettings> read_log(const ProtocolArguments& a) {
  server::LogSettings log;
  log.file = a.log_file;
  NEREID_TRY(log.info, read_switch("--log-info", a.log_info));
  NEREID_TRY(log.warning, read_switch("--log-warning", a.log_warning));
  NEREID_TRY(log.error, read_switch("--log-error", a.log_error));
  NEREID_TRY(log.verbose_level, read_verbose(a.log_verbose));
  log.format = a.log_format == "default"   ? LogFormat::kDefault
               : a.log_format == "ISO8601" ? LogFormat::kIso8601
               : a.log_format == "json"    ? LogFormat::kJson
                                           : LogFormat::kPlain;
  return log;
}

// The options of before --trace-config as it writes them.
Result<server::trace::Options> read_trace(const ProtocolArguments& a) {
  std::vector<std::string> texts = a.trace;
  for (const std::string& level : a.trace_levels)
    texts.push_back("level=" + (level == "MIN" || level == "MAX" ? "TIMESTAMPS" : level));
  if (a.trace_rate) texts.push_back("rate=" + *a.trace_rate);
  if (a.trace_count) texts.push_back("count=" + *a.trace_count);
  if (a.trace_file) texts.push_back("triton,file=" + *a.trace_file);
  if (a.trace_frequency) texts.push_back("triton,log-frequency=" + *a.trace_frequency);
  return server::trace::parse_options(texts);
}

Result<std::optional<server::net::TlsOptions>> read_tls(const ProtocolArguments& a) {
  using Tls = std::optional<server::net::TlsOptions>;
  NEREID_TRY(const bool mutual, read_switch("--grpc-use-ssl-mutual", a.grpc_ssl_mutual));
  NEREID_TRY(const bool plain, read_switch("--grpc-use-ssl", a.grpc_ssl));
  if (!plain && !mutual) return Tls();
  if (a.grpc_cert.empty() || a.grpc_key.empty())
    return invalid_argument("{} needs --grpc-server-cert and --grpc-server-key, files in PEM",
                            mutual ? "--grpc-use-ssl-mutual" : "--grpc-use-ssl");
  if (mutual && a.grpc_root.empty())
    return invalid_argument("--grpc-use-ssl-mutual needs --grpc-root-cert: who signs the certificates of clients");
  return Tls({.certificate_path = a.grpc_cert,
              .key_path = a.grpc_key,
              .client_ca_path = mutual ? a.grpc_root : std::string(),
              .is_http2 = true});
}

Status read_pattern(std::string_view option, const std::string& text, server::net::NamePattern* out) {
  if (text.empty()) return Status::ok();
  NEREID_TRY(*out, server::net::NamePattern::make(text).with(std::string(option)));
  return Status::ok();
}

}  // namespace

Result<bool> read_switch(std::string_view option, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text == "true" || text == "on" || text == "1") return true;
  if (text == "false" || text == "off" || text == "0") return false;
  return invalid_argument("{} takes true or false, found '{}'", option, text);
}

void declare_protocols(CommandLine& app, ProtocolArguments& a) {
  app.add_texts("--trace-config", a.trace,
                "requests to trace: level=TIMESTAMPS, level=TENSORS, rate=N (one of N), count=N, mode=triton with "
                "triton,file=FILE and triton,log-frequency=N, or mode=opentelemetry with opentelemetry,url=URL; "
                "repeatable, a setting each");
  app.add_option("--trace-file", a.trace_file, "the same as --trace-config triton,file=FILE");
  app.add_texts("--trace-level", a.trace_levels, "the same as --trace-config level=LEVEL; repeatable");
  app.add_option("--trace-rate", a.trace_rate, "the same as --trace-config rate=N");
  app.add_option("--trace-count", a.trace_count, "the same as --trace-config count=N");
  app.add_option("--trace-log-frequency", a.trace_frequency, "the same as --trace-config triton,log-frequency=N");
  app.add_option("--log-verbose", a.log_verbose, "0, or a level from 1 on: also what is for those who look for faults")
      ->capture_default_str();
  app.add_option("--log-info", a.log_info, "false: no lines of what goes as it should")->capture_default_str();
  app.add_option("--log-warning", a.log_warning, "false: no warnings")->capture_default_str();
  app.add_option("--log-error", a.log_error, "false: no errors")->capture_default_str();
  app.add_option("--log-format", a.log_format,
                 "lines as plain sentences, as Triton's default or ISO8601, or json: an object a line")
      ->check(Check::member({"plain", "default", "ISO8601", "json"}))
      ->capture_default_str();
  app.add_option("--log-file", a.log_file, "a file that lines are added to (default: standard error)");
  app.add_texts("--metrics-config", a.metrics,
                "summary_latencies=true, summary_quantiles=0.5:0.05,0.9:0.01, histogram_latencies=true, "
                "counter_latencies=false: which of Triton's families of durations there are; repeatable");
  app.add_option("--metrics-interval-ms", a.metrics_interval_ms, "milliseconds between two looks at the processors")
      ->capture_default_str();
  app.add_option("--allow-cpu-metrics", a.cpu_metrics, "false: no nv_cpu_ metrics")->capture_default_str();
  app.add_option("--http-header-forward-pattern", a.http_pattern,
                 "a regular expression: headers whose names it matches become parameters of requests to models");
  app.add_option("--grpc-header-forward-pattern", a.grpc_pattern, "the same of gRPC's metadata");
  app.add_texts("--http-restricted-api", a.http_restricted,
                "GROUP,GROUP:HEADER=VALUE: only who sends that header may use the groups (health, metadata, inference, "
                "shared-memory, model-config, model-repository, statistics, trace, logging); repeatable");
  app.add_texts("--grpc-restricted-protocol", a.grpc_restricted,
                "the same over gRPC, with metadata triton-grpc-protocol-HEADER; repeatable");
  app.add_option("--grpc-use-ssl", a.grpc_ssl, "true: gRPC through TLS")->capture_default_str();
  app.add_option("--grpc-use-ssl-mutual", a.grpc_ssl_mutual, "true: and clients must show a certificate")
      ->capture_default_str();
  app.add_option("--grpc-server-cert", a.grpc_cert, "the certificate for that, in PEM");
  app.add_option("--grpc-server-key", a.grpc_key, "its private key, in PEM");
  app.add_option("--grpc-root-cert", a.grpc_root, "PEM; who signs the certificates of clients");
  app.add_option("--grpc-infer-response-compression-level", a.grpc_compression,
                 "how much gRPC packs responses: none, low, medium or high")
      ->check(Check::member({"none", "low", "medium", "high"}))
      ->capture_default_str();
  a.grpc_arguments.resize(std::size(kGrpcArguments));
  for (size_t i = 0; i < std::size(kGrpcArguments); ++i)
    app.add_option(std::string(kGrpcArguments[i].option), a.grpc_arguments[i], std::string(kGrpcArguments[i].help))
        ->check(Check::range(0, 2'147'483'647));
  app.add_option("--grpc-keepalive-permit-without-calls", a.grpc_permit,
                 "true: pings also while a connection has no calls");
}

Result<server::ProtocolOptions> read_protocols(const ProtocolArguments& a) {
  server::ProtocolOptions out;
  NEREID_TRY(out.trace, read_trace(a));
  NEREID_TRY(const server::LogSettings log, read_log(a));
  NEREID_TRY(out.log, server::open_server_log(log));
  NEREID_TRY(out.metrics, server::metrics::parse_metrics_config(a.metrics));
  NEREID_TRY(out.metrics.has_cpu, read_switch("--allow-cpu-metrics", a.cpu_metrics));
  if (!(a.metrics_interval_ms >= 1 && a.metrics_interval_ms <= 86'400'000))
    return invalid_argument("--metrics-interval-ms takes milliseconds from 1 to 86400000, found {}",
                            a.metrics_interval_ms);
  out.metrics_interval_ms = static_cast<int64_t>(a.metrics_interval_ms);
  NEREID_RETURN_IF_ERROR(read_pattern("--http-header-forward-pattern", a.http_pattern, &out.http_forwarded));
  NEREID_RETURN_IF_ERROR(read_pattern("--grpc-header-forward-pattern", a.grpc_pattern, &out.grpc_forwarded));
  using server::kserve::RestrictedApis;
  NEREID_TRY(out.http_restricted, RestrictedApis::parse("--http-restricted-api", a.http_restricted, ""));
  NEREID_TRY(out.grpc_restricted,
             RestrictedApis::parse("--grpc-restricted-protocol", a.grpc_restricted, "triton-grpc-protocol-"));
  NEREID_TRY(out.grpc_tls, read_tls(a));
  for (size_t i = 0; i < a.grpc_arguments.size(); ++i)
    if (a.grpc_arguments[i])
      out.grpc_arguments.emplace_back(kGrpcArguments[i].name, static_cast<int>(*a.grpc_arguments[i]));
  if (!a.grpc_permit.empty()) {
    NEREID_TRY(const bool permits, read_switch("--grpc-keepalive-permit-without-calls", a.grpc_permit));
    out.grpc_arguments.emplace_back("grpc.keepalive_permit_without_calls", permits ? 1 : 0);
  }
  out.grpc_compression = a.grpc_compression == "low"      ? 1
                         : a.grpc_compression == "medium" ? 2
                         : a.grpc_compression == "high"   ? 3
                                                          : 0;
  return out;
}

}  // namespace nereid::cli
