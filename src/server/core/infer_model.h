// SPDX-License-Identifier: Apache-2.0
// A version of a model with tensors in and out, as protocols see it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/infer_request.h"
#include "server/core/infer_statistics.h"
#include "server/core/model_config.h"

namespace nereid::server {

class TextModel;

// Thread-safe. Whoever holds the shared_ptr may use it: a model that is unloaded answers what it has taken.
class InferModel {
 public:
  virtual ~InferModel() = default;
  virtual const ModelConfig& config() const = 0;
  virtual int64_t version() const = 0;
  // The whole configuration as it is in force.
  virtual const std::string& config_json() const = 0;
  // Names for the classes of an output, by index; none where it has no label file.
  virtual const std::vector<std::string>& labels(std::string_view output) const = 0;

  // Asynchronous: takes the request, and the sink gets its responses, maybe before this returns. An error means that it
  // was not taken and that nothing is called back. kInvalidArgument: what check_request (infer_check.h) says;
  // kUnavailable: the model is stopping, or its queue is full.
  virtual Status infer(InferRequest request, InferSink sink) = 0;

  // Differs where a model of the same name and version would answer otherwise: its files or its configuration changed.
  virtual uint64_t content_mark() const { return 0; }

  // The same model for protocols of texts (text_model.h); nullptr: it is no language model.
  virtual std::shared_ptr<TextModel> text() const { return nullptr; }

  virtual InferStatistics statistics() const = 0;
  virtual bool is_ready() const = 0;
  // Takes no more requests and returns when those it has taken have ended.
  virtual void drain() = 0;
};

}  // namespace nereid::server
