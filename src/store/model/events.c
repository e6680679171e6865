/* Appending and reading events, and snapshots, in the model. */
#include "store/model/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/event_state.h"
#include "store/model/log.h"

/* The type's index; a new one is resolved against every perspective that is fed. */
static pawl_status type_of(struct model *model, pawl_str type, size_t *index, pawl_error *err) {
    struct event_tables *t = model_events(model);
    for (size_t i = 0; i < t->type_count; i++) {
        if (str_equal(t->types[i].name, type)) {
            *index = i;
            return PAWL_OK;
        }
    }
    for (size_t i = 0; i < t->perspective_count; i++) {
        struct kept_perspective *perspective = t->perspectives[i];
        bool maps = false;
        for (size_t p = 0; !maps && p < perspective->pattern_count; p++) {
            pawl_status status = event_pattern_matches(&perspective->patterns[p], type, &maps, err);
            if (status != PAWL_OK)
                return status;
        }
        model_perspective_map(model, perspective, t->type_count, maps && model_perspective_fed(perspective));
    }
    t->types = model_grow(t->types, &t->type_cap, t->type_count + 1, sizeof *t->types);
    t->types[t->type_count] = (struct kept_type){.name = model_text(type)};
    *index = t->type_count++;
    return PAWL_OK;
}

/* Whether the call happened before: the answer stays APPLIED when none of its ids is known. */
static void known(const struct model *model, const struct events_append *in, struct append_result *out) {
    size_t count = 0;
    int64_t first = 0;
    bool same = true;
    for (size_t i = 0; i < in->count; i++) {
        const struct kept_event *kept =
            uuid_is_nil(in->events[i].id) ? NULL : model_event_find(model, in->events[i].id);
        if (kept == NULL)
            continue;
        int64_t base = kept->event.version - (int64_t)i;
        same = same && str_equal(kept->event.stream, in->stream) && (count == 0 || base == first) &&
               str_equal(kept->event.type, in->events[i].type) &&
               str_equal(kept->event.payload, in->events[i].payload);
        first = base;
        count++;
    }
    append_known(in, count, same ? first : 0, out);
}

static struct kept_stream *stream_make(struct model *model, pawl_str name) {
    struct kept_stream *stream = model_event_stream(model, name);
    if (stream != NULL)
        return stream;
    stream = model_alloc(sizeof *stream);
    stream->name = model_text(name);
    model_table_add(&model->events->streams, &stream->by_name, fnv1a64(name), stream);
    return stream;
}

static void event_add(struct model *model, struct kept_stream *stream, const struct event_new *in,
                      pawl_uuid id, size_t type) {
    struct event_tables *t = model->events;
    struct kept_event *kept = model_alloc(sizeof *kept);
    kept->type = type;
    kept->event = (struct stored_event){
        .stream = stream->name,
        .version = ++stream->version,
        .position = (int64_t)t->all_count + 1,
        .id = id,
        .type = model_text(in->type),
        .payload = model_text(in->payload),
        .metadata = model_text(in->metadata),
        .correlation_id = in->correlation_id,
        .causation_id = in->causation_id,
        .traceparent = model_text(in->traceparent),
        .appended_ms = model->now_ms,
    };
    stream->events =
        model_grow(stream->events, &stream->cap, (size_t)stream->version, sizeof *stream->events);
    stream->events[stream->version - 1] = kept;
    t->all = model_grow(t->all, &t->all_cap, t->all_count + 1, sizeof *t->all);
    t->all[t->all_count++] = kept;
    t->types[type].events++;
    model_table_add(&t->ids, &kept->by_id, model_hash_uuid(id), kept);
}

