// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device_drawer.h"

#include <algorithm>
#include <cstring>

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using device::Direction;

constexpr int64_t kAlign = 64;
constexpr int64_t kResultBytes = 8;                 // of a draw: token and log-probability
constexpr int64_t kTopsBytes = 8 * gpu::kDrawTops;  // of a draw: the likeliest and theirs

int64_t aligned(int64_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

Status DeviceDrawer::reserve(int64_t up_bytes, int64_t draws) {
  const auto grow = [&](device::Memory& host, device::Memory& on_device, int64_t bytes) -> Status {
    if (bytes <= host.bytes() && bytes <= on_device.bytes()) return Status::ok();
    const int64_t room = std::max(bytes, 2 * host.bytes());
    host = {};
    on_device = {};
    NEREID_TRY(host, device_.allocate_host(room));
    NEREID_TRY(on_device, device_.allocate(room));
    return Status::ok();
  };
  NEREID_RETURN_IF_ERROR(grow(host_up_, up_, up_bytes));
  return grow(host_down_, down_, draws * (kResultBytes + kTopsBytes));
}

Status DeviceDrawer::draw(const DrawRequest& request, float* logits, int64_t stride, int64_t vocab) {
  draws_ = std::ssize(request.rules);
  has_tops_ = request.wants_tops;
  const int64_t edits_at = aligned(static_cast<int64_t>(request.rules.size_bytes()));
  const int64_t masks_at = aligned(edits_at + static_cast<int64_t>(request.edits.size_bytes()));
  const int64_t up_bytes = masks_at + static_cast<int64_t>(request.masks.size_bytes());
  NEREID_RETURN_IF_ERROR(reserve(up_bytes, draws_));
  const auto put = [this](int64_t at, const auto& items) {
    if (!items.empty()) std::memcpy(host_up_.data() + at, items.data(), items.size_bytes());
  };
  put(0, request.rules);
  put(edits_at, request.edits);
  put(masks_at, request.masks);
  NEREID_RETURN_IF_ERROR(device_.copy(up_.data(), host_up_.data(), up_bytes, Direction::kToDevice, stream_));
  auto* tokens = down_.as<int32_t>();
  gpu::DrawRowsParams p{.logits = logits,
                        .stride = stride,
                        .vocab = vocab,
                        .draws = draws_,
                        .rules = up_.as<gpu::DrawRule>(),
                        .edits = reinterpret_cast<gpu::DrawEdit*>(up_.data() + edits_at),
                        .masks = reinterpret_cast<const uint32_t*>(up_.data() + masks_at),
                        .tokens = tokens,
                        .logprobs = reinterpret_cast<float*>(tokens + draws_),
                        .top_tokens = tokens + 2 * draws_,
                        .top_logprobs = reinterpret_cast<float*>(tokens + (2 + gpu::kDrawTops) * draws_)};
  struct Call {
    const gpu::DrawRowsParams* params;
    const gpu::KernelTable* kernels;
  } const call{&p, &kernels_};
  const device::LaunchFn launch = [](const void* raw, void* stream) {
    const Call& c = *static_cast<const Call*>(raw);
    c.kernels->draw_rows(*c.params, {.stream = stream});
    return c.kernels->last_error();
  };
  NEREID_RETURN_IF_ERROR(device_.launch(launch, &call, sizeof(call), stream_));
  const int64_t down_bytes = draws_ * (kResultBytes + (has_tops_ ? kTopsBytes : 0));
  return device_.copy(host_down_.data(), down_.data(), down_bytes, Direction::kToHost, stream_);
}

DrawnRows DeviceDrawer::drawn() const {
  const auto n = static_cast<size_t>(draws_), tops = has_tops_ ? n * gpu::kDrawTops : 0;
  const auto* tokens = host_down_.as<int32_t>();
  const auto* logprobs = reinterpret_cast<const float*>(tokens + n);
  return {.tokens = {tokens, n},
          .logprobs = {logprobs, n},
          .top_tokens = {tokens + 2 * n, tops},
          .top_logprobs = {logprobs + n + n * gpu::kDrawTops, tops}};
}

}  // namespace nereid::runtime
