// SPDX-License-Identifier: Apache-2.0
#include "server/host/host.h"

#include <gmock/gmock.h>

#include "server/core/testing/test_text_model.h"
#include "server/host/metered_model.h"
#include "server/net/test_client.h"

namespace nereid::server {
namespace {

using net::testing::get;
using net::testing::post;
using net::testing::status_of;
using net::testing::TestClient;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

int port_of(const Host& host) {
  return std::stoi(host.url().substr(host.url().rfind(':') + 1));
}

std::string ask(const Host& host, std::string_view request) {
  TestClient client(port_of(host));
  client.send(request);
  return client.read_response();
}

std::unique_ptr<Host> start(HostOptions options = {}) {
  options.port = 0;
  options.version = "9.9";
  return Host::start(std::move(options)).value();
}

TEST(Host, says_that_it_loads_until_it_is_ready) {
  const auto host = start();
  const std::string loading = ask(*host, get("/health"));
  EXPECT_EQ(status_of(loading), 503);
  EXPECT_THAT(loading, EndsWith(R"({"reason":"the server is still loading its models","status":"loading"})"));
  const std::string early = ask(*host, get("/v1/models"));
  EXPECT_EQ(status_of(early), 503);
  EXPECT_THAT(early, HasSubstr("Retry-After: 1"));
  EXPECT_THAT(early, HasSubstr(R"("type":"server_error")"));

  ASSERT_TRUE(host->add(std::make_shared<TestTextModel>()).is_ok());
  host->set_ready();
  EXPECT_THAT(ask(*host, get("/health")), EndsWith(R"({"models":["test-model"],"status":"ready"})"));
  EXPECT_EQ(status_of(ask(*host, get("/v1/models"))), 200);
}

TEST(Host, refuses_two_models_of_one_name) {
  const auto host = start();
  ASSERT_TRUE(host->add(std::make_shared<TestTextModel>()).is_ok());
  EXPECT_THAT(host->add(std::make_shared<TestTextModel>()).message(), HasSubstr("'test-model'"));
  EXPECT_EQ(host->model_names(), (std::vector<std::string>{"test-model"}));
}

TEST(Host, answers_and_counts) {
  const auto host = start();
  ASSERT_TRUE(host->add(std::make_shared<TestTextModel>()).is_ok());
  host->set_ready();
  const std::string answer = ask(*host, post("/v1/completions", R"({"prompt":"say{one two}","max_tokens":9})"));
  EXPECT_EQ(status_of(answer), 200) << answer;
  ask(*host, "BREW /coffee HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string seen = ask(*host, get("/metrics"));
  EXPECT_THAT(seen, HasSubstr("nereid_build_info{version=\"9.9\"} 1\n"));
  EXPECT_THAT(seen,
              HasSubstr("nereid_http_requests_total{endpoint=\"/v1/completions\",method=\"POST\",status=\"200\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("nereid_http_requests_total{endpoint=\"none\",method=\"other\",status=\"404\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("nereid_requests_total{model=\"test-model\",outcome=\"stop\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("nereid_time_to_first_token_seconds_count{model=\"test-model\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("nereid_http_requests_running 1\n")) << "this one";
}

TEST(Host, stops_with_a_reason) {
  const auto host = start();
  host->set_ready();
  TestClient kept(port_of(*host));
  kept.send(get("/health"));
  EXPECT_EQ(status_of(kept.read_response()), 200);
  EXPECT_TRUE(host->drain());
  EXPECT_TRUE(kept.is_ended());
  EXPECT_FALSE(TestClient(port_of(*host)).connected());
}

TEST(Host, bad_certificates_are_a_sentence) {
  HostOptions options;
  options.tls.certificate_path = options.tls.key_path = "/nowhere/certificate.pem";
  const Status status = Host::start(std::move(options)).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/certificate.pem"));
}

TEST(MeteredModel, counts_tokens_and_outcomes_of_every_choice) {
  metrics::Registry registry;
  const auto inner = std::make_shared<TestTextModel>();
  const auto model = metered(inner, registry);
  TextRequest request{.prompt = model->tokenize("say{a b c}", false, false), .choices = 2};
  request.params.max_tokens = 50;
  int ended = 0;
  int64_t tokens = 0;
  ASSERT_TRUE(model
                  ->generate(request,
                             [&](TextOutput&& o) {
                               ended += o.is_last;
                               tokens += o.is_last ? o.answer_tokens : 0;
                             })
                  .is_ok());
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(registry.counter(metrics::Metric::kAnswerTokens, {"test-model"}).value(), tokens);
  EXPECT_EQ(registry.counter(metrics::Metric::kRequests, {"test-model", "stop"}).value(), 2);
  EXPECT_EQ(registry.histogram(metrics::Metric::kRequestSeconds, {"test-model"}).snapshot().cumulative.back(), 1);
}

TEST(MeteredModel, counts_refusals) {
  metrics::Registry registry;
  const auto model = metered(std::make_shared<TestTextModel>(TestTextModelOptions{.queue = 0}), registry);
  EXPECT_FALSE(model->generate({.prompt = {1}}, [](TextOutput&&) {}).is_ok());
  EXPECT_EQ(registry.counter(metrics::Metric::kRequests, {"test-model", "refused"}).value(), 1);
}

}  // namespace
}  // namespace nereid::server
