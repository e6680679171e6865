/* Perspectives on PostgreSQL: register, change, switch, list. */
#include "store/postgres/calls.h"

#include "base/limits.h"
#include "base/str.h"

pawl_status postgres_perspective_register(struct store *store, const struct perspective_new *in,
                                          struct perspective_registered *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PERSPECTIVE_REGISTER, "perspective_register", NULL,
                              check_perspective(in, err));
    SEND(&q, in->name, in->version, ROWS_OF(event_pattern_shape, in->patterns, in->pattern_count), in->run,
         in->target, in->clear, in->batch, in->max_attempts, in->policy, PAWL_REGISTER_WAIT_MS);
    return pg_row(&q, &perspective_registered_shape, out, err);
}

pawl_status postgres_perspective_backfill(struct store *store, pawl_str perspective, int streams_max,
                                          bool *done, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PERSPECTIVE_BACKFILL, "perspective_backfill", NULL,
                              check_backfill(perspective, streams_max, err));
    SEND(&q, perspective, streams_max);
    return pg_flag(&q, done, err);
}

pawl_status postgres_perspective_change(struct store *store, pawl_str perspective,
                                        enum perspective_action action, enum store_answer *answer,
                                        pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_PERSPECTIVE_CHANGE, "perspective_change", NULL,
                              check_key("perspective_change", perspective, err));
    SEND(&q, perspective, action, PAWL_REGISTER_WAIT_MS);
    return pg_answer(&q, answer, err);
}

pawl_status postgres_perspective_reset(struct store *store, const struct perspective_reset *in,
                                       int64_t *count, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_PERSPECTIVE_RESET, "perspective_reset", NULL, check_reset(in, err));
    SEND(&q, in->perspective, in->mode, LIST(in->streams, in->stream_count));
    return pg_int(&q, count, err);
}

pawl_status postgres_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err) {
    struct arena *arena = postgres_of(store)->scratch;
    arena_reset(arena);
    const char *text = arena_printf(arena, "%.*s", STR_ARG(sql));
    (void)writes; /* one that writes nothing is useless here, but runs */
    return text != NULL ? pg_parse_run(postgres_of(store), "sql_check", text, err)
                        : pg_answer_no_memory("sql_check", err);
}

pawl_status postgres_perspective_switch(struct store *store, const struct perspective_switch *in,
                                        struct arena *arena, struct switch_result *out, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_PERSPECTIVE_SWITCH, "perspective_switch", arena, check_switch(in, err));
    SEND(&q, in->name, in->version, (int)in->wait_ms, in->digest_old, in->digest_new);
    return pg_row(&q, &switch_result_shape, out, err);
}

size_t pg_patterns_take(struct cell cell, struct arena *arena, struct event_pattern **out, bool *failed) {
    pawl_str lines = pg_cell_text(cell, arena, failed);
    size_t count = lines.len > 0 ? 1 : 0;
    for (size_t i = 0; i < lines.len; i++)
        count += lines.ptr[i] == '\n' ? 1 : 0;
    struct event_pattern *patterns = arena_array(arena, count, sizeof *patterns);
    *failed = *failed || patterns == NULL;
    size_t at = 0;
    for (size_t i = 0; !*failed && i < count; i++) {
        size_t end = at;
        while (end < lines.len && lines.ptr[end] != '\n')
            end++;
        patterns[i].mode = (enum pattern_mode)(lines.ptr[at] - '0');
        patterns[i].text = (pawl_str){lines.ptr + at + 2, end - at - 2};
        at = end + 1;
    }
    *out = patterns;
    return count;
}

/* After the members of the shape: patterns, lag_ms, lag_whole. */
static pawl_status list_all(struct query *q, struct arena *arena, struct perspective_rows *out,
                            pawl_error *err) {
    struct row_list list = {NULL, 0};
    bool failed = false;
    pawl_status status = pg_ask(q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(q, 0, 0), q->op, &perspective_shape, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        struct perspective_row *row = (struct perspective_row *)list.rows + i;
        const int at = (int)i, after = (int)perspective_shape.count;
        row->pattern_count = pg_patterns_take(pg_cell(q, at, after), arena, &row->patterns, &failed);
        row->lag_events = row->matched > row->applied ? row->matched - row->applied
                                                      : 0; /* retired: no types */
        row->lag_ms = perspective_lag_ms(row, pg_cell_int(pg_cell(q, at, after + 1)));
        row->lag_whole = pg_cell_bool(pg_cell(q, at, after + 2));
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory(q->op, err);
    if (status == PAWL_OK)
        *out = (struct perspective_rows){list.rows, list.count};
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status postgres_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                      struct perspective_rows *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_PERSPECTIVE_LIST, "perspective_list", arena, PAWL_OK);
    SEND(&q, name);
    return list_all(&q, arena, out, err);
}

pawl_status postgres_perspective_defined(struct store *store, struct arena *arena,
                                         struct perspective_rows *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_PERSPECTIVE_DEFINED, "perspective_list", arena, PAWL_OK);
    return list_all(&q, arena, out, err);
}

pawl_status postgres_perspective_reached(struct store *store, const struct perspective_target *in,
                                         struct arena *arena, struct perspective_reached *out,
                                         pawl_error *err) {
    struct query q =
        pg_read(store, POSTGRES_Q_PERSPECTIVE_REACHED, "perspective_reached", arena, check_target(in, err));
    SEND(&q, ROW_OF(perspective_target_shape, in));
    return pg_row(&q, &perspective_reached_shape, out, err);
}
