/* Storing and reading the patterns of perspectives and receptors. */
#include "base/limits.h"
#include "store/sqlite/events/events.h"

pawl_status patterns_read(struct operation *op, pawl_str key, struct arena *arena,
                          struct event_pattern **patterns, size_t *count) {
    struct row_list list = {NULL, 0};
    pawl_status status = rows_read(SQL(op, SQLITE_Q_PATTERN_LIST, key), &event_pattern_shape, arena, &list);
    *patterns = list.rows;
    *count = list.count;
    return status;
}

pawl_status patterns_insert(struct operation *op, pawl_str key, const struct event_pattern *patterns,
                            size_t count) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = statement_run(
            SQL(op, SQLITE_Q_PATTERN_INSERT, key, (int64_t)i + 1, patterns[i].mode, patterns[i].text));
    return status;
}
