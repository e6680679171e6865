/* What the readers of run documents share. */
#include "domain/run/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

pawl_status run_wrong(const struct tree *place, pawl_error *err, const char *fmt, ...) {
    char reason[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    if (place == NULL || place->line == 0)
        return error_set(err, PAWL_INVALID, "run", "%s", reason);
    return error_set(err, PAWL_INVALID, "run", "line %u, column %u: %s", (unsigned)place->line,
                     (unsigned)place->column, reason);
}

pawl_status run_keys(const struct tree *object, const char *what, const char *const *keys, pawl_error *err) {
    if (object->kind != TREE_OBJECT)
        return run_wrong(object, err, "%s must be an object", what);
    const struct tree *stray = tree_stray(object, keys);
    if (stray == NULL)
        return PAWL_OK;
    char list[240];
    str_join(list, sizeof list, keys);
    return run_wrong(stray, err, "'%.*s' is not known in %s: there are %s", STR_ARG(stray->key), what, list);
}

pawl_status run_number(const struct tree *object, const char *key, int64_t min, int64_t max, int64_t *value,
                       pawl_error *err) {
    const struct tree *member = tree_get_cstr(object, key);
    int64_t number = 0;
    if (member == NULL)
        return PAWL_OK;
    if (member->kind != TREE_NUMBER || !tree_to_i64(member, &number) || number < min || number > max)
        return run_wrong(member, err, "%s must be a whole number from %lld to %lld", key, (long long)min,
                         (long long)max);
    *value = number;
    return PAWL_OK;
}

pawl_status run_duration(const struct tree *object, const char *key, int64_t min_ms, int64_t max_ms,
                         int64_t *ms, pawl_error *err) {
    const struct tree *member = tree_get_cstr(object, key);
    char text[40];
    int64_t found_ms = 0;
    if (member == NULL)
        return PAWL_OK;
    snprintf(text, sizeof(text), "%.*s%s", STR_ARG(member->text), member->kind == TREE_NUMBER ? "s" : "");
    bool read = (member->kind == TREE_NUMBER || member->kind == TREE_STRING) && member->text.len <= 30 &&
                clock_parse_duration(str_from(text), &found_ms);
    if (!read || found_ms < min_ms || found_ms > max_ms) {
        char low[CLOCK_DURATION_BYTES], high[CLOCK_DURATION_BYTES];
        return run_wrong(member, err,
                         "%s must be a number of seconds or a text such as \"90s\", from %s to %s", key,
                         clock_format_duration(min_ms, low), clock_format_duration(max_ms, high));
    }
    *ms = found_ms;
    return PAWL_OK;
}

pawl_status run_text(const struct tree *object, const char *key, size_t bytes_max, pawl_str *text,
                     pawl_error *err) {
    const struct tree *member = tree_get_cstr(object, key);
    if (member == NULL)
        return PAWL_OK;
    if (member->kind != TREE_STRING || member->text.len == 0 || member->text.len > bytes_max)
        return run_wrong(member, err, "%s must be a text of 1 to %zu bytes", key, bytes_max);
    *text = member->text;
    return PAWL_OK;
}

pawl_status run_choice(const struct tree *object, const char *key, const char *const *names, int *at,
                       pawl_error *err) {
    const struct tree *member = tree_get_cstr(object, key);
    char list[160] = "";
    if (member == NULL)
        return PAWL_OK;
    for (int i = 0; names[i] != NULL; i++) {
        if (member->kind == TREE_STRING && str_equal_cstr(member->text, names[i])) {
            *at = i;
            return PAWL_OK;
        }
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                 i == 0                 ? ""
                 : names[i + 1] != NULL ? ", "
                                        : " or ",
                 names[i]);
    }
    return run_wrong(member, err, "%s must be %s", key, list);
}
