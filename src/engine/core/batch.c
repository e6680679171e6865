/* The batch: one call that reports, renews and claims; built once, sent until its fate is known. */
#include <string.h>

#include "engine/core/int.h"

static unsigned claim_kinds(const struct engine_core *core) {
    return (unsigned)core->config.instance.kinds & KIND_BITS_ALL & ~core->left_kinds;
}

/* How many messages the next batch should ask for: ahead of the slots, or for slots that nothing in our hands
 * can use, because what waits is behind its stream or its handler's limit. */
int core_batch_claim_wanted(const struct engine_core *core) {
    if (core->stopping || claim_kinds(core) == 0 || core->now_ms >= core->instance_fence_ms ||
        core->now_ms < core->trouble_until_ms[CHANNEL_MESSAGES])
        return 0;
    size_t waiting = core->waiting[CHANNEL_MESSAGES], most = 2 * (size_t)core->claim_size;
    size_t ahead = core_run_ahead(core, CHANNEL_MESSAGES), slots = (size_t)core->config.slots;
    if (core_slots_full(core))
        return 0;
    if (ahead > most)
        ahead = most;
    size_t wanted = 0;
    if (waiting < ahead && (waiting == 0 || (ahead - waiting) * 4 >= ahead))
        wanted = ahead - waiting;
    else if (waiting < slots * ENGINE_AHEAD_UNKNOWN && !core_jobs_asked(core))
        wanted = slots - (size_t)core_running(core);
    return wanted < (size_t)core->claim_size ? (int)wanted : core->claim_size;
}

/* Shares it out among the kinds. */
void core_batch_claim_fill(const struct engine_core *core, struct work_batch *batch, int wanted) {
    int kinds = __builtin_popcount(claim_kinds(core));
    for (enum store_kind kind = 1; kind <= KIND_COUNT && wanted > 0; kind++) {
        if ((claim_kinds(core) & KIND_BIT(kind)) != 0)
            batch->claim_max[kind] = wanted / kinds > 0 ? wanted / kinds : 1;
    }
}

/* What this batch asks for: nothing while a separate claim is on its way. */
static int claim_wanted(const struct engine_core *core) {
    return core_side_open(core) ? 0 : core_batch_claim_wanted(core);
}

bool core_batch_wanted(struct engine_core *core) {
    if (core->cycle != CYCLE_IDLE || core->now_ms < core->backoff_until_ms || core->deregistering)
        return false;
    if (core->resend || core_report_due(core) || core_lease_renew_due(core, CHANNEL_MESSAGES))
        return true;
    return (core->now_ms >= core->next_poll_ms || core->place.kind != 0) && claim_wanted(core) > 0;
}

int64_t core_batch_due_ms(struct engine_core *core) {
    if (core->cycle != CYCLE_IDLE)
        return INT64_MAX;
    int64_t due_ms = core_report_due_ms(core);
    if (core->resend)
        due_ms = core->now_ms;
    int64_t poll_ms = core->place.kind != 0 ? core->now_ms : core->next_poll_ms;
    if (poll_ms < due_ms && claim_wanted(core) > 0)
        due_ms = poll_ms;
    int64_t renew_ms = core_lease_renew_due_ms(core, CHANNEL_MESSAGES);
    if (renew_ms < due_ms)
        due_ms = renew_ms;
    return due_ms < core->backoff_until_ms ? core->backoff_until_ms : due_ms;
}

/* Whether a finished message waits a little for the rest of its claim: ending a claim as a whole is many
 * times cheaper for the store than ending it piece by piece. */
static bool held_back(const struct engine_core *core, const struct claim *claim) {
    if (claim->open == 0 || core->stopping || core->config.strategy.type != STRATEGY_BATCHED)
        return false;
    return core->now_ms < claim->pending_since_ms + ENGINE_HOLD_MS;
}

static void hold_back(struct engine_core *core, const struct claim *claim) {
    int64_t due_ms = claim->pending_since_ms + ENGINE_HOLD_MS;
    if (core->held_count++ == 0 || due_ms < core->report_due_ms)
        core->report_due_ms = due_ms;
}

/* Moves pending entries, at most PAWL_BATCH_MAX of them, into the list that is sent. The order stays: all of
 * a stream are in one claim. */
