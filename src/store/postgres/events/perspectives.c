/* Registering, changing, switching and looking at perspectives. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/events/event_calls.h"

pawl_status postgres_perspective_register(struct store *store, const struct perspective_new *in,
                                          struct perspective_registered *out, pawl_error *err) {
    pawl_status status = check_perspective(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("perspective_register", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_REGISTER, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->name);
    pg_params_int(p, in->version);
    pg_params_smalls(p, STRIDED(in->patterns, mode, in->pattern_count));
    pg_params_texts(p, STRIDED(in->patterns, text, in->pattern_count));
    pg_params_small(p, (int)in->run);
    pg_params_text(p, in->target);
    pg_params_text(p, in->clear);
    pg_params_int(p, in->batch);
    pg_params_int(p, in->max_attempts);
    pg_params_small(p, (int)in->policy);
    pg_params_int(p, PAWL_REGISTER_WAIT_MS);
    status = pg_statement_run(postgres_of(store), "perspective_register", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("perspective_register", err);
    if (status == PAWL_OK)
        *out = (struct perspective_registered){
            .answer = (enum store_answer)pg_cell_int((struct cell){statement.result, 0, 0}),
            .state = (enum perspective_state)pg_cell_int((struct cell){statement.result, 0, 1}),
            .backfilled = pg_cell_bool((struct cell){statement.result, 0, 2})};
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_perspective_backfill(struct store *store, pawl_str perspective, int streams_max,
                                          bool *done, pawl_error *err) {
    pawl_status status = check_key("perspective_backfill", perspective, err);
    if (status == PAWL_OK)
        status = check_limit("perspective_backfill", streams_max, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("perspective_backfill", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_BACKFILL, arena);
    pg_params_text(&statement.params, perspective);
    pg_params_int(&statement.params, streams_max);
    status = pg_statement_run(postgres_of(store), "perspective_backfill", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("perspective_backfill", err);
    if (status == PAWL_OK)
        *done = pg_cell_bool((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_perspective_change(struct store *store, pawl_str perspective,
                                        enum perspective_action action, enum store_answer *answer,
                                        pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_key("perspective_change", perspective, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("perspective_change", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_CHANGE, arena);
    pg_params_text(&statement.params, perspective);
    pg_params_small(&statement.params, (int)action);
    pg_params_int(&statement.params, PAWL_REGISTER_WAIT_MS);
    status = pg_number_run(store, "perspective_change", &statement, &value, err);
    if (status == PAWL_OK)
        *answer = (enum store_answer)value;
    arena_free(arena);
    return status;
}

pawl_status postgres_perspective_reset(struct store *store, const struct perspective_reset *in,
                                       int64_t *count, pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_reset(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("perspective_reset", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_RESET, arena);
    pg_params_text(&statement.params, in->perspective);
    pg_params_small(&statement.params, (int)in->mode);
    pg_params_texts(&statement.params, (struct strided){in->streams, sizeof *in->streams, in->stream_count});
    status = pg_number_run(store, "perspective_reset", &statement, &value, err);
    if (status == PAWL_OK)
        *count = value;
    arena_free(arena);
    return status;
}

pawl_status postgres_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *text = arena != NULL ? arena_printf(arena, "%.*s", STR_ARG(sql)) : NULL;
    pawl_status status = text != NULL ? pg_parse_run(postgres_of(store), "sql_check", text, err)
                                      : pg_answer_no_memory("sql_check", err);
    (void)writes; /* one that writes nothing is useless here, but runs */
    arena_free(arena);
    return status;
}

