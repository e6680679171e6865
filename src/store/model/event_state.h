/* Streams, events, perspectives and what belongs to them in the model. */
#ifndef MODEL_EVENT_STATE_H
#define MODEL_EVENT_STATE_H

#include "store/apply.h"
#include "store/model/state.h"

struct kept_event {
    struct node by_id;
    struct stored_event event; /* owns its texts, but for the stream's name */
    size_t type;               /* index into event_tables.types */
};

struct kept_stream {
    struct node by_name;
    pawl_str name;
    int64_t version;
    struct kept_event **events; /* version - 1 */
    size_t cap;
};

struct kept_type {
    pawl_str name;
    int64_t events;
};

struct kept_perspective {
    pawl_str key, name, target, clear, backfill_after;
    int version, batch, max_attempts;
    enum perspective_state state;
    enum perspective_run run;
    enum dead_policy policy;
    bool paused, backfilled;
    struct event_pattern *patterns; /* owns the texts */
    size_t pattern_count;
    bool *maps; /* per type: it gets events of it */
    size_t maps_cap;
    int64_t registered_ms, applied, position;
};

struct kept_skip {
    pawl_str key, stream, reason;
    int64_t version;
};

/* A receptor on events. */
struct kept_receptor {
    pawl_str name;
    struct event_pattern *patterns; /* owns the texts */
    size_t pattern_count;
    int64_t position, fed, registered_ms;
};

struct event_tables {
    struct table streams, ids;
    struct kept_event **all; /* position - 1 */
    size_t all_count, all_cap;
    struct kept_type *types;
    size_t type_count, type_cap;
    struct kept_perspective **perspectives; /* by name, version */
    size_t perspective_count, perspective_cap;
    struct kept_skip *skips;
    size_t skip_count, skip_cap;
    struct snapshot *snapshots; /* by stream, name, version */
    size_t snapshot_count, snapshot_cap;
    struct kept_receptor *receptors; /* by name */
    size_t receptor_count, receptor_cap;
};

struct event_tables *model_events(struct model *model); /* made at first use */
void model_events_free(struct model *model);
void model_receptor_patterns_free(struct kept_receptor *receptor);

struct kept_stream *model_event_stream(const struct model *model, pawl_str name); /* NULL: not there */
int64_t model_stream_version(const struct model *model, pawl_str name);           /* 0: not there */
struct kept_event *model_event_find(const struct model *model, pawl_uuid id);

/* By key, or NULL; removed ones too. */
struct kept_perspective *model_perspective_find(const struct model *model, pawl_str key);
bool model_perspective_fed(const struct kept_perspective *perspective); /* live or filling; takes NULL */
bool model_perspective_removed(const struct model *model, pawl_str key);
bool model_perspective_maps(const struct kept_perspective *perspective, size_t type);
void model_perspective_map(struct model *model, struct kept_perspective *perspective, size_t type, bool maps);
bool model_skipped(const struct model *model, pawl_str key, pawl_str stream, int64_t version);
void model_skip_add(struct model *model, pawl_str key, pawl_str stream, int64_t version, pawl_str reason);

/* Matching events of the stream behind `after`, up to `through`. */
int64_t model_events_matching(const struct model *model, const struct kept_perspective *perspective,
                              pawl_str stream, int64_t after, int64_t through);

/* Every checkpoint by (stream, key); free it. */
struct checkpoint **model_checkpoints_sorted(const struct model *model, size_t *count);

/* How a report or an apply moves a checkpoint whose token was compared. */
enum fail_outcome model_checkpoint_end(struct model *model, struct checkpoint *checkpoint,
                                       const struct checkpoint_end *end);
/* Pending, due now, without error and attempts. */
void model_checkpoint_clear(struct model *model, struct checkpoint *checkpoint);
void model_checkpoint_free_lease(struct checkpoint *checkpoint);

/* Steps of a batch; the input is checked and the instance allowed. */
PAWL_MUSTCHECK pawl_status model_checkpoints_grant(struct model *model, const struct checkpoints_claim *in,
                                                   struct arena *arena, struct checkpoint_grants *out,
                                                   pawl_error *err);
/* What the instance holds under the request key. */
PAWL_MUSTCHECK pawl_status model_checkpoints_held(struct model *model, const struct checkpoints_claim *in,
                                                  struct arena *arena, struct checkpoint_grants *out,
                                                  pawl_error *err);
void model_checkpoints_extend(struct model *model, const struct checkpoints_renew *in,
                              enum store_answer *answers);
/* What an instance held that is evicted or has left is free. */
void model_checkpoints_leave(struct model *model, pawl_uuid instance);
/* A completed one becomes pending, due now. */
void model_checkpoint_wake(struct model *model, struct checkpoint *c);
/* Those of the named streams that are behind: list becomes what is to be granted, the others are woken. */
size_t model_checkpoints_behind(struct model *model, const struct checkpoint_look *look,
                                struct checkpoint **list, size_t total);
/* Those that are due, oldest first: list becomes them. */
size_t model_checkpoints_due(const struct model *model, const struct checkpoints_claim *in,
                             struct checkpoint **list, size_t total);
/* One that is not behind is completed; false: it is behind. */
bool model_checkpoint_idle(struct model *model, struct checkpoint *c);

/* The next events of one stream, at most left; cut has from_version, head, replay_to and first. */
PAWL_MUSTCHECK pawl_status model_cut_one(struct model *model, const struct kept_perspective *perspective,
                                         struct apply_cut *cut, size_t left, struct arena *arena,
                                         struct stored_event *events, pawl_error *err);
/* Nothing to mark: what a function writes elsewhere is its own affair. */
struct apply_marks model_no_marks(void);

/* The next events of granted streams; what apply_begin and apply_rows are in SQL. */
PAWL_MUSTCHECK pawl_status model_cut(struct model *model, const struct perspective_apply *in,
                                     struct arena *arena, struct apply_cut **cuts,
                                     struct stored_event **events, pawl_error *err);

/* A copy for the caller. */
PAWL_MUSTCHECK pawl_status model_event_copy(struct arena *arena, const struct kept_event *kept,
                                            struct stored_event *out, pawl_error *err);

#endif
