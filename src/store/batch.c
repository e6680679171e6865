/* A batch as a worker sends it: everything in one call, or a claim of the lane where work has arrived. */
#include "store/batch.h"

#include "base/error.h"
#include "base/str.h"

struct messages_claim batch_claim(const struct work_batch *in, int kind) {
    return (struct messages_claim){.instance = in->instance.id,
                                   .kind = (enum store_kind)kind,
                                   .max = in->claim_max[kind],
                                   .lease_ms = in->lease_ms,
                                   .policy = in->policy,
                                   .max_attempts = in->max_attempts,
                                   .request = in->request};
}

struct messages_put batch_put(const struct work_batch *in, int kind) {
    return (struct messages_put){.kind = (enum store_kind)kind,
                                 .messages = in->messages[kind],
                                 .count = in->message_count[kind],
                                 .consumer = str_absent(in->consumer) ? in->instance.service : in->consumer,
                                 .request = in->request};
}

struct messages_renew batch_renew(const struct work_batch *in, int kind) {
    return (struct messages_renew){in->instance.id, (enum store_kind)kind, in->renewals[kind],
                                   in->renewal_count[kind], in->lease_ms};
}

struct messages_complete batch_complete(const struct work_batch *in, int kind) {
    return (struct messages_complete){in->instance.id, (enum store_kind)kind, in->completions[kind],
                                      in->completion_count[kind], (in->flags & BATCH_DEBUG) != 0};
}

struct messages_fail batch_fail(const struct work_batch *in, int kind) {
    return (struct messages_fail){in->instance.id, (enum store_kind)kind, in->failures[kind],
                                  in->failure_count[kind]};
}

struct messages_release batch_release(const struct work_batch *in, int kind) {
    return (struct messages_release){in->instance.id, (enum store_kind)kind, in->releases[kind],
                                     in->release_count[kind]};
}

struct checkpoints_renew batch_checkpoints_renew(const struct work_batch *in) {
    return (struct checkpoints_renew){in->instance.id, in->checkpoint_renewals, in->checkpoint_renewal_count,
                                      in->lease_ms};
}

struct checkpoints_report batch_checkpoints(const struct work_batch *in) {
    return (struct checkpoints_report){in->instance.id, in->checkpoints, in->checkpoint_count};
}

static pawl_status claim_lane(struct store *store, const struct work_batch *in, struct arena *arena,
                              struct work_batch_result *out, pawl_error *err) {
    struct work_batch_result result = {0};
    const int kind = in->only.kind;
    struct messages_claim claim = batch_claim(in, kind);
    claim.one_lane = true;
    claim.lane = in->only.lane;
    TRY(store->ops->core.messages_claim(store, &claim, arena, &result.claimed[kind], err));
    if (result.claimed[kind].count > 0)
        result.now_ms = result.claimed[kind].items[0].lease_until_ms - in->lease_ms;
    *out = result;
    return PAWL_OK;
}

pawl_status store_batch(struct store *store, const struct work_batch *in, struct arena *arena,
                        struct work_batch_result *out, pawl_error *err) {
    return in->only.kind != 0 ? claim_lane(store, in, arena, out, err)
                              : store->ops->core.batch_process(store, in, arena, out, err);
}
