// SPDX-License-Identifier: Apache-2.0
// Every op on inputs and attributes drawn at random, extremes among them: it computes or it refuses, and it ends.
#include <array>
#include <limits>
#include <random>

#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

constexpr int kDraws = 150;  // an op
constexpr std::array<int64_t, 13> kNumbers = {0, 1, -1, 2, -2, 3, -3, 4, 5, 7, int64_t{1} << 40, INT64_MAX, INT64_MIN};
constexpr std::array<double, 8> kReals = {
    0, 1, -1, 0.5, std::numeric_limits<double>::quiet_NaN(), 1e30, -2.5, std::numeric_limits<double>::infinity()};
// Words that attributes of many ops know.
constexpr std::array<const char*, 40> kWords = {
    "",           "a",        "none",     "add",     "mul",     "max",           "min",        "constant",
    "reflect",    "edge",     "wrap",     "linear",  "DCR",     "CRD",           "TF",         "TFIDF",
    "LOWER",      "UPPER",    "f32",      "i64",     "i32",     "f16",           "bool",       "nearest",
    "cubic",      "sum",      "mean",     "forward", "reverse", "bidirectional", "VALID",      "NOTSET",
    "SAME_UPPER", "circular", "TO_FLOAT", "SPARSE",  "L1",      "MAX",           "half_pixel", "NONE"};
constexpr std::array<DType, 12> kTypes = {DType::f32,    DType::f32, DType::i64, DType::i64, DType::i32, DType::boolean,
                                          DType::string, DType::f64, DType::u8,  DType::i8,  DType::f16, DType::u4};

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <typename C>
  auto of(const C& choices) {
    return choices[below(choices.size())];
  }

  Tensor tensor(DType dtype) {
    std::vector<int64_t> sizes;
    const size_t rank = below(5);
    for (size_t d = 0; d < rank; ++d) sizes.push_back(static_cast<int64_t>(chance(5) ? 0 : 1 + below(4)));
    return tensor(dtype, std::move(sizes));
  }
  Tensor tensor(DType dtype, std::vector<int64_t> sizes) {
    Tensor t = Tensor::zeros(dtype, std::move(sizes)).value();
    for (std::string& s : t.strings) s = of(kWords);
    if (dtype == DType::string) return t;
    const bool real = is_float(dtype);
    // An extreme i32 is a size that fits into large machines: nothing to try on small ones.
    const bool small = chance(70) || dtype == DType::i32;
    std::vector<double> values(static_cast<size_t>(t.view().elements()));
    for (double& v : values)
      v = real ? of(kReals) : small ? static_cast<double>(below(4)) - 1 : static_cast<double>(of(kNumbers));
    EXPECT_TRUE(store<double>(t.view(), std::span<const double>(values)).is_ok());
    return t;
  }
  Datum datum(DType dtype, const std::vector<int64_t>& sizes, bool containers) {
    const size_t kind = containers ? below(10) : 9;
    if (kind == 0) return Datum::none(dtype);
    if (kind == 1) return Datum::map(tensor(chance(50) ? DType::i64 : DType::string, {2}), tensor(DType::f32, {2}));
    if (kind < 6) {
      std::vector<Datum> items;
      for (size_t n = below(4); n > 0; --n) items.emplace_back(chance(50) ? tensor(dtype, sizes) : tensor(dtype));
      return Datum::sequence(dtype, std::move(items));
    }
    return chance(60) ? tensor(dtype, sizes) : tensor(dtype);
  }

  AttrValue attr(AttrSpec::Kind kind) {
    const size_t n = below(5);
    switch (kind) {
      case AttrSpec::Kind::kBool:
        return chance(50);
      case AttrSpec::Kind::kInt:
        return chance(70) ? static_cast<int64_t>(below(5)) - 2 : of(kNumbers);
      case AttrSpec::Kind::kFloat:
        return of(kReals);
      case AttrSpec::Kind::kString:
        return std::string(of(kWords));
      case AttrSpec::Kind::kInts: {
        std::vector<int64_t> v(n);
        for (int64_t& e : v) e = chance(80) ? static_cast<int64_t>(below(4)) : of(kNumbers);
        return v;
      }
      case AttrSpec::Kind::kFloats: {
        std::vector<double> v(n);
        for (double& e : v) e = of(kReals);
        return v;
      }
      case AttrSpec::Kind::kStrings:
        break;
    }
    std::vector<std::string> v(n);
    for (std::string& e : v) e = of(kWords);
    return v;
  }

 private:
  std::mt19937 random_;
};

class HostileInputs : public testing::TestWithParam<const OpDef*> {};

TEST_P(HostileInputs, are_computed_or_refused) {
  const OpDef& op = *GetParam();
  Draw draw(17);
  int computed = 0;
  for (int i = 0; i < kDraws; ++i) {
    SCOPED_TRACE(i);
    const bool alike = draw.chance(60);
    const DType common = draw.of(kTypes);
    const Tensor model = draw.tensor(common);
    const bool variadic = !op.inputs.empty() && op.inputs.back().variadic;
    std::vector<Datum> data(op.inputs.size() + (variadic ? draw.below(3) : 0));
    std::vector<const Datum*> inputs(data.size());
    for (size_t k = 0; k < data.size(); ++k) {
      const bool optional = k < op.inputs.size() && op.inputs[k].optional;
      if (optional && draw.chance(50)) continue;
      // First the data, then most often lists of indices and sizes.
      const bool list = k > 0 && !alike && draw.chance(70);
      data[k] = list ? draw.tensor(DType::i64, draw.chance(80) ? Ints{model.view().rank()} : Ints{})
                     : draw.datum(alike ? common : draw.of(kTypes), model.sizes, op.infers_any && draw.chance(70));
      inputs[k] = &data[k];
    }
    Attrs attrs;
    for (const AttrSpec& spec : op.attrs)
      if (spec.fallback.empty() || draw.chance(30)) attrs.set(std::string(spec.name), draw.attr(spec.kind));
    ASSERT_TRUE(complete_attrs(op, attrs).is_ok());
    const auto results = run_any(op, inputs, attrs);
    if (results) {
      ++computed;
      EXPECT_FALSE(results->empty());
    } else {
      EXPECT_FALSE(results.status().message().empty());
      EXPECT_NE(results.status().code(), StatusCode::kInternal) << results.status().message();
    }
  }
  RecordProperty("computed", computed);
}

std::vector<const OpDef*> stateless_ops() {
  std::vector<const OpDef*> out;
  for (const OpDef* op : op_table()) {
    bool state = false;
    for (const ArgSpec& arg : op->inputs) state = state || arg.state;
    if (!state && op->regions.empty()) out.push_back(op);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Ops, HostileInputs, testing::ValuesIn(stateless_ops()),
                         [](const auto& p) { return std::string(p.param->name); });

}  // namespace
}  // namespace nereid::ops
