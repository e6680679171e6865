/* Slots: which waiting messages run next, how many at once, and what their outcomes mean. */
#include <assert.h>

#include "base/str.h"
#include "base/uuid.h"
#include "engine/core/int.h"

#define ASKED_TEXT "cancelled by a person (pawl actions says by whom)"

enum { BUNDLE_US = 1000 }; /* a bundle should last about this long: long enough to pay for its hand-over */

static const struct engine_outcome asked_outcome = {
    OUTCOME_PERMANENT, {ASKED_TEXT, sizeof(ASKED_TEXT) - 1}, -1};

static struct entry *pop_free(struct handler_queue *queue) {
    struct entry *entry = queue->free_head;
    queue->free_head = entry->next;
    if (queue->free_head == NULL)
        queue->free_tail = NULL;
    entry->next = NULL;
    return entry;
}

static struct stream *pop_stream(struct handler_queue *queue) {
    struct stream *stream = queue->stream_head;
    queue->stream_head = stream->next_ready;
    if (queue->stream_head == NULL)
        queue->stream_tail = NULL;
    stream->queued = false;
    return stream;
}

/* For how long a message is given back: one that is unknown, as long again as it has been there, within
 * limits, so that it costs the others little. */
static int64_t leave_alone_ms(const struct engine_core *core, const struct entry *entry) {
    int64_t most_ms = entry->delay_ms == ENGINE_NO_HANDLER_MS ? ENGINE_NO_HANDLER_MS_MAX : entry->delay_ms;
    int64_t age_ms = entry->item->lease_until_ms - core->config.lease_ms - entry->item->put_ms;
    if (age_ms > most_ms)
        age_ms = most_ms;
    return age_ms > entry->delay_ms ? age_ms : entry->delay_ms;
}

/* Messages without a handler here, or that came too late, go back without an attempt. */
void core_run_unhandled(struct engine_core *core) {
    int nobody = (int)core->config.handler_count;
    struct handler_queue *queue = &core->queues[nobody];
    while (queue->free_head != NULL) {
        struct entry *entry = pop_free(queue);
        queue->waiting--;
        if (entry->asked) {
            core_report_failed(core, entry, &asked_outcome);
            continue;
        }
        if (entry->delay_ms == ENGINE_NO_HANDLER_MS)
            core_log_text(core, LOG_NO_HANDLER, ENGINE_NO_HANDLER_MS, entry->item->type);
        core_report_release(core, entry, leave_alone_ms(core, entry));
    }
    while (queue->stream_head != NULL) {
        struct stream *stream = pop_stream(queue);
        if (stream->head != NULL && stream->head->handler == nobody && stream->head->asked) {
            struct entry *entry = core_stream_pop(stream);
            queue->waiting--;
            stream->awaiting = true;
            core_report_failed(core, entry, &asked_outcome);
        } else if (stream->head != NULL && stream->head->handler == nobody) {
            if (stream->head->delay_ms == ENGINE_NO_HANDLER_MS)
                core_log_text(core, LOG_NO_HANDLER, ENGINE_NO_HANDLER_MS, stream->head->item->type);
            core_stream_release_waiting(core, stream, leave_alone_ms(core, stream->head));
        }
        core_stream_ready(core, stream);
    }
}

static size_t bundle_size(const struct engine_core *core, int handler) {
    const struct handler_queue *queue = &core->queues[handler];
    bool batched = core->config.handlers[handler].batched;
    if (!batched && (!core->config.handlers[handler].bundled || queue->item_us <= 0))
        return 1;
    size_t share = queue->waiting / (size_t)(core->config.slots - core->running);
    /* A broker confirms many as fast as few. */
    if (batched)
        return share < ENGINE_BUNDLE_LEAST ? ENGINE_BUNDLE_LEAST
               : share < ENGINE_BUNDLE_MAX ? share
                                           : ENGINE_BUNDLE_MAX;
    double fits = BUNDLE_US / queue->item_us;
    size_t size = fits >= ENGINE_BUNDLE_CALLS ? ENGINE_BUNDLE_CALLS : fits < 1 ? 1 : (size_t)fits;
    /* Rather all slots with a little than one slot with everything. */
    if (share < size)
        size = share < 1 ? 1 : share;
    return size;
}

