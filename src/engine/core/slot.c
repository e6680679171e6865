/* Slots that are in use: when they are told to end, and what their outcomes mean. */
#include <assert.h>
#include <stdlib.h>

#include "base/uuid.h"
#include "engine/core/int.h"

#define ASKED_TEXT "cancelled by a person (pawl action list says by whom)"
const struct engine_outcome core_asked_outcome = {
    .type = OUTCOME_PERMANENT, .error = {ASKED_TEXT, sizeof(ASKED_TEXT) - 1}, .delay_ms = -1};

int core_weight(const struct engine_core *core, enum engine_channel channel) {
    if (!core_serves(core, channel))
        return 0;
    return core->config.weights[channel] > 0 ? core->config.weights[channel] : 1;
}

/* The slot is free again; what it was used for counts against its channel, for a while. */
static void vacate(struct engine_core *core, struct slot *slot) {
    enum engine_channel channel = slot->channel;
    int weight = core_weight(core, channel);
    core->queues[channel][slot->handler].slots--;
    core->busy[channel]--;
    core->busy_messages -= slot->of_messages;
    core->used_ms[channel] += (core->now_ms - slot->started_ms + 1) / (weight > 0 ? weight : 1) + 1;
    for (enum engine_channel other = 0; other < CHANNEL_COUNT; other++) {
        if (core->used_ms[other] < core->used_ms[channel] - ENGINE_TURN_MS)
            core->used_ms[other] = core->used_ms[channel] - ENGINE_TURN_MS;
    }
    slot->busy = slot->beginning = false;
}

/* It never began: the slot is free again, and the entry is in no queue. */
static struct entry *unbegin(struct engine_core *core, struct slot *slot) {
    struct entry *entry = slot->entries[0];
    vacate(core, slot);
    if (entry->stream != NULL) {
        (void)core_stream_pop(entry->stream);
        entry->stream->running = 0;
    }
    return entry;
}

/* A stop gives back what the store has not yet heard of. */
void core_slots_unbegin(struct engine_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        if (!core->slots[i].busy || !core->slots[i].beginning)
            continue;
        struct entry *entry = unbegin(core, &core->slots[i]);
        struct stream *stream = entry->stream;
        int64_t token = entry->claim->token;
        core_report_release(core, entry, 0);
        if (stream != NULL) {
            core_stream_drop_waiting(core, stream, token);
            core_stream_ready(core, stream);
        }
    }
}

void core_slot_cancel(struct engine_core *core, int index, enum stop_reason reason) {
    struct slot *slot = &core->slots[index];
    if (!slot->busy || slot->cancelled == STOP_FENCED || slot->cancelled == reason)
        return;
    if (slot->beginning) {
        struct entry *entry = unbegin(core, slot);
        core->metrics.jobs.fenced += entry->job != NULL;
        core_entry_free(core, entry);
        return;
    }
    slot->cancelled = reason;
    struct engine_action *action = core_act(core, ACTION_CANCEL);
    if (action == NULL)
        return;
    action->slot = index;
    action->reason = reason;
}

void core_slot_cancel_stream(struct engine_core *core, const struct stream *stream, enum stop_reason reason) {
    for (int i = 0; i < core->config.slots; i++) {
        const struct slot *slot = &core->slots[i];
        for (size_t j = 0; slot->busy && j < slot->count; j++) {
            if (slot->entries[j]->stream == stream) {
                core_slot_cancel(core, i, reason);
                return;
            }
        }
    }
}

static bool named(const struct engine_event *event, pawl_uuid id) {
    for (size_t i = 0; i < event->count; i++) {
        if (uuid_equal(event->ids[i], id))
            return true;
    }
    return false;
}

/* A person wants these messages to end. What waits here is asked for again when it runs. */
void core_slots_ask(struct engine_core *core, const struct engine_event *event) {
    for (int i = 0; i < core->config.slots; i++) {
        const struct slot *slot = &core->slots[i];
        bool runs = slot->busy && !slot->beginning && slot->of_messages;
        for (size_t j = 0; runs && j < slot->count; j++) {
            struct entry *entry = slot->entries[j];
            if (entry->asked || core->config.handlers[slot->handler].batched ||
                !named(event, entry->item->id))
                continue;
            entry->asked = true;
            core_log_item(core, LOG_CANCELLED, entry->item);
            struct engine_action *action = core_act(core, ACTION_CANCEL);
            if (action == NULL)
                return;
            action->slot = i;
            action->reason = STOP_ASKED;
            action->at = j;
        }
    }
}

