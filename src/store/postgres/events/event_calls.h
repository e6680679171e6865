/* The operations on events and perspectives as statements; for the tables in store.c. */
#ifndef STORE_POSTGRES_EVENTS_EVENT_CALLS_H
#define STORE_POSTGRES_EVENTS_EVENT_CALLS_H

#include "store/events.h"
#include "store/postgres/row.h"

/* events.c */
PAWL_MUSTCHECK pawl_status pg_append_prepare(const struct events_append *in, struct arena *arena,
                                             struct statement *statement, struct append_result *out,
                                             pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_append_take(const PGresult *result, struct append_result *out, pawl_error *err);
/* The event at columns first … first + 10; no memory sets *failed. */
void pg_event_take(struct cell first, struct arena *arena, struct stored_event *event, bool *failed);
/* Runs a statement that gives one number; clears it. */
PAWL_MUSTCHECK pawl_status pg_number_run(struct store *store, const char *op, struct statement *statement,
                                         int64_t *value, pawl_error *err);

/* perspectives.c: patterns as the functions give them, "mode text" on a line each; returns how many. */
size_t pg_patterns_take(pawl_str lines, struct arena *arena, struct event_pattern **out, bool *failed);

pawl_status postgres_events_append(struct store *store, const struct events_append *in, struct arena *arena,
                                   struct append_result *out, pawl_error *err);
pawl_status postgres_events_read(struct store *store, const struct events_query *in, struct arena *arena,
                                 struct event_list *out, pawl_error *err);
pawl_status postgres_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err);
pawl_status postgres_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                                  pawl_error *err);
pawl_status postgres_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                                  struct arena *arena, struct snapshot *out, pawl_error *err);
pawl_status postgres_perspective_register(struct store *store, const struct perspective_new *in,
                                          struct perspective_registered *out, pawl_error *err);
pawl_status postgres_perspective_backfill(struct store *store, pawl_str perspective, int streams_max,
                                          bool *done, pawl_error *err);
pawl_status postgres_perspective_change(struct store *store, pawl_str perspective,
                                        enum perspective_action action, enum store_answer *answer,
                                        pawl_error *err);
pawl_status postgres_perspective_reset(struct store *store, const struct perspective_reset *in,
                                       int64_t *count, pawl_error *err);
pawl_status postgres_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err);
pawl_status postgres_perspective_switch(struct store *store, const struct perspective_switch *in,
                                        struct arena *arena, struct switch_result *out, pawl_error *err);
pawl_status postgres_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                      struct perspective_rows *out, pawl_error *err);
pawl_status postgres_perspective_defined(struct store *store, struct arena *arena,
                                         struct perspective_rows *out, pawl_error *err);
pawl_status postgres_perspective_reached(struct store *store, const struct perspective_target *in,
                                         struct arena *arena, struct perspective_reached *out,
                                         pawl_error *err);
pawl_status postgres_perspective_apply(struct store *store, const struct perspective_apply *in,
                                       struct arena *arena, struct apply_result *out, pawl_error *err);
pawl_status postgres_perspective_advance(struct store *store, const struct perspective_advance *in,
                                         struct arena *arena, struct advance_result *out, pawl_error *err);
pawl_status postgres_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                       struct arena *arena, struct checkpoint_grants *out, pawl_error *err);
pawl_status postgres_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status postgres_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                       struct arena *arena, struct checkpoint_batch *out, pawl_error *err);
pawl_status postgres_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                     enum store_answer *answer, pawl_error *err);
pawl_status postgres_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                      struct arena *arena, struct checkpoint_views *out, pawl_error *err);
pawl_status postgres_checkpoint_errors(struct store *store, pawl_str perspective, int limit,
                                       struct arena *arena, struct checkpoint_errors *out, pawl_error *err);

pawl_status postgres_receptor_register(struct store *store, const struct receptor_new *in,
                                       enum store_answer *answer, pawl_error *err);
pawl_status postgres_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                     pawl_error *err);
pawl_status postgres_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                   pawl_error *err);
pawl_status postgres_receptors_feed(struct store *store, const struct receptors_feed *in,
                                    struct feed_result *out, pawl_error *err);

/* Parts of a batch. */
void pg_checkpoints_renew_prepare(const struct checkpoints_renew *in, struct arena *arena,
                                  struct statement *statement);
PAWL_MUSTCHECK pawl_status pg_grants_take(const PGresult *r, struct arena *arena,
                                          struct checkpoint_grants *out, pawl_error *err);

#endif
