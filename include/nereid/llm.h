/* SPDX-License-Identifier: Apache-2.0 */
/* Nereid's C interface to language models: many requests on one model, answered side by side.
 *
 *   nereid_llm* llm = NULL;
 *   nereid_llm_open("model.gguf", NULL, &llm);
 *   nereid_llm_request request = NEREID_LLM_REQUEST_INIT;
 *   request.prompt = "Once upon a time";
 *   nereid_llm_enqueue(llm, &request, on_output, &mine, &id);     on_output hears every token
 *   nereid_llm_wait(llm, id, -1);
 *   nereid_llm_close(&llm);
 *
 * Requests join and leave the batch at every step. What one of them gets does not depend on the others, nor on whether
 * its prompt was seen before (it is not computed again then).
 *
 * Results, handles, memory and compatibility are as in nereid.h. Every function may be called by any thread at any
 * time, but for nereid_llm_close, which is the last call.
 */
#ifndef NEREID_LLM_H
#define NEREID_LLM_H

#include "nereid/nereid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nereid_llm nereid_llm;

typedef struct nereid_llm_options {
  size_t struct_size;
  const char* device; /* NULL or "cpu"; "cuda" or "cuda:1" where the CUDA plugin is */
  int32_t threads;    /* 0: one a CPU */
  int32_t reserved;
  int64_t context_tokens;      /* longest prompt and answer together; 0: the model's, at most 8192 */
  int64_t max_sequences;       /* answers that are made at one time; 0: 64 */
  int64_t step_tokens;         /* tokens of one step, prompts and answers together; 0: 512 */
  int64_t max_queue;           /* requests that wait; one more is NEREID_EXHAUSTED; 0: 1024 */
  int64_t cache_tokens;        /* of all requests together, kept prefixes included; 0: by the memory there is */
  nereid_progress_fn progress; /* a model that was not opened before is packed first */
  void* progress_user;
  nereid_log_fn log; /* warnings of opening; NULL: they are dropped */
  void* log_user;
  const char* policy;     /* who gets in: NULL or "max_utilization" (who fits now; the youngest pauses when the cache is
                             full), "guaranteed_no_evict" (who surely fits to its end) */
  const char* trace_path; /* a file for a trace viewer, written when the model is closed; NULL: none */
  const char* kv_cache_dtype; /* of keys and values: "f16", "int8", "fp8", "int8,0-1=f16" (layers 0 and 1 otherwise);
                                 NULL: as the engine was built */
  const char* draft;    /* a smaller model of the same vocabulary that guesses; the answers stay the same; NULL: none */
  int32_t draft_tokens; /* its guesses at a time; 0: 4 */
  int32_t shifts_context;    /* not 0: an answer that fills the context goes on without the older half of it */
  int64_t shift_keep;        /* but with so many tokens of its beginning */
  int64_t host_memory_bytes; /* for pages that have to leave the cache, in a file without a name; 0: they are dropped */
} nereid_llm_options;
#define NEREID_LLM_OPTIONS_INIT \
  { sizeof(nereid_llm_options), NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Opens a .gguf file, a folder of Hugging Face's, or an engine file of one. On an error *llm is NULL. A progress
 * function that asks to stop is not heeded yet. */
NEREID_API nereid_status nereid_llm_open(const char* path, const nereid_llm_options* options, nereid_llm** llm);
/* Ends what is left as cancelled, calls their functions, sets *llm to NULL. NEREID_INVALID_ARGUMENT from within an
 * output function; the model is still open then. NULL inside is no error. */
NEREID_API nereid_status nereid_llm_close(nereid_llm** llm);

/* ---- what a model is -------------------------------------------------------------------------------------------- */
typedef struct nereid_llm_info {
  size_t struct_size; /* set by the caller: sizeof(nereid_llm_info) */
  int64_t vocabulary;
  int64_t context_tokens; /* prompt and answer */
  int64_t max_sequences;
  int32_t has_chat_template;
  int32_t reserved;
} nereid_llm_info;
NEREID_API nereid_status nereid_llm_describe(const nereid_llm* llm, nereid_llm_info* info);

/* Ids of a text, as many as `capacity` holds; *count is how many there are (call with capacity 0 to ask). With
 * add_special also what the model wants before a text; with parse_special texts such as "<|im_end|>" become their
 * token. NEREID_INVALID_ARGUMENT: more than `capacity`, unless that is 0. */
NEREID_API nereid_status nereid_llm_tokenize(const nereid_llm* llm, const char* text, size_t size, int32_t add_special,
                                             int32_t parse_special, int32_t* ids, size_t capacity, size_t* count);
/* The text of ids, special ones by their names, the same way; no zero byte is put behind it. */
NEREID_API nereid_status nereid_llm_detokenize(const nereid_llm* llm, const int32_t* ids, size_t count, char* text,
                                               size_t capacity, size_t* size);
/* The prompt of a chat: OpenAI's messages and tools (NULL: none) as JSON, through the model's chat template, ready to
 * be answered. Ids as from nereid_llm_tokenize. NEREID_UNSUPPORTED: the model has no template. */
NEREID_API nereid_status nereid_llm_chat_prompt(const nereid_llm* llm, const char* messages, const char* tools,
                                                int32_t* ids, size_t capacity, size_t* count);

/* ---- requests --------------------------------------------------------------------------------------------------- */
typedef uint64_t nereid_llm_id; /* 1, 2, ... in a model */

/* One number of sampling, by its name in docs/reference/sampling.md: "temperature", "top_p", "max_tokens", "seed". */
typedef struct nereid_llm_setting {
  const char* name;
  double value;
} nereid_llm_setting;

typedef struct nereid_llm_request {
  size_t struct_size;
  const char* prompt;    /* a text; NULL: tokens count */
  const int32_t* tokens; /* the prompt as ids */
  size_t token_count;
  const nereid_llm_setting* settings; /* what is not named is as in the reference: greedy, no end but the model's own */
  size_t setting_count;
  const char* const* stops; /* texts that end the answer */
  size_t stop_count;
  int32_t choices;          /* answers, of seeds seed, seed + 1, ...; 0: 1 */
  int32_t priority;         /* greater goes first */
  int64_t timeout_us;       /* from here to the last token; 0: none */
  const char* user;         /* requests of one user share what its turn gives; NULL: "" */
  const char* grammar_kind; /* "json", "json_schema", "regex", "ebnf", "choice", "structural_tag"; NULL: any text */
  const char* grammar;      /* what the answer must look like */
  const char* adapter;      /* a LoRA loaded by that name; NULL: the model as it is */
} nereid_llm_request;
#define NEREID_LLM_REQUEST_INIT \
  { sizeof(nereid_llm_request), NULL, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

typedef int32_t nereid_llm_finish;
enum {
  NEREID_LLM_RUNNING = 0,
  NEREID_LLM_STOP = 1,   /* the model ended the text, or a stop text came */
  NEREID_LLM_LENGTH = 2, /* max_tokens, or the end of the context */
  NEREID_LLM_CANCELLED = 3,
  NEREID_LLM_TIMEOUT = 4,
  NEREID_LLM_FAILED = 5 /* then status and error say why */
};

/* What a step gave one choice; gone when the function returns. */
typedef struct nereid_llm_output {
  nereid_llm_id id;
  int32_t choice;
  int32_t token;            /* -1: no new one (an end without one) */
  nereid_string text;       /* has become final: whole characters, no beginning of a stop text */
  float logprob;            /* of the token, if "logprobs" is 0 or more */
  nereid_llm_finish finish; /* not NEREID_LLM_RUNNING: the last output of this choice, with the counts that follow */
  nereid_status status;
  int32_t reserved;
  const char* error; /* never NULL */
  int64_t prompt_tokens;
  int64_t reused_tokens; /* of the prompt, found in the cache */
  int64_t answer_tokens; /* of this choice */
} nereid_llm_output;
/* Called on the library's thread that steps the model: it must return soon. It may call enqueue, cancel and stats. */
typedef void (*nereid_llm_output_fn)(void* user, const nereid_llm_output* output);

/* `id` may be NULL. NEREID_EXHAUSTED: too many wait; NEREID_INVALID_ARGUMENT: a prompt that is too long, a setting that
 * there is not. The function is not called then. */
NEREID_API nereid_status nereid_llm_enqueue(nereid_llm* llm, const nereid_llm_request* request,
                                            nereid_llm_output_fn on_output, void* user, nereid_llm_id* id);
/* Ends it within a step, as cancelled; nothing happens for one that has ended. */
NEREID_API nereid_status nereid_llm_cancel(nereid_llm* llm, nereid_llm_id id);
/* Until all choices of the request have had their last output, or for so many milliseconds (negative: as long as it
 * takes): NEREID_UNAVAILABLE then. NEREID_OK for one that ended long ago or never was. Not from an output function. */
NEREID_API nereid_status nereid_llm_wait(nereid_llm* llm, nereid_llm_id id, int64_t timeout_ms);

/* LoRA adapters, while requests run. `path` is a folder as PEFT saves them (adapter_config.json and
 * adapter_model.safetensors); what they add is multiplied by `scale` besides. Requests with different adapters, or
 * none, share steps. NEREID_INVALID_ARGUMENT: the name is taken, or the files are damaged or for another model;
 * NEREID_UNSUPPORTED names what the adapter asks for. */
NEREID_API nereid_status nereid_llm_load_adapter(nereid_llm* llm, const char* name, const char* path, double scale);
/* Requests at hand end with it; its memory goes with the last of them. NEREID_NOT_FOUND: there is none of that name. */
NEREID_API nereid_status nereid_llm_unload_adapter(nereid_llm* llm, const char* name);

typedef struct nereid_llm_stats {
  size_t struct_size; /* set by the caller: sizeof(nereid_llm_stats) */
  int64_t requests_running, requests_waiting;
  int64_t pages, pages_used, pages_cached; /* used: held by requests; cached: kept for prefixes to come */
  int64_t steps, prompt_tokens, reused_tokens, answer_tokens; /* totals, as all that follow */
  int64_t requests_done, requests_cancelled, requests_timed_out, requests_failed, requests_refused;
  int64_t preemptions;
} nereid_llm_stats;
NEREID_API nereid_status nereid_llm_read_stats(const nereid_llm* llm, nereid_llm_stats* stats);

/* One step of the model. */
typedef struct nereid_llm_iteration {
  size_t struct_size;                         /* of each element, set by the caller: sizeof(nereid_llm_iteration) */
  int64_t iteration;                          /* 1, 2, ... */
  int64_t begin_us;                           /* of a clock that only grows */
  int64_t latency_us, model_us;               /* all of it; what the model took of it */
  int64_t requests_running, requests_waiting; /* after the step */
  int64_t requests_started, requests_ended, requests_paused; /* in it */
  int64_t prompt_sequences, answer_sequences;                /* in it: parts of prompts, answers that go on */
  int64_t prompt_tokens, answer_tokens;                      /* that were run; guesses are among the answers' */
  int64_t draft_tokens, accepted_tokens;                     /* guesses, and those that were right */
  int64_t reused_tokens;                                     /* of the prompts that started: found in the cache */
  int64_t pages, pages_used, pages_cached;
} nereid_llm_iteration;
/* The latest steps that nobody has read, oldest first: at most `capacity` of them (older ones that find no place are
 * gone), *count is how many were written. The library keeps 1024. */
NEREID_API nereid_status nereid_llm_read_iterations(nereid_llm* llm, nereid_llm_iteration* iterations, size_t capacity,
                                                    size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_LLM_H */
