/* The work batch: report, store and claim in one transaction and one round trip. For programs with their own
 * main loop; others should use a worker (pawl.h). */
#ifndef PAWL_BATCH_H
#define PAWL_BATCH_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened to one item; the others are not affected by it. */
typedef enum pawl_answer {
    PAWL_ANSWER_APPLIED = 1,
    PAWL_ANSWER_DUPLICATE, /* it had already happened */
    PAWL_ANSWER_STALE,     /* the grant has ended: another worker may have it */
    PAWL_ANSWER_CONFLICT,  /* it would break the stream's order, or the id exists with a different payload */
    PAWL_ANSWER_INVALID,   /* the item is malformed */
    PAWL_ANSWER_NOT_FOUND  /* there is no such checkpoint */
} pawl_answer;

/* A granted message: the token of its grant and its id. */
typedef struct pawl_ref {
    int64_t token;
    pawl_uuid id;
} pawl_ref;

/* Status bits; a completion has Published or Completed and not Failed. */
enum { PAWL_STATUS_STORED = 1, PAWL_STATUS_PUBLISHED = 2, PAWL_STATUS_COMPLETED = 4, PAWL_STATUS_FAILED = 8 };

typedef struct pawl_completion {
    pawl_ref ref;
    int status;
} pawl_completion;

typedef struct pawl_failure {
    pawl_ref ref;
    pawl_str error;
    pawl_str stack;   /* may be absent */
    bool permanent;   /* no more attempts: a dead letter */
    int64_t delay_ms; /* until the next attempt; -1 = the backoff */
} pawl_failure;

/* Gives a message back; no attempt is counted. */
typedef struct pawl_release {
    pawl_ref ref;
    int64_t delay_ms;
} pawl_release;

/* What a batch reports, sends and claims for one kind; every array may be empty. */
typedef struct pawl_batch_part {
    const pawl_completion *completions;
    size_t completion_count;
    const pawl_failure *failures;
    size_t failure_count;
    const pawl_release *releases;
    size_t release_count;
    const pawl_ref *renewals; /* a nil id renews everything under the token */
    size_t renewal_count;
    const pawl_outgoing *messages;
    size_t message_count;
    int claim_max; /* 0 = claim nothing */
} pawl_batch_part;

typedef struct pawl_receptor_report {
    pawl_uuid event_id;
    pawl_str receptor;
    int status;
    pawl_str error; /* absent: it succeeded */
} pawl_receptor_report;

/* A granted checkpoint: apply the events after last_version, up to head_version (pawl_events_read). */
typedef struct pawl_perspective_work {
    pawl_str stream, perspective; /* name@version */
    int64_t last_version;         /* the last one applied */
    int64_t head_version;         /* of the stream */
    int64_t token, lease_until_ms;
    int64_t replay_to; /* events up to here are replayed: skip side effects */
    int attempt;       /* from 1 */
} pawl_perspective_work;

typedef struct pawl_perspective_ref {
    pawl_str stream, perspective;
    int64_t token;
} pawl_perspective_ref;

/* What happens to the grant. With an error, the checkpoint has failed and is retried later. */
typedef enum pawl_perspective_end {
    PAWL_PERSPECTIVE_DONE = 0, /* if it is below the stream's head, it is due again at once */
    PAWL_PERSPECTIVE_GOES_ON,  /* it stays granted */
    PAWL_PERSPECTIVE_RELEASED  /* given back */
} pawl_perspective_end;

typedef struct pawl_perspective_report {
    pawl_str stream, perspective;
    int64_t version; /* the last one applied; forward only */
    int64_t token;   /* of the grant; any other is answered with PAWL_ANSWER_STALE */
    pawl_str error;  /* absent: it succeeded */
    pawl_perspective_end end;
    int64_t delay_ms; /* with an error: until the next attempt; 0 = the backoff */
} pawl_perspective_report;

enum { PAWL_BATCH_SKIP_CLAIM = 1, PAWL_BATCH_DEBUG = 2 };

/* Zero means the default. */
typedef struct pawl_batch {
    pawl_uuid instance; /* a new one per start; the first batch registers it, later ones are its heartbeats */
    const char *service;  /* required */
    const char *metadata; /* a JSON object */
    int64_t instance_lease_ms;
    int max_partitions;
    int partition_count; /* if set, must be the schema's */
    pawl_batch_part outbox, inbox;
    pawl_str consumer; /* the name that new inbox messages are deduplicated under; absent: the service */
    const pawl_receptor_report *receptors;
    size_t receptor_count;
    const pawl_perspective_report *perspectives;
    size_t perspective_count;
    const pawl_perspective_ref *perspective_renewals;
    size_t perspective_renewal_count;
    int perspective_max; /* how many checkpoints to grant; 0 = none. If it is above 0 in an instance's
                            first batch, the instance handles perspectives */
    const pawl_str *perspectives_mine; /* those that the caller can apply, as name@version; count 0 = all */
    size_t perspectives_mine_count;
    int64_t lease_ms; /* for what is claimed, granted and renewed */
    int max_attempts;
    pawl_on_dead on_dead;
    int flags;
    pawl_uuid request; /* with the same key, nothing is done twice: use it after PAWL_UNKNOWN */
} pawl_batch;

/* Answers, in the order of the arrays they belong to. */
typedef struct pawl_batch_answers {
    const pawl_answer *completions, *failures, *releases, *renewals, *messages;
    const bool *dead;             /* per failure: it became a dead letter */
    const pawl_uuid *message_ids; /* per new message */
    const pawl_message *claimed;
    size_t claimed_count;
    const int *lanes; /* owned; partition p belongs to lane p mod lane_count of the schema */
    size_t lane_count;
} pawl_batch_answers;

typedef struct pawl_batch_result {
    int64_t now_ms;         /* of the database */
    int64_t lease_until_ms; /* of the instance */
    pawl_batch_answers outbox, inbox;
    const pawl_answer *receptors, *perspectives, *perspective_renewals;
    const pawl_perspective_work *perspective_work;
    size_t perspective_work_count;
    void *memory; /* holds all of the above */
} pawl_batch_result;

/* PAWL_STALE: the instance was evicted; drop everything and start over with a new id. PAWL_UNKNOWN: send it
 * again with the same request key. On PAWL_OK, free the result with pawl_batch_result_free. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_process_work_batch(pawl_store *store, const pawl_batch *batch,
                                                            pawl_batch_result *result, pawl_error *err);
PAWL_API void pawl_batch_result_free(pawl_batch_result *result); /* takes NULL */

#ifdef __cplusplus
}
#endif

#endif
