/* One statement of an operation: made, given its parameters, run, and its answer taken. */
#include "store/postgres/query.h"

#include <string.h>

pawl_status pg_answer_malformed(const char *op, pawl_error *err) {
    return error_set(
        err, PAWL_INTERNAL, op,
        "the server's answer has an unknown shape; its functions are of another version, run `pawl "
        "migrate`");
}

pawl_status pg_answer_no_memory(const char *op, pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, op, "no memory for the answer");
}

struct statement pg_statement_new(enum postgres_query query, struct arena *arena) {
    struct statement statement = {.query = query};
    pg_params_init(&statement.params, arena);
    return statement;
}

static struct query begin(struct query q, struct store *store, enum postgres_query query,
                          struct arena *arena) {
    q.self = postgres_of(store);
    if (arena == NULL) {
        arena = q.self->scratch;
        if (q.self->together == NULL)
            arena_reset(arena);
    }
    q.statement = pg_statement_new(query, arena);
    q.statement.params.ignored = q.status != PAWL_OK;
    return q;
}

struct query pg_read(struct store *store, enum postgres_query query, const char *op, struct arena *arena,
                     pawl_status status) {
    return begin((struct query){.op = op, .effect = EFFECT_READ, .status = status}, store, query, arena);
}

struct query pg_write(struct store *store, enum postgres_query query, const char *op, struct arena *arena,
                      pawl_status status) {
    return begin((struct query){.op = op, .effect = EFFECT_WRITE, .status = status}, store, query, arena);
}

/* ---- Several as one transaction */

enum { TOGETHER_MAX = 16 };

struct together {
    struct statement statements[TOGETHER_MAX];
    size_t count;
    bool answered;
};

static struct statement *together_find(struct together *all, enum postgres_query query) {
    for (size_t i = 0; i < all->count; i++) {
        if (all->statements[i].query == query)
            return &all->statements[i];
    }
    return NULL;
}

static pawl_status together_note(struct together *all, const struct query *q, pawl_error *err) {
    if (together_find(all, q->statement.query) != NULL)
        return PAWL_BUSY;
    if (all->count == TOGETHER_MAX)
        return error_set(err, PAWL_INTERNAL, q->op, "too many queries for one transaction");
    all->statements[all->count++] = q->statement;
    return PAWL_BUSY;
}

/* Its answer is taken over; what has none, because it is asked again, is asked by itself. */
static bool together_take(struct together *all, struct query *q) {
    struct statement *noted = together_find(all, q->statement.query);
    if (noted == NULL || noted->result == NULL)
        return false;
    q->statement.result = noted->result;
    noted->result = NULL;
    return true;
}

pawl_status pg_together(struct store *store, const char *op, enum statement_effect effect,
                        pawl_status (*calls)(struct store *store, void *self, pawl_error *err), void *self,
                        pawl_error *err) {
    struct postgres *postgres = postgres_of(store);
    struct together all = {.count = 0};
    arena_reset(postgres->scratch);
    postgres->together = &all;
    pawl_status status = calls(store, self, err);
    if (status == PAWL_BUSY)
        status = pg_statements_run(postgres, op, all.statements, all.count, effect, err);
    all.answered = true;
    if (status == PAWL_OK)
        status = calls(store, self, err);
    postgres->together = NULL;
    for (size_t i = 0; i < all.count; i++)
        pg_statement_clear(&all.statements[i]);
    return status;
}

pawl_status pg_ask(struct query *q, pawl_error *err) {
    struct together *all = q->self->together;
    if (q->status == PAWL_OK && all != NULL && !all->answered)
        return together_note(all, q, err);
    if (q->status == PAWL_OK && all != NULL && together_take(all, q))
        return PAWL_OK;
    return q->status == PAWL_OK ? pg_statement_run(q->self, q->op, &q->statement, q->effect, err) : q->status;
}

pawl_status pg_ask_one(struct query *q, pawl_error *err) {
    pawl_status status = pg_ask(q, err);
    if (status == PAWL_OK && PQntuples(q->statement.result) != 1)
        status = pg_answer_malformed(q->op, err);
    return status;
}

pawl_status pg_done(struct query *q, pawl_error *err) {
    pawl_status status = pg_ask(q, err);
    pg_statement_clear(&q->statement);
    return status;
}

