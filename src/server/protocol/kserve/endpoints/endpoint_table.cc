// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/endpoint_table.h"

#include "server/protocol/kserve/api_gate.h"
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

using Answer = net::Response (*)(const Service&, const net::Request&);
using Start = void (*)(const ServicePtr&, net::Request, std::shared_ptr<net::Responder>);

using enum net::Access;
using enum net::Runs;
using enum ApiGroup;

// Endpoints that answer at once.
struct AnswerRow {
  std::string_view method, pattern, summary;
  Answer answer;
  ApiGroup group;
  net::Access access = kKey;
  net::Runs runs = kOnLoop;
};

// A row before another with the same path but for a name is the one that answers.
constexpr AnswerRow kAnswers[] = {
    {"GET", "/v2/health/live", "200 while the process works", live, kHealth, kOpen},
    {"GET", "/v2/health/ready", "200 when every model that should answer does", ready, kHealth, kOpen},
    {"GET", "/v2", "the server's name, version and extensions", server_metadata, kMetadata},
    {"GET", "/v2/models/stats", "what all models have done", all_statistics, kStatistics},
    {"GET", "/v2/models/{model}", "a model's inputs and outputs", model_metadata, kMetadata},
    {"GET", "/v2/models/{model}/versions/{version}", "a version's inputs and outputs", model_metadata, kMetadata},
    {"GET", "/v2/models/{model}/ready", "200 when the model answers", model_ready, kHealth},
    {"GET", "/v2/models/{model}/versions/{version}/ready", "200 when the version answers", model_ready, kHealth},
    {"GET", "/v2/models/{model}/config", "the configuration in force", model_config, kModelConfig},
    {"GET", "/v2/models/{model}/versions/{version}/config", "a version's configuration", model_config, kModelConfig},
    {"GET", "/v2/models/{model}/stats", "what the model has done", model_statistics, kStatistics},
    {"GET", "/v2/models/{model}/versions/{version}/stats", "what the version has done", model_statistics, kStatistics},
    {"POST", "/v2/repository/index", "the models there are, with their states", repository_index, kModelRepository,
     kKey, kOnWorker},
    {"POST", "/v2/repository/{repository}/index", "the same", repository_index, kModelRepository, kKey, kOnWorker},
    {"POST", "/v2/repository/models/{model}/load", "loads a model, or loads it anew", model_load, kModelRepository,
     kKey, kOnWorker},
    {"POST", "/v2/repository/{repository}/models/{model}/load", "the same", model_load, kModelRepository, kKey,
     kOnWorker},
    {"POST", "/v2/repository/models/{model}/unload", "unloads a model", model_unload, kModelRepository, kKey,
     kOnWorker},
    {"POST", "/v2/repository/{repository}/models/{model}/unload", "the same", model_unload, kModelRepository, kKey,
     kOnWorker},
    {"GET", "/v2/systemsharedmemory/status", "the regions of shared memory", shared_memory_status, kSharedMemory},
    {"GET", "/v2/systemsharedmemory/region/{region}/status", "one region", shared_memory_status, kSharedMemory},
    {"POST", "/v2/systemsharedmemory/region/{region}/register", "names a region", shared_memory_register, kSharedMemory,
     kKey, kOnWorker},
    {"POST", "/v2/systemsharedmemory/region/{region}/unregister", "forgets it", shared_memory_unregister, kSharedMemory,
     kKey, kOnWorker},
    {"POST", "/v2/systemsharedmemory/unregister", "forgets all", shared_memory_unregister, kSharedMemory, kKey,
     kOnWorker},
    {"GET", "/v2/cudasharedmemory/status", "the regions of CUDA's memory: none", cuda_memory_status, kSharedMemory},
    {"GET", "/v2/cudasharedmemory/region/{region}/status", "one region", cuda_memory_status, kSharedMemory},
    {"POST", "/v2/cudasharedmemory/region/{region}/register", "refused", cuda_memory_register, kSharedMemory, kKey,
     kOnWorker},
    {"POST", "/v2/cudasharedmemory/region/{region}/unregister", "nothing to forget", cuda_memory_unregister,
     kSharedMemory},
    {"POST", "/v2/cudasharedmemory/unregister", "nothing to forget", cuda_memory_unregister, kSharedMemory},
    {"GET", "/v2/trace/setting", "which requests are traced", trace_settings, kTrace},
    {"POST", "/v2/trace/setting", "changes that", change_trace_settings, kTrace, kKey, kOnWorker},
    {"GET", "/v2/models/{model}/trace/setting", "which of a model's requests are traced", trace_settings, kTrace},
    {"POST", "/v2/models/{model}/trace/setting", "changes that", change_trace_settings, kTrace, kKey, kOnWorker},
    {"GET", "/v2/logging", "what is logged, and how", log_settings, kLogging},
    {"POST", "/v2/logging", "changes that", change_log_settings, kLogging, kKey, kOnWorker},
};

// Bodies that are read within a fraction of a millisecond; models that compute do it on threads of their own.
constexpr size_t kLoopBytes = 16 << 10;

// Endpoints whose answer comes later.
struct StartRow {
  std::string_view pattern, summary;
  Start start;
};

constexpr StartRow kStarts[] = {
    {"/v2/models/{model}/infer", "runs a model", infer},
    {"/v2/models/{model}/versions/{version}/infer", "runs a version", infer},
    {"/v2/models/{model}/generate", "runs a model by a flat JSON object", generate},
    {"/v2/models/{model}/versions/{version}/generate", "the same of a version", generate},
    {"/v2/models/{model}/generate_stream", "the same, each response as an event", generate_stream},
    {"/v2/models/{model}/versions/{version}/generate_stream", "the same of a version", generate_stream},
};

}  // namespace

std::vector<net::Endpoint> make_endpoints(std::shared_ptr<const Service> service) {
  std::vector<net::Endpoint> out;
  for (const AnswerRow& row : kAnswers)
    out.push_back({.method = std::string(row.method),
                   .pattern = std::string(row.pattern),
                   .summary = std::string(row.summary),
                   .handle = gated(
                       service->restricted, row.group, shape_error,
                       [service, answer = row.answer](net::Request request, std::shared_ptr<net::Responder> responder) {
                         responder->send(answer(*service, request));
                       }),
                   .access = row.access,
                   .runs = row.runs});
  for (const StartRow& row : kStarts)
    out.push_back(
        {.method = "POST",
         .pattern = std::string(row.pattern),
         .summary = std::string(row.summary),
         .handle = gated(service->restricted, kInference, shape_error,
                         [service, start = row.start](net::Request request, std::shared_ptr<net::Responder> responder) {
                           start(service, std::move(request), std::move(responder));
                         }),
         .access = kKey,
         .runs = kOnWorker,
         .loop_bytes = kLoopBytes,
         .loop_header = "Inference-Header-Content-Length"});
  return out;
}

}  // namespace nereid::server::kserve