static void slot_add(struct engine_core *core, struct slot *slot, struct entry *entry, int group) {
    slot->entries[slot->count] = entry;
    slot->items[slot->count] = entry->item;
    slot->groups[slot->count] = group;
    slot->count++;
    core_entry_state(entry, ENTRY_RUNNING);
    core->queues[entry->handler].waiting--;
}

static void slot_add_stream(struct engine_core *core, struct slot *slot, struct stream *stream, size_t size,
                            int group) {
    int handler = slot->handler;
    for (struct entry *entry = stream->head; entry != NULL && slot->count < size; entry = entry->next) {
        if (entry->handler != handler)
            break;
        slot_add(core, slot, entry, group);
        stream->running++;
    }
    core_stream_ready(core, stream); /* when it was emptied while it waited, or another handler is next */
}

/* The suspect whose beginning the store has noted, when it is of this handler: it is the first of its queue.
 */
static bool slot_add_suspect(struct engine_core *core, struct slot *slot) {
    struct handler_queue *queue = &core->queues[slot->handler];
    struct entry *entry = core->begins;
    if (entry == NULL || entry->handler != slot->handler)
        return false;
    core->begins = NULL;
    if (entry == queue->free_head)
        slot_add(core, slot, pop_free(queue), 0);
    else if (queue->stream_head != NULL && entry == queue->stream_head->head)
        slot_add_stream(core, slot, pop_stream(queue), 1, 0);
    return slot->count > 0;
}

static bool is_suspect(const struct entry *entry) {
    return entry != NULL && entry->item->suspect && !entry->dropped;
}

/* Two calls that the store answers side by side may each give one. */
static bool suspect_runs(const struct engine_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        if (core->slots[i].busy && core->slots[i].items[0]->suspect)
            return true;
    }
    return false;
}

/* The first suspect of a handler waits there until no other runs and the store knows that it begins; nothing
 * else of the handler starts meanwhile, and a slot is kept when it is about to begin. */
static bool suspect_waits(struct engine_core *core, int handler) {
    const struct handler_queue *queue = &core->queues[handler];
    if (core->begins != NULL && core->begins->dropped)
        core->begins = NULL;
    if (core->begins == NULL) {
        struct entry *stream_head = queue->stream_head != NULL ? queue->stream_head->head : NULL;
        struct entry *first = is_suspect(queue->free_head) ? queue->free_head
                              : is_suspect(stream_head)    ? stream_head
                                                           : NULL;
        if (first != NULL && suspect_runs(core))
            return true;
        core->begins = first;
        if (first != NULL && !first->claim->begun)
            first->claim->renew_at_ms = core->now_ms;
    }
    return core->begins != NULL && core->begins->handler == handler && !core->begins->claim->begun;
}

/* Suspects run by themselves: they are left to slot_add_suspect. */
static void slot_fill(struct engine_core *core, struct slot *slot, size_t size) {
    struct handler_queue *queue = &core->queues[slot->handler];
    int group = 0;
    if (slot_add_suspect(core, slot))
        return;
    while (slot->count < size && (queue->stream_head != NULL || queue->free_head != NULL)) {
        if (is_suspect(queue->free_head) ||
            (queue->stream_head != NULL && is_suspect(queue->stream_head->head)))
            return;
        if (queue->free_head != NULL) {
            struct entry *entry = pop_free(queue);
            if (entry->dropped) {
                queue->waiting--;
                core_entry_free(core, entry);
            } else {
                slot_add(core, slot, entry, group++);
            }
        }
        if (slot->count < size && queue->stream_head != NULL)
            slot_add_stream(core, slot, pop_stream(queue), size, group++);
    }
}

static void slot_start(struct engine_core *core, int index, int handler) {
    struct slot *slot = &core->slots[index];
    const struct engine_handler *rules = &core->config.handlers[handler];
    slot->handler = handler;
    slot->count = 0;
    slot_fill(core, slot, bundle_size(core, handler));
    if (slot->count == 0)
        return;
    slot->busy = true;
    slot->cancelled = 0;
    slot->started_ms = core->now_ms;
    slot->deadline_ms = rules->timeout_ms > 0 ? core->now_ms + rules->timeout_ms : 0;
    core->running++;
    core->queues[handler].slots++;
    int64_t fence_ms = core->instance_fence_ms;
    for (size_t i = 0; i < slot->count; i++) {
        if (slot->entries[i]->fence_ms < fence_ms)
            fence_ms = slot->entries[i]->fence_ms;
    }
    struct engine_action *action = core_act(core, ACTION_START);
    if (action == NULL)
        return;
    action->slot = index;
    action->run =
        (struct engine_run){handler, slot->items, slot->groups, slot->count, fence_ms, slot->deadline_ms};
}

