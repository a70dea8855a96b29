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

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == path.npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

// A path cut at its slashes, each part decoded where that is needed.
class PathParts {
 public:
  explicit PathParts(std::string_view path) : path_(path), parts_(split(path)) {
    if (path.find('%') == path.npos) return;
    decoded_.resize(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      is_valid_.push_back(decode_percent(parts_[i], false, &decoded_[i]));
      parts_[i] = decoded_[i];
    }
  }
  size_t count() const { return parts_.size(); }
  std::string_view part(size_t i) const { return parts_[i]; }
  bool is_valid(size_t i) const { return is_valid_.empty() || is_valid_[i]; }
  // All from the part `i` on, slashes and all.
  bool rest(size_t i, std::string* decoded) const {
    std::string_view rest = path_;
    for (; i > 0; --i) rest.remove_prefix(rest.find('/') + 1);
    return !rest.empty() && decode_percent(rest, false, decoded);
  }

 private:
  const std::string_view path_;
  std::vector<std::string_view> parts_;
  std::vector<std::string> decoded_;  // none: parts_ are what they stand for
  std::vector<bool> is_valid_;
};

bool takes_rest(const std::vector<std::string>& pattern) {
  return pattern.back().ends_with("...}");
}

bool matches(const std::vector<std::string>& pattern, const PathParts& path) {
  const bool has_rest = takes_rest(pattern);
  if (has_rest ? path.count() < pattern.size() : path.count() != pattern.size()) return false;
  for (size_t i = 0; i + (has_rest ? 1 : 0) < pattern.size(); ++i) {
    const bool is_name = pattern[i].starts_with('{');
    if (is_name ? path.part(i).empty() : path.part(i) != pattern[i]) return false;
    if (!path.is_valid(i)) return false;
  }
  std::string rest;
  return !has_rest || path.rest(pattern.size() - 1, &rest);
}

NamedValues values_of(const std::vector<std::string>& pattern, const PathParts& path) {
  NamedValues values;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view name = pattern[i];
    std::string value;
    if (name.ends_with("...}")) {
      path.rest(i, &value);
      values.emplace_back(name.substr(1, name.size() - 5), std::move(value));
    } else if (name.starts_with('{')) {
      values.emplace_back(name.substr(1, name.size() - 2), path.part(i));
    }
  }
  return values;
}

}  // namespace

void Router::add(std::vector<Endpoint> endpoints) {
  for (Endpoint& one : endpoints) {
    NEREID_CHECK(one.pattern.starts_with('/') && one.handle != nullptr);
    for (const Endpoint& other : endpoints_) NEREID_CHECK(other.method != one.method || other.pattern != one.pattern);
    const std::vector<std::string_view> parts = split(std::string_view(one.pattern).substr(1));
    patterns_.emplace_back(parts.begin(), parts.end());
    endpoints_.push_back(std::move(one));
  }
}

void Router::shape_errors(std::string prefix, ErrorShape shape) {
  shapes_.emplace_back(std::move(prefix), std::move(shape));
}

// The first row that fits, so a fixed path stands before one with parameters. Where there is none, `allow` gets the
// methods of the path.
const Endpoint* Router::find(const Request& request, NamedValues* parameters, std::string* allow) const {
  const PathParts path(raw_path(request.target).substr(1));
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const Endpoint& one = endpoints_[i];
    const bool fits = one.method == request.method || (one.method == "GET" && request.method == "HEAD");
    if (!fits || !matches(patterns_[i], path)) continue;
    *parameters = values_of(patterns_[i], path);
    return &one;
  }
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const std::string& method = endpoints_[i].method;
    if (allow->find(method) != allow->npos || !matches(patterns_[i], path)) continue;
    *allow += (allow->empty() ? "" : ", ") + method;
    if (method == "GET") *allow += ", HEAD";
  }
  if (!allow->empty()) *allow += ", OPTIONS";
  return nullptr;
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
