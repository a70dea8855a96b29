// SPDX-License-Identifier: Apache-2.0
// nereid serve: language models behind an HTTP server, until a signal comes.
#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/program_pages.h"
#include "base/release_free_memory.h"
#include "cli/adapter_option.h"
#include "cli/command.h"
#include "cli/model_path.h"
#include "cli/options.h"
#include "cli/packing_bar.h"
#include "cli/rest_watch.h"
#include "cli/serve_repository.h"
#include "cli/version.h"
#include "server/host/host.h"

namespace nereid::cli {
namespace {

struct ServeArguments {
  std::vector<std::string> models;
  std::vector<std::string> names;
  std::vector<std::string> keys;
  std::vector<std::string> adapters;
  std::string key_file;
  server::HostOptions host;
  server::LlmModelOptions model;
  RepositoryArguments repository;
  bool no_prefix_reuse = false;
  int64_t kv_host_mib = 0;
  bool shifts = false;
  int32_t keep = 4;
  std::string policy = "max_utilization";
  std::string trace;
  bool quiet = false;
};

void declare_model(CommandLine& app, ServeArguments& a) {
  app.add_texts("MODEL", a.models, "paths, or names that `nereid models` lists");
  app.add_texts("--served-model-name", a.names, "what requests call a model; once for each MODEL, in order");
  app.add_option("--device", a.model.open.device, "where to run: cpu, cuda or cuda:NUMBER")->capture_default_str();
  app.add_option("--gpu-weights", a.model.open.gpu_weights,
                 "what a GPU makes of the layers' floats: as-is, or fp8, which halves what a token has to read")
      ->capture_default_str();
  app.add_option("--isa", a.model.open.isa,
                 "highest instruction set to use: baseline, avx2, avx512 or amx (default: the best)");
  app.add_option("--threads,-t", a.model.open.threads,
                 "CPU threads of a model (default: all that this process may use)");
  app.add_option("--context,-c,--max-model-len,--max-seq-len", a.model.open.context,
                 "longest prompt and answer together, in tokens (default: the model's, up to 8192)");
  app.add_option("--kv-cache-dtype", a.model.open.kv_cache_dtype,
                 "keys and values as auto, f32, f16, bf16, fp8 or int8; for some layers: int8,0-1=f16 (default: auto)");
  app.add_flag("--exact", a.model.open.exact, "round nothing but the weights: slow and large, for checking answers");
  app.add_flag("--strict", a.model.open.strict, "fail where a part of the model would run without a fast kernel");
  app.add_texts("--lora,--lora-modules", a.adapters,
                "a LoRA adapter that requests name in the model's place: NAME=DIR, NAME=DIR:SCALE, or MODEL:NAME=DIR "
                "where several models are served")
      ->type_name("NAME=DIR");
  app.add_option("--lora-folder", a.host.adapter_folder,
                 "a folder from which clients may load adapters while the server runs (default: they may not)")
      ->check(Check::existing_directory());
  app.add_option("--max-loras", a.model.executor.max_adapters, "adapters that a model holds at one time")
      ->check(Check::range(int64_t{0}, int64_t{65536}))
      ->capture_default_str();
  app.add_option(
      "--draft,--speculative-model", a.model.draft,
      "a smaller model of the same vocabulary that guesses what answers go on with: the same answers in less "
      "time while few are made at once");
  app.add_option("--draft-tokens,--num-speculative-tokens", a.model.executor.draft_tokens,
                 "tokens that it guesses at a time")
      ->check(Check::range(1, 63))
      ->capture_default_str();
  app.add_option("--chat-template", a.model.chat_template, "a template's name or file instead of the model's own");
  app.add_option("--tool-format,--tool-call-parser", a.model.tool_format,
                 "how the model writes calls of tools: auto (by its template), none, or a format by its name")
      ->check(Check::member({"auto", "none", "hermes", "llama3", "pythonic", "mistral", "qwen3_coder", "deepseek",
                             "function_tag", "functionary"}))
      ->capture_default_str();
  app.add_option("--reasoning-format,--reasoning-parser", a.model.thought_format,
                 "the marks of what the model thinks before it answers, told as reasoning_content: auto (by its "
                 "template), none (all of it is the answer), think, mistral or command")
      ->check(Check::member({"auto", "none", "think", "mistral", "command"}))
      ->capture_default_str();
  app.add_option("--max-sequences,--max-num-seqs,--max-batch-size", a.model.executor.max_sequences,
                 "requests in the batch at one time")
      ->check(Check::range(int64_t{1}, int64_t{4096}))
      ->capture_default_str();
  app.add_option("--step-tokens,--max-num-batched-tokens,--max-num-tokens", a.model.executor.step_tokens,
                 "tokens of one step, prompts and answers together")
      ->check(Check::range(int64_t{1}, int64_t{65536}))
      ->capture_default_str();
  app.add_option("--prompt-tokens-beside", a.model.executor.prompt_tokens_beside,
                 "of a step's tokens, most for prompts while answers are made")
      ->check(Check::range(int64_t{1}, int64_t{65536}))
      ->capture_default_str();
  app.add_option("--scheduler-policy,--capacity-scheduler-policy", a.policy,
                 "who gets into the batch: max_utilization (whoever fits now; the youngest pauses when the cache is "
                 "full) or guaranteed_no_evict (who surely fits to its end)")
      ->check(Check::member({"max_utilization", "guaranteed_no_evict", "MAX_UTILIZATION", "GUARANTEED_NO_EVICT"}))
      ->capture_default_str();
  app.add_option("--scheduler-trace", a.trace,
                 "a file for a trace viewer (Perfetto, chrome://tracing): each step and request, written at the end");
  app.add_option("--max-queue", a.model.executor.max_queue,
                 "requests that may wait for their turn; one more is refused")
      ->check(Check::range(int64_t{0}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--cache-tokens", a.model.executor.cache_tokens,
                 "tokens that the key/value cache holds (default: by the memory there is)")
      ->check(Check::range(int64_t{0}, int64_t{1} << 40));
  app.add_option("--kv-host-memory", a.kv_host_mib,
                 "MiB of a file that pages go to when they have to leave the cache; 0: they are dropped")
      ->check(Check::range(int64_t{0}, int64_t{1} << 24))
      ->capture_default_str();
  app.add_option("--kv-host-folder", a.model.executor.host_folder,
                 "where that file lies (default: the system's folder of temporary files)");
  app.add_flag("--context-shift", a.shifts,
               "answers that fill the context forget the older half and go on (what stays is computed anew)");
  app.add_option("--keep", a.keep, "tokens of the beginning that --context-shift keeps")
      ->check(Check::range(0, 1 << 30))
      ->capture_default_str();
  app.add_flag("--no-prefix-reuse,--no-enable-prefix-caching", a.no_prefix_reuse,
               "keep nothing of a prompt for the next that begins the same");
}

void declare_server(CommandLine& app, ServeArguments& a) {
  app.add_option("--host", a.host.host, "address or name to listen on, or unix:PATH")->capture_default_str();
  app.add_option("--port", a.host.port, "port to listen on; 0: any that is free")
      ->check(Check::range(0, 65535))
      ->capture_default_str();
  app.add_texts("--api-key", a.keys, "a key that requests must show as 'Authorization: Bearer KEY'; repeatable");
  app.add_option("--api-key-file", a.key_file, "a file with such keys, one a line");
  app.add_option("--ssl-cert", a.host.tls.certificate_path, "certificate in PEM, its chain behind it: speak HTTPS");
  app.add_option("--ssl-key", a.host.tls.key_path, "its private key in PEM");
  app.add_option("--ssl-client-ca", a.host.tls.client_ca_path,
                 "PEM; clients must show a certificate signed by one of these");
  app.add_option("--cors-origin", a.host.origin, "web pages of this origin ('https://a.b', or '*') may use the server");
  app.add_option("--max-priority", a.host.max_priority,
                 "highest priority that a request may have, whatever it asks for; a level is worth a second of waiting")
      ->capture_default_str();
  app.add_flag("--log-requests", a.host.log_requests, "a line for each request on standard error");
  app.add_flag("--quiet,-q", a.quiet, "no progress, warnings and errors only");
  for (const server::net::SettingRow& row : server::net::setting_table())
    app.add_option("--" + std::string(row.name), a.host.settings.*row.member, std::string(row.help))
        ->check(Check::range(row.least, row.most))
        ->capture_default_str();
}

Status complete(ServeArguments& a) {
  if (a.models.empty() && a.repository.folders.empty())
    return invalid_argument("name a MODEL to serve, or a folder of models with --model-repository");
  if (!a.names.empty() && a.names.size() != a.models.size())
    return invalid_argument("--served-model-name is given once for each MODEL: {} names for {} models", a.names.size(),
                            a.models.size());
  if (a.host.tls.certificate_path.empty() != a.host.tls.key_path.empty())
    return invalid_argument("--ssl-cert and --ssl-key belong together; one of them is missing");
  if (!a.host.tls.client_ca_path.empty() && a.host.tls.certificate_path.empty())
    return invalid_argument("--ssl-client-ca needs --ssl-cert and --ssl-key");
  a.host.api_keys = a.keys;
  for (const std::string& key : a.keys)
    if (key.empty()) return invalid_argument("--api-key is empty; a key has at least one character");
  if (!a.key_file.empty()) {
    NEREID_TRY(const std::vector<std::string> more, server::net::read_api_keys(a.key_file).with("--api-key-file"));
    a.host.api_keys.insert(a.host.api_keys.end(), more.begin(), more.end());
  }
  a.host.version = kVersion;
  a.model.executor.reuse_prefixes = !a.no_prefix_reuse;
  a.model.executor.host_memory_bytes = a.kv_host_mib << 20;
  a.model.executor.shift_keep = a.shifts ? a.keep : -1;
  if (a.policy == "guaranteed_no_evict" || a.policy == "GUARANTEED_NO_EVICT")
    a.model.executor.policy = llm::SchedulePolicy::kGuaranteedNoEvict;
  const bool are_named = !a.names.empty();
  if (!a.model.draft.empty()) {
    NEREID_TRY(a.model.draft, resolve_model(a.model.draft));
  }
  for (std::string& model : a.models) {
    NEREID_TRY(std::string path, resolve_model(model));
    // A model that is found by a name keeps it; of a path the last part is the name.
    if (!are_named) a.names.push_back(path != model ? model : "");
    model = std::move(path);
  }
  return Status::ok();
}

// The exit code of a failure, which has been printed; nothing when all models are there.
std::optional<ExitCode> load_all(const ServeArguments& a, server::Host& host) {
  for (size_t i = 0; i < a.models.size(); ++i) {
    server::LlmModelOptions options = a.model;
    options.name = a.names[i];
    // One a model: trace.json, trace.json.2, ...
    if (!a.trace.empty()) options.executor.trace_path = i == 0 ? a.trace : fmt::format("{}.{}", a.trace, i + 1);
    PackingBar bar;
    log_info("loading {}", a.models[i]);
    bool wrong_option = false;
    if (const Status status = host.load(a.models[i], options, bar.listener(), &wrong_option); !status.is_ok())
      return fail(status, wrong_option ? kWrongInput : kFailed);
    bar.finish();
  }
  return std::nullopt;
}

std::optional<ExitCode> load_adapters(const ServeArguments& a, server::Host& host) {
  for (const std::string& text : a.adapters) {
    const Result<NamedAdapter> adapter = parse_named_adapter(text, host.model_names());
    if (!adapter.is_ok()) return fail(adapter.status());
    const Status status = host.load_adapter(adapter->model, adapter->name, adapter->source.path, adapter->source.scale);
    if (!status.is_ok()) return fail(status.with("--lora " + text));
  }
  return std::nullopt;
}

void print_welcome(const ServeArguments& a, const server::Host& host) {
  const std::string url = host.url();
  const bool is_unix = url.starts_with("unix:");
  std::string names;
  for (const std::string& name : host.model_names()) names += (names.empty() ? "" : ", ") + name;
  if (url.empty()) {
    fmt::print("serving {} over gRPC alone\n", names.empty() ? "the model repository" : names);
  } else {
    fmt::print("serving {} at {}\n", names.empty() ? "the model repository" : names, url);
  }
  if (names.empty() || url.empty()) {
    std::fflush(stdout);
    return;
  }
  fmt::print(
      "try: curl {}{}/v1/chat/completions{}{} -H 'Content-Type: application/json' -d "
      "'{{\"model\":\"{}\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}]}}'\n",
      is_unix ? "--unix-socket " + url.substr(5) + " " : "", is_unix ? "http://localhost" : url,
      a.host.tls.certificate_path.empty() ? "" : " --cacert " + a.host.tls.certificate_path,
      a.host.api_keys.empty() ? "" : " -H \"Authorization: Bearer $KEY\"", host.model_names().front());
  if (!is_unix) fmt::print("or open {}/ in a browser; Ctrl-C ends the server\n", url);
  std::fflush(stdout);
}

void wait_for_signal(const std::function<void()>& give_back_memory) {
  // A signal ends the sleep at once when it meets this thread, as it does: the others block them all.
  const timespec nap = {.tv_sec = 0, .tv_nsec = 250'000'000};
  RestWatch watch;
  while (!interrupted()) {
    ::nanosleep(&nap, nullptr);
    if (!watch.has_come_to_rest(now_ns(), process_cpu_ns())) continue;
    give_back_memory();
    release_free_memory();
  }
}

}  // namespace

int serve_command(Arguments args) {
  CommandLine app(
      "Serves language models over HTTP: the API of OpenAI under /v1, a page to chat at /, /health and /metrics.",
      "nereid serve");
  ServeArguments a;
  declare_model(app, a);
  declare_server(app, a);
  declare_repository(app, a.repository, a.host);
  if (const auto code = parse(app, args)) return *code;
  if (a.quiet) stderr_console().set_level(LogLevel::warn);
  if (const Status status = complete(a); !status.is_ok()) return fail(status);

  Result<std::unique_ptr<ServedRepository>> repository = ServedRepository::open(a.repository, &a.host);
  if (!repository.is_ok()) return fail(repository.status());
  Result<std::unique_ptr<server::Host>> started = server::Host::start(a.host);
  if (!started.is_ok()) return fail(started.status());
  server::Host& host = **started;
  if (const auto code = load_all(a, host)) return *code;
  if (const auto code = load_adapters(a, host)) return *code;
  if (*repository != nullptr) {
    if (const Status status = (*repository)->start(); !status.is_ok()) return fail(status, kFailed);
    (*repository)->print();
  }
  release_program_pages();  // what only loading needed
  host.set_ready();
  print_welcome(a, host);
  wait_for_signal([&] {
    host.give_back_memory();
    if (*repository != nullptr) (*repository)->give_back_memory();
  });

  if (*repository != nullptr) (*repository)->refuse();
  const int64_t running = host.stats().requests_running;
  log_info("stopping{}", running == 0 ? std::string()
                                      : fmt::format("; {} request{} may run for {} more (Ctrl-C again ends at once)",
                                                    running, running == 1 ? "" : "s",
                                                    format_duration(a.host.settings.drain_timeout_ms * 1'000'000)));
  const int64_t end_ns = now_ns() + a.host.settings.drain_timeout_ms * 1'000'000;  // for both protocols together
  if (!host.drain()) log_warn("requests that did not end in time were broken off");
  if (*repository != nullptr) (*repository)->stop(std::max<int64_t>(0, (end_ns - now_ns()) / 1'000'000));
  return kDone;
}

}  // namespace nereid::cli
