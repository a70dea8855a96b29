// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/test_dir.h"

namespace nereid {
namespace {

std::string sample_bytes(size_t n) {
  std::string s(n, '\0');
  for (size_t i = 0; i < n; ++i) s[i] = static_cast<char>((i * 131 + i / 7) % 256);
  return s;
}

TEST(XxHash64, agrees_with_the_reference_implementation) {
  std::ifstream golden(NEREID_SOURCE_DIR "/tests/data/base/xxhash64.txt");
  std::string line;
  int cases = 0;
  while (std::getline(golden, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    uint64_t seed = 0, hash = 0;
    size_t n = 0;
    in >> seed >> n >> std::hex >> hash;
    EXPECT_EQ(xxhash64(sample_bytes(n), seed), hash) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 42);
}

TEST(XxHash64, pieces_of_any_size_give_the_value_of_the_whole) {
  const std::string bytes = sample_bytes(200);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    XxHash64 hash(7);
    for (size_t at = 0; at < bytes.size(); at += piece) hash.update(bytes.substr(at, piece));
    hash.update("");
    ASSERT_EQ(hash.digest(), xxhash64(bytes, 7)) << piece;
  }
}

TEST(Sha256, agrees_with_the_standards_examples) {
  // FIPS 180-4 examples.
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  hash.update("a");
  hash.update("bc");
  EXPECT_EQ(hash.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  hash.update("");
  EXPECT_EQ(hash.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, a_file_has_the_hash_of_its_content) {
  const TestDir dir;
  const std::string bytes = sample_bytes(3'000'000);
  std::ofstream(dir / "a", std::ios::binary) << bytes;
  EXPECT_EQ(sha256_of_file(dir / "a").value(), sha256_hex(std::as_bytes(std::span(bytes))));
  EXPECT_EQ(sha256_of_file(dir / "b").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid
