// SPDX-License-Identifier: Apache-2.0
// Bytes in and out of a non-blocking socket, in the clear or through TLS; one connection's, on its loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::net {

enum class Io { kDone, kWantRead, kWantWrite, kEnd, kBroken };

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Io handshake() = 0;
  // kDone: `*count` bytes, at least one. kEnd: the peer will send nothing more.
  virtual Io read(char* bytes, size_t most, size_t* count) = 0;
  // Into pieces one behind the other, at least one; `*count` bytes of them all.
  virtual Io read_pieces(std::span<const std::span<char>> pieces, size_t* count) {
    return read(pieces.front().data(), pieces.front().size(), count);
  }
  virtual Io write(std::string_view bytes, size_t* count) = 0;
  // Pieces one behind the other, at least one; `*count` bytes of them all.
  virtual Io write_pieces(std::span<const std::string_view> pieces, size_t* count) {
    return write(pieces.front(), count);
  }
  // Bytes that came may lie in it, of which the descriptor tells nothing: whether there are any, only read() tells.
  virtual bool keeps_bytes() const = 0;
  // Tells the peer that nothing more comes.
  virtual void end_writes() = 0;
};

// The descriptor stays the caller's.
std::unique_ptr<Transport> plain_transport(int fd);

struct TlsOptions {
  std::string certificate_path;  // PEM, the server's own first, then those between it and the root
  std::string key_path;          // PEM
  std::string client_ca_path;    // PEM; "": clients need no certificate
  bool is_http2 = false;         // which a client that offers protocols must then offer
};

// Certificates and keys, read once. At least TLS 1.2; a renegotiation is refused.
class TlsContext {
 public:
  // kNotFound or kInvalidArgument: what cannot be read, or does not belong together.
  static Result<std::shared_ptr<TlsContext>> make(const TlsOptions& options);
  virtual ~TlsContext() = default;
  // nullptr where there is no memory for it.
  virtual std::unique_ptr<Transport> accept(int fd) = 0;
};

}  // namespace nereid::server::net
