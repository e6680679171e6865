/* What the readers of run documents share: faults that name their place, unknown keys, numbers. */
#ifndef DOMAIN_RUN_PLACE_H
#define DOMAIN_RUN_PLACE_H

#include "base/error.h"
#include "base/json/tree.h"
#include "pawl.h"

/* PAWL_INVALID: "line 3, column 5: …". */
pawl_status run_wrong(const struct tree *place, pawl_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static inline pawl_status run_no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "run", "out of memory");
}

/* An object whose members are all among keys (ends with NULL). what names it in the fault. */
PAWL_MUSTCHECK pawl_status run_keys(const struct tree *object, const char *what, const char *const *keys,
                                    pawl_error *err);

/* A whole number from min to max; *value stays as it is when the member is missing. */
PAWL_MUSTCHECK pawl_status run_number(const struct tree *object, const char *key, int64_t min, int64_t max,
                                      int64_t *value, pawl_error *err);

/* A number of seconds or a text such as "90s"; *ms stays as it is when the member is missing. */
PAWL_MUSTCHECK pawl_status run_duration(const struct tree *object, const char *key, int64_t min_ms,
                                        int64_t max_ms, int64_t *ms, pawl_error *err);

/* A text of 1 to bytes_max bytes; absent when the member is missing. */
PAWL_MUSTCHECK pawl_status run_text(const struct tree *object, const char *key, size_t bytes_max,
                                    pawl_str *text, pawl_error *err);

/* One of names (ends with NULL); *at stays as it is when the member is missing. */
PAWL_MUSTCHECK pawl_status run_choice(const struct tree *object, const char *key, const char *const *names,
                                      int *at, pawl_error *err);

#endif
