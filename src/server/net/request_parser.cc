// SPDX-License-Identifier: Apache-2.0
// The only file that knows Boost.Beast, which reads the head and takes the body out of its chunks.
#include "server/net/request_parser.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <optional>

#include "base/clock.h"

namespace nereid::server::net {
namespace {

namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;

// A body that grows by what arrives; Beast's own would reserve what the head promises.
struct GrowingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<uint64_t>&, ErrorCode& ec) { ec = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, ErrorCode& ec) {
      size_t taken = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers); it != boost::asio::buffer_sequence_end(buffers);
           ++it) {
        const boost::asio::const_buffer b = *it;
        body_.append(static_cast<const char*>(b.data()), b.size());
        taken += b.size();
      }
      ec = {};
      return taken;
    }
    void finish(ErrorCode& ec) { ec = {}; }

   private:
    value_type& body_;
  };
};

std::string_view view(boost::beast::string_view s) {
  return {s.data(), s.size()};
}

bool is_token_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// The target's path and query: "/a?b", or "http://host/a?b" as proxies are asked.
std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    return slash == target.npos ? std::string_view("/") : target.substr(slash);
  }
  return target;
}

}  // namespace

struct RequestParser::Impl {
  explicit Impl(const Settings& s) : limits(s) {
    parser.header_limit(static_cast<uint32_t>(s.max_header_bytes) + 4);
    parser.body_limit(static_cast<uint64_t>(s.max_body_bytes));
    parser.eager(false);
  }

  void fail(int status, std::string message) {
    state = State::kFailed;
    error.status = status;
    error.message = std::move(message);
  }

  // What can be told before the head is whole, so that a stranger need not send all of it. True: it is whole.
  bool check_beginning(std::string_view bytes) {
    const size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    const auto method =
        static_cast<size_t>(std::find_if_not(line.begin(), line.end(), is_token_character) - line.begin());
    const bool is_http = method <= 32 && (method == line.size() || (method > 0 && line[method] == ' '));
    if (!is_http || (end != bytes.npos && !line.ends_with('\r')))
      return fail(400, "the connection does not begin with an HTTP request"), false;
    if (line.size() > method + static_cast<size_t>(limits.max_target_bytes) + 16)
      return fail(414, fmt::format("the request's path and query are longer than {} bytes", limits.max_target_bytes)),
             false;
    // Beast gets heads whole: what it says of half a head depends on where it is cut.
    const size_t last = bytes.find("\r\n\r\n", searched);
    searched = bytes.size() > 3 ? bytes.size() - 3 : 0;
    if (std::min(last, bytes.size()) >= static_cast<size_t>(limits.max_header_bytes))
      return fail(431, fmt::format("the request's head is longer than {} bytes", limits.max_header_bytes)), false;
    if (last != bytes.npos) has_version = line.find(" HTTP/") != line.npos;
    return last != bytes.npos;
  }

  void fail_by(const ErrorCode& ec) {
    using E = http::error;
    if (ec == E::body_limit)
      return fail(413, fmt::format("the request's body is longer than {} bytes", limits.max_body_bytes));
    if (ec == E::bad_version && has_version) return fail(505, "the server speaks HTTP/1.1 and HTTP/1.0");
    fail(400, fmt::format("the request is no valid HTTP: {}", ec.message()));
  }

  void check_head() {
    const auto& head = parser.get().base();
    // The path belongs to the error from here on.
    const std::string_view target = origin_form(view(head.target()));
    request.target = view(head.target());
    const size_t question = target.find('?');
    if (!decode_percent(target.substr(0, question), false, &request.path) ||
        (question != target.npos && !parse_query(target.substr(question + 1), &request.query)))
      return fail(400, "a '%' in the request's target is not followed by two hexadecimal digits");
    error.path = request.path;
    if (request.target.size() > static_cast<size_t>(limits.max_target_bytes))
      return fail(414, fmt::format("the request's path and query are longer than {} bytes", limits.max_target_bytes));
    if (!target.starts_with('/') && target != "*") return fail(400, "the request's target must begin with '/'");
    const auto hosts = head.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && head.version() == 11))
      return fail(400, fmt::format("a request has exactly one Host header, found {}", hosts));
    const std::string_view method = view(head.method_string());
    if (head.count(http::field::transfer_encoding) > 0) {
      if (head.version() == 10) return fail(400, "HTTP/1.0 knows no Transfer-Encoding");
      if (head.count(http::field::transfer_encoding) > 1 ||
          !equals_ignoring_case(view(head[http::field::transfer_encoding]), "chunked"))
        return fail(501, "the only Transfer-Encoding that the server takes is 'chunked'");
    } else if (head.version() == 10 && (method == "POST" || method == "PUT" || method == "PATCH") &&
               head.count(http::field::content_length) == 0) {
      return fail(411, "a request with a body needs a Content-Length");
    }
    if (head.count(http::field::expect) > 0) {
      if (!equals_ignoring_case(view(head[http::field::expect]), "100-continue"))
        return fail(417, "the only expectation that the server meets is '100-continue'");
      expects_continue = head.version() == 11;
    }
  }

  Settings limits;
  http::request_parser<GrowingBody> parser;
  State state = State::kHead;
  size_t searched = 0;  // bytes of the head in which its end is not
  bool has_version = false;
  bool expects_continue = false;
  HttpError error;
  Request request;
};

RequestParser::RequestParser(const Settings& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

size_t RequestParser::feed(std::string_view bytes) {
  Impl& p = *impl_;
  size_t taken = 0;
  if (p.state == State::kHead) {
    // An empty line or two before a request are remains of the one before (RFC 9112, 2.2).
    while (taken < bytes.size() && taken < 4 && (bytes[taken] == '\r' || bytes[taken] == '\n')) ++taken;
    if (taken == bytes.size() || !p.check_beginning(bytes.substr(taken))) return taken;
  }
  while (taken < bytes.size() && (p.state == State::kHead || p.state == State::kBody)) {
    ErrorCode ec;
    const size_t n = p.parser.put(boost::asio::const_buffer(bytes.data() + taken, bytes.size() - taken), ec);
    taken += n;
    if (ec && ec != http::error::need_more) {
      p.fail_by(ec);
      break;
    }
    if (p.state == State::kHead && p.parser.is_header_done()) {
      p.state = State::kBody;
      p.check_head();
      if (p.state == State::kFailed) break;
    }
    if (p.parser.is_done()) p.state = State::kDone;
    if (n == 0) break;
  }
  return taken;
}

RequestParser::State RequestParser::state() const {
  return impl_->state;
}
bool RequestParser::is_http_1_0() const {
  return impl_->parser.is_header_done() && impl_->parser.get().version() == 10;
}
bool RequestParser::keeps_alive() const {
  return impl_->parser.is_header_done() && impl_->parser.keep_alive();
}
bool RequestParser::expects_continue() const {
  return impl_->expects_continue && impl_->state == State::kBody;
}
const HttpError& RequestParser::error() const {
  return impl_->error;
}

Request RequestParser::take() {
  auto& message = impl_->parser.get();
  Request request = std::move(impl_->request);
  request.method = view(message.method_string());
  for (const auto& field : message.base())
    request.headers.add(std::string(view(field.name_string())), std::string(view(field.value())));
  request.body = std::move(message.body());
  request.received_ns = now_ns();
  return request;
}

}  // namespace nereid::server::net
