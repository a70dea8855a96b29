// SPDX-License-Identifier: Apache-2.0
// "s3://..." as users write it, and which requests it stands for.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "server/repository/store/model_store.h"
#include "server/repository/store/s3_sign.h"

namespace nereid::server {

// s3://bucket/path, s3://host:port/bucket/path, s3://http://host:port/bucket/path, s3://https://host:port/bucket/path.
struct S3Address {
  std::string given;
  std::string endpoint;  // "https://host:port"; "": AWS's own
  std::string bucket;
  std::string prefix;  // without slashes at its ends

  std::string url(const S3Credentials& credentials) const;   // up to the path
  std::string host(const S3Credentials& credentials) const;  // as requests name it
  // The path of a key ("" for the bucket itself) as it is signed and sent.
  std::string path(std::string_view key) const;
};

// kInvalidArgument: no such address. AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL stand for AWS's own.
Result<S3Address> parse_s3(const std::string& address, const Environment& environment);

// The nearest of: the file that TRITON_CLOUD_CREDENTIAL_PATH names (its longest address that `address` begins with);
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_DEFAULT_REGION or AWS_REGION; the profile
// AWS_PROFILE
// ("default") of ~/.aws/credentials and ~/.aws/config. None: nothing is signed. kInvalidArgument: a file that is none.
Result<S3Credentials> find_s3_credentials(const S3Address& address, const Environment& environment);

}  // namespace nereid::server
