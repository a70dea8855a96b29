// SPDX-License-Identifier: Apache-2.0
#include "server/net/http.h"

#include <algorithm>

#include "base/json.h"
#include "server/net/ascii.h"
#include "server/net/endpoint.h"

namespace nereid::server::net {

std::string_view Headers::get(std::string_view name) const {
  for (const Entry& e : entries_)
    if (equals_ignoring_case(e.first, name)) return e.second;
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return equals_ignoring_case(e.first, name); });
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(entries_, [&](const Entry& e) { return equals_ignoring_case(e.first, name); });
  add(std::move(name), std::move(value));
}

std::shared_ptr<const std::string> share_body(Request& request) {
  if (request.pool != nullptr) return request.pool->share(std::move(request.body));
  return std::make_shared<const std::string>(std::move(request.body));
}

const std::string* find_value(const NamedValues& values, std::string_view name) {
  for (const auto& [key, value] : values)
    if (key == name) return &value;
  return nullptr;
}

Response json_response(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

Response text_response(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

Response plain_error(const HttpError& error) {
  const Json body = {{"error", error.message}};
  return json_response(error.status, body.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace nereid::server::net
