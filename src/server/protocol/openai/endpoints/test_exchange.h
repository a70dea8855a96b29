// SPDX-License-Identifier: Apache-2.0
// Golden exchanges: what is sent to the endpoints, and what they must answer, byte for byte.
//
//   === the name of the exchange
//   POST /v1/completions
//
//   {"prompt": "Hi"}
//   --- 200 application/json
//   {"id": ...}
//
// A body ends where the next mark begins. Random numbers count up from 1 in each exchange, the clock stands still.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/core/testing/test_text_model.h"
#include "server/net/http.h"

namespace nereid::server::openai {

struct Exchange {
  std::string name;
  std::string method, target;
  std::string body;
  std::string answer;  // from the line that begins with "---"
};

std::vector<Exchange> parse_exchanges(std::string_view text);
std::string write_exchanges(const std::vector<Exchange>& exchanges);

// Keeps what it is given.
class TestResponder final : public net::Responder {
 public:
  void send(net::Response response) override;
  void start(int status, net::Headers headers) override;
  bool write(std::string_view bytes) override;
  void close() override { is_complete_ = true; }
  void on_closed(std::function<void()> closed) override { closed_ = std::move(closed); }
  bool is_closed() const override { return is_gone_; }

  // The client goes away.
  void vanish();
  const net::Response& response() const { return response_; }
  bool is_complete() const { return is_complete_; }
  bool has_started() const { return has_started_; }

 private:
  net::Response response_;
  bool has_started_ = false, is_complete_ = false, is_gone_ = false;
  std::function<void()> closed_;
};

// Sends a request to the endpoints, through a router.
std::shared_ptr<TestResponder> ask(std::shared_ptr<TextModel> model, std::string_view method, std::string_view target,
                                   std::string_view body, int32_t max_priority = INT32_MAX);

}  // namespace nereid::server::openai
