// SPDX-License-Identifier: Apache-2.0
#include "server/net/router.h"

#include <fmt/format.h>

#include "base/check.h"
#include "server/net/request_parser.h"

namespace nereid::server::net {
namespace {

// The raw path of a target, whose %2F are no slashes.
std::string_view raw_path(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (target.starts_with('/')) return target;
  const size_t scheme = target.find("://");
  const size_t slash = scheme == target.npos ? scheme : target.find('/', scheme + 3);
  return slash == target.npos ? std::string_view("/") : target.substr(slash);
}

std::string_view next_segment(std::string_view* path) {
  const std::string_view segment = path->substr(0, path->find('/'));
  path->remove_prefix(std::min(path->size(), segment.size() + 1));
  return segment;
}

// Both begin behind the first '/'.
bool matches(std::string_view pattern, std::string_view path, NamedValues* parameters) {
  parameters->clear();
  std::string value;
  for (;;) {
    const bool last_pattern = pattern.find('/') == pattern.npos, last_path = path.find('/') == path.npos;
    if (pattern.ends_with("...}") && last_pattern) {
      if (path.empty() || !decode_percent(path, false, &value)) return false;
      parameters->emplace_back(pattern.substr(1, pattern.size() - 5), value);
      return true;
    }
    if (last_pattern != last_path) return false;
    const std::string_view want = next_segment(&pattern), have = next_segment(&path);
    if (!decode_percent(have, false, &value)) return false;
    if (want.starts_with('{')) {
      if (value.empty()) return false;
      parameters->emplace_back(want.substr(1, want.size() - 2), value);
    } else if (want != value) {
      return false;
    }
    if (last_pattern) return true;
  }
}

}  // namespace

void Router::add(std::vector<Endpoint> endpoints) {
  for (Endpoint& one : endpoints) {
    NEREID_CHECK(one.pattern.starts_with('/') && one.handle != nullptr);
    for (const Endpoint& other : endpoints_) NEREID_CHECK(other.method != one.method || other.pattern != one.pattern);
    endpoints_.push_back(std::move(one));
  }
}

void Router::shape_errors(std::string prefix, ErrorShape shape) {
  shapes_.emplace_back(std::move(prefix), std::move(shape));
}

// The first row that fits, so a fixed path stands before one with parameters; `allow` gets the methods of the path.
const Endpoint* Router::find(const Request& request, NamedValues* parameters, std::string* allow) const {
  const std::string_view path = raw_path(request.target).substr(1);
  NamedValues values;
  const Endpoint* found = nullptr;
  for (const Endpoint& one : endpoints_) {
    if (!matches(std::string_view(one.pattern).substr(1), path, &values)) continue;
    const bool fits = one.method == request.method || (one.method == "GET" && request.method == "HEAD");
    if (fits && found == nullptr) {
      found = &one;
      *parameters = values;
    }
    if (allow->find(one.method) == allow->npos) *allow += (allow->empty() ? "" : ", ") + one.method;
    if (one.method == "GET" && allow->find("HEAD") == allow->npos) *allow += ", HEAD";
  }
  if (!allow->empty()) *allow += ", OPTIONS";
  return found;
}

std::optional<HttpError> Router::stranger(const Request& request) const {
  if (!keys_.any()) return std::nullopt;
  std::string allow;
  NamedValues parameters;
  const Endpoint* found = find(request, &parameters, &allow);
  const bool is_question = request.method == "OPTIONS" && found == nullptr && (!allow.empty() || request.target == "*");
  if (is_question || (found != nullptr && found->access == Access::kOpen) ||
      keys_.accepts(request.headers.get("Authorization")))
    return std::nullopt;
  return HttpError{.status = 401,
                   .message = request.headers.has("Authorization")
                                  ? "the API key in the header Authorization is not one of this server's"
                                  : "an API key is needed: send it in a header 'Authorization: Bearer <key>'",
                   .path = request.path};
}

Router::Match Router::match(Request& request) const {
  if (const std::optional<HttpError> refused = stranger(request))
    return {.endpoint = nullptr, .response = error(*refused)};
  std::string allow;
  const Endpoint* found = find(request, &request.parameters, &allow);
  if (found != nullptr) return {.endpoint = found, .response = {}};
  if (request.method == "OPTIONS" && (!allow.empty() || request.target == "*"))
    return {.endpoint = nullptr, .response = options(request, allow)};
  const auto refuse = [&](int status, std::string message) {
    return Match{.endpoint = nullptr,
                 .response = error({.status = status, .message = std::move(message), .path = request.path})};
  };
  if (allow.empty()) return refuse(404, fmt::format("there is nothing at {}", request.path));
  Match no = refuse(405, fmt::format("{} does not take {}; it takes {}", request.path, request.method, allow));
  no.response.headers.set("Allow", allow);
  return no;
}

Response Router::options(const Request& request, const std::string& allow) const {
  Response response{.status = 204, .headers = {}, .body = {}};
  if (!allow.empty()) response.headers.add("Allow", allow);
  if (!origin_.empty() && request.headers.has("Access-Control-Request-Method")) {
    response.headers.add("Access-Control-Allow-Methods", allow);
    if (const std::string_view wanted = request.headers.get("Access-Control-Request-Headers"); !wanted.empty())
      response.headers.add("Access-Control-Allow-Headers", std::string(wanted));
    response.headers.add("Access-Control-Max-Age", "86400");
  }
  return response;
}

Response Router::error(const HttpError& error) const {
  const std::pair<std::string, ErrorShape>* best = nullptr;
  for (const auto& one : shapes_)
    if (error.path.starts_with(one.first) && (best == nullptr || one.first.size() > best->first.size())) best = &one;
  Response response = best != nullptr ? best->second(error) : plain_error(error);
  if (error.status == 401) response.headers.set("WWW-Authenticate", "Bearer");
  if (error.status == 503) response.headers.set("Retry-After", "1");
  // What took too long would take as long again: OpenAI's clients, which repeat what a 5xx ended, heed this.
  if (error.status == 504) response.headers.set("X-Should-Retry", "false");
  return response;
}

void Router::add_origin_headers(Headers* headers) const {
  if (origin_.empty()) return;
  headers->set("Access-Control-Allow-Origin", origin_);
  if (origin_ != "*") headers->add("Vary", "Origin");
}

}  // namespace nereid::server::net
