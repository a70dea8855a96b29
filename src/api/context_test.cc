// SPDX-License-Identifier: Apache-2.0
// Runs of one context: inputs, outputs in memory of the caller's, what goes wrong, what is allocated.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "api/test_model.h"
#include "base/test_allocations.h"

namespace nereid::api::testing {
namespace {

// What layers() computes, by the textbook and in double.
std::vector<double> expected_layers(const std::vector<float>& x, float seed) {
  std::vector<double> y;
  const auto weight = [&](size_t i) { return static_cast<double>(std::sin(seed * static_cast<float>(i + 1))); };
  for (size_t row = 0; row < x.size() / 4; ++row) {
    double b[32], c[8], largest = -1e30, sum = 0;
    for (size_t j = 0; j < 32; ++j) {
      b[j] = 0;
      for (size_t k = 0; k < 4; ++k) b[j] += static_cast<double>(x[row * 4 + k]) * weight(k * 32 + j);
      b[j] = std::max(b[j], 0.0);
    }
    for (size_t j = 0; j < 8; ++j) {
      c[j] = 0;
      for (size_t k = 0; k < 32; ++k) c[j] += b[k] * weight(k * 8 + j);
      largest = std::max(largest, c[j]);
    }
    for (double& v : c) sum += v = std::exp(v - largest);
    for (const double v : c) y.push_back(v / sum);
  }
  return y;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

const std::vector<float> kX = {0.5F, -1, 2, 0.25F, 1, 1, -2, 0, 3, 0.1F, 0.2F, 0.3F};
const std::vector<int64_t> kDims = {3, 4};

TEST(ApiContext, a_run_gives_what_the_layers_compute) {
  const Opened o(layers());
  const nereid_tensor x = tensor(kX, kDims);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &x), NEREID_OK) << nereid_last_error();
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  nereid_tensor y{};
  ASSERT_EQ(nereid_context_output(o.context, 0, &y), NEREID_OK);
  EXPECT_EQ(y.dtype, NEREID_F32);
  ASSERT_EQ(y.rank, 2);
  EXPECT_EQ(y.dims[0], 3);
  EXPECT_EQ(y.dims[1], 8);
  expect_near(o.floats(0), expected_layers(kX, 1));
}

TEST(ApiContext, an_output_is_computed_in_the_callers_memory) {
  const Opened o(layers());
  const nereid_tensor x = tensor(kX, kDims);
  std::vector<float> y(3 * 8 + 4, -7);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &x), NEREID_OK);
  ASSERT_EQ(nereid_context_bind_output(o.context, 0, y.data(), y.size() * 4), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  nereid_tensor found{};
  ASSERT_EQ(nereid_context_output(o.context, 0, &found), NEREID_OK);
  EXPECT_EQ(found.data, y.data()) << "it was copied";
  for (size_t i = 24; i < y.size(); ++i) EXPECT_EQ(y[i], -7) << "what lies behind the output was written";
  y.resize(24);
  expect_near(y, expected_layers(kX, 1));
}

