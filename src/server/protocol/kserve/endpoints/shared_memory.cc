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

Result<SharedRegion> read_region(const net::Request& request) {
  NEREID_TRY(const JsonDocument document, JsonDocument::parse(request.body));
  const JsonValue root = document.root();
  SharedRegion region;
  region.name = region_of(request);
  NEREID_TRY(region.key, member_text(root, "key"));
  if (const auto offset = root.find("offset")) {
    NEREID_TRY(region.offset, value_uint("offset", *offset));
  }
  const auto bytes = root.find("byte_size");
  if (!bytes) return missing_member("byte_size");
  NEREID_TRY(region.bytes, value_uint("byte_size", *bytes));
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

net::Response cuda_memory_register(const Service&, const net::Request&) {
  return error_response(unsupported("models run on the processors: memory of a GPU cannot be shared with them"));
}

net::Response cuda_memory_unregister(const Service&, const net::Request&) {
  return done(Status::ok());
}

}  // namespace nereid::server::kserve
