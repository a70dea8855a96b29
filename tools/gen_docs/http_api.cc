// SPDX-License-Identifier: Apache-2.0
// docs/reference/http-api.md: what a server answers, and its limits.
#include <fmt/format.h>

#include <memory>

#include "gen_docs/page.h"
#include "server/net/settings.h"
#include "server/protocol/kserve/endpoints/endpoint_table.h"
#include "server/protocol/openai/endpoints/endpoint_table.h"

namespace nereid::docs {

std::string http_api_page() {
  std::string page =
      "# HTTP\n\nWhat `nereid serve` answers, besides `/health` and `/metrics`. With API keys, a request must show one "
      "where the table says so.\n\n" +
      header({"method", "path", "key", "what"});
  for (const server::net::Endpoint& e : server::openai::make_endpoints(nullptr))
    page += row({e.method, code(e.pattern), e.access == server::net::Access::kKey ? "yes" : "", e.summary});
  page +=
      "\n## Model repositories\n\nWith `--model-repository`: the open inference protocol (KServe v2) and its "
      "extensions, as "
      "Triton has them.\n\n" +
      header({"method", "path", "key", "what"});
  for (const server::net::Endpoint& e : server::kserve::make_endpoints(std::make_shared<server::kserve::Service>()))
    page += row({e.method, code(e.pattern), e.access == server::net::Access::kKey ? "yes" : "", e.summary});
  page +=
      "\nThe port for metrics (`--metrics-port`) answers `/metrics`, a page of the models at `/` and what it shows at "
      "`/status`, all without a key.\n";
  page += "\n## Limits\n\n" + header({"flag", "default", "from", "to", "meaning"});
  const server::net::Settings defaults;
  for (const server::net::SettingRow& r : server::net::setting_table())
    page += row({code(fmt::format("--{}", r.name)), fmt::format("{}", defaults.*r.member), fmt::format("{}", r.least),
                 fmt::format("{}", r.most), r.help});
  return page;
}

}  // namespace nereid::docs
