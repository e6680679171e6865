/* The operations as statements: what each sends and what it takes from the answer. Shared by single calls and
 * batches. */
#ifndef STORE_POSTGRES_CALLS_H
#define STORE_POSTGRES_CALLS_H

#include "base/error.h"
#include "store/postgres/operations.h"
#include "store/postgres/wire/pipeline.h"

/* The store behind the seam's pointer. */
static inline struct postgres *postgres_of(struct store *store) { return (struct postgres *)(void *)store; }

/* PAWL_INTERNAL: the answer has another shape than the statement promises. */
static inline pawl_status pg_answer_malformed(const char *op, pawl_error *err) {
    return error_set(
        err, PAWL_INTERNAL, op,
        "the server's answer has an unknown shape; its functions are of another version, run `pawl "
        "migrate`");
}
static inline pawl_status pg_answer_no_memory(const char *op, pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, op, "no memory for the answer");
}

/* A statement whose parameters live in the arena. */
struct statement pg_statement_new(enum postgres_query query, struct arena *arena);

/* put.c */
/* Arrays of the columns from stream to traceparent. */
void pg_messages_params(const struct message_new *m, size_t count, struct params *p);
PAWL_MUSTCHECK pawl_status pg_put_prepare(const struct messages_put *in, struct arena *arena,
                                          struct statement *statement, struct put_result *out,
                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_put_take(const struct messages_put *in, const PGresult *result,
                                       struct put_result *out, pawl_error *err);

/* claim.c */
void pg_claim_prepare(const struct messages_claim *in, struct arena *arena, struct statement *statement);
PAWL_MUSTCHECK pawl_status pg_claim_take(const PGresult *result, struct arena *arena, struct item_list *out,
                                         pawl_error *err);
/* The item at columns first … first + 19 of a row. */
enum { ITEM_COLUMNS = 20 };
PAWL_MUSTCHECK pawl_status pg_item_take(struct cell first, struct arena *arena, struct item *item,
                                        pawl_error *err);

/* report.c */
void pg_complete_prepare(const struct messages_complete *in, struct arena *arena,
                         struct statement *statement);
PAWL_MUSTCHECK pawl_status pg_fail_prepare(const struct messages_fail *in, struct arena *arena,
                                           struct statement *statement, pawl_error *err);
void pg_release_prepare(const struct messages_release *in, struct arena *arena, struct statement *statement);
void pg_renew_prepare(const struct messages_renew *in, struct arena *arena, struct statement *statement);
void pg_receptors_prepare(const struct receptor_report *reports, size_t count, struct arena *arena,
                          struct statement *statement);
void pg_checkpoints_prepare(const struct checkpoints_report *in, struct arena *arena,
                            struct statement *statement);
/* Answers in column 0, and outcomes in column 1 when there is one. */
PAWL_MUSTCHECK pawl_status pg_answers_take(const char *op, const PGresult *result, size_t count,
                                           struct arena *arena, struct answer_list *out, pawl_error *err);

/* Runs a prepared report and takes its answers; clears the statement. */
struct answers_wanted {
    const char *op;
    size_t count;
    struct arena *arena;
    struct answer_list *out;
};
PAWL_MUSTCHECK pawl_status pg_answers_run(struct store *store, struct statement *statement,
                                          const struct answers_wanted *wanted, pawl_error *err);

/* instance.c */
void pg_instance_params(const struct instance_new *in, struct params *params);

/* relay.c */
/* Runs a call that answers nothing but its status; its parameters live in the arena, which goes with it. */
PAWL_MUSTCHECK pawl_status pg_void_run(struct store *store, const char *op, struct statement *statement,
                                       struct arena *arena, pawl_error *err);

#endif
