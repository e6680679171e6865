/* The events interface of the stores: events, perspectives, checkpoints and receptors (docs/events.md). */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "base/limits.h"
#include "domain/event_pattern.h"
#include "pawl_events.h"
#include "store/event_receptors.h"
#include "store/types.h"

struct store;

/* ---- Events */

/* Special values of events_append.expected. */
enum { EXPECT_ANY = -1, EXPECT_NONE = 0 };

struct events_append {
    pawl_str stream;
    int64_t expected; /* EXPECT_ANY, EXPECT_NONE, or the version that the stream must have */
    const pawl_event *events;
    size_t count;             /* 1 … PAWL_APPEND_MAX */
    size_t payload_bytes_max; /* 0 = PAWL_PAYLOAD_BYTES_DEFAULT */
};

struct append_result {
    enum store_answer answer; /* APPLIED; DUPLICATE: the same call has happened; CONFLICT: nothing written */
    int64_t version;          /* of the last event of the call; CONFLICT: the stream's actual one */
    int64_t first_version;    /* of the first event; 0 when CONFLICT */
    bool id_known;  /* CONFLICT: an id is known with different content, elsewhere, or without the others */
    pawl_uuid *ids; /* count of the call */
};

struct event_list {
    pawl_stored_event *events;
    size_t count;
    int64_t head; /* the stream's version, or the last position given; 0 = none */
};

struct stamp_result {
    int64_t stamped;  /* events that got a position in this call */
    int64_t position; /* the last one given */
};

/* ---- Perspectives. A version of a perspective is named "name@version": its key. */

enum perspective_run { RUN_SQL = 1, RUN_FUNCTION, RUN_COMMAND, RUN_HTTP };

/* LIVE: used by readers. FILLING: a newer version that is catching up. RETIRED, REMOVED: no longer updated.
 */
enum perspective_state {
    PERSPECTIVE_LIVE = 1,
    PERSPECTIVE_FILLING,
    PERSPECTIVE_RETIRED,
    PERSPECTIVE_REMOVED
};

struct perspective_new {
    pawl_str name;
    int version; /* 1 … PAWL_PERSPECTIVE_VERSION_MAX */
    const struct event_pattern *patterns;
    size_t pattern_count; /* 1 … PAWL_PATTERNS_MAX */
    enum perspective_run run;
    pawl_str target;  /* RUN_SQL: the statement; RUN_COMMAND, RUN_HTTP: command, address; else absent */
    pawl_str clear;   /* SQL that empties the model before a rebuild; may be absent */
    int batch;        /* events per transaction; 0 = PAWL_PERSPECTIVE_BATCH_DEFAULT */
    int max_attempts; /* 0 = the schema's */
    enum dead_policy
        policy; /* at the last attempt: BLOCK (default) stops the stream, SKIP leaves the event out */
};

struct perspective_registered {
    enum store_answer answer; /* APPLIED, DUPLICATE (the same again), CONFLICT (the version is another one) */
    enum perspective_state state;
    bool backfilled; /* false: call perspective_backfill until it is done */
};

enum perspective_action { PERSPECTIVE_PAUSE = 1, PERSPECTIVE_RESUME, PERSPECTIVE_REMOVE };

struct perspective_switch {
    pawl_str name;
    int version;         /* becomes LIVE; the live one is RETIRED */
    int64_t wait_ms;     /* how long the store may block appends until all is applied; 0 = check once */
    pawl_str digest_old; /* SQL that gives one text each; absent = do not compare */
    pawl_str digest_new;
};

struct switch_result {
    enum store_answer answer; /* APPLIED; DUPLICATE: it is live; CONFLICT: it lags, or the digests differ */
    int64_t behind;           /* streams in which the new version has not applied everything */
    pawl_str digest_old, digest_new;
};

enum reset_mode {
    RESET_FAILED = 1, /* retry failed ones at once: error and attempts are cleared, same version */
    RESET_REBUILD     /* start over from the first event, after `clear`; work in progress becomes stale */
};

struct perspective_reset {
    pawl_str perspective; /* key */
    enum reset_mode mode;
    const pawl_str *streams; /* count 0 = all */
    size_t stream_count;
};

