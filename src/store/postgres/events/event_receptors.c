/* Receptors on events as statements. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/calls.h"
#include "store/postgres/events/event_calls.h"

pawl_status postgres_receptor_register(struct store *store, const struct receptor_new *in,
                                       enum store_answer *answer, pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_receptor(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("receptor_register", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_RECEPTOR_REGISTER, arena);
    struct params *p = &statement.params;
    pg_params_text(p, in->name);
    pg_params_smalls(p, STRIDED(in->patterns, mode, in->pattern_count));
    pg_params_texts(p, STRIDED(in->patterns, text, in->pattern_count));
    pg_params_bool(p, in->from_start);
    pg_params_bool(p, in->replace);
    status = pg_number_run(store, "receptor_register", &statement, &value, err);
    if (status == PAWL_OK)
        *answer = (enum store_answer)value;
    arena_free(arena);
    return status;
}

pawl_status postgres_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                     pawl_error *err) {
    int64_t value = 0;
    pawl_status status = check_receptor_name("receptor_remove", name, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("receptor_remove", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_RECEPTOR_REMOVE, arena);
    pg_params_text(&statement.params, name);
    status = pg_number_run(store, "receptor_remove", &statement, &value, err);
    if (status == PAWL_OK)
        *answer = (enum store_answer)value;
    arena_free(arena);
    return status;
}

static void row_take(const PGresult *r, int row, struct arena *arena, struct event_receptor *out,
                     bool *failed) {
    *out = (struct event_receptor){
        .name = pg_cell_text((struct cell){r, row, 0}, arena, failed),
        .position = pg_cell_int((struct cell){r, row, 2}),
        .fed = pg_cell_int((struct cell){r, row, 3}),
        .registered_ms = pg_cell_int((struct cell){r, row, 4}),
    };
    pawl_str lines = pg_cell_text((struct cell){r, row, 1}, arena, failed);
    out->pattern_count = pg_patterns_take(lines, arena, &out->patterns, failed);
}

pawl_status postgres_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                   pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_RECEPTOR_LIST, arena);
    pawl_status status = pg_statement_run(postgres_of(store), "receptor_list", &statement, EFFECT_READ, err);
    int rows = status == PAWL_OK ? PQntuples(statement.result) : 0;
    if (status == PAWL_OK && (rows < 1 || PQnfields(statement.result) != 6))
        status = pg_answer_malformed("receptor_list", err);
    if (status == PAWL_OK) {
        struct event_receptors list = {.count = (size_t)rows - 1};
        list.rows = arena_array(arena, list.count, sizeof *list.rows);
        list.head = pg_cell_int((struct cell){statement.result, rows - 1, 5});
        bool failed = list.rows == NULL;
        for (size_t i = 0; !failed && i < list.count; i++)
            row_take(statement.result, (int)i, arena, &list.rows[i], &failed);
        if (failed)
            status = pg_answer_no_memory("receptor_list", err);
        else
            *out = list;
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_receptors_feed(struct store *store, const struct receptors_feed *in,
                                    struct feed_result *out, pawl_error *err) {
    pawl_status status = check_feed(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("receptors_feed", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_RECEPTORS_FEED, arena);
    pg_params_texts(&statement.params, (struct strided){in->names, sizeof *in->names, in->count});
    pg_params_int(&statement.params, in->limit);
    status = pg_statement_run(postgres_of(store), "receptors_feed", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = pg_answer_malformed("receptors_feed", err);
    if (status == PAWL_OK)
        *out = (struct feed_result){.known = (size_t)pg_cell_int((struct cell){statement.result, 0, 0}),
                                    .events = pg_cell_int((struct cell){statement.result, 0, 1}),
                                    .fed = pg_cell_int((struct cell){statement.result, 0, 2}),
                                    .more = pg_cell_bool((struct cell){statement.result, 0, 3})};
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}
