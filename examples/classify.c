/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a network on one image and prints the best classes:  classify MODEL.onnx|MODEL.engine [K] */
#include <inttypes.h>
#include <nereid/nereid.h>
#include <stdio.h>
#include <stdlib.h>

static int complain(const char* what) {
  fprintf(stderr, "classify: %s: %s\n", what, nereid_last_error());
  return 1;
}

/* The declared sizes, 1 where they are open; the number of elements. */
static int64_t choose_sizes(const nereid_value_info* info, int64_t* dims) {
  int64_t count = 1;
  int32_t d;
  for (d = 0; d < info->rank; ++d) {
    dims[d] = info->dims[d] < 0 ? 1 : info->dims[d];
    count *= dims[d];
  }
  return count;
}

static void print_best(const float* scores, int64_t count, int64_t wanted) {
  char* taken = calloc((size_t)count, 1);
  int64_t k, i;
  for (k = 0; taken != NULL && k < wanted && k < count; ++k) {
    int64_t best = -1;
    for (i = 0; i < count; ++i)
      if (!taken[i] && (best < 0 || scores[i] > scores[best])) best = i;
    taken[best] = 1;
    printf("class %" PRId64 ": %.6f\n", best, (double)scores[best]);
  }
  free(taken);
}

static int classify(nereid_engine* engine, nereid_context* context, int64_t wanted) {
  nereid_value_info info;
  nereid_tensor image, scores;
  int64_t dims[16], count, i;
  float* pixels;
  int32_t d;
  int failed = 0;

  if (nereid_engine_input(engine, 0, &info) != NEREID_OK) return complain("the first input");
  if (info.dtype != NEREID_F32 || info.rank < 0 || info.rank > 16) {
    fprintf(stderr, "classify: the input '%s' is %s, not a tensor of f32\n", info.name, nereid_dtype_name(info.dtype));
    return 1;
  }
  count = choose_sizes(&info, dims);
  pixels = malloc((size_t)count * sizeof(float));
  if (pixels == NULL) return 1;
  for (i = 0; i < count; ++i) pixels[i] = (float)((i * 37) % 101) / 101.0F;
  image.data = pixels;
  image.dtype = NEREID_F32;
  image.rank = info.rank;
  image.dims = dims;

  if (nereid_context_set_input(context, 0, &image) != NEREID_OK) failed = complain("the input");
  if (!failed && nereid_context_run(context) != NEREID_OK) failed = complain("the run");
  if (!failed && nereid_context_output(context, 0, &scores) != NEREID_OK) failed = complain("the output");
  if (!failed) {
    for (count = 1, d = 0; d < scores.rank; ++d) count *= scores.dims[d];
    print_best(scores.data, count, wanted);
  }
  free(pixels);
  return failed;
}

int main(int argc, char** argv) {
  nereid_engine* engine = NULL;
  nereid_context* context = NULL;
  int failed;
  if (argc < 2) {
    fprintf(stderr, "usage: classify MODEL.onnx|MODEL.engine [K]\n");
    return 2;
  }
  if (nereid_engine_open(argv[1], NULL, &engine) != NEREID_OK) return complain(argv[1]);
  failed = nereid_context_create(engine, NULL, &context) != NEREID_OK
               ? complain("the context")
               : classify(engine, context, argc > 2 ? atoi(argv[2]) : 5);
  nereid_context_close(&context);
  nereid_engine_close(&engine);
  return failed;
}
