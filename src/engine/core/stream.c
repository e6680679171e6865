/* Streams of the messages in hand: each runs one message at a time, in order. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "engine/core/int.h"

enum { CELLS_MIN = 1024 };

static size_t cell_of(const struct stream_table *table, uint64_t hash) {
    return (size_t)hash & (table->cell_count - 1);
}

static bool table_grow(struct engine_core *core) {
    struct stream_table *table = &core->streams;
    size_t count = table->cell_count == 0 ? CELLS_MIN : table->cell_count * 2;
    struct stream **cells = calloc(count, sizeof(*cells));
    if (cells == NULL) {
        core->out_of_memory = true;
        return false;
    }
    struct stream_table bigger = {cells, count, table->used, table->free};
    for (size_t i = 0; i < table->cell_count; i++) {
        struct stream *stream = table->cells[i];
        if (stream == NULL)
            continue;
        size_t at = cell_of(&bigger, stream->hash);
        while (cells[at] != NULL)
            at = (at + 1) & (count - 1);
        cells[at] = stream;
    }
    free(table->cells);
    *table = bigger;
    return true;
}

static struct stream *stream_new(struct stream_table *table) {
    struct stream *stream = table->free;
    if (stream == NULL)
        return malloc(sizeof(*stream));
    table->free = stream->next_free;
    return stream;
}

/* The record of a stream, made when it is not there. NULL: out of memory, and the core knows. */
struct stream *core_stream_get(struct engine_core *core, enum store_kind kind, pawl_str name) {
    struct stream_table *table = &core->streams;
    if (table->used * 2 >= table->cell_count && !table_grow(core))
        return NULL;
    uint64_t hash = fnv1a64(name) * 0x9e3779b97f4a7c15u + (uint64_t)kind;
    hash ^= hash >> 32;
    size_t at = cell_of(table, hash);
    for (struct stream *stream; (stream = table->cells[at]) != NULL;
         at = (at + 1) & (table->cell_count - 1)) {
        if (stream->hash == hash && stream->kind == kind && stream->name_len == name.len &&
            memcmp(stream->name, name.ptr, name.len) == 0)
            return stream;
    }
    struct stream *stream = stream_new(table);
    if (stream == NULL || name.len > sizeof(stream->name)) {
        free(stream);
        core->out_of_memory = true;
        return NULL;
    }
    memset(stream, 0, sizeof(*stream));
    stream->hash = hash;
    stream->kind = kind;
    stream->name_len = name.len;
    memcpy(stream->name, name.ptr, name.len);
    table->cells[at] = stream;
    table->used++;
    return stream;
}

/* Takes a stream out of the table; the cells after it move up, so that no search stops too early. */
static void stream_remove(struct stream_table *table, struct stream *stream) {
    size_t mask = table->cell_count - 1;
    size_t hole = cell_of(table, stream->hash);
    while (table->cells[hole] != stream)
        hole = (hole + 1) & mask;
    for (size_t at = (hole + 1) & mask; table->cells[at] != NULL; at = (at + 1) & mask) {
        size_t home = cell_of(table, table->cells[at]->hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->cells[hole] = table->cells[at];
            hole = at;
        }
    }
    table->cells[hole] = NULL;
    table->used--;
    stream->next_free = table->free;
    table->free = stream;
}

void core_stream_append(struct engine_core *core, struct stream *stream, struct entry *entry) {
    entry->next = NULL;
    if (stream->tail == NULL)
        stream->head = entry;
    else
        stream->tail->next = entry;
    stream->tail = entry;
    core_queue_count(core, entry, 1);
}

/* The first entry leaves its stream; the code that put it into a slot has counted it as running. */
struct entry *core_stream_pop(struct stream *stream) {
    struct entry *entry = stream->head;
    stream->head = entry->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    entry->next = NULL;
    return entry;
}

/* Queues the stream when it can run, forgets it when nothing is left of it. */
void core_stream_ready(struct engine_core *core, struct stream *stream) {
    if (stream->running > 0 || stream->awaiting || stream->queued)
        return;
    if (stream->head == NULL) {
        stream_remove(&core->streams, stream);
        return;
    }
    struct handler_queue *queue = core_queue(core, stream->head);
    stream->queued = true;
    stream->next_ready = NULL;
    if (queue->stream_tail == NULL)
        queue->stream_head = stream;
    else
        queue->stream_tail->next_ready = stream;
    queue->stream_tail = stream;
}

/* What follows the running entries under this token, or an older one, is no longer ours: the store has set
 * it aside. A newer grant of the stream, which may have come in before we heard of it, stays. */
void core_stream_drop_waiting(struct engine_core *core, struct stream *stream, int64_t token) {
    struct entry *last = NULL;
    struct entry *entry = stream->head;
    for (size_t i = 0; i < stream->running; i++) {
        last = entry;
        entry = entry->next;
    }
    while (entry != NULL && entry->claim->token <= token) {
        struct entry *next = entry->next;
        entry->claim->split = true;
        core_queue_count(core, entry, -1);
        core_entry_free(core, entry);
        entry = next;
    }
    if (last == NULL)
        stream->head = entry;
    else
        last->next = entry;
    if (entry == NULL)
        stream->tail = last;
}

/* The first waiting entry goes back to the store, which sets the rest of the stream aside with it. */
void core_stream_release_waiting(struct engine_core *core, struct stream *stream, int64_t delay_ms) {
    if (stream->running > 0)
        return;
    if (stream->head == NULL)
        return;
    struct entry *entry = core_stream_pop(stream);
    core_queue_count(core, entry, -1);
    core_report_release(core, entry, delay_ms);
    core_stream_drop_waiting(core, stream, entry->claim->token);
}

/* Nothing waits any more; what runs stays until its slot comes back. */
void core_streams_drop(struct engine_core *core) {
    struct stream_table *table = &core->streams;
    for (enum engine_channel channel = 0; channel < CHANNEL_COUNT; channel++) {
        for (size_t i = 0; i <= core->config.handler_count; i++)
            core->queues[channel][i].stream_head = core->queues[channel][i].stream_tail = NULL;
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        struct stream *stream = table->cells[i];
        if (stream == NULL)
            continue;
        stream->queued = false;
        stream->awaiting = false;
        core_stream_drop_waiting(core, stream, INT64_MAX);
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        /* Removing moves later cells up into this one: look again. */
        while (table->cells[i] != NULL && table->cells[i]->head == NULL && table->cells[i]->running == 0)
            stream_remove(table, table->cells[i]);
    }
}

void core_streams_free(struct engine_core *core) {
    struct stream_table *table = &core->streams;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    while (table->free != NULL) {
        struct stream *next = table->free->next_free;
        free(table->free);
        table->free = next;
    }
    free(table->cells);
}