struct perspective_row {
    pawl_str key, name;
    int version;
    enum perspective_state state;
    bool paused, backfilled;
    struct event_pattern *patterns;
    size_t pattern_count;
    enum perspective_run run;
    pawl_str target, clear;
    int batch, max_attempts;
    enum dead_policy policy;
    int64_t registered_ms;
    int64_t checkpoints, pending, processing, completed, failed; /* failed: including stopped ones */
    int64_t stopped;          /* failed and out of attempts: a person is needed */
    int64_t matched, applied; /* events: of its types, and up to its checkpoints */
    int64_t lag_events;       /* matched - applied; 0 if it is no longer updated */
    int64_t lag_ms;           /* age of the oldest event that is not applied, as far as positions are given */
    bool lag_whole;   /* false: the oldest was not among those examined; lag_ms is the most it can be */
    int64_t position; /* everything up to here is known to be applied */
};

/* How many events a list examines for each perspective that is live or filling. */
static inline int64_t perspective_look(size_t fed) {
    return fed > 0 && fed < PAWL_LAG_LOOK ? PAWL_LAG_LOOK / (int64_t)fed : 1;
}

/* The lag of a row by the age of the last event examined: if the counts say that nothing is missing, that is
 * the better guess. */
static inline int64_t perspective_lag_ms(const struct perspective_row *row, int64_t age_ms) {
    return age_ms < 0 || (!row->lag_whole && row->lag_events == 0) ? 0 : age_ms;
}

ROW_LIST(perspective_rows, struct perspective_row, rows);

/* ---- Checkpoints */

struct checkpoints_claim {
    pawl_uuid instance;
    const pawl_str *streams; /* those of claimed messages; count 0 = whatever is due */
    size_t stream_count;
    const pawl_str *perspectives; /* keys that the caller can apply; others are left to other callers */
    size_t perspective_count;
    int max;
    int64_t lease_ms;
    pawl_uuid request; /* recorded with the grants; nil = none */
};

struct checkpoints_renew {
    pawl_uuid instance; /* to whom they were granted */
    const struct checkpoint_ref *refs;
    size_t count;
    int64_t lease_ms;
};

/* The next events for a handler outside the store. */
struct checkpoint_batch {
    struct event_list list; /* matching, not skipped, in order; may be empty */
    int64_t through;        /* the version to report when they are handled */
    bool more;              /* there is more after `through` */
};

struct perspective_apply {
    pawl_str perspective;
    int64_t token; /* of the grants */
    const pawl_str *streams;
    size_t stream_count;
    int batch;                    /* events in this transaction; 0 = the perspective's */
    pawl_perspective_fn function; /* NULL: the registered SQL */
    void *self;
};

struct apply_item {
    enum store_answer answer;  /* APPLIED; STALE: the grant has ended; INVALID: an event failed, see error */
    int64_t version;           /* of the checkpoint now */
    int64_t events;            /* given to the perspective */
    bool more;                 /* still granted: call again; false: released */
    enum fail_outcome outcome; /* INVALID: RETRY or DEAD (stopped) */
    int64_t failed_version;
    pawl_str error;
};

ROW_LIST(apply_result, struct apply_item, items); /* per stream of the call */

/* Claims, applies and moves what is due of one perspective, or lags in the named streams, in one transaction.
 */
struct perspective_advance {
    pawl_uuid instance;
    pawl_str perspective;
    const pawl_str *streams; /* those of claimed messages; count 0 = whatever is due */
    size_t stream_count;
    const pawl_str *mine; /* with streams: keys whose checkpoints the caller applies itself; completed
                             checkpoints of others that lag become pending */
    size_t mine_count;
    int batch;                    /* events in this transaction; 0 = the perspective's */
    pawl_perspective_fn function; /* NULL: the registered SQL */
    void *self;
    size_t links_max; /* how many traceparents of its events to return, at most PAWL_LIST_MAX; 0 = none */
};

