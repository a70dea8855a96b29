// SPDX-License-Identifier: Apache-2.0
// How far a network's outputs are from those of the same network in f32, over samples: what a certificate states.
//
// Of an output: max_error = largest |lower - f32| / range, mean_error = mean |lower - f32| / range, where range is the
// largest minus the smallest element of the f32 output over all samples. Of the network: the largest of its outputs'.
// Outputs of integers are counted where they differ, and are under no bound.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "compile/check_network.h"

namespace nereid::compile {

struct OutputError {
  std::string name;
  double max_abs = 0, mean_abs = 0;
  double range = 0;
  int64_t elements = 0, unequal = 0;  // unequal: of integers, bools and texts
  bool is_exact = false;
  bool is_broken = false;  // NaN, infinity or other sizes where f32 has numbers
  double max_error() const;
  double mean_error() const;
};

struct NetworkError {
  std::vector<OutputError> outputs;
  int64_t samples = 0;
  double max_error() const;  // infinite if an output is broken
  double mean_error() const;
};

// Samples with the outputs that the network has for them in f32.
class AccuracySamples {
 public:
  using Read = std::function<Result<NamedValues>(int64_t index)>;
  // Runs `exact` on every sample and keeps its outputs. kInvalidArgument: an output of reals is NaN or infinite
  // throughout, so that nothing can be known of its accuracy (random inputs make that of a mask of ones and zeros).
  static Result<AccuracySamples> create(const OpenedNetwork& exact, int64_t count, Read read, ThreadPool& pool);
  int64_t count() const { return static_cast<int64_t>(outputs_.size()); }
  Result<NamedValues> read(int64_t index) const { return read_(index); }
  // Over the first `most` samples.
  Result<NetworkError> measure(const OpenedNetwork& network, int64_t most, ThreadPool& pool) const;

 private:
  Read read_;
  std::vector<std::string> names_;
  std::vector<std::vector<ops::Datum>> outputs_;  // by sample
  std::vector<double> ranges_;                    // by output
};

}  // namespace nereid::compile
