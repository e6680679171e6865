/* Storing and reading the patterns of perspectives and receptors. */
#include "base/limits.h"
#include "store/sqlite/events/events.h"

pawl_status patterns_read(struct operation *op, pawl_str key, struct arena *arena,
                          struct event_pattern **patterns, size_t *count) {
    struct row_list list = {NULL, 0};
    struct statement s = statement_begin(op, SQLITE_Q_PATTERN_LIST);
    bind_text(&s, key);
    pawl_status status = rows_read(&s, &event_pattern_shape, arena, &list);
    *patterns = list.rows;
    *count = list.count;
    return status;
}

pawl_status patterns_insert(struct operation *op, pawl_str key, const struct event_pattern *patterns,
                            size_t count) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        struct statement s = statement_begin(op, SQLITE_Q_PATTERN_INSERT);
        bind_text(&s, key);
        bind_int(&s, (int64_t)i + 1);
        bind_int(&s, patterns[i].mode);
        bind_text(&s, patterns[i].text);
        status = statement_run(&s);
    }
    return status;
}