struct advance_result {
    pawl_str *streams;        /* that were taken */
    struct apply_item *items; /* of each; more: it is due at once; never STALE */
    size_t count;
    pawl_str *busy; /* named streams that another caller has locked: release their messages with a delay */
    size_t busy_count;
    pawl_str *links; /* traceparents of events that it was given, each once, in no order */
    size_t link_count;
};

struct checkpoint_skip {
    pawl_str perspective, stream;
    int64_t version; /* must be after the checkpoint's */
    pawl_str reason; /* required */
};

struct checkpoint_filter {
    pawl_str perspective, stream;             /* absent = any */
    int status;                               /* enum checkpoint_status as seen; -1 = any */
    pawl_str after_stream, after_perspective; /* keyset cursor; absent = from the start */
    int limit;
};

struct checkpoint_view {
    pawl_str stream, perspective, error, fingerprint;
    int64_t version, head, token;
    enum checkpoint_status status; /* PENDING also if it completed and there are newer events */
    bool stopped;
    int attempts;
    pawl_uuid instance; /* nil unless PROCESSING */
    int64_t lease_until_ms, next_ms, created_ms, updated_ms, replay_to, failed_version;
};

ROW_LIST(checkpoint_views, struct checkpoint_view, rows);

struct checkpoint_error {
    pawl_str perspective, fingerprint, sample;
    int64_t count;
};

ROW_LIST(checkpoint_errors, struct checkpoint_error, rows);

/* Either stream and version, or position. */
struct perspective_target {
    pawl_str perspective; /* key, or a name: its live version */
    pawl_str stream;
    int64_t version, position;
};

struct perspective_reached {
    bool reached;
    int64_t at;  /* the version or the position it has reached */
    bool failed; /* it has failed and will not get there by itself: see error */
    pawl_str error;
};

struct snapshot {
    pawl_str stream, name;
    int64_t version;
    pawl_str state; /* JSON */
    int64_t made_ms;
};

/* Every store fills every slot; rules as for store_core_ops. */
struct store_events_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/events.h"
#undef OPERATION
};

/* Input checks shared by all stores. */
PAWL_MUSTCHECK pawl_status check_append(const struct events_append *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_events_query(const pawl_read *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_perspective(const struct perspective_new *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_key(const char *op, pawl_str key, pawl_error *err); /* name@version */
PAWL_MUSTCHECK pawl_status check_reset(const struct perspective_reset *in, pawl_error *err);
/* A rebuild of some streams: PAWL_CONFLICT if `clear` takes no parameter, because it would also empty the
 * model of the others. */
PAWL_MUSTCHECK pawl_status check_clear(const struct perspective_reset *in, pawl_str clear, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_switch(const struct perspective_switch *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_checkpoints_claim(const struct checkpoints_claim *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_checkpoints_renew(const struct checkpoints_renew *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_checkpoint_events(const struct checkpoint_ref *ref, int limit,
                                                   pawl_error *err);
PAWL_MUSTCHECK pawl_status check_apply(const struct perspective_apply *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_advance(const struct perspective_advance *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_skip(const struct checkpoint_skip *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_target(const struct perspective_target *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_snapshot(const struct snapshot *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_limit(const char *op, int limit, pawl_error *err); /* 1 … PAWL_LIST_MAX */
PAWL_MUSTCHECK pawl_status check_stamp(int limit, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_backfill(pawl_str perspective, int streams_max, pawl_error *err);

/* The errors of what is not there. */
PAWL_MUSTCHECK pawl_status snapshot_missing(pawl_str stream, pawl_str name, pawl_error *err);
PAWL_MUSTCHECK pawl_status checkpoint_missing(pawl_str stream, pawl_str perspective, pawl_error *err);

/* The answer to an append if this many of its ids are known; first: the version of its first event if all of
 * them are from the same call, otherwise 0. */
void append_known(const struct events_append *in, size_t count, int64_t first, struct append_result *out);
/* The error of an append that was answered with CONFLICT. */
pawl_status append_refused(const char *op, const struct events_append *in, const struct append_result *result,
                           pawl_error *err);

/* "name@version" in the arena. */
PAWL_MUSTCHECK pawl_status perspective_key(struct arena *arena, pawl_str name, int version, pawl_str *key,
                                           pawl_error *err);

#endif
