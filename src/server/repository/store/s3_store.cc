// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "server/repository/store/http_get.h"
#include "server/repository/store/model_store.h"
#include "server/repository/store/s3_address.h"
#include "server/repository/store/s3_listing.h"
#include "server/repository/store/scratch_folder.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListingBytes = size_t{16} << 20;  // of a page, which has at most 1,000 keys of 1,024 bytes
constexpr size_t kMostObjects = 100'000;                // of a model

std::string time_now() {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
}

// A key's last part may be anything; it must not lead out of the model's folder.
bool is_inside(std::string_view path) {
  const fs::path parts(path);
  return !path.empty() && path.find('\0') == path.npos && !parts.is_absolute() &&
         std::none_of(parts.begin(), parts.end(), [](const fs::path& one) { return one == ".."; });
}

class S3Store final : public ModelStore {
 public:
  S3Store(S3Address address, S3Credentials credentials)
      : address_(std::move(address)), credentials_(std::move(credentials)) {}

  const std::string& address() const override { return address_.given; }

  Result<std::vector<std::string>> models() override {
    const std::string prefix = address_.prefix.empty() ? "" : address_.prefix + "/";
    NEREID_TRY(const S3Listing listing, list(prefix, true));
    std::vector<std::string> names;
    for (std::string_view folder : listing.folders) {
      if (!folder.starts_with(prefix)) continue;
      folder.remove_prefix(prefix.size());
      if (folder.ends_with('/')) folder.remove_suffix(1);
      if (!folder.empty() && !folder.starts_with('.')) names.emplace_back(folder);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<uint64_t> mark(const std::string& model) override {
    NEREID_TRY(const S3Listing listing, list(folder_of(model), false));
    return mark_of(listing);
  }

  Result<Copy> copy(const std::string& model) override {
    NEREID_TRY(const S3Listing listing, list(folder_of(model), false));
    NEREID_TRY(ScratchFolder scratch, make_scratch_folder());
    for (const S3Object& object : listing.objects) {
      const std::string inner = object.key.substr(folder_of(model).size());
      if (inner.empty()) continue;  // the folder itself
      if (!is_inside(inner))
        return invalid_argument("the object '{}' of {} would lie outside of the model's folder", object.key,
                                address_.given);
      const fs::path to = fs::path(scratch.path) / inner;
      std::error_code error;
      fs::create_directories(inner.ends_with('/') ? to : to.parent_path(), error);
      if (error) return unavailable("the folder '{}' could not be made: {}", to.string(), error.message());
      if (!inner.ends_with('/')) NEREID_RETURN_IF_ERROR(fetch(object, to.string()));
    }
    return Copy{.folder = std::move(scratch.path), .holder = std::move(scratch.holder)};
  }

 private:
  std::string folder_of(const std::string& model) const {
    return (address_.prefix.empty() ? "" : address_.prefix + "/") + model + "/";
  }

  static uint64_t mark_of(const S3Listing& listing) {
    if (listing.objects.empty()) return 0;
    XxHash64 hash;
    for (const S3Object& one : listing.objects) hash.update(fmt::format("{}\n{}\n{}\n", one.key, one.etag, one.size));
    return std::max<uint64_t>(1, hash.digest());
  }

  Result<HttpGot> get(const S3Request& request, std::vector<std::string> more,
                      std::function<Status(std::string_view)> take) const {
    const std::string query = s3_query(request);
    HttpGet wanted{
        .url = address_.url(credentials_) + s3_encode(request.path, true) + (query.empty() ? "" : "?" + query),
        .headers = s3_sign(request, credentials_, time_now()),
        .take = std::move(take)};
    wanted.headers.insert(wanted.headers.end(), more.begin(), more.end());
    return http_get(wanted);
  }

  Status refusal(const HttpGot& got, std::string_view what, const std::string& body) const {
    const std::string reason = s3_error_text(body);
    const std::string text = fmt::format("{} of {} was answered with {}{}{}", what, address_.given, got.status,
                                         reason.empty() ? "" : ": ", reason);
    if (got.status == 404) return not_found("{}", text);
    if (got.status == 403 || got.status == 401)
      return invalid_argument(
          "{}; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the file "
          "TRITON_CLOUD_CREDENTIAL_PATH",
          text);
    return unavailable("{}", text);
  }

  // All pages.
  Result<S3Listing> list(const std::string& prefix, bool folders_only) const {
    S3Listing all;
    do {
      S3Request request{.host = address_.host(credentials_), .path = address_.path(""), .query = {}};
      request.query = {{"list-type", "2"}, {"prefix", prefix}};
      if (folders_only) request.query.emplace_back("delimiter", "/");
      if (!all.next.empty()) request.query.emplace_back("continuation-token", all.next);
      std::string body;
      NEREID_TRY(const HttpGot got, get(request, {}, [&](std::string_view bytes) -> Status {
                   if (body.size() + bytes.size() > kMostListingBytes)
                     return unavailable("the listing of {} is longer than {} bytes", address_.given, kMostListingBytes);
                   body += bytes;
                   return Status::ok();
                 }));
      if (got.status != 200) return refusal(got, "the listing", body);
      NEREID_TRY(S3Listing page, read_s3_listing(body).with(address_.given));
      all.next = std::move(page.next);
      std::move(page.objects.begin(), page.objects.end(), std::back_inserter(all.objects));
      std::move(page.folders.begin(), page.folders.end(), std::back_inserter(all.folders));
      if (all.objects.size() > kMostObjects)
        return unavailable("{} holds more than {} objects below '{}'", address_.given, kMostObjects, prefix);
    } while (!all.next.empty());
    return all;
  }

  Status fetch(const S3Object& object, const std::string& to) const {
    NEREID_TRY(AtomicFile file, AtomicFile::create(to));
    std::string head;  // what an error says
    uint64_t bytes = 0;
    const S3Request request{.host = address_.host(credentials_), .path = address_.path(object.key), .query = {}};
    // One that was replaced since the listing is of another state of the model.
    std::vector<std::string> more;
    if (!object.etag.empty()) more.push_back("If-Match: " + object.etag);
    NEREID_TRY(const HttpGot got, get(request, std::move(more), [&](std::string_view piece) -> Status {
                 if (head.size() < 4096) head += piece.substr(0, 4096);
                 bytes += piece.size();
                 if (bytes > std::max<uint64_t>(object.size, 65536))
                   return unavailable("the object '{}' of {} is longer than its listing says ({} bytes)", object.key,
                                      address_.given, object.size);
                 return file.write(piece);
               }));
    if (got.status == 412)
      return unavailable("the object '{}' of {} changed while the model was being read; try again", object.key,
                         address_.given);
    if (got.status != 200) return refusal(got, "the object '" + object.key + "'", head);
    if (bytes != object.size)
      return unavailable("the object '{}' of {} has {} bytes, but {} came", object.key, address_.given, object.size,
                         bytes);
    return file.commit();
  }

  const S3Address address_;
  const S3Credentials credentials_;
};

}  // namespace

bool is_remote_store(std::string_view address) {
  for (const std::string_view scheme : {"s3://", "gs://", "as://"})
    if (address.starts_with(scheme)) return true;
  return false;
}

Result<std::unique_ptr<ModelStore>> open_model_store(const std::string& address, const Environment& environment) {
  if (!address.starts_with("s3://"))
    return unsupported(
        "'{}' names a kind of store that there is not; model repositories are folders, or s3://... (Google's and other "
        "stores answer to that protocol too)",
        address);
  NEREID_TRY(S3Address parsed, parse_s3(address, environment));
  NEREID_TRY(S3Credentials credentials, find_s3_credentials(parsed, environment));
  return std::unique_ptr<ModelStore>(std::make_unique<S3Store>(std::move(parsed), std::move(credentials)));
}

std::string process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace nereid::server
