/* Operations on events: reading by stream or by position. */
#include "operations/events.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/front/fields.h"
#include "operations/tables.h"
#include "view/event.h"
#include "view/names.h"

/* The stream as it was: at an event, or at a time. */
static pawl_status read_as_of(const struct request *request, pawl_read *query, pawl_error *err) {
    pawl_str text = request_text(request, "as_of");
    if (str_absent(text) || uuid_parse(text, &query->as_of_event) ||
        str_to_i64(text, 1, INT64_MAX, &query->as_of_ms))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "events",
                     "%sas%sof is \"%.*s\": write the id of an event or milliseconds since 1970",
                     request->front->dashes, request_is_command(request) ? "-" : "_", STR_ARG(text));
}

/* A command can wait until all have one. */
enum { HTTP_STAMP_MAX = 1000 };

static pawl_status events_stamp(struct request *request, pawl_error *err) {
    struct stamp_result stamped;
    bool command = request_is_command(request);
    pawl_status status;
    do
        status = request->store->ops->events.events_stamp(
            request->store, command ? PAWL_STAMP_MAX : HTTP_STAMP_MAX, &stamped, err);
    while (status == PAWL_OK && stamped.stamped > 0 && command);
    return status;
}

/* The next page begins after the last row, or before it when reading backward. */
static const char *next_of(struct request *request, const pawl_read *query, const struct event_list *found) {
    if (found->count == 0 || found->count != (size_t)query->limit)
        return NULL;
    const pawl_stored_event *last = &found->events[found->count - 1];
    int64_t at = str_absent(query->stream) ? last->position : last->version;
    int64_t from = query->backward ? at - 1 : at + 1;
    return from > 0 ? arena_printf(request->arena, "%" PRId64, from) : NULL;
}

static pawl_status event_list(struct request *request, pawl_error *err) {
    pawl_read query = {.stream = request_text(request, "stream"),
                       .from = request_number(request, "from", 0),
                       .backward = request_bool(request, "backward"),
                       .limit = request_limit(request)};
    struct event_list found = {.count = 0};
    if (!str_absent(request_after(request)))
        query.from = request_after_number(request);
    TRY(read_as_of(request, &query, err));
    if (str_absent(query.stream))
        TRY(events_stamp(request, err));
    TRY(request->store->ops->events.events_read(request->store, &query, request->arena, &found, err));
    return request_rows(request, ROWS_OF(event, found.events, found.count), next_of(request, &query, &found),
                        err);
}

/* ---- Following */

/* There is always a next page; one that would be empty waits for an event, and a command ends with it. */
static pawl_status event_tail(struct request *request, pawl_error *err) {
    bool command = request_is_command(request);
    pawl_read query = {.stream = request_text(request, "stream"),
                       .from = request_number(request, "from", 1),
                       .limit = request_limit(request)};
    struct event_list found = {.count = 0};
    int64_t most_ms = command ? PAWL_HISTORY_MS_MAX : PAWL_WAIT_RESULT_MS_MAX;
    int64_t timeout_ms =
        request_number(request, "timeout_ms", command ? PAWL_HISTORY_MS_MAX : PAWL_WAIT_RESULT_MS_DEFAULT);
    if (!str_absent(request_after(request)))
        query.from = request_after_number(request);
    TRY(str_absent(query.stream) ? events_stamp(request, err) : PAWL_OK);
    TRY(request->store->ops->events.events_read(request->store, &query, request->arena, &found, err));
    struct waiting waiting = {
        .timeout_ms = timeout_ms < most_ms ? timeout_ms : most_ms,
        .what = arena_printf(request->arena, "%.*s from %" PRId64, STR_ARG(query.stream), query.from)};
    if (found.count == 0 && waiting.what != NULL && request->front->wait(request->self, &waiting))
        return PAWL_OK;
    if (found.count > 0) {
        const pawl_stored_event *last = &found.events[found.count - 1];
        query.from = (str_absent(query.stream) ? last->position : last->version) + 1;
    }
    const char *next = found.count > 0 || !command ? request_key(request, query.from) : NULL;
    return request_rows(request, ROWS_OF(event, found.events, found.count), next, err);
}

/* ---- Appending */

