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
Importer import_category_mapper;
Importer import_clip;
Importer import_compress;
Importer import_concat;
Importer import_constant;
Importer import_constant_of_shape;
Importer import_dequantize_linear;
Importer import_dft;
Importer import_dropout;
Importer import_dynamic_quantize_lstm;
Importer import_dynamic_quantize_matmul;
Importer import_embed_layer_normalization;
Importer import_eye_like;
Importer import_fast_gelu;
Importer import_flex_attention;
Importer import_fused_conv;
Importer import_fused_matmul;
Importer import_gelu;
Importer import_gemm;
Importer import_gradient;
Importer import_grid_sample;
Importer import_group_query_attention;
Importer import_if;
Importer import_instance_normalization;
Importer import_label_encoder;
Importer import_layer_normalization;
Importer import_linear_classifier;
Importer import_linear_regressor;
Importer import_loop;
Importer import_matmul_integer_to_float;
Importer import_max_pool;
Importer import_mel_weight_matrix;
Importer import_microsoft_attention;
Importer import_microsoft_rotary_embedding;
Importer import_multi_head_attention;
Importer import_negative_log_likelihood_loss;
Importer import_nhwc_max_pool;
Importer import_optional;
Importer import_pad;
Importer import_prelu;
Importer import_qattention;
Importer import_qgemm;
Importer import_qlinear_average_pool;
Importer import_qlinear_binary;
Importer import_qlinear_concat;
Importer import_qlinear_conv;
Importer import_qlinear_global_average_pool;
Importer import_qlinear_leaky_relu;
Importer import_qlinear_reduce_mean;
Importer import_qlinear_sigmoid;
Importer import_qlinear_softmax;
Importer import_qlinear_where;
Importer import_quantize_linear;
Importer import_quick_gelu;
Importer import_random;
Importer import_range;
Importer import_recurrent;
Importer import_reduce;
Importer import_reshape;
Importer import_resize;
Importer import_rms_normalization;
Importer import_roi_align;
Importer import_scaled_dot_attention;
Importer import_scan;
Importer import_selu;
Importer import_sequence_empty;
Importer import_sequence_map;
Importer import_skip_layer_normalization;
Importer import_slice;
Importer import_softmax;
Importer import_softmax_cross_entropy_loss;
Importer import_split;
Importer import_squeeze;
Importer import_svm_classifier;
Importer import_svm_regressor;
Importer import_tile;
Importer import_top_k;
Importer import_transpose;
Importer import_tree_classifier;
Importer import_tree_ensemble;
Importer import_tree_regressor;
Importer import_unique_in_order;
Importer import_upsample;
Importer import_window;

}  // namespace nereid::import::onnx
