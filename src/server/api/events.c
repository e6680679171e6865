/* Routes of events: reading by stream or by position, appending. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/event.h"
#include "view/names.h"

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

/* With an Idempotency-Key the ids are derived from it, so that repeating the call appends nothing twice. */
static pawl_status event_of(struct call *call, const struct tree *object, size_t index, pawl_event *event,
                            pawl_error *err) {
    struct value values[EVENT_FIELDS] = {0};
    pawl_status status = call_object(object, "an event", event_fields, EVENT_FIELDS, values, err);
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
        status = call_request(call, (unsigned)index, &event->id, err);
    if (status == PAWL_OK)
        status = call_tree_text(call->arena, values[1].tree, &event->payload, err);
    if (status == PAWL_OK)
        status = call_tree_text(call->arena, values[2].tree, &event->metadata, err);
    return status;
}

static pawl_status append(struct call *call, pawl_error *err) {
    const struct tree *items = call_value(call, "events")->tree;
    pawl_event *events = arena_array(call->arena, items->count, sizeof *events);
    struct events_append in = {.stream = call_text(call, "name"),
                               .expected = call_int(call, "expected", EXPECT_ANY),
                               .events = events,
                               .count = items->count};
    struct append_result out;
    pawl_status status = events != NULL ? PAWL_OK
                                        : error_set(err, PAWL_NO_MEMORY, "http", "no memory for events");
    for (size_t i = 0; status == PAWL_OK && i < items->count; i++)
        status = event_of(call, items->items[i], i, &events[i], err);
    struct putter putter = call_putter(call);
    if (status == PAWL_OK)
        status = traced_append(&putter, &in, &out, err);
    if (status != PAWL_OK)
        return status;
    if (out.answer == ANSWER_CONFLICT)
        return append_refused("events", &in, &out, err);
    call_record(call, (struct cell[]){cell_text(in.stream), cell_cstr(answer_name(out.answer)),
                                      cell_int(out.first_version), cell_int(out.version)});
    return PAWL_OK;
}

static const struct column appended_columns[] = {{COLUMN(TEXT, "stream")},
                                                 {COLUMN(TEXT, "answer")},
                                                 {COLUMN(INT, "first_version")},
                                                 {COLUMN(INT, "version")}};

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

static const struct route routes[] = {
    {READS("/v1/events", "listEvents"), .tag = "events", .summary = "The events of all streams, by position",
     FIELDS(all_fields), COLUMNS(event_columns), .operation = op_event_all},
    {READS("/v1/streams/{name}/events", "listStreamEvents"), .tag = "events",
     .summary = "The events of one stream, by version", FIELDS(stream_fields), COLUMNS(event_columns),
     .operation = op_event_read},
    {ACTS(METHOD_POST, "/v1/streams/{name}/events", "appendEvents"), .tag = "events",
     .summary = "Append events to a stream, in one transaction", .unaudited = true, FIELDS(append_fields),
     .shape = ANSWER_RECORD, COLUMNS(appended_columns), .run = append},
};

const struct route_table event_routes = ROUTE_TABLE(routes);