static void swap_buffer(struct engine_core *core, struct entry_list *pending, struct entry_list *sending,
                        bool may_hold) {
    size_t kept = 0;
    if (!core_grow(core, (void **)&sending->items, &sending->capacity, pending->count,
                   sizeof(struct entry *)))
        return;
    for (size_t i = 0; i < pending->count; i++) {
        struct entry *entry = pending->items[i];
        if (sending->count == PAWL_BATCH_MAX || (may_hold && held_back(core, entry->claim))) {
            hold_back(core, entry->claim);
            pending->items[kept++] = entry;
            continue;
        }
        core_entry_state(entry, ENTRY_SENDING);
        sending->items[sending->count++] = entry;
    }
    pending->count = kept;
    core->pending_count -= sending->count;
    for (size_t i = 0; may_hold && i < sending->count; i++)
        sending->items[i]->claim->pending_since_ms = 0;
}

static void fill_completions(struct engine_core *core, enum store_kind kind) {
    struct entry_list *list = &core->sending[REPORT_COMPLETE][kind];
    if (!core_grow(core, (void **)&core->complete_items[kind], &core->complete_capacity[kind], list->count,
                   sizeof(struct complete_item)))
        return;
    int status = core_report_status(kind);
    for (size_t i = 0; i < list->count; i++) {
        const struct item *item = list->items[i]->item;
        core->complete_items[kind][i] = (struct complete_item){{item->token, item->id}, status};
    }
    core->batch.completions[kind] = core->complete_items[kind];
    core->batch.completion_count[kind] = list->count;
}

static void fill_failures(struct engine_core *core, enum store_kind kind) {
    struct entry_list *list = &core->sending[REPORT_FAIL][kind];
    if (!core_grow(core, (void **)&core->fail_items[kind], &core->fail_capacity[kind], list->count,
                   sizeof(struct fail_item)))
        return;
    for (size_t i = 0; i < list->count; i++)
        core->fail_items[kind][i] = core_report_fail_item(core, list->items[i]);
    core->batch.failures[kind] = core->fail_items[kind];
    core->batch.failure_count[kind] = list->count;
}

static void fill_releases(struct engine_core *core, enum store_kind kind) {
    struct entry_list *list = &core->sending[REPORT_RELEASE][kind];
    if (!core_grow(core, (void **)&core->release_items[kind], &core->release_capacity[kind], list->count,
                   sizeof(struct release_item)))
        return;
    for (size_t i = 0; i < list->count; i++) {
        const struct item *item = list->items[i]->item;
        core->release_items[kind][i] =
            (struct release_item){{item->token, item->id}, list->items[i]->delay_ms, list->items[i]->paused};
    }
    core->batch.releases[kind] = core->release_items[kind];
    core->batch.release_count[kind] = list->count;
}

/* The key under which a call is remembered: the instance's id with a number folded in. */
pawl_uuid core_request_key(struct engine_core *core) {
    pawl_uuid key = core->metrics.instance;
    uint64_t number = ++core->batch_number;
    for (int i = 0; i < 6; i++)
        key.b[15 - i] ^= (uint8_t)(number >> (8 * i));
    return key;
}

void core_batch_begin(struct engine_core *core, struct work_batch *batch) {
    const struct engine_config *config = &core->config;
    *batch = (struct work_batch){
        .instance = config->instance,
        .lease_ms = config->lease_ms,
        .max_attempts = config->max_attempts,
        .policy = config->policy,
        .flags = config->debug ? BATCH_DEBUG : BATCH_NONE,
        .request = core_request_key(core),
    };
    batch->instance.id = core->metrics.instance;
    batch->instance.lease_ms = config->instance_lease_ms;
}

/* A claim is about to be sent. */
void core_batch_polls(struct engine_core *core) {
    core->woken = false;
    core->poll_put_off = false;
}

/* A claim of one lane, when there is nothing else to say. */
static bool build_brief(struct engine_core *core) {
    struct lane_name place = core->place;
    int wanted = claim_wanted(core);
    core->place.kind = 0;
    if (place.kind == 0 || wanted == 0 || core->pending_count > 0 ||
        core_lease_renew_due(core, CHANNEL_MESSAGES) || core->now_ms >= core->next_poll_ms ||
        (claim_kinds(core) & KIND_BIT(place.kind)) == 0)
        return false;
    core_batch_begin(core, &core->batch);
    core->batch.only = place;
    core->batch.claim_max[place.kind] = wanted;
    core->poll_due = false;
    core_batch_polls(core);
    return true;
}

