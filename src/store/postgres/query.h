/* One statement of an operation: made, given its parameters, run, and its answer taken. */
#ifndef STORE_POSTGRES_QUERY_H
#define STORE_POSTGRES_QUERY_H

#include "base/error.h"
#include "store/postgres/operations.h"
#include "store/postgres/wire/pipeline.h"
#include "store/row.h"

/* The store behind the seam's pointer. */
static inline struct postgres *postgres_of(struct store *store) { return (struct postgres *)(void *)store; }

/* PAWL_INTERNAL: the answer has another shape than the statement promises. */
pawl_status pg_answer_malformed(const char *op, pawl_error *err);
pawl_status pg_answer_no_memory(const char *op, pawl_error *err);

/* A statement whose parameters live in the arena. */
struct statement pg_statement_new(enum postgres_query query, struct arena *arena);

struct query {
    struct postgres *self;
    const char *op;
    enum statement_effect effect;
    pawl_status status;
    struct statement statement;
};

/*
 * status is that of the check of the input: after a failure parameters are ignored, nothing is sent, and what
 * runs the query answers with it. Parameters and the texts of the answer live in the arena; NULL for an
 * answer without texts: then the parameters live in the store's, until its next query.
 */
struct query pg_read(struct store *store, enum postgres_query query, const char *op, struct arena *arena,
                     pawl_status status);
struct query pg_write(struct store *store, enum postgres_query query, const char *op, struct arena *arena,
                      pawl_status status);
/* Its parameters: SEND(&q, a, b, ...). */
#define SEND(q, ...) PARAMS(&(q)->statement.params, __VA_ARGS__)

/* Each runs the query, takes its answer, and clears it. Outputs are written on success only. */
PAWL_MUSTCHECK pawl_status pg_done(struct query *q, pawl_error *err); /* what it answers is ignored */
/* The one row there is; the other members become 0. */
PAWL_MUSTCHECK pawl_status pg_row(struct query *q, const struct row_shape *shape, void *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_int(struct query *q, int64_t *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_flag(struct query *q, bool *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_answer(struct query *q, enum store_answer *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_answers(struct query *q, size_t count, struct answer_list *out,
                                      pawl_error *err);
/* All rows; a list that has the store's time finds it in the column after the members of the shape. */
PAWL_MUSTCHECK pawl_status pg_list(struct query *q, const struct row_shape *shape, struct rows_out out,
                                   pawl_error *err);

/*
 * Several operations as one transaction, in one round trip: calls is carried out twice. First each query is
 * only noted, and answers PAWL_BUSY; then each finds its answer. It makes the same calls both times, no query
 * twice with different parameters, and goes on after PAWL_BUSY.
 */
PAWL_MUSTCHECK pawl_status pg_together(struct store *store, const char *op, enum statement_effect effect,
                                       pawl_status (*calls)(struct store *store, void *self, pawl_error *err),
                                       void *self, pawl_error *err);

/* The same in steps, where more is to be taken: run (one: it must give one row), take, pg_statement_clear. */
PAWL_MUSTCHECK pawl_status pg_ask(struct query *q, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_ask_one(struct query *q, pawl_error *err);
static inline struct cell pg_cell(const struct query *q, int row, int column) {
    return (struct cell){q->statement.result, row, column};
}
/* Fills the members of the shape from that cell on, texts in the arena; others are left. No memory sets
 * *failed. */
void pg_row_take(struct cell first, const struct row_shape *shape, struct arena *arena, void *row,
                 bool *failed);
/* Every row of the result from that column on, in an array in the arena. */
PAWL_MUSTCHECK pawl_status pg_rows_take(struct cell first, const char *op, const struct row_shape *shape,
                                        struct arena *arena, struct row_list *out, pawl_error *err);
/* Answers in column 0, and outcomes in column 1 when there is one. */
PAWL_MUSTCHECK pawl_status pg_answers_take(const char *op, const PGresult *result, size_t count,
                                           struct arena *arena, struct answer_list *out, pawl_error *err);

#endif
