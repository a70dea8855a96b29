// SPDX-License-Identifier: Apache-2.0
#include "llm/run/adapter_set.h"

#include <algorithm>

namespace nereid::llm {
namespace {

constexpr size_t kMaxName = 256;

}  // namespace

Status AdapterSet::check_name(const std::string& name) const {
  if (name.empty() || name.size() > kMaxName)
    return invalid_argument("the adapter's name has {} bytes; expected 1 to {}", name.size(), kMaxName);
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return invalid_argument("the adapter's name holds control characters");
  if (adapters_.contains(name))
    return invalid_argument("there is an adapter '{}' already; unload it first or choose another name", name);
  if (static_cast<int64_t>(adapters_.size()) >= most_)
    return exhausted("{} adapters are loaded, as many as may be; unload one first", adapters_.size());
  return Status::ok();
}

Result<AdapterPtr> AdapterSet::load(const LanguageModel& model, const std::string& name,
                                    std::vector<AdapterSource> sources) {
  {
    const std::lock_guard lock(mutex_);
    NEREID_RETURN_IF_ERROR(check_name(name));
  }
  NEREID_TRY(compile::OpenedAdapter opened, model.open_adapter(sources));
  auto loaded = std::make_shared<LoadedAdapter>(LoadedAdapter{.name = name,
                                                              .sources = std::move(sources),
                                                              .base_model = std::move(opened.base_model),
                                                              .rank = opened.rank,
                                                              .key = {},
                                                              .adapter = std::move(opened.adapter)});
  const std::lock_guard lock(mutex_);
  NEREID_RETURN_IF_ERROR(check_name(name));  // somebody may have been faster
  loaded->key = fmt::format("{}:{}", ++loaded_, name);
  adapters_[name] = loaded;
  return AdapterPtr(std::move(loaded));
}

Result<AdapterPtr> AdapterSet::unload(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto it = adapters_.find(name);
  if (it == adapters_.end()) return not_found("there is no adapter '{}' to be unloaded", name);
  AdapterPtr adapter = std::move(it->second);
  adapters_.erase(it);
  return adapter;
}

Result<AdapterPtr> AdapterSet::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (const auto it = adapters_.find(name); it != adapters_.end()) return it->second;
  if (adapters_.empty()) return not_found("there is no adapter '{}'; none has been loaded", name);
  std::string names;
  for (const auto& [known, adapter] : adapters_) names += (names.empty() ? "" : ", ") + known;
  return not_found("there is no adapter '{}'; those loaded are {}", name, names);
}

std::vector<AdapterPtr> AdapterSet::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<AdapterPtr> all;
  for (const auto& [name, adapter] : adapters_) all.push_back(adapter);
  return all;
}

}  // namespace nereid::llm
