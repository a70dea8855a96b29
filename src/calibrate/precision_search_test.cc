// SPDX-License-Identifier: Apache-2.0
#include "calibrate/precision_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nereid::calibrate {
namespace {

using enum LayerPrecision;
using testing::ElementsAre;

using Layers = std::vector<SearchedLayer>;

// Errors of a mix: those of its layers together, as the square root of their squares (independent roundings).
double together(const Layers& layers, const PrecisionMix& mix) {
  double sum = 0;
  for (size_t i = 0; i < layers.size(); ++i)
    for (const LowerPrecision& l : layers[i].lower)
      if (l.precision == mix[i]) sum += l.error * l.error;
  return std::sqrt(sum);
}

FoundMix search(const Layers& layers, double bound, int64_t most = 40) {
  const auto found =
      search_precisions({.layers = layers, .bound = bound, .most_measurements = most},
                        [&](const PrecisionMix& mix) -> Result<double> { return together(layers, mix); });
  EXPECT_TRUE(found.is_ok()) << found.status().message();
  return found.value();
}

SearchedLayer layer(double f32, double bf16, double bf16_error, double int8, double int8_error) {
  return {"", f32, {{kBF16, bf16, bf16_error}, {kInt8, int8, int8_error}}};
}

TEST(PrecisionSearch, everything_is_lowered_when_the_bound_allows_it) {
  const Layers layers = {layer(10, 6, 1e-3, 3, 1e-2), layer(5, 3, 1e-3, 2, 1e-2)};
  const FoundMix found = search(layers, 1);
  EXPECT_THAT(found.mix, ElementsAre(kInt8, kInt8));
  EXPECT_EQ(found.time, 5);
  EXPECT_EQ(found.measurements, 1);
}

TEST(PrecisionSearch, nothing_is_lowered_when_nothing_is_faster) {
  const Layers layers = {layer(10, 14, 1e-5, 9.9, 1e-5), layer(5, 5, 0, 8, 0)};
  const FoundMix found = search(layers, 1);
  EXPECT_THAT(found.mix, ElementsAre(kF32, kF32));
  EXPECT_EQ(found.error, 0);
  EXPECT_EQ(found.measurements, 0);
}

TEST(PrecisionSearch, nothing_is_lowered_when_every_layer_alone_is_past_the_bound) {
  EXPECT_THAT(search({layer(10, 6, 0.2, 3, 0.3)}, 0.1).mix, ElementsAre(kF32));
  EXPECT_THAT(search({layer(10, 6, NAN, 3, HUGE_VAL)}, 0.1).mix, ElementsAre(kF32));
}

TEST(PrecisionSearch, a_sensitive_layer_stays_and_the_others_go) {
  const Layers layers = {layer(10, 6, 1e-3, 3, 4e-3), layer(10, 6, 5e-3, 3, 9e-2), layer(10, 6, 1e-3, 3, 4e-3)};
  const FoundMix found = search(layers, 1e-2);
  EXPECT_THAT(found.mix, ElementsAre(kInt8, kBF16, kInt8));
  EXPECT_LE(found.error, 1e-2);
}

TEST(PrecisionSearch, a_precision_that_is_slower_and_worse_than_another_is_never_taken) {
  const Layers layers = {layer(10, 3, 1e-4, 5, 1e-2)};
  EXPECT_THAT(search(layers, 1).mix, ElementsAre(kBF16));
}

TEST(PrecisionSearch, steps_behind_one_that_went_too_far_are_tried) {
  // The second saves most for its error, but does not fit beside the first; the third does.
  const Layers layers = {{"", 100, {{kInt8, 10, 6e-3}}}, {"", 100, {{kInt8, 10, 9e-3}}}, {"", 20, {{kInt8, 10, 2e-3}}}};
  EXPECT_THAT(search(layers, 1e-2).mix, ElementsAre(kInt8, kF32, kInt8));
}

TEST(PrecisionSearch, the_bound_is_kept_and_the_same_numbers_give_the_same_mix) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0.2, 1.2), decades(-5, -1);
  for (int round = 0; round < 50; ++round) {
    Layers layers;
    for (int i = 0; i < 30; ++i) {
      const double f32 = 1 + 10 * share(random);
      layers.push_back(layer(f32, f32 * share(random), std::pow(10, decades(random)), f32 * share(random),
                             std::pow(10, decades(random))));
    }
    const FoundMix found = search(layers, 1e-2);
    EXPECT_LE(together(layers, found.mix), 1e-2);
    EXPECT_EQ(found.error, together(layers, found.mix));
    EXPECT_LE(found.time, mix_time(layers, PrecisionMix(layers.size(), kF32)));
    EXPECT_LE(found.measurements, 40);
    EXPECT_EQ(search(layers, 1e-2).mix, found.mix);
  }
}

TEST(PrecisionSearch, few_measurements_still_keep_the_bound) {
  Layers layers(20, layer(10, 6, 4e-3, 3, 9e-3));
  for (const int64_t most : {0, 1, 2, 3}) {
    const FoundMix found = search(layers, 1e-2, most);
    EXPECT_LE(found.measurements, most);
    EXPECT_LE(together(layers, found.mix), 1e-2);
  }
}

TEST(PrecisionSearch, an_error_of_measuring_ends_it) {
  const Layers layers = {layer(10, 6, 1e-3, 3, 1e-3)};
  const auto found = search_precisions({.layers = layers, .bound = 1},
                                       [](const PrecisionMix&) -> Result<double> { return cancelled("stopped"); });
  EXPECT_EQ(found.status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace nereid::calibrate
