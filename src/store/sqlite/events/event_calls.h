/* The operations on events and perspectives; for the table in sqlite.c. */
#ifndef STORE_SQLITE_EVENTS_EVENT_CALLS_H
#define STORE_SQLITE_EVENTS_EVENT_CALLS_H

#include "store/events.h"
#include "store/sqlite/file/operation.h"

pawl_status sqlite_events_append(struct store *store, const struct events_append *in, struct arena *arena,
                                 struct append_result *out, pawl_error *err);
pawl_status sqlite_events_read(struct store *store, const struct events_query *in, struct arena *arena,
                               struct event_list *out, pawl_error *err);
pawl_status sqlite_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err);
pawl_status sqlite_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                                pawl_error *err);
pawl_status sqlite_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                                struct arena *arena, struct snapshot *out, pawl_error *err);
pawl_status sqlite_perspective_register(struct store *store, const struct perspective_new *in,
                                        struct perspective_registered *out, pawl_error *err);
pawl_status sqlite_perspective_backfill(struct store *store, pawl_str perspective, int streams_max,
                                        bool *done, pawl_error *err);
pawl_status sqlite_perspective_change(struct store *store, pawl_str perspective,
                                      enum perspective_action action, enum store_answer *answer,
                                      pawl_error *err);
pawl_status sqlite_perspective_reset(struct store *store, const struct perspective_reset *in, int64_t *count,
                                     pawl_error *err);
pawl_status sqlite_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err);
pawl_status sqlite_perspective_switch(struct store *store, const struct perspective_switch *in,
                                      struct arena *arena, struct switch_result *out, pawl_error *err);
pawl_status sqlite_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                    struct perspective_rows *out, pawl_error *err);
pawl_status sqlite_perspective_defined(struct store *store, struct arena *arena, struct perspective_rows *out,
                                       pawl_error *err);
pawl_status sqlite_perspective_reached(struct store *store, const struct perspective_target *in,
                                       struct arena *arena, struct perspective_reached *out, pawl_error *err);
pawl_status sqlite_perspective_apply(struct store *store, const struct perspective_apply *in,
                                     struct arena *arena, struct apply_result *out, pawl_error *err);
pawl_status sqlite_perspective_advance(struct store *store, const struct perspective_advance *in,
                                       struct arena *arena, struct advance_result *out, pawl_error *err);
pawl_status sqlite_checkpoints_claim(struct store *store, const struct checkpoints_claim *in,
                                     struct arena *arena, struct checkpoint_grants *out, pawl_error *err);
pawl_status sqlite_checkpoints_renew(struct store *store, const struct checkpoints_renew *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status sqlite_checkpoint_events(struct store *store, const struct checkpoint_ref *ref, int limit,
                                     struct arena *arena, struct checkpoint_batch *out, pawl_error *err);
pawl_status sqlite_checkpoint_skip(struct store *store, const struct checkpoint_skip *in,
                                   enum store_answer *answer, pawl_error *err);
pawl_status sqlite_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                    struct arena *arena, struct checkpoint_views *out, pawl_error *err);
pawl_status sqlite_checkpoint_errors(struct store *store, pawl_str perspective, int limit,
                                     struct arena *arena, struct checkpoint_errors *out, pawl_error *err);

pawl_status sqlite_receptor_register(struct store *store, const struct receptor_new *in,
                                     enum store_answer *answer, pawl_error *err);
pawl_status sqlite_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                   pawl_error *err);
pawl_status sqlite_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                 pawl_error *err);
pawl_status sqlite_receptors_feed(struct store *store, const struct receptors_feed *in,
                                  struct feed_result *out, pawl_error *err);

#endif
