// SPDX-License-Identifier: Apache-2.0
// The transport through TLS: OpenSSL on the socket itself, so that an idle connection keeps no buffers.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/file.h"
#include "server/net/transport.h"

namespace nereid::server::net {
namespace {

// The reason of the oldest error of this thread, and forgets all of them.
std::string openssl_reason() {
  const unsigned long code = ERR_peek_error();
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason != nullptr ? reason : "OpenSSL gives no reason";
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(SSL* ssl, int fd) : ssl_(ssl), fd_(fd) {}
  ~TlsTransport() override { SSL_free(ssl_); }

  Io handshake() override {
    ERR_clear_error();
    return outcome(SSL_accept(ssl_));
  }
  Io read(char* bytes, size_t most, size_t* count) override {
    ERR_clear_error();
    return outcome(SSL_read_ex(ssl_, bytes, most, count));
  }
  Io write(std::string_view bytes, size_t* count) override {
    ERR_clear_error();
    return outcome(SSL_write_ex(ssl_, bytes.data(), bytes.size(), count));
  }
  // Short pieces leave in one record. What did not leave has to be asked for again with the same bytes in front, which
  // the pieces have.
  Io write_pieces(std::span<const std::string_view> pieces, size_t* count) override {
    constexpr size_t kRecord = 16 << 10;
    if (pieces.size() == 1 || pieces.front().size() >= kRecord) return write(pieces.front(), count);
    static thread_local std::string joined;
    joined.clear();
    for (size_t i = 0; i < pieces.size() && joined.size() < kRecord; ++i)
      joined += pieces[i].substr(0, kRecord - joined.size());
    return write(joined, count);
  }
  bool keeps_bytes() const override { return true; }
  void end_writes() override {
    ERR_clear_error();
    if (!is_broken_) SSL_shutdown(ssl_);
    ::shutdown(fd_, SHUT_WR);
  }

 private:
  Io outcome(int returned) {
    if (returned > 0) return Io::kDone;
    switch (SSL_get_error(ssl_, returned)) {
      case SSL_ERROR_WANT_READ:
        return Io::kWantRead;
      case SSL_ERROR_WANT_WRITE:
        return Io::kWantWrite;
      case SSL_ERROR_ZERO_RETURN:
        return Io::kEnd;
      default:
        is_broken_ = true;
        return Io::kBroken;
    }
  }
  SSL* const ssl_;
  const int fd_;
  bool is_broken_ = false;
};

// A client that offers only others gets no protocol and may go on or not.
int select_http1(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                 unsigned int offered_bytes, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* out = nullptr;
  const int found = SSL_select_next_proto(&out, chosen_bytes, kOurs, sizeof(kOurs) - 1, offered, offered_bytes);
  *chosen = out;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// RFC 9113, 3.2: one that speaks anything else is not served.
int select_http2(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                 unsigned int offered_bytes, void*) {
  static constexpr unsigned char kOurs[] = "\x02h2";
  unsigned char* out = nullptr;
  const int found = SSL_select_next_proto(&out, chosen_bytes, kOurs, sizeof(kOurs) - 1, offered, offered_bytes);
  *chosen = out;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class OpensslContext final : public TlsContext {
 public:
  OpensslContext() : context_(SSL_CTX_new(TLS_server_method())) {}
  ~OpensslContext() override { SSL_CTX_free(context_); }

  Status read(const TlsOptions& o) {
    ERR_clear_error();
    if (context_ == nullptr) return internal("OpenSSL makes no context: {}", openssl_reason());
    SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context_,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context_, o.is_http2 ? select_http2 : select_http1, nullptr);
    static constexpr unsigned char kSession[] = "nereid";
    SSL_CTX_set_session_id_context(context_, kSession, sizeof(kSession) - 1);
    for (const std::string& path : {o.certificate_path, o.key_path}) NEREID_RETURN_IF_ERROR(read_file(path, kMaxBytes));
    if (SSL_CTX_use_certificate_chain_file(context_, o.certificate_path.c_str()) != 1)
      return invalid_argument("{} is no certificate in PEM: {}", o.certificate_path, openssl_reason());
    if (SSL_CTX_use_PrivateKey_file(context_, o.key_path.c_str(), SSL_FILETYPE_PEM) != 1)
      return invalid_argument("{} is no private key in PEM that belongs to {}: {}", o.key_path, o.certificate_path,
                              openssl_reason());
    if (SSL_CTX_check_private_key(context_) != 1)
      return invalid_argument("the key {} does not belong to the certificate {}", o.key_path, o.certificate_path);
    if (o.client_ca_path.empty()) return Status::ok();
    NEREID_RETURN_IF_ERROR(read_file(o.client_ca_path, kMaxBytes));
    if (SSL_CTX_load_verify_file(context_, o.client_ca_path.c_str()) != 1)
      return invalid_argument("{} holds no certificates in PEM: {}", o.client_ca_path, openssl_reason());
    SSL_CTX_set_client_CA_list(context_, SSL_load_client_CA_file(o.client_ca_path.c_str()));
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return Status::ok();
  }

  std::unique_ptr<Transport> accept(int fd) override {
    SSL* ssl = SSL_new(context_);
    if (ssl == nullptr || SSL_set_fd(ssl, fd) != 1) {
      SSL_free(ssl);
      return nullptr;
    }
    return std::make_unique<TlsTransport>(ssl, fd);
  }

 private:
  static constexpr size_t kMaxBytes = 1 << 20;
  SSL_CTX* const context_;
};

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::make(const TlsOptions& options) {
  if (options.certificate_path.empty() || options.key_path.empty())
    return invalid_argument("TLS needs both a certificate and its key");
  auto context = std::make_shared<OpensslContext>();
  NEREID_RETURN_IF_ERROR(context->read(options).with("setting up TLS"));
  return std::shared_ptr<TlsContext>(std::move(context));
}

}  // namespace nereid::server::net
