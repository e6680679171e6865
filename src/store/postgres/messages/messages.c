/* Queries about messages on PostgreSQL: lists, one by id, dead letters by cause, why one is not done. */
#include "base/limits.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/postgres/query.h"

static pawl_status row_take(const PGresult *r, int row, struct arena *arena, struct message_row *out,
                            pawl_error *err) {
    bool failed = false;
    *out = (struct message_row){0};
    pg_row_take((struct cell){r, row, 0}, &item_seen_shape, arena, &out->item, &failed);
    pg_row_take((struct cell){r, row, (int)item_seen_shape.count}, &message_view_shape, arena, out, &failed);
    return failed ? pg_answer_no_memory("messages", err) : PAWL_OK;
}

static pawl_status rows_take(const PGresult *result, struct arena *arena, struct message_rows *out,
                             pawl_error *err) {
    struct message_rows list = {.count = 0};
    if (PQntuples(result) > 0 && !PQgetisnull(result, 0, 2)) /* a row for the end of a page has no seq */
        list.count = (size_t)PQntuples(result);
    list.rows = arena_array(arena, list.count, sizeof *list.rows);
    if (list.rows == NULL)
        return pg_answer_no_memory("messages", err);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        status = row_take(result, (int)i, arena, &list.rows[i], err);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status postgres_messages(struct store *store, const struct message_filter *filter, struct arena *arena,
                              struct message_rows *out, pawl_error *err) {
    struct message_filter wanted = *filter;
    wanted.limit = filter->limit > 0 ? filter->limit : PAWL_LIST_DEFAULT;
    wanted.scan_max = filter->scan_max > 0 ? filter->scan_max : PAWL_LIST_SCAN;
    struct query q = pg_read(store, POSTGRES_Q_VIEW_MESSAGES, "messages", arena, PAWL_OK);
    SEND(&q, ROW_OF(message_filter_shape, &wanted));
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = rows_take(q.statement.result, arena, out, err);
    if (status == PAWL_OK)
        out->next_seq = pg_cell_int(pg_cell(&q, 0, (int)(item_seen_shape.count + message_view_shape.count)));
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                                  struct message_rows *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_VIEW_MESSAGE, "message_find", arena, PAWL_OK);
    SEND(&q, id);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = rows_take(q.statement.result, arena, out, err);
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                                 struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    struct query q = pg_read(store, POSTGRES_Q_VIEW_DEAD_GROUPS, at.op, arena, place_kind(&at, kind));
    SEND(&q, kind, limit > 0 ? limit : PAWL_LIST_DEFAULT);
    pawl_status status = pg_list(&q, &dead_group_shape, ROWS_OUT(out, groups), err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->groups[i].kind = kind;
    return status;
}

/* The row of the message that the cause is about: an id may be there more than once. */
static pawl_status why_take(const PGresult *cause, const PGresult *rows, struct arena *arena, struct why *out,
                            pawl_error *err) {
    bool failed = false;
    struct why why = {0};
    pg_row_take((struct cell){cause, 0, 0}, &why_shape, arena, &why, &failed);
    if (failed)
        return pg_answer_no_memory("why", err);
    for (int i = 0; i < PQntuples(rows); i++) {
        if (pg_cell_int((struct cell){rows, i, 2}) != why.row.item.seq)
            continue;
        pawl_status status = row_take(rows, i, arena, &why.row, err);
        if (status == PAWL_OK)
            *out = why;
        return status;
    }
    return error_set(err, PAWL_BUSY, "why", "the message moved while it was looked at; ask again");
}

pawl_status postgres_why(struct store *store, pawl_uuid id, struct arena *arena, struct why *out,
                         pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct statement steps[2] = {pg_statement_new(POSTGRES_Q_WHY, arena),
                                 pg_statement_new(POSTGRES_Q_VIEW_MESSAGE, arena)};
    PARAMS(&steps[0].params, id);
    PARAMS(&steps[1].params, id);
    pawl_status status = pg_statements_run(postgres_of(store), "why", steps, 2, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(steps[0].result) == 0)
        status = error_set(err, PAWL_NOT_FOUND, "why",
                           "no message %s is known; it was never put, or it is done and gone",
                           uuid_format(id, text));
    if (status == PAWL_OK)
        status = why_take(steps[0].result, steps[1].result, arena, out, err);
    pg_statement_clear(&steps[0]);
    pg_statement_clear(&steps[1]);
    return status;
}
