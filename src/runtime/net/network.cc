// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/network.h"

namespace nereid::runtime {

std::shared_ptr<const Network> Network::create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa) {
  auto network = std::make_shared<Network>();
  network->graph_ = std::move(graph);
  network->storage_ = std::move(storage);
  network->kernels_ = &kernels::isa_kernels(isa);
  return network;
}

Result<const std::byte*> Network::packed(const void* data, std::string_view layout, int64_t bytes,
                                         FunctionRef<void(std::byte*)> pack) const {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(data, std::string(layout));
  if (const auto it = packed_.find(key); it != packed_.end()) return static_cast<const std::byte*>(it->second.data());
  // Kernels may read a few vectors past the end of a panel.
  NEREID_TRY(Buffer memory, Buffer::allocate(static_cast<size_t>(bytes) + 256,
                                             bytes >= (2 << 20) ? PageSize::kHuge : PageSize::kDefault));
  pack(memory.data());
  return static_cast<const std::byte*>(packed_.emplace(key, std::move(memory)).first->second.data());
}

int64_t Network::packed_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t sum = 0;
  for (const auto& [key, memory] : packed_) sum += static_cast<int64_t>(memory.size());
  return sum;
}

}  // namespace nereid::runtime
