// SPDX-License-Identifier: Apache-2.0
#include "server/host/shared_backends.h"

#include "base/json.h"
#include "base/log.h"
#include "server/repository/layout.h"

namespace nereid::server {
namespace {

class Share final : public BackendModel {
 public:
  explicit Share(std::shared_ptr<BackendModel> model) : model_(std::move(model)) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string& name) override {
    return model_->make_instance(name);
  }
  bool is_instant() const override { return model_->is_instant(); }
  void expect_instances(const ModelConfig& config) override { model_->expect_instances(config); }

 private:
  const std::shared_ptr<BackendModel> model_;
};

}  // namespace

Result<std::unique_ptr<BackendModel>> SharedBackends::open(const std::string& key, const ModelConfig& config,
                                                           const Open& open) {
  std::shared_ptr<BackendModel> model;
  if (!key.empty()) {
    const std::lock_guard lock(mutex_);
    std::erase_if(models_, [](const auto& one) { return one.second.expired(); });
    if (const auto it = models_.find(key); it != models_.end()) model = it->second.lock();
  }
  if (model != nullptr) {
    log_info("model '{}': only its instances change", config.name);
    model->expect_instances(config);
  } else {
    NEREID_TRY(std::unique_ptr<BackendModel> opened, open());
    model = std::move(opened);
    const std::lock_guard lock(mutex_);
    if (!key.empty()) models_[key] = model;
  }
  return std::unique_ptr<BackendModel>(std::make_unique<Share>(std::move(model)));
}

std::string backend_key(const std::string& config_json, const ModelPlace& place) {
  Result<Json> config = parse_json(config_json);
  if (!config.is_ok() || !config->is_object()) return {};
  config->erase("instance_group");
  return fmt::format("{}\n{}\n{}", place.version_folder, folder_mark(place.version_folder), config->dump());
}

}  // namespace nereid::server
