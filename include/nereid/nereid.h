/* SPDX-License-Identifier: Apache-2.0 */
/* Nereid's C interface: networks from ONNX files or engine files, made into engines and run.
 *
 *   nereid_engine* engine = NULL;
 *   nereid_context* context = NULL;
 *   nereid_engine_open("model.onnx", NULL, &engine);
 *   nereid_context_create(engine, NULL, &context);
 *   nereid_context_set_input(context, 0, &x);        x: a nereid_tensor over memory of yours
 *   nereid_context_run(context);
 *   nereid_context_output(context, 0, &y);           y: a nereid_tensor over memory of the context's
 *   nereid_context_close(&context);
 *   nereid_engine_close(&engine);
 *
 * Results. Every call that can fail returns a nereid_status. nereid_last_error() then has the sentence: what was found,
 * what was expected, what to do. Nothing throws, and no call ends the process because of what a file or a caller did.
 * Handles are checked for NULL; one that was closed is NULL, because closing takes the handle's address.
 *
 * Threads. An engine may be used by any number of threads at once. A context is for one thread at a time: a call that
 * meets another one on the same context returns NEREID_UNAVAILABLE and changes nothing. For more at once, make more
 * contexts; they share the engine's weights. Contexts made with threads = 0 share one team of threads, one a CPU, and
 * take turns with it; with threads = n a context has a team of its own. Many contexts at once are fastest with
 * threads = 1.
 *
 * Memory. What a call is given (paths, options, names) may go when it returns, except where it says otherwise. After a
 * first run with some sizes of the inputs, further runs with these sizes allocate nothing, unless an operator of the
 * network runs on a reference evaluator (nereid_context_notes) or has a result that only a run can size.
 *
 * Compatibility. Structs of options begin with their size and may grow at their end: set them to zero but for
 * struct_size (the NEREID_..._INIT macros do), and zero means the default. Numbers of enumerations do not change.
 *
 * Not in this version: devices other than "cpu"; values that are no tensors (sequences, optionals, maps). Asking for
 * them is NEREID_UNSUPPORTED, with a sentence.
 */
#ifndef NEREID_NEREID_H
#define NEREID_NEREID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NEREID_API __attribute__((visibility("default")))
#else
#define NEREID_API
#endif

/* Of this header. A library serves all headers of its own and smaller numbers. */
#define NEREID_ABI_VERSION 1

/* "0.1.0", and the ABI version that the library was built with. */
NEREID_API const char* nereid_version(void);
NEREID_API int32_t nereid_abi_version(void);

/* ---- results ---------------------------------------------------------------------------------------------------- */
typedef int32_t nereid_status;
enum {
  NEREID_OK = 0,
  NEREID_INVALID_ARGUMENT = 1, /* a file, an option or a call is wrong: again with the same, it fails again */
  NEREID_NOT_FOUND = 2,        /* a file or a name that is not there */
  NEREID_UNSUPPORTED = 3,      /* understood, but not in this version */
  NEREID_EXHAUSTED = 4,        /* memory, disk or a queue is full */
  NEREID_CANCELLED = 5,        /* the caller asked to stop */
  NEREID_UNAVAILABLE = 6,      /* may work later: in use by another thread, not ended yet */
  NEREID_INTERNAL = 7          /* a defect of the library's */
};
/* "invalid argument"; never NULL. */
NEREID_API const char* nereid_status_name(nereid_status status);
/* The sentence of the last call on this thread that did not return NEREID_OK; "" if there was none. Valid until the
 * next such call on this thread. */
NEREID_API const char* nereid_last_error(void);

/* ---- tensors ---------------------------------------------------------------------------------------------------- */
typedef int32_t nereid_dtype;
enum {
  NEREID_DTYPE_NONE = 0,
  NEREID_F32 = 1,
  NEREID_F64 = 2,
  NEREID_F16 = 3,
  NEREID_BF16 = 4,
  NEREID_I8 = 5,
  NEREID_I16 = 6,
  NEREID_I32 = 7,
  NEREID_I64 = 8,
  NEREID_U8 = 9,
  NEREID_U16 = 10,
  NEREID_U32 = 11,
  NEREID_U64 = 12,
  NEREID_BOOL = 13,   /* one byte, 0 or 1 */
  NEREID_STRING = 14, /* elements are nereid_string */
  NEREID_C64 = 15,    /* two f32: real, imaginary */
  NEREID_C128 = 16,
  NEREID_F8E4M3 = 17,
  NEREID_F8E5M2 = 18,
  NEREID_F8E4M3FNUZ = 19,
  NEREID_F8E5M2FNUZ = 20,
  NEREID_F8E8M0 = 21,
  NEREID_F4E2M1 = 22, /* two elements a byte over the whole tensor, the first in the low half; so are I4 and U4 */
  NEREID_I4 = 23,
  NEREID_U4 = 24,
  NEREID_I2 = 25, /* four elements a byte; so is U2 */
  NEREID_U2 = 26
};
/* "f32"; "none" for a number that is none of these. */
NEREID_API const char* nereid_dtype_name(nereid_dtype dtype);
/* Bytes of so many elements; -1: no such type, or too many. Of strings: those of the nereid_string structs. */
NEREID_API int64_t nereid_dtype_bytes(nereid_dtype dtype, int64_t elements);

