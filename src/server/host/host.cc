// SPDX-License-Identifier: Apache-2.0
#include "server/host/host.h"

#include <atomic>
#include <ctime>
#include <optional>
#include <random>

#include "base/json.h"
#include "base/log.h"
#include "server/backend/encoder/encoder_model.h"
#include "server/host/api_groups.h"
#include "server/host/growing_models.h"
#include "server/host/metered_model.h"
#include "server/host/repository_texts.h"
#include "server/host/request_meters.h"
#include "server/host/step_meters.h"
#include "server/metrics/process_figures.h"
#include "server/protocol/kserve/api_gate.h"
#include "server/protocol/kserve/kserve_error.h"
#include "server/protocol/openai/endpoints/endpoint_table.h"

namespace nereid::server {
namespace {

using metrics::Metric;

enum class Phase : int { kLoading, kReady, kStopping };

uint64_t random_number() {
  thread_local std::mt19937_64 generator{[] {
    std::random_device device;
    return (uint64_t{device()} << 32) ^ device();
  }()};
  return generator();
}

class ProcessHost final : public Host {
 public:
  explicit ProcessHost(HostOptions options) : options_(std::move(options)) {
    if (options_.more_models != nullptr)
      offered_ = joined_texts(models_, metered_texts(options_.more_models, registry_));
  }
  ~ProcessHost() override {
    phase_ = Phase::kStopping;
    server_.reset();  // handlers go before what they use
    // What is still in a step tells its end to meters of the registry, and would be the last to hold its own executor.
    for (const std::shared_ptr<EncoderModel>& model : encoders_) model->drain(0);
    for (const std::shared_ptr<LlmModel>& model : llms_) (void)model->drain(0);  // not from an output
  }

  Status open() {
    std::shared_ptr<net::TlsContext> tls;
    if (!options_.tls.certificate_path.empty() || !options_.tls.key_path.empty()) {
      NEREID_TRY(tls, net::TlsContext::make(options_.tls));
    }
    net::ServerOptions server{.host = options_.host,
                              .port = options_.port,
                              .settings = options_.settings,
                              .tls = std::move(tls),
                              .router = {},
                              .on_done = [this](const net::RequestRecord& r) { on_done(r); }};
    server.router.add(gated(own_endpoints()));
    server.router.add(gated(openai_endpoints()));
    server.router.shape_errors("", openai::shape_error);
    server.router.add(options_.endpoints);
    server.router.shape_errors("/v2", kserve::shape_error);
    server.router.require_keys(net::ApiKeys(options_.api_keys));
    server.router.allow_origin(options_.origin);
    add_metrics();
    if (!options_.listens) return Status::ok();
    NEREID_TRY(server_, net::Server::start(std::move(server)));
    watch_server();
    return Status::ok();
  }

  Status load(const std::string& path, const LlmModelOptions& options,
              const std::function<void(int64_t, int64_t)>& progress, bool* wrong_option) override {
    if (EncoderModel::is_one(path)) return load_encoder(path, options, progress, wrong_option);
    // By the name that the model is given, before it is asked for anything.
    const auto meters = std::make_shared<std::optional<StepMeters>>();
    LlmModelOptions measured = options;
    measured.executor.on_iteration = [meters](const llm::IterationStats& step) {
      if (*meters) (*meters)->observe(step);
    };
    NEREID_TRY(std::unique_ptr<LlmModel> opened, LlmModel::open(path, measured, progress, wrong_option));
    meters->emplace(registry_, opened->card().name);
    const std::shared_ptr<LlmModel> model = std::move(opened);
    for (const std::string& warning : model->opened().warnings) log_warn("{}", warning);
    NEREID_RETURN_IF_ERROR(add(model));
    watch_model(model);
    llms_.push_back(model);
    return Status::ok();
  }

  Status add(std::shared_ptr<TextModel> model) override {
    const std::string name = model->card().name;
    if (!models_->add(metered(std::move(model), registry_)))
      return invalid_argument("two models are called '{}'; give one of them another name with --served-model-name",
                              name);
    registry_.ask(Metric::kModelReady, {name}, [this] { return phase_ == Phase::kReady ? 1.0 : 0.0; });
    return Status::ok();
  }

