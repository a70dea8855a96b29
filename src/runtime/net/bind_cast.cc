// SPDX-License-Identifier: Apache-2.0
// Casts between the types that exporters cast between: f32, f64, i32, i64, u8, bool.
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

template <typename From, typename To>
class CastStep final : public NetStep {
 public:
  void run(Worker& worker) override {
    const auto [begin, end] = worker.slice(count);
    const auto* from = static_cast<const From*>(src);
    auto* to = static_cast<To*>(dst);
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  }
  const void* src = nullptr;
  void* dst = nullptr;
  int64_t count = 0;
};

template <typename From, typename To>
std::unique_ptr<NetStep> make(NetBinder& binder, const graph::Node& node) {
  auto step = std::make_unique<CastStep<From, To>>();
  step->count = *binder.type(node.outputs[0]).shape.elements();
  binder.point(node.inputs[0], &step->src);
  binder.point(node.outputs[0], &step->dst);
  step->kernel = "cast";
  return step;
}

struct Row {
  DType from, to;
  std::unique_ptr<NetStep> (*make)(NetBinder&, const graph::Node&);
};
// Not those from floats to integers: out of range they have rules of their own.
constexpr Row kTable[] = {
    {DType::boolean, DType::f32, make<uint8_t, float>},   {DType::boolean, DType::i32, make<uint8_t, int32_t>},
    {DType::boolean, DType::i64, make<uint8_t, int64_t>}, {DType::u8, DType::f32, make<uint8_t, float>},
    {DType::i32, DType::f32, make<int32_t, float>},       {DType::i32, DType::i64, make<int32_t, int64_t>},
    {DType::i64, DType::f32, make<int64_t, float>},       {DType::i64, DType::i32, make<int64_t, int32_t>},
    {DType::f32, DType::f64, make<float, double>},        {DType::f64, DType::f32, make<double, float>},
};

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_cast(NetBinder& binder, const graph::Node& node) {
  const DType from = binder.dtype(node.inputs[0]), to = binder.dtype(node.outputs[0]);
  for (const Row& row : kTable)
    if (row.from == from && row.to == to) return row.make(binder, node);
  return unsupported("{} to {} has no kernel", dtype_name(from), dtype_name(to));
}

}  // namespace nereid::runtime