/* Of one event, alone or in `events`. */
#define EVENT_FIELD_ROWS                                                                                     \
    {TEXT_FIELD(IN_BODY, "type", PAWL_TYPE_BYTES_MAX, "The type of the event."), .word = true,               \
     .example = "\"OrderCreated\""},                                                                         \
        {FIELD(FIELD_JSON, IN_BODY, "payload", "JSON; - is standard input, @FILE a file. Default: {}."),     \
         .word = true},                                                                                      \
        {FIELD(FIELD_OBJECT, IN_BODY, "metadata", "What is kept beside the payload.")},                      \
        {FIELD(FIELD_UUID, IN_BODY, "id", "The id of the event. Default: a new UUIDv7.")},                   \
        {FIELD(FIELD_UUID, IN_BODY, "correlation_id", "The id that all of one conversation share.")},        \
        {FIELD(FIELD_UUID, IN_BODY, "causation_id", "The id of what caused this.")},                         \
        {TEXT_FIELD(IN_BODY, "traceparent", 100, "The W3C trace context to carry along.")},                  \
        {BOOL_FIELD(IN_BODY, "publish", "Also put an outbox message with the same id, type and payload.")},  \
    {                                                                                                        \
        TEXT_FIELD(IN_BODY, "topic", PAWL_TOPIC_BYTES_MAX, "The topic of that message.")                     \
    }

enum { EVENT_FIELDS = 9 };
static const struct field event_fields[EVENT_FIELDS] = {EVENT_FIELD_ROWS};

/* With a request key the ids are derived from it, so that repeating the call appends nothing twice. */
static pawl_status event_of(struct request *request, const struct value *values, size_t index,
                            pawl_event *event, pawl_error *err) {
    *event = (pawl_event){.type = values[0].text,
                          .payload = STR("{}"),
                          .id = values[3].uuid,
                          .correlation_id = values[4].uuid,
                          .causation_id = values[5].uuid,
                          .traceparent = values[6].text,
                          .publish = values[7].number != 0,
                          .topic = values[8].text};
    if (uuid_is_nil(event->id))
        TRY(request->front->key(request->self, (unsigned)index, &event->id, err));
    if (!str_absent(values[1].text))
        event->payload = values[1].text;
    else if (values[1].tree != NULL)
        TRY(tree_text(request->arena, values[1].tree, 0, &event->payload, err));
    if (values[2].tree != NULL)
        TRY(tree_text(request->arena, values[2].tree, 0, &event->metadata, err));
    return PAWL_OK;
}

static const struct column appended_columns[] = {{COLUMN(TEXT, "stream")},
                                                 {COLUMN(TEXT, "answer")},
                                                 {COLUMN(INT, "first_version")},
                                                 {COLUMN(INT, "version")},
                                                 {COLUMN(UUID, "id")}};
pawl_status events_append(struct request *request, struct events_append *in, pawl_error *err) {
    struct append_result out;
    struct putter putter = request->front->putter(request->self);
    in->expected = request_number(request, "expected", EXPECT_ANY);
    TRY(traced_append(&putter, in, &out, err));
    if (out.answer == ANSWER_CONFLICT && !out.id_known)
        request_hint(request, "Read what is new, decide again, and append after it.");
    if (out.answer == ANSWER_CONFLICT)
        return append_refused("append", in, &out, err);
    return REQUEST_RECORD(request, appended_columns, err, cell_text(in->stream),
                          cell_cstr(answer_name(out.answer)), cell_int(out.first_version),
                          cell_int(out.version), cell_uuid(out.ids[0]));
}

/* Those of `events`, or the one that the other inputs describe. */
static pawl_status event_append(struct request *request, pawl_error *err) {
    static const struct operation one = {.fields = event_fields, .field_count = EVENT_FIELDS};
    const struct tree *items = request_value(request, "events").tree;
    bool alone = request_value(request, "type").present;
    size_t count = items != NULL ? items->count : 1;
    pawl_event *events = arena_array(request->arena, count, sizeof *events);
    struct events_append in = {.stream = request_text(request, "stream"), .events = events, .count = count};
    if (alone == (items != NULL))
        return error_set(err, PAWL_INVALID, "append", "it needs a type, or events, and not both");
    if (events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "append", "no memory for events");
    for (size_t i = 0; i < count; i++) {
        struct value values[EVENT_FIELDS + 1] = {0};
        for (size_t k = 0; alone && k < EVENT_FIELDS; k++)
            values[k] = request_value(request, event_fields[k].name);
        if (!alone)
            TRY(operation_read(&one, "an event", items->items[i], values, err));
        TRY(event_of(request, values, i, &events[i], err));
    }
    return events_append(request, &in, err);
}

