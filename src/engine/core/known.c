/* What the worker knows of its grants: every beat says it, and the store takes back the rest. */
#include "engine/core/int.h"

/* A call that may have granted something is on its way, or goes out again, and no grant after its mark can be
 * told from one that got lost. */
static int64_t settled(const struct engine_core *core) {
    int64_t token = core->newest_token;
    if ((core->cycle == CYCLE_BATCH || core->resend) && core->batch_mark < token)
        token = core->batch_mark;
    if ((core->side.on_way || core->side.resend) && core->side.mark < token)
        token = core->side.mark;
    return token;
}

static void add(struct engine_core *core, size_t *count, int64_t token, int64_t seq) {
    if (core_grow(core, (void **)&core->known_items, &core->known_capacity, *count + 1,
                  sizeof(*core->known_items)))
        core->known_items[(*count)++] = (struct grant_held){token, seq};
}

/* With the next beat. What is returned stays as it is until the beat is answered. */
const struct grants_settle *core_known(struct engine_core *core) {
    size_t count = 0, kept = 0;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; i < grant->count; i++) {
            if (grant->entries[i].state != ENTRY_GONE)
                add(core, &count, grant->entries[i].claim->token, grant->entries[i].item->seq);
        }
    }
    for (size_t i = 0; i < core->left_count; i++) {
        if (core->left[i].until_ms <= core->now_ms)
            continue;
        core->left[kept++] = core->left[i];
        add(core, &count, core->left[i].grant.token, core->left[i].grant.number);
    }
    core->left_count = kept;
    core->known = (struct grants_settle){.instance = core->metrics.instance,
                                         .side = GRANTS_MESSAGES,
                                         .held = core->known_items,
                                         .count = count,
                                         .settled = core->out_of_memory ? 0 : settled(core),
                                         .seen = core->seen_token};
    return &core->known;
}

/* A message that ran until its lease expired: that is a death, which the store counts when the lease ends.
 */
void core_known_left(struct engine_core *core, const struct entry *entry) {
    if (!core_grow(core, (void **)&core->left, &core->left_capacity, core->left_count + 1,
                   sizeof(*core->left)))
        return;
    core->left[core->left_count++] =
        (struct left_grant){{entry->claim->token, entry->item->seq}, core->now_ms + core->config.lease_ms};
}

void core_known_granted(struct engine_core *core, int64_t token) {
    if (token > core->seen_token)
        core->seen_token = token;
    if (token > core->newest_token)
        core->newest_token = token;
}

/* What the store made of it. A grant that the holder does not know is taken back by the next beat, now that
 * its token is known, unless it is the answer to a call that is on its way. */
void core_known_settled(struct engine_core *core, const struct grants_settled *answer) {
    if (answer->released > 0)
        core_log(core, LOG_SETTLED, answer->released, 0, 0);
    if (answer->newest > core->newest_token) {
        core->newest_token = answer->newest;
        if (settled(core) == answer->newest)
            core->next_beat_ms = core->now_ms;
    }
    core_known_epoch(core, answer->epoch);
}

void core_known_epoch(struct engine_core *core, int64_t epoch) {
    if (core->epoch != 0 && epoch > core->epoch)
        core_log(core, LOG_EPOCH, core->epoch, epoch, 0);
    if (epoch > core->epoch)
        core->epoch = epoch;
}
