/* The operations as statements: what each sends and what it takes from the answer. Shared by single calls and
 * batches. */
#ifndef STORE_POSTGRES_CALLS_H
#define STORE_POSTGRES_CALLS_H

#include "base/error.h"
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

/* The operations themselves, for the tables in store.c. */
pawl_status postgres_clock_read(struct store *store, int64_t *now_ms, pawl_error *err);
pawl_status postgres_instance_register(struct store *store, const struct instance_new *in,
                                       struct instance_grant *out, pawl_error *err);
pawl_status postgres_grants_settle(struct store *store, const struct grants_settle *in,
                                   struct grants_settled *out, pawl_error *err);
pawl_status postgres_heartbeat(struct store *store, pawl_uuid instance, int64_t processed,
                               struct beat_result *out, pawl_error *err);
pawl_status postgres_instance_deregister(struct store *store, pawl_uuid instance, pawl_error *err);
pawl_status postgres_instance_evict(struct store *store, pawl_uuid instance, pawl_error *err);
pawl_status postgres_liveness_hold(struct store *store, pawl_uuid instance, bool *held, pawl_error *err);
pawl_status postgres_peers_look(struct store *store, pawl_uuid instance, struct peers_look *out,
                                pawl_error *err);
pawl_status postgres_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                                pawl_error *err);
pawl_status postgres_wait_end(struct store *store, pawl_uuid instance, pawl_error *err);
pawl_status postgres_wake(struct store *store, pawl_error *err);
pawl_status postgres_lanes_rebalance(struct store *store, pawl_uuid instance, enum store_kind kind,
                                     struct beat_result *out, pawl_error *err);
pawl_status postgres_messages_put(struct store *store, const struct messages_put *in, struct arena *arena,
                                  struct put_result *out, pawl_error *err);
pawl_status postgres_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                    struct item_list *out, pawl_error *err);
pawl_status postgres_messages_complete(struct store *store, const struct messages_complete *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                   struct answer_list *out, pawl_error *err);
pawl_status postgres_messages_release(struct store *store, const struct messages_release *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                    struct answer_list *out, pawl_error *err);
pawl_status postgres_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                   struct work_batch_result *out, pawl_error *err);
pawl_status postgres_receptors_report(struct store *store, const struct receptor_report *reports,
                                      size_t count, struct arena *arena, struct answer_list *out,
                                      pawl_error *err);
pawl_status postgres_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                        struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                              pawl_error *err);
pawl_status postgres_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                    int64_t *removed, pawl_error *err);
pawl_status postgres_settings_change(struct store *store, const struct settings_change *in, pawl_error *err);
pawl_status postgres_settings_read(struct store *store, struct settings *out, pawl_error *err);
pawl_status postgres_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err);

/* relay.c */
extern const struct store_relay_ops postgres_relay_ops;
extern const struct store_alerts_ops postgres_alerts_ops;

/* Runs a call that answers nothing but its status; its parameters live in the arena, which goes with it. */
PAWL_MUSTCHECK pawl_status pg_void_run(struct store *store, const char *op, struct statement *statement,
                                       struct arena *arena, pawl_error *err);

pawl_status postgres_counts(struct store *store, struct counts *out, pawl_error *err);
pawl_status postgres_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                               pawl_error *err);
pawl_status postgres_lanes(struct store *store, enum store_kind kind, struct arena *arena,
                           struct lane_rows *out, pawl_error *err);
pawl_status postgres_messages(struct store *store, const struct message_filter *filter, struct arena *arena,
                              struct message_rows *out, pawl_error *err);
pawl_status postgres_message_ids(struct store *store, pawl_uuid low, pawl_uuid high, int limit,
                                 struct arena *arena, struct uuid_list *out, pawl_error *err);
pawl_status postgres_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                                  struct message_rows *out, pawl_error *err);
pawl_status postgres_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                                 struct dead_groups *out, pawl_error *err);
pawl_status postgres_why(struct store *store, pawl_uuid id, struct arena *arena, struct why *out,
                         pawl_error *err);
pawl_status postgres_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                    struct arena *arena, struct checkpoint_row *out, pawl_error *err);
pawl_status postgres_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                               struct receptor_row **rows, size_t *count, pawl_error *err);
pawl_status postgres_durability(struct store *store, struct arena *arena, struct durability *out,
                                pawl_error *err);
pawl_status postgres_problems(struct store *store, struct arena *arena, struct violations *out,
                              pawl_error *err);
pawl_status postgres_check(struct store *store, struct arena *arena, struct violations *out, pawl_error *err);
pawl_status postgres_dump(struct store *store, struct buf *out, pawl_error *err);

#endif
