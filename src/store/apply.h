/* Applying a perspective to a batch inside a store's transaction: all together, otherwise stream by stream,
 * otherwise event by event. Shared by the stores. */
#ifndef STORE_APPLY_H
#define STORE_APPLY_H

#include "base/buf.h"
#include "store/events.h"

/* The part of a batch that belongs to one stream. */
struct apply_cut {
    pawl_str stream;
    bool held; /* false: the grant has ended, so nothing is done */
    int64_t from_version, through_version,
        head; /* applied so far; last version of this batch; of the stream */
    int64_t replay_to;
    size_t first, count; /* its events */
    /* what came out */
    int64_t version; /* applied through */
    int64_t events;
    int64_t failed_version;
    pawl_str error; /* absent: none */
};

/* How a store sets a savepoint, rolls back to it, or releases it. */
struct apply_marks {
    void *store;
    pawl_status (*mark)(void *store, pawl_error *err);
    pawl_status (*undo)(void *store, pawl_error *err); /* the mark is gone afterwards */
    pawl_status (*keep)(void *store, pawl_error *err);
};

struct apply_job {
    pawl_perspective_call call; /* events and count are filled in */
    pawl_perspective_fn function;
    void *self;
    struct apply_marks marks;
};

/* Fills the results of every cut. Not PAWL_OK: the whole transaction must be rolled back; no event is at
 * fault. */
PAWL_MUSTCHECK pawl_status apply_run(const struct apply_job *job, const pawl_stored_event *events,
                                     struct apply_cut *cuts, size_t count, struct arena *arena,
                                     pawl_error *err);

/* The store's answer for a cut, except `more` and `outcome`. */
struct apply_item apply_item_of(const struct apply_cut *cut);

/* How a report or an application changes a checkpoint. */
struct checkpoint_end {
    int64_t version, token;
    enum checkpoint_status status;
    pawl_str error;
    int64_t failed_version, delay_ms;
    bool counted; /* the caller adds what was applied to the counts */
};

/* The checkpoint before a report. held: it is granted to the reporting worker, under the token of the report.
 */
struct checkpoint_found {
    int64_t version, head, token;
    enum checkpoint_status status; /* as it is stored */
    bool held;
};

/* The answer to a report: only the current grant can move a checkpoint. */
enum store_answer checkpoint_answer(const struct checkpoint_found *found,
                                    const struct checkpoint_report *report);

/* How the checkpoint of a cut that is held ends. */
struct checkpoint_end apply_end_of(const struct apply_cut *cut, int64_t token);

/* The same for one taken without a grant: what is left is due at once. */
struct checkpoint_end advance_end_of(const struct apply_cut *cut, int64_t token);

/* Which checkpoints of named streams a claim or an advance looks at. */
struct checkpoint_look {
    const struct checkpoints_claim *claim;
    const pawl_str *except; /* keys to leave alone */
    size_t except_count;
};

bool checkpoint_left_alone(const struct checkpoint_look *look, pawl_str key);

/* An advance as a claim: except must hold as many as mine_count. */
struct checkpoint_look advance_look(const struct perspective_advance *in, struct checkpoints_claim *claim,
                                    pawl_str *except);

/* The messages of a batch that say "look at this stream": their streams (returns how many), and completing
 * them. */
size_t wakes_take(const struct item *items, size_t count, pawl_str *streams, struct complete_item *done);
/* The grants of two calls in one answer. */
PAWL_MUSTCHECK pawl_status grants_join(const struct checkpoint_grants *first,
                                       const struct checkpoint_grants *second, struct arena *arena,
                                       struct checkpoint_grants *out, pawl_error *err);

/* Copies the traceparents of applied events into the answer, as requested. */
PAWL_MUSTCHECK pawl_status advance_links(const struct perspective_advance *in,
                                         const pawl_stored_event *events, size_t count, struct arena *arena,
                                         struct advance_result *out, pawl_error *err);

/* The events as the JSON array for a perspective's SQL. */
void apply_json(struct buf *out, const pawl_stored_event *events, size_t count);

#endif