// Memory whose end is the end of what may be touched.
class Fenced {
 public:
  explicit Fenced(size_t floats) : bytes_(round_up(floats * 4)) {
    memory_ = ::mmap(nullptr, bytes_ + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(::mprotect(static_cast<char*>(memory_) + bytes_, page(), PROT_NONE), 0);
    data = reinterpret_cast<float*>(static_cast<char*>(memory_) + bytes_ - floats * 4);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { ::munmap(memory_, bytes_ + page()); }
  float* data = nullptr;

 private:
  static size_t page() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  static size_t round_up(size_t bytes) { return (bytes + page() - 1) / page() * page(); }
  size_t bytes_;
  void* memory_ = nullptr;
};

TEST(ApiContext, kernels_touch_nothing_behind_inputs_and_outputs) {
  const Opened o(TestModel()
                     .input("x", {-1, 3, -2, 9})
                     .weight("w", {5, 3, 3, 3})
                     .node("Conv", {"x", "w"}, {"a"})
                     .node("Relu", {"a"}, {"y"})
                     .node("Softmax", {"y"}, {"z"})
                     .node("GlobalAveragePool", {"y"}, {"p"})
                     .output("y", {-1, 5, -3, 7})
                     .output("z", {-1, 5, -3, 7})
                     .output("p", {-1, 5, 1, 1}),
                 2);
  for (const int64_t n : {1, 3}) {
    for (const int64_t h : {3, 8, 17}) {
      const auto rows = static_cast<size_t>(n), height = static_cast<size_t>(h);
      Fenced x(rows * 3 * height * 9), y(rows * 5 * (height - 2) * 7), z(rows * 5 * (height - 2) * 7), p(rows * 5);
      for (size_t i = 0; i < rows * 3 * height * 9; ++i) x.data[i] = std::sin(static_cast<float>(i));
      const std::vector<int64_t> dims = {n, 3, h, 9};
      const nereid_tensor t = {x.data, NEREID_F32, 4, dims.data()};
      ASSERT_EQ(nereid_context_set_input(o.context, 0, &t), NEREID_OK) << nereid_last_error();
      ASSERT_EQ(nereid_context_bind_output(o.context, 0, y.data, rows * 5 * (height - 2) * 7 * 4), NEREID_OK);
      ASSERT_EQ(nereid_context_bind_output(o.context, 1, z.data, rows * 5 * (height - 2) * 7 * 4), NEREID_OK);
      ASSERT_EQ(nereid_context_bind_output(o.context, 2, p.data, rows * 5 * 4), NEREID_OK);
      ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
      double sum = 0;
      for (size_t i = 0; i < 7; ++i) sum += z.data[i];
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

TEST(ApiContext, memory_that_is_too_small_says_how_much_is_needed) {
  const Opened o(layers());
  const nereid_tensor x = tensor(kX, kDims);
  std::vector<float> y(23);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &x), NEREID_OK);
  ASSERT_EQ(nereid_context_bind_output(o.context, 0, y.data(), y.size() * 4), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error(),
               "the output 'y' is f32[3, 8], which takes 96 bytes; the buffer that is bound to it has 92");
  expect_near(o.floats(0), expected_layers(kX, 1));
  ASSERT_EQ(nereid_context_bind_output(o.context, 0, nullptr, 0), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_OK);
}

TEST(ApiContext, sizes_that_hang_on_values_are_asked_for_after_the_run) {
  const Opened o(TestModel().input("x", {-1}).node("NonZero", {"x"}, {"y"}).output("y", {1, -1}, 7));
  const std::vector<float> x = {0, 3, 0, 5};
  const std::vector<int64_t> dims = {4};
  const nereid_tensor t = tensor(x, dims);
  int64_t y[4] = {};
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &t), NEREID_OK);
  ASSERT_EQ(nereid_context_bind_output(o.context, 0, y, sizeof(y)), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  nereid_tensor found{};
  ASSERT_EQ(nereid_context_output(o.context, 0, &found), NEREID_OK);
  EXPECT_EQ(found.dims[1], 2);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 3);
}

TEST(ApiContext, inputs_that_do_not_suit_are_sentences) {
  const Opened o(layers());
  const auto set = [&](const nereid_tensor& t, size_t index = 0) {
    return nereid_context_set_input(o.context, index, &t);
  };
  EXPECT_EQ(nereid_context_run(o.context), NEREID_INVALID_ARGUMENT) << "nothing was given";
  EXPECT_EQ(nereid_context_set_input(o.context, 0, nullptr), NEREID_INVALID_ARGUMENT);
  nereid_tensor x = tensor(kX, kDims);
  EXPECT_EQ(set(x, 1), NEREID_INVALID_ARGUMENT);
  x.dtype = NEREID_I32;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  x.dtype = 77;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error(), "input 'x': 77 is no element type");
  const std::vector<int64_t> wrong = {3, 5}, flat = {12}, negative = {-3, 4}, huge = {INT64_MAX, 4};
  for (const std::vector<int64_t>& dims : {wrong, flat, negative, huge})
    EXPECT_EQ(set(tensor(kX, dims)), NEREID_INVALID_ARGUMENT);
  x = tensor(kX, kDims);
  x.data = nullptr;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  x.data = reinterpret_cast<const char*>(kX.data()) + 1;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error(), "input 'x': its data is not at a multiple of 4 bytes, as f32 needs it");
  x = tensor(kX, kDims);
  x.rank = -1;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  x.rank = 2;
  x.dims = nullptr;
  EXPECT_EQ(set(x), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(set(tensor(kX, kDims)), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_OK);
}

