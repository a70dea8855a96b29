// SPDX-License-Identifier: Apache-2.0
#include "llm/arch/distance_bias.h"

#include <algorithm>
#include <cmath>

#include "llm/arch/architecture.h"
#include "llm/arch/read_vector.h"

namespace nereid::llm {

int64_t distance_bucket(int64_t distance) {
  constexpr int64_t kSide = kDistanceBuckets / 2, kExact = kSide / 2;
  constexpr float kFar = 128;
  const int64_t side = distance > 0 ? kSide : 0;
  const int64_t n = std::abs(distance);
  if (n < kExact) return side + n;
  // In f32 and cut off, as models were trained.
  const float share =
      std::log(static_cast<float>(n) / static_cast<float>(kExact)) / std::log(kFar / static_cast<float>(kExact));
  return side + std::min(kExact + static_cast<int64_t>(share * static_cast<float>(kSide - kExact)), kSide - 1);
}

Status add_distance_bias(const ModelConfig& config, graph::Graph& graph, Weights& weights) {
  const graph::ValueId buckets = weights.get(Role::kDistanceBuckets);
  if (!buckets.valid()) return Status::ok();
  constexpr int64_t kLongest = 1 << 16;  // of a table of distances worth having
  if (config.context_length > kLongest) {
    return unsupported("Scores by distance are for texts of at most {} tokens; this model announces {}.", kLongest,
                       config.context_length);
  }
  const ConstTensorView matrix = graph.value(buckets).data.parts[0];
  NEREID_TRY(const std::vector<float> values,
             read_vector(ConstTensorView(matrix.data, matrix.dtype, {matrix.elements()}), 0, matrix.elements())
                 .with("the table of distances"));
  const int64_t distances = 2 * config.context_length - 1;
  std::vector<float> bias(static_cast<size_t>(config.heads * distances));
  for (int64_t head = 0; head < config.heads; ++head) {
    for (int64_t i = 0; i < distances; ++i) {
      const int64_t bucket = distance_bucket(i - config.context_length + 1);
      bias[static_cast<size_t>(head * distances + i)] = values[static_cast<size_t>(bucket * config.heads + head)];
    }
  }
  weights.set(Role::kDistanceBias, 0,
              graph.add_constant_f32("distance_bias", std::move(bias), {config.heads, distances}));
  return Status::ok();
}

}  // namespace nereid::llm
