// SPDX-License-Identifier: Apache-2.0
// From a model's configuration and folder to a language model that serves it: where its weights lie, how it is opened,
// and whose manners it has.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/core/backend.h"
#include "server/core/infer_model.h"

namespace nereid::server {

struct LlmPlan;  // llm_plan.h

// A configuration whose backend is one of these, or that names none and whose files are a language model's.
bool is_language_model(const ModelConfig& config, const ModelPlace& place);

// Thread-safe. Models that it has opened may be let go of on any thread, those of their own executors among them.
class LlmOpener {
 public:
  // From a name that is no path ("smollm2-135m") to the path where it lies; an error says what to do.
  using Resolve = std::function<Result<std::string>(const std::string& name)>;

  explicit LlmOpener(Resolve resolve);
  // Waits until what it has opened is gone.
  ~LlmOpener();

  // The inputs and outputs where the configuration names none; reads no weights.
  Result<ConfigCompletion> complete(const ModelConfig& config, const ModelPlace& place);
  // What open() would refuse of the files, by their headers alone.
  Status check(const ModelConfig& config, const ModelPlace& place) const;
  // Weights that another model has open with the same options are shared: a load that changes nothing of them (another
  // number of instances, a batch size) reads nothing. kNotFound: no model lies where the configuration says;
  // kInvalidArgument: a parameter is wrong; others as LlmModel::open.
  Result<std::shared_ptr<InferModel>> open(const ModelConfig& config, const std::string& json, const ModelPlace& place);
  // Of the models that are open (llm_metrics.h).
  std::string metrics_text() const;

 private:
  // Where it lies, whatever name it was given by.
  Result<LlmPlan> find(const ModelConfig& config, const ModelPlace& place) const;

  class Opened;
  const Resolve resolve_;
  const std::unique_ptr<Opened> opened_;
};

}  // namespace nereid::server
