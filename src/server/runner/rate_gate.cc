// SPDX-License-Identifier: Apache-2.0
#include "server/runner/rate_gate.h"

#include <charconv>

namespace nereid::server {
namespace {

template <typename T>
bool read_number(std::string_view text, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

GatePass& GatePass::operator=(GatePass&& other) noexcept {
  std::swap(gate_, other.gate_);
  std::swap(number_, other.number_);
  return *this;
}

GatePass::~GatePass() {
  if (gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  gate_->limiter_.remove(number_);
  gate_->grant();
}

void GatePass::enter() {
  if (gate_ == nullptr) return;
  std::unique_lock lock(gate_->mutex_);
  gate_->limiter_.ask(number_);
  gate_->grant();
  gate_->changed_.wait(lock, [this] { return gate_->granted_.erase(number_) > 0; });
}

void GatePass::leave() {
  if (gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  gate_->limiter_.done(number_);
  gate_->grant();
}

Result<GatePass> RateGate::add(LimitedInstance instance) {
  const std::lock_guard lock(mutex_);
  NEREID_TRY(const uint64_t number, limiter_.add(std::move(instance)));
  return GatePass(shared_from_this(), number);
}

uint64_t RateGate::first_of(const std::vector<uint64_t>& numbers) const {
  const std::lock_guard lock(mutex_);
  return limiter_.first_of(numbers);
}

void RateGate::grant() {
  const std::vector<uint64_t> granted = limiter_.grant();
  if (granted.empty()) return;
  granted_.insert(granted.begin(), granted.end());
  changed_.notify_all();
}

Result<ResourceLimit> parse_resource_limit(std::string_view text) {
  ResourceLimit out;
  const size_t first = text.find(':');
  const size_t second = first == text.npos ? first : text.find(':', first + 1);
  out.name = text.substr(0, first);
  const std::string_view count = first == text.npos ? std::string_view() : text.substr(first + 1, second - first - 1);
  const bool has_device = second != text.npos;
  if (out.name.empty() || !read_number(count, &out.count) ||
      (has_device && (!read_number(text.substr(second + 1), &out.device) || out.device < 0)))
    return invalid_argument(
        "--rate-limit-resource is '{}'; it is a name, a number and maybe a device, as in R1:10 or "
        "R1:10:0",
        text);
  return out;
}

}  // namespace nereid::server
