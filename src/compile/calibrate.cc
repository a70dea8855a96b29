// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate.h"

#include "base/interrupt.h"
#include "passes/pipeline.h"
#include "runtime/net/context.h"

namespace nereid::compile {
namespace {

using graph::ValueId;

// Where an activation is seen: an output of the network made for it, or one of the inputs.
struct Watched {
  std::string name;
  size_t output = 0;
  bool is_input = false;
  calibrate::RangeHistogram histogram;
};

std::span<const float> floats(const ConstTensorView& view) {
  return {view.as<float>(), static_cast<size_t>(view.elements())};
}

}  // namespace

Result<calibrate::TensorRanges> calibrate(const CalibrationRun& run, ThreadPool& pool) {
  // The activations leave as outputs, so that passes keep them and their memory is theirs until the run has ended.
  graph::Graph wide = run.graph;
  std::vector<Watched> watched;
  for (const std::string& name : run.activations) {
    const ValueId id = wide.find_value(name);
    if (!id.valid() || wide.value(id).type.dtype != DType::f32)
      return internal("the network has no f32 value '{}' to calibrate", name);
    Watched w{.name = name, .output = wide.outputs().size(), .histogram = {}};
    w.is_input = wide.value(id).kind == graph::Value::Kind::kInput;
    for (size_t i = 0; i < wide.outputs().size(); ++i)
      if (wide.outputs()[i] == id) w.output = i;
    if (!w.is_input && w.output == wide.outputs().size()) wide.add_output(id);
    watched.push_back(std::move(w));
  }
  std::vector<std::string> inputs;
  for (const ValueId id : wide.inputs()) inputs.push_back(wide.value(id).name);
  NEREID_RETURN_IF_ERROR(passes::run_network_pipeline(wide).status().with("the network that is calibrated"));
  const auto network = runtime::Network::create(std::move(wide), run.storage, run.isa);
  const auto context = runtime::NetContext::create(network, pool);
  for (int64_t s = 0; s < run.samples.count; ++s) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_TRY(const auto values, run.samples.read(s));
    const std::string where = run.samples.name(s);
    for (size_t i = 0; i < inputs.size(); ++i)
      NEREID_RETURN_IF_ERROR(context->set_input(i, values.find(inputs[i])->second).with(where));
    NEREID_RETURN_IF_ERROR(context->run().with(where));
    for (Watched& w : watched) {
      const ConstTensorView view = w.is_input ? values.find(w.name)->second.view() : context->output(w.output);
      NEREID_RETURN_IF_ERROR(w.histogram.add(floats(view)).with(fmt::format("{}: the activation '{}'", where, w.name)));
    }
    if (run.progress) run.progress(s + 1, run.samples.count);
  }
  calibrate::TensorRanges ranges;
  for (const Watched& w : watched) {
    // As the cache's text keeps them: f32. A build from the cache gives the same bytes.
    const calibrate::QuantizedRange r = w.histogram.range(run.method);
    ranges[w.name] = {.least = static_cast<float>(r.least), .most = static_cast<float>(r.most)};
  }
  return ranges;
}

}  // namespace nereid::compile
