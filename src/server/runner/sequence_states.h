// SPDX-License-Identifier: Apache-2.0
// The states that sequences carry from one request to the next (sequence_batching.state): what a model gave out is what
// it is given the next time.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/infer_request.h"
#include "server/core/model_config.h"

namespace nereid::server {

// Any thread.
class SequenceStates {
 public:
  // Reads what states begin with. kInvalidArgument: a state without names, a type or sizes, or a file of another size;
  // kNotFound: no such file in the folder initial_state of the model's `folder`.
  static Result<SequenceStates> open(const ModelConfig& config, const std::string& folder);
  SequenceStates(SequenceStates&& other) noexcept;

  bool has_any() const { return !rules_.empty(); }
  // The inputs of a sequence's first request.
  std::vector<InferTensor> initial() const { return initial_; }
  // Those of its next; `is_start`: it begins anew.
  std::vector<InferTensor> inputs(const std::string& sequence, bool is_start);
  // Keeps the states among a response's outputs and takes those out that nobody asked for.
  void take(const std::string& sequence, const std::vector<std::string>& wanted, std::vector<InferTensor>* outputs);
  void drop(const std::string& sequence);
  // Names of the outputs to be asked for besides the request's own.
  std::vector<std::string> outputs() const;
  size_t living() const;

 private:
  struct Rule {
    std::string input, output;
    bool is_output = false;  // also one that clients may ask for
  };
  SequenceStates() = default;

  std::vector<Rule> rules_;
  std::vector<InferTensor> initial_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<InferTensor>> states_;
};

}  // namespace nereid::server
