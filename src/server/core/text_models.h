// SPDX-License-Identifier: Apache-2.0
// The language models a server offers at the moment, by the names that requests use.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "server/core/text_model.h"

namespace nereid::server {

// Thread-safe. A model that is handed out stays whole until its last holder lets go of it.
class TextModels {
 public:
  virtual ~TextModels() = default;
  // nullptr: there is no such model. The name of an adapter finds the model that carries it.
  virtual std::shared_ptr<TextModel> find(std::string_view name) const = 0;
  // In the order in which they are shown; the first is what a request without a model's name gets.
  virtual std::vector<std::shared_ptr<TextModel>> list() const = 0;
};

// A list that never changes.
class FixedTextModels final : public TextModels {
 public:
  explicit FixedTextModels(std::vector<std::shared_ptr<TextModel>> models) : models_(std::move(models)) {}

  std::shared_ptr<TextModel> find(std::string_view name) const override {
    for (const std::shared_ptr<TextModel>& model : models_) {
      if (model->card().name == name) return model;
      for (const std::string& adapter : model->card().adapters)
        if (adapter == name) return model;
    }
    return nullptr;
  }
  std::vector<std::shared_ptr<TextModel>> list() const override { return models_; }

 private:
  std::vector<std::shared_ptr<TextModel>> models_;
};

}  // namespace nereid::server
