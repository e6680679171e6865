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
    query->as_of_ms = request_number(request, "as_of_ms", 0);
    if (str_absent(text) || uuid_parse(text, &query->as_of_event) ||
        str_to_i64(text, 1, INT64_MAX, &query->as_of_ms))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "events",
                     "--as-of is \"%.*s\": write the id of an event or milliseconds since 1970",
                     STR_ARG(text));
}

/* A command can wait until all have one. */
enum { HTTP_STAMP_MAX = 1000 };

pawl_status events_stamp(struct request *request, pawl_error *err) {
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

static pawl_status read_events(struct request *request, pawl_str stream, pawl_error *err) {
    pawl_read query = {.stream = stream,
                       .from = request_number(request, "from", 0),
                       .backward = request_bool(request, "backward"),
                       .limit = request_limit(request)};
    struct event_list found = {.count = 0};
    if (!str_absent(request_after(request)))
        query.from = request_after_number(request);
    pawl_status status = read_as_of(request, &query, err);
    if (status == PAWL_OK)
        status = request->store->ops->events.events_read(request->store, &query, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(event, found.events, found.count),
                                            next_of(request, &query, &found), err)
                             : status;
}

static pawl_status event_read(struct request *request, pawl_error *err) {
    return read_events(request, request_either(request, "name", "stream"), err);
}

static pawl_status event_all(struct request *request, pawl_error *err) {
    pawl_status status = events_stamp(request, err);
    return status == PAWL_OK ? read_events(request, (pawl_str){NULL, 0}, err) : status;
}

/* ---- Appending */

static const struct field event_fields[] = {
    {.name = "type", .in = IN_BODY, .type = FIELD_TEXT, .required = true, .max = PAWL_TYPE_BYTES_MAX},
    {.name = "payload", .in = IN_BODY, .type = FIELD_JSON},
    {.name = "metadata", .in = IN_BODY, .type = FIELD_OBJECT},
    {.name = "id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "correlation_id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "causation_id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "traceparent", .in = IN_BODY, .type = FIELD_TEXT, .max = 100},
    {.name = "publish", .in = IN_BODY, .type = FIELD_BOOL},
    {.name = "topic", .in = IN_BODY, .type = FIELD_TEXT, .max = PAWL_TOPIC_BYTES_MAX},
};

enum { EVENT_FIELDS = sizeof event_fields / sizeof *event_fields };

/* With a request key the ids are derived from it, so that repeating the call appends nothing twice. */
static pawl_status event_of(struct request *request, const struct tree *object, size_t index,
                            pawl_event *event, pawl_error *err) {
    struct value values[EVENT_FIELDS] = {0};
    pawl_status status = fields_read(object, "an event", event_fields, EVENT_FIELDS, values, err);
    if (status != PAWL_OK)
        return status;
    *event = (pawl_event){.type = values[0].text,
                          .payload = STR("{}"),
                          .id = values[3].uuid,
                          .correlation_id = values[4].uuid,
                          .causation_id = values[5].uuid,
                          .traceparent = values[6].text,
                          .publish = values[7].number != 0,
                          .topic = values[8].text};
    if (uuid_is_nil(event->id))
        status = request->front->key(request->self, (unsigned)index, &event->id, err);
    if (status == PAWL_OK && values[1].tree != NULL)
        status = tree_text(request->arena, values[1].tree, 0, &event->payload, err);
    if (status == PAWL_OK && values[2].tree != NULL)
        status = tree_text(request->arena, values[2].tree, 0, &event->metadata, err);
    return status;
}

static const struct column appended_columns[] = {{COLUMN(TEXT, "stream")},
                                                 {COLUMN(TEXT, "answer")},
                                                 {COLUMN(INT, "first_version")},
                                                 {COLUMN(INT, "version")},
                                                 {COLUMN(UUID, "id")}};
enum { APPENDED_OVER_HTTP = 4 }; /* the ids are the caller's, or derived from its key */

pawl_status events_append(struct request *request, struct events_append *in, pawl_error *err) {
    struct append_result out;
    struct putter putter = request->front->putter(request->self);
    bool command = request_is_command(request);
    in->expected = request_number(request, "expected", EXPECT_ANY);
    pawl_status status = traced_append(&putter, in, &out, err);
    if (status != PAWL_OK)
        return status;
    if (out.answer == ANSWER_CONFLICT && !out.id_known)
        request_hint(request, "Read what is new, decide again, and append after it.");
    if (out.answer == ANSWER_CONFLICT)
        return append_refused(command ? "append" : "events", in, &out, err);
    return request_record(
        request, appended_columns, command ? COLUMN_COUNT(appended_columns) : APPENDED_OVER_HTTP,
        (struct cell[]){cell_text(in->stream), cell_cstr(answer_name(out.answer)),
                        cell_int(out.first_version), cell_int(out.version), cell_uuid(out.ids[0])},
        err);
}

static pawl_status append_objects(struct request *request, pawl_error *err) {
    const struct tree *items = request_value(request, "events").tree;
    pawl_event *events = arena_array(request->arena, items->count, sizeof *events);
    struct events_append in = {
        .stream = request_text(request, "name"), .events = events, .count = items->count};
    pawl_status status = events != NULL ? PAWL_OK
                                        : error_set(err, PAWL_NO_MEMORY, "http", "no memory for events");
    for (size_t i = 0; status == PAWL_OK && i < items->count; i++)
        status = event_of(request, items->items[i], i, &events[i], err);
    return status == PAWL_OK ? events_append(request, &in, err) : status;
}

/* ---- The table */

#define READ_FIELDS                                                                                          \
    {INT_FIELD(IN_QUERY, "from", 1, 0, "The first version or position wanted.")},                            \
        {FIELD(FIELD_BOOL, IN_QUERY, "backward", "Newest first.")},                                          \
        {INT_FIELD(IN_QUERY, "as_of_ms", 1, 0, "Only events appended at or before this time.")},             \
        FIELD_ROW_CURSOR, FIELD_ROW_LIMIT
static const struct field all_fields[] = {READ_FIELDS};
static const struct field stream_fields[] = {FIELD_ROW_NAME("The stream."), READ_FIELDS};
static const struct field append_fields[] = {
    FIELD_ROW_NAME("The stream."),
    {INT_FIELD(IN_BODY, "expected", 0, INT64_MAX,
               "The version that the stream must have; 0: it must not exist.")},
    {.name = "events",
     .in = IN_BODY,
     .type = FIELD_OBJECTS,
     .required = true,
     .min = 1,
     .max = PAWL_BATCH_DEFAULT,
     .help = "Objects with type and, as needed, payload, metadata, id, correlation_id, causation_id, "
             "traceparent, publish and topic."}};

static const struct operation operations[] = {
    {COMMAND("events read", "Show the events of a stream"), .arguments = "STREAM",
     .flags = FLAG(FROM) | FLAG(BACKWARD) | FLAG(AS_OF) | FLAG(LIMIT),
     .example = "pawl events read order-1 --backward --limit 10", .empty = "no events",
     READS("/v1/streams/{name}/events", "listStreamEvents", "events"), FIELDS(stream_fields),
     COLUMNS(event_columns), .run = event_read},
    {COMMAND("events all", "Show the events of all streams, by position"),
     .flags = FLAG(FROM) | FLAG(BACKWARD) | FLAG(LIMIT), .writes = true,
     .details = "A reader that remembers the last position and continues after it misses nothing, however "
                "late something commits.",
     .empty = "no events", READS("/v1/events", "listEvents", "events"), FIELDS(all_fields),
     COLUMNS(event_columns), .run = event_all},
    {.summary = "Append events to a stream, in one transaction",
     POSTS("/v1/streams/{name}/events", "appendEvents", "events"),
     .unaudited = true,
     FIELDS(append_fields),
     .shape = ANSWER_RECORD,
     .columns = appended_columns,
     .column_count = APPENDED_OVER_HTTP,
     .run = append_objects},
};

const struct operation_table event_operations = OPERATION_TABLE(operations);
