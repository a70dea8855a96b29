// SPDX-License-Identifier: Apache-2.0
// Models that lie on another machine, in a bucket of a store that speaks S3's protocol.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::server {

// Thread-safe. Every method asks over the network: kUnavailable: the store does not answer, or refuses.
class ModelStore {
 public:
  virtual ~ModelStore() = default;
  // As it was named.
  virtual const std::string& address() const = 0;
  // Names of models, sorted.
  virtual Result<std::vector<std::string>> models() = 0;
  // Changes when a file of the model comes, goes or changes; 0: there is no such model.
  virtual Result<uint64_t> mark(const std::string& model) = 0;
  // A private copy of the model's folder, which goes with `holder`. kExhausted: the disk is full.
  struct Copy {
    std::string folder;
    std::shared_ptr<void> holder;
  };
  virtual Result<Copy> copy(const std::string& model) = 0;
};

// "s3://..."; also what begins like an address of a store that there is not ("gs://", "as://").
bool is_remote_store(std::string_view address);

// The value of an environment variable, "" where there is none.
using Environment = std::function<std::string(const char* name)>;

// kInvalidArgument: no such address, or a file of credentials that is none; kUnsupported: another kind of store.
// Nothing is asked yet.
Result<std::unique_ptr<ModelStore>> open_model_store(const std::string& address, const Environment& environment);
// Of this process.
std::string process_environment(const char* name);

}  // namespace nereid::server
