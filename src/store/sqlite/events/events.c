/* Events on SQLite: append, read, snapshots. */
#include "store/sqlite/events/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/messages/put.h"

pawl_status stream_version(struct operation *op, pawl_str stream, int64_t *version) {
    bool found = false;
    *version = 0;
    return statement_number(SQL(op, SQLITE_Q_STREAM_VERSION, stream), version, &found);
}

pawl_status events_matching(struct operation *op, pawl_str stream, pawl_str key, int64_t after,
                            int64_t through, int64_t *count) {
    bool found = false;
    *count = 0;
    return statement_number(SQL(op, SQLITE_Q_EVENT_MATCHING, stream, after, through, key), count, &found);
}

pawl_status texts_json(struct operation *op, const pawl_str *texts, size_t count, pawl_str *json) {
    struct buf buf;
    *json = (pawl_str){NULL, 0};
    if (count == 0)
        return PAWL_OK;
    buf_init(&buf, 0);
    for (size_t i = 0; i < count; i++) {
        buf_append_char(&buf, i == 0 ? '[' : ',');
        json_quote(&buf, texts[i]);
    }
    buf_append_char(&buf, ']');
    pawl_status status = buf_status(&buf, op->name, op->err);
    if (status == PAWL_OK)
        status = str_dup(op->scratch, buf_str(&buf), json, op->err);
    buf_free(&buf);
    return status;
}

/* Whether the call happened before; the answer stays APPLIED if none of its ids is known. */
static pawl_status find_known(struct operation *op, const struct events_append *in,
                              struct append_result *out) {
    size_t count = 0;
    int64_t first = 0;
    bool same = true;
    for (size_t i = 0; i < in->count; i++) {
        if (uuid_is_nil(in->events[i].id))
            continue;
        struct statement s = SQL(op, SQLITE_Q_EVENT_FIND, in->events[i].id);
        if (statement_next(&s)) {
            int64_t base = column_int(&s, 1) - (int64_t)i;
            same = same && str_equal(column_borrow(&s, 0), in->stream) && (count == 0 || base == first) &&
                   str_equal(column_borrow(&s, 2), in->events[i].type) &&
                   str_equal(column_borrow(&s, 3), in->events[i].payload);
            first = base;
            count++;
        }
        TRY(statement_end(&s));
    }
    append_known(in, count, same ? first : 0, out);
    return PAWL_OK;
}

static pawl_status type_note(struct operation *op, pawl_str type) {
    bool known = false;
    pawl_status status = statement_any(SQL(op, SQLITE_Q_EVENT_TYPE_FIND, type), &known);
    if (status != PAWL_OK)
        return status;
    status = statement_run(SQL(op, SQLITE_Q_EVENT_TYPE_COUNT, type));
    return status == PAWL_OK && !known ? types_resolve(op, type) : status;
}

static pawl_status event_write(struct operation *op, const struct events_append *in, size_t i,
                               int64_t version, pawl_uuid id) {
    const pawl_event *e = &in->events[i];
    TRY(statement_run(
        SQL(op, SQLITE_Q_EVENT_INSERT, in->stream, version, id, ROW_OF(event_new_shape, e), op->now_ms)));
    TRY(type_note(op, e->type));
    return statement_run(SQL(op, SQLITE_Q_CHECKPOINT_MISSING, in->stream, e->type, op->now_ms));
}