static void build(struct engine_core *core) {
    core_batch_begin(core, &core->batch);
    int wanted = claim_wanted(core);
    core->poll_due = core->now_ms >= core->next_poll_ms || core->poll_put_off;
    core->held_count = 0;
    for (enum store_kind kind = 1; kind <= KIND_COUNT; kind++) {
        for (enum report_type type = 0; type < REPORT_TYPE_COUNT; type++)
            swap_buffer(core, &core->pending[type][kind], &core->sending[type][kind],
                        type == REPORT_COMPLETE);
        fill_completions(core, kind);
        fill_failures(core, kind);
        fill_releases(core, kind);
        core_lease_collect(core, kind);
        core->batch.renewals[kind] = core->renew_refs[kind];
    }
    core_batch_claim_fill(core, &core->batch, wanted);
    if (core->pending_count > 0)
        core->pending_since_ms = core->now_ms;
    if (wanted == 0)
        core->batch.flags |= BATCH_SKIP_CLAIM;
    else
        core_batch_polls(core);
}

void core_batch_send(struct engine_core *core) {
    if (core->resend)
        core->batch.only.kind = 0; /* from here on as a whole */
    else if (!build_brief(core))
        build(core);
    if (core->stopping) {
        core->batch.flags |= BATCH_SKIP_CLAIM;
        memset(core->batch.claim_max, 0, sizeof(core->batch.claim_max));
    }
    if (!core->resend)
        core->batch_mark = core->known[CHANNEL_MESSAGES].newest_token;
    core->resend = false;
    core->cycle = CYCLE_BATCH;
    core->batch_sent_ms = core->now_ms; /* before it is sent: the lease can only be longer than we think */
    struct engine_action *action = core_act(core, ACTION_BATCH);
    if (action != NULL)
        action->batch = &core->batch;
}

static int64_t poll_delay_ms(const struct engine_core *core) {
    const struct engine_config *config = &core->config;
    bool quiet = core_wait_quiet(core) && core->was_idle && core->now_ms >= core->retry_watch_until_ms;
    return quiet && config->quiet_poll_ms > 0 ? config->quiet_poll_ms : config->poll_ms;
}

static size_t asked_for(const struct work_batch *batch) {
    size_t asked = 0;
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        asked += (size_t)batch->claim_max[kind];
    return asked;
}

/* When to look again. What came while the answer was on its way may not be in it. */
static void plan_poll(struct engine_core *core, bool more, int64_t delay_ms) {
    core->next_poll_ms = more || core->woken ? core->now_ms : core->now_ms + delay_ms;
}

/* Idle and busy are told once each, when they change. */
static void count_poll(struct engine_core *core, const struct work_batch *batch, size_t claimed) {
    bool asked = (batch->flags & BATCH_SKIP_CLAIM) == 0;
    if (claimed > 0) {
        core->metrics.empty_polls = 0;
        core->poll_put_off = core_wait_quiet(core) && claimed < asked_for(batch);
        plan_poll(core, !core->poll_put_off, core->config.poll_ms);
        if (!core->was_busy)
            (void)core_act(core, ACTION_NOTIFY_STARTED);
        if (core->was_idle)
            core_life_busy(core);
        core->was_busy = true;
        core->was_idle = false;
        return;
    }
    if (!asked)
        return;
    plan_poll(core, false, poll_delay_ms(core));
    if (batch == &core->batch && !core->poll_due)
        return; /* it only came along with results: the next poll decides */
    core->metrics.empty_polls++;
    if (!core->was_idle && core->grant_count[CHANNEL_MESSAGES] == 0 &&
        core->metrics.empty_polls >= core->config.idle_polls) {
        core->was_idle = true;
        core->was_busy = false;
        (void)core_act(core, ACTION_NOTIFY_IDLE);
    }
}

/* Full batches ask for bigger ones: what a commit costs is shared by more messages. */
static void size_batch(struct engine_core *core, const struct work_batch *batch, size_t claimed) {
    int asked = (int)asked_for(batch);
    if (asked > 0)
        core->full = claimed >= (size_t)asked && asked * 2 >= core->claim_size;
    int most = core->config.batch_max > core->config.batch ? core->config.batch_max : core->config.batch;
    if (asked >= core->claim_size && claimed >= (size_t)asked)
        core->claim_size = core->claim_size * 2 < most ? core->claim_size * 2 : most;
    else if (asked > 0 && claimed * 2 < (size_t)asked)
        core->claim_size = core->config.batch;
}

