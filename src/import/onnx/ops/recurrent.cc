// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: opset 1 has an attribute that says whether a result is wanted, which the results say as well.
#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/recurrent_attrs.h"

namespace nereid::import::onnx {

Result<ops::Attrs> recurrent_attrs(const NodeContext& node) {
  ops::Attrs attrs;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    NEREID_TRY(std::vector<double> values, node.reals(name, std::vector<double>()));
    attrs.set(name, std::move(values));
  }
  NEREID_TRY(std::vector<std::string> activations, node.texts("activations", std::vector<std::string>()));
  NEREID_TRY(const double clip, node.real("clip", 0.0));
  NEREID_TRY(std::string direction, node.text("direction", "forward"));
  NEREID_TRY(const int64_t hidden_size, node.integer("hidden_size", 0));
  NEREID_TRY(const int64_t layout, node.integer("layout", 0));
  attrs.set("activations", std::move(activations));
  attrs.set("clip", clip);
  attrs.set("direction", std::move(direction));
  attrs.set("hidden_size", hidden_size);
  attrs.set("layout", layout);
  return attrs;
}

Status import_recurrent(NodeContext& node) {
  const bool lstm = node.op_type() == "LSTM";
  const bool gru = node.op_type() == "GRU";
  NEREID_RETURN_IF_ERROR(node.expect_inputs(3, lstm ? 8 : 6));
  NEREID_TRY(ops::Attrs attrs, recurrent_attrs(node));
  NEREID_TRY(const int64_t input_forget, node.integer("input_forget", 0));
  NEREID_TRY(const int64_t linear_before_reset, node.integer("linear_before_reset", 0));
  if (lstm) attrs.set("input_forget", input_forget != 0);
  if (gru) attrs.set("linear_before_reset", linear_before_reset != 0);
  return node.lower(lstm ? "lstm" : gru ? "gru" : "rnn", node.inputs(), std::move(attrs));
}

}  // namespace nereid::import::onnx
