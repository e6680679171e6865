/* Whose turn it is: how the free slots are filled, with how many items at once, and what is claimed ahead. */
#include "engine/core/int.h"

enum { BUNDLE_US = 1000 }; /* a bundle should last about this long: long enough to pay for its hand-over */

int core_running(const struct engine_core *core) {
    return core->busy[CHANNEL_MESSAGES] + core->busy[CHANNEL_JOBS] + core->busy[CHANNEL_PERSPECTIVES];
}

/* The handler takes many jobs at once, and is measured to take no time. */
static bool is_short(const struct engine_core *core, int handler) {
    double item_us = core->queues[CHANNEL_JOBS][handler].item_us;
    return core->config.handlers[handler].bundled && item_us > 0 && item_us <= ENGINE_SHORT_US;
}

/* How long a message takes, as the handlers of the last grant were measured; 0 = one of them was not yet. */
static double message_us(const struct engine_core *core) {
    double sum_us = 0, count = 0;
    for (size_t i = 0; i < 2 * core->config.handler_count; i++) {
        const struct handler_queue *queue =
            &core->queues[i % 2 == 0 ? CHANNEL_MESSAGES : CHANNEL_PERSPECTIVES][i / 2];
        if (queue->granted > 0 && queue->item_us <= 0)
            return 0;
        sum_us += (double)queue->granted * queue->item_us;
        count += (double)queue->granted;
    }
    return count > 0 ? sum_us / count : 0;
}

/* The rule of claiming ahead of the slots: work of ENGINE_CLAIM_AHEAD_MS for each of them, by the time that
 * the handlers of the last grant took. Of messages also while nothing is measured, because no one else could
 * run them: a lane has one owner. What one worker holds of jobs no other can run, so ahead only while all
 * that comes is short. Returns how many may wait in our hands. */
size_t core_run_ahead(const struct engine_core *core, enum engine_channel channel) {
    size_t slots = (size_t)core->config.slots;
    double item_us = channel == CHANNEL_JOBS ? core->jobs.ahead_us : message_us(core);
    if (item_us <= 0)
        return channel == CHANNEL_JOBS ? 0 : slots * ENGINE_AHEAD_UNKNOWN;
    return (size_t)((double)slots * ENGINE_CLAIM_AHEAD_MS * 1000.0 / item_us);
}

/* What a grant of jobs says about the next: all of it is short, and nothing is started with care. */
void core_run_learn(struct engine_core *core, const struct grant *grant) {
    core->jobs.ahead_us = 0;
    for (size_t i = 0; i < grant->count; i++) {
        const struct entry *entry = &grant->entries[i];
        bool known = entry->handler < (int)core->config.handler_count;
        if (!known || !is_short(core, entry->handler) || core_careful(entry)) {
            core->jobs.ahead_us = 0;
            return;
        }
        double item_us = core->queues[CHANNEL_JOBS][entry->handler].item_us;
        if (item_us > core->jobs.ahead_us)
            core->jobs.ahead_us = item_us;
    }
}

