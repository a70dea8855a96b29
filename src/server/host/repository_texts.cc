// SPDX-License-Identifier: Apache-2.0
#include "server/host/repository_texts.h"

#include <algorithm>

#include "server/host/metered_model.h"

namespace nereid::server {
namespace {

class RepositoryTexts final : public TextModels {
 public:
  explicit RepositoryTexts(std::shared_ptr<const InferModels> models) : models_(std::move(models)) {}

  std::shared_ptr<TextModel> find(std::string_view name) const override {
    if (const auto model = models_->find(name, -1); model.is_ok())
      if (std::shared_ptr<TextModel> text = (*model)->text()) return text;
    return FixedTextModels(list()).find(name);  // an adapter's name
  }

  std::vector<std::shared_ptr<TextModel>> list() const override {
    std::vector<std::shared_ptr<TextModel>> out;
    for (const std::shared_ptr<InferModel>& model : models_->all_ready()) {
      std::shared_ptr<TextModel> text = model->text();
      if (text == nullptr) continue;
      const auto same = [&](const auto& one) { return one->card().name == text->card().name; };
      // Versions come in order: the last is the latest.
      std::erase_if(out, same);
      out.push_back(std::move(text));
    }
    return out;
  }

 private:
  const std::shared_ptr<const InferModels> models_;
};

class MeteredTexts final : public TextModels {
 public:
  MeteredTexts(std::shared_ptr<const TextModels> models, metrics::Registry& registry)
      : models_(std::move(models)), registry_(registry) {}

  // A wrapper for each request: models come and go, and one that is kept here would not go.
  std::shared_ptr<TextModel> find(std::string_view name) const override {
    std::shared_ptr<TextModel> found = models_->find(name);
    return found == nullptr ? nullptr : metered(std::move(found), registry_);
  }
  std::vector<std::shared_ptr<TextModel>> list() const override { return models_->list(); }

 private:
  const std::shared_ptr<const TextModels> models_;
  metrics::Registry& registry_;
};

class JoinedTexts final : public TextModels {
 public:
  JoinedTexts(std::shared_ptr<const TextModels> first, std::shared_ptr<const TextModels> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  std::shared_ptr<TextModel> find(std::string_view name) const override {
    std::shared_ptr<TextModel> found = first_->find(name);
    return found != nullptr ? found : second_->find(name);
  }
  std::vector<std::shared_ptr<TextModel>> list() const override {
    std::vector<std::shared_ptr<TextModel>> out = first_->list();
    for (std::shared_ptr<TextModel>& one : second_->list()) {
      const auto same = [&](const auto& other) { return other->card().name == one->card().name; };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(std::move(one));
    }
    return out;
  }

 private:
  const std::shared_ptr<const TextModels> first_, second_;
};

}  // namespace

std::shared_ptr<TextModels> repository_texts(std::shared_ptr<const InferModels> models) {
  return std::make_shared<RepositoryTexts>(std::move(models));
}

std::shared_ptr<TextModels> metered_texts(std::shared_ptr<const TextModels> models, metrics::Registry& registry) {
  return std::make_shared<MeteredTexts>(std::move(models), registry);
}

std::shared_ptr<TextModels> joined_texts(std::shared_ptr<const TextModels> first,
                                         std::shared_ptr<const TextModels> second) {
  return std::make_shared<JoinedTexts>(std::move(first), std::move(second));
}

}  // namespace nereid::server
