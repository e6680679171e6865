/* Leases: renewed by what runs, and respected before they end. */
#include <stdlib.h>

#include "engine/core/int.h"

/* Until when this instance may count on being alive for the others. */
void core_instance_lease(struct engine_core *core, int64_t sent_ms, int64_t left_ms) {
    core->instance_fence_ms = sent_ms + left_ms - core_grace_ms(core->config.instance_lease_ms);
}

int64_t core_lease_ms(const struct engine_core *core, enum engine_channel channel) {
    return channel == CHANNEL_JOBS ? core->config.job_lease_ms : core->config.lease_ms;
}

static bool unfinished(const struct entry *entry) {
    return !entry->dropped && entry->state >= ENTRY_WAITING && entry->state <= ENTRY_RUNNING;
}

/* The store has taken the stream back from this token: what runs is asked to stop, its outcome will be
 * dropped. */
void core_stream_fence(struct engine_core *core, struct stream *stream, int64_t token) {
    struct entry *running = stream->head;
    bool any = false;
    for (size_t i = 0; i < stream->running; i++, running = running->next) {
        if (running->claim->token > token)
            continue;
        running->dropped = true;
        running->claim->split = true;
        any = true;
    }
    if (any)
        core_slot_cancel_stream(core, stream, STOP_FENCED);
    core_stream_drop_waiting(core, stream, token);
    core_stream_ready(core, stream);
}

/* The grant of one entry has ended, and with it that of its stream. */
static void fence_entry(struct engine_core *core, struct entry *entry) {
    entry->claim->split = true;
    if (entry->stream != NULL) {
        core_stream_fence(core, entry->stream, entry->claim->token);
        return;
    }
    entry->dropped = true; /* a waiting one is taken out of its queue when its turn comes */
    if (entry->state != ENTRY_WAITING)
        core_slot_cancel(core, entry->slot, STOP_FENCED);
}

/* Fences what has run out; returns how many entries. The claim may be gone afterwards. */
static size_t fence_claim(struct engine_core *core, struct claim *claim, int64_t limit_ms) {
    size_t fenced = 0;
    int64_t earliest_ms = INT64_MAX;
    struct grant *grant = claim->grant;
    grant->pins++; /* dropping its entries must not free it under us */
    for (size_t i = 0; i < claim->count; i++) {
        struct entry *entry = &claim->entries[i];
        if (!unfinished(entry))
            continue;
        if (entry->fence_ms <= limit_ms) {
            if (entry->state == ENTRY_RUNNING && limit_ms == core->now_ms)
                core_known_left(core, entry);
            fence_entry(core, entry);
            fenced++;
        } else if (entry->fence_ms < earliest_ms) {
            earliest_ms = entry->fence_ms;
        }
    }
    claim->fence_ms = earliest_ms;
    core_grant_unpin(core, grant);
    return fenced;
}

/* Stops every effect whose lease, or whose instance's lease, is about to end. */
void core_lease_fence(struct engine_core *core) {
    bool all = core->registered && core->now_ms >= core->instance_fence_ms;
    int64_t limit_ms = all ? CORE_UNLEASED_MS : core->now_ms;
    size_t fenced = 0;
    struct grant *next = NULL;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = next) {
        next = grant->next;
        if (grant->fence_ms > limit_ms)
            continue;
        grant->pins++;
        grant->fence_ms = INT64_MAX;
        for (size_t i = 0; i < grant->claim_count; i++) {
            struct claim *claim = &grant->claims[i];
            if (claim->fence_ms <= limit_ms)
                fenced += fence_claim(core, claim, limit_ms);
            if (claim->fence_ms < grant->fence_ms)
                grant->fence_ms = claim->fence_ms;
        }
        next = grant->next;
        core_grant_unpin(core, grant);
    }
    if (fenced > 0)
        core_log(core, LOG_FENCED, (int64_t)fenced, all, 0);
}

/* Whether the lease is worth renewing. What has had its time, or hangs, is not kept alive by its healthy
 * siblings. */
static bool kept(const struct engine_core *core, const struct entry *entry) {
    if (entry->dropped || entry->fence_ms <= core->now_ms)
        return false;
    if (entry->state ==
        ENTRY_WAITING) /* renewing a job, or what is started with care, means that it begins */
        return entry->job == NULL && !core_careful(entry);
    if (entry->state == ENTRY_RUNNING)
        return core->now_ms < entry->keep_until_ms;
    return entry->state == ENTRY_BEGINNING || entry->state == ENTRY_TELLING;
}

