// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/s3_listing.h"

#include <gtest/gtest.h>

namespace nereid::server {
namespace {

TEST(S3Listing, objects_folders_and_the_next_page) {
  const S3Listing l = read_s3_listing(R"(<?xml version="1.0"?><ListBucketResult xmlns="http://x"><Name>b</Name>
      <IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b==</NextContinuationToken>
      <Contents><Key>m/1/x &lt;&#228;&#x20AC;&gt;</Key><ETag>&quot;abc&quot;</ETag><Size>12</Size></Contents>
      <Contents><Key>m/2/</Key><Size>0</Size></Contents>
      <CommonPrefixes><Prefix>m/3/</Prefix></CommonPrefixes></ListBucketResult>)")
                          .value();
  ASSERT_EQ(l.objects.size(), 2U);
  EXPECT_EQ(l.objects[0].key, "m/1/x <ä€>");
  EXPECT_EQ(l.objects[0].etag, "\"abc\"");
  EXPECT_EQ(l.objects[0].size, 12U);
  ASSERT_EQ(l.folders.size(), 1U);
  EXPECT_EQ(l.folders[0], "m/3/");
  EXPECT_EQ(l.next, "a&b==");
}

TEST(S3Listing, what_is_no_listing_is_told) {
  EXPECT_EQ(read_s3_listing("<html>busy</html>").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_s3_listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").status().code(),
            StatusCode::kInvalidArgument)
      << "a page that would be asked for again and again";
  EXPECT_EQ(s3_error_text("<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>"), "NoSuchBucket: no");
  EXPECT_EQ(s3_error_text(""), "");
}

}  // namespace
}  // namespace nereid::server
