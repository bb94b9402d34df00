/* The boundary to jinja_rs/, which renders Jinja templates by minijinja. Plain C; no panic or exception crosses it.
 *
 * Semantics are those of Python's jinja2 as Hugging Face transformers sets it up for chat templates: trim_blocks,
 * lstrip_blocks, loop controls, `raise_exception`, `strftime_now`, `tojson` without HTML escapes, Python's string
 * methods, `generation` blocks. Undefined variables print nothing; an attribute of one is an error. */
#ifndef HEADRACE_TOKENIZER_CHAT_JINJA_H
#define HEADRACE_TOKENIZER_CHAT_JINJA_H

/* C has no cstddef, and its enumerators no scope. */
/* NOLINTBEGIN(modernize-deprecated-headers,readability-identifier-naming) */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* data; /* UTF-8 */
  size_t size;
} headrace_jinja_text;

typedef enum {
  HEADRACE_JINJA_OK = 0,
  HEADRACE_JINJA_SYNTAX = 1,   /* the template cannot be parsed */
  HEADRACE_JINJA_FAILED = 2,   /* it went wrong while it ran */
  HEADRACE_JINJA_RAISED = 3,   /* it called raise_exception */
  HEADRACE_JINJA_LIMIT = 4,    /* it asks for more work, memory or depth than is allowed */
  HEADRACE_JINJA_INPUT = 5,    /* template or context are not UTF-8, or the context is not a JSON object */
  HEADRACE_JINJA_INTERNAL = 6, /* a panic, caught */
} headrace_jinja_status;
/* NOLINTEND(modernize-deprecated-headers,readability-identifier-naming) */

/* Writes the time now by a strftime format into out[0, capacity); the bytes written, or -1 when they do not fit. */
typedef int64_t (*headrace_jinja_strftime)(void* user, const char* format, size_t size, char* out, size_t capacity);

typedef struct {
  /* Steps the template may take. A step is an instruction, or 64 bytes of anything it makes, so this bounds both time
   * and memory. */
  uint64_t fuel;
  headrace_jinja_strftime strftime; /* may be null: then strftime_now is an error */
  void* user;
} headrace_jinja_options;

typedef struct {
  headrace_jinja_status status;
  headrace_jinja_text text; /* the prompt, or one line that says what went wrong; to be freed by headrace_jinja_free */
  uint64_t line;            /* of the template, from 1; 0 where none is known */
} headrace_jinja_result;

/* `context` is a JSON object with the template's variables; the order of its members is kept. */
headrace_jinja_result headrace_jinja_render(headrace_jinja_text source, headrace_jinja_text context,
                                            const headrace_jinja_options* options);
void headrace_jinja_free(headrace_jinja_text text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
