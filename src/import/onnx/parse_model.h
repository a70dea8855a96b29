// SPDX-License-Identifier: Apache-2.0
// A file's bytes as the format's own messages. Private to import/onnx.
#pragma once

#include <string_view>

#include "base/mapped_file.h"
#include "base/status.h"
#include "onnx-ml.pb.h"

namespace nereid::import::onnx {

// kInvalidArgument: these bytes are no model; kUnsupported: too many of them.
Status parse_model(std::string_view bytes, ::onnx::ModelProto& model);
// The same of a mapped file, whose pages leave memory as soon as they are read: the message has all of them.
Status parse_model(const MappedFile& file, ::onnx::ModelProto& model);

}  // namespace nereid::import::onnx