/* Text is not ended by a zero byte. */
typedef struct nereid_string {
  const char* data;
  size_t size;
} nereid_string;

/* Row-major, without gaps, at a multiple of its element's size. `dims` may be NULL if rank is 0, `data` if there are no
 * elements. */
typedef struct nereid_tensor {
  const void* data;
  nereid_dtype dtype;
  int32_t rank;
  const int64_t* dims;
} nereid_tensor;

/* ---- log -------------------------------------------------------------------------------------------------------- */
typedef int32_t nereid_log_level;
enum { NEREID_LOG_ERROR = 0, NEREID_LOG_WARNING = 1, NEREID_LOG_INFO = 2 };
typedef void (*nereid_log_fn)(void* user, nereid_log_level level, const char* text);

typedef void (*nereid_text_fn)(void* user, const char* text); /* the text is gone when it returns */

/* ---- building --------------------------------------------------------------------------------------------------- */
/* Sizes that an input is fixed to. */
typedef struct nereid_input_shape {
  const char* name;
  int32_t rank;
  const int64_t* dims;
} nereid_input_shape;

/* Something other than 0: stop. Nothing is left behind then, and the call returns NEREID_CANCELLED. Called on the
 * thread that builds; `total` is 0 where it is not known. */
typedef int (*nereid_progress_fn)(void* user, const char* stage, int64_t done, int64_t total);

typedef struct nereid_build_options {
  size_t struct_size;
  const char* device;    /* NULL or "cpu" */
  const char* precision; /* what products and convolutions multiply in: NULL or "f32"; "bf16"; "int8" */
  int32_t threads;       /* 0: one a CPU */
  int32_t strip;         /* not 0: leave the weights out; nereid_engine_refit puts them back */
  const nereid_input_shape* shapes;
  size_t shape_count;
  nereid_progress_fn progress;
  void* progress_user;
  nereid_log_fn log; /* warnings of this build; NULL: they are dropped */
  void* log_user;
  int32_t level; /* 0: kernels are chosen by rule; 1 to 5: timed against each other, ever longer */
  int32_t reserved;
  const char* timing_cache; /* a file with what was timed before, which gains what is timed now; NULL: none */
  /* More than 0: the fastest mix of f32, bf16 and int8 whose error at every output stays below this share of its range.
   * From a file only, not from memory; so is "int8". */
  double accuracy;
  /* Samples of the inputs, for int8 and accuracy (docs/guide/precision.md). Without them and a cache, int8 is products
   * by the range of each run, and convolutions stay f32. */
  const char* calibration_folder;
  const char* calibration_cache; /* a file with ranges found before, or to be written */
} nereid_build_options;
#define NEREID_BUILD_OPTIONS_INIT \
  { sizeof(nereid_build_options), NULL, NULL, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, NULL, NULL }

/* Makes an engine file of an ONNX file. The file appears whole or not at all; the same input and options give the same
 * bytes. `options` may be NULL. */
NEREID_API nereid_status nereid_build(const char* onnx_path, const char* engine_path,
                                      const nereid_build_options* options);
/* The same from an ONNX file's bytes. Data beside the file is looked for in `folder` (NULL: there is none). */
NEREID_API nereid_status nereid_build_from_memory(const void* onnx, size_t size, const char* folder,
                                                  const char* engine_path, const nereid_build_options* options);
/* Writes the engine with the weights of the ONNX file: the file it was built from, or one of the same architecture with
 * weights of the same names, types and sizes. The engine may be stripped or whole, and may be replaced by the result.
 * The first weight that does not fit is named. Of the options, threads, progress and log count. */
