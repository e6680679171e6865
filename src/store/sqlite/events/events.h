/* Events, perspectives and checkpoints inside an operation. */
#ifndef STORE_SQLITE_EVENTS_EVENTS_H
#define STORE_SQLITE_EVENTS_EVENTS_H

#include "store/apply.h"
#include "store/sqlite/events/perspective_count.h"
#include "store/sqlite/file/operation.h"
#include "store/sqlite/file/row.h"

/* Append: the input is checked already. */
PAWL_MUSTCHECK pawl_status append_events(struct operation *op, const struct events_append *in,
                                         struct arena *arena, struct append_result *out);

/* 0: the stream is not there. */
PAWL_MUSTCHECK pawl_status stream_version(struct operation *op, pawl_str stream, int64_t *version);
PAWL_MUSTCHECK pawl_status events_matching(struct operation *op, pawl_str stream, pawl_str key, int64_t after,
                                           int64_t through, int64_t *count);
/* The event in the statement's current row; memory from the arena. */
pawl_stored_event event_column(struct statement *s, struct arena *arena);
/* A JSON array of texts in the scratch; absent when there are none. */
PAWL_MUSTCHECK pawl_status texts_json(struct operation *op, const pawl_str *texts, size_t count,
                                      pawl_str *json);

/* In the order in which they were given; memory from the arena. */
PAWL_MUSTCHECK pawl_status patterns_read(struct operation *op, pawl_str key, struct arena *arena,
                                         struct event_pattern **patterns, size_t *count);
PAWL_MUSTCHECK pawl_status patterns_insert(struct operation *op, pawl_str key,
                                           const struct event_pattern *patterns, size_t count);

struct perspective_brief {
    bool found;
    enum perspective_state state;
    bool paused, backfilled;
    enum perspective_run run;
    pawl_str target, clear, backfill_after, name;
    int batch, max_attempts, version;
    enum dead_policy policy;
    int64_t position;
};

/* Texts in the scratch. */
PAWL_MUSTCHECK pawl_status perspective_read(struct operation *op, pawl_str key,
                                            struct perspective_brief *out);
bool perspective_fed(const struct perspective_brief *perspective); /* live or being filled */
/* The error of one that is not registered. */
PAWL_MUSTCHECK pawl_status perspective_missing(const struct operation *op, pawl_str key);
/* By key or, for a name, its live version, whose key is given. */
PAWL_MUSTCHECK pawl_status perspective_find_live(struct operation *op, pawl_str name, pawl_str *key,
                                                 struct perspective_brief *out);
PAWL_MUSTCHECK pawl_status perspective_set_state(struct operation *op, pawl_str key,
                                                 enum perspective_state state, bool paused);
PAWL_MUSTCHECK pawl_status perspective_unmap(struct operation *op, pawl_str key);
bool perspective_same_text(pawl_str a, pawl_str b); /* absent is like absent only */
/* Maps the types that the patterns match; type absent: every known one. */
PAWL_MUSTCHECK pawl_status types_resolve(struct operation *op, pawl_str type);

/* A checkpoint as stored; due_ms -1 = never. */
struct checkpoint_state {
    bool found;
    struct checkpoint_view view; /* status as stored; next_ms unused */
    int64_t due_ms;
    struct counted_state stored; /* as it was read or written last */
    bool plain;                  /* the same: it had neither error nor lease */
};

struct checkpoint_state checkpoint_column(struct statement *s, struct arena *arena);
PAWL_MUSTCHECK pawl_status checkpoint_read(struct operation *op, pawl_str stream, pawl_str key,
                                           struct checkpoint_state *out);
PAWL_MUSTCHECK pawl_status checkpoint_write(struct operation *op, struct checkpoint_state *c);

/* How a report or an apply moves a checkpoint whose token was compared. */
PAWL_MUSTCHECK pawl_status checkpoint_end(struct operation *op, struct checkpoint_state *c,
                                          const struct checkpoint_end *end, enum fail_outcome *outcome);
/* One report, with its rules. */
PAWL_MUSTCHECK pawl_status checkpoint_report(struct operation *op, pawl_uuid instance,
                                             const struct checkpoint_report *report,
                                             enum store_answer *answer);
/* Perspectives that can be applied: named, live or filling, and not paused. */
struct runnable {
    const pawl_str **keys;
    size_t count;
};

/* A list of checkpoints that grows in the scratch. */
struct picked {
    struct checkpoint_state *rows;
    size_t count, cap;
};

PAWL_MUSTCHECK pawl_status checkpoint_pick(struct operation *op, struct picked *list,
                                           const struct checkpoint_state *c);
/* A completed one becomes pending, due now. */
PAWL_MUSTCHECK pawl_status checkpoint_wake(struct operation *op, struct checkpoint_state *c);
/* Completes a checkpoint that does not lag. */
PAWL_MUSTCHECK pawl_status checkpoint_idle(struct operation *op, struct checkpoint_state *c);
/* For the named streams: list receives what to grant, the others are recorded as due. */
PAWL_MUSTCHECK pawl_status checkpoints_take_streams(struct operation *op, const struct checkpoint_look *look,
                                                    const struct runnable *runnable, struct picked *list);
/* Steps of a batch; the input is checked. */
PAWL_MUSTCHECK pawl_status checkpoints_grant(struct operation *op, const struct checkpoints_claim *in,
                                             struct arena *arena, struct checkpoint_grants *out);
/* What the instance holds under the request key. */
PAWL_MUSTCHECK pawl_status checkpoints_held(struct operation *op, const struct checkpoints_claim *in,
                                            struct arena *arena, struct checkpoint_grants *out);
PAWL_MUSTCHECK pawl_status checkpoints_extend(struct operation *op, const struct checkpoints_renew *in,
                                              struct arena *arena, struct answer_list *out);
/* The checkpoints of a batch: first those that messages name, which completes the messages, then what is due.
 * used: the request key was used before. */
PAWL_MUSTCHECK pawl_status checkpoints_batch(struct operation *op, const struct work_batch *in, bool used,
                                             struct arena *arena, struct checkpoint_grants *out);
/* Frees the checkpoints of an instance that was evicted or has left. */
PAWL_MUSTCHECK pawl_status checkpoints_leave(struct operation *op, pawl_uuid instance);

#endif
