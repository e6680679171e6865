/* Messages as the views show them: lists, one by id, dead letters by cause, and why one is not done. */
#include "base/error.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/postgres/row.h"

#define M(name) MEMBER(struct message_row, name)
static const struct member message_members[] = {M(state),  M(claimed_by), M(attempts),    M(scheduled_ms),
                                                M(reason), M(error),      M(fingerprint), M(ended_ms)};
#undef M
/* What a view adds to an item. */
static const struct row_shape message_view = ROW_SHAPE(struct message_row, message_members);

static pawl_status row_take(const PGresult *r, int row, struct arena *arena, struct message_row *out,
                            pawl_error *err) {
    bool failed = false;
    *out = (struct message_row){0};
    pawl_status status = pg_item_take((struct cell){r, row, 0}, arena, &out->item, err);
    if (status == PAWL_OK)
        pg_row_take((struct cell){r, row, ITEM_COLUMNS}, &message_view, arena, out, &failed);
    return failed ? pg_answer_no_memory("messages", err) : status;
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
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_MESSAGES, arena);
    struct params *p = &statement.params;
    pg_params_small(p, (int)filter->kind);
    pg_params_int(p, filter->state);
    pg_params_text(p, filter->stream);
    pg_params_text(p, filter->type);
    pg_params_text(p, filter->topic);
    pg_params_text(p, filter->fingerprint);
    pg_params_int(p, filter->lane);
    pg_params_big(p, filter->after_seq);
    pg_params_big(p, filter->before_ms);
    pg_params_int(p, filter->limit > 0 ? filter->limit : PAWL_LIST_DEFAULT);
    pg_params_int(p, filter->scan_max > 0 ? filter->scan_max : PAWL_LIST_SCAN);
    pawl_status status = pg_statement_run(postgres_of(store), "messages", &statement, EFFECT_READ, err);
    if (status == PAWL_OK)
        status = rows_take(statement.result, arena, out, err);
    if (status == PAWL_OK)
        out->next_seq = pg_cell_int((struct cell){statement.result, 0, ITEM_COLUMNS + 8});
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                                  struct message_rows *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_MESSAGE, arena);
    pg_params_uuid(&statement.params, id);
    pawl_status status = pg_statement_run(postgres_of(store), "message_find", &statement, EFFECT_READ, err);
    if (status == PAWL_OK)
        status = rows_take(statement.result, arena, out, err);
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                                 struct dead_groups *out, pawl_error *err) {
    struct place at = {.op = "dead_groups", .err = err};
    struct row_list list;
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_DEAD_GROUPS, arena);
    pg_params_small(&statement.params, (int)kind);
    pg_params_int(&statement.params, limit > 0 ? limit : PAWL_LIST_DEFAULT);
    status = pg_rows_run(store, &statement, "dead_groups", &dead_group_shape, &list, err);
    pg_statement_clear(&statement);
    if (status == PAWL_OK)
        *out = (struct dead_groups){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->groups[i].kind = kind;
    return status;
}

/* The row of the message that the cause is about: an id may be there more than once. */
static pawl_status why_take(const PGresult *cause, const PGresult *rows, struct arena *arena, struct why *out,
                            pawl_error *err) {
    bool failed = false;
    struct why why = {
        .now_ms = pg_cell_int((struct cell){cause, 0, 0}),
        .cause = (enum why_cause)pg_cell_int((struct cell){cause, 0, 2}),
        .instance = pg_cell_uuid((struct cell){cause, 0, 3}),
        .until_ms = pg_cell_int((struct cell){cause, 0, 4}),
        .blocker_id = pg_cell_uuid((struct cell){cause, 0, 5}),
        .blocker_seq = pg_cell_int((struct cell){cause, 0, 6}),
        .blocker_cause = (enum why_cause)pg_cell_int((struct cell){cause, 0, 7}),
        .many_ahead = pg_cell_bool((struct cell){cause, 0, 8}),
        .locked = pg_cell_text((struct cell){cause, 0, 9}, arena, &failed),
        .locked_pid = (int)pg_cell_int((struct cell){cause, 0, 10}),
        .locked_by = pg_cell_text((struct cell){cause, 0, 11}, arena, &failed),
        .locked_since_ms = pg_cell_int((struct cell){cause, 0, 12}),
    };
    if (failed)
        return pg_answer_no_memory("why", err);
    int64_t seq = pg_cell_int((struct cell){cause, 0, 1});
    for (int i = 0; i < PQntuples(rows); i++) {
        if (pg_cell_int((struct cell){rows, i, 2}) != seq)
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
    pg_params_uuid(&steps[0].params, id);
    pg_params_uuid(&steps[1].params, id);
    pawl_status status = pg_statements_run(postgres_of(store), "why", steps, 2, err);
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
