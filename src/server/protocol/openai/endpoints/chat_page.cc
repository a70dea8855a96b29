// SPDX-License-Identifier: Apache-2.0
// GET /
#include "server/protocol/openai/endpoints/chat_page.h"

#include "base/check.h"
#include "server/protocol/openai/endpoints/handlers.h"

namespace nereid::server::openai {
namespace {

void put(std::string* page, std::string_view mark, std::string_view part) {
  const size_t at = page->find(mark);
  NEREID_CHECK(at != std::string::npos);
  page->replace(at, mark.size(), part);
}

}  // namespace

std::string chat_page_text(const ChatPageParts& parts) {
  std::string page(parts.html);
  // The later mark first, so that what was put in is not looked at.
  put(&page, "/*script*/", parts.script);
  put(&page, "/*style*/", parts.style);
  return page;
}

void chat_page(const Service&, net::Request, ResponderPtr responder) {
  static const std::string text = chat_page_text();
  net::Response response{.status = 200, .headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = text};
  response.headers.set("Cache-Control", "no-cache");
  // Nothing from elsewhere, and no frame around it; its own script and style stand inside of it.
  response.headers.set("Content-Security-Policy",
                       "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
                       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response.headers.set("X-Content-Type-Options", "nosniff");
  responder->send(std::move(response));
}

}  // namespace nereid::server::openai
