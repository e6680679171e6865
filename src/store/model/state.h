/* The tables of the model and the few ways in which a message moves between them. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <pthread.h>

#include "store/model/table.h"
#include "store/store.h"

/* Where a message is. One record per message, so that it can never be in two places. */
enum record_place { PLACE_MESSAGE = 1, PLACE_ASIDE, PLACE_DEAD, PLACE_HISTORY };

struct part;
struct stream;
struct model_jobs;
struct model_runs;
struct model_alerts;

struct record {
    struct node by_id, by_seq;
    int64_t seq, put_ms;
    enum store_kind kind;
    int lane, partition;
    pawl_uuid id, correlation_id, causation_id;
    pawl_str stream, topic, type, payload, headers, traceparent, consumer;

    enum record_place place;
    int attempts, deaths;
    int losses; /* aside: workers that went with it, uncharged; PAWL_SUSPECT_LOSSES = it runs alone */
    int reason; /* enum aside_reason or enum dead_reason, by place */
    bool out_of_order;
    int64_t scheduled_ms; /* aside */
    int64_t ended_ms;     /* dead and history */
    pawl_str error;
    pawl_str fingerprint; /* dead */

    struct stream *home; /* its stream, or the one it has for itself */
    struct part *part;   /* the active claim part that lists it, or NULL */
    size_t mark;         /* scratch of one call: named by item mark - 1 */
    bool accepted;       /* scratch of one call: named, and so is all before it */

    struct link lane_link;   /* lane.messages */
    struct link stream_link; /* stream.aside or stream.dead */
    struct link flight_link; /* stream.flying */
    struct link part_link;   /* part.items */
};

/* A stream of one kind that has any message anywhere, with its hold. */
struct stream {
    struct node by_key;
    enum store_kind kind;
    int lane;
    pawl_str key;
    bool alone; /* of a message without a stream */
    struct list aside, flying, dead;
    size_t records;
    int hold; /* enum hold_state; 0 = no hold */
    int64_t due_ms, by_seq;
    struct stream *hold_prev, *hold_next; /* lane.holds */
    bool seen;                            /* scratch of one call */
};

/* One part of a claim. */
struct part {
    struct node by_token;
    int64_t token;
    int number;
    enum store_kind kind;
    int lane;
    pawl_uuid instance, request;
    enum record_place source;
    enum suspect_state suspect;
    int lost; /* how many of what was granted had been lost before */
    int64_t lease_until_ms, began_ms;
    struct list items; /* unfinished */
    pawl_uuid *done;   /* ids ended by report */
    size_t done_count, done_cap;
    bool pristine; /* nothing reported, taken away or split off yet */
    bool forgot;   /* one complete call ended it whole: every id is done */
    enum dead_policy policy;
    int max_attempts;
    enum claim_state state;
    struct part *prev, *next; /* lane.parts, by (token, number) */
    size_t named;             /* scratch of one call */
};

struct lane {
    enum store_kind kind;
    int number;
    pawl_uuid owner;
    int64_t token, high, moves;
    bool draining;
    struct list messages;
    struct link *unread; /* the first message behind the cursor */
    struct stream *holds;
    int hold_count;
    struct part *parts; /* active ones */
};

struct tally {
    int64_t put, done, failed, dead, aside, stale, duplicate, redriven, discarded;
};

struct instance {
    pawl_uuid id;
    pawl_str service, host, metadata;
    int pid, kinds, max_partitions, slots;
    enum instance_state state;
    int64_t started_ms, beat_ms, lease_ms, lease_until_ms, evicted_ms;
    int64_t processed;
};

struct tombstone {
    struct node by_id;
    pawl_uuid id;
    int64_t made_ms;
};

struct dedupe {
    struct node by_key;
    pawl_str consumer;
    pawl_uuid id;
    int64_t payload_hash, seen_ms;
};

struct request {
    struct node by_key;
    pawl_uuid key;
    int64_t made_ms;
};

