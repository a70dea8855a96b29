// SPDX-License-Identifier: Apache-2.0
// A call's headers: its path, time, codings and metadata out of them; status and trailers into them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/net/content_coding.h"
#include "server/net/grpc/call.h"

namespace nereid::server::net::grpc {

// What a call's headers say beside its head.
struct CallTerms {
  std::optional<Coding> coding;  // of its messages
  bool takes_gzip = false, takes_deflate = false;
  int64_t timeout_ns = -1;  // -1: any time
};

// kUnsupported: a coding that is not known; kInvalidArgument: a time that is none.
Status read_call_fields(http2::RequestHead&& request, CallHead* head, CallTerms* terms);
// Whether it is a call at all; otherwise the status of HTTP that says so.
std::optional<int> refusal(const http2::RequestHead& request);

// "20u", "3H"; -1: no time.
int64_t read_timeout_ns(std::string_view text);
// grpc-message: percent-encoded where it is no visible ASCII.
std::string percent_encoded(std::string_view text);
// Base64, with padding or without. Empty where it is none.
std::string base64_decoded(std::string_view text);

// The head of an answer, packed so; the trailers of one that went well; and of one that did not.
http2::SharedFields answer_head(std::optional<Coding> coding);
http2::SharedFields ok_trailers();
http2::SharedFields trailers_of(const RpcStatus& status);
// Head and trailers in one, for calls that are answered with nothing but a status.
http2::SharedFields trailers_only(const RpcStatus& status);

}  // namespace nereid::server::net::grpc
