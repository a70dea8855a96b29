// SPDX-License-Identifier: Apache-2.0
// POST /v1/load_lora_adapter and /v1/unload_lora_adapter, in vLLM's shape, within one folder of the server's.
#include <algorithm>
#include <filesystem>

#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/fields.h"

namespace nereid::server::openai {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOff =
    "Adapters can not be loaded or unloaded by requests here; start the server with --lora-folder FOLDER to allow it.";

net::Response done(std::string text) {
  return {.status = 200, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(text)};
}

// The path as the system resolves it, links and all; an error where it does not lie in the folder. Which of the two it
// is, absent or outside, is not told.
Result<std::string> path_within(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return unavailable("the folder that --lora-folder names is not there");
  const fs::path whole = fs::canonical(root / path, error);  // an absolute path stays one
  const bool is_within =
      !error && std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end();
  if (!is_within || path.find('\0') != std::string::npos)
    return not_found("there is no adapter '{}' in the folder that adapters are loaded from", path);
  return whole.string();
}

}  // namespace

void load_lora_adapter(const Service& service, net::Request request, ResponderPtr responder) {
  if (service.adapter_folder.empty())
    return send_error(*responder, {.http = 403, .message = std::string(kOff), .type = "permission_error"});
  FirstError error;
  const Json body = read_body(request.body, &error);
  Fields fields(body, &error);
  const std::string name = fields.required_text("lora_name").value_or("");
  const std::string path = fields.required_text("lora_path").value_or("");
  const std::string base = fields.text("model").value_or(fields.text("base_model_name").value_or(""));
  const double scale = fields.number("scale", -1e6, 1e6).value_or(1);  // ours
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, base, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  if (service.models->find(name))
    return send_error(*responder, {.message = fmt::format("Invalid 'lora_name': there is a model or an adapter '{}' "
                                                          "already.",
                                                          name),
                                   .param = "lora_name",
                                   .code = "invalid_value"});
  const Result<std::string> whole = path_within(service.adapter_folder, path);
  const Status status = whole.is_ok() ? found.model->load_adapter(name, *whole, scale) : whole.status();
  if (!status.is_ok()) return send_error(*responder, api_error(status, "lora_path"));
  responder->send(done(fmt::format("Success: LoRA adapter '{}' added successfully.", name)));
}

void unload_lora_adapter(const Service& service, net::Request request, ResponderPtr responder) {
  if (service.adapter_folder.empty())
    return send_error(*responder, {.http = 403, .message = std::string(kOff), .type = "permission_error"});
  FirstError error;
  const Json body = read_body(request.body, &error);
  Fields fields(body, &error);
  const std::string name = fields.required_text("lora_name").value_or("");
  fields.ignore({"lora_int_id"});
  if (error.is_set()) return send_error(*responder, error.get());
  const auto model = service.models->find(name);
  const std::string adapter = model && name != model->card().name ? adapter_named(*model, name) : name;
  const Status status = model ? model->unload_adapter(adapter) : not_found("there is no adapter '{}'", name);
  if (!status.is_ok()) return send_error(*responder, api_error(status, "lora_name"));
  responder->send(done(fmt::format("Success: LoRA adapter '{}' removed successfully.", adapter)));
}

}  // namespace nereid::server::openai