void core_slots_timeout(struct engine_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        struct slot *slot = &core->slots[i];
        if (slot->busy && slot->cancelled == STOP_NONE && slot->deadline_ms > 0 &&
            core->now_ms >= slot->deadline_ms) {
            if (slot->of_messages) /* a job's thread says it, with the job */
                core_log(core, LOG_TIMEOUT, slot->handler, core->now_ms - slot->started_ms, 0);
            core_slot_cancel(core, i, STOP_TIMEOUT);
        }
    }
}

int64_t core_slots_due_ms(const struct engine_core *core) {
    int64_t due_ms = INT64_MAX;
    for (int i = 0; core_running(core) > 0 && i < core->config.slots; i++) {
        const struct slot *slot = &core->slots[i];
        if (slot->busy && slot->cancelled == STOP_NONE && slot->deadline_ms > 0 && slot->deadline_ms < due_ms)
            due_ms = slot->deadline_ms;
    }
    return due_ms;
}

/* From when on all slots have been taken for ENGINE_WAIT_MS, each by the same work, if none is vacated before
 * that. Never when one is free, and not before another worker has nothing to do: where all are busy, lanes
 * that go round help nobody. Once the others know, it lasts until a slot is free: the one that was idle has
 * our work now. */
int64_t core_slots_full_ms(const struct engine_core *core) {
    int64_t full_ms = 0;
    if (!(core->peer_idle || core->said_full) || core->stopping || core_running(core) < core->config.slots ||
        (core->config.instance.kinds & KIND_BITS_ALL) == 0)
        return INT64_MAX;
    for (int i = 0; i < core->config.slots; i++) {
        if (core->slots[i].started_ms + ENGINE_WAIT_MS > full_ms)
            full_ms = core->slots[i].started_ms + ENGINE_WAIT_MS;
    }
    return full_ms;
}

bool core_slots_full(const struct engine_core *core) { return core->now_ms >= core_slots_full_ms(core); }

/* Until when what runs in the slot is renewed, if it shows no progress. */
int64_t core_keep_until_ms(const struct engine_core *core, const struct slot *slot) {
    int64_t third_ms = core_lease_ms(core, slot->channel) / 3;
    return slot->deadline_ms > 0 ? slot->deadline_ms + ENGINE_LEAVE_MS
                                 : core->now_ms + (ENGINE_RENEWALS + 1) * third_ms;
}

static void measure(struct engine_core *core, const struct slot *slot, const struct engine_event *event) {
    bool jobs = slot->channel == CHANNEL_JOBS;
    size_t ran = 0;
    for (size_t i = 0; i < event->count; i++)
        ran += jobs ? event->results[i].end != JOB_END_NOT_RUN : event->outcomes[i].type != OUTCOME_NOT_RUN;
    if (ran == 0)
        return;
    double each = (double)event->elapsed_us / (double)ran;
    if (each < 0.1)
        each = 0.1;
    struct handler_queue *queue = &core->queues[slot->channel][slot->handler];
    queue->item_us = queue->item_us <= 0 ? each : queue->item_us * 0.8 + each * 0.2;
}

/* A message that did not run goes back to where it was: first in its stream (it never left), or free again.
 */
static void not_run(struct engine_core *core, struct entry *entry) {
    struct handler_queue *queue = core_queue(core, entry);
    core_entry_state(entry, ENTRY_WAITING);
    core_queue_count(core, entry, 1);
    if (entry->stream != NULL)
        return;
    entry->next = queue->free_head;
    queue->free_head = entry;
    if (queue->free_tail == NULL)
        queue->free_tail = entry;
}

static void entry_ended(struct engine_core *core, struct entry *entry, const struct engine_outcome *outcome) {
    if (entry->dropped) {
        core->metrics.fenced++;
        core_entry_free(core, entry);
        return;
    }
    switch (outcome->type) {
    case OUTCOME_DONE:
        core_report_done(core, entry);
        break;
    case OUTCOME_RETRY:
    case OUTCOME_PERMANENT:
        if (entry->stream != NULL)
            entry->stream->awaiting = true;
        core_report_failed(core, entry, outcome);
        break;
    case OUTCOME_SNOOZE:
        core_report_release(core, entry, outcome->delay_ms);
        break;
    case OUTCOME_CANCELLED:
    case OUTCOME_NOT_RUN:
        core_report_release(core, entry, 0);
        break;
    }
}

