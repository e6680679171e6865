/* The channel of the perspectives: renewals, reports and the next claim of streams in one call, one at a
 * time. */
#include <stdlib.h>

#include "engine/core/int.h"

/* Something may be due now; a call that is on its way does not know of it. */
void core_perspectives_wake(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    if (!core_serves(core, CHANNEL_PERSPECTIVES))
        return;
    channel->wakes++;
    channel->next_claim_ms = 0;
    channel->found = true;
}

/* What the store must hear of it; nothing of a stream that was not leased. */
void core_perspectives_pend(struct engine_core *core, struct entry *entry, enum checkpoint_status status) {
    struct perspective_channel *channel = &core->perspectives;
    entry->reached.status = status;
    if (entry->claim->token == 0) {
        core_entry_free(core, entry);
        return;
    }
    core_entry_state(entry, ENTRY_PENDING);
    if (channel->pending.count == 0)
        channel->pending_since_ms = core->now_ms;
    core_list_push(core, &channel->pending, entry);
}

void core_perspectives_ended(struct engine_core *core, struct entry *entry,
                             const struct engine_outcome *outcome) {
    struct perspective_channel *channel = &core->perspectives;
    bool more = outcome->type == OUTCOME_SNOOZE && outcome->delay_ms == 0;
    channel->round_found = channel->round_found || more || entry->claim->token != 0;
    if (more)
        channel->next_claim_ms = 0;
    if (entry->dropped) {
        core->metrics.fenced++;
        core_entry_free(core, entry);
        return;
    }
    if (outcome->version > entry->reached.version)
        entry->reached.version = outcome->version;
    switch (outcome->type) {
    case OUTCOME_DONE:
        core_perspectives_pend(core, entry, CHECKPOINT_COMPLETED);
        break;
    case OUTCOME_RETRY:
    case OUTCOME_PERMANENT:
        core_report_error(core, entry, outcome->error);
        entry->delay_ms = outcome->type == OUTCOME_PERMANENT ? CHECKPOINT_GIVE_UP
                          : outcome->delay_ms > 0 ? core_report_retry_ms(core, entry, outcome->delay_ms)
                                                  : 0;
        core_perspectives_pend(core, entry, CHECKPOINT_FAILED);
        break;
    case OUTCOME_SNOOZE:
        entry->delay_ms = outcome->delay_ms > 0 ? core_report_retry_ms(core, entry, outcome->delay_ms) : 0;
        core_perspectives_pend(core, entry, CHECKPOINT_PENDING);
        break;
    case OUTCOME_CANCELLED:
    case OUTCOME_NOT_RUN:
        core_perspectives_pend(core, entry, CHECKPOINT_PENDING);
        break;
    }
}

bool core_perspectives_reported(const struct engine_core *core) {
    return !core->perspectives.on_way && core->perspectives.pending.count == 0;
}

/* As many as can begin at once, for any worker could take them; and at least one, which has the next slot
 * that its weight gives it, unless one has just gone back because it got none. */
static int claim_wanted(const struct engine_core *core) {
    if (!core_serves(core, CHANNEL_PERSPECTIVES) || core->stopping || core->perspectives.lost ||
        core->now_ms >= core->instance_fence_ms)
        return 0;
    size_t waiting = core->waiting[CHANNEL_PERSPECTIVES];
    int room = core->config.slots - core_running(core) - (int)waiting;
    bool ahead = waiting == 0 && core->now_ms >= core->perspectives.full_until_ms;
    return room > 0 ? room : ahead ? 1 : 0;
}

static bool report_due(const struct engine_core *core) {
    const struct perspective_channel *channel = &core->perspectives;
    return channel->pending.count > 0 && (core->busy[CHANNEL_PERSPECTIVES] == 0 || core->stopping ||
                                          core->now_ms >= channel->pending_since_ms + ENGINE_JOB_LINGER_MS);
}

static void send(struct engine_core *core, int wanted) {
    struct perspective_channel *channel = &core->perspectives;
    size_t renewals = core_lease_collect_streams(core);
    size_t count = channel->pending.count < PAWL_BATCH_MAX ? channel->pending.count : PAWL_BATCH_MAX;
    if (!core_grow(core, (void **)&channel->reports, &channel->reports_capacity, count,
                   sizeof(*channel->reports)))
        return;
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = channel->pending.items[i];
        channel->reports[i] = (struct checkpoint_report){.stream = entry->checkpoint->stream,
                                                         .perspective = entry->checkpoint->perspective,
                                                         .version = entry->reached.version,
                                                         .token = entry->claim->token,
                                                         .status = entry->reached.status,
                                                         .error = {entry->error, entry->error_len},
                                                         .delay_ms = entry->delay_ms};
    }
    core_list_send(core, &channel->pending, count, &channel->sending);
    channel->exchange = (struct perspectives_exchange){.instance = core->metrics.instance,
                                                       .renewals = channel->refs,
                                                       .renewal_count = renewals,
                                                       .reports = channel->reports,
                                                       .report_count = count,
                                                       .claim_max = wanted,
                                                       .lease_ms = core->config.lease_ms};
    channel->on_way = true;
    channel->sent_ms = core->now_ms; /* before it is sent: leases can only be longer than we think */
    channel->mark = core->known[CHANNEL_PERSPECTIVES].newest_token;
    channel->claims = wanted > 0;
    if (channel->claims) {
        channel->wakes_seen = channel->wakes;
        channel->round_found = false;
    }
    struct engine_action *action = core_act(core, ACTION_EXCHANGE);
    if (action != NULL)
        action->exchange = &channel->exchange;
}

