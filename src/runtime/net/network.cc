// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/network.h"

#include "base/check.h"

namespace nereid::runtime {

std::shared_ptr<const Network> Network::create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision) {
  return create(std::move(graph), std::move(storage), isa, precision, {});
}

std::shared_ptr<const Network> Network::create(graph::Graph graph, std::shared_ptr<const void> storage, Isa isa,
                                               NetPrecision precision, const std::vector<Ready>& ready,
                                               NetChoices choices) {
  auto network = std::make_shared<Network>();
  network->precision_ = precision;
  network->graph_ = std::move(graph);
  network->storage_ = std::move(storage);
  network->kernels_ = &kernels::isa_kernels(isa);
  network->choices_ = std::move(choices);
  for (const Ready& r : ready) network->packed_[{r.data, r.layout}].bytes = r.bytes;
  return network;
}

std::shared_ptr<const Network> Network::with_choices(NetChoices choices) const {
  auto network = std::make_shared<Network>();
  network->graph_ = graph_;
  network->storage_ = storage_;
  network->kernels_ = kernels_;
  network->precision_ = precision_;
  network->choices_ = std::move(choices);
  const std::lock_guard lock(mutex_);
  network->spare_ = packed_;
  NEREID_CHECK(weights_ == nullptr);  // choices come before weights leave
  return network;
}

void Network::forget_spare() const {
  const std::lock_guard lock(mutex_);
  spare_.clear();
}

std::string_view Network::choice(std::string_view problem) const {
  const auto it = choices_.find(problem);
  return it != choices_.end() ? std::string_view(it->second) : std::string_view();
}

// Small forms share huge pages: a layer's weights are read once a run, a page of 4 KiB every hundred cycles.
Result<Network::Piece> Network::piece_of(size_t bytes) const {
  constexpr size_t kHuge = size_t{2} << 20, kChunk = 4 * kHuge;
  // Kernels may read a few vectors past the end of a panel.
  const size_t whole = (bytes + 256 + 63) / 64 * 64;
  if (whole >= kHuge) {
    NEREID_TRY(Buffer memory, Buffer::allocate(whole, PageSize::kHuge));
    return Piece{std::make_shared<Buffer>(std::move(memory)), 0};
  }
  if (chunk_.memory == nullptr || chunk_.memory->size() - chunk_.offset < whole) {
    NEREID_TRY(Buffer memory, Buffer::allocate(kChunk, PageSize::kHuge));
    chunk_ = {std::make_shared<Buffer>(std::move(memory)), 0};
  }
  const Piece piece = chunk_;
  chunk_.offset += whole;
  return piece;
}

Result<const std::byte*> Network::packed(const void* data, std::string_view layout, int64_t bytes,
                                         FunctionRef<void(std::byte*)> pack, const Unpack& unpack) const {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(data, std::string(layout));
  const auto it = packed_.find(key);
  if (it != packed_.end() && static_cast<int64_t>(it->second.bytes.size()) == bytes) return it->second.bytes.data();
  if (auto spare = spare_.find(key); spare != spare_.end()) {
    Form form = std::move(spare->second);
    spare_.erase(spare);
    if (static_cast<int64_t>(form.bytes.size()) == bytes)
      return packed_.insert_or_assign(key, std::move(form)).first->second.bytes.data();
  }
  NEREID_TRY(const Piece piece, piece_of(static_cast<size_t>(bytes)));
  if (weights_) weights_->want(data);
  std::byte* at = piece.memory->data() + piece.offset;
  pack(at);
  Form& form = packed_[key];
  form.bytes = {at, static_cast<size_t>(bytes)};
  form.memory = piece.memory;
  if (weights_ && unpack)
    weights_->release(data, [kept = form.memory, at, unpack](std::byte* raw) { unpack(at, raw); });
  return form.bytes.data();
}

void Network::free_packed_weights() const {
  const std::lock_guard lock(mutex_);
  if (weights_ == nullptr) weights_ = std::make_unique<WeightMemory>(graph_);
}

void Network::want(const void* data, bool keep) const {
  const std::lock_guard lock(mutex_);
  if (weights_ == nullptr) return;
  keep ? weights_->keep(data) : weights_->want(data);
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
