// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/checksum.h"
#include "base/file.h"

namespace nereid {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context new_context() {
  Context c(EVP_MD_CTX_new());
  NEREID_CHECK(c != nullptr);
  return c;
}

}  // namespace

struct Sha256::State {
  Context context = new_context();
};

// The library's calls fail only when it cannot have memory or has no SHA-256, which none of us can go on from.
Sha256::Sha256() : state_(std::make_unique<State>()) {
  NEREID_CHECK(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  NEREID_CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() const {
  const Context copy = new_context();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  NEREID_CHECK(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1);
  NEREID_CHECK(EVP_DigestFinal_ex(copy.get(), digest.data(), &length) == 1);
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

Result<std::string> sha256_of_file(const std::string& path) {
  NEREID_TRY(const OpenedFile opened, open_regular_file(path));
  Sha256 hash;
  std::vector<std::byte> buffer(size_t{1} << 20);
  while (true) {
    const ssize_t got = ::read(opened.fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(errno, "read", path);
    if (got == 0) return hash.hex();
    hash.update(std::span(buffer).first(static_cast<size_t>(got)));
  }
}

}  // namespace nereid