struct renew_plan {
    size_t unfinished, kept;
};

static struct renew_plan plan(const struct engine_core *core, const struct claim *claim) {
    struct renew_plan plan = {0, 0};
    for (size_t i = 0; i < claim->count; i++) {
        plan.unfinished += unfinished(&claim->entries[i]);
        plan.kept += kept(core, &claim->entries[i]);
    }
    return plan;
}

void core_lease_renew_at(struct claim *claim, int64_t at_ms) {
    claim->renew_at_ms = at_ms;
    if (at_ms < claim->grant->renew_at_ms)
        claim->grant->renew_at_ms = at_ms;
}

/* Whether the grant has a claim to renew; if not, it is known from when on it may have one. */
static bool grant_due(const struct engine_core *core, struct grant *grant) {
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < grant->claim_count; i++) {
        struct claim *claim = &grant->claims[i];
        if (claim->renewing)
            continue;
        if (claim->renew_at_ms <= core->now_ms) {
            struct renew_plan counts = plan(core, claim);
            if (counts.kept > 0)
                return true;
            claim->renew_at_ms =
                counts.unfinished > 0 ? core->now_ms + core_lease_ms(core, grant->channel) / 3 : INT64_MAX;
        }
        if (claim->renew_at_ms < next_ms)
            next_ms = claim->renew_at_ms;
    }
    grant->renew_at_ms = next_ms;
    return false;
}

bool core_lease_renew_due(struct engine_core *core, enum engine_channel channel) {
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        if (grant->channel == channel && grant->renew_at_ms <= core->now_ms && grant_due(core, grant))
            return true;
    }
    return false;
}

int64_t core_lease_renew_due_ms(const struct engine_core *core, enum engine_channel channel) {
    int64_t due_ms = INT64_MAX;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        if (grant->channel == channel && grant->renew_at_ms < due_ms)
            due_ms = grant->renew_at_ms;
    }
    return due_ms;
}

static void add_renewal(struct engine_core *core, enum store_kind kind, struct claim *claim,
                        struct entry *entry) {
    size_t count = core->batch.renewal_count[kind];
    size_t capacity = core->renew_capacity[kind];
    if (!core_grow(core, (void **)&core->renew_refs[kind], &capacity, count + 1, sizeof(struct item_ref)) ||
        !core_grow(core, (void **)&core->renewals[kind], &core->renew_capacity[kind], count + 1,
                   sizeof(struct renewal)))
        return;
    core->renew_refs[kind][count] = (struct item_ref){claim->token, {{0}}};
    if (entry != NULL)
        core->renew_refs[kind][count].id = entry->item->id;
    core->renewals[kind][count] = (struct renewal){.claim = claim, .entry = entry};
    core->batch.renewal_count[kind] = count + 1;
    claim->renewing = true;
    claim->grant->pins++;
}

static void collect_claim(struct engine_core *core, enum store_kind kind, struct claim *claim) {
    struct renew_plan counts = plan(core, claim);
    if (counts.kept == counts.unfinished && !claim->split) {
        if (counts.kept > 0)
            add_renewal(core, kind, claim, NULL);
        return;
    }
    for (size_t i = 0; i < claim->count; i++) {
        if (kept(core, &claim->entries[i]))
            add_renewal(core, kind, claim, &claim->entries[i]);
    }
}

/* Adds what is due to the batch. */
void core_lease_collect(struct engine_core *core, enum store_kind kind) {
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        if (grant->channel != CHANNEL_MESSAGES || grant->renew_at_ms > core->now_ms)
            continue;
        for (size_t i = 0; i < grant->claim_count; i++) {
            struct claim *claim = &grant->claims[i];
            if (!claim->renewing && claim->renew_at_ms <= core->now_ms &&
                claim->entries[0].item->kind == kind)
                collect_claim(core, kind, claim);
        }
    }
}

/* How often what is kept is renewed. */
static int64_t renew_every_ms(const struct engine_core *core, enum engine_channel channel) {
    int64_t third_ms = core_lease_ms(core, channel) / 3;
    return channel == CHANNEL_JOBS && third_ms > ENGINE_LISTEN_MS ? ENGINE_LISTEN_MS : third_ms;
}

