// SPDX-License-Identifier: Apache-2.0
// stft: Fourier transforms of windowed pieces of a signal.
#include "ops/elements.h"
#include "ops/fft.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kSignal, kStep, kWindow, kLength };
constexpr ArgSpec kInputs[] = {{.name = "signal"},
                               {.name = "frame_step"},
                               {.name = "window", .optional = true},
                               {.name = "frame_length", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"onesided", AttrSpec::Kind::kBool, "true", "only the first half of each spectrum"}};

// Samples in a frame; nothing if not known.
Result<Dim> frame_length(const InferContext& ctx, const ShapeRule& rule) {
  Dim length = rule.dim(kSignal, 1);
  if (rule.has(kWindow)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kWindow));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kWindow, 1));
    length = rule.dim(kWindow, 0);
  }
  if (rule.has(kLength)) {
    const auto given = known_integers(ctx, kLength);
    const Dim wanted = given ? Dim((*given)[0]) : Dim::unknown();
    if (rule.has(kWindow) && !merge(wanted, length))
      return invalid_argument("{} does not fit frames of {}", rule.describe(kWindow), wanted.to_string());
    if (!rule.has(kWindow)) length = wanted;
  }
  if (length.is_static() && length.size() < 1) return invalid_argument("a frame has {} samples", length.size());
  return length;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kSignal));
  NEREID_RETURN_IF_ERROR(rule.has_rank(kSignal, 3));
  if (const Dim& parts = rule.dim(kSignal, 2); parts.is_static() && parts != Dim(1) && parts != Dim(2))
    return invalid_argument("the last dimension of {} should be 1 or 2: real or complex numbers",
                            rule.describe(kSignal));
  for (size_t i : {kStep, kLength}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_index(i));
    if (rule.shape(i).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(i));
  }
  NEREID_TRY(const Dim length, frame_length(ctx, rule));
  const Dim& samples = rule.dim(kSignal, 1);
  Dim frames = Dim::unknown();
  if (const auto step = known_integers(ctx, kStep)) {
    if ((*step)[0] < 1) return invalid_argument("frames are {} samples apart and should be at least 1", (*step)[0]);
    if (length.is_static() && samples.is_static()) {
      if (length.size() > samples.size())
        return invalid_argument("a frame has {} samples, but the signal only {}", length.size(), samples.size());
      frames = Dim((samples.size() - length.size()) / (*step)[0] + 1);
    }
  }
  Dim bins = length;
  if (ctx.attrs.boolean("onesided")) bins = length.is_static() ? Dim(length.size() / 2 + 1) : Dim::unknown();
  return std::vector<TensorType>{{rule.type(kSignal).dtype, {rule.dim(kSignal, 0), frames, bins, Dim(2)}}};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& signal = ctx.inputs[kSignal];
  const Elements<double> x = load<double>(signal);
  const int64_t step = load<int64_t>(ctx.inputs[kStep])[0];
  const int64_t samples = signal.sizes[1];
  const int64_t parts = signal.sizes[2];
  if (parts == 0) return Status::ok();
  int64_t length = samples;
  if (ctx.inputs[kLength].data != nullptr) length = load<int64_t>(ctx.inputs[kLength])[0];
  if (ctx.inputs[kWindow].data != nullptr) length = ctx.inputs[kWindow].sizes[0];
  Elements<double> window(length, 1);
  if (ctx.inputs[kWindow].data != nullptr) window = load<double>(ctx.inputs[kWindow]);
  const int64_t frames = ctx.outputs[0].sizes[1];
  const int64_t bins = ctx.outputs[0].sizes[2];
  Elements<double> y(ctx.outputs[0].elements());
  std::vector<std::complex<double>> frame(static_cast<size_t>(length));
  for (int64_t n = 0; n < signal.sizes[0]; ++n) {
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t i = 0; i < length; ++i) {
        const double* v = x.data() + (n * samples + f * step + i) * parts;
        frame[static_cast<size_t>(i)] = std::complex<double>(v[0], parts == 2 ? v[1] : 0.0) * window[i];
      }
      fft(frame, false);
      for (int64_t k = 0; k < bins; ++k) {
        y[((n * frames + f) * bins + k) * 2] = frame[static_cast<size_t>(k)].real();
        y[((n * frames + f) * bins + k) * 2 + 1] = frame[static_cast<size_t>(k)].imag();
      }
    }
  }
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kStft = {.name = "stft",
                                .summary = "y[frame] = discrete Fourier transform of window * signal[frame * step ...]",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attrs = kAttrs,
                                .infer = infer,
                                .evaluate = evaluate};

}  // namespace nereid::ops
