// SPDX-License-Identifier: Apache-2.0
#include "server/net/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/file.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMaxFileBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_bearer(std::string_view scheme) {
  constexpr std::string_view kName = "bearer ";
  if (scheme.size() < kName.size()) return false;
  for (size_t i = 0; i < kName.size(); ++i)
    if ((scheme[i] | 0x20) != kName[i]) return false;
  return true;
}

}  // namespace

ApiKeys::ApiKeys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) digests_.push_back(digest(key));
}

ApiKeys::Digest ApiKeys::digest(std::string_view key) {
  Digest digest{};
  EVP_Digest(key.data(), key.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

bool ApiKeys::accepts(std::string_view authorization) const {
  if (!any()) return true;
  if (!is_bearer(authorization)) return false;
  const Digest shown = digest(trimmed(authorization.substr(7)));
  bool found = false;
  for (const Digest& one : digests_) found |= CRYPTO_memcmp(one.data(), shown.data(), one.size()) == 0;
  return found;
}

Result<std::vector<std::string>> read_api_keys(const std::string& path) {
  NEREID_TRY(const std::string text, read_file(path, kMaxFileBytes));
  std::vector<std::string> keys;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view key = trimmed(line);
    if (!key.empty() && key[0] != '#') keys.emplace_back(key);
  }
  if (keys.empty()) return invalid_argument("{} holds no API key; it should have one a line", path);
  return keys;
}

}  // namespace nereid::server::net
