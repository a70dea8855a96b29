// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/s3_address.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"

namespace nereid::server {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr size_t kMostFileBytes = size_t{1} << 20;

std::string_view trimmed(std::string_view text, std::string_view what) {
  while (!text.empty() && what.find(text.front()) != what.npos) text.remove_prefix(1);
  while (!text.empty() && what.find(text.back()) != what.npos) text.remove_suffix(1);
  return text;
}

// "[section]" and the values below it, of the files that AWS's tools keep.
std::string value_in(std::string_view text, std::string_view section, std::string_view name) {
  bool is_inside = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), " \t\r");
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[') && line.ends_with(']')) {
      std::string_view title = trimmed(line.substr(1, line.size() - 2), " \t");
      if (title.starts_with("profile ")) title = trimmed(title.substr(8), " \t");
      is_inside = title == section;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_inside || equals == line.npos || line.starts_with('#')) continue;
    if (trimmed(line.substr(0, equals), " \t") == name) return std::string(trimmed(line.substr(equals + 1), " \t"));
  }
  return {};
}

std::string text_of(const std::string& path) {
  Result<std::string> text = read_file(path, kMostFileBytes);
  return text.is_ok() ? std::move(*text) : std::string();
}

void take_profile(const std::string& profile, const Environment& environment, S3Credentials* credentials) {
  const std::string home = environment("HOME") + "/.aws/";
  const auto path = [&](const char* variable, const char* file) {
    const std::string named = environment(variable);
    return named.empty() ? home + file : named;
  };
  const std::string secrets = text_of(path("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
  const std::string config = text_of(path("AWS_CONFIG_FILE", "config"));
  credentials->key = value_in(secrets, profile, "aws_access_key_id");
  credentials->secret = value_in(secrets, profile, "aws_secret_access_key");
  credentials->token = value_in(secrets, profile, "aws_session_token");
  if (std::string region = value_in(config, profile, "region"); !region.empty())
    credentials->region = std::move(region);
}

// The entry of Triton's file whose address is the longest that fits. False: there is none.
Result<bool> take_file(const std::string& path, const S3Address& address, const Environment& environment,
                       S3Credentials* credentials) {
  NEREID_TRY(const std::string text, read_file(path, kMostFileBytes).with("TRITON_CLOUD_CREDENTIAL_PATH"));
  NEREID_TRY(const Json json, parse_json(text).with(path));
  const Json* entries = json_find(json, "s3");
  if (entries == nullptr || !entries->is_object()) return false;
  const Json* best = nullptr;
  size_t best_size = 0;
  for (const auto& [prefix, entry] : entries->items())
    if (entry.is_object() && address.given.starts_with(prefix) && (best == nullptr || prefix.size() >= best_size))
      best = &entry, best_size = prefix.size();
  if (best == nullptr) return false;
  NEREID_TRY(const std::string profile, json_string_or(*best, "profile", ""));
  if (!profile.empty()) take_profile(profile, environment, credentials);
  const auto take = [&](std::string_view name, std::string* to) -> Status {
    NEREID_TRY(std::string value, json_string_or(*best, name, "").with(path));
    if (!value.empty()) *to = std::move(value);
    return Status::ok();
  };
  NEREID_RETURN_IF_ERROR(take("key_id", &credentials->key));
  NEREID_RETURN_IF_ERROR(take("secret_key", &credentials->secret));
  NEREID_RETURN_IF_ERROR(take("session_token", &credentials->token));
  NEREID_RETURN_IF_ERROR(take("region", &credentials->region));
  return true;
}

}  // namespace

std::string S3Address::url(const S3Credentials& credentials) const {
  return endpoint.empty() ? "https://" + host(credentials) : endpoint;
}

std::string S3Address::host(const S3Credentials& credentials) const {
  if (!endpoint.empty()) return endpoint.substr(endpoint.find("://") + 3);
  return fmt::format("s3.{}.amazonaws.com", credentials.region);
}

std::string S3Address::path(std::string_view key) const {
  return "/" + bucket + (key.empty() ? "" : "/" + std::string(key));
}

Result<S3Address> parse_s3(const std::string& address, const Environment& environment) {
  const auto wrong = [&](std::string_view what) {
    return invalid_argument(
        "'{}' is no address of a model repository: {}; expected s3://BUCKET/PATH, s3://HOST:PORT/BUCKET/PATH or "
        "s3://https://HOST:PORT/BUCKET/PATH",
        address, what);
  };
  if (!address.starts_with(kScheme)) return wrong("it does not begin with s3://");
  S3Address out;
  out.given = address;
  std::string_view rest = std::string_view(address).substr(kScheme.size());
  std::string scheme;
  for (const std::string_view one : {"http://", "https://"})
    if (rest.starts_with(one)) scheme = one, rest.remove_prefix(one.size());
  rest = trimmed(rest, "/");
  const std::string_view first = rest.substr(0, rest.find('/'));
  if (!scheme.empty() || first.find(':') != first.npos) {
    if (first.empty()) return wrong("it names no host");
    out.endpoint = (scheme.empty() ? "http://" : scheme) + std::string(first);
    rest.remove_prefix(std::min(first.size() + 1, rest.size()));
  } else {
    out.endpoint = environment("AWS_ENDPOINT_URL_S3");
    if (out.endpoint.empty()) out.endpoint = environment("AWS_ENDPOINT_URL");
    while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
    if (!out.endpoint.empty() && out.endpoint.find("://") == out.endpoint.npos)
      return invalid_argument("AWS_ENDPOINT_URL is '{}'; expected https://HOST:PORT", out.endpoint);
  }
  out.bucket = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(out.bucket.size() + 1, rest.size()));
  out.prefix = trimmed(rest, "/");
  if (out.bucket.empty()) return wrong("it names no bucket");
  for (const std::string_view bad : {"..", "?", "#", " ", "\\"})
    if (rest.find(bad) != rest.npos || out.bucket.find(bad) != out.bucket.npos)
      return wrong(fmt::format("'{}' may not stand in it", bad));
  return out;
}

Result<S3Credentials> find_s3_credentials(const S3Address& address, const Environment& environment) {
  S3Credentials credentials;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (std::string region = environment(name); !region.empty()) credentials.region = std::move(region);
  if (const std::string path = environment("TRITON_CLOUD_CREDENTIAL_PATH"); !path.empty()) {
    NEREID_TRY(const bool was_found, take_file(path, address, environment, &credentials));
    if (was_found) return credentials;
  }
  credentials.key = environment("AWS_ACCESS_KEY_ID");
  credentials.secret = environment("AWS_SECRET_ACCESS_KEY");
  credentials.token = environment("AWS_SESSION_TOKEN");
  if (!credentials.key.empty()) return credentials;
  const std::string profile = environment("AWS_PROFILE");
  const std::string region = credentials.region;
  take_profile(profile.empty() ? "default" : profile, environment, &credentials);
  if (!environment("AWS_DEFAULT_REGION").empty()) credentials.region = region;
  return credentials;
}

}  // namespace nereid::server
