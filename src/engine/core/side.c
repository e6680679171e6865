/* Under load: claims that go beside the batches, so that the store does not wait for us, nor we for its
 * commit. */
#include "engine/core/int.h"

/* Whether claims are separate calls: while full ones come, or one of them has no answer yet. */
bool core_side_open(const struct engine_core *core) {
    return core->side.on_way || core->side.resend ||
           (core->may_side && core->full && core->failures == 0 && !core->stopping);
}

bool core_side_wanted(const struct engine_core *core) {
    if (!core->registered || core->deregistering || core->stopping || core->side.on_way ||
        core->now_ms < core->backoff_until_ms)
        return false;
    if (core->side.resend)
        return true;
    return core_side_open(core) && core->now_ms >= core->next_poll_ms && core_batch_claim_wanted(core) > 0;
}

int64_t core_side_due_ms(const struct engine_core *core) {
    if (!core->registered || core->deregistering || core->stopping || core->side.on_way)
        return INT64_MAX;
    int64_t due_ms = INT64_MAX;
    if (core->side.resend)
        due_ms = core->now_ms;
    else if (core_side_open(core) && core_batch_claim_wanted(core) > 0)
        due_ms = core->next_poll_ms;
    return due_ms < core->backoff_until_ms ? core->backoff_until_ms : due_ms;
}

void core_side_send(struct engine_core *core) {
    struct side_claim *side = &core->side;
    if (!side->resend) {
        side->mark = core->known[CHANNEL_MESSAGES].newest_token;
        core_batch_begin(core, &side->batch);
        core_batch_claim_fill(core, &side->batch, core_batch_claim_wanted(core));
        core_batch_polls(core);
    }
    side->resend = false;
    side->on_way = true;
    side->sent_ms = core->now_ms;
    struct engine_action *action = core_act(core, ACTION_CLAIM);
    if (action != NULL)
        action->batch = &side->batch;
}

void core_side_answered(struct engine_core *core, const struct engine_event *event) {
    struct side_claim *side = &core->side;
    side->on_way = false;
    if (side->is_void) {
        side->is_void = false;
        struct engine_action *action = event->status == PAWL_OK ? core_act(core, ACTION_FREE_GRANT) : NULL;
        if (action != NULL)
            action->grant = event->grant;
        return;
    }
    if (event->status != PAWL_OK) {
        core_batch_failed(core, event, &side->resend);
        return;
    }
    size_t claimed = core_batch_claimed(core, event, &side->batch, side->sent_ms);
    core_log(core, LOG_BATCH, (int64_t)claimed, 0, 0);
}

/* Everything was dropped. */
void core_side_forget(struct engine_core *core) {
    core->side.is_void = core->side.on_way;
    core->side.resend = false;
    core->full = false;
}
