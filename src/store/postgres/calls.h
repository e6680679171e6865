/* Statements that a call of their own and a batch, or a transaction of the caller's, both send. */
#ifndef STORE_POSTGRES_CALLS_H
#define STORE_POSTGRES_CALLS_H

#include "store/postgres/query.h"

/* messages/put.c */
PAWL_MUSTCHECK pawl_status pg_put_prepare(const struct messages_put *in, struct arena *arena,
                                          struct statement *statement, struct put_result *out,
                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_put_take(const struct messages_put *in, const PGresult *result,
                                       struct put_result *out, pawl_error *err);

/* claims/: they add the parameters of a statement */
enum postgres_query pg_claim_params(const struct messages_claim *in, struct params *p); /* which one */
void pg_claim_take(struct item_list *out); /* what the query left out */
void pg_complete_params(const struct messages_complete *in, struct params *p);
void pg_release_params(const struct messages_release *in, struct params *p);
void pg_renew_params(const struct messages_renew *in, struct params *p);
PAWL_MUSTCHECK pawl_status pg_fail_params(const struct messages_fail *in, struct params *p, pawl_error *err);
void pg_checkpoints_params(const struct checkpoints_report *in, struct params *p);

/* events/ */
void pg_checkpoints_renew_params(const struct checkpoints_renew *in, struct params *p);
PAWL_MUSTCHECK pawl_status pg_grants_take(const PGresult *r, struct arena *arena,
                                          struct checkpoint_grants *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_append_prepare(const struct events_append *in, struct arena *arena,
                                             struct statement *statement, struct append_result *out,
                                             pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_append_take(const PGresult *result, struct append_result *out, pawl_error *err);

/* Patterns, "mode text" on a line each; returns how many. No memory sets *failed. */
size_t pg_patterns_take(struct cell lines, struct arena *arena, struct event_pattern **out, bool *failed);

/* jobs/jobs.c */
PAWL_MUSTCHECK pawl_status pg_enqueue_prepare(const struct jobs_enqueue *in, struct arena *arena,
                                              struct statement *statement, struct enqueue_result *result,
                                              pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_enqueue_take(const struct jobs_enqueue *in, const PGresult *rows,
                                           struct enqueue_result *result, pawl_error *err);

#endif