pawl_status postgres_perspective_switch(struct store *store, const struct perspective_switch *in,
                                        struct arena *arena, struct switch_result *out, pawl_error *err) {
    pawl_status status = check_switch(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_SWITCH, arena);
    pg_params_text(&statement.params, in->name);
    pg_params_int(&statement.params, in->version);
    pg_params_int(&statement.params, (int)in->wait_ms);
    pg_params_text(&statement.params, in->digest_old);
    pg_params_text(&statement.params, in->digest_new);
    status = pg_statement_run(postgres_of(store), "perspective_switch", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("perspective_switch", err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct switch_result result = {
            .answer = (enum store_answer)pg_cell_int((struct cell){r, 0, 0}),
            .behind = pg_cell_int((struct cell){r, 0, 1}),
            .digest_old = pg_cell_text((struct cell){r, 0, 2}, arena, &failed),
            .digest_new = pg_cell_text((struct cell){r, 0, 3}, arena, &failed),
        };
        if (failed)
            status = pg_answer_no_memory("perspective_switch", err);
        else
            *out = result;
    }
    pg_statement_clear(&statement);
    return status;
}

size_t pg_patterns_take(pawl_str lines, struct arena *arena, struct event_pattern **out, bool *failed) {
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
static void row_take(const PGresult *r, int row, struct arena *arena, struct perspective_row *out,
                     bool *failed) {
    int after = (int)perspective_shape.count;
    *out = (struct perspective_row){.lag_whole = pg_cell_bool((struct cell){r, row, after + 2})};
    pg_row_take((struct cell){r, row, 0}, &perspective_shape, arena, out, failed);
    out->lag_events = out->matched > out->applied ? out->matched - out->applied : 0; /* retired: no types */
    out->lag_ms = perspective_lag_ms(out, pg_cell_int((struct cell){r, row, after + 1}));
    out->pattern_count = pg_patterns_take(pg_cell_text((struct cell){r, row, after}, arena, failed), arena,
                                          &out->patterns, failed);
}

/* Runs the statement and clears it. */
static pawl_status list_all(struct store *store, struct statement statement, struct arena *arena,
                            struct perspective_rows *out, pawl_error *err) {
    pawl_status status =
        pg_statement_run(postgres_of(store), "perspective_list", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQnfields(statement.result) != 25)
        status = pg_answer_malformed("perspective_list", err);
    if (status == PAWL_OK) {
        struct perspective_rows list = {.count = (size_t)PQntuples(statement.result)};
        list.rows = arena_array(arena, list.count, sizeof *list.rows);
        bool failed = list.rows == NULL;
        for (size_t i = 0; !failed && i < list.count; i++)
            row_take(statement.result, (int)i, arena, &list.rows[i], &failed);
        if (failed)
            status = pg_answer_no_memory("perspective_list", err);
        else
            *out = list;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                      struct perspective_rows *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_LIST, arena);
    pg_params_text(&statement.params, name);
    return list_all(store, statement, arena, out, err);
}

pawl_status postgres_perspective_defined(struct store *store, struct arena *arena,
                                         struct perspective_rows *out, pawl_error *err) {
    return list_all(store, pg_statement_new(POSTGRES_Q_PERSPECTIVE_DEFINED, arena), arena, out, err);
}

pawl_status postgres_perspective_reached(struct store *store, const struct perspective_target *in,
                                         struct arena *arena, struct perspective_reached *out,
                                         pawl_error *err) {
    pawl_status status = check_target(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_PERSPECTIVE_REACHED, arena);
    pg_params_text(&statement.params, in->perspective);
    pg_params_text(&statement.params, in->stream);
    pg_params_big(&statement.params, in->version);
    pg_params_big(&statement.params, in->position);
    status = pg_statement_run(postgres_of(store), "perspective_reached", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("perspective_reached", err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        bool failed = false;
        struct perspective_reached result = {
            .reached = pg_cell_bool((struct cell){r, 0, 0}),
            .at = pg_cell_int((struct cell){r, 0, 1}),
            .failed = pg_cell_bool((struct cell){r, 0, 2}),
            .error = pg_cell_text((struct cell){r, 0, 3}, arena, &failed),
        };
        if (failed)
            status = pg_answer_no_memory("perspective_reached", err);
        else
            *out = result;
    }
    pg_statement_clear(&statement);
    return status;
}
