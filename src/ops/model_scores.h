// SPDX-License-Identifier: Apache-2.0
// What tree ensembles, linear models and support vector machines do with their scores at the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

constexpr AttrSpec kPostTransformAttr = {"post_transform", AttrSpec::Kind::kString, "NONE",
                                         "what is done to the scores: NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"};

Result<PostTransform> read_post_transform(const Attrs& attrs);

// SOFTMAX_ZERO leaves scores of 0 out; PROBIT is the inverse of the normal distribution.
void transform_scores(PostTransform how, std::span<double> scores);
// One score of a two-class model as the scores of both classes: s as probability gives [1 - s, s], as a margin [-s, s].
std::vector<double> both_classes(PostTransform how, double score, bool is_probability);

// The position of the first largest element; 0 if there is none.
int64_t first_largest(std::span<const double> scores);

}  // namespace nereid::ops
