/* A batch as a worker sends it: everything in one call, or a claim of the lane where work has arrived. */
#include "store/store.h"

static pawl_status claim_lane(struct store *store, const struct work_batch *in, struct arena *arena,
                              struct work_batch_result *out, pawl_error *err) {
    struct work_batch_result result = {0};
    const int kind = in->only.kind;
    const struct messages_claim claim = {
        .instance = in->instance.id,
        .kind = (enum store_kind)kind,
        .max = in->claim_max[kind],
        .lease_ms = in->lease_ms,
        .policy = in->policy,
        .max_attempts = in->max_attempts,
        .request = in->request,
        .one_lane = true,
        .lane = in->only.lane,
    };
    pawl_status status = store->ops->core.messages_claim(store, &claim, arena, &result.claimed[kind], err);
    if (status != PAWL_OK)
        return status;
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