  Status load_adapter(const std::string& model, const std::string& name, const std::string& path,
                      double scale) override {
    const std::shared_ptr<TextModel> found = models_->find(model);
    if (!found) return not_found("there is no model '{}' to load the adapter '{}' for", model, name);
    if (models_->find(name)) return invalid_argument("there is a model or an adapter '{}' already", name);
    return found->load_adapter(name, path, scale);
  }

  void set_ready() override {
    Phase loading = Phase::kLoading;
    phase_.compare_exchange_strong(loading, Phase::kReady);
  }

  const std::string& url() const override {
    static const std::string kNone;
    return server_ != nullptr ? server_->url() : kNone;
  }
  net::ServerStats stats() const override { return server_ != nullptr ? server_->stats() : net::ServerStats(); }
  void give_back_memory() override {
    if (server_ != nullptr) server_->give_back_memory();
  }
  std::vector<std::string> model_names() const override {
    std::vector<std::string> names;
    for (const auto& model : offered_->list()) names.push_back(model->card().name);
    return names;
  }

  bool drain() override {
    phase_ = Phase::kStopping;
    return server_ == nullptr || server_->drain();
  }

 private:
  Status load_encoder(const std::string& path, const LlmModelOptions& options,
                      const std::function<void(int64_t, int64_t)>& progress, bool* wrong_option) {
    NEREID_TRY(
        std::unique_ptr<EncoderModel> opened,
        EncoderModel::open(path, {.name = options.name, .open = options.open, .queue = {}}, progress, wrong_option));
    const std::shared_ptr<EncoderModel> model = std::move(opened);
    for (const std::string& warning : model->opened().warnings) log_warn("{}", warning);
    NEREID_RETURN_IF_ERROR(add(model));
    const auto ask = [&](Metric metric, int64_t llm::EncodeStats::*member) {
      registry_.ask(metric, {model->card().name},
                    [model, member] { return static_cast<double>(model->stats().*member); });
    };
    ask(Metric::kRequestsRunning, &llm::EncodeStats::jobs);
    ask(Metric::kRequestsWaiting, &llm::EncodeStats::texts_waiting);
    ask(Metric::kSteps, &llm::EncodeStats::steps);
    encoders_.push_back(model);
    return Status::ok();
  }

  std::vector<net::Endpoint> own_endpoints() {
    const auto row = [](std::string pattern, std::string summary, std::function<net::Response()> answer) {
      return net::Endpoint{.method = "GET",
                           .pattern = std::move(pattern),
                           .summary = std::move(summary),
                           .handle = [answer = std::move(answer)](
                                         net::Request, std::shared_ptr<net::Responder> out) { out->send(answer()); },
                           .access = net::Access::kOpen,
                           .runs = net::Runs::kOnLoop};
    };
    return {row("/health", "200 when requests are answered, 503 with the reason when not", [this] { return health(); }),
            row("/metrics", "what is measured, as Prometheus reads it", [this] {
              return net::Response{.status = 200,
                                   .headers = {{"Content-Type", std::string(metrics::kTextType)}},
                                   .body = registry_.text() + (options_.more_metrics ? options_.more_metrics() : "")};
            })};
  }

  // Behind the headers of their groups.
  std::vector<net::Endpoint> gated(std::vector<net::Endpoint> endpoints) const {
    for (net::Endpoint& one : endpoints)
      one.handle =
          kserve::gated(options_.restricted, api_group_of(one.pattern), openai::shape_error, std::move(one.handle));
    return endpoints;
  }

