// SPDX-License-Identifier: Apache-2.0
// Engine files: built, stripped, refitted, and builds that are stopped.
#include <cstring>
#include <filesystem>

#include "api/test_model.h"
#include "engine/test_engine.h"

namespace nereid::api::testing {
namespace {

class ApiBuild : public ::testing::Test {
 protected:
  void SetUp() override { layers().write(onnx_); }
  std::string path(const std::string& name) const { return dir_.path() + "/" + name; }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The outputs of a model for one row; empty if it does not open.
  static std::vector<float> answer(const std::string& path) {
    nereid_engine* engine = nullptr;
    nereid_context* context = nullptr;
    std::vector<float> y(8);
    if (nereid_engine_open(path.c_str(), nullptr, &engine) != NEREID_OK) return {};
    EXPECT_EQ(nereid_context_create(engine, nullptr, &context), NEREID_OK);
    const std::vector<float> x = {0.5F, 1, -1, 2};
    const std::vector<int64_t> dims = {1, 4};
    const nereid_tensor t = tensor(x, dims);
    EXPECT_EQ(nereid_context_set_input(context, 0, &t), NEREID_OK);
    EXPECT_EQ(nereid_context_bind_output(context, 0, y.data(), 32), NEREID_OK);
    EXPECT_EQ(nereid_context_run(context), NEREID_OK) << nereid_last_error();
    nereid_context_close(&context);
    nereid_engine_close(&engine);
    return y;
  }

  TestDir dir_;
  const std::string onnx_ = path("net.onnx"), engine_ = path("net.engine"), stripped_ = path("stripped.engine"),
                    again_ = path("again.engine");
};

TEST_F(ApiBuild, an_engine_answers_as_its_file_does_from_a_path_or_from_memory) {
  ASSERT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), nullptr), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(answer(engine_), answer(onnx_));
  const std::string bytes = " " + content(engine_);  // at an odd address
  nereid_engine* engine = nullptr;
  EXPECT_EQ(nereid_engine_open_from_memory(bytes.data() + 1, bytes.size() - 1, nullptr, nullptr, &engine), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(nereid_engine_input_count(engine), 1U);
  nereid_engine_close(&engine);
  const std::string model = layers().bytes();
  ASSERT_EQ(nereid_build_from_memory(model.data(), model.size(), nullptr, again_.c_str(), nullptr), NEREID_OK);
  EXPECT_EQ(answer(again_), answer(onnx_));
}

TEST_F(ApiBuild, a_stripped_engine_says_what_to_do_and_comes_back_byte_for_byte) {
  ASSERT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), nullptr), NEREID_OK);
  nereid_build_options options = NEREID_BUILD_OPTIONS_INIT;
  options.strip = 1;
  ASSERT_EQ(nereid_build(onnx_.c_str(), stripped_.c_str(), &options), NEREID_OK) << nereid_last_error();
  EXPECT_LT(std::filesystem::file_size(stripped_), std::filesystem::file_size(engine_));
  ASSERT_EQ(nereid_engine_strip(engine_.c_str(), again_.c_str()), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(content(again_), content(stripped_));

  nereid_engine* engine = nullptr;
  EXPECT_EQ(nereid_engine_open(stripped_.c_str(), nullptr, &engine), NEREID_INVALID_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find("nereid refit " + stripped_ + " --weights net.onnx"),
            std::string::npos)
      << nereid_last_error();

  ASSERT_EQ(nereid_engine_refit(stripped_.c_str(), onnx_.c_str(), again_.c_str(), nullptr), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(content(again_), content(engine_));
  ASSERT_EQ(nereid_engine_refit(stripped_.c_str(), onnx_.c_str(), stripped_.c_str(), nullptr), NEREID_OK)
      << "in its own place: " << nereid_last_error();
  EXPECT_EQ(content(stripped_), content(engine_));
}

TEST_F(ApiBuild, other_weights_of_the_same_names_and_sizes_take_their_place) {
  const std::string other = path("other.onnx");
  layers(0.7F).write(other);
  ASSERT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), nullptr), NEREID_OK);
  ASSERT_EQ(nereid_engine_refit(engine_.c_str(), other.c_str(), again_.c_str(), nullptr), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(answer(again_), answer(other));
  EXPECT_NE(answer(again_), answer(engine_));
}