/* Missing checkpoints, the message that says "look at this stream", and what is to be published. */
static void append_wake(struct model *model, const struct events_append *in, const pawl_uuid *ids,
                        const size_t *types) {
    struct event_tables *t = model->events;
    for (size_t i = 0; i < in->count; i++) {
        for (size_t p = 0; p < t->perspective_count; p++) {
            struct kept_perspective *perspective = t->perspectives[p];
            if (!model_perspective_maps(perspective, types[i]) ||
                model_checkpoint_find(model, in->stream, perspective->key) != NULL)
                continue;
            model_checkpoint_make(model, in->stream, perspective->key)->due_ms = model->now_ms;
        }
    }
    bool any = false;
    for (struct node *node = model_table_each(&model->checkpoints, NULL); !any && node != NULL;
         node = model_table_each(&model->checkpoints, node))
        any = str_equal(((struct checkpoint *)node->thing)->stream, in->stream);
    char payload[64];
    if (any) {
        (void)snprintf(payload, sizeof payload, "{\"version\":%" PRId64 "}",
                       model_stream_version(model, in->stream));
        struct message_new message = {.id = ids[in->count - 1],
                                      .stream = in->stream,
                                      .type = STR("pawl.append"),
                                      .payload = str_from(payload)};
        (void)model_record_new(model, KIND_PERSPECTIVE, &message, (pawl_str){NULL, 0});
        model->tally[KIND_PERSPECTIVE].put++;
    }
    for (size_t i = 0; i < in->count; i++) {
        const struct event_new *e = &in->events[i];
        if (!e->publish)
            continue;
        struct message_new message = {.id = ids[i],
                                      .stream = in->stream,
                                      .topic = e->topic,
                                      .type = e->type,
                                      .payload = e->payload,
                                      .headers = e->metadata,
                                      .correlation_id = e->correlation_id,
                                      .causation_id = e->causation_id,
                                      .traceparent = e->traceparent};
        (void)model_record_new(model, KIND_OUTBOX, &message, (pawl_str){NULL, 0});
        model->tally[KIND_OUTBOX].put++;
    }
}

pawl_status model_events_append(struct store *store, const struct events_append *in, struct arena *arena,
                                struct append_result *out, pawl_error *err) {
    pawl_status status = check_append(in, err);
    if (status != PAWL_OK)
        return status;
    struct append_result result = {.ids = arena_array(arena, in->count, sizeof *result.ids)};
    size_t *types = arena_array(arena, in->count, sizeof *types);
    if (result.ids == NULL || types == NULL)
        return error_set(err, PAWL_NO_MEMORY, "events_append", "no memory for the answer");
    for (size_t i = 0; i < in->count; i++) {
        result.ids[i] = in->events[i].id;
        if (uuid_is_nil(result.ids[i]))
            status = uuid_next(&result.ids[i], err);
        if (status != PAWL_OK)
            return status;
    }
    struct model *model = model_enter(store);
    (void)model_events(model);
    result.version = model_stream_version(model, in->stream);
    result.answer = ANSWER_APPLIED;
    known(model, in, &result);
    if (result.answer == ANSWER_APPLIED && in->expected != EXPECT_ANY && in->expected != result.version)
        result.answer = ANSWER_CONFLICT;
    if (result.answer == ANSWER_APPLIED) {
        for (size_t i = 0; status == PAWL_OK && i < in->count; i++)
            status = type_of(model, in->events[i].type, &types[i], err);
        if (status != PAWL_OK)
            return model_leave(model, status);
        struct kept_stream *stream = stream_make(model, in->stream);
        for (size_t i = 0; i < in->count; i++)
            event_add(model, stream, &in->events[i], result.ids[i], types[i]);
        result.first_version = result.version + 1;
        result.version = stream->version;
        append_wake(model, in, result.ids, types);
    }
    *out = result;
    return model_leave(model, PAWL_OK);
}

/* The versions or positions wanted, 1 … last, as indexes of events. */
struct range {
    struct kept_event **events;
    int64_t last;
    int64_t as_of;
};

static pawl_status range_of(const struct model *model, const struct events_query *in, struct range *range,
                            int64_t *head, pawl_error *err) {
    const struct event_tables *t = model->events;
    *range = (struct range){.as_of = INT64_MAX};
    *head = 0;
    if (str_absent(in->stream)) {
        if (t != NULL)
            *range = (struct range){t->all, (int64_t)t->all_count, INT64_MAX};
    } else {
        const struct kept_stream *stream = model_event_stream(model, in->stream);
        if (stream != NULL)
            *range = (struct range){stream->events, stream->version, INT64_MAX};
    }
    *head = range->last;
    if (uuid_is_nil(in->as_of_event))
        return PAWL_OK;
    const struct kept_event *until = model_event_find(model, in->as_of_event);
    char text[UUID_TEXT_BYTES];
    if (until == NULL || !str_equal(until->event.stream, in->stream))
        return error_set(err, PAWL_NOT_FOUND, "events_read", "stream %.*s has no event %s",
                         STR_ARG(in->stream), uuid_format(in->as_of_event, text));
    range->as_of = until->event.version;
    return PAWL_OK;
}

