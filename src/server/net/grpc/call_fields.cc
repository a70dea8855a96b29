// SPDX-License-Identifier: Apache-2.0
#include "server/net/grpc/call_fields.h"

#include <array>
#include <charconv>
#include <utility>

namespace nereid::server::net::grpc {
namespace {

constexpr std::string_view kType = "application/grpc";

// gRPC's and HTTP's own, which are nobody's metadata.
bool is_own(std::string_view name) {
  return name == "te" || name == "content-type" || name == "content-length" || name == "host" ||
         name.starts_with("grpc-");
}

bool is_listed(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == wanted) return true;
  }
  return false;
}

http2::HeaderField common(std::string name, std::string value) {
  return {.name = std::move(name), .value = std::move(value), .is_common = true};
}

http2::SharedFields make_head(const char* coding) {
  http2::HeaderFields fields = {common(":status", "200"), common("content-type", std::string(kType))};
  if (coding != nullptr) fields.push_back(common("grpc-encoding", coding));
  fields.push_back(common("grpc-accept-encoding", "identity,deflate,gzip"));
  return std::make_shared<const http2::HeaderFields>(std::move(fields));
}

void append_status(const RpcStatus& status, http2::HeaderFields* fields) {
  fields->push_back({.name = "grpc-status", .value = std::to_string(static_cast<int>(status.code))});
  if (!status.message.empty()) fields->push_back({.name = "grpc-message", .value = percent_encoded(status.message)});
}

}  // namespace

const std::string* find_metadata(const Metadata& metadata, std::string_view name) {
  for (const auto& [one, value] : metadata)
    if (one == name) return &value;
  return nullptr;
}

int64_t read_timeout_ns(std::string_view text) {
  constexpr size_t kMostDigits = 8;
  if (text.size() < 2 || text.size() > kMostDigits + 1) return -1;
  int64_t value = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), unit, value);
  if (error != std::errc() || stop != unit || value < 0) return -1;
  constexpr int64_t kSecond = 1'000'000'000;
  switch (*unit) {
    case 'n':
      return value;
    case 'u':
      return value * 1'000;
    case 'm':
      return value * 1'000'000;
    case 'S':
      return value * kSecond;
    case 'M':
      return value * 60 * kSecond;
    case 'H':
      return std::min<int64_t>(value, 1'000'000) * 3600 * kSecond;
    default:
      return -1;
  }
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7e && byte != '%') {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

std::string base64_decoded(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return {};
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return out;
}

std::optional<int> refusal(const http2::RequestHead& request) {
  if (request.method != "POST") return 405;
  const std::string* const type = http2::find_field(request.headers, "content-type");
  const bool is_call = type != nullptr && type->starts_with(kType) &&
                       (type->size() == kType.size() || (*type)[kType.size()] == '+' || (*type)[kType.size()] == ';');
  return is_call ? std::nullopt : std::optional(415);
}

Status read_call_fields(http2::RequestHead&& request, CallHead* head, CallTerms* terms) {
  head->path = std::move(request.path);
  head->peer = std::move(request.peer);
  head->begin_ns = request.begin_ns;
  Status status;
  for (http2::HeaderField& field : request.headers) {
    if (!is_own(field.name)) {
      if (field.name.ends_with("-bin")) field.value = base64_decoded(field.value);
      head->metadata.emplace_back(std::move(field.name), std::move(field.value));
    } else if (field.name == "grpc-timeout") {
      terms->timeout_ns = read_timeout_ns(field.value);
      if (terms->timeout_ns < 0) status = invalid_argument("grpc-timeout '{}' is no time", field.value);
    } else if (field.name == "grpc-accept-encoding") {
      terms->takes_gzip = is_listed(field.value, "gzip");
      terms->takes_deflate = is_listed(field.value, "deflate");
    } else if (field.name == "grpc-encoding" && field.value != "identity") {
      if (field.value == "gzip") {
        terms->coding = Coding::kGzip;
      } else if (field.value == "deflate") {
        terms->coding = Coding::kDeflate;
      } else {
        status = unsupported("messages come packed by '{}'; there are identity, deflate and gzip", field.value);
      }
    }
  }
  return status;
}

http2::SharedFields answer_head(std::optional<Coding> coding) {
  static const http2::SharedFields kPlain = make_head(nullptr), kGzip = make_head("gzip"),
                                   kDeflate = make_head("deflate");
  if (!coding) return kPlain;
  return *coding == Coding::kGzip ? kGzip : kDeflate;
}

http2::SharedFields ok_trailers() {
  static const http2::SharedFields kOk =
      std::make_shared<const http2::HeaderFields>(http2::HeaderFields{common("grpc-status", "0")});
  return kOk;
}

http2::SharedFields trailers_of(const RpcStatus& status) {
  if (status.is_ok() && status.message.empty()) return ok_trailers();
  http2::HeaderFields fields;
  append_status(status, &fields);
  return std::make_shared<const http2::HeaderFields>(std::move(fields));
}

http2::SharedFields trailers_only(const RpcStatus& status) {
  http2::HeaderFields fields = *answer_head(std::nullopt);
  append_status(status, &fields);
  return std::make_shared<const http2::HeaderFields>(std::move(fields));
}

}  // namespace nereid::server::net::grpc
