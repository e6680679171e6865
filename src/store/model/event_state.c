/* Streams, events and perspectives of the model: finding, making, freeing. */
#include "store/model/event_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"

struct event_tables *model_events(struct model *model) {
    if (model->events == NULL)
        model->events = model_alloc(sizeof *model->events);
    return model->events;
}

struct kept_stream *model_event_stream(const struct model *model, pawl_str name) {
    if (model->events == NULL)
        return NULL;
    for (struct node *node = model_table_first(&model->events->streams, fnv1a64(name)); node != NULL;
         node = model_table_next(node)) {
        struct kept_stream *stream = node->thing;
        if (str_equal(stream->name, name))
            return stream;
    }
    return NULL;
}

int64_t model_stream_version(const struct model *model, pawl_str name) {
    const struct kept_stream *stream = model_event_stream(model, name);
    return stream != NULL ? stream->version : 0;
}

struct kept_event *model_event_find(const struct model *model, pawl_uuid id) {
    if (model->events == NULL)
        return NULL;
    for (struct node *node = model_table_first(&model->events->ids, model_hash_uuid(id)); node != NULL;
         node = model_table_next(node)) {
        struct kept_event *kept = node->thing;
        if (uuid_equal(kept->event.id, id))
            return kept;
    }
    return NULL;
}

struct kept_perspective *model_perspective_find(const struct model *model, pawl_str key) {
    for (size_t i = 0; model->events != NULL && i < model->events->perspective_count; i++) {
        if (str_equal(model->events->perspectives[i]->key, key))
            return model->events->perspectives[i];
    }
    return NULL;
}

bool model_perspective_fed(const struct kept_perspective *perspective) {
    return perspective != NULL &&
           (perspective->state == PERSPECTIVE_LIVE || perspective->state == PERSPECTIVE_FILLING);
}

bool model_perspective_removed(const struct model *model, pawl_str key) {
    const struct kept_perspective *perspective = model_perspective_find(model, key);
    return perspective != NULL && perspective->state == PERSPECTIVE_REMOVED;
}

bool model_perspective_maps(const struct kept_perspective *perspective, size_t type) {
    return perspective != NULL && type < perspective->maps_cap && perspective->maps[type];
}

void model_perspective_map(struct model *model, struct kept_perspective *perspective, size_t type,
                           bool maps) {
    (void)model;
    size_t before = perspective->maps_cap;
    if (type >= before) {
        perspective->maps =
            model_grow(perspective->maps, &perspective->maps_cap, type + 1, sizeof *perspective->maps);
        memset(perspective->maps + before, 0, (perspective->maps_cap - before) * sizeof *perspective->maps);
    }
    perspective->maps[type] = maps;
}

bool model_skipped(const struct model *model, pawl_str key, pawl_str stream, int64_t version) {
    for (size_t i = 0; model->events != NULL && i < model->events->skip_count; i++) {
        const struct kept_skip *skip = &model->events->skips[i];
        if (skip->version == version && str_equal(skip->key, key) && str_equal(skip->stream, stream))
            return true;
    }
    return false;
}

void model_skip_add(struct model *model, pawl_str key, pawl_str stream, int64_t version, pawl_str reason) {
    struct event_tables *t = model_events(model);
    if (model_skipped(model, key, stream, version))
        return;
    t->skips = model_grow(t->skips, &t->skip_cap, t->skip_count + 1, sizeof *t->skips);
    t->skips[t->skip_count++] =
        (struct kept_skip){model_text(key), model_text(stream), model_text(reason), version};
}

int64_t model_events_matching(const struct model *model, const struct kept_perspective *perspective,
                              pawl_str stream, int64_t after, int64_t through) {
    const struct kept_stream *kept = model_event_stream(model, stream);
    int64_t count = 0;
    for (int64_t v = after + 1; kept != NULL && v <= through && v <= kept->version; v++)
        count += model_perspective_maps(perspective, kept->events[v - 1]->type) ? 1 : 0;
    return count;
}

static int checkpoint_compare(const void *a, const void *b) {
    const struct checkpoint *x = *(struct checkpoint *const *)a, *y = *(struct checkpoint *const *)b;
    int order = str_compare(x->stream, y->stream);
    return order != 0 ? order : str_compare(x->perspective, y->perspective);
}

struct checkpoint **model_checkpoints_sorted(const struct model *model, size_t *count) {
    struct checkpoint **list = model_alloc((model->checkpoints.count + 1) * sizeof *list);
    *count = 0;
    for (struct node *node = model_table_each(&model->checkpoints, NULL); node != NULL;
         node = model_table_each(&model->checkpoints, node))
        list[(*count)++] = node->thing;
    if (*count > 0)
        qsort(list, *count, sizeof *list, checkpoint_compare);
    return list;
}

static void event_free(struct kept_event *kept) {
    model_text_free(kept->event.type);
    model_text_free(kept->event.payload);
    model_text_free(kept->event.metadata);
    model_text_free(kept->event.traceparent);
    free(kept);
}

static void perspective_free(struct kept_perspective *perspective) {
    const pawl_str texts[] = {perspective->key, perspective->name, perspective->target, perspective->clear,
                              perspective->backfill_after};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        model_text_free(texts[i]);
    for (size_t i = 0; i < perspective->pattern_count; i++)
        model_text_free(perspective->patterns[i].text);
    free(perspective->patterns);
    free(perspective->maps);
    free(perspective);
}

static void streams_free(struct event_tables *t) {
    for (struct node *node = model_table_each(&t->streams, NULL), *next; node != NULL; node = next) {
        struct kept_stream *stream = node->thing;
        next = model_table_each(&t->streams, node);
        model_text_free(stream->name);
        free(stream->events);
        free(stream);
    }
}

void model_receptor_patterns_free(struct kept_receptor *receptor) {
    for (size_t i = 0; i < receptor->pattern_count; i++)
        model_text_free(receptor->patterns[i].text);
    free(receptor->patterns);
    receptor->patterns = NULL;
    receptor->pattern_count = 0;
}

void model_events_free(struct model *model) {
    struct event_tables *t = model->events;
    if (t == NULL)
        return;
    streams_free(t);
    for (size_t i = 0; i < t->all_count; i++)
        event_free(t->all[i]);
    for (size_t i = 0; i < t->type_count; i++)
        model_text_free(t->types[i].name);
    for (size_t i = 0; i < t->perspective_count; i++)
        perspective_free(t->perspectives[i]);
    for (size_t i = 0; i < t->skip_count; i++) {
        model_text_free(t->skips[i].key);
        model_text_free(t->skips[i].stream);
        model_text_free(t->skips[i].reason);
    }
    for (size_t i = 0; i < t->snapshot_count; i++) {
        model_text_free(t->snapshots[i].stream);
        model_text_free(t->snapshots[i].name);
        model_text_free(t->snapshots[i].state);
    }
    for (size_t i = 0; i < t->receptor_count; i++) {
        model_receptor_patterns_free(&t->receptors[i]);
        model_text_free(t->receptors[i].name);
    }
    model_table_free(&t->streams);
    model_table_free(&t->ids);
    free(t->all);
    free(t->types);
    free(t->perspectives);
    free(t->skips);
    free(t->snapshots);
    free(t->receptors);
    free(t);
    model->events = NULL;
}

pawl_status model_event_copy(struct arena *arena, const struct kept_event *kept, struct stored_event *out,
                             pawl_error *err) {
    *out = kept->event;
    pawl_str *const texts[] = {&out->stream, &out->type, &out->payload, &out->metadata, &out->traceparent};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = str_dup(arena, *texts[i], texts[i], err);
    return status;
}