NEREID_API nereid_status nereid_engine_refit(const char* engine_path, const char* onnx_path, const char* result_path,
                                             const nereid_build_options* options);
/* Writes the engine without its weights. */
NEREID_API nereid_status nereid_engine_strip(const char* engine_path, const char* result_path);

/* ---- engines ---------------------------------------------------------------------------------------------------- */
typedef struct nereid_engine nereid_engine;

typedef struct nereid_open_options {
  size_t struct_size;
  const char* device;    /* NULL or "cpu" */
  const char* precision; /* of ONNX files; an engine has its own */
  int32_t threads;       /* of the team that contexts share; 0: one a CPU */
  int32_t reserved;
  const nereid_input_shape* shapes; /* sizes that are fixed before an ONNX file is optimised */
  size_t shape_count;
  nereid_log_fn log; /* warnings of opening; NULL: they are dropped */
  void* log_user;
} nereid_open_options;
#define NEREID_OPEN_OPTIONS_INIT \
  { sizeof(nereid_open_options), NULL, NULL, 0, 0, NULL, 0, NULL, NULL }

/* Opens an engine file, or an ONNX file, which is imported and optimised first. On an error *engine is NULL. */
NEREID_API nereid_status nereid_engine_open(const char* path, const nereid_open_options* options,
                                            nereid_engine** engine);
/* The same from a file's bytes, which are copied. Data beside an ONNX file is looked for in `folder` (NULL: there is
 * none). */
NEREID_API nereid_status nereid_engine_open_from_memory(const void* bytes, size_t size, const char* folder,
                                                        const nereid_open_options* options, nereid_engine** engine);
/* Sets *engine to NULL. Contexts of it go on; its memory goes with the last of them. NULL inside is no error. */
NEREID_API nereid_status nereid_engine_close(nereid_engine** engine);

typedef int32_t nereid_kind;
enum { NEREID_TENSOR = 0, NEREID_SEQUENCE = 1, NEREID_OPTIONAL = 2, NEREID_MAP = 3 };

/* What an input or output is declared to be; all pointers live as long as the engine's handle. */
typedef struct nereid_value_info {
  const char* name;
  nereid_kind kind;
  nereid_dtype dtype;           /* of a sequence, optional or map: that of its elements */
  int32_t rank;                 /* -1: not known */
  const int64_t* dims;          /* -1: open */
  const char* const* dim_names; /* of open ones, "" where it has none; "" for numbers */
} nereid_value_info;

/* NULL has none of either. */
NEREID_API size_t nereid_engine_input_count(const nereid_engine* engine);
NEREID_API size_t nereid_engine_output_count(const nereid_engine* engine);
NEREID_API nereid_status nereid_engine_input(const nereid_engine* engine, size_t index, nereid_value_info* info);
NEREID_API nereid_status nereid_engine_output(const nereid_engine* engine, size_t index, nereid_value_info* info);
/* The place of a name; NEREID_NOT_FOUND lists what there is. */
NEREID_API nereid_status nereid_engine_find_input(const nereid_engine* engine, const char* name, size_t* index);
NEREID_API nereid_status nereid_engine_find_output(const nereid_engine* engine, const char* name, size_t* index);
/* Bytes of the forms that kernels keep of the weights. Weights as they are in the file are mapped and not counted. */
NEREID_API nereid_status nereid_engine_memory(const nereid_engine* engine, int64_t* bytes);

/* ---- contexts --------------------------------------------------------------------------------------------------- */
typedef struct nereid_context nereid_context;

typedef struct nereid_context_options {
  size_t struct_size;
  int32_t threads;     /* 0: the team that the engine's contexts share; n: a team of its own, with the calling thread */
  int32_t queue_depth; /* how many asynchronous runs may wait; 0: 64 */
} nereid_context_options;
#define NEREID_CONTEXT_OPTIONS_INIT \
  { sizeof(nereid_context_options), 0, 0 }

/* On an error *context is NULL. */
NEREID_API nereid_status nereid_context_create(nereid_engine* engine, const nereid_context_options* options,
                                               nereid_context** context);
/* Cancels what waits, stops what runs, calls their callbacks, sets *context to NULL. NEREID_INVALID_ARGUMENT from
 * within a callback of this context, which is then still open. NULL inside is no error. */
NEREID_API nereid_status nereid_context_close(nereid_context** context);

