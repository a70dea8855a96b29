// SPDX-License-Identifier: Apache-2.0
// Which endpoint a request is for, and what it gets when it is for none, shows no key, or asks from another page. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/net/api_keys.h"
#include "server/net/endpoint.h"

namespace nereid::server::net {

class Router {
 public:
  // Rows join what is there; the same method and pattern twice is a defect (checked).
  void add(std::vector<Endpoint> endpoints);
  // Errors of paths that begin so are written by `shape`; of several the longest counts.
  void shape_errors(std::string prefix, ErrorShape shape);
  void require_keys(ApiKeys keys) { keys_ = std::move(keys); }
  // Pages of that origin ("https://example.org", or "*") may read responses; "" (the default): none may.
  void allow_origin(std::string origin) { origin_ = std::move(origin); }

  struct Match {
    const Endpoint* endpoint = nullptr;  // its handler is to be called
    Response response;                   // otherwise: what to answer
  };
  // Why a request that shows no key where one is needed goes no further: known before its body is read. Who shows none
  // does not learn which paths there are.
  std::optional<HttpError> stranger(const Request& request) const;
  // Fills in request.parameters.
  Match match(Request& request) const;

  // The error in the shape of its path, with the headers its status asks for.
  Response error(const HttpError& error) const;
  // What every response to a request carries because of cross-origin rules.
  void add_origin_headers(Headers* headers) const;

  const std::vector<Endpoint>& endpoints() const { return endpoints_; }

 private:
  const Endpoint* find(const Request& request, NamedValues* parameters, std::string* allow) const;
  Response options(const Request& request, const std::string& allow) const;
  std::vector<Endpoint> endpoints_;
  std::vector<std::vector<std::string>> patterns_;  // of each, cut at its slashes
  std::vector<std::pair<std::string, ErrorShape>> shapes_;
  ApiKeys keys_;
  std::string origin_;
};

}  // namespace nereid::server::net
