/* Routes of messages: list, show, explain, send. */

#include "operations/messages.h"
#include "base/error.h"
#include "base/str.h"
#include "server/api/fields.h"
#include "server/api/ids.h"
#include "server/http/call.h"
#include "view/message.h"
#include "view/names.h"
#include "view/why/story.h"
#include "view/why/view.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct request request = http_request(call);
    struct message_filter filter = message_filter_from(&request);
    filter.before_ms = call_int(call, "before_ms", 0);
    filter.limit = call_limit(call);
    struct message_rows rows;
    pawl_status status = call->store->ops->view.messages(call->store, &filter, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, message, rows.rows, rows.count);
    return call_list_end_number(call, rows.next_seq, err);
}

static pawl_status show(struct call *call, pawl_error *err) {
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    pawl_status status = ids_message(call, "id", &id, err);
    if (status == PAWL_OK)
        status = call->store->ops->view.message_find(call->store, id, call->arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "messages", "there is no message with id %.*s",
                           STR_ARG(call_text(call, "id")));
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, message, rows.rows, rows.count);
    return call_list_end(call, NULL, err);
}

/* ---- Why */

static pawl_status explain(struct call *call, pawl_error *err) {
    pawl_uuid id;
    struct why why;
    struct why_pause pause;
    struct buf texts[2];
    pawl_status status = ids_message(call, "id", &id, err);
    if (status == PAWL_OK)
        status = why_read(call->store, id, call->arena, &why, &pause, err);
    if (status == PAWL_NOT_FOUND)
        return error_set(err, status, "why",
                         "there is no message with id %.*s; it may be done and no longer kept",
                         STR_ARG(call_text(call, "id")));
    if (status != PAWL_OK)
        return status;
    if (!call_sees_content(call))
        why.row.error = (pawl_str){NULL, 0};
    buf_init(&texts[0], 0);
    buf_init(&texts[1], 0);
    why_story(&why, &pause, &texts[0], &texts[1]);
    struct cell cells[WHY_COLUMNS];
    why_cells(&why, &pause, texts, cells);
    call_record(call, cells);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return PAWL_OK;
}

/* ---- Sending */

static const struct field message_fields[] = {
    {.name = "type", .in = IN_BODY, .type = FIELD_TEXT, .required = true, .max = PAWL_TYPE_BYTES_MAX},
    {.name = "payload", .in = IN_BODY, .type = FIELD_JSON},
    {.name = "stream", .in = IN_BODY, .type = FIELD_TEXT, .max = PAWL_STREAM_BYTES_MAX},
    {.name = "topic", .in = IN_BODY, .type = FIELD_TEXT, .max = PAWL_TOPIC_BYTES_MAX},
    {.name = "headers", .in = IN_BODY, .type = FIELD_OBJECT},
    {.name = "id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "correlation_id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "causation_id", .in = IN_BODY, .type = FIELD_UUID},
    {.name = "traceparent", .in = IN_BODY, .type = FIELD_TEXT, .max = 100},
};

enum { MESSAGE_FIELDS = sizeof message_fields / sizeof *message_fields };

static pawl_status message_of(struct call *call, const struct tree *object, pawl_outgoing *message,
                              pawl_error *err) {
    struct value values[MESSAGE_FIELDS] = {0};
    pawl_status status = call_object(object, "a message", message_fields, MESSAGE_FIELDS, values, err);
    if (status != PAWL_OK)
        return status;
    *message = (pawl_outgoing){.type = values[0].text,
                               .payload = STR("{}"),
                               .stream = values[2].text,
                               .topic = values[3].text,
                               .id = values[5].uuid,
                               .correlation_id = values[6].uuid,
                               .causation_id = values[7].uuid,
                               .traceparent = values[8].text};
    status = call_tree_text(call->arena, values[1].tree, &message->payload, err);
    if (status == PAWL_OK)
        status = call_tree_text(call->arena, values[4].tree, &message->headers, err);
    return status;
}

static const struct column sent_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "answer")}};

static pawl_status put_messages(struct call *call, pawl_error *err) {
    const struct tree *items = call_value(call, "messages")->tree;
    pawl_outgoing *messages = arena_array(call->arena, items->count, sizeof *messages);
    struct messages_put put = {.kind = call_choice(call, "kind") == KIND_INBOX ? KIND_INBOX : KIND_OUTBOX,
                               .messages = messages,
                               .count = items->count,
                               .consumer = call_text(call, "consumer")};
    struct put_result result;
    pawl_status status = messages != NULL ? call_request(call, 0, &put.request, err)
                                          : error_set(err, PAWL_NO_MEMORY, "http", "no memory for messages");
    for (size_t i = 0; status == PAWL_OK && i < items->count; i++)
        status = message_of(call, items->items[i], &messages[i], err);
    struct putter putter = call_putter(call);
    if (status == PAWL_OK)
        status = traced_put(&putter, &put, &result, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < items->count; i++) {
        struct cell cells[] = {cell_uuid(result.ids[i]), cell_cstr(answer_name(result.answers[i]))};
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

/* ---- Fields and routes */

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", KIND_CHOICES, "Only of this kind.")},
    {CHOICE_FIELD(IN_QUERY, "state", "ready|leased|scheduled|blocked|dead|done",
                  "Only in this state; any except done by default.")},
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},
    {TEXT_FIELD(IN_QUERY, "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},
    {TEXT_FIELD(IN_QUERY, "topic", PAWL_TOPIC_BYTES_MAX, "Only with this topic.")},
    {TEXT_FIELD(IN_QUERY, "fingerprint", PAWL_NAME_BYTES_MAX, "Only dead letters of this group.")},
    {INT_FIELD(IN_QUERY, "lane", 0, PAWL_LANES_MAX, "Only of this lane.")},
    {INT_FIELD(IN_QUERY, "before_ms", 1, 0, "Dead and done ones: ended before this time.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT,
};

static const struct field id_fields[] = {FIELD_ROW_MESSAGE_ID};

static const struct field put_fields[] = {
    {CHOICE_FIELD(IN_BODY, "kind", "outbox|inbox", "Where they go; the outbox by default.")},
    {TEXT_FIELD(IN_BODY, "consumer", PAWL_NAME_BYTES_MAX,
                "Inbox: the consumer, the name that ids are deduplicated under.")},
    {.name = "messages",
     .in = IN_BODY,
     .type = FIELD_OBJECTS,
     .required = true,
     .min = 1,
     .max = PAWL_BATCH_DEFAULT,
     .help = "Objects with type and, as needed, payload, stream, topic, headers, id, correlation_id, "
             "causation_id and traceparent."}};

static const struct route routes[] = {
    {READS("/v1/messages", "listMessages"), .tag = "messages",
     .summary = "List messages, including dead letters, by sequence number", FIELDS(list_fields),
     COLUMNS(message_columns), .run = list},
    {ACTS(METHOD_POST, "/v1/messages", "putMessages"), .tag = "messages",
     .summary = "Send messages, in one transaction", .unaudited = true, FIELDS(put_fields),
     COLUMNS(sent_columns), .run = put_messages},
    {READS("/v1/messages/{id}", "readMessage"), .tag = "messages",
     .summary = "Show every message with this id; an outbox may hold one twice", FIELDS(id_fields),
     COLUMNS(message_columns), .run = show},
    {READS("/v1/messages/{id}/why", "explainMessage"), .tag = "messages",
     .summary = "What the message is waiting for, and what to do", FIELDS(id_fields), .shape = ANSWER_RECORD,
     COLUMNS(why_view_columns), .run = explain},
};

const struct route_table message_routes = ROUTE_TABLE(routes);