/* The input is read from the caller's memory when a run is made: it must stay until that run has ended. Texts are
 * copied at once. Set it again to change sizes or address; values may be changed in place between runs. Inputs that
 * are no tensors are NEREID_UNSUPPORTED. */
NEREID_API nereid_status nereid_context_set_input(nereid_context* context, size_t index, const nereid_tensor* tensor);
/* Memory of the caller's for an output, used by all runs made from now on; NULL: the context's own again. Kernels write
 * straight into it where they can, else it is copied once. It should not overlap an input (allowed, copied) and must
 * not overlap another output's. A run whose output needs more than `capacity` bytes returns NEREID_INVALID_ARGUMENT and
 * says how many; what it computed can be read with nereid_context_output. Texts cannot be bound. */
NEREID_API nereid_status nereid_context_bind_output(nereid_context* context, size_t index, void* memory,
                                                    size_t capacity);
NEREID_API nereid_status nereid_context_run(nereid_context* context);
/* What the last run gave: its sizes, and where it is. Valid until the next run, binding or closing; of an output that
 * passes an input on, as long as that input. */
NEREID_API nereid_status nereid_context_output(nereid_context* context, size_t index, nereid_tensor* tensor);

/* ---- asynchronous runs ------------------------------------------------------------------------------------------ */
/* A context has one queue and one thread of the library's that works it off in order. A run takes the inputs and bound
 * outputs that are set when it is enqueued; the caller may set others at once for the next one. While runs are in the
 * queue, nereid_context_run and nereid_context_output are NEREID_UNAVAILABLE, except that the callback of a run may
 * read its outputs with nereid_context_output. */
typedef uint64_t nereid_run_id; /* 1, 2, ... in a context */

/* Called on the library's thread when the run has ended: well, with an error (then `error` is its sentence), or
 * cancelled. The next run begins when it returns. It may enqueue further runs and set inputs for them (its calls wait
 * for the moment that another thread's call on the context takes); it may not wait for runs of its context or close
 * it. */
typedef void (*nereid_done_fn)(void* user, nereid_context* context, nereid_run_id id, nereid_status status,
                               const char* error);

/* `done` and `id` may be NULL. NEREID_EXHAUSTED: the queue is full; wait for a run. */
NEREID_API nereid_status nereid_context_run_async(nereid_context* context, nereid_done_fn done, void* user,
                                                  nereid_run_id* id);
/* Any thread may call the next three at any time.
 * wait: until the run and its callback have ended, or for so many milliseconds (negative: as long as it takes); returns
 * how the run ended, or NEREID_UNAVAILABLE when the time is over. Results are kept for as many runs as the queue is
 * deep; id 0: until the queue is empty, NEREID_OK.
 * poll: the same without waiting.
 * cancel: a run that waits never starts; one that runs stops at its next step. Its callback is called either way.
 * NEREID_NOT_FOUND: it has ended already, or never was. */
NEREID_API nereid_status nereid_context_wait(nereid_context* context, nereid_run_id id, int64_t timeout_ms);
NEREID_API nereid_status nereid_context_poll(nereid_context* context, nereid_run_id id);
NEREID_API nereid_status nereid_context_cancel(nereid_context* context, nereid_run_id id);

/* ---- looking at a context --------------------------------------------------------------------------------------- */
typedef struct nereid_layer_time {
  const char* label;  /* "conv_last %x": the operator and its result */
  const char* kernel; /* "conv.winograd"; "reference": an evaluator, not a kernel */
  int64_t total_ns;   /* wall time in all runs since profiling was turned on */
} nereid_layer_time;
typedef void (*nereid_layer_fn)(void* user, const nereid_layer_time* layer);

/* Times of layers are summed from now on (on = 0: no longer; what was summed stays). */
NEREID_API nereid_status nereid_context_set_profiling(nereid_context* context, int32_t on);
/* Calls `layer` for every layer that ran, in the order of running. */
NEREID_API nereid_status nereid_context_profile(nereid_context* context, nereid_layer_fn layer, void* user);
/* Calls `note` with a sentence for everything that runs on a reference evaluator instead of a kernel, and why. Known
 * after a run with the sizes in question. */
NEREID_API nereid_status nereid_context_notes(nereid_context* context, nereid_text_fn note, void* user);
/* Bytes of its plans: values between layers, scratch. */
NEREID_API nereid_status nereid_context_memory(nereid_context* context, int64_t* bytes);
NEREID_API nereid_status nereid_context_threads(nereid_context* context, int32_t* threads);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_NEREID_H */