TEST(ApiContext, outputs_that_are_not_there_are_sentences) {
  const Opened o(layers());
  nereid_tensor y{};
  EXPECT_EQ(nereid_context_output(o.context, 0, &y), NEREID_UNAVAILABLE);
  EXPECT_EQ(nereid_context_output(o.context, 1, &y), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_output(o.context, 0, nullptr), NEREID_INVALID_ARGUMENT);
  float memory[2];
  EXPECT_EQ(nereid_context_bind_output(o.context, 1, memory, 8), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_bind_output(o.context, 0, nullptr, 8), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_bind_output(o.context, 0, reinterpret_cast<char*>(memory) + 1, 7), NEREID_INVALID_ARGUMENT);
}

TEST(ApiContext, a_run_that_fails_leaves_no_outputs_of_an_earlier_one) {
  const Opened o(TestModel().input("x", {-1}).input("i", {-2}, 7).node("Gather", {"x", "i"}, {"y"}).output("y", {-2}));
  const std::vector<float> x = {1, 2};
  const std::vector<int64_t> dims = {2}, inside = {1, 0}, outside = {1, 7};
  const nereid_tensor values = tensor(x, dims);
  nereid_tensor indices = {inside.data(), NEREID_I64, 1, dims.data()}, y{};
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &values), NEREID_OK);
  ASSERT_EQ(nereid_context_set_input(o.context, 1, &indices), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(o.floats(0), (std::vector<float>{2, 1}));
  indices.data = outside.data();
  ASSERT_EQ(nereid_context_set_input(o.context, 1, &indices), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_output(o.context, 0, &y), NEREID_UNAVAILABLE);
}

TEST(ApiContext, texts_go_in_and_come_out) {
  const Opened o(TestModel().input("x", {-1}, 8).node("StringConcat", {"x", "x"}, {"y"}).output("y", {-1}, 8));
  std::string first = "ab", second("c\0d", 3);
  const nereid_string texts[] = {{first.data(), first.size()}, {second.data(), second.size()}};
  const int64_t dims[] = {2};
  const nereid_tensor x = {texts, NEREID_STRING, 1, dims};
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &x), NEREID_OK) << nereid_last_error();
  first = "zz";  // they were copied
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  nereid_tensor y{};
  ASSERT_EQ(nereid_context_output(o.context, 0, &y), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(y.dtype, NEREID_STRING);
  const auto* found = static_cast<const nereid_string*>(y.data);
  EXPECT_EQ(std::string(found[0].data, found[0].size), "abab");
  EXPECT_EQ(std::string(found[1].data, found[1].size), std::string("c\0dc\0d", 6));
  char memory[64] = {};
  EXPECT_EQ(nereid_context_bind_output(o.context, 0, memory, 64), NEREID_UNSUPPORTED);
}

TEST(ApiContext, values_that_are_no_tensors_are_unsupported) {
  const Opened o(TestModel().input("x", {2}).node("SequenceConstruct", {"x"}, {"y"}).sequence_output("y"));
  nereid_value_info info{};
  ASSERT_EQ(nereid_engine_output(o.engine, 0, &info), NEREID_OK);
  EXPECT_EQ(info.kind, NEREID_SEQUENCE);
  const std::vector<float> x = {1, 2};
  const std::vector<int64_t> dims = {2};
  const nereid_tensor t = tensor(x, dims);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &t), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  nereid_tensor y{};
  EXPECT_EQ(nereid_context_output(o.context, 0, &y), NEREID_UNSUPPORTED);
}

TEST(ApiContext, runs_with_the_same_sizes_allocate_nothing) {
  for (const int threads : {1, 2}) {
    const Opened o(layers(), threads);
    const std::vector<float> other(12, 1);
    const nereid_tensor inputs[] = {tensor(kX, kDims), tensor(other, kDims)};
    std::vector<float> memory(24);
    nereid_tensor y{};
    const auto once = [&](size_t i) {
      ASSERT_EQ(nereid_context_set_input(o.context, 0, &inputs[i % 2]), NEREID_OK);
      ASSERT_EQ(nereid_context_bind_output(o.context, 0, i % 4 < 2 ? memory.data() : nullptr, i % 4 < 2 ? 96 : 0),
                NEREID_OK);
      ASSERT_EQ(nereid_context_run(o.context), NEREID_OK);
      ASSERT_EQ(nereid_context_output(o.context, 0, &y), NEREID_OK);
    };
    for (size_t i = 0; i < 4; ++i) once(i);
    int64_t bytes_before = 0, bytes_after = 0;
    nereid_context_memory(o.context, &bytes_before);
    const int64_t before = allocation_count();
    for (size_t i = 0; i < 100; ++i) once(i);
    EXPECT_EQ(allocation_count() - before, 0);
    nereid_context_memory(o.context, &bytes_after);
    EXPECT_EQ(bytes_before, bytes_after);
    EXPECT_GT(bytes_after, 0);
  }
}