/* Puts the message that says "look at this stream", and the events to publish. */
static pawl_status append_wake(struct operation *op, const struct events_append *in,
                               const struct append_result *out) {
    bool any = false;
    char payload[64];
    struct put_result ignored;
    TRY(statement_any(SQL(op, SQLITE_Q_CHECKPOINT_ANY, in->stream), &any));
    if (any) {
        (void)snprintf(payload, sizeof payload, "{\"version\":%" PRId64 "}", out->version);
        pawl_outgoing message = {.id = out->ids[in->count - 1],
                                 .stream = in->stream,
                                 .type = STR("pawl.append"),
                                 .payload = str_from(payload)};
        struct messages_put put = {.kind = KIND_PERSPECTIVE, .messages = &message, .count = 1};
        TRY(put_messages(op, &put, false, op->scratch, &ignored));
    }
    for (size_t i = 0; i < in->count; i++) {
        const pawl_event *e = &in->events[i];
        if (!e->publish)
            continue;
        pawl_outgoing message = {.id = out->ids[i],
                                 .stream = in->stream,
                                 .topic = e->topic,
                                 .type = e->type,
                                 .payload = e->payload,
                                 .headers = e->metadata,
                                 .correlation_id = e->correlation_id,
                                 .causation_id = e->causation_id,
                                 .traceparent = e->traceparent};
        struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
        TRY(put_messages(op, &put, false, op->scratch, &ignored));
    }
    if (op->wake)
        return PAWL_OK;
    /* A worker with receptors on events waits for inbox messages, and feeds the receptors when woken. */
    return statement_any(SQL(op, SQLITE_Q_EVENT_RECEPTOR_WAITED, KIND_BIT(KIND_INBOX), op->now_ms),
                         &op->wake);
}

pawl_status append_events(struct operation *op, const struct events_append *in, struct arena *arena,
                          struct append_result *out) {
    int64_t head = 0;
    out->ids = arena_array(arena, in->count, sizeof *out->ids);
    if (out->ids == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < in->count; i++) {
        out->ids[i] = in->events[i].id;
        if (uuid_is_nil(out->ids[i]))
            TRY(uuid_next(&out->ids[i], op->err));
    }
    TRY(stream_version(op, in->stream, &head));
    out->answer = ANSWER_APPLIED;
    out->version = head;
    TRY(find_known(op, in, out));
    if (out->answer == ANSWER_APPLIED && in->expected != EXPECT_ANY && in->expected != head)
        out->answer = ANSWER_CONFLICT;
    if (out->answer != ANSWER_APPLIED)
        return PAWL_OK;
    out->first_version = head + 1;
    out->version = head + (int64_t)in->count;
    for (size_t i = 0; i < in->count; i++)
        TRY(event_write(op, in, i, head + 1 + (int64_t)i, out->ids[i]));
    TRY(statement_run(SQL(op, SQLITE_Q_STREAM_PUT, in->stream, out->version, op->now_ms)));
    return append_wake(op, in, out);
}

pawl_status sqlite_events_append(struct store *store, const struct events_append *in, struct arena *arena,
                                 struct append_result *out, pawl_error *err) {
    struct append_result result = {0};
    struct operation op = operation_write(store, "events_append", check_append(in, err), err);
    return operation_give(&op, append_events(&op, in, arena, &result), out, &result);
}

pawl_stored_event event_column(struct statement *s, struct arena *arena) {
    pawl_stored_event event = {.replay = false};
    row_read(s, 0, &event_shape, arena, &event);
    return event;
}

/* The last version that is wanted when it is given by an event. */
static pawl_status as_of_version(struct operation *op, const pawl_read *in, int64_t *last) {
    char text[UUID_TEXT_BYTES];
    bool here = false;
    *last = INT64_MAX;
    if (uuid_is_nil(in->as_of_event))
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_EVENT_FIND, in->as_of_event);
    if (statement_next(&s) && str_equal(column_borrow(&s, 0), in->stream)) {
        *last = column_int(&s, 1);
        here = true;
    }
    TRY(statement_end(&s));
    if (!here)
        return error_set(op->err, PAWL_NOT_FOUND, op->name, "stream %.*s has no event %s",
                         STR_ARG(in->stream), uuid_format(in->as_of_event, text));
    return PAWL_OK;
}

