/* SPDX-License-Identifier: Apache-2.0 */
/* The headers in a C99 program: compiled with -pedantic -Werror, called by header_test.cc. */
#include <nereid/encoder.h>
#include <nereid/llm.h>
#include <nereid/nereid.h>
#include <stddef.h>

int nereid_use_from_c(const void* onnx, size_t size, const float* x, int64_t rows, float* y);

/* 0 if all went well, else the number of the step that did not. */
int nereid_use_from_c(const void* onnx, size_t size, const float* x, int64_t rows, float* y) {
  nereid_engine* engine = NULL;
  nereid_context* context = NULL;
  nereid_open_options open = NEREID_OPEN_OPTIONS_INIT;
  nereid_context_options with = NEREID_CONTEXT_OPTIONS_INIT;
  int64_t dims[2];
  nereid_tensor in = {NULL, NEREID_F32, 2, NULL};
  int failed = 0;
  dims[0] = rows;
  dims[1] = 4;
  in.data = x;
  in.dims = dims;
  open.threads = 1;
  with.threads = 1;
  if (nereid_engine_open_from_memory(onnx, size, NULL, &open, &engine) != NEREID_OK) return 1;
  if (nereid_context_create(engine, &with, &context) != NEREID_OK) failed = 2;
  if (!failed && nereid_context_set_input(context, 0, &in) != NEREID_OK) failed = 3;
  if (!failed && nereid_context_bind_output(context, 0, y, (size_t)rows * 8 * sizeof(float)) != NEREID_OK) failed = 4;
  if (!failed && nereid_context_run(context) != NEREID_OK) failed = 5;
  if (nereid_context_close(&context) != NEREID_OK || nereid_engine_close(&engine) != NEREID_OK) return 6;
  return failed;
}