TEST(ApiContext, runs_of_convolutions_and_pooling_allocate_nothing) {
  nereid_engine* engine = nullptr;
  nereid_context* context = nullptr;
  ASSERT_EQ(nereid_engine_open(NEREID_SOURCE_DIR "/tests/data/onnx/classifier.onnx", nullptr, &engine), NEREID_OK)
      << nereid_last_error();
  ASSERT_EQ(nereid_context_create(engine, nullptr, &context), NEREID_OK);
  const std::vector<float> x(2 * 3 * 16 * 16, 0.5F);
  const std::vector<int64_t> two = {2, 3, 16, 16}, one = {1, 3, 16, 16};
  // Both sizes have their plans.
  for (int i = 0; i < 4; ++i) {
    const nereid_tensor t = tensor(x, i % 2 == 0 ? two : one);
    ASSERT_EQ(nereid_context_set_input(context, 0, &t), NEREID_OK);
    ASSERT_EQ(nereid_context_run(context), NEREID_OK) << nereid_last_error();
  }
  const int64_t before = allocation_count();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(nereid_context_run(context), NEREID_OK);
  EXPECT_EQ(allocation_count() - before, 0);
  nereid_context_close(&context);
  nereid_engine_close(&engine);
}

TEST(ApiContext, many_threads_run_contexts_of_one_engine) {
  const Opened o(layers(), 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&o, t] {
      nereid_context_options options = NEREID_CONTEXT_OPTIONS_INIT;
      options.threads = t % 3;  // the shared team, alone, or two of its own
      nereid_context* context = nullptr;
      ASSERT_EQ(nereid_context_create(o.engine, &options, &context), NEREID_OK);
      int32_t size = 0;
      ASSERT_EQ(nereid_context_threads(context, &size), NEREID_OK);
      EXPECT_EQ(size, t % 3 == 0 ? 2 : t % 3);
      std::vector<float> x = kX, y(24);
      x[0] += static_cast<float>(t);
      const nereid_tensor in = tensor(x, kDims);
      ASSERT_EQ(nereid_context_set_input(context, 0, &in), NEREID_OK);
      ASSERT_EQ(nereid_context_bind_output(context, 0, y.data(), 96), NEREID_OK);
      for (int i = 0; i < 20; ++i) {
        std::ranges::fill(y, 0.0F);
        ASSERT_EQ(nereid_context_run(context), NEREID_OK) << nereid_last_error();
        expect_near(y, expected_layers(x, 1));
      }
      nereid_context_close(&context);
    });
  for (std::thread& t : threads) t.join();
}

TEST(ApiContext, layers_are_timed_and_nothing_runs_on_evaluators) {
  const Opened o(layers());
  const nereid_tensor x = tensor(kX, kDims);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &x), NEREID_OK);
  ASSERT_EQ(nereid_context_set_profiling(o.context, 1), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o.context), NEREID_OK);
  std::vector<std::string> kernels, notes;
  const auto layer = [](void* user, const nereid_layer_time* time) {
    EXPECT_GT(time->total_ns, 0);
    static_cast<std::vector<std::string>*>(user)->emplace_back(time->kernel);
  };
  ASSERT_EQ(nereid_context_profile(o.context, layer, &kernels), NEREID_OK);
  EXPECT_EQ(kernels, (std::vector<std::string>{"gemm", "gemm", "softmax"}));
  const auto note = [](void* user, const char* text) {
    static_cast<std::vector<std::string>*>(user)->emplace_back(text);
  };
  ASSERT_EQ(nereid_context_notes(o.context, note, &notes), NEREID_OK);
  EXPECT_TRUE(notes.empty()) << notes[0];
  EXPECT_EQ(nereid_context_profile(o.context, nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  int64_t bytes = 0;
  EXPECT_EQ(nereid_engine_memory(o.engine, &bytes), NEREID_OK);
  EXPECT_GE(bytes, (4 * 32 + 32 * 8) * 4);
}

}  // namespace
}  // namespace nereid::api::testing
