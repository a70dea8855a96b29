// SPDX-License-Identifier: Apache-2.0
// The binders that bind_table.cc lists, one function an op. Private to runtime/.
#pragma once

#include "runtime/bind.h"

namespace nereid::runtime {

using Binder = Result<std::unique_ptr<Step>>(BindContext&, const graph::Node&);

Binder bind_add;
Binder bind_attention;
Binder bind_attention_packed;
Binder bind_embedding;
Binder bind_gated;
Binder bind_gated_linear;
Binder bind_layer_norm;
Binder bind_linear;
Binder bind_rms_norm;
Binder bind_rope;
Binder bind_scale;
Binder bind_select_rows;
Binder bind_softcap;

// linear without a norm, whose matrix is in f32.
Result<std::unique_ptr<Step>> bind_f32_product(BindContext& c, const kernels::LinearParams& p, const Slot& x,
                                               const Slot& y);

// The kernels' name of an op's activation attribute; kUnsupported for those they lack.
Result<kernels::Activation> activation_of(std::string_view name);

}  // namespace nereid::runtime
