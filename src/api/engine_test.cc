// SPDX-License-Identifier: Apache-2.0
// Opening engines, what they say of themselves, and callers that get it wrong.
#include <thread>

#include "api/test_model.h"

namespace nereid::api::testing {
namespace {

nereid_status open_bytes(const std::string& bytes, const nereid_open_options* options, nereid_engine** engine) {
  return nereid_engine_open_from_memory(bytes.data(), bytes.size(), nullptr, options, engine);
}

TEST(ApiEngine, declares_its_inputs_and_outputs) {
  const Opened o(layers());
  ASSERT_EQ(nereid_engine_input_count(o.engine), 1U);
  ASSERT_EQ(nereid_engine_output_count(o.engine), 1U);
  nereid_value_info x{};
  ASSERT_EQ(nereid_engine_input(o.engine, 0, &x), NEREID_OK);
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.kind, NEREID_TENSOR);
  EXPECT_EQ(x.dtype, NEREID_F32);
  ASSERT_EQ(x.rank, 2);
  EXPECT_EQ(x.dims[0], -1);
  EXPECT_STREQ(x.dim_names[0], "n1");
  EXPECT_EQ(x.dims[1], 4);
  EXPECT_STREQ(x.dim_names[1], "");
  size_t index = 7;
  EXPECT_EQ(nereid_engine_find_output(o.engine, "y", &index), NEREID_OK);
  EXPECT_EQ(index, 0U);
  EXPECT_EQ(nereid_engine_find_input(o.engine, "z", &index), NEREID_NOT_FOUND);
  EXPECT_STREQ(nereid_last_error(), "there is no input 'z'; there is 'x'");
  EXPECT_EQ(nereid_engine_input(o.engine, 1, &x), NEREID_INVALID_ARGUMENT);
}

TEST(ApiEngine, contexts_outlive_the_handle_of_their_engine) {
  Opened o(layers());
  ASSERT_EQ(nereid_engine_close(&o.engine), NEREID_OK);
  EXPECT_EQ(o.engine, nullptr);
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<int64_t> dims = {1, 4};
  const nereid_tensor t = tensor(x, dims);
  ASSERT_EQ(nereid_context_set_input(o.context, 0, &t), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_OK) << nereid_last_error();
  EXPECT_EQ(o.floats(0).size(), 8U);
}

TEST(ApiEngine, handles_that_are_null_are_sentences) {
  nereid_engine* engine = nullptr;
  nereid_context* context = nullptr;
  EXPECT_EQ(nereid_engine_close(&engine), NEREID_OK);
  EXPECT_EQ(nereid_context_close(&context), NEREID_OK);
  EXPECT_EQ(nereid_engine_close(nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_create(nullptr, nullptr, &context), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_context_run(nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_STREQ(nereid_last_error(), "the context's handle is NULL: it was not created, or is closed");
  EXPECT_EQ(nereid_context_wait(nullptr, 0, 0), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_engine_input_count(nullptr), 0U);
  EXPECT_EQ(nereid_engine_open(nullptr, nullptr, &engine), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_engine_open("x.onnx", nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_build(nullptr, "x", nullptr), NEREID_INVALID_ARGUMENT);
}

TEST(ApiEngine, a_closed_context_is_null_and_says_so) {
  Opened o(layers());
  ASSERT_EQ(nereid_context_close(&o.context), NEREID_OK);
  EXPECT_EQ(o.context, nullptr);
  EXPECT_EQ(nereid_context_close(&o.context), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o.context), NEREID_INVALID_ARGUMENT);
}

TEST(ApiEngine, what_cannot_be_opened_leaves_no_handle_and_says_why) {
  nereid_engine* engine = reinterpret_cast<nereid_engine*>(1);
  EXPECT_EQ(nereid_engine_open("/nowhere/model.onnx", nullptr, &engine), NEREID_NOT_FOUND);
  EXPECT_EQ(engine, nullptr);
  EXPECT_NE(std::string(nereid_last_error()).find("/nowhere/model.onnx"), std::string::npos);
  EXPECT_EQ(open_bytes("hello", nullptr, &engine), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(open_bytes("", nullptr, &engine), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(open_bytes("NEREIDEN and no more", nullptr, &engine), NEREID_INVALID_ARGUMENT);
}

TEST(ApiEngine, a_device_that_is_not_there_is_unsupported) {
  nereid_open_options options = NEREID_OPEN_OPTIONS_INIT;
  options.device = "cuda";
  nereid_engine* engine = nullptr;
  EXPECT_EQ(open_bytes(layers().bytes(), &options, &engine), NEREID_UNSUPPORTED);
  EXPECT_STREQ(nereid_last_error(), "there is no device 'cuda' in this version of Nereid; networks run on \"cpu\"");
  nereid_build_options build = NEREID_BUILD_OPTIONS_INIT;
  build.device = "cuda:1";
  EXPECT_EQ(nereid_build("a.onnx", "a.engine", &build), NEREID_UNSUPPORTED);
}

TEST(ApiEngine, options_that_make_no_sense_are_refused) {
  nereid_engine* engine = nullptr;
  const std::string bytes = layers().bytes();
  nereid_open_options options = NEREID_OPEN_OPTIONS_INIT;
  options.threads = -1;
  EXPECT_EQ(open_bytes(bytes, &options, &engine), NEREID_INVALID_ARGUMENT);
  options = NEREID_OPEN_OPTIONS_INIT;
  options.precision = "f7";
  EXPECT_EQ(open_bytes(bytes, &options, &engine), NEREID_INVALID_ARGUMENT);
  options = NEREID_OPEN_OPTIONS_INIT;
  options.struct_size = 0;
  EXPECT_EQ(open_bytes(bytes, &options, &engine), NEREID_INVALID_ARGUMENT);
  options = NEREID_OPEN_OPTIONS_INIT;
  options.shape_count = 1;
  EXPECT_EQ(open_bytes(bytes, &options, &engine), NEREID_INVALID_ARGUMENT);
  const int64_t dims[] = {2, 4};
  const nereid_input_shape wrong[] = {{"z", 2, dims}};
  options.shapes = wrong;
  EXPECT_EQ(open_bytes(bytes, &options, &engine), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(engine, nullptr);
}

TEST(ApiEngine, options_of_an_older_header_are_shorter_and_those_of_a_newer_one_longer) {
  const std::string bytes = layers().bytes();
  nereid_engine* engine = nullptr;
  nereid_open_options older = NEREID_OPEN_OPTIONS_INIT;
  older.struct_size = offsetof(nereid_open_options, threads);
  older.threads = -5;  // not the caller's: it is past the end
  EXPECT_EQ(open_bytes(bytes, &older, &engine), NEREID_OK) << nereid_last_error();
  nereid_engine_close(&engine);
  struct {
    nereid_open_options options = NEREID_OPEN_OPTIONS_INIT;
    int64_t more = 0;
  } newer;
  newer.options.struct_size = sizeof(newer);
  EXPECT_EQ(open_bytes(bytes, &newer.options, &engine), NEREID_OK) << nereid_last_error();
  nereid_engine_close(&engine);
  newer.more = 1;
  EXPECT_EQ(open_bytes(bytes, &newer.options, &engine), NEREID_UNSUPPORTED);
}

TEST(ApiEngine, sizes_that_are_fixed_are_declared) {
  nereid_open_options options = NEREID_OPEN_OPTIONS_INIT;
  const int64_t dims[] = {3, 4};
  const nereid_input_shape shape[] = {{"x", 2, dims}};
  options.shapes = shape;
  options.shape_count = 1;
  nereid_engine* engine = nullptr;
  ASSERT_EQ(open_bytes(layers().bytes(), &options, &engine), NEREID_OK) << nereid_last_error();
  nereid_value_info y{};
  ASSERT_EQ(nereid_engine_output(engine, 0, &y), NEREID_OK);
  EXPECT_EQ(y.dims[0], 3);
  nereid_engine_close(&engine);
}

TEST(ApiEngine, every_thread_has_its_own_last_error) {
  EXPECT_EQ(nereid_context_run(nullptr), NEREID_INVALID_ARGUMENT);
  const std::string mine = nereid_last_error();
  std::thread([] {
    EXPECT_STREQ(nereid_last_error(), "");
    EXPECT_EQ(nereid_engine_close(nullptr), NEREID_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(mine, nereid_last_error());
}

TEST(ApiEngine, names_of_codes_and_types) {
  EXPECT_STREQ(nereid_status_name(NEREID_UNSUPPORTED), "unsupported");
  EXPECT_STREQ(nereid_status_name(99), "unknown");
  EXPECT_STREQ(nereid_dtype_name(NEREID_BF16), "bf16");
  EXPECT_STREQ(nereid_dtype_name(NEREID_U2), "u2");
  EXPECT_STREQ(nereid_dtype_name(0), "none");
  EXPECT_EQ(nereid_dtype_bytes(NEREID_F64, 3), 24);
  EXPECT_EQ(nereid_dtype_bytes(NEREID_U4, 3), 2);
  EXPECT_EQ(nereid_dtype_bytes(NEREID_STRING, 2), static_cast<int64_t>(2 * sizeof(nereid_string)));
  EXPECT_EQ(nereid_dtype_bytes(NEREID_F32, -1), -1);
  EXPECT_EQ(nereid_dtype_bytes(NEREID_F32, INT64_MAX), -1);
  EXPECT_EQ(nereid_abi_version(), NEREID_ABI_VERSION);
}

}  // namespace
}  // namespace nereid::api::testing
