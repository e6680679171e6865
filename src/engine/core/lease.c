/* Leases: renewed by what runs, and respected before they end. */
#include "engine/core/int.h"

/* Until when this instance may count on being alive for the others. */
void core_instance_lease(struct engine_core *core, int64_t sent_ms, int64_t left_ms) {
    core->instance_fence_ms = sent_ms + left_ms - core_grace_ms(core->config.instance_lease_ms);
}

static bool unfinished(const struct entry *entry) {
    return !entry->dropped && (entry->state == ENTRY_WAITING || entry->state == ENTRY_RUNNING);
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
    if (entry->stream == NULL) {
        entry->dropped = true; /* a waiting one is taken out of its queue when its turn comes */
        for (int i = 0; i < core->config.slots && entry->state == ENTRY_RUNNING; i++) {
            for (size_t j = 0; core->slots[i].busy && j < core->slots[i].count; j++) {
                if (core->slots[i].entries[j] == entry)
                    core_slot_cancel(core, i, STOP_FENCED);
            }
        }
        return;
    }
    core_stream_fence(core, entry->stream, entry->claim->token);
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
    int64_t limit_ms = all ? INT64_MAX - 1 : core->now_ms;
    size_t fenced = 0;
    struct grant *next = NULL;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = next) {
        grant->pins++;
        for (size_t i = 0; i < grant->claim_count; i++) {
            if (grant->claims[i].fence_ms <= limit_ms)
                fenced += fence_claim(core, &grant->claims[i], limit_ms);
        }
        next = grant->next;
        core_grant_unpin(core, grant);
    }
    if (fenced > 0)
        core_log(core, LOG_FENCED, (int64_t)fenced, all, 0);
}

/* A message that has had its time, or hangs, is not kept alive by its healthy siblings. */
static bool renewable(const struct engine_core *core, const struct entry *entry) {
    /* Renewing a suspect means that it begins. */
    if (entry->state == ENTRY_WAITING)
        return !entry->item->suspect || entry->claim->begun || entry == core->begins;
    int64_t timeout_ms = core->config.handlers[entry->handler].timeout_ms;
    if (timeout_ms > 0)
        return timeout_ms > core->config.lease_ms * entry->renewals / 3;
    return entry->renewals < ENGINE_RENEWALS_MAX;
}

struct renew_plan {
    size_t unfinished, renewable;
};

static struct renew_plan plan(const struct engine_core *core, const struct claim *claim) {
    struct renew_plan plan = {0, 0};
    for (size_t i = 0; i < claim->count; i++) {
        if (!unfinished(&claim->entries[i]))
            continue;
        plan.unfinished++;
        plan.renewable += renewable(core, &claim->entries[i]);
    }
    return plan;
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
    core->renewals[kind][count] = (struct renewal){claim, entry};
    core->batch.renewal_count[kind] = count + 1;
    claim->renewing = true;
    claim->grant->pins++;
}

static void collect_claim(struct engine_core *core, enum store_kind kind, struct claim *claim,
                          struct renew_plan counts) {
    if (counts.renewable == counts.unfinished && !claim->split) {
        add_renewal(core, kind, claim, NULL);
        return;
    }
    for (size_t i = 0; i < claim->count; i++) {
        struct entry *entry = &claim->entries[i];
        if (unfinished(entry) && renewable(core, entry))
            add_renewal(core, kind, claim, entry);
    }
}

/* Adds what is due to the batch (dry: only counts). */
size_t core_lease_collect(struct engine_core *core, enum store_kind kind, bool dry) {
    size_t due = 0;
    for (struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; i < grant->claim_count; i++) {
            struct claim *claim = &grant->claims[i];
            if (claim->renewing || claim->renew_at_ms > core->now_ms || claim->entries[0].item->kind != kind)
                continue;
            struct renew_plan counts = plan(core, claim);
            if (counts.renewable == 0) {
                claim->renew_at_ms = counts.unfinished > 0 ? core->now_ms + core->config.lease_ms / 3
                                                           : INT64_MAX;
                continue;
            }
            due++;
            if (!dry)
                collect_claim(core, kind, claim, counts);
        }
    }
    return due;
}

static void renewed(struct engine_core *core, const struct renewal *renewal, enum store_answer answer) {
    struct claim *claim = renewal->claim;
    int64_t fence_ms = core->batch_sent_ms + core->config.lease_ms - core_grace_ms(core->config.lease_ms);
    claim->renewing = false;
    claim->renew_at_ms = core->batch_sent_ms + core->config.lease_ms / 3;
    struct entry *first = renewal->entry != NULL ? renewal->entry : claim->entries;
    size_t count = renewal->entry != NULL ? 1 : claim->count;
    if (answer == ANSWER_APPLIED) {
        for (size_t i = 0; i < count; i++) {
            first[i].fence_ms = fence_ms;
            first[i].renewals += first[i].state == ENTRY_RUNNING;
        }
        if (renewal->entry == NULL)
            claim->fence_ms = fence_ms;
        claim->begun = claim->begun || first->item->suspect;
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
        core->metrics.stale++;
        core_log(core, LOG_FENCED, (int64_t)fenced, 0, 1);
    }
}

void core_lease_answers(struct engine_core *core, const struct work_batch_result *result) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct answer_list *list = &result->renewed[kind];
        for (size_t i = 0; i < core->batch.renewal_count[kind]; i++)
            renewed(core, &core->renewals[kind][i], i < list->count ? list->answers[i] : ANSWER_STALE);
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

int64_t core_lease_renew_due_ms(const struct engine_core *core) {
    int64_t due_ms = INT64_MAX;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; i < grant->claim_count; i++) {
            if (!grant->claims[i].renewing && grant->claims[i].renew_at_ms < due_ms)
                due_ms = grant->claims[i].renew_at_ms;
        }
    }
    return due_ms;
}

int64_t core_lease_fence_due_ms(const struct engine_core *core) {
    bool in_hand = core->registered && core->grants.next != &core->grants;
    int64_t due_ms = in_hand && core->instance_fence_ms > core->now_ms ? core->instance_fence_ms : INT64_MAX;
    for (const struct grant *grant = core->grants.next; grant != &core->grants; grant = grant->next) {
        for (size_t i = 0; i < grant->claim_count; i++) {
            if (grant->claims[i].fence_ms < due_ms)
                due_ms = grant->claims[i].fence_ms;
        }
    }
    return due_ms;
}
