// SPDX-License-Identifier: Apache-2.0
// Feeds any bytes to the readers of .npy and .npz; what they accept must come back the same when written and read
// again. Corpus: tests/corpus/npy_fuzz.
#include <algorithm>
#include <cstdlib>

#include "import/npy/npy.h"

namespace {

void expect_round_trip(const nereid::ops::Tensor& tensor) {
  const std::string header = nereid::import::npy::npy_header(tensor.dtype, tensor.sizes);
  std::vector<std::byte> file(tensor.bytes.size() + header.size());
  std::copy_n(reinterpret_cast<const std::byte*>(header.data()), header.size(), file.begin());
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), file.begin() + static_cast<ptrdiff_t>(header.size()));
  const auto again = nereid::import::npy::parse_npy(file);
  if (!again || again->dtype != tensor.dtype || again->sizes != tensor.sizes || again->bytes != tensor.bytes)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto one = nereid::import::npy::parse_npy(bytes); one.is_ok()) expect_round_trip(*one);
  if (const auto many = nereid::import::npy::parse_npz(bytes); many.is_ok())
    for (const auto& [name, tensor] : *many) expect_round_trip(tensor);
  return 0;
}