/* A stream that lost its first message while it waited may be another handler's turn now. */
static void streams_move(struct engine_core *core, int handler) {
    struct handler_queue *queue = &core->queues[handler];
    while (queue->stream_head != NULL &&
           (queue->stream_head->head == NULL || queue->stream_head->head->handler != handler))
        core_stream_ready(core, pop_stream(queue));
}

static bool handler_can_start(const struct engine_core *core, int handler) {
    const struct handler_queue *queue = &core->queues[handler];
    int limit = core->config.handlers[handler].concurrency;
    return (queue->stream_head != NULL || queue->free_head != NULL) && (limit <= 0 || queue->slots < limit);
}

/* A slot is kept for a suspect that is about to begin. */
static int slots_kept(const struct engine_core *core) {
    return core->begins != NULL && !core->begins->dropped && !core->begins->claim->begun ? 1 : 0;
}

/* Fills the free slots, the handlers in turn. */
void core_run_schedule(struct engine_core *core) {
    int handlers = (int)core->config.handler_count;
    if (core->stopping || !core->registered || core->now_ms >= core->instance_fence_ms)
        return;
    for (int i = 0; i < handlers; i++)
        streams_move(core, i);
    for (int i = 0; i < core->config.slots && core->running < core->config.slots; i++) {
        int tried = 0;
        while (!core->slots[i].busy && tried < handlers &&
               core->running < core->config.slots - slots_kept(core)) {
            int handler = core->turn;
            core->turn = (core->turn + 1) % handlers;
            tried++;
            if (handler_can_start(core, handler) && !suspect_waits(core, handler))
                slot_start(core, i, handler);
        }
        if (!core->slots[i].busy)
            return; /* nothing is ready */
    }
}

void core_slot_cancel(struct engine_core *core, int index, enum stop_reason reason) {
    struct slot *slot = &core->slots[index];
    if (!slot->busy || slot->cancelled == STOP_FENCED || slot->cancelled == reason)
        return;
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
        for (size_t j = 0; slot->busy && j < slot->count; j++) {
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
        if (slot->busy && slot->cancelled == 0 && slot->deadline_ms > 0 &&
            core->now_ms >= slot->deadline_ms) {
            core_log(core, LOG_TIMEOUT, slot->handler, core->now_ms - slot->started_ms, 0);
            core_slot_cancel(core, i, STOP_TIMEOUT);
        }
    }
}

static void measure(struct engine_core *core, const struct slot *slot, const struct engine_event *event) {
    size_t ran = 0;
    for (size_t i = 0; i < event->count; i++)
        ran += event->outcomes[i].type != OUTCOME_NOT_RUN;
    if (ran == 0)
        return;
    double each = (double)event->elapsed_us / (double)ran;
    if (each < 0.1)
        each = 0.1;
    struct handler_queue *queue = &core->queues[slot->handler];
    queue->item_us = queue->item_us <= 0 ? each : queue->item_us * 0.8 + each * 0.2;
}

/* A message that did not run goes back to where it was: first in its stream (it never left), or free again.
 */
static void not_run(struct engine_core *core, struct entry *entry) {
    struct handler_queue *queue = &core->queues[entry->handler];
    core_entry_state(entry, ENTRY_WAITING);
    queue->waiting++;
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
        outcome = &asked_outcome;
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

void core_run_finished(struct engine_core *core, const struct engine_event *event) {
    struct slot *slot = &core->slots[event->slot];
    assert(slot->busy && event->count == slot->count);
    measure(core, slot, event);
    int64_t released = 0;
    for (size_t i = 0; i < slot->count; i++) {
        bool last = i + 1 == slot->count || slot->groups[i + 1] != slot->groups[i];
        take_back(core, slot->entries[i], &event->outcomes[i], last, &released);
    }
    core->queues[slot->handler].slots--;
    slot->busy = false;
    core->running--;
}