/* When all that the last claim brought has ended: what was found is looked for again at once. */
static void end_round(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    bool open = channel->on_way || core->waiting[CHANNEL_PERSPECTIVES] > 0 ||
                core->grant_count[CHANNEL_PERSPECTIVES] > 0;
    if (open || channel->wakes != channel->wakes_seen)
        return;
    channel->found = channel->round_found;
    if (channel->found)
        channel->next_claim_ms = 0;
}

/* The last search found nothing that is due. */
bool core_perspectives_idle(const struct engine_core *core) {
    return !core->perspectives.found && !core->perspectives.round_found;
}

void core_perspectives_decide(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    if (!core_serves(core, CHANNEL_PERSPECTIVES) || channel->lost || channel->on_way)
        return;
    end_round(core);
    if (core->now_ms < channel->backoff_until_ms)
        return;
    int wanted = core->now_ms >= channel->next_claim_ms ? claim_wanted(core) : 0;
    if (wanted > 0 || report_due(core) || core_lease_renew_due(core, CHANNEL_PERSPECTIVES))
        send(core, wanted);
}

int64_t core_perspectives_due_ms(struct engine_core *core) {
    const struct perspective_channel *channel = &core->perspectives;
    if (!core_serves(core, CHANNEL_PERSPECTIVES) || !core->registered || core->deregistering ||
        channel->on_way || channel->lost)
        return INT64_MAX;
    int64_t times[] = {core_lease_renew_due_ms(core, CHANNEL_PERSPECTIVES),
                       claim_wanted(core) > 0 ? channel->next_claim_ms : INT64_MAX,
                       core->now_ms < channel->full_until_ms ? channel->full_until_ms : INT64_MAX,
                       channel->pending.count > 0 ? channel->pending_since_ms + ENGINE_JOB_LINGER_MS
                                                  : INT64_MAX};
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        due_ms = times[i] < due_ms ? times[i] : due_ms;
    return due_ms < channel->backoff_until_ms ? channel->backoff_until_ms : due_ms;
}

/* What could not be said is said again: a repeated report changes nothing. What may have been granted is
 * found out with the next beat. */
static void failed(struct engine_core *core, pawl_status status) {
    struct perspective_channel *channel = &core->perspectives;
    core_lease_answers_streams(core, NULL);
    if (status == PAWL_STALE) { /* expired, or evicted: the next beat tells which */
        core_list_drop(core, &channel->sending);
        core_drop(core, CHANNEL_PERSPECTIVES);
        channel->lost = true;
        core_duty(core, DUTY_BEAT)->due_ms = core->now_ms;
        return;
    }
    for (size_t i = 0; i < channel->sending.count; i++) {
        core_entry_state(channel->sending.items[i], ENTRY_PENDING);
        core_list_push(core, &channel->pending, channel->sending.items[i]);
    }
    channel->sending.count = 0;
    channel->backoff_until_ms = core->now_ms + core_backoff_ms(core, ++channel->failures);
}

static int leased(const struct perspectives_answer *answer) {
    int count = 0;
    for (size_t i = 0; i < answer->count; i++)
        count += answer->granted[i].token != 0;
    return count;
}

static void answered(struct engine_core *core, const struct engine_event *event) {
    struct perspective_channel *channel = &core->perspectives;
    const struct perspectives_answer *answer = event->exchanged;
    bool is_void = channel->is_void;
    channel->on_way = channel->is_void = false;
    if (event->status != PAWL_OK && !is_void) {
        failed(core, event->status);
        return;
    }
    core_lease_answers_streams(core, is_void ? NULL : &answer->renewed);
    core_list_drop(core, &channel->sending);
    if (event->status != PAWL_OK)
        return;
    if (is_void) {
        core_grant_take_streams(core, &(struct perspectives_answer){0}, event->grant, 0);
        return;
    }
    if (channel->failures > 0)
        core_known_doubt(core);
    channel->failures = 0;
    channel->round_found = channel->round_found || answer->more;
    if (channel->claims) {
        bool more = answer->more || leased(answer) * 2 >= channel->exchange.claim_max ||
                    channel->wakes != channel->wakes_seen;
        channel->next_claim_ms = more ? 0 : core->now_ms + core->config.poll_ms;
    }
    core_grant_take_streams(core, answer, event->grant, channel->sent_ms);
}

void core_perspectives_event(struct engine_core *core, const struct engine_event *event) {
    if (event->type == EVENT_DUE)
        core_perspectives_wake(core);
    else
        answered(core, event);
}

/* Everything was dropped. What is on its way stays until its call has come back. */
void core_perspectives_forget(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    core_list_drop(core, &channel->pending);
    if (!channel->on_way)
        core_list_drop(core, &channel->sending);
    channel->is_void = channel->on_way;
    channel->lost = false;
}

void core_perspectives_free(struct engine_core *core) {
    struct perspective_channel *channel = &core->perspectives;
    free(channel->refs);
    free(channel->renewals);
    free(channel->reports);
    free(channel->pending.items);
    free(channel->sending.items);
}