static pawl_status append_words(struct request *request, pawl_error *err) {
    bool lines = request_value(request, "ndjson").present || request_value(request, "events").present;
    if (lines != request_value(request, "type").present)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "append", "%s",
                     lines ? "with --ndjson the lines have the types and payloads"
                           : "it needs a type: pawl event append STREAM TYPE [PAYLOAD]");
}

/* ---- The table */

static const struct field list_fields[] = {
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream, by version.")},
    {INT_FIELD(IN_QUERY, "from", 1, 0,
               "The first version (of a stream) or position (of everything) to show.")},
    {BOOL_FIELD(IN_QUERY, "backward", "Newest first.")},
    {TEXT_FIELD(IN_QUERY, "as_of", 64,
                "The stream as of an event id, or as of a time in milliseconds since 1970.")}};
static const struct field tail_fields[] = {
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "Only this stream.")},
    {INT_FIELD(IN_QUERY, "from", 1, 0,
               "The first version (of a stream) or position (of everything) to show.")},
    {DURATION_FIELD(IN_QUERY, "timeout_ms", 1, PAWL_HISTORY_MS_MAX,
                    "How long to wait for the next event. The command waits for ever without it; otherwise "
                    "it is a minute by default, and ten at most."),
     .example = "100"}};
static const struct field append_fields[] = {
    {TEXT_FIELD(IN_PATH, "stream", PAWL_STREAM_BYTES_MAX, "The stream."), .required = true},
    EVENT_FIELD_ROWS,
    {INT_FIELD(IN_BODY, "expected", 0, INT64_MAX,
               "The version that the stream must be at; 0: it must not exist. Default: any.")},
    {FIELD(FIELD_OBJECTS, IN_BODY, "events",
           "Many at once: objects with type and, as needed, payload, metadata, id, correlation_id, "
           "causation_id, "
           "traceparent, publish and topic."),
     .min = 1, .max = PAWL_BATCH_DEFAULT},
    {TEXT_FIELD(IN_TERMINAL, "ndjson", 0, "Many at once: one JSON object per line; - is standard input."),
     .file = true}};

static const struct operation operations[] = {
    {OPERATION("event.append", "Append events to a stream, in one transaction"),
     WORKS(METHOD_POST, "/v1/streams/{stream}/events"), FIELDS(append_fields), RECORD(appended_columns),
     .run = event_append, .check = append_words, .options = OPTION(PAYLOAD_LIMIT), .database = DATABASE_MAKE,
     .details = "All events of one call get versions without a gap. With --expected the stream must be at "
                "that version, "
                "else nothing is written. Repeating a call with the same ids answers duplicate. A line of "
                "--ndjson has "
                "type, payload, metadata, topic, id, correlation_id, causation_id and traceparent.",
     .example = "pawl event append order-1 OrderCreated '{\"total\":12}' --expected 0\n"
                "pawl event append order-1 --ndjson events.ndjson"},
    {OPERATION("event.list", "List the events of a stream, or of all of them by position"),
     READS("/v1/events"), FIELDS(list_fields), .paged = PAGED, COLUMNS(event_columns), .run = event_list,
     .details = "A reader that remembers the last position and continues after it misses nothing, however "
                "late something commits.",
     .example = "pawl event list --stream order-1 --backward --limit 10", .empty = "no events"},
    {OPERATION("event.tail", "Follow a stream, or everything, as JSON lines"), READS("/v1/events/tail"),
     FIELDS(tail_fields), .paged = PAGED_TAIL, COLUMNS(event_columns), .run = event_tail,
     .details = "The command runs until interrupted, until --limit events were shown, or until nothing new "
                "came within --timeout. A program gets what there is, or waits for the next event, and asks "
                "again with the cursor `next`, which it always gets."},
};

const struct operation_table event_operations = OPERATION_TABLE(operations);
