/* What a worker knows of its grants: its beats say it, and the store takes back the rest. */
#include "engine/core/int.h"

enum { IDLE_BEATS = 5 }; /* a channel with nothing in hand need not say so with every beat */

/* A call that may have granted something is on its way, or goes out again, and no grant after its mark can be
 * told from one that got lost. */
static int64_t settled(const struct engine_core *core, enum engine_channel channel) {
    int64_t token = core->known[channel].newest_token;
    if (channel == CHANNEL_PERSPECTIVES) {
        const struct perspective_channel *call = &core->perspectives;
        return call->on_way && call->claims && call->mark < token ? call->mark : token;
    }
    if (channel == CHANNEL_JOBS) {
        bool open = core->jobs.call == JOBS_FINISH || core->jobs.resend;
        return open && core->jobs.mark < token ? core->jobs.mark : token;
    }
    if ((core->cycle == CYCLE_BATCH || core->resend) && core->batch_mark < token)
        token = core->batch_mark;
    if ((core->side.on_way || core->side.resend) && core->side.mark < token)
        token = core->side.mark;
    return token;
}

static struct grant_held held(const struct entry *entry) {
    int64_t number = entry->job != NULL ? entry->job->id : entry->item != NULL ? entry->item->seq : 0;
    return (struct grant_held){entry->claim->token, number};
}

static void add(struct engine_core *core, struct known *known, size_t *count, struct grant_held grant) {
    if (core_grow(core, (void **)&known->items, &known->capacity, *count + 1, sizeof(*known->items)))
        known->items[(*count)++] = grant;
}

/* With the next beat; NULL = not this time. What is returned stays as it is until the beat is answered. */
const struct grants_settle *core_known(struct engine_core *core, enum engine_channel channel) {
    static const enum grant_side sides[CHANNEL_COUNT] = {GRANTS_MESSAGES, GRANTS_JOBS, GRANTS_CHECKPOINTS};
    struct known *known = &core->known[channel];
    size_t count = 0, kept = 0;
    bool served = channel == CHANNEL_MESSAGES || core_serves(core, channel);
    if (channel == CHANNEL_PERSPECTIVES)
        served = served && core->config.checkpoints;
    bool quiet = channel != CHANNEL_MESSAGES && core->grant_count[channel] == 0 &&
                 core->now_ms < known->due_ms;
    if (!served || quiet)
        return NULL;
    known->due_ms = core->now_ms + IDLE_BEATS * core->config.heartbeat_ms;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; grant->channel == channel && i < grant->count; i++) {
            if (grant->entries[i].state != ENTRY_GONE && grant->entries[i].claim->token != 0)
                add(core, known, &count, held(&grant->entries[i]));
        }
    }
    for (size_t i = 0; i < core->left_count; i++) {
        const struct left_grant *left = &core->left[i];
        if (left->until_ms <= core->now_ms)
            continue;
        core->left[kept++] = *left;
        if (core->left[kept - 1].channel == channel)
            add(core, known, &count, core->left[kept - 1].grant);
    }
    core->left_count = kept;
    known->said = (struct grants_settle){.instance = core->metrics.instance,
                                         .side = sides[channel],
                                         .held = known->items,
                                         .count = count,
                                         .settled = core->out_of_memory ? 0 : settled(core, channel),
                                         .seen = known->seen_token};
    return &known->said;
}

/* What ran until its lease expired: that is a death, or an attempt, which the store counts when the lease
 * ends. Until then it is listed as held, so that it is not given back. */
void core_known_left(struct engine_core *core, const struct entry *entry) {
    enum engine_channel channel = core_channel(entry);
    if (!core_grow(core, (void **)&core->left, &core->left_capacity, core->left_count + 1,
                   sizeof(*core->left)))
        return;
    core->left[core->left_count++] =
        (struct left_grant){channel, held(entry), core->now_ms + core_lease_ms(core, channel)};
    core->known[channel].due_ms = core->now_ms;
    core->whole_beat_ms = 0;
}

void core_known_granted(struct engine_core *core, enum engine_channel channel, int64_t token) {
    struct known *known = &core->known[channel];
    if (token > known->seen_token)
        known->seen_token = token;
    if (token > known->newest_token)
        known->newest_token = token;
}

/* What got lost while the store did not answer is found out with the next beat, which comes now. */
void core_known_doubt(struct engine_core *core) {
    core->whole_beat_ms = 0;
    core_duty(core, DUTY_BEAT)->due_ms = core->now_ms;
    core->known[CHANNEL_JOBS].due_ms = core->known[CHANNEL_PERSPECTIVES].due_ms = core->now_ms;
}

/* What the store made of it. A grant that the holder does not know is taken back by the next beat, now that
 * its token is known, unless it is the answer to a call that is on its way. */
void core_known_settled(struct engine_core *core, enum engine_channel channel,
                        const struct grants_settled *answer) {
    struct known *known = &core->known[channel];
    if (answer->released > 0)
        core_log(core, LOG_SETTLED, answer->released, channel, 0);
    if (answer->newest > known->newest_token) {
        known->newest_token = answer->newest;
        if (settled(core, channel) == answer->newest) {
            core->whole_beat_ms = 0;
            core_duty(core, DUTY_BEAT)->due_ms = core->now_ms;
            known->due_ms = core->now_ms;
        }
    }
    core_known_epoch(core, answer->epoch);
}

void core_known_epoch(struct engine_core *core, int64_t epoch) {
    if (core->epoch != 0 && epoch > core->epoch)
        core_log(core, LOG_EPOCH, core->epoch, epoch, 0);
    if (epoch > core->epoch)
        core->epoch = epoch;
}
