// SPDX-License-Identifier: Apache-2.0
// A server process: models, protocols and metrics round one HTTP server.
//
//   auto host = Host::start(options);      // listens; /health says that it is loading
//   host->load("model.gguf", {...});       // any number of models
//   host->set_ready();                     // /health says 200 from here on
//   ... until a signal comes ...
//   host->drain();
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/backend/llm/llm_model.h"
#include "server/core/log_control.h"
#include "server/core/text_models.h"
#include "server/net/api_keys.h"
#include "server/net/server.h"
#include "server/protocol/kserve/api_group.h"

namespace nereid::server {

struct HostOptions {
  std::string host = "127.0.0.1";  // or "unix:PATH"
  int port = 8000;                 // 0: any that is free
  bool listens = true;             // false: no port is opened
  net::Settings settings;
  net::TlsOptions tls;                            // no certificate: in the clear
  std::vector<std::string> api_keys;              // none: everybody may
  std::string origin;                             // of pages that may read responses: "https://a.b", "*"; "": none
  bool log_requests = false;                      // a line each on standard error
  std::string adapter_folder;                     // what clients may load adapters from; "": they may not
  int32_t max_priority = 60;                      // of a request; a level is worth a second of waiting
  std::string version;                            // of the program
  std::shared_ptr<LogControl> log;                // stays for as long as the host
  std::vector<net::Endpoint> endpoints;           // of the KServe protocol, where a model repository is served
  std::shared_ptr<const TextModels> more_models;  // of that repository, offered beside those that are loaded
  std::function<std::string()> more_metrics;      // text behind that of the host's own metrics
  kserve::RestrictedApis restricted;              // of its own endpoints and those of OpenAI's API (api_groups.h)
};

// One thread calls it.
class Host {
 public:
  // Errors as net::Server::start and net::TlsContext::make.
  static Result<std::unique_ptr<Host>> start(HostOptions options);
  // Ends what still runs.
  virtual ~Host() = default;

  // Errors as LlmModel::open; kInvalidArgument: there is a model of that name.
  virtual Status load(const std::string& path, const LlmModelOptions& options,
                      const std::function<void(int64_t, int64_t)>& progress, bool* wrong_option) = 0;
  // One that is made already.
  virtual Status add(std::shared_ptr<TextModel> model) = 0;
  // A LoRA adapter of a model that is there, as TextModel::load_adapter. kNotFound: there is no such model;
  // kInvalidArgument also: a model or an adapter is called so.
  virtual Status load_adapter(const std::string& model, const std::string& name, const std::string& path,
                              double scale) = 0;
  virtual void set_ready() = 0;

  virtual const std::string& url() const = 0;  // "" where no port is open
  virtual std::vector<std::string> model_names() const = 0;
  virtual net::ServerStats stats() const = 0;
  // What is kept for the next requests.
  virtual void give_back_memory() = 0;

  // Takes no more requests, lets those that run end, at most so long as the settings say, then ends them. False: some
  // had to be ended.
  virtual bool drain() = 0;
};

}  // namespace nereid::server
