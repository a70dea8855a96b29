// SPDX-License-Identifier: Apache-2.0
// Declares the importers that op_table.cc lists, one line a file of this folder, in alphabetical order.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

using Importer = Status(NodeContext&);

Importer import_batch_normalization;
Importer import_bias_gelu;
Importer import_bit_cast;
Importer import_broadcast_axis;
Importer import_cast;
Importer import_cast_like;
Importer import_clip;
Importer import_constant;
Importer import_dropout;
Importer import_fast_gelu;
Importer import_gelu;
Importer import_gemm;
Importer import_if;
Importer import_instance_normalization;
Importer import_layer_normalization;
Importer import_loop;
Importer import_prelu;
Importer import_quick_gelu;
Importer import_recurrent;
Importer import_reduce;
Importer import_reshape;
Importer import_rms_normalization;
Importer import_scan;
Importer import_selu;
Importer import_sequence_map;
Importer import_skip_layer_normalization;
Importer import_softmax;
Importer import_top_k;

}  // namespace nereid::import::onnx
