/* What waits for a handler: where it waits, and what goes back because it cannot begin here. */
#include "base/str.h"
#include "engine/core/int.h"

struct handler_queue *core_queue(struct engine_core *core, const struct entry *entry) {
    enum engine_channel channel = entry->item != NULL ? core_share(entry->item->kind) : core_channel(entry);
    return &core->queues[channel][entry->handler];
}

/* By which way what waits for a handler came, in whosever share of the slots it is. */
enum engine_channel core_route(const struct engine_core *core, enum engine_channel share, size_t handler) {
    bool wakes = share == CHANNEL_PERSPECTIVES && handler != (size_t)core->config.advance_handler;
    return wakes ? CHANNEL_MESSAGES : share;
}

/* An entry begins to wait (1), or no longer waits (-1). */
void core_queue_count(struct engine_core *core, const struct entry *entry, int change) {
    core_queue(core, entry)->waiting += (size_t)change;
    core->waiting[core_channel(entry)] += (size_t)change;
    if (entry->job != NULL && core_careful(entry))
        core->jobs.careful_waiting += (size_t)change;
}

/* The first item without an order leaves the queue. */
struct entry *core_queue_pop(struct engine_core *core, struct handler_queue *queue) {
    struct entry *entry = queue->free_head;
    queue->free_head = entry->next;
    if (queue->free_head == NULL)
        queue->free_tail = NULL;
    entry->next = NULL;
    core_queue_count(core, entry, -1);
    return entry;
}

struct stream *core_queue_pop_stream(struct handler_queue *queue) {
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

static void unhandled_one(struct engine_core *core, struct entry *entry) {
    if (entry->item == NULL) {
        core_report_release(core, entry, entry->delay_ms);
        if (entry->job != NULL)
            entry->extra->result.error = STR("the worker that claimed it has no handler for its type");
    } else if (entry->asked) {
        core_report_failed(core, entry, &core_asked_outcome);
    } else {
        if (entry->delay_ms == ENGINE_NO_HANDLER_MS)
            core_log_text(core, LOG_NO_HANDLER, ENGINE_NO_HANDLER_MS, entry->item->type);
        core_report_release(core, entry, leave_alone_ms(core, entry));
    }
}

static void unhandled_streams(struct engine_core *core, struct handler_queue *queue) {
    int nobody = (int)core->config.handler_count;
    while (queue->stream_head != NULL) {
        struct stream *stream = core_queue_pop_stream(queue);
        if (stream->head != NULL && stream->head->handler == nobody && stream->head->asked) {
            struct entry *entry = core_stream_pop(stream);
            core_queue_count(core, entry, -1);
            stream->awaiting = true;
            core_report_failed(core, entry, &core_asked_outcome);
        } else if (stream->head != NULL && stream->head->handler == nobody) {
            if (stream->head->delay_ms == ENGINE_NO_HANDLER_MS)
                core_log_text(core, LOG_NO_HANDLER, ENGINE_NO_HANDLER_MS, stream->head->item->type);
            core_stream_release_waiting(core, stream, leave_alone_ms(core, stream->head));
        }
        core_stream_ready(core, stream);
    }
}

/* Items without a handler here, or that came too late, go back without an attempt. */
void core_queue_unhandled(struct engine_core *core) {
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        struct handler_queue *queue = &core->queues[channel][core->config.handler_count];
        while (queue->free_head != NULL)
            unhandled_one(core, core_queue_pop(core, queue));
        unhandled_streams(core, queue);
    }
}

static void give_back(struct engine_core *core, struct entry *entry) {
    if (entry->dropped) {
        core->metrics.jobs.fenced += entry->job != NULL;
        core_entry_free(core, entry);
        return;
    }
    if (entry->job != NULL)
        core->jobs.ahead_us = 0; /* not so short after all */
    if (entry->checkpoint != NULL && entry->claim->token != 0)
        core->perspectives.full_until_ms = core->now_ms + ENGINE_FULL_MS;
    bool handler_full = core_running(core) < core->config.slots;
    core_report_release(core, entry, handler_full ? ENGINE_FULL_MS : 0);
}

static int64_t begins_by_ms(const struct entry *entry) {
    return entry->claim->grant->taken_ms + ENGINE_WAIT_MS;
}

/* What is started with care never waits in our hands. */
static void give_back_careful(struct engine_core *core, struct handler_queue *queue) {
    struct entry *rest = queue->free_head;
    queue->free_head = queue->free_tail = NULL;
    while (rest != NULL) {
        struct entry *entry = rest;
        rest = entry->next;
        entry->next = NULL;
        if (core_careful(entry)) {
            core_queue_count(core, entry, -1);
            give_back(core, entry);
            continue;
        }
        if (queue->free_tail == NULL)
            queue->free_head = entry;
        else
            queue->free_tail->next = entry;
        queue->free_tail = entry;
    }
}

static void release_all(struct engine_core *core, struct handler_queue *queue) {
    while (queue->free_head != NULL) {
        struct entry *entry = core_queue_pop(core, queue);
        if (entry->dropped)
            core_entry_free(core, entry);
        else
            core_report_release(core, entry, 0);
    }
    while (queue->stream_head != NULL) {
        struct stream *stream = core_queue_pop_stream(queue);
        core_stream_release_waiting(core, stream, 0);
        core_stream_ready(core, stream);
    }
}

/* The first that waits for a handler and that any worker could run instead; NULL = there is none. A message
 * is not: no one but the owner of its lane could take it. */
static struct entry *anyones(const struct engine_core *core, size_t handler, enum engine_channel *channel) {
    *channel = CHANNEL_JOBS;
    if (core->queues[CHANNEL_JOBS][handler].free_head != NULL)
        return core->queues[CHANNEL_JOBS][handler].free_head;
    *channel = CHANNEL_PERSPECTIVES;
    bool wakes = core_route(core, CHANNEL_PERSPECTIVES, handler) != CHANNEL_PERSPECTIVES;
    return wakes ? NULL : core->queues[CHANNEL_PERSPECTIVES][handler].free_head;
}

/* What has waited long enough while nothing more can begin goes back, so that another worker may have it.
 * Messages go when all slots are taken for long, and their lanes follow (core_life_decide). */
void core_queue_give_back(struct engine_core *core) {
    enum engine_channel channel;
    bool full = core_slots_full(core);
    for (size_t i = 0; i < core->config.handler_count; i++) {
        for (struct entry *first; (first = anyones(core, i, &channel)) != NULL;) {
            if (!first->dropped && begins_by_ms(first) > core->now_ms)
                break;
            give_back(core, core_queue_pop(core, &core->queues[channel][i]));
        }
        if (core->jobs.careful_waiting > 0)
            give_back_careful(core, &core->queues[CHANNEL_JOBS][i]);
        for (channel = 0; full && channel < CHANNEL_COUNT; channel++) {
            if (core_route(core, channel, i) == CHANNEL_MESSAGES)
                release_all(core, &core->queues[channel][i]);
        }
    }
}

int64_t core_queue_due_ms(const struct engine_core *core) {
    enum engine_channel channel;
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < core->config.handler_count; i++) {
        const struct entry *first = anyones(core, i, &channel);
        if (first != NULL && begins_by_ms(first) < due_ms)
            due_ms = begins_by_ms(first);
    }
    return due_ms;
}

/* A stop gives back what has not begun. */
void core_queue_release_all(struct engine_core *core) {
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        for (size_t i = 0; i < core->config.handler_count; i++)
            release_all(core, &core->queues[channel][i]);
    }
}