pawl_status model_events_read(struct store *store, const struct events_query *in, struct arena *arena,
                              struct event_list *out, pawl_error *err) {
    pawl_status status = check_events_query(in, err);
    if (status != PAWL_OK)
        return status;
    struct event_list list = {.events = arena_array(arena, (size_t)in->limit, sizeof *list.events)};
    if (list.events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "events_read", "no memory for the answer");
    struct model *model = model_enter(store);
    struct range range;
    status = range_of(model, in, &range, &list.head, err);
    int64_t last = range.last < range.as_of ? range.last : range.as_of;
    int64_t at = in->backward ? (in->from != 0 && in->from < last ? in->from : last)
                              : (in->from > 1 ? in->from : 1);
    for (;
         status == PAWL_OK && range.events != NULL && at >= 1 && at <= last && list.count < (size_t)in->limit;
         at += in->backward ? -1 : 1) {
        const struct kept_event *kept = range.events[at - 1];
        if (in->as_of_ms != 0 && kept->event.appended_ms > in->as_of_ms)
            continue;
        struct stored_event *event = &list.events[list.count++];
        status = model_event_copy(arena, kept, event, err);
        if (!str_absent(in->stream))
            event->position = 0;
    }
    if (status == PAWL_OK)
        *out = list;
    return model_leave(model, status);
}

pawl_status model_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err) {
    if (limit < 1)
        return error_set(err, PAWL_INVALID, "events_stamp", "limit %d must be at least 1", limit);
    struct model *model = model_enter(store);
    /* The append has given the position. */
    *out = (struct stamp_result){.position = (int64_t)model_events(model)->all_count};
    return model_leave(model, PAWL_OK);
}

static bool snapshot_is(const struct snapshot *kept, pawl_str stream, pawl_str name) {
    return str_equal(kept->stream, stream) && str_equal(kept->name, name);
}

pawl_status model_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                               pawl_error *err) {
    pawl_status status = check_snapshot(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct event_tables *t = model_events(model);
    size_t kept = 0, oldest = 0;
    *answer = in->version > model_stream_version(model, in->stream) ? ANSWER_CONFLICT : ANSWER_APPLIED;
    for (size_t i = 0; i < t->snapshot_count; i++) {
        if (!snapshot_is(&t->snapshots[i], in->stream, in->name))
            continue;
        if (*answer == ANSWER_APPLIED && t->snapshots[i].version >= in->version)
            *answer = ANSWER_STALE;
        if (kept++ == 0 || t->snapshots[i].version < t->snapshots[oldest].version)
            oldest = i;
    }
    if (*answer != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    struct snapshot made = {.stream = model_text(in->stream),
                            .name = model_text(in->name),
                            .version = in->version,
                            .state = model_text(in->state),
                            .made_ms = model->now_ms};
    if (kept < PAWL_SNAPSHOTS_KEPT) {
        t->snapshots =
            model_grow(t->snapshots, &t->snapshot_cap, t->snapshot_count + 1, sizeof *t->snapshots);
        oldest = t->snapshot_count++;
    } else {
        model_text_free(t->snapshots[oldest].stream);
        model_text_free(t->snapshots[oldest].name);
        model_text_free(t->snapshots[oldest].state);
    }
    t->snapshots[oldest] = made;
    return model_leave(model, PAWL_OK);
}

pawl_status model_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                               struct arena *arena, struct snapshot *out, pawl_error *err) {
    struct model *model = model_enter(store);
    const struct event_tables *t = model_events(model);
    const struct snapshot *best = NULL;
    for (size_t i = 0; i < t->snapshot_count; i++) {
        const struct snapshot *kept = &t->snapshots[i];
        if (snapshot_is(kept, stream, name) && (version_max == 0 || kept->version <= version_max) &&
            (best == NULL || kept->version > best->version))
            best = kept;
    }
    if (best == NULL)
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "snapshot_get",
                                            "no snapshot \"%.*s\" of stream \"%.*s\"", STR_ARG(name),
                                            STR_ARG(stream)));
    struct snapshot copy = *best;
    pawl_status status = str_dup(arena, best->stream, &copy.stream, err);
    if (status == PAWL_OK)
        status = str_dup(arena, best->name, &copy.name, err);
    if (status == PAWL_OK)
        status = str_dup(arena, best->state, &copy.state, err);
    if (status == PAWL_OK)
        *out = copy;
    return model_leave(model, status);
}
