// SPDX-License-Identifier: Apache-2.0
#include "compile/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "ops/elements.h"

namespace nereid::compile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double share(double part, double range) {
  if (part == 0) return 0;
  return range > 0 ? part / range : kInfinity;
}

Result<std::vector<ops::Datum>> outputs_of(runtime::NetContext& context, const OpenedNetwork& network,
                                           const NamedValues& inputs) {
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const auto it = inputs.find(network.inputs[i].name);
    if (it == inputs.end()) return not_found("the input '{}' is not given", network.inputs[i].name);
    NEREID_RETURN_IF_ERROR(context.set_input(i, it->second));
  }
  NEREID_RETURN_IF_ERROR(context.run());
  std::vector<ops::Datum> out;
  for (size_t i = 0; i < network.outputs.size(); ++i) out.push_back(context.output_value(i));
  return out;
}

// Widens [least, most] by the finite elements of a tensor of reals.
void widen(const ops::Datum& value, std::pair<double, double>& range) {
  for (const ops::Datum& item : value.items) widen(item, range);
  if (!value.is_tensor() || dtype_info(value.tensor.dtype).kind != DTypeInfo::Kind::kFloat) return;
  for (const double v : ops::load<double>(value.view())) {
    if (!std::isfinite(v)) continue;
    range.first = std::min(range.first, v);
    range.second = std::max(range.second, v);
  }
}

// Whether an output is a tensor of reals with elements, for any sample.
bool has_reals(const std::vector<std::vector<ops::Datum>>& samples, size_t output) {
  return std::ranges::any_of(samples, [&](const std::vector<ops::Datum>& outputs) {
    const ops::Datum& value = outputs[output];
    return value.is_tensor() && dtype_info(value.tensor.dtype).kind == DTypeInfo::Kind::kFloat &&
           value.view().elements() > 0;
  });
}

}  // namespace

double OutputError::max_error() const {
  return is_broken ? kInfinity : share(max_abs, range);
}
double OutputError::mean_error() const {
  return is_broken ? kInfinity : share(mean_abs, range);
}
double NetworkError::max_error() const {
  double most = 0;
  for (const OutputError& o : outputs) most = std::max(most, o.is_exact ? 0 : o.max_error());
  return most;
}
double NetworkError::mean_error() const {
  double most = 0;
  for (const OutputError& o : outputs) most = std::max(most, o.is_exact ? 0 : o.mean_error());
  return most;
}

Result<AccuracySamples> AccuracySamples::create(const OpenedNetwork& exact, int64_t count, Read read,
                                                ThreadPool& pool) {
  AccuracySamples out;
  out.read_ = std::move(read);
  for (const NamedType& o : exact.outputs) out.names_.push_back(o.name);
  std::vector<std::pair<double, double>> ranges(exact.outputs.size(), {kInfinity, -kInfinity});
  const auto context = runtime::NetContext::create(exact.network, pool);
  for (int64_t s = 0; s < count; ++s) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_TRY(const NamedValues inputs, out.read_(s));
    NEREID_TRY(std::vector<ops::Datum> outputs,
               outputs_of(*context, exact, inputs).with(fmt::format("sample {} in f32", s)));
    for (size_t i = 0; i < outputs.size(); ++i) widen(outputs[i], ranges[i]);
    out.outputs_.push_back(std::move(outputs));
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto [least, most] = ranges[i];
    if (most < least && has_reals(out.outputs_, i))
      return invalid_argument(
          "the output '{}' is NaN or infinite throughout in f32, so that nothing can be known of its accuracy; give "
          "samples "
          "of real inputs with --calib DIR",
          out.names_[i]);
    out.ranges_.push_back(most < least ? 0 : most > least ? most - least : std::abs(most));
  }
  return out;
}

Result<NetworkError> AccuracySamples::measure(const OpenedNetwork& network, int64_t most, ThreadPool& pool) const {
  NetworkError error{.outputs = {}, .samples = std::min(most, count())};
  for (size_t i = 0; i < names_.size(); ++i) error.outputs.push_back({.name = names_[i], .range = ranges_[i]});
  const auto context = runtime::NetContext::create(network.network, pool);
  for (int64_t s = 0; s < error.samples; ++s) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_TRY(const NamedValues inputs, read_(s));
    NEREID_TRY(const std::vector<ops::Datum> outputs,
               outputs_of(*context, network, inputs).with(fmt::format("sample {}", s)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueDifference d = compare_values(outputs[i], outputs_[static_cast<size_t>(s)][i]);
      OutputError& o = error.outputs[i];
      const auto before = static_cast<double>(o.elements), now = static_cast<double>(d.elements);
      if (before + now > 0) o.mean_abs = (o.mean_abs * before + d.mean_abs * now) / (before + now);
      o.max_abs = std::max(o.max_abs, d.max_abs);
      o.elements += d.elements;
      o.unequal += d.unequal;
      o.is_exact = o.is_exact || d.is_exact;
      o.is_broken = o.is_broken || d.nans > 0 || d.infinities > 0 || !d.mismatch.empty();
    }
  }
  return error;
}

}  // namespace nereid::compile
