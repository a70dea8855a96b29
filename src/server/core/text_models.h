// SPDX-License-Identifier: Apache-2.0
// The language models a server offers at the moment, by the names that requests use.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/text_model.h"

namespace nereid::server {

// Thread-safe. A model that is handed out stays whole until its last holder lets go of it.
class TextModels {
 public:
  virtual ~TextModels() = default;
  // nullptr: there is no such model. The name of an adapter, or "MODEL:ADAPTER", finds the model that carries it.
  virtual std::shared_ptr<TextModel> find(std::string_view name) const = 0;
  // In the order in which they are shown; the first is what a request without a model's name gets.
  virtual std::vector<std::shared_ptr<TextModel>> list() const = 0;
};

// Which of the model's adapters a request means by NAME or MODEL:NAME; "": none of them.
inline std::string adapter_named(const TextModel& model, std::string_view name) {
  const std::string& own = model.card().name;
  const bool has_prefix = name.size() > own.size() + 1 && name.starts_with(own) && name[own.size()] == ':';
  const std::string_view rest = has_prefix ? name.substr(own.size() + 1) : std::string_view();
  std::string found;
  for (const std::string& adapter : model.adapters())
    if (adapter == name || (has_prefix && adapter == rest && found.empty())) found = adapter;
  return found;
}

// A list that never changes.
class FixedTextModels final : public TextModels {
 public:
  explicit FixedTextModels(std::vector<std::shared_ptr<TextModel>> models) : models_(std::move(models)) {}

  std::shared_ptr<TextModel> find(std::string_view name) const override {
    for (const std::shared_ptr<TextModel>& model : models_)
      if (model->card().name == name) return model;
    for (const std::shared_ptr<TextModel>& model : models_)
      if (!adapter_named(*model, name).empty()) return model;
    return nullptr;
  }
  std::vector<std::shared_ptr<TextModel>> list() const override { return models_; }

 private:
  std::vector<std::shared_ptr<TextModel>> models_;
};

}  // namespace nereid::server
