// SPDX-License-Identifier: Apache-2.0
// One ONNX file made into networks whose layers have precisions of their own.
//
// A layer is a product or convolution of the optimised f32 network, called by its result. In bf16 it has the attribute
// `precision`; in int8 the same product in the file's graph gets quantised operands (passes/quantize_layers.h) before
// the passes run again. Both graphs keep the names of results, which is how one is found in the other.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calibrate/calibration_table.h"
#include "calibrate/precision_search.h"
#include "compile/accuracy.h"
#include "compile/infer_inputs.h"

namespace nereid::compile {

class MixedNetwork {
 public:
  // Imports the file twice: once for f32, once for what is quantised. `options.precision` is of layers without one of
  // their own, and not of f32(). Errors: those of open_network.
  static Result<MixedNetwork> open(const std::string& path, const NetworkOptions& options);

  struct Layer {
    std::string name;        // of its result in the f32 network; of a layer that f32 has lost: in the file's graph
    std::string int8;        // of the product's result in the graph that is quantised; empty: it cannot be
    std::string activation;  // that the product reads there
    bool is_conv = false;    // and needs a range: products can take that of each run
  };
  const std::vector<Layer>& layers() const { return layers_; }
  const OpenedNetwork& f32() const { return f32_; }
  std::vector<InputType> inputs() const;

  // What calibration runs on, and the activations that it has to tell of.
  const graph::Graph& calibrated() const { return prepared_; }
  std::shared_ptr<const void> storage() const { return storage_; }
  std::set<std::string> activations() const;
  void set_ranges(calibrate::TensorRanges ranges) { ranges_ = std::move(ranges); }
  bool has_ranges() const { return !ranges_.empty(); }
  bool can_be(const Layer& layer, calibrate::LayerPrecision precision) const;

  // The network of a mix, one precision a layer.
  Result<OpenedNetwork> with(const calibrate::PrecisionMix& mix) const;
  // Every layer that can be has this precision.
  calibrate::PrecisionMix all(calibrate::LayerPrecision precision) const;

 private:
  NetworkOptions options_;
  runtime::NetPrecision rest_ = runtime::NetPrecision::kF32;
  OpenedNetwork f32_;
  graph::Graph prepared_;
  std::shared_ptr<const void> storage_;
  std::vector<Layer> layers_;
  calibrate::TensorRanges ranges_;
};

// The step of a profile that is this layer, by its label ("conv_last_q %x.u8"): its result, or that result's codes.
std::string layer_of_label(const std::string& label);

}  // namespace nereid::compile
