// SPDX-License-Identifier: Apache-2.0
// libcurl, opened at the first request: a server of local folders never maps it and the dozen libraries below it.
#include <curl/curl.h>
#include <dlfcn.h>

#include <memory>

#include "base/interrupt.h"
#include "server/repository/store/http_get.h"

namespace nereid::server {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kStallSeconds = 30;  // below kStallBytes a second for so long is no answer
constexpr long kStallBytes = 100;

struct Curl {
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_setopt) set = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_easy_getinfo) info = nullptr;
  decltype(&::curl_slist_append) append = nullptr;
  decltype(&::curl_slist_free_all) free_all = nullptr;
  std::string missing;  // why there is none
};

Curl open_curl() {
  Curl curl;
  void* library = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"})
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    curl.missing = "libcurl.so.4 cannot be loaded (package libcurl4)";
    return curl;
  }
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(::dlsym(library, name));
    if (*function == nullptr) curl.missing = std::string("libcurl has no function ") + name;
  };
  decltype(&::curl_global_init) global_init = nullptr;
  find("curl_global_init", &global_init);
  find("curl_easy_init", &curl.init);
  find("curl_easy_setopt", &curl.set);
  find("curl_easy_perform", &curl.perform);
  find("curl_easy_cleanup", &curl.cleanup);
  find("curl_easy_getinfo", &curl.info);
  find("curl_slist_append", &curl.append);
  find("curl_slist_free_all", &curl.free_all);
  if (curl.missing.empty() && global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) curl.missing = "libcurl does not start";
  return curl;
}

const Curl& the_curl() {
  static const Curl curl = open_curl();
  return curl;
}

struct Sink {
  const HttpGet* request = nullptr;
  Status status;
};

size_t take_bytes(char* bytes, size_t size, size_t count, void* to) {
  auto* sink = static_cast<Sink*>(to);
  sink->status = sink->request->take({bytes, size * count});
  return sink->status.is_ok() ? size * count : 0;
}

// libcurl asks at least once a second, also while nothing comes.
int wants_to_end(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return interrupted() ? 1 : 0;
}

}  // namespace

Result<HttpGot> http_get(const HttpGet& request) {
  const Curl& curl = the_curl();
  if (!curl.missing.empty()) return unsupported("{} cannot be read: {}", request.url, curl.missing);
  const std::unique_ptr<CURL, decltype(curl.cleanup)> easy(curl.init(), curl.cleanup);
  if (easy == nullptr) return unavailable("{} cannot be read: libcurl gave no handle", request.url);
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl.append(list, header.c_str());
  const std::unique_ptr<curl_slist, decltype(curl.free_all)> headers(list, curl.free_all);
  char reason[CURL_ERROR_SIZE] = {};
  Sink sink{.request = &request, .status = {}};
  const auto set = [&](CURLoption option, auto value) { (void)curl.set(easy.get(), option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_WRITEFUNCTION, &take_bytes);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&sink));
  set(CURLOPT_ERRORBUFFER, reason);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &wants_to_end);
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
  set(CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  const CURLcode code = curl.perform(easy.get());
  NEREID_RETURN_IF_ERROR(sink.status);
  if (code == CURLE_ABORTED_BY_CALLBACK) return cancelled("interrupted while {} was being read", request.url);
  if (code != CURLE_OK)
    return unavailable("{} could not be read: {}", request.url, reason[0] != '\0' ? reason : "the transfer failed");
  HttpGot got;
  long status = 0;
  const char* type = nullptr;
  (void)curl.info(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  (void)curl.info(easy.get(), CURLINFO_CONTENT_TYPE, &type);
  got.status = static_cast<int>(status);
  if (type != nullptr) got.type = type;
  return got;
}

}  // namespace nereid::server
