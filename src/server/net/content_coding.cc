// SPDX-License-Identifier: Apache-2.0
#include "server/net/content_coding.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "server/net/ascii.h"

namespace nereid::server::net {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipFrame = 16;      // added to the window's bits: zlib's way to say which frame
constexpr int kLevel = 1;           // most of what there is to gain from JSON, at a third of the default's time
constexpr size_t kStep = 64 << 10;  // of output at a time
// A body may grow to so many bytes, or so many times its size, when it is unpacked: a few kilobytes are no gigabyte.
constexpr int64_t kGrownBytes = int64_t{64} << 20, kGrownTimes = 64;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The next element of a list, which is moved behind it.
std::string_view next_element(std::string_view* list) {
  const std::string_view one = list->substr(0, list->find(','));
  list->remove_prefix(std::min(list->size(), one.size() + 1));
  return trimmed(one);
}

Bytef* input(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads it only
}

// One frame off the front of `bytes`.
class Inflater {
 public:
  explicit Inflater(int window_bits) { is_open_ = ::inflateInit2(&stream_, window_bits) == Z_OK; }
  ~Inflater() {
    if (is_open_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  enum class End : uint8_t { kWhole, kCut, kBad, kTooLong };
  End run(std::string_view* bytes, int64_t most_bytes, std::string* plain) {
    if (!is_open_) return End::kBad;
    const auto most = static_cast<size_t>(most_bytes);
    stream_.next_in = input(*bytes);
    stream_.avail_in = static_cast<uInt>(std::min<size_t>(bytes->size(), UINT32_MAX));
    int state = Z_OK;
    while (state == Z_OK) {
      const size_t before = plain->size();
      // One byte more than is allowed tells that there is one.
      const size_t room = std::min(kStep, most - std::min(most, before) + 1);
      plain->resize(before + room);
      stream_.next_out = reinterpret_cast<Bytef*>(plain->data() + before);
      stream_.avail_out = static_cast<uInt>(room);
      state = ::inflate(&stream_, Z_NO_FLUSH);
      plain->resize(before + room - stream_.avail_out);
      if (plain->size() > most) return End::kTooLong;
    }
    bytes->remove_prefix(bytes->size() - stream_.avail_in);
    if (state == Z_STREAM_END) return End::kWhole;
    return state == Z_BUF_ERROR ? End::kCut : End::kBad;
  }

 private:
  z_stream stream_ = {};
  bool is_open_ = false;
};

int window_bits(Coding coding, std::string_view bytes) {
  if (coding == Coding::kGzip) return kWindowBits + kGzipFrame;
  // zlib's frame begins with two bytes that 31 divides, of which the low half of the first is 8 (RFC 1950).
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  const bool has_frame = bytes.size() >= 2 && (byte(0) & 0x0f) == 8 && (byte(0) * 256 + byte(1)) % 31 == 0;
  return has_frame ? kWindowBits : -kWindowBits;
}

class CompressingResponder final : public Responder {
 public:
  CompressingResponder(std::shared_ptr<Responder> inner, bool is_accepted, int64_t least_bytes)
      : inner_(std::move(inner)), is_accepted_(is_accepted), least_bytes_(least_bytes) {}

  void send(Response response) override {
    if (is_worth_it(response)) {
      response.headers.add("Vary", "Accept-Encoding");
      if (std::string smaller = is_accepted_ ? gzip(response.body) : std::string(); !smaller.empty()) {
        response.body = std::move(smaller);
        response.headers.set("Content-Encoding", "gzip");
      }
    }
    inner_->send(std::move(response));
  }
  void start(int status, Headers headers) override { inner_->start(status, std::move(headers)); }
  bool write(std::string_view bytes) override { return inner_->write(bytes); }
  void close() override { inner_->close(); }
  void on_closed(std::function<void()> closed) override { inner_->on_closed(std::move(closed)); }
  bool is_closed() const override { return inner_->is_closed(); }

 private:
  bool is_worth_it(const Response& response) const {
    const std::string_view type = response.headers.get("Content-Type");
    return least_bytes_ > 0 && response.parts.empty() && std::cmp_greater_equal(response.body.size(), least_bytes_) &&
           (type.starts_with("text/") || type.starts_with("application/json")) &&
           !response.headers.has("Content-Encoding");
  }

  const std::shared_ptr<Responder> inner_;
  const bool is_accepted_;
  const int64_t least_bytes_;
};

}  // namespace

std::optional<HttpError> decode(Coding coding, std::string_view bytes, int64_t most_bytes, std::string* plain) {
  const char* const name = coding == Coding::kGzip ? "gzip" : "deflate";
  const auto bad = [&](const char* what) {
    return HttpError{
        .status = 400, .message = fmt::format("the request's body is said to be {}, but {}", name, what), .path = {}};
  };
  do {
    switch (Inflater(window_bits(coding, bytes)).run(&bytes, most_bytes, plain)) {
      case Inflater::End::kWhole:
        break;
      case Inflater::End::kCut:
        return bad("it ends too early");
      case Inflater::End::kBad:
        return bad("it is not");
      case Inflater::End::kTooLong:
        return HttpError{
            .status = 413,
            .message = fmt::format("the request's body is longer than {} bytes when it is unpacked", most_bytes),
            .path = {}};
    }
    if (!bytes.empty() && coding == Coding::kDeflate) return bad("something follows it");
  } while (!bytes.empty());  // gzip's frames may follow each other (RFC 1952, 2.2)
  return std::nullopt;
}

std::string pack(Coding coding, std::string_view bytes) {
  z_stream stream = {};
  const int bits = kWindowBits + (coding == Coding::kGzip ? kGzipFrame : 0);
  constexpr int kMemoryLevel = 8;  // zlib's default
  if (bytes.size() > UINT32_MAX ||
      ::deflateInit2(&stream, kLevel, Z_DEFLATED, bits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(is_whole ? packed.size() - stream.avail_out : 0);
  ::deflateEnd(&stream);
  return packed;
}

std::optional<HttpError> decode_body(Request* request, int64_t most_bytes) {
  std::optional<Coding> coding;
  for (const auto& [name, value] : request->headers) {
    if (!equals_ignoring_case(name, "Content-Encoding")) continue;
    for (std::string_view list = value; !list.empty();) {
      const std::string_view one = next_element(&list);
      if (one.empty() || equals_ignoring_case(one, "identity")) continue;
      const bool is_gzip = equals_ignoring_case(one, "gzip") || equals_ignoring_case(one, "x-gzip");
      // One inside another has no use but to grow.
      if (coding || (!is_gzip && !equals_ignoring_case(one, "deflate")))
        return HttpError{.status = 415,
                         .message = fmt::format("a request's body may be packed once, by gzip or deflate; its "
                                                "Content-Encoding is '{}'",
                                                value),
                         .path = request->path};
      coding = is_gzip ? Coding::kGzip : Coding::kDeflate;
    }
  }
  if (!coding) return std::nullopt;
  const auto packed_bytes = static_cast<int64_t>(request->body.size());
  most_bytes = std::min(most_bytes, std::max(kGrownBytes, packed_bytes * kGrownTimes));
  std::string plain;
  std::optional<HttpError> error = decode(*coding, request->body, most_bytes, &plain);
  if (error) error->path = request->path;
  request->body = std::move(plain);
  request->headers.set("Content-Encoding", "identity");
  return error;
}

bool accepts_gzip(std::string_view accept_encoding) {
  bool accepts_any = false;
  while (!accept_encoding.empty()) {
    std::string_view one = next_element(&accept_encoding);
    const std::string_view name = trimmed(one.substr(0, one.find(';')));
    // "gzip;q=0" forbids it. What else a weight may be does not matter: there is nothing to choose from.
    double weight = 1;
    if (const size_t q = one.find("q="); q != one.npos) {
      const std::string_view number = one.substr(q + 2);
      (void)std::from_chars(number.data(), number.data() + number.size(), weight);
    }
    if (equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip")) return weight > 0;
    if (name == "*") accepts_any = weight > 0;
  }
  return accepts_any;
}

std::shared_ptr<Responder> compressing(std::shared_ptr<Responder> responder, bool is_accepted, int64_t least_bytes) {
  return std::make_shared<CompressingResponder>(std::move(responder), is_accepted, least_bytes);
}

}  // namespace nereid::server::net
