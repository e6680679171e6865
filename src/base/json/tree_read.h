/* Reading documents: members of objects are checked and taken, and the first fault is told with its place. */
#ifndef BASE_JSON_TREE_READ_H
#define BASE_JSON_TREE_READ_H

#include "base/json/tree.h"

/* PAWL_INVALID: "line 3, column 5: …"; a place that was not read from a text is left out. */
pawl_status tree_fault(const struct tree *place, const char *op, pawl_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A document that is being read. Nothing has to be checked in between: after the first fault, which status
 * and err keep, the functions below do nothing. A member that is missing leaves what it would set alone. */
struct tree_reader {
    struct arena *arena;
    const char *op;
    pawl_str step; /* "step 'b': " is put before the reason; absent = nothing is */
    pawl_error *err;
    pawl_status status;
};

/* Notes a fault, and returns the status. */
pawl_status tree_wrong(struct tree_reader *reader, const struct tree *place, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
pawl_status tree_no_memory(struct tree_reader *reader);

/* An object whose members are all among keys (ends with NULL). what names it in the fault. */
void tree_read_keys(struct tree_reader *reader, const struct tree *object, const char *what,
                    const char *const *keys);

/* A whole number from min to max. */
void tree_read_number(struct tree_reader *reader, const struct tree *object, const char *key, int64_t min,
                      int64_t max, int64_t *value);

/* The same for an int. */
void tree_read_int(struct tree_reader *reader, const struct tree *object, const char *key, int min, int max,
                   int *value);

/* A number of seconds or a text such as "90s". */
void tree_read_duration(struct tree_reader *reader, const struct tree *object, const char *key,
                        int64_t min_ms, int64_t max_ms, int64_t *duration_ms);

/* A text of 1 to bytes_max bytes. */
void tree_read_text(struct tree_reader *reader, const struct tree *object, const char *key, size_t bytes_max,
                    pawl_str *text);

void tree_read_bool(struct tree_reader *reader, const struct tree *object, const char *key, bool *value);

/* An object. */
void tree_read_object(struct tree_reader *reader, const struct tree *object, const char *key,
                      const struct tree **value);

/* One of names (ends with NULL): its index. */
void tree_read_choice(struct tree_reader *reader, const struct tree *object, const char *key,
                      const char *const *names, int *index);

#endif
