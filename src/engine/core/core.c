/* The worker's core: one event in, the actions it calls for out. */
#include "engine/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "domain/failure/retry.h"
#include "engine/core/int.h"

struct engine_action *core_act(struct engine_core *core, enum engine_action_type type) {
    struct engine_actions *actions = core->actions;
    if (!core_grow(core, (void **)&actions->items, &actions->capacity, actions->count + 1,
                   sizeof(*actions->items))) {
        actions->failed = true;
        return NULL;
    }
    struct engine_action *action = &actions->items[actions->count++];
    memset(action, 0, sizeof(*action));
    action->type = type;
    return action;
}

void core_log(struct engine_core *core, enum engine_log log, int64_t a, int64_t b, int64_t c) {
    struct engine_action *action = core_act(core, ACTION_LOG);
    if (action == NULL)
        return;
    action->log = log;
    action->numbers[0] = a;
    action->numbers[1] = b;
    action->numbers[2] = c;
}

void core_log_text(struct engine_core *core, enum engine_log log, int64_t a, pawl_str text) {
    struct engine_action *action = core_act(core, ACTION_LOG);
    if (action == NULL)
        return;
    action->log = log;
    action->numbers[0] = a;
    action->text = text;
}

void core_log_item(struct engine_core *core, enum engine_log log, const struct item *item) {
    struct engine_action *action = core_act(core, ACTION_LOG);
    if (action == NULL)
        return;
    action->log = log;
    action->id = item->id;
    action->numbers[0] = item->seq;
    action->text = item->type;
}

/* Why a call failed, as far as is known. */
pawl_str core_error_text(const struct engine_event *event) {
    return str_from(event->error != NULL ? event->error->text : "");
}

bool core_serves(const struct engine_core *core, enum engine_channel channel) {
    static const int bits[CHANNEL_COUNT] = {KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX), KIND_BIT_JOBS,
                                            KIND_BIT(KIND_PERSPECTIVE)};
    return (core->config.instance.kinds & bits[channel]) != 0;
}

/* Registered, and the store answers. */
bool core_works(const struct engine_core *core) {
    return core->registered && !core->exited && core->failures == 0 && core->metrics.not_ready_checks == 0;
}

bool core_grow(struct engine_core *core, void **items, size_t *capacity, size_t wanted, size_t size) {
    if (wanted <= *capacity)
        return true;
    size_t bigger = *capacity < 16 ? 16 : *capacity * 2;
    if (bigger < wanted)
        bigger = wanted;
    void *grown = realloc(*items, bigger * size);
    if (grown == NULL) {
        core->out_of_memory = true;
        return false;
    }
    *items = grown;
    *capacity = bigger;
    return true;
}

/* Between half and all of a delay, so that a fleet does not come back in one wave. */
int64_t core_jitter(struct engine_core *core, int64_t delay_ms) {
    core->random ^= core->random << 13;
    core->random ^= core->random >> 7;
    core->random ^= core->random << 17;
    return retry_jitter_ms(delay_ms, core->random);
}

/* How long to wait after this many failed calls to the store in a row. */
int64_t core_backoff_ms(struct engine_core *core, int failures) {
    static const struct retry_policy policy = {ENGINE_BACKOFF_MS, ENGINE_BACKOFF_MS_MAX, true};
    return core_jitter(core, retry_delay_ms(&policy, failures));
}

/* How long before the end of a lease effects stop: a tenth of it, from 20 ms to 5 s. */
int64_t core_grace_ms(int64_t lease_ms) {
    int64_t grace_ms = lease_ms / 10;
    return grace_ms < 20 ? 20 : grace_ms > 5000 ? 5000 : grace_ms;
}

struct engine_core *engine_core_create(const struct engine_config *config) {
    struct engine_core *core = calloc(1, sizeof(*core));
    if (core == NULL)
        return NULL;
    core->config = *config;
    core->random = config->seed != 0 ? config->seed : 0x9e3779b97f4a7c15u;
    core->grants.next = &core->grants;
    core->grants.prev = &core->grants;
    core->claim_size = config->batch;
    core->metrics.state = ENGINE_STARTING;
    core->slots = calloc((size_t)config->slots, sizeof(*core->slots));
    bool whole = core->slots != NULL && core_duties_add(core);
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        core->queues[channel] = calloc(config->handler_count + 1, sizeof(**core->queues));
        whole = whole && core->queues[channel] != NULL;
    }
    if (!whole) {
        engine_core_free(core);
        return NULL;
    }
    return core;
}

void engine_core_free(struct engine_core *core) {
    if (core == NULL)
        return;
    core_grants_free(core);
    core_streams_free(core);
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        for (int type = 0; type < REPORT_TYPE_COUNT; type++) {
            free(core->pending[type][kind].items);
            free(core->sending[type][kind].items);
        }
        free(core->complete_items[kind]);
        free(core->fail_items[kind]);
        free(core->release_items[kind]);
        free(core->renew_refs[kind]);
        free(core->renewals[kind]);
    }
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        free(core->known[channel].items);
        free(core->queues[channel]);
    }
    core_jobs_free(core);
    duties_free(&core->duties);
    core_perspectives_free(core);
    free(core->left);
    free(core->reports);
    free(core->slots);
    free(core);
}

void engine_actions_free(struct engine_actions *actions) {
    free(actions->items);
    *actions = (struct engine_actions){0};
}

static void handle_waking(struct engine_core *core, const struct engine_event *event) {
    if (event->type == EVENT_WAKE) {
        core_wait_woken(core, event->place);
        core->news = core->news || event->news;
        core_life_woken(core);
        duties_wake_all(&core->duties, core->now_ms);
    } else if (event->type == EVENT_WAKER) {
        core->wakes = event->wakes;
        core_wait_forget(core);
    } else {
        core_wait_answered(core, event);
    }
}