TEST_F(ApiBuild, weights_that_passes_have_joined_are_computed_anew) {
  // Its batch normalisation is inside of a convolution.
  const std::string classifier = NEREID_SOURCE_DIR "/tests/data/onnx/classifier.onnx", other = path("other.onnx"),
                    of_other = path("other.engine");
  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(content(classifier)));
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    auto* raw = tensor.mutable_raw_data();
    for (size_t i = 0; i + 4 <= raw->size(); i += 4) {
      float value = 0;
      std::memcpy(&value, raw->data() + i, 4);
      value *= 1.0F + 0.01F * static_cast<float>(i % 7);
      std::memcpy(raw->data() + i, &value, 4);
    }
  }
  std::ofstream(other, std::ios::binary) << model.SerializeAsString();
  ASSERT_EQ(nereid_build(classifier.c_str(), engine_.c_str(), nullptr), NEREID_OK) << nereid_last_error();
  ASSERT_EQ(nereid_build(other.c_str(), of_other.c_str(), nullptr), NEREID_OK) << nereid_last_error();
  ASSERT_EQ(nereid_engine_refit(engine_.c_str(), other.c_str(), again_.c_str(), nullptr), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(content(again_), content(of_other));
  EXPECT_NE(content(again_), content(engine_));
}

TEST_F(ApiBuild, choices_of_kernels_are_kept_by_refitting) {
  const std::string classifier = NEREID_SOURCE_DIR "/tests/data/onnx/classifier.onnx", cache = path("cache.txt");
  nereid_build_options options = NEREID_BUILD_OPTIONS_INIT;
  options.level = 1;
  options.threads = 1;
  options.timing_cache = cache.c_str();
  ASSERT_EQ(nereid_build(classifier.c_str(), engine_.c_str(), &options), NEREID_OK) << nereid_last_error();
  ASSERT_TRUE(std::filesystem::exists(cache));
  ASSERT_EQ(nereid_engine_strip(engine_.c_str(), stripped_.c_str()), NEREID_OK) << nereid_last_error();
  options.timing_cache = nullptr;
  options.level = 0;
  ASSERT_EQ(nereid_engine_refit(stripped_.c_str(), classifier.c_str(), again_.c_str(), &options), NEREID_OK)
      << nereid_last_error();
  EXPECT_EQ(content(again_), content(engine_));
  options.level = 6;
  EXPECT_EQ(nereid_build(classifier.c_str(), engine_.c_str(), &options), NEREID_INVALID_ARGUMENT);
}

TEST_F(ApiBuild, a_mix_of_precisions_is_refitted_as_it_was_measured) {
  const std::string classifier = NEREID_SOURCE_DIR "/tests/data/onnx/classifier.onnx", ranges = path("ranges.txt");
  nereid_build_options options = NEREID_BUILD_OPTIONS_INIT;
  options.precision = "int8";
  options.threads = 1;
  const auto refitted_is_the_same = [&] {
    ASSERT_EQ(nereid_build(classifier.c_str(), engine_.c_str(), &options), NEREID_OK) << nereid_last_error();
    ASSERT_EQ(nereid_engine_strip(engine_.c_str(), stripped_.c_str()), NEREID_OK) << nereid_last_error();
    ASSERT_EQ(nereid_engine_refit(stripped_.c_str(), classifier.c_str(), again_.c_str(), nullptr), NEREID_OK)
        << nereid_last_error();
    EXPECT_EQ(content(again_), content(engine_));
    EXPECT_NE(content(engine_).find("int8"), std::string::npos);
  };
  refitted_is_the_same();  // products alone, by the range of each run
  // Three samples, as raw numbers by input.
  const std::string samples = path("samples");
  std::filesystem::create_directory(samples);
  for (int sample = 0; sample < 3; ++sample) {
    std::ofstream file(samples + "/" + std::to_string(sample) + ".npy", std::ios::binary);
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 16, 16), }";
    header.resize(118, ' ');
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header.substr(0, 117) << "\n";
    for (int i = 0; i < 3 * 16 * 16; ++i) {
      const float value = static_cast<float>(((i + sample) * 37) % 101) / 101.0F;
      file.write(reinterpret_cast<const char*>(&value), 4);
    }
  }
  options.calibration_folder = samples.c_str();
  options.calibration_cache = ranges.c_str();
  refitted_is_the_same();  // and convolutions
  const std::string model = layers().bytes();
  EXPECT_EQ(nereid_build_from_memory(model.data(), model.size(), nullptr, again_.c_str(), &options),
            NEREID_UNSUPPORTED);
}