static size_t bundle_size(const struct engine_core *core, enum engine_channel channel, int handler) {
    const struct handler_queue *queue = &core->queues[channel][handler];
    bool batched = core->config.handlers[handler].batched;
    bool jobs = channel == CHANNEL_JOBS;
    if (!batched &&
        (jobs ? !is_short(core, handler) : !core->config.handlers[handler].bundled || queue->item_us <= 0))
        return 1;
    size_t slots = (size_t)(jobs ? core->config.slots : core->config.slots - core_running(core));
    size_t share = (queue->waiting + (jobs ? slots - 1 : 0)) / slots;
    if (channel == CHANNEL_PERSPECTIVES) /* each of them is a stream to catch up with: all slots help */
        return share < 1 ? 1 : share < ENGINE_BUNDLE_CALLS ? share : ENGINE_BUNDLE_CALLS;
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

static int64_t timeout_of(const struct engine_core *core, const struct entry *entry) {
    int64_t own_ms = entry->job != NULL ? entry->job->timeout_ms : 0;
    return own_ms > 0 ? own_ms : core->config.handlers[entry->handler].timeout_ms;
}

static void slot_add(struct engine_core *core, struct slot *slot, struct entry *entry, int group) {
    slot->entries[slot->count] = entry;
    if (entry->job != NULL)
        slot->jobs[slot->count] = entry->job;
    else if (entry->item != NULL)
        slot->items[slot->count] = entry->item;
    else
        slot->checkpoints[slot->count] = entry->checkpoint;
    slot->groups[slot->count] = group;
    slot->count++;
    entry->slot = (int)(slot - core->slots);
    core_entry_state(entry, ENTRY_RUNNING);
}

static void slot_add_stream(struct engine_core *core, struct slot *slot, struct stream *stream, size_t size,
                            int group) {
    for (struct entry *entry = stream->head; entry != NULL && slot->count < size; entry = entry->next) {
        if (entry->handler != slot->handler)
            break;
        core_queue_count(core, entry, -1);
        slot_add(core, slot, entry, group);
        stream->running++;
    }
    core_stream_ready(core, stream); /* when it was emptied while it waited, or another handler is next */
}

static bool careful_head(const struct entry *entry) {
    return entry != NULL && !entry->dropped && core_careful(entry);
}

/* The first of the handler's queue may have killed a worker, or is in its last attempt: it begins alone, and
 * the store hears of it first, so that a death is charged to what had begun. */
static bool slot_add_careful(struct engine_core *core, struct slot *slot, struct handler_queue *queue) {
    if (careful_head(queue->free_head))
        slot_add(core, slot, core_queue_pop(core, queue), 0);
    else if (queue->stream_head != NULL && careful_head(queue->stream_head->head))
        slot_add_stream(core, slot, core_queue_pop_stream(queue), 1, 0);
    else
        return false;
    slot->beginning = true;
    core_entry_state(slot->entries[0], ENTRY_BEGINNING);
    core_lease_renew_at(slot->entries[0]->claim, core->now_ms);
    return true;
}

/* A job that has a time limit runs alone. */
static bool limited(const struct engine_core *core, const struct entry *entry) {
    return entry->job != NULL && timeout_of(core, entry) > 0;
}

static void slot_fill(struct engine_core *core, struct slot *slot, size_t size) {
    struct handler_queue *queue = &core->queues[slot->channel][slot->handler];
    int group = 0;
    if (slot_add_careful(core, slot, queue))
        return;
    while (slot->count < size && (queue->stream_head != NULL || queue->free_head != NULL)) {
        if (careful_head(queue->free_head) ||
            (queue->stream_head != NULL && careful_head(queue->stream_head->head)))
            return;
        if (queue->free_head != NULL) {
            if (slot->count > 0 && limited(core, queue->free_head))
                return;
            struct entry *entry = core_queue_pop(core, queue);
            if (entry->dropped) {
                core->metrics.jobs.fenced += entry->job != NULL;
                core_entry_free(core, entry);
                continue;
            }
            slot_add(core, slot, entry, group++);
            if (limited(core, entry))
                return;
        }
        if (slot->count < size && queue->stream_head != NULL)
            slot_add_stream(core, slot, core_queue_pop_stream(queue), size, group++);
    }
}

/* What the slot was given begins. */
void core_slot_run(struct engine_core *core, int index) {
    struct slot *slot = &core->slots[index];
    struct engine_action *action = core_act(core, ACTION_START);
    int64_t timeout_ms = timeout_of(core, slot->entries[slot->count - 1]);
    int64_t fence_ms = core->instance_fence_ms;
    slot->beginning = false;
    slot->started_ms = core->now_ms;
    slot->deadline_ms = timeout_ms > 0 ? core->now_ms + timeout_ms : 0;
    for (size_t i = 0; i < slot->count; i++) {
        struct entry *entry = slot->entries[i];
        core_entry_state(entry, ENTRY_RUNNING);
        entry->keep_until_ms = core_keep_until_ms(core, slot);
        if (entry->job != NULL && entry->claim->renew_at_ms > core->now_ms + ENGINE_LISTEN_MS)
            core_lease_renew_at(entry->claim, core->now_ms + ENGINE_LISTEN_MS);
        if (entry->fence_ms < fence_ms)
            fence_ms = entry->fence_ms;
    }
    if (action == NULL)
        return;
    const struct entry *first = slot->entries[0];
    action->slot = index;
    action->run = (struct engine_run){.handler = slot->handler,
                                      .items = first->item != NULL ? slot->items : NULL,
                                      .jobs = first->job != NULL ? slot->jobs : NULL,
                                      .checkpoints = first->checkpoint != NULL ? slot->checkpoints : NULL,
                                      .groups = slot->groups,
                                      .count = slot->count,
                                      .fence_ms = fence_ms,
                                      .deadline_ms = slot->deadline_ms,
                                      .timeout_ms = timeout_ms,
                                      .claimed_ms = slot->entries[0]->claim->grant->claimed_ms};
}

static void slot_start(struct engine_core *core, int index, enum engine_channel channel, int handler) {
    struct slot *slot = &core->slots[index];
    slot->channel = channel;
    slot->handler = handler;
    slot->count = 0;
    slot->beginning = false;
    slot_fill(core, slot, bundle_size(core, channel, handler));
    if (slot->count == 0)
        return;
    slot->busy = true;
    slot->cancelled = STOP_NONE;
    slot->started_ms = core->now_ms;
    slot->deadline_ms = 0;
    core->busy[channel]++;
    slot->of_messages = slot->entries[0]->item != NULL;
    core->busy_messages += slot->of_messages;
    core->queues[channel][handler].slots++;
    if (!slot->beginning)
        core_slot_run(core, index);
}

/* A stream that lost its first message while it waited may be another handler's turn now. */
static void streams_move(struct engine_core *core, enum engine_channel channel, int handler) {
    struct handler_queue *queue = &core->queues[channel][handler];
    while (queue->stream_head != NULL &&
           (queue->stream_head->head == NULL || queue->stream_head->head->handler != handler))
        core_stream_ready(core, core_queue_pop_stream(queue));
}

/* Two calls that the store answers side by side may each give a suspect: they run one after the other. */
static bool suspect_has_slot(const struct engine_core *core) {
    for (int i = 0; i < core->config.slots; i++) {
        const struct slot *slot = &core->slots[i];
        if (slot->busy && slot->of_messages && slot->items[0]->suspect)
            return true;
    }
    return false;
}

static bool handler_can_start(const struct engine_core *core, enum engine_channel channel, int handler) {
    const struct handler_queue *queue = &core->queues[channel][handler];
    int limit = core->config.handlers[handler].concurrency, used = 0;
    if (queue->stream_head == NULL && queue->free_head == NULL)
        return false;
    for (enum engine_channel any = 0; any < CHANNEL_COUNT; any++)
        used += core->queues[any][handler].slots;
    if (limit > 0 && used >= limit)
        return false;
    bool suspect = channel != CHANNEL_JOBS &&
                   (careful_head(queue->free_head) ||
                    (queue->stream_head != NULL && careful_head(queue->stream_head->head)));
    return !suspect || !suspect_has_slot(core);
}

/* The handler whose turn it is; -1 = nothing of the channel can start. */
static int next_handler(const struct engine_core *core, enum engine_channel channel) {
    int handlers = (int)core->config.handler_count;
    for (int i = 0; i < handlers; i++) {
        int handler = (core->turn[channel] + i) % handlers;
        if (handler_can_start(core, channel, handler))
            return handler;
    }
    return -1;
}

/* How much of its share of the slots a channel has. */
static bool has_less(const struct engine_core *core, enum engine_channel channel, int left) {
    int weights = 0;
    for (enum engine_channel any = 0; any < CHANNEL_COUNT; any++)
        weights += core_weight(core, any);
    int busy = core->busy[channel] + (channel == CHANNEL_JOBS ? left : 0);
    return weights > 0 && busy < core->config.slots * core_weight(core, channel) / weights;
}

/* Which of the channels that could use the next free slot has a claim to it: one that has fewer slots than
 * its weight gives it; else the one that has used the slots less, by weight. left: free slots that are left
 * to jobs. CHANNEL_COUNT = none could. */
static enum engine_channel favored(const struct engine_core *core, const bool wants[CHANNEL_COUNT],
                                   int left) {
    static const enum engine_channel order[] = {CHANNEL_JOBS, CHANNEL_PERSPECTIVES, CHANNEL_MESSAGES};
    enum engine_channel best = CHANNEL_COUNT;
    for (size_t i = 0; i < CHANNEL_COUNT; i++) {
        enum engine_channel channel = order[i];
        if (!wants[channel])
            continue;
        bool less = has_less(core, channel, left);
        bool best_less = best != CHANNEL_COUNT && has_less(core, best, left);
        if (best == CHANNEL_COUNT || (less && !best_less) ||
            (less == best_less && core->used_ms[channel] < core->used_ms[best]))
            best = channel;
    }
    return best;
}

/* Fills the free slots. What is claimed of jobs can start at once, so a slot that they have a right to is
 * left free while they are asked for; the rest waits in our hands. */
void core_run_schedule(struct engine_core *core) {
    int left = 0; /* free slots that are left to jobs that are asked for */
    if (core->stopping || !core->registered || core->now_ms >= core->instance_fence_ms)
        return;
    for (int i = 0; i < (int)core->config.handler_count; i++) {
        streams_move(core, CHANNEL_MESSAGES, i);
        streams_move(core, CHANNEL_PERSPECTIVES, i);
    }
    for (int i = 0; i < core->config.slots && core_running(core) + left < core->config.slots; i++) {
        while (!core->slots[i].busy) {
            int handlers[CHANNEL_COUNT];
            bool wants[CHANNEL_COUNT], ready = false;
            for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
                handlers[channel] = next_handler(core, channel);
                wants[channel] = handlers[channel] >= 0;
                ready = ready || wants[channel];
            }
            if (!ready)
                return;
            wants[CHANNEL_JOBS] = wants[CHANNEL_JOBS] || core_jobs_asked(core);
            enum engine_channel channel = favored(core, wants, left);
            int handler = handlers[channel];
            if (handler < 0) {
                left++;
                break;
            }
            core->turn[channel] = (handler + 1) % (int)core->config.handler_count;
            slot_start(core, i, channel, handler);
        }
    }
}