/* What the store has answered to a renewal that was sent at sent_ms. */
static void renewed(struct engine_core *core, const struct renewal *renewal, enum store_answer answer,
                    int64_t sent_ms) {
    struct claim *claim = renewal->claim;
    enum engine_channel channel = claim->grant->channel;
    int64_t lease_ms = core_lease_ms(core, channel);
    int64_t fence_ms = sent_ms + lease_ms - core_grace_ms(lease_ms);
    claim->renewing = false;
    core_lease_renew_at(claim, sent_ms + renew_every_ms(core, channel));
    struct entry *first = renewal->entry != NULL ? renewal->entry : claim->entries;
    size_t count = renewal->entry != NULL ? 1 : claim->count;
    if (answer == ANSWER_APPLIED) {
        for (size_t i = 0; i < count; i++)
            first[i].fence_ms = fence_ms;
        if (renewal->entry == NULL || claim->count == 1)
            claim->fence_ms = fence_ms;
        if (first->state == ENTRY_BEGINNING)
            core_slot_run(core, first->slot);
        return;
    }
    /* A whole claim that answers duplicate is done; anything else means that it has ended. */
    size_t fenced = 0;
    for (size_t i = 0; i < count && answer != ANSWER_DUPLICATE; i++) {
        if (unfinished(&first[i])) {
            fence_entry(core, &first[i]);
            fenced++;
        }
    }
    if (fenced > 0) {
        core->metrics.stale += channel == CHANNEL_MESSAGES;
        core_log(core, LOG_FENCED, (int64_t)fenced, 0, 1);
    }
}

void core_lease_answers(struct engine_core *core, const struct work_batch_result *result) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct answer_list *list = &result->renewed[kind];
        for (size_t i = 0; i < core->batch.renewal_count[kind]; i++)
            renewed(core, &core->renewals[kind][i], i < list->count ? list->answers[i] : ANSWER_STALE,
                    core->batch_sent_ms);
    }
    core_lease_unpin(core);
}

void core_lease_unpin(struct engine_core *core) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < core->batch.renewal_count[kind]; i++)
            core_grant_unpin(core, core->renewals[kind][i].claim->grant);
        core->batch.renewal_count[kind] = 0;
    }
}

/* What is due by soon_ms, one renewal each. The text of a job's progress goes with the call: the next one may
 * come in meanwhile. Returns how many. */
static size_t collect(struct engine_core *core, enum engine_channel channel, int64_t soon_ms,
                      struct renewal **renewals, size_t *capacity) {
    size_t count = 0;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; grant->channel == channel && grant->renew_at_ms <= soon_ms && i < grant->count;
             i++) {
            struct entry *entry = &grant->entries[i];
            if (count == PAWL_BATCH_MAX || entry->claim->renew_at_ms > soon_ms || !kept(core, entry))
                continue;
            if (!core_grow(core, (void **)renewals, capacity, count + 1, sizeof(**renewals)))
                return count;
            struct renewal *renewal = &(*renewals)[count++];
            *renewal = (struct renewal){.claim = entry->claim, .entry = entry};
            if (entry->extra != NULL) {
                renewal->progress = entry->extra->progress;
                renewal->progress_len = entry->extra->progress_len;
                entry->extra->progress = NULL;
            }
            entry->claim->renewing = true;
            grant->pins++;
        }
    }
    return count;
}

/* The jobs whose renewal is due, and those that are due soon, into core->jobs.renew_items; returns how many.
 */
size_t core_lease_collect_jobs(struct engine_core *core) {
    struct job_channel *jobs = &core->jobs;
    size_t count = collect(core, CHANNEL_JOBS, core->now_ms + ENGINE_LISTEN_MS / 4, &jobs->renewals,
                           &jobs->renewals_capacity);
    if (!core_grow(core, (void **)&jobs->renew_items, &jobs->renew_capacity, count,
                   sizeof(*jobs->renew_items)))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct renewal *renewal = &jobs->renewals[i];
        jobs->renew_items[i] = (struct renew_item){{renewal->entry->job->token, renewal->entry->job->id},
                                                   {renewal->progress, renewal->progress_len}};
    }
    return count;
}