TEST_F(ApiBuild, the_first_weight_that_does_not_fit_is_named) {
  ASSERT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), nullptr), NEREID_OK);
  const std::string other = path("other.onnx");
  const auto refit = [&](const TestModel& model) {
    model.write(other);
    EXPECT_EQ(nereid_engine_refit(engine_.c_str(), other.c_str(), again_.c_str(), nullptr), NEREID_INVALID_ARGUMENT);
    EXPECT_FALSE(std::filesystem::exists(again_));
    return std::string(nereid_last_error());
  };
  const auto net = [](const char* w, std::initializer_list<int64_t> w_sizes, std::initializer_list<int64_t> v_sizes,
                      const char* activation) {
    return TestModel()
        .input("x", {-1, 4})
        .weight(w, w_sizes)
        .weight("v", v_sizes)
        .node("MatMul", {"x", w}, {"a"})
        .node(activation, {"a"}, {"b"})
        .node("MatMul", {"b", "v"}, {"c"})
        .node("Softmax", {"c"}, {"y"})
        .output("y", {-1, 8});
  };
  EXPECT_EQ(refit(net("other", {4, 32}, {32, 8}, "Relu")),
            "reading " + other + ": " + other + " has no weight 'w' (f32[4, 32]), which the engine was built with");
  EXPECT_EQ(refit(net("w", {4, 16}, {16, 8}, "Relu")), "reading " + other + ": the weight 'w' is f32[4, 16] in " +
                                                           other + ", but the engine was built with f32[4, 32]");
  EXPECT_EQ(refit(net("w", {4, 32}, {32, 8}, "Relu").weight("more", {2})),
            "reading " + other + ": " + other + " has the weight 'more' (f32[2]), which the engine was built without");
  const std::string said = refit(net("w", {4, 32}, {32, 8}, "Tanh"));
  EXPECT_NE(said.find("its network is another one"), std::string::npos) << said;
  EXPECT_NE(said.find("tanh"), std::string::npos) << said;
}

TEST_F(ApiBuild, a_build_that_is_stopped_leaves_nothing) {
  struct Stop {
    int calls = 0;
    static int at_the_second(void* user, const char* stage, int64_t, int64_t) {
      EXPECT_NE(*stage, 0);
      return ++static_cast<Stop*>(user)->calls == 2 ? 1 : 0;
    }
  } stop;
  nereid_build_options options = NEREID_BUILD_OPTIONS_INIT;
  options.progress = &Stop::at_the_second;
  options.progress_user = &stop;
  EXPECT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), &options), NEREID_CANCELLED) << nereid_last_error();
  EXPECT_EQ(stop.calls, 2);
  EXPECT_FALSE(std::filesystem::exists(engine_));
}

TEST_F(ApiBuild, an_engine_whose_info_is_nonsense_is_a_sentence) {
  ASSERT_EQ(nereid_build(onnx_.c_str(), engine_.c_str(), nullptr), NEREID_OK);
  const std::string whole = content(engine_);
  const auto* first = reinterpret_cast<const std::byte*>(whole.data());
  const std::vector<std::byte> bytes(first, first + whole.size());
  const Json info = engine::EngineFile::parse(bytes, "it")->info();
  int refused = 0;
  for (const auto& [key, value] : info.items())
    for (const Json& nonsense : {Json(5), Json::array({1}), Json(""), Json::object({{"machine", 1}, {"weights", 2}})}) {
      Json changed = info;
      changed[key] = nonsense;
      const std::vector<std::byte> wrong = engine::testing::with_info(bytes, changed.dump());
      const std::string path = stripped_;
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(wrong.data()), static_cast<std::streamsize>(wrong.size()));
      nereid_engine* engine = nullptr;
      const nereid_status opened = nereid_engine_open(path.c_str(), nullptr, &engine);
      EXPECT_NE(opened, NEREID_INTERNAL) << key << ": " << nereid_last_error();
      refused += opened == NEREID_OK ? 0 : 1;
      nereid_engine_close(&engine);
      EXPECT_NE(nereid_engine_refit(path.c_str(), onnx_.c_str(), again_.c_str(), nullptr), NEREID_INTERNAL)
          << key << ": " << nereid_last_error();
      EXPECT_NE(nereid_engine_strip(path.c_str(), again_.c_str()), NEREID_INTERNAL)
          << key << ": " << nereid_last_error();
    }
  EXPECT_GT(refused, 8);
}

TEST_F(ApiBuild, what_is_no_engine_is_neither_stripped_nor_refitted) {
  EXPECT_EQ(nereid_engine_strip(onnx_.c_str(), again_.c_str()), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_engine_refit(onnx_.c_str(), onnx_.c_str(), again_.c_str(), nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_engine_strip(path("absent").c_str(), again_.c_str()), NEREID_NOT_FOUND);
  EXPECT_FALSE(std::filesystem::exists(again_));
}

}  // namespace
}  // namespace nereid::api::testing
