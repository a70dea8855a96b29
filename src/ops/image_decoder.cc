// SPDX-License-Identifier: Apache-2.0
// image_decoder: the bytes of an image file as pixels [height, width, channels].
#include <algorithm>

#include "image/image.h"
#include "ops/any_inputs.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "file"}};
constexpr ArgSpec kOutputs[] = {{.name = "image"}};
constexpr AttrSpec kAttrs[] = {{"pixel_format", AttrSpec::Kind::kString, "RGB", "RGB, BGR or Grayscale"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  if (rule.type(0).dtype != DType::u8) return invalid_argument("{} should be u8", rule.describe(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 1));
  const std::string& format = ctx.attrs.text("pixel_format");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return invalid_argument("pixel_format is '{}'; it should be RGB, BGR or Grayscale", format);
  const int64_t channels = format == "Grayscale" ? 1 : 3;
  return std::vector<TensorType>{{DType::u8, Shape({Dim::unknown(), Dim::unknown(), Dim(channels)})}};
}

Result<std::vector<Datum>> evaluate(const AnyContext& ctx) {
  NEREID_RETURN_IF_ERROR(infer_data(ctx, infer));
  const ConstTensorView file = ctx.inputs[0]->view();
  NEREID_TRY(image::Image decoded,
             image::decode({file.as<uint8_t>(), static_cast<size_t>(file.elements())}).with("decoding an image"));
  const std::string& format = ctx.attrs.text("pixel_format");
  if (format == "BGR")
    for (size_t i = 0; i < decoded.rgb.size(); i += 3) std::swap(decoded.rgb[i], decoded.rgb[i + 2]);
  const bool gray = format == "Grayscale";
  NEREID_TRY(Tensor result, Tensor::zeros(DType::u8, {decoded.height, decoded.width, gray ? 1 : 3}));
  std::ranges::copy(gray ? image::to_gray(decoded) : decoded.rgb, result.view().as<uint8_t>());
  return one_result(std::move(result));
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  return traffic(ctx, outputs);
}

}  // namespace

extern constexpr OpDef kImageDecoder = {.name = "image_decoder",
                                        .summary = "the pixels of a BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP file",
                                        .inputs = kInputs,
                                        .outputs = kOutputs,
                                        .attrs = kAttrs,
                                        .infer = infer,
                                        .cost = cost,
                                        .evaluate_any = evaluate};

}  // namespace nereid::ops