static void job_renewed(struct engine_core *core, const struct renewal *renewal, enum store_answer answer,
                        bool cancel) {
    struct entry *entry = renewal->entry;
    if (entry->state == ENTRY_TELLING) { /* whatever the answer: the report comes next */
        renewal->claim->renewing = false;
        core->jobs.telling--;
        core_jobs_pend(core, entry);
        return;
    }
    core->metrics.jobs.renewed += answer != ANSWER_STALE && unfinished(entry);
    renewed(core, renewal, answer, core->jobs.sent_ms);
    if (!cancel || entry->state != ENTRY_RUNNING || entry->dropped)
        return;
    entry->asked = true;
    if (core->slots[entry->slot].count == 1)
        core_slot_cancel(core, entry->slot, STOP_ASKED);
}

/* The streams whose renewal is due into core->perspectives.refs; returns how many. */
size_t core_lease_collect_streams(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    size_t count =
        collect(core, CHANNEL_PERSPECTIVES, core->now_ms, &channel->renewals, &channel->renewals_capacity);
    if (!core_grow(core, (void **)&channel->refs, &channel->refs_capacity, count, sizeof(*channel->refs)))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct checkpoint_grant *of = channel->renewals[i].entry->checkpoint;
        channel->refs[i] =
            (struct checkpoint_ref){of->stream, of->perspective, channel->renewals[i].claim->token};
    }
    return count;
}

static void is_back(struct engine_core *core, struct renewal *renewal) {
    free(renewal->progress);
    core_grant_unpin(core, renewal->claim->grant);
}

/* answers NULL: the call has failed. */
void core_lease_answers_streams(struct engine_core *core, const struct answer_list *answers) {
    struct perspective_channel *channel = &core->perspectives;
    for (size_t i = 0; i < channel->exchange.renewal_count; i++) {
        struct renewal *renewal = &channel->renewals[i];
        renewal->claim->renewing = false;
        core_lease_renew_at(renewal->claim, renewal->claim->renew_at_ms);
        if (answers != NULL && renewal->entry->state != ENTRY_GONE)
            renewed(core, renewal, i < answers->count ? answers->answers[i] : ANSWER_STALE, channel->sent_ms);
        is_back(core, renewal);
    }
    channel->exchange.renewal_count = 0;
}

/* The store has not heard of it: it is told again, unless there is something newer. */
static void untell(struct renewal *renewal) {
    struct job_extra *state = renewal->entry->extra;
    if (renewal->entry->state == ENTRY_GONE || state->progress != NULL)
        return;
    state->progress = renewal->progress;
    state->progress_len = renewal->progress_len;
    renewal->progress = NULL;
}

/* result NULL: the call has failed. */
void core_lease_answers_jobs(struct engine_core *core, const struct renew_result *result) {
    struct job_channel *jobs = &core->jobs;
    for (size_t i = 0; i < jobs->renew.count; i++) {
        struct renewal *renewal = &jobs->renewals[i];
        renewal->claim->renewing = false;
        core_lease_renew_at(renewal->claim, renewal->claim->renew_at_ms);
        if (result == NULL)
            untell(renewal);
        else if (renewal->entry->state != ENTRY_GONE)
            job_renewed(core, renewal, i < result->count ? result->answers[i] : ANSWER_STALE,
                        i < result->count && result->cancel[i]);
        is_back(core, renewal);
    }
    jobs->renew.count = 0;
}

/* Progress that cannot be told any more does not hold up the report. */
void core_lease_untold(struct engine_core *core) {
    if (core->jobs.telling == 0)
        return;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; i < grant->count; i++) {
            struct entry *entry = &grant->entries[i];
            if (entry->state != ENTRY_TELLING || entry->fence_ms > core->now_ms)
                continue;
            core->jobs.telling--;
            core_jobs_pend(core, entry);
        }
    }
}

int64_t core_lease_fence_due_ms(const struct engine_core *core) {
    bool in_hand = core->registered && core->grants.next != &core->grants;
    int64_t due_ms = in_hand && core->instance_fence_ms > core->now_ms ? core->instance_fence_ms : INT64_MAX;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        if (grant->fence_ms < due_ms)
            due_ms = grant->fence_ms;
    }
    return due_ms;
}
