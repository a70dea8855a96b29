// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/network.h"

namespace nereid::runtime {

std::shared_ptr<const Network> Network::create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision) {
  return create(std::move(graph), std::move(storage), isa, precision, {});
}

std::shared_ptr<const Network> Network::create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision, const std::vector<Ready>& ready) {
  auto network = std::make_shared<Network>();
  network->precision_ = precision;
  network->graph_ = std::move(graph);
  network->storage_ = std::move(storage);
  network->kernels_ = &kernels::isa_kernels(isa);
  for (const Ready& r : ready) network->packed_[{r.data, r.layout}].bytes = r.bytes;
  return network;
}

Result<const std::byte*> Network::packed(const void* data, std::string_view layout, int64_t bytes,
                                         FunctionRef<void(std::byte*)> pack) const {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(data, std::string(layout));
  const auto it = packed_.find(key);
  if (it != packed_.end() && static_cast<int64_t>(it->second.bytes.size()) == bytes) return it->second.bytes.data();
  // Kernels may read a few vectors past the end of a panel.
  NEREID_TRY(Buffer memory, Buffer::allocate(static_cast<size_t>(bytes) + 256,
                                             bytes >= (2 << 20) ? PageSize::kHuge : PageSize::kDefault));
  pack(memory.data());
  Form& form = packed_[key];
  form.memory = std::move(memory);
  form.bytes = {form.memory.data(), static_cast<size_t>(bytes)};
  return form.bytes.data();
}

int64_t Network::packed_bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t sum = 0;
  for (const auto& [key, form] : packed_) sum += static_cast<int64_t>(form.bytes.size());
  return sum;
}

std::vector<Network::Ready> Network::packed_forms() const {
  const std::lock_guard lock(mutex_);
  std::vector<Ready> forms;
  for (const auto& [key, form] : packed_) forms.push_back({key.first, key.second, form.bytes});
  return forms;
}

}  // namespace nereid::runtime