struct receptor {
    struct node by_key;
    pawl_uuid event_id;
    pawl_str name, error;
    int status, attempts;
    int64_t updated_ms;
};

struct checkpoint {
    struct node by_key;
    pawl_str stream, perspective, error;
    int64_t version, token, created_ms, updated_ms;
    enum checkpoint_status status;
    int attempts;
    bool stopped;
    pawl_uuid instance;
    int64_t lease_until_ms;
    int64_t due_ms; /* -1 = never */
    int64_t replay_to, failed_version;
    pawl_uuid request; /* of the batch that granted it */
};

struct relay;
struct event_tables;

struct model {
    struct store base; /* first: a struct store * is a struct model * */
    pthread_mutex_t lock;
    struct settings settings;
    int64_t counter, last_seq;
    int64_t now_ms; /* of the running operation */
    struct lane *lanes[KIND_COUNT + 1];
    struct tally tally[KIND_COUNT + 1];
    struct instance **instances; /* by id */
    size_t instance_count, instance_cap;
    struct relay *relay;         /* relay.c; made at first use */
    struct model_jobs *jobs;     /* pooled work, jobs.h */
    struct model_runs *runs;     /* runs.h */
    struct model_alerts *alerts; /* alerts.c; made at first use */
    struct table ids, seqs, streams, tokens, tombstones, dedupe, requests, receptors, checkpoints;
    struct event_tables *events; /* event_state.h */
    struct rollups rollups;
};

/* An operation begins and ends here: one at a time, all of it at one instant. */
struct model *model_enter(struct store *store);
pawl_status model_leave(struct model *model, pawl_status status);

void model_epoch_set(struct model *model, int64_t epoch, enum epoch_cause cause);
int64_t model_token_next(struct model *model);
struct lane *model_lane_at(struct model *model, enum store_kind kind, int number);

/* Records. model_record_new puts it into `message`. */
struct record *model_record_new(struct model *model, enum store_kind kind, const struct message_new *in,
                                pawl_str consumer);
struct record *model_record_find_seq(const struct model *model, enum store_kind kind, int64_t seq);
/* From message or dead or where it is to aside; the tally and the hold follow. */
void model_record_to_aside(struct model *model, struct record *record, enum aside_reason reason,
                           int64_t scheduled_ms);
/* To the dead letters; the hold follows when its stream has nothing aside any more. */
void model_record_to_dead(struct model *model, struct record *record, enum dead_reason reason);
/* Its end: into the history, or out of the model (and freed). */
void model_record_finish(struct model *model, struct record *record, bool keep);
void model_record_remove(struct model *model, struct record *record);
void model_record_set_error(struct record *record, pawl_str error);

/* The hold of a stream; model_hold_follow makes, moves or drops a waiting one as the aside rows say. */
void model_hold_follow(struct model *model, struct stream *stream);
void model_hold_drop(struct model *model, struct stream *stream);
void model_hold_set(struct model *model, struct stream *stream, enum hold_state state, int64_t by_seq);

/* Claim parts. */
struct part *model_part_new(struct model *model, const struct part *like);
void model_part_add(struct part *part, struct record *record);
/* The item leaves its part; a part without items is done. Reported: its id joins the done ones. */
void model_part_leave(struct model *model, struct record *record, bool reported);
bool model_part_has_done(const struct part *part, pawl_uuid id);
/* An active part stops being active. */
void model_part_end(struct model *model, struct part *part, enum claim_state state);
void model_part_free(struct model *model, struct part *part);

struct instance *model_instance_find(const struct model *model, pawl_uuid id);
bool model_instance_live(const struct model *model, const struct instance *instance);
struct tombstone *model_tombstone_find(const struct model *model, pawl_uuid id);
struct request *model_request_find(const struct model *model, pawl_uuid key);
void model_request_add(struct model *model, pawl_uuid key);

#endif
