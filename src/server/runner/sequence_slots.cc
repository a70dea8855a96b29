// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_slots.h"

#include <algorithm>
#include <cmath>

#include "server/runner/control_inputs.h"

namespace nereid::server {
namespace {

int64_t ns_of_us(uint64_t us) {
  return static_cast<int64_t>(std::min<uint64_t>(us, uint64_t{1} << 50) * 1000);
}

InferTensor zeros_like(const InferTensor& tensor) {
  return tensor_of(tensor.name, tensor.type, tensor.shape, std::string(tensor.bytes.size(), '\0'));
}

// Texts of the same number, all empty.
InferTensor no_texts_like(const InferTensor& tensor) {
  const auto elements = static_cast<size_t>(std::max<int64_t>(0, element_count(tensor.shape)));
  return tensor_of(tensor.name, tensor.type, tensor.shape, std::string(4 * elements, '\0'));
}

std::shared_ptr<Ticket> make_filler(const Ticket& like, const ModelConfig& config, const SequenceStates& states) {
  InferRequest request;
  for (const InferTensor& input : like.request().inputs)
    request.inputs.push_back(input.type == InferType::kBytes ? no_texts_like(input) : zeros_like(input));
  auto filler = std::make_shared<Ticket>(std::move(request), nullptr, 1, [](const Ticket&, const Status&) {});
  std::vector<InferTensor> more = control_inputs(*config.sequence_batching, {}, config.max_batch_size > 0, false);
  for (InferTensor& state : states.initial()) more.push_back(std::move(state));
  filler->set_more_inputs(std::move(more));
  return filler;
}

}  // namespace

SequenceOptions sequence_options(const ModelConfig& config, size_t instances) {
  const SequenceBatching& rules = *config.sequence_batching;
  const int max_batch = std::max(1, config.max_batch_size);
  SequenceOptions out{.instances = static_cast<int>(instances),
                      .slots = max_batch,
                      .max_batch = max_batch,
                      .max_idle_ns = ns_of_us(rules.max_idle_us)};
  if (rules.is_oldest) {
    out.slots = std::max(1, static_cast<int>(std::min<uint32_t>(rules.max_candidates, 1 << 20)));
    out.max_delay_ns = ns_of_us(rules.max_delay_us);
    out.preferred_sizes = rules.preferred_sizes;
  } else if (rules.min_utilization > 0) {
    out.max_delay_ns = ns_of_us(rules.max_delay_us);
    out.enough = static_cast<int>(std::ceil(std::min(1.0f, rules.min_utilization) * static_cast<float>(max_batch)));
  }
  return out;
}

bool fills_slots(const SequenceBatching& rules) {
  return !rules.is_oldest && std::any_of(rules.controls.begin(), rules.controls.end(),
                                         [](const ControlInput& one) { return one.kind == ControlKind::kReady; });
}

std::vector<std::shared_ptr<Execution>> slots_of(const std::vector<std::shared_ptr<Ticket>>& batch,
                                                 const ModelConfig& config, const SequenceStates& states) {
  int last = 0;
  for (const auto& ticket : batch) last = std::max(last, ticket->slot);
  std::vector<std::shared_ptr<Execution>> out(static_cast<size_t>(last) + 1);
  for (const auto& ticket : batch) out[static_cast<size_t>(ticket->slot)] = ticket;
  for (auto& slot : out)
    if (slot == nullptr) slot = make_filler(*batch[0], config, states);
  return out;
}

}  // namespace nereid::server