/* What is not to be claimed for now. */
static void handle_restraint(struct engine_core *core, const struct engine_event *event) {
    if (event->type == EVENT_TROUBLE) {
        core->troubled = event->troubled;
        memcpy(core->trouble_until_ms, event->trouble_until_ms, sizeof(core->trouble_until_ms));
    } else {
        core->left_kinds = event->kinds;
        core->next_poll_ms = core->now_ms;
    }
}

static void handle(struct engine_core *core, const struct engine_event *event) {
    switch (event->type) {
    case EVENT_STARTED:
        core->started = true;
        core_duties_start(core);
        break;
    case EVENT_TICK:
        break;
    case EVENT_READY:
    case EVENT_NOT_READY:
        core_life_ready(core, event->type == EVENT_READY);
        break;
    case EVENT_REGISTERED:
        core_life_registered(core, event);
        break;
    case EVENT_BEAT:
        core_life_beat(core, event);
        break;
    case EVENT_LOOKED:
        core_life_looked(core, event);
        break;
    case EVENT_BATCH:
        core_batch_answered(core, event);
        break;
    case EVENT_CLAIMED:
        core_side_answered(core, event);
        break;
    case EVENT_REPORTED:
        core_report_answer(core, event);
        break;
    case EVENT_CANCEL:
        core_slots_ask(core, event);
        break;
    case EVENT_FINISHED:
        core_slot_finished(core, event);
        break;
    case EVENT_PROGRESS:
        core_slot_progress(core, event);
        break;
    case EVENT_JOBS_FINISHED:
    case EVENT_JOBS_RENEWED:
    case EVENT_JOBS_FREE:
        core_jobs_answered(core, event);
        break;
    case EVENT_DUTY:
        core_duties_answered(core, event);
        break;
    case EVENT_EXCHANGED:
    case EVENT_DUE:
        core_perspectives_event(core, event);
        break;
    case EVENT_WAKE:
    case EVENT_WAKER:
    case EVENT_WAITING:
        handle_waking(core, event);
        break;
    case EVENT_TROUBLE:
    case EVENT_LEAVE:
        handle_restraint(core, event);
        break;
    case EVENT_STOP:
    case EVENT_STOP_NOW:
        core_stop_begin(core, event->type == EVENT_STOP_NOW);
        break;
    case EVENT_DEREGISTERED:
        core_stop_deregistered(core);
        break;
    }
}

static void arm_timer(struct engine_core *core) {
    int64_t due_ms = core_lease_fence_due_ms(core);
    int64_t others[] = {core_life_due_ms(core),
                        duties_due_ms(&core->duties),
                        core_slots_due_ms(core),
                        core_jobs_due_ms(core),
                        core_perspectives_due_ms(core),
                        core_queue_due_ms(core),
                        core->registered && !core->deregistering ? core_batch_due_ms(core) : INT64_MAX,
                        core_side_due_ms(core),
                        core->trouble_until_ms[0] > core->now_ms ? core->trouble_until_ms[0] : INT64_MAX,
                        core->trouble_until_ms[1] > core->now_ms ? core->trouble_until_ms[1] : INT64_MAX,
                        core->stopping && core->drain_until_ms > core->now_ms ? core->drain_until_ms
                                                                              : INT64_MAX,
                        core->stopping ? core->give_up_ms : INT64_MAX};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (others[i] < due_ms)
            due_ms = others[i];
    }
    if (due_ms >= CORE_UNLEASED_MS)
        return;
    struct engine_action *action = core_act(core, ACTION_TIMER);
    if (action != NULL)
        action->at_ms = due_ms > core->now_ms ? due_ms : core->now_ms + 1;
}

pawl_status engine_step(struct engine_core *core, const struct engine_event *event,
                        struct engine_actions *actions) {
    actions->count = 0;
    actions->failed = false;
    core->actions = actions;
    if (event->now_ms > core->now_ms)
        core->now_ms = event->now_ms; /* time does not go back, whatever order events are handed in */
    core_lease_fence(core);           /* first: what a late event brings must not count */
    handle(core, event);
    if (core->started && !core->exited) {
        core_slots_timeout(core);
        core_queue_unhandled(core);
        core_run_schedule(core);
        core_queue_give_back(core);
        core_stop_decide(core);
        if (!core->exited) {
            core_wait_decide(core);
            core_life_decide(core);
        }
    }
    core_state_update(core);
    if (core->started && !core->exited)
        arm_timer(core);
    core->actions = NULL;
    return core->out_of_memory ? PAWL_NO_MEMORY : PAWL_OK;
}

struct engine_metrics engine_metrics(const struct engine_core *core) {
    struct engine_metrics metrics = core->metrics;
    metrics.idle = core->was_idle;
    metrics.running = core->busy_messages;
    metrics.works = core_works(core) && !core->stopping;
    metrics.waiting = (int64_t)core->waiting[CHANNEL_MESSAGES];
    metrics.jobs.running = core->busy[CHANNEL_JOBS];
    metrics.jobs.waiting = core->waiting[CHANNEL_JOBS];
    metrics.jobs.pending = core->jobs.pending.count;
    metrics.jobs.idle = core_jobs_idle(core);
    metrics.perspectives_idle = core_perspectives_idle(core);
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        metrics.pending_completions += (int64_t)core->pending[REPORT_COMPLETE][kind].count;
        metrics.pending_failures += (int64_t)core->pending[REPORT_FAIL][kind].count;
    }
    return metrics;
}
