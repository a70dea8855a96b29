// SPDX-License-Identifier: Apache-2.0
// What all endpoints share, and the small things each of them does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/core/text_models.h"
#include "server/net/http.h"
#include "server/protocol/openai/api_error.h"

namespace nereid::server::openai {

// Thread-safe, and alive for as long as the endpoints are.
struct Service {
  std::shared_ptr<const TextModels> models;
  std::string version;               // of the program: part of "system_fingerprint"
  std::function<int64_t()> unix_s;   // seconds since 1970
  std::function<uint64_t()> random;  // ids, and seeds where a request has none
  std::string adapter_folder = {};   // what clients may load adapters from; "": they may not
  int32_t max_priority = INT32_MAX;  // a request that asks for more has this
};

// A model, by the name of which a request asked for it.
struct FoundModel {
  std::shared_ptr<TextModel> model;  // nullptr: there is none
  std::string name;                  // as answers show it
  std::string adapter;               // where the name is an adapter's
};
// `name` "" finds the first model. Errors are kept.
FoundModel find_model(const Service& service, std::string_view name, FirstError* error);

net::Response json_error(const ApiError& error);
void send_error(net::Responder& responder, const ApiError& error);

}  // namespace nereid::server::openai
