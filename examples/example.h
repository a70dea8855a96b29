// SPDX-License-Identifier: Apache-2.0
// What the C++ examples share: a first input filled with numbers that any program can make.
#pragma once

#include <nereid/nereid.hpp>

struct Image {
  // Of the first input, 1 where a size is open; `shift` makes different images.
  explicit Image(const nereid::Engine& engine, int shift = 0) {
    std::size_t count = 1;
    const nereid::ValueInfo input = engine.inputs().at(0);
    for (const std::int64_t s : input.sizes) {
      sizes.push_back(s < 0 ? 1 : s);
      count *= static_cast<std::size_t>(sizes.back());
    }
    for (std::size_t i = 0; i < count; ++i)
      pixels.push_back(static_cast<float>(((i + static_cast<std::size_t>(shift)) * 37) % 101) / 101.0F);
  }
  nereid::View view() const { return {pixels, sizes}; }

  std::vector<float> pixels;
  std::vector<std::int64_t> sizes;
};
