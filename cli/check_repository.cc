// SPDX-License-Identifier: Apache-2.0
#include "cli/check_repository.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/json.h"
#include "cli/model_path.h"
#include "server/host/model_server.h"

namespace nereid::cli {

int check_repository(const std::string& folder, bool as_json) {
  std::error_code error;
  const auto findings = server::check_repository(folder, [](const std::string& name) { return resolve_model(name); });
  if (!findings.is_ok()) return fail(findings.status());
  if (as_json) {
    Json list = Json::array();
    for (const server::LintFinding& one : *findings)
      list.push_back({{"model", one.model}, {"message", one.message}, {"fix", one.fix}});
    fmt::print("{}\n", Json{{"mistakes", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    for (const server::LintFinding& one : *findings) fmt::print("{}: {}\n  {}\n", one.model, one.message, one.fix);
    if (findings->empty())
      fmt::print(
          "no mistakes in {}{}\n", folder,
          std::filesystem::is_empty(folder, error) ? ": it has no models yet, each of which has a folder there" : "");
  }
  return findings->empty() ? kDone : kFailed;
}

}  // namespace nereid::cli
