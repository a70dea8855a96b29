// SPDX-License-Identifier: Apache-2.0
// Adapters as requests see them: names in the model's place, the list of models, loading within one folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_dir.h"
#include "server/net/router.h"
#include "server/protocol/openai/endpoints/endpoint_table.h"
#include "server/protocol/openai/endpoints/test_exchange.h"

namespace nereid::server::openai {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoraAdapters : public ::testing::Test {
 protected:
  LoraAdapters() {
    for (const char* name : {"sql", "broken"}) fs::create_directories(folder_ / (std::string("adapters/") + name));
    fs::create_directory(folder_ / "secret");
    fs::create_directory_symlink(folder_ / "secret", folder_ / "adapters/link");
    allowed_ = folder_ / "adapters";
  }

  net::Response post(std::string_view target, std::string_view body, std::string_view method = "POST") {
    const auto service = std::make_shared<Service>();
    service->models = std::make_shared<FixedTextModels>(std::vector<std::shared_ptr<TextModel>>{model_});
    service->version = "test";
    service->unix_s = [] { return int64_t{1700000001}; };
    service->random = [] { return uint64_t{1}; };
    service->adapter_folder = allowed_;
    net::Router router;
    router.add(make_endpoints(service));
    net::Request request;
    request.method = method;
    request.target = request.path = target;
    request.body = body;
    const auto responder = std::make_shared<TestResponder>();
    const net::Router::Match match = router.match(request);
    EXPECT_NE(match.endpoint, nullptr);
    if (match.endpoint) match.endpoint->handle(std::move(request), responder);
    return responder->response();
  }
  net::Response load(std::string_view name, std::string_view path) {
    return post("/v1/load_lora_adapter", fmt::format(R"({{"lora_name":"{}","lora_path":"{}"}})", name, path));
  }

  TestDir folder_;
  std::string allowed_;
  std::shared_ptr<TestTextModel> model_ = std::make_shared<TestTextModel>();
};

TEST_F(LoraAdapters, are_loaded_named_listed_and_unloaded) {
  net::Response answer = load("sql", "sql");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "Success: LoRA adapter 'sql' added successfully.");
  EXPECT_THAT(model_->adapters(), ElementsAre("sql"));
  EXPECT_THAT(
      post("/v1/models", "", "GET").body,
      HasSubstr(
          R"({"id":"sql","object":"model","created":1700000000,"owned_by":"nereid","root":"test-model","parent":"test-model")"));
  for (const char* name : {"sql", "test-model:sql"}) {
    answer = post("/v1/completions", fmt::format(R"({{"model":"{}","prompt":"say{{yes}}"}})", name));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(model_->last().adapter, "sql");
    EXPECT_THAT(answer.body, HasSubstr(fmt::format(R"("model":"{}")", name)));
  }
  post("/v1/completions", R"({"model":"test-model","prompt":"say{yes}"})");
  EXPECT_EQ(model_->last().adapter, "");
  for (const char* name : {"test-model:", "test-model:none", "none", "sql:sql"})
    EXPECT_EQ(post("/v1/completions", fmt::format(R"({{"model":"{}","prompt":"a"}})", name)).status, 404) << name;

  answer = post("/v1/unload_lora_adapter", R"({"lora_name":"sql","lora_int_id":1})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "Success: LoRA adapter 'sql' removed successfully.");
  EXPECT_EQ(post("/v1/completions", R"({"model":"sql","prompt":"a"})").status, 404);
}

TEST_F(LoraAdapters, of_names_that_are_taken_or_unknown_are_refused) {
  EXPECT_EQ(load("sql", "sql").status, 200);
  for (const char* name : {"sql", "test-model", "test-model:sql"}) {
    const net::Response answer = load(name, "sql");
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("already"));
    EXPECT_THAT(answer.body, HasSubstr(R"("param":"lora_name")"));
  }
  for (const char* name : {"none", "test-model", ""})
    EXPECT_EQ(post("/v1/unload_lora_adapter", fmt::format(R"({{"lora_name":"{}"}})", name)).status, 404) << name;
  EXPECT_THAT(model_->adapters(), ElementsAre("sql"));
}

TEST_F(LoraAdapters, come_from_the_folder_and_from_nowhere_else) {
  for (const std::string& path :
       {std::string("../secret"), folder_ / "secret", std::string("/etc"), std::string("link"),
        std::string("sql/../../secret"), std::string("none"), std::string("sql\\u0000")}) {
    const net::Response answer = load("x", path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(answer.body, HasSubstr("in the folder that adapters are loaded from")) << path;
  }
  EXPECT_TRUE(model_->adapters().empty());
  EXPECT_EQ(load("a", "sql/../sql").status, 200);
  EXPECT_EQ(load("b", folder_ / "adapters/sql").status, 200);
  const net::Response broken = load("c", "broken");
  EXPECT_EQ(broken.status, 400);
  EXPECT_THAT(broken.body, HasSubstr("adapter_config.json is damaged"));
}

TEST_F(LoraAdapters, are_not_loaded_unless_the_server_was_told_a_folder) {
  allowed_.clear();
  for (const char* target : {"/v1/load_lora_adapter", "/v1/unload_lora_adapter"}) {
    const net::Response answer = post(target, R"({"lora_name":"sql","lora_path":"sql"})");
    EXPECT_EQ(answer.status, 403);
    EXPECT_THAT(answer.body, HasSubstr("--lora-folder"));
  }
}

TEST_F(LoraAdapters, want_a_name_and_a_path) {
  for (const char* body : {R"({"lora_path":"sql"})", R"({"lora_name":"sql"})", R"({"lora_name":3,"lora_path":"sql"})",
                           "[]", R"({"lora_name":"sql","lora_path":"sql","scale":"much"})"})
    EXPECT_EQ(post("/v1/load_lora_adapter", body).status, 400) << body;
  EXPECT_EQ(post("/v1/load_lora_adapter", R"({"lora_name":"sql","lora_path":"sql","model":"none"})").status, 404);
  EXPECT_THAT(model_->adapters(), ElementsAre());
}

}  // namespace
}  // namespace nereid::server::openai
