/* The work batch of the public API, converted to store operations and back. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "handler/message.h"
#include "pawl_batch.h"
#include "store/store.h"
#include "work/send.h"

#define OP "pawl_process_work_batch"

enum { HOST_BYTES = 256 };

_Static_assert((int)PAWL_ANSWER_APPLIED == (int)ANSWER_APPLIED &&
                   (int)PAWL_ANSWER_NOT_FOUND == (int)ANSWER_NOT_FOUND &&
                   sizeof(pawl_answer) == sizeof(enum store_answer),
               "answers are handed on as they are");
_Static_assert((int)PAWL_ON_DEAD_PARK == (int)POLICY_PARK, "policies are handed on as they are");
_Static_assert((int)PAWL_BATCH_DEBUG == (int)BATCH_DEBUG &&
                   (int)PAWL_BATCH_SKIP_CLAIM == (int)BATCH_SKIP_CLAIM,
               "flags are handed on as they are");

static struct item_ref ref_in(pawl_ref ref) { return (struct item_ref){ref.token, ref.id}; }

static bool part_in(struct arena *arena, const pawl_batch_part *part, enum store_kind kind,
                    struct work_batch *out) {
    struct complete_item *completions = arena_array(arena, part->completion_count, sizeof(*completions));
    struct fail_item *failures = arena_array(arena, part->failure_count, sizeof(*failures));
    struct release_item *releases = arena_array(arena, part->release_count, sizeof(*releases));
    struct item_ref *renewals = arena_array(arena, part->renewal_count, sizeof(*renewals));
    if (completions == NULL || failures == NULL || releases == NULL || renewals == NULL)
        return false;
    for (size_t i = 0; i < part->completion_count; i++)
        completions[i] =
            (struct complete_item){ref_in(part->completions[i].ref), part->completions[i].status};
    for (size_t i = 0; i < part->failure_count; i++) {
        const pawl_failure *in = &part->failures[i];
        failures[i] = (struct fail_item){.ref = ref_in(in->ref),
                                         .error = in->error,
                                         .stack = in->stack,
                                         .error_class = in->permanent ? CLASS_PERMANENT : CLASS_RETRYABLE,
                                         .delay_ms = in->delay_ms};
    }
    for (size_t i = 0; i < part->release_count; i++)
        releases[i] = (struct release_item){.ref = ref_in(part->releases[i].ref),
                                            .delay_ms = part->releases[i].delay_ms};
    for (size_t i = 0; i < part->renewal_count; i++)
        renewals[i] = ref_in(part->renewals[i]);
    out->messages[kind] = part->messages;
    out->message_count[kind] = part->message_count;
    out->claim_max[kind] = part->claim_max;
    out->completions[kind] = completions;
    out->completion_count[kind] = part->completion_count;
    out->failures[kind] = failures;
    out->failure_count[kind] = part->failure_count;
    out->releases[kind] = releases;
    out->release_count[kind] = part->release_count;
    out->renewals[kind] = renewals;
    out->renewal_count[kind] = part->renewal_count;
    return true;
}

static bool records_in(struct arena *arena, const pawl_batch *batch, struct work_batch *out) {
    static const enum checkpoint_status ends[] = {[PAWL_PERSPECTIVE_DONE] = CHECKPOINT_COMPLETED,
                                                  [PAWL_PERSPECTIVE_GOES_ON] = CHECKPOINT_PROCESSING,
                                                  [PAWL_PERSPECTIVE_RELEASED] = CHECKPOINT_PENDING};
    struct checkpoint_ref *renewals = arena_array(arena, batch->perspective_renewal_count, sizeof(*renewals));
    struct receptor_report *receptors = arena_array(arena, batch->receptor_count, sizeof(*receptors));
    struct checkpoint_report *checkpoints =
        arena_array(arena, batch->perspective_count, sizeof(*checkpoints));
    if (receptors == NULL || checkpoints == NULL || renewals == NULL)
        return false;
    for (size_t i = 0; i < batch->receptor_count; i++) {
        const pawl_receptor_report *in = &batch->receptors[i];
        receptors[i] = (struct receptor_report){in->event_id, in->receptor, in->status, in->error};
    }
    for (size_t i = 0; i < batch->perspective_count; i++) {
        const pawl_perspective_report *in = &batch->perspectives[i];
        checkpoints[i] = (struct checkpoint_report){
            .stream = in->stream,
            .perspective = in->perspective,
            .version = in->version,
            .token = in->token,
            .status = in->error.ptr != NULL ? CHECKPOINT_FAILED : ends[in->end],
            .error = in->error,
            .delay_ms = in->delay_ms,
        };
    }
    for (size_t i = 0; i < batch->perspective_renewal_count; i++) {
        const pawl_perspective_ref *in = &batch->perspective_renewals[i];
        renewals[i] = (struct checkpoint_ref){in->stream, in->perspective, in->token};
    }
    out->checkpoint_renewals = renewals;
    out->checkpoint_renewal_count = batch->perspective_renewal_count;
    out->checkpoint_max = batch->perspective_max;
    out->perspectives = batch->perspectives_mine;
    out->perspective_count = batch->perspectives_mine_count;
    out->receptors = receptors;
    out->receptor_count = batch->receptor_count;
    out->checkpoints = checkpoints;
    out->checkpoint_count = batch->perspective_count;
    return true;
}

static pawl_status batch_in(struct arena *arena, const pawl_batch *batch, struct work_batch *out,
                            pawl_error *err) {
    if (batch->service == NULL)
        return error_set(err, PAWL_INVALID, OP, "the service is missing: name the program that works");
    char *host = arena_alloc(arena, HOST_BYTES);
    if (host == NULL || gethostname(host, HOST_BYTES - 1) != 0 || !records_in(arena, batch, out))
        return error_set(err, PAWL_NO_MEMORY, OP, "out of memory, or the machine has no name");
    out->instance = (struct instance_new){
        .id = batch->instance,
        .service = str_from(batch->service),
        .host = str_from(host),
        .pid = getpid(),
        .metadata = batch->metadata != NULL ? str_from(batch->metadata) : (pawl_str){0},
        .kinds = KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX) |
                 (batch->perspective_max > 0 ? KIND_BIT(KIND_PERSPECTIVE) : 0),
        .lease_ms = batch->instance_lease_ms,
        .max_partitions = batch->max_partitions,
        .partition_count = batch->partition_count,
    };
    out->consumer = batch->consumer;
    out->lease_ms = batch->lease_ms != 0 ? batch->lease_ms : PAWL_LEASE_MS_DEFAULT;
    out->max_attempts = batch->max_attempts;
    out->policy = (enum dead_policy)batch->on_dead;
    out->flags = batch->flags | BATCH_LANES;
    out->request = batch->request;
    bool made = part_in(arena, &batch->outbox, KIND_OUTBOX, out) &&
                part_in(arena, &batch->inbox, KIND_INBOX, out);
    return made ? PAWL_OK : error_no_memory(err, OP);
}

static bool part_out(struct arena *arena, const struct work_batch_result *in, enum store_kind kind,
                     pawl_batch_answers *out) {
    const struct item_list *claimed = &in->claimed[kind];
    pawl_message *messages = arena_array(arena, claimed->count, sizeof(*messages));
    bool *dead = arena_array(arena, in->failed[kind].count, sizeof(*dead));
    if (messages == NULL || dead == NULL)
        return false;
    for (size_t i = 0; i < claimed->count; i++)
        messages[i] = work_message(&claimed->items[i]);
    for (size_t i = 0; i < in->failed[kind].count; i++)
        dead[i] = in->failed[kind].outcomes[i] == FAIL_DEAD;
    *out = (pawl_batch_answers){
        .completions = (const pawl_answer *)in->completed[kind].answers,
        .failures = (const pawl_answer *)in->failed[kind].answers,
        .releases = (const pawl_answer *)in->released[kind].answers,
        .renewals = (const pawl_answer *)in->renewed[kind].answers,
        .messages = (const pawl_answer *)in->put[kind].answers,
        .dead = dead,
        .message_ids = in->put[kind].ids,
        .claimed = messages,
        .claimed_count = claimed->count,
        .lanes = in->lanes[kind],
        .lane_count = in->lane_count[kind],
    };
    return true;
}

static bool granted_out(struct arena *arena, const struct checkpoint_grants *in, pawl_batch_result *out) {
    pawl_perspective_work *work = arena_array(arena, in->count, sizeof(*work));
    if (work == NULL)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        const struct checkpoint_grant *grant = &in->grants[i];
        work[i] = (pawl_perspective_work){grant->stream,    grant->perspective, grant->version,
                                          grant->head,      grant->token,       grant->lease_until_ms,
                                          grant->replay_to, grant->attempt};
    }
    out->perspective_work = work;
    out->perspective_work_count = in->count;
    return true;
}

pawl_status pawl_process_work_batch(pawl_store *store, const pawl_batch *batch, pawl_batch_result *result,
                                    pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, OP);
    struct store *inner = send_store(store);
    struct work_batch in = {0};
    struct work_batch_result answers = {0};
    pawl_batch_result made = {.memory = arena};
    pawl_status status = batch_in(arena, batch, &in, err);
    if (status == PAWL_OK)
        status = inner->ops->core.batch_process(inner, &in, arena, &answers, err);
    /* Running out of memory for the answer must not look like a batch that did not happen. */
    if (status == PAWL_OK &&
        (!part_out(arena, &answers, KIND_OUTBOX, &made.outbox) ||
         !part_out(arena, &answers, KIND_INBOX, &made.inbox) || !granted_out(arena, &answers.granted, &made)))
        status =
            error_set(err, PAWL_UNKNOWN, OP, "the batch was done, but there is no memory for its answer");
    if (status != PAWL_OK) {
        arena_free(arena);
        return status;
    }
    made.now_ms = answers.now_ms;
    made.lease_until_ms = answers.lease_until_ms;
    made.receptors = (const pawl_answer *)answers.receptors.answers;
    made.perspectives = (const pawl_answer *)answers.checkpoints.answers;
    made.perspective_renewals = (const pawl_answer *)answers.checkpoint_renewals.answers;
    *result = made;
    return PAWL_OK;
}

void pawl_batch_result_free(pawl_batch_result *result) {
    if (result == NULL)
        return;
    arena_free(result->memory);
    memset(result, 0, sizeof(*result));
}
