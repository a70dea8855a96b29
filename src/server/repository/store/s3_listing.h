// SPDX-License-Identifier: Apache-2.0
// What ListObjectsV2 answers: XML, read as far as a store of models needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::server {

struct S3Object {
  std::string key, etag;
  uint64_t size = 0;
};

struct S3Listing {
  std::vector<S3Object> objects;
  std::vector<std::string> folders;  // common prefixes, with their last slash
  std::string next;                  // where the next page begins; "": this was the last
};

// kInvalidArgument: it is no such listing.
Result<S3Listing> read_s3_listing(std::string_view xml);
// The sentence of an error's XML, with its code; "" where there is none.
std::string s3_error_text(std::string_view xml);

}  // namespace nereid::server
