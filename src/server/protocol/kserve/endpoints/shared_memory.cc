// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/json_reader.h"
#include "server/protocol/kserve/json_writer.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

// "" where the path names none.
std::string region_of(const net::Request& request) {
  const std::string* name = net::find_value(request.parameters, "region");
  return name == nullptr ? std::string() : *name;
}

net::Response done(const Status& status) {
  return status.is_ok() ? net::json_response(200, "") : error_response(status);
}

Status no_field(std::string_view name) {
  return invalid_argument("Shared memory register request has no '{}' field", name);
}

Result<uint64_t> read_size(const JsonValue& value) {
  const std::optional<uint64_t> size = value.as_uint();
  if (!size) return wrong_json("non-unsigned-integer", "unsigned-integer");
  return *size;
}

Result<SharedRegion> read_region(const net::Request& request) {
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(request.body));
  const JsonValue root = document.root();
  SharedRegion region;
  region.name = region_of(request);
  const auto key = root.find("key"), offset = root.find("offset"), bytes = root.find("byte_size");
  if (!key) return no_field("key");
  if (!key->is_string()) return wrong_json("non-string", "string");
  region.key = key->text();
  if (!bytes) return no_field("byte_size");
  NEREID_TRY(region.bytes, read_size(*bytes));
  if (offset) {
    NEREID_TRY(region.offset, read_size(*offset));
  }
  return region;
}

}  // namespace

net::Response shared_memory_status(const Service& service, const net::Request& request) {
  const auto regions = service.shared->list(region_of(request));
  if (!regions.is_ok()) return error_response(regions.status());
  std::string body = "[";
  for (const SharedRegion& region : *regions) {
    body += body.size() > 1 ? ",{\"name\":" : "{\"name\":";
    append_text(&body, region.name);
    body += ",\"key\":";
    append_text(&body, region.key);
    body += ",\"offset\":" + std::to_string(region.offset) + ",\"byte_size\":" + std::to_string(region.bytes) + "}";
  }
  return net::json_response(200, body + "]");
}

net::Response shared_memory_register(const Service& service, const net::Request& request) {
  const Result<SharedRegion> region = read_region(request);
  if (!region.is_ok()) return error_response(region.status());
  return done(service.shared->add(*region));
}

net::Response shared_memory_unregister(const Service& service, const net::Request& request) {
  const std::string name = region_of(request);
  return done(name.empty() ? service.shared->remove_all() : service.shared->remove(name));
}

net::Response cuda_memory_status(const Service&, const net::Request& request) {
  const std::string name = region_of(request);
  if (name.empty()) return net::json_response(200, "[]");
  return error_response(not_found("Unable to find cuda shared memory region: '{}'", name));
}

net::Response cuda_memory_register(const Service&, const net::Request& request) {
  const auto document = JsonDocument::parse(request.body);
  if (!document.is_ok()) return error_response(document.status());
  for (const std::string_view field : {"raw_handle", "device_id", "byte_size"})
    if (!document->root().find(field)) return error_response(no_field(field));
  return error_response(unsupported("models run on the processors: memory of a GPU cannot be shared with them"));
}

net::Response cuda_memory_unregister(const Service&, const net::Request&) {
  return done(Status::ok());
}

}  // namespace nereid::server::kserve