void pg_row_take(struct cell first, const struct row_shape *shape, struct arena *arena, void *row,
                 bool *failed) {
    for (size_t i = 0; i < shape->count; i++) {
        void *at = (char *)row + shape->members[i].offset;
        struct cell cell = {first.result, first.row, first.column + (int)i};
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
        case MEMBER_SMALL:
            *(int *)at = (int)pg_cell_int(cell);
            break;
        case MEMBER_BIG:
            *(int64_t *)at = pg_cell_int(cell);
            break;
        case MEMBER_BOOL:
            *(bool *)at = pg_cell_bool(cell);
            break;
        case MEMBER_TEXT:
        case MEMBER_JSON:
            *(pawl_str *)at = pg_cell_text(cell, arena, failed);
            break;
        case MEMBER_UUID:
            *(pawl_uuid *)at = pg_cell_uuid(cell);
            break;
        case MEMBER_NONE:
            break;
        }
    }
}

pawl_status pg_rows_take(struct cell first, const char *op, const struct row_shape *shape,
                         struct arena *arena, struct row_list *out, pawl_error *err) {
    struct row_list list = {.count = (size_t)(PQntuples(first.result) - first.row)};
    list.rows = arena_array(arena, list.count, shape->size);
    bool failed = list.rows == NULL;
    for (size_t i = 0; !failed && i < list.count; i++)
        pg_row_take((struct cell){first.result, first.row + (int)i, first.column}, shape, arena,
                    (char *)list.rows + i * shape->size, &failed);
    if (failed)
        return pg_answer_no_memory(op, err);
    *out = list;
    return PAWL_OK;
}

pawl_status pg_row(struct query *q, const struct row_shape *shape, void *out, pawl_error *err) {
    struct row_list list = {NULL, 0};
    pawl_status status = pg_ask_one(q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(q, 0, 0), q->op, shape, q->statement.params.arena, &list, err);
    if (status == PAWL_OK)
        memcpy(out, list.rows, shape->size);
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status pg_int(struct query *q, int64_t *out, pawl_error *err) {
    pawl_status status = pg_ask_one(q, err);
    if (status == PAWL_OK)
        *out = pg_cell_int(pg_cell(q, 0, 0));
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status pg_flag(struct query *q, bool *out, pawl_error *err) {
    pawl_status status = pg_ask_one(q, err);
    if (status == PAWL_OK)
        *out = pg_cell_bool(pg_cell(q, 0, 0));
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status pg_answer(struct query *q, enum store_answer *out, pawl_error *err) {
    int64_t answer = 0;
    pawl_status status = pg_int(q, &answer, err);
    if (status == PAWL_OK)
        *out = (enum store_answer)answer;
    return status;
}

pawl_status pg_answers_take(const char *op, const PGresult *result, size_t count, struct arena *arena,
                            struct answer_list *out, pawl_error *err) {
    struct answer_list list = {.count = count};
    bool outcomes = PQnfields(result) > 1;
    list.answers = arena_array(arena, count, sizeof *list.answers);
    list.outcomes = outcomes ? arena_array(arena, count, sizeof *list.outcomes) : NULL;
    if (list.answers == NULL || (outcomes && list.outcomes == NULL))
        return pg_answer_no_memory(op, err);
    if (PQntuples(result) != 1 ||
        !pg_cell_array_ints((struct cell){result, 0, 0}, (int *)list.answers, count) ||
        (outcomes && !pg_cell_array_ints((struct cell){result, 0, 1}, (int *)list.outcomes, count)))
        return pg_answer_malformed(op, err);
    *out = list;
    return PAWL_OK;
}

pawl_status pg_answers(struct query *q, size_t count, struct answer_list *out, pawl_error *err) {
    pawl_status status = pg_ask(q, err);
    if (status == PAWL_OK)
        status = pg_answers_take(q->op, q->statement.result, count, q->statement.params.arena, out, err);
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status pg_list(struct query *q, const struct row_shape *shape, struct rows_out out, pawl_error *err) {
    struct row_list list = {NULL, 0};
    int64_t now_ms = 0;
    pawl_status status = pg_ask(q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(q, 0, 0), q->op, shape, q->statement.params.arena, &list, err);
    if (list.count > 0 && out.now_ms != NULL)
        now_ms = pg_cell_int(pg_cell(q, 0, (int)shape->count));
    pg_statement_clear(&q->statement);
    bool noted = status == PAWL_BUSY && q->self->together != NULL; /* it may turn out to be needed */
    if ((noted || (status == PAWL_OK && list.count == 0)) && out.now_ms != NULL)
        status = postgres_clock_read(&q->self->store, &now_ms, err);
    if (status == PAWL_OK)
        rows_give(list, now_ms, out);
    return status;
}
