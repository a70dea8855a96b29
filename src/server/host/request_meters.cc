// SPDX-License-Identifier: Apache-2.0
#include "server/host/request_meters.h"

#include <string>

namespace nereid::server {
namespace {

using metrics::Metric;

// A method that a label may hold: clients invent others without end.
std::string_view known_method(std::string_view method) {
  for (const std::string_view one : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
    if (method == one) return one;
  return "other";
}

}  // namespace

void RequestMeters::observe(const net::RequestRecord& record) {
  const std::string_view method = known_method(record.method);
  Meters found;
  {
    const std::lock_guard lock(mutex_);
    Meters& meters = meters_[{record.endpoint.data(), method, record.status}];
    if (meters.requests == nullptr) {
      const std::string endpoint(record.endpoint.empty() ? "none" : record.endpoint);
      meters.requests =
          &registry_.counter(Metric::kHttpRequests, {endpoint, std::string(method), std::to_string(record.status)});
      meters.bytes = &registry_.counter(Metric::kHttpResponseBytes, {endpoint});
      meters.seconds = &registry_.histogram(Metric::kHttpRequestSeconds, {endpoint});
    }
    found = meters;
  }
  found.requests->add(1);
  found.bytes->add(record.body_bytes);
  found.seconds->observe(1e-9 * static_cast<double>(record.end_ns - record.begin_ns));
}

}  // namespace nereid::server
