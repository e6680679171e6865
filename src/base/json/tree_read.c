/* Reading documents. */
#include "base/json/tree_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { REASON_BYTES = 400, PLACE_BYTES = 60, LIST_BYTES = 240, DURATION_BYTES_MAX = 30 };

static pawl_status fault(const struct tree *place, const char *op, pawl_str step, pawl_error *err,
                         const char *reason) {
    char where[PLACE_BYTES] = "";
    if (place != NULL && place->line > 0)
        snprintf(where, sizeof(where), "line %u, column %u: ", (unsigned)place->line,
                 (unsigned)place->column);
    if (step.ptr == NULL)
        return error_set(err, PAWL_INVALID, op, "%s%s", where, reason);
    return error_set(err, PAWL_INVALID, op, "%sstep '%.*s': %s", where, STR_ARG(step), reason);
}

pawl_status tree_fault(const struct tree *place, const char *op, pawl_error *err, const char *fmt, ...) {
    char reason[REASON_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return fault(place, op, (pawl_str){NULL, 0}, err, reason);
}

pawl_status tree_wrong(struct tree_reader *reader, const struct tree *place, const char *fmt, ...) {
    char reason[REASON_BYTES];
    va_list args;
    if (reader->status != PAWL_OK)
        return reader->status;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return reader->status = fault(place, reader->op, reader->step, reader->err, reason);
}

pawl_status tree_no_memory(struct tree_reader *reader) {
    if (reader->status == PAWL_OK)
        reader->status = error_no_memory(reader->err, reader->op);
    return reader->status;
}

/* The member, unless something was wrong before. */
static const struct tree *member_of(const struct tree_reader *reader, const struct tree *object,
                                    const char *key) {
    return reader->status == PAWL_OK ? tree_get_cstr(object, key) : NULL;
}

void tree_read_keys(struct tree_reader *reader, const struct tree *object, const char *what,
                    const char *const *keys) {
    char list[LIST_BYTES];
    if (reader->status != PAWL_OK)
        return;
    if (object->kind != TREE_OBJECT) {
        tree_wrong(reader, object, "%s must be an object", what);
        return;
    }
    const struct tree *stray = tree_stray(object, keys);
    str_join(list, sizeof list, keys);
    if (stray != NULL)
        tree_wrong(reader, stray, "'%.*s' is not known in %s: there are %s", STR_ARG(stray->key), what, list);
}

void tree_read_number(struct tree_reader *reader, const struct tree *object, const char *key, int64_t min,
                      int64_t max, int64_t *value) {
    const struct tree *member = member_of(reader, object, key);
    int64_t number = 0;
    if (member == NULL)
        return;
    if (tree_to_i64(member, &number) && number >= min && number <= max)
        *value = number;
    else
        tree_wrong(reader, member, "%s must be a whole number from %lld to %lld", key, (long long)min,
                   (long long)max);
}

void tree_read_int(struct tree_reader *reader, const struct tree *object, const char *key, int min, int max,
                   int *value) {
    int64_t number = *value;
    tree_read_number(reader, object, key, min, max, &number);
    *value = (int)number;
}

void tree_read_duration(struct tree_reader *reader, const struct tree *object, const char *key,
                        int64_t min_ms, int64_t max_ms, int64_t *duration_ms) {
    const struct tree *member = member_of(reader, object, key);
    char text[DURATION_BYTES_MAX + 2], low[CLOCK_DURATION_BYTES], high[CLOCK_DURATION_BYTES];
    int64_t found_ms = 0;
    if (member == NULL)
        return;
    snprintf(text, sizeof(text), "%.*s%s", STR_ARG(member->text), member->kind == TREE_NUMBER ? "s" : "");
    bool read = (member->kind == TREE_NUMBER || member->kind == TREE_STRING) &&
                member->text.len <= DURATION_BYTES_MAX && clock_parse_duration(str_from(text), &found_ms);
    if (read && found_ms >= min_ms && found_ms <= max_ms)
        *duration_ms = found_ms;
    else
        tree_wrong(reader, member, "%s must be a number of seconds or a text such as \"90s\", from %s to %s",
                   key, clock_format_duration(min_ms, low), clock_format_duration(max_ms, high));
}

void tree_read_text(struct tree_reader *reader, const struct tree *object, const char *key, size_t bytes_max,
                    pawl_str *text) {
    const struct tree *member = member_of(reader, object, key);
    if (member == NULL)
        return;
    if (member->kind == TREE_STRING && member->text.len > 0 && member->text.len <= bytes_max)
        *text = member->text;
    else
        tree_wrong(reader, member, "%s must be a text of 1 to %zu bytes", key, bytes_max);
}

void tree_read_bool(struct tree_reader *reader, const struct tree *object, const char *key, bool *value) {
    const struct tree *member = member_of(reader, object, key);
    if (member == NULL)
        return;
    *value = member->kind == TREE_TRUE;
    if (!*value && member->kind != TREE_FALSE)
        tree_wrong(reader, member, "%s must be true or false", key);
}

void tree_read_object(struct tree_reader *reader, const struct tree *object, const char *key,
                      const struct tree **value) {
    const struct tree *member = member_of(reader, object, key);
    if (member == NULL)
        return;
    if (member->kind == TREE_OBJECT)
        *value = member;
    else
        tree_wrong(reader, member, "%s must be an object", key);
}

void tree_read_choice(struct tree_reader *reader, const struct tree *object, const char *key,
                      const char *const *names, int *index) {
    const struct tree *member = member_of(reader, object, key);
    char list[LIST_BYTES] = "";
    if (member == NULL)
        return;
    for (int i = 0; names[i] != NULL; i++) {
        if (member->kind == TREE_STRING && str_equal_cstr(member->text, names[i])) {
            *index = i;
            return;
        }
        size_t len = strlen(list);
        snprintf(list + len, sizeof(list) - len, "%s%s",
                 i == 0                 ? ""
                 : names[i + 1] != NULL ? ", "
                                        : " or ",
                 names[i]);
    }
    tree_wrong(reader, member, "%s must be %s", key, list);
}