/* One entry of a slot that came back. `last` = the next entry of the slot is of another stream. *released =
 * the token under which an entry of the stream was given back; 0 = none. */
static void take_back(struct engine_core *core, struct entry *entry, const struct engine_outcome *outcome,
                      bool last, int64_t *released) {
    struct stream *stream = entry->stream;
    if (entry->asked && outcome->type != OUTCOME_DONE)
        outcome = &core_asked_outcome;
    if (outcome->type == OUTCOME_NOT_RUN && !entry->dropped) {
        not_run(core, entry);
    } else {
        bool gave_back = outcome->type == OUTCOME_CANCELLED || outcome->type == OUTCOME_SNOOZE;
        if (gave_back && !entry->dropped)
            *released = entry->item->token;
        if (stream != NULL) {
            struct entry *head = core_stream_pop(stream);
            assert(head == entry);
            (void)head;
        }
        entry_ended(core, entry, outcome);
        if (stream != NULL)
            stream->running--;
    }
    if (stream != NULL && last) {
        stream->running = 0;
        /* The store sets aside what follows a released message. */
        if (*released != 0)
            core_stream_drop_waiting(core, stream, *released);
        core_stream_ready(core, stream);
    }
    if (last)
        *released = 0;
}

static void job_ended(struct engine_core *core, struct entry *entry, const struct job_result_in *result) {
    struct job_extra *job = entry->extra;
    job->result = *result;
    if (entry->dropped) {
        core->metrics.jobs.fenced++;
        core_entry_free(core, entry);
        return;
    }
    if (result->end == JOB_END_SETTLED) {
        core->metrics.jobs.completed++;
        core->jobs.next_claim_ms = 0; /* what it enqueued is there now */
        core_entry_free(core, entry);
        return;
    }
    if (result->end == JOB_END_CANCELLED && !entry->asked)
        job->result.end = JOB_END_NOT_RUN;
    if (job->progress != NULL && result->end != JOB_END_DONE) {
        core_entry_state(entry, ENTRY_TELLING);
        core_lease_renew_at(entry->claim, core->now_ms);
        core->jobs.telling++;
        return;
    }
    core_jobs_pend(core, entry);
}

void core_slot_finished(struct engine_core *core, const struct engine_event *event) {
    struct slot *slot = &core->slots[event->slot];
    assert(slot->busy && !slot->beginning && event->count == slot->count);
    measure(core, slot, event);
    int64_t released = 0;
    for (size_t i = 0; i < slot->count; i++) {
        bool last = i + 1 == slot->count || slot->groups[i + 1] != slot->groups[i];
        if (slot->channel == CHANNEL_JOBS)
            job_ended(core, slot->entries[i], &event->results[i]);
        else if (!slot->of_messages)
            core_perspectives_ended(core, slot->entries[i], &event->outcomes[i]);
        else
            take_back(core, slot->entries[i], &event->outcomes[i], last, &released);
    }
    if (slot->channel == CHANNEL_JOBS) {
        /* What ran may have enqueued more: only the next claim knows, not one that is on its way. */
        core->jobs.empty = false;
        core->jobs.wakes++;
        core->metrics.jobs.processing_us += event->elapsed_us;
    }
    vacate(core, slot);
}

/* A job shows that it gets on, and may say how far it is: that goes to the store with the next renewal, or
 * before a failure of it is reported. */
void core_slot_progress(struct engine_core *core, const struct engine_event *event) {
    struct slot *slot = &core->slots[event->slot];
    for (size_t i = 0; i < slot->count; i++) {
        struct entry *entry = slot->entries[i];
        if (entry->keep_until_ms <= core->now_ms) /* it was given up: the store must hear of it at once */
            core_lease_renew_at(entry->claim, core->now_ms);
        entry->keep_until_ms = core_keep_until_ms(core, slot);
    }
    if (event->text == NULL)
        return;
    struct job_extra *job = slot->entries[event->at]->extra;
    free(job->progress);
    job->progress = event->text;
    job->progress_len = event->text_len;
}
