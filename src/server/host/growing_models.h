// SPDX-License-Identifier: Apache-2.0
// The models of a server: they come one after the other while it loads.
#pragma once

#include <mutex>

#include "server/core/text_models.h"

namespace nereid::server {

class GrowingModels final : public TextModels {
 public:
  // False: there is a model of that name.
  bool add(std::shared_ptr<TextModel> model) {
    if (find(model->card().name) != nullptr) return false;
    const std::lock_guard lock(mutex_);
    models_.push_back(std::move(model));
    return true;
  }
  std::shared_ptr<TextModel> find(std::string_view name) const override { return FixedTextModels(list()).find(name); }
  std::vector<std::shared_ptr<TextModel>> list() const override {
    const std::lock_guard lock(mutex_);
    return models_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<TextModel>> models_;
};

}  // namespace nereid::server
