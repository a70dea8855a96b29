// SPDX-License-Identifier: Apache-2.0
#include "server/net/router.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/test_dir.h"
#include "server/net/request_parser.h"

namespace nereid::server::net {
namespace {

Endpoint row(std::string method, std::string pattern, Access access = Access::kKey) {
  return {.method = std::move(method),
          .pattern = std::move(pattern),
          .summary = "",
          .handle = [](Request, std::shared_ptr<Responder>) {},
          .access = access,
          .runs = Runs::kOnWorker};
}

Router test_router() {
  Router router;
  router.add({row("GET", "/v1/models"), row("GET", "/v1/models/{model...}"), row("POST", "/v1/chat"),
              row("GET", "/a/{x}/b/{y}"), row("GET", "/a/fixed/b/{y}"), row("GET", "/health", Access::kOpen),
              row("DELETE", "/v1/models/{model...}")});
  return router;
}

Request request(std::string method, std::string target, Headers headers = {}) {
  Request r;
  r.method = std::move(method);
  r.path = r.target = std::move(target);
  r.headers = std::move(headers);
  return r;
}

std::string pattern_for(const Router& router, Request r) {
  const Router::Match match = router.match(r);
  return match.endpoint != nullptr ? match.endpoint->pattern : fmt::format("{}", match.response.status);
}

TEST(Router, finds_the_row_of_a_path) {
  const Router router = test_router();
  EXPECT_EQ(pattern_for(router, request("GET", "/v1/models")), "/v1/models");
  EXPECT_EQ(pattern_for(router, request("GET", "/v1/models?x=/y")), "/v1/models");
  EXPECT_EQ(pattern_for(router, request("HEAD", "/v1/models")), "/v1/models");
  EXPECT_EQ(pattern_for(router, request("GET", "http://host/v1/models")), "/v1/models");
  EXPECT_EQ(pattern_for(router, request("GET", "/v1/models/org/name")), "/v1/models/{model...}");
  EXPECT_EQ(pattern_for(router, request("GET", "/a/1/b/2")), "/a/{x}/b/{y}");
  EXPECT_EQ(pattern_for(router, request("GET", "/v1/models/")), "404");
  EXPECT_EQ(pattern_for(router, request("GET", "/a/1/b")), "404");
  EXPECT_EQ(pattern_for(router, request("GET", "/a//b/2")), "404");
  EXPECT_EQ(pattern_for(router, request("GET", "/V1/models")), "404");
  EXPECT_EQ(pattern_for(router, request("GET", "http://host")), "404");
}

TEST(Router, gives_parameters_decoded_with_slashes_where_they_were_escaped) {
  const Router router = test_router();
  Request r = request("GET", "/a/x%2Fy/b/%20");
  ASSERT_NE(router.match(r).endpoint, nullptr);
  EXPECT_EQ(r.parameters, (NamedValues{{"x", "x/y"}, {"y", " "}}));
}

TEST(Router, names_the_methods_of_a_path_that_does_not_take_this_one) {
  Request r = request("PUT", "/v1/models/m");
  const Router::Match match = test_router().match(r);
  EXPECT_EQ(match.response.status, 405);
  EXPECT_EQ(match.response.headers.get("Allow"), "GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(match.response.body, R"({"error":"/v1/models/m does not take PUT; it takes GET, HEAD, DELETE, OPTIONS"})");
}

TEST(Router, asks_for_keys_where_there_are_some_and_hides_what_there_is) {
  Router router = test_router();
  router.require_keys(ApiKeys({"first", "second"}));
  const auto with_key = [&](std::string value) {
    return pattern_for(router, request("GET", "/v1/models", {{"authorization", std::move(value)}}));
  };
  EXPECT_EQ(with_key("Bearer second"), "/v1/models");
  EXPECT_EQ(with_key("bearer  first "), "/v1/models");
  EXPECT_EQ(with_key("Bearer third"), "401");
  EXPECT_EQ(with_key("Bearer firs"), "401");
  EXPECT_EQ(with_key("Basic first"), "401");
  EXPECT_EQ(with_key("first"), "401");
  EXPECT_EQ(with_key(""), "401");
  EXPECT_EQ(pattern_for(router, request("GET", "/nothing")), "401");
  EXPECT_EQ(pattern_for(router, request("PUT", "/v1/models")), "401");
  EXPECT_EQ(pattern_for(router, request("GET", "/health")), "/health");
  Request r = request("GET", "/v1/models");
  EXPECT_EQ(router.match(r).response.headers.get("WWW-Authenticate"), "Bearer");
}

TEST(Router, lets_the_longest_prefix_shape_an_error) {
  Router router = test_router();
  const auto say = [](std::string word) {
    return [word](const HttpError& e) { return text_response(e.status, word + e.path); };
  };
  router.shape_errors("/v1", say("short "));
  router.shape_errors("/v1/chat", say("long "));
  EXPECT_EQ(router.error({.status = 404, .message = "", .path = "/v1/x"}).body, "short /v1/x");
  EXPECT_EQ(router.error({.status = 404, .message = "", .path = "/v1/chat/y"}).body, "long /v1/chat/y");
  EXPECT_EQ(router.error({.status = 503, .message = "no\xff", .path = ""}).body, "{\"error\":\"no\xEF\xBF\xBD\"}");
  EXPECT_EQ(router.error({.status = 503, .message = "", .path = ""}).headers.get("Retry-After"), "1");
}

TEST(Router, answers_other_origins_only_where_that_is_switched_on) {
  Router router = test_router();
  const Headers preflight = {{"Origin", "https://a.b"},
                             {"Access-Control-Request-Method", "POST"},
                             {"Access-Control-Request-Headers", "authorization, content-type"}};
  Request closed = request("OPTIONS", "/v1/chat", preflight);
  const Response off = router.match(closed).response;
  EXPECT_EQ(off.status, 204);
  EXPECT_FALSE(off.headers.has("Access-Control-Allow-Methods"));
  Headers none;
  router.add_origin_headers(&none);
  EXPECT_TRUE(none.empty());

  router.allow_origin("https://a.b");
  router.require_keys(ApiKeys({"key"}));  // a preflight never shows one
  Request open = request("OPTIONS", "/v1/chat", preflight);
  const Response on = router.match(open).response;
  EXPECT_EQ(on.headers.get("Access-Control-Allow-Methods"), "POST, OPTIONS");
  EXPECT_EQ(on.headers.get("Access-Control-Allow-Headers"), "authorization, content-type");
  Headers some;
  router.add_origin_headers(&some);
  EXPECT_EQ(some.get("Access-Control-Allow-Origin"), "https://a.b");
}

TEST(ApiKeys, are_read_one_a_line) {
  TestDir dir;
  std::ofstream(dir.path() + "/keys") << "# ours\n\n  one \r\ntwo\n";
  EXPECT_EQ(read_api_keys(dir.path() + "/keys").value(), (std::vector<std::string>{"one", "two"}));
  std::ofstream(dir.path() + "/none") << "# none\n";
  EXPECT_EQ(read_api_keys(dir.path() + "/none").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_api_keys(dir.path() + "/absent").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid::server::net