  // The protocol's, which answer once the models are there.
  std::vector<net::Endpoint> openai_endpoints() {
    auto service = std::make_shared<openai::Service>(openai::Service{
        .models = offered_,
        .version = options_.version,
        .unix_s = [] { return static_cast<int64_t>(std::time(nullptr)); },
        .random = random_number,
        .adapter_folder = options_.adapter_folder,
        .max_priority = options_.max_priority,
    });
    std::vector<net::Endpoint> endpoints = openai::make_endpoints(std::move(service));
    for (net::Endpoint& one : endpoints) {
      if (one.access == net::Access::kOpen) continue;
      one.handle = [this, handle = std::move(one.handle)](net::Request request, std::shared_ptr<net::Responder> out) {
        if (phase_ == Phase::kReady) return handle(std::move(request), std::move(out));
        net::Response wait = openai::shape_error({.status = 503, .message = why_not(), .path = request.path});
        wait.headers.add("Retry-After", "1");
        out->send(std::move(wait));
      };
    }
    return endpoints;
  }

  std::string why_not() const {
    return phase_ == Phase::kStopping ? "the server is stopping" : "the server is still loading its models";
  }

  net::Response health() const {
    if (phase_ == Phase::kReady) {
      return net::json_response(200, Json{{"status", "ready"}, {"models", model_names()}}.dump(
                                         -1, ' ', false, Json::error_handler_t::replace));  // names may be paths
    }
    return net::json_response(
        503, Json{{"status", phase_ == Phase::kStopping ? "stopping" : "loading"}, {"reason", why_not()}}.dump());
  }

  void add_metrics() {
    metrics::add_process_metrics(registry_);
    registry_.ask(Metric::kBuildInfo, {options_.version}, [] { return 1.0; });
  }

  void watch_server() {
    const auto ask = [this](Metric metric, int64_t net::ServerStats::*member) {
      registry_.ask(metric, {}, [s = server_.get(), member] { return static_cast<double>(s->stats().*member); });
    };
    ask(Metric::kHttpConnections, &net::ServerStats::connections);
    ask(Metric::kHttpConnectionsTotal, &net::ServerStats::connections_total);
    ask(Metric::kHttpConnectionsRefused, &net::ServerStats::connections_refused);
    ask(Metric::kHttpRequestsRunning, &net::ServerStats::requests_running);
  }

  void watch_model(const std::shared_ptr<LlmModel>& model) {
    const auto ask = [&](Metric metric, int64_t llm::ExecutorStats::*member) {
      registry_.ask(metric, {model->card().name},
                    [model, member] { return static_cast<double>(model->stats().*member); });
    };
    ask(Metric::kRequestsRunning, &llm::ExecutorStats::requests_running);
    ask(Metric::kRequestsWaiting, &llm::ExecutorStats::requests_waiting);
    ask(Metric::kSteps, &llm::ExecutorStats::steps);
    ask(Metric::kPages, &llm::ExecutorStats::pages);
    ask(Metric::kPagesUsed, &llm::ExecutorStats::pages_used);
    ask(Metric::kPagesCached, &llm::ExecutorStats::pages_cached);
    ask(Metric::kPreemptions, &llm::ExecutorStats::preemptions);
  }

  void on_done(const net::RequestRecord& r) {
    request_meters_.observe(r);
    if (options_.log_requests)
      log_info("{} {} {} {} {} bytes {:.1f} ms{}", r.peer, r.method.empty() ? "-" : r.method,
               r.target.empty() ? "-" : r.target, r.status, r.body_bytes,
               1e-6 * static_cast<double>(r.end_ns - r.begin_ns), r.is_complete ? "" : ", not to its end");
  }

  const HostOptions options_;
  std::atomic<Phase> phase_{Phase::kLoading};
  metrics::Registry registry_;
  RequestMeters request_meters_{registry_};
  std::shared_ptr<GrowingModels> models_ = std::make_shared<GrowingModels>();
  std::shared_ptr<const TextModels> offered_ = models_;  // with those of a repository
  std::vector<std::shared_ptr<LlmModel>> llms_;          // of those, what load() has opened
  std::vector<std::shared_ptr<EncoderModel>> encoders_;
  std::unique_ptr<net::Server> server_;  // goes first
};

}  // namespace

Result<std::unique_ptr<Host>> Host::start(HostOptions options) {
  auto host = std::make_unique<ProcessHost>(std::move(options));
  NEREID_RETURN_IF_ERROR(host->open());
  return std::unique_ptr<Host>(std::move(host));
}

}  // namespace nereid::server
