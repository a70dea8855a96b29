// SPDX-License-Identifier: Apache-2.0
// Every exchange of the *.http files here, against the test model. NEREID_UPDATE=1 writes what is answered now.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/net/router.h"
#include "server/protocol/openai/endpoints/endpoint_table.h"
#include "server/protocol/openai/endpoints/test_exchange.h"

namespace nereid::server::openai {

void TestResponder::send(net::Response response) {
  response_ = std::move(response);
  is_complete_ = true;
}

void TestResponder::start(int status, net::Headers headers) {
  response_.status = status;
  response_.headers = std::move(headers);
  has_started_ = true;
}

bool TestResponder::write(std::string_view bytes) {
  response_.body += bytes;
  return !is_gone_;
}

void TestResponder::vanish() {
  is_gone_ = true;
  if (closed_) closed_();
}

std::shared_ptr<TestResponder> ask(std::shared_ptr<TextModel> model, std::string_view method, std::string_view target,
                                   std::string_view body, int32_t max_priority) {
  const auto count = std::make_shared<std::atomic<uint64_t>>(0);
  const auto service = std::make_shared<Service>();
  service->max_priority = max_priority;
  service->models = std::make_shared<FixedTextModels>(std::vector<std::shared_ptr<TextModel>>{std::move(model)});
  service->version = "test";
  service->unix_s = [] { return int64_t{1700000001}; };
  service->random = [count] { return ++*count; };
  net::Router router;
  router.add(make_endpoints(service));
  router.shape_errors("/", shape_error);
  net::Request request;
  request.method = method;
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  request.body = body;
  const auto responder = std::make_shared<TestResponder>();
  net::Router::Match match = router.match(request);
  if (match.endpoint)
    match.endpoint->handle(std::move(request), responder);
  else
    responder->send(std::move(match.response));
  return responder;
}

std::vector<Exchange> parse_exchanges(std::string_view text) {
  std::vector<Exchange> found;
  std::istringstream lines{std::string(text)};
  std::string line;
  enum { kHead, kBody, kAnswer } place = kHead;
  while (std::getline(lines, line)) {
    if (line.starts_with("=== ")) {
      found.push_back({.name = line.substr(4)});
      std::getline(lines, line);
      const size_t space = line.find(' ');
      found.back().method = line.substr(0, space);
      found.back().target = line.substr(space + 1);
      std::getline(lines, line);  // the empty one
      place = kBody;
      continue;
    }
    if (found.empty()) continue;
    if (line.starts_with("--- ")) place = kAnswer;
    (place == kAnswer ? found.back().answer : found.back().body) += line + "\n";
  }
  return found;
}

std::string write_exchanges(const std::vector<Exchange>& exchanges) {
  std::string out;
  for (const Exchange& one : exchanges)
    out += fmt::format("=== {}\n{} {}\n\n{}{}", one.name, one.method, one.target, one.body, one.answer);
  return out;
}

namespace {

std::string answer_text(const TestResponder& responder) {
  const net::Response& response = responder.response();
  std::string text =
      fmt::format("--- {} {}\n{}\n", response.status, response.headers.get("Content-Type"), response.body);
  if (text.ends_with("\n\n\n")) text.resize(text.size() - 1);
  return text;
}

TEST(Exchange, each_is_answered_as_its_golden_says) {
  const bool update = std::getenv("NEREID_UPDATE") != nullptr;
  const std::filesystem::path folder = NEREID_SOURCE_DIR "/src/server/protocol/openai/endpoints";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".http") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::vector<Exchange> exchanges = parse_exchanges(text);
    for (Exchange& one : exchanges) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + one.name);
      const auto responder = ask(std::make_shared<TestTextModel>(), one.method, one.target, one.body);
      EXPECT_TRUE(responder->is_complete());
      const std::string answer = answer_text(*responder);
      if (!update) {
        EXPECT_EQ(answer, one.answer);
      }
      one.answer = answer;
      ++count;
    }
    if (update) std::ofstream(entry.path()) << text.substr(0, text.find("=== ")) << write_exchanges(exchanges);
  }
  EXPECT_GE(count, 60);
}

}  // namespace
}  // namespace nereid::server::openai
