/* SPDX-License-Identifier: Apache-2.0 */
/* Nereid's C interface to models that turn texts into vectors, or judge pairs of texts: BERT and its family.
 *
 *   nereid_encoder* encoder = NULL;
 *   nereid_encoder_open("all-MiniLM-L6-v2", NULL, &encoder);
 *   nereid_encoder_text texts[] = {NEREID_ENCODER_TEXT_INIT, NEREID_ENCODER_TEXT_INIT};
 *   texts[0].text = "A girl styles her hair.";
 *   texts[1].text = "A man reads.";
 *   nereid_encoder_encode(encoder, texts, 2, vectors, 2 * 384, NULL);
 *   nereid_encoder_close(&encoder);
 *
 * Texts of many calls are encoded side by side, and what a text gives does not depend on its company. Results, handles,
 * memory and compatibility are as in nereid.h. Every function may be called by any thread at any time, but for
 * nereid_encoder_close, which is the last call.
 */
#ifndef NEREID_ENCODER_H
#define NEREID_ENCODER_H

#include "nereid/nereid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nereid_encoder nereid_encoder;

typedef struct nereid_encoder_options {
  size_t struct_size;
  const char* device; /* NULL or "cpu" */
  int32_t threads;    /* 0: one a CPU */
  int32_t reserved;
  int64_t max_tokens;          /* of a text; 0: what its files say */
  nereid_progress_fn progress; /* a model that was not opened before is packed first */
  void* progress_user;
  nereid_log_fn log; /* warnings of opening; NULL: they are dropped */
  void* log_user;
} nereid_encoder_options;
#define NEREID_ENCODER_OPTIONS_INIT \
  { sizeof(nereid_encoder_options), NULL, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Opens a folder of Hugging Face's (sentence-transformers' too), or an engine file of one. On an error *encoder is
 * NULL: NEREID_INVALID_ARGUMENT also for a model that generates texts and does nothing else. */
NEREID_API nereid_status nereid_encoder_open(const char* path, const nereid_encoder_options* options,
                                             nereid_encoder** encoder);
/* Ends what is left as cancelled, sets *encoder to NULL. NULL inside is no error. */
NEREID_API nereid_status nereid_encoder_close(nereid_encoder** encoder);

typedef struct nereid_encoder_info {
  size_t struct_size; /* set by the caller: sizeof(nereid_encoder_info) */
  int64_t width;      /* numbers that a text gives: of its vector, or one a label */
  int64_t labels;     /* 0: it gives vectors; 1: it judges pairs of texts (a reranker) */
  int64_t max_tokens; /* of a text, with what the model wants around it */
  int64_t vocabulary;
} nereid_encoder_info;
NEREID_API nereid_status nereid_encoder_describe(const nereid_encoder* encoder, nereid_encoder_info* info);

typedef struct nereid_encoder_text {
  size_t struct_size;
  const char* text;      /* NULL: tokens count */
  const char* second;    /* read together with the first; NULL: none */
  const int32_t* tokens; /* the text as ids, with what the model wants around it */
  size_t token_count;
  int32_t truncates; /* not 0: what is too long loses its end; else it is an error */
  int32_t reserved;
} nereid_encoder_text;
#define NEREID_ENCODER_TEXT_INIT \
  { sizeof(nereid_encoder_text), NULL, NULL, NULL, 0, 0, 0 }

/* The numbers of `count` texts, `width` each, one behind the other at `numbers`, which has room for `capacity` of them;
 * and, unless NULL, how many tokens each text was. Returns when all are there. NEREID_INVALID_ARGUMENT: too little
 * room, a text that is too long or empty (named by its place); NEREID_EXHAUSTED: too many texts wait. */
NEREID_API nereid_status nereid_encoder_encode(nereid_encoder* encoder, const nereid_encoder_text* texts, size_t count,
                                               float* numbers, size_t capacity, int64_t* token_counts);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_ENCODER_H */