/* Takes what a call claimed, and learns from it; returns how many. */
size_t core_batch_claimed(struct engine_core *core, const struct engine_event *event,
                          const struct work_batch *batch, int64_t sent_ms) {
    const struct work_batch_result *result = event->result;
    int64_t before = core->metrics.claimed;
    bool brief = batch->only.kind != 0;
    if (!brief)
        core_instance_lease(core, sent_ms, result->lease_until_ms - result->now_ms);
    core_grant_take(core, event, sent_ms);
    size_t claimed = (size_t)(core->metrics.claimed - before);
    core->refusals = 0;
    core->metrics.batches++;
    if (!brief || claimed > 0)
        count_poll(core, batch, claimed);
    if (!brief)
        size_batch(core, batch, claimed);
    if (core->failures > 0) {
        core->next_poll_ms = core->now_ms;
        core_known_doubt(core);
    }
    core->failures = 0;
    return claimed;
}

/* Every batch is a beat as well. An idle worker, which has no peers to watch and was not woken just now,
 * skips the next one, but never two in a row: beats bring more than a lease. */
static void batch_beats(struct engine_core *core) {
    int64_t later_ms = core->batch_sent_ms + core_life_beat_ms(core);
    int64_t latest_ms = core->beat_sent_ms + 2 * core_life_beat_ms(core);
    bool quiet = core->was_idle && !core->news && core->now_ms >= core->look_until_ms;
    if (quiet && core_duty(core, DUTY_BEAT)->due_ms > core->now_ms && later_ms <= latest_ms)
        core_duty(core, DUTY_BEAT)->due_ms = later_ms;
}

static void batch_done(struct engine_core *core, const struct engine_event *event) {
    struct engine_metrics before = core->metrics;
    core_lease_answers(core, event->result);
    core_report_answers(core, event->result);
    size_t claimed = core_batch_claimed(core, event, &core->batch, core->batch_sent_ms);
    if (core->batch.only.kind == 0)
        batch_beats(core);
    core_log(core, LOG_BATCH, (int64_t)claimed, core->metrics.completed - before.completed,
             core->metrics.failed - before.failed);
}

/* What was on its way when everything was dropped: only its memory matters. */
static void batch_void(struct engine_core *core, const struct engine_event *event) {
    core->batch_void = false;
    for (enum report_type type = 0; type < REPORT_TYPE_COUNT; type++) {
        for (int kind = 1; kind <= KIND_COUNT; kind++) {
            struct entry_list *list = &core->sending[type][kind];
            for (size_t i = 0; i < list->count; i++)
                core_entry_free(core, list->items[i]);
            list->count = 0;
        }
    }
    core_lease_unpin(core);
    if (event->status == PAWL_OK) {
        struct engine_action *action = core_act(core, ACTION_FREE_GRANT);
        if (action != NULL)
            action->grant = event->grant;
    }
}

void core_batch_answered(struct engine_core *core, const struct engine_event *event) {
    core->cycle = CYCLE_IDLE;
    if (core->batch_void) {
        batch_void(core, event);
        return;
    }
    if (event->status == PAWL_OK) {
        batch_done(core, event);
        return;
    }
    core_batch_failed(core, event, &core->resend);
}

/* A call without an answer; *resend: it goes out again as it is. */
void core_batch_failed(struct engine_core *core, const struct engine_event *event, bool *resend) {
    core_log_text(core, LOG_BATCH_FAILED, event->status, core_error_text(event));
    if (event->status == PAWL_STALE) {
        core_life_evicted(core);
        return;
    }
    bool passing = event->status == PAWL_UNAVAILABLE || event->status == PAWL_UNKNOWN ||
                   event->status == PAWL_BUSY || event->status == PAWL_NO_MEMORY;
    *resend = true;
    core->full = false;
    core_life_failed(core);
    /* A batch that is refused again and again must not stop the worker for good. */
    if (!passing && ++core->refusals >= ENGINE_REFUSALS_MAX) {
        core_log(core, LOG_REFUSED, core->refusals, event->status, 0);
        core->refusals = 0;
        core_life_evicted(core);
    }
}
