/* Receptors on events on PostgreSQL. */
#include "store/postgres/calls.h"

pawl_status postgres_receptor_register(struct store *store, const struct receptor_new *in,
                                       enum store_answer *answer, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_RECEPTOR_REGISTER, "receptor_register", NULL, check_receptor(in, err));
    SEND(&q, in->name, ROWS_OF(event_pattern_shape, in->patterns, in->pattern_count), in->from_start,
         in->replace);
    return pg_answer(&q, answer, err);
}

pawl_status postgres_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                     pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RECEPTOR_REMOVE, "receptor_remove", NULL,
                              check_receptor_name("receptor_remove", name, err));
    SEND(&q, name);
    return pg_answer(&q, answer, err);
}

/* The last row has nothing but the head. */
pawl_status postgres_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                   pawl_error *err) {
    struct row_list list = {NULL, 0};
    struct query q = pg_read(store, POSTGRES_Q_RECEPTOR_LIST, "receptor_list", arena, PAWL_OK);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 0, 0), q.op, &event_receptor_shape, arena, &list, err);
    if (status == PAWL_OK && list.count == 0)
        status = pg_answer_malformed(q.op, err);
    if (status == PAWL_OK) {
        const int after = (int)event_receptor_shape.count, last = (int)list.count - 1;
        struct event_receptor *rows = list.rows;
        bool failed = false;
        for (int i = 0; i < last; i++)
            rows[i].pattern_count =
                pg_patterns_take(pg_cell(&q, i, after + 1), arena, &rows[i].patterns, &failed);
        if (failed)
            status = pg_answer_no_memory(q.op, err);
        else
            *out = (struct event_receptors){rows, (size_t)last, pg_cell_int(pg_cell(&q, last, after))};
    }
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_receptors_feed(struct store *store, const struct receptors_feed *in,
                                    struct feed_result *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RECEPTORS_FEED, "receptors_feed", NULL, check_feed(in, err));
    SEND(&q, LIST(in->names, in->count), in->limit);
    return pg_row(&q, &feed_result_shape, out, err);
}