static pawl_status read_events(struct operation *op, const pawl_read *in, struct arena *arena,
                               struct event_list *out) {
    bool all = str_absent(in->stream), found = false;
    int64_t last = 0;
    TRY(as_of_version(op, in, &last));
    out->events = arena_array(arena, (size_t)in->limit, sizeof *out->events);
    if (out->events == NULL)
        return operation_no_memory(op);
    if (in->backward && in->from != 0 && in->from < last)
        last = in->from;
    const int64_t first = in->backward ? 0 : in->from;
    struct statement s = all ? SQL(op, in->backward ? SQLITE_Q_EVENT_ALL_BACK : SQLITE_Q_EVENT_ALL, first,
                                   last, in->as_of_ms, in->limit)
                             : SQL(op, in->backward ? SQLITE_Q_EVENT_READ_BACK : SQLITE_Q_EVENT_READ,
                                   in->stream, first, last, in->as_of_ms, in->limit);
    while (statement_next(&s)) {
        out->events[out->count] = event_column(&s, arena);
        if (!all)
            out->events[out->count].position = 0;
        out->count++;
    }
    TRY(statement_end(&s));
    if (!all)
        return stream_version(op, in->stream, &out->head);
    return statement_number(statement_begin(op, SQLITE_Q_EVENT_POSITION), &out->head, &found);
}

pawl_status sqlite_events_read(struct store *store, const pawl_read *in, struct arena *arena,
                               struct event_list *out, pawl_error *err) {
    struct event_list list = {0};
    struct operation op = operation_read(store, "events_read", check_events_query(in, err), err);
    return operation_give(&op, read_events(&op, in, arena, &list), out, &list);
}

pawl_status sqlite_events_stamp(struct store *store, int limit, struct stamp_result *out, pawl_error *err) {
    struct stamp_result result = {0};
    bool found = false;
    struct operation op = operation_read(store, "events_stamp", check_stamp(limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_number(statement_begin(&op, SQLITE_Q_EVENT_POSITION), &result.position,
                                          &found); /* the append has given it */
    return operation_give(&op, status, out, &result);
}

static pawl_status newest(struct operation *op, const struct snapshot *of, int64_t version_max,
                          struct arena *arena, struct snapshot *out, bool *found) {
    return row_find(SQL(op, SQLITE_Q_SNAPSHOT_NEWEST, of->stream, of->name, version_max), &snapshot_shape,
                    arena, out, found);
}

static pawl_status put_snapshot(struct operation *op, const struct snapshot *in, enum store_answer *answer) {
    struct snapshot last = {0};
    int64_t head = 0;
    bool found = false;
    TRY(stream_version(op, in->stream, &head));
    TRY(newest(op, in, 0, op->scratch, &last, &found));
    *answer = in->version > head                     ? ANSWER_CONFLICT
              : found && last.version >= in->version ? ANSWER_STALE
                                                     : ANSWER_APPLIED;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    TRY(statement_run(SQL(op, SQLITE_Q_SNAPSHOT_INSERT, ROW_OF(snapshot_new_shape, in), op->now_ms)));
    return statement_run(SQL(op, SQLITE_Q_SNAPSHOT_TRIM, in->stream, in->name, PAWL_SNAPSHOTS_KEPT));
}

pawl_status sqlite_snapshot_put(struct store *store, const struct snapshot *in, enum store_answer *answer,
                                pawl_error *err) {
    enum store_answer result = ANSWER_APPLIED;
    struct operation op = operation_write(store, "snapshot_put", check_snapshot(in, err), err);
    return operation_give(&op, put_snapshot(&op, in, &result), answer, &result);
}

pawl_status sqlite_snapshot_get(struct store *store, pawl_str stream, pawl_str name, int64_t version_max,
                                struct arena *arena, struct snapshot *out, pawl_error *err) {
    struct snapshot result = {.stream = stream, .name = name};
    bool found = false;
    struct operation op = operation_read(store, "snapshot_get", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = newest(&op, &result, version_max, arena, &result, &found);
    if (status == PAWL_OK && !found)
        status = snapshot_missing(stream, name, err);
    return operation_give(&op, status, out, &result);
}
