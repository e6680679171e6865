/* The work batch: report, store and claim in one transaction and one round trip. For programs that bring
 * their own loop; everybody else uses a worker (pawl.h). */
#ifndef PAWL_BATCH_H
#define PAWL_BATCH_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened to one item; the others are not affected by it. */
typedef enum pawl_answer {
    PAWL_ANSWER_APPLIED = 1,
    PAWL_ANSWER_DUPLICATE, /* it had happened before */
    PAWL_ANSWER_STALE,     /* the grant has ended: another worker may have it */
    PAWL_ANSWER_CONFLICT,  /* it would break the stream's order, or the id is known with another payload */
    PAWL_ANSWER_INVALID,   /* the item itself is wrong */
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
    bool permanent;   /* no further attempt: a dead letter */
    int64_t delay_ms; /* until the next attempt; -1 = the backoff */
} pawl_failure;

/* Gives a message back without an attempt. */
typedef struct pawl_release {
    pawl_ref ref;
    int64_t delay_ms;
} pawl_release;

/* What a batch says and asks about one kind; every array may be empty. */
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

/* A checkpoint that was granted: apply the events after last_version, up to head_version (pawl_events_read).
 */
typedef struct pawl_perspective_work {
    pawl_str stream, perspective; /* name@version */
    int64_t last_version;         /* applied through */
    int64_t head_version;         /* of the stream */
    int64_t token, lease_until_ms;
    int64_t replay_to; /* events up to here are a replay: leave side effects out */
    int attempt;       /* from 1 */
} pawl_perspective_work;

typedef struct pawl_perspective_ref {
    pawl_str stream, perspective;
    int64_t token;
} pawl_perspective_ref;

/* What becomes of the grant. With an error, it failed and is tried again after a while. */
typedef enum pawl_perspective_end {
    PAWL_PERSPECTIVE_DONE = 0, /* below the stream's head it is due again at once */
    PAWL_PERSPECTIVE_GOES_ON,  /* it stays granted */
    PAWL_PERSPECTIVE_RELEASED  /* given back */
} pawl_perspective_end;

typedef struct pawl_perspective_report {
    pawl_str stream, perspective;
    int64_t version; /* applied through; forward only */
    int64_t token;   /* of the grant; any other is answered PAWL_ANSWER_STALE */
    pawl_str error;  /* absent: it succeeded */
    pawl_perspective_end end;
    int64_t delay_ms; /* with an error: until the next attempt; 0 = the backoff */
} pawl_perspective_report;

enum { PAWL_BATCH_SKIP_CLAIM = 1, PAWL_BATCH_DEBUG = 2 };

/* Zero means the default. */
typedef struct pawl_batch {
    pawl_uuid instance;   /* a fresh one per start; registered by its first batch, beaten by the later ones */
    const char *service;  /* required */
    const char *metadata; /* a JSON object */
    int64_t instance_lease_ms;
    int max_partitions;
    int partition_count; /* when named, must be the schema's */
    pawl_batch_part outbox, inbox;
    pawl_str consumer; /* who deduplicates new inbox messages; absent: the service */
    const pawl_receptor_report *receptors;
    size_t receptor_count;
    const pawl_perspective_report *perspectives;
    size_t perspective_count;
    const pawl_perspective_ref *perspective_renewals;
    size_t perspective_renewal_count;
    int perspective_max; /* checkpoints that are granted; 0 = none. More than 0 in the first batch of an
                            instance: it takes part in perspectives */
    const pawl_str *perspectives_mine; /* those that the caller can run, as name@version; count 0 = all */
    size_t perspectives_mine_count;
    int64_t lease_ms; /* of what is claimed, granted and renewed */
    int max_attempts;
    pawl_on_dead on_dead;
    int flags;
    pawl_uuid request; /* the same key again does nothing twice: the answer to PAWL_UNKNOWN */
} pawl_batch;

/* Answers in the order of the arrays they answer. */
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

/*
 * PAWL_STALE: the instance is evicted; drop everything and start with a fresh id. PAWL_UNKNOWN: send it again
 * with the same request key. On PAWL_OK the result is freed with pawl_batch_result_free.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_process_work_batch(pawl_store *store, const pawl_batch *batch,
                                                            pawl_batch_result *result, pawl_error *err);
PAWL_API void pawl_batch_result_free(pawl_batch_result *result); /* takes NULL */

#ifdef __cplusplus
}
#endif

#endif
