// SPDX-License-Identifier: Apache-2.0
// The LoRA adapters that requests may name: loaded and unloaded while others are answered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/run/language_model.h"

namespace nereid::llm {

using compile::AdapterSource;

// Whoever holds one may step with it, also after it was unloaded.
struct LoadedAdapter {
  std::string name;
  std::vector<AdapterSource> sources;  // whose addends are summed
  std::string base_model;              // as the adapter names it; ""
  int64_t rank = 0;                    // the largest
  // Of its keys and values in the cache. Loaded anew under the same name it gets another one: what was computed with
  // what was loaded before is never found.
  std::string key;
  std::shared_ptr<const runtime::Adapter> adapter;
};
using AdapterPtr = std::shared_ptr<const LoadedAdapter>;

// Thread-safe.
class AdapterSet {
 public:
  explicit AdapterSet(int64_t most) : most_(most) {}

  // Reads the files on the caller's thread. kInvalidArgument: a name that is none or taken, files that are damaged or
  // for another model; kNotFound, kUnsupported: as compile::open_adapter; kExhausted: there are as many as may be.
  Result<AdapterPtr> load(const LanguageModel& model, const std::string& name, std::vector<AdapterSource> sources);
  // No request finds it any more; those that have it end with it. What it was; kNotFound: there is none of that name.
  Result<AdapterPtr> unload(std::string_view name);

  // kNotFound names those that there are.
  Result<AdapterPtr> find(std::string_view name) const;
  std::vector<AdapterPtr> list() const;  // by name

 private:
  Status check_name(const std::string& name) const;  // with the mutex held

  const int64_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, AdapterPtr, std::less<>> adapters_;
  uint64_t loaded_ = 0;
};

}  // namespace nereid::llm
