/* Messages: listed, shown, explained, sent. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/message_view.h"
#include "cli/names.h"
#include "server/call.h"
#include "server/fields.h"
#include "server/ids.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct message_filter filter = {
        .kind = (enum store_kind)call_choice(call, "kind"),
        .state = call_choice(call, "state"),
        .stream = call_text(call, "stream"),
        .type = call_text(call, "type"),
        .topic = call_text(call, "topic"),
        .fingerprint = call_text(call, "fingerprint"),
        .lane = (int)call_int(call, "lane", -1),
        .before_ms = call_int(call, "before_ms", 0),
        .after_seq = call_cursor_number(call),
        .limit = call_limit(call),
    };
    struct message_rows rows;
    pawl_status status = call->store->ops->view.messages(call->store, &filter, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[MESSAGE_COLUMNS];
        message_cells(&rows.rows[i], cells);
        call_row(call, cells);
    }
    const char *next = rows.count == (size_t)filter.limit
                           ? arena_printf(call->arena, "%" PRId64, rows.rows[rows.count - 1].item.seq)
                           : NULL;
    return call_list_end(call, next, err);
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
    call_list(call);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[MESSAGE_COLUMNS];
        message_cells(&rows.rows[i], cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

static const struct field list_fields[] = {
    {.name = "kind", .type = FIELD_CHOICE, .choices = KIND_CHOICES, .help = "Only of this kind."},
    {.name = "state",
     .type = FIELD_CHOICE,
     .choices = "ready|leased|scheduled|blocked|dead|done",
     .help = "Only in this state; without it, any but done."},
    {.name = "stream", .type = FIELD_TEXT, .max = PAWL_STREAM_BYTES_MAX, .help = "Only of this stream."},
    {.name = "type", .type = FIELD_TEXT, .max = PAWL_TYPE_BYTES_MAX, .help = "Only of this type."},
    {.name = "topic", .type = FIELD_TEXT, .max = PAWL_TOPIC_BYTES_MAX, .help = "Only with this topic."},
    {.name = "fingerprint",
     .type = FIELD_TEXT,
     .max = PAWL_NAME_BYTES_MAX,
     .help = "Only dead letters of this group."},
    {.name = "lane", .type = FIELD_INT, .max = PAWL_LANES_MAX, .help = "Only of this lane."},
    {.name = "before_ms", .type = FIELD_INT, .min = 1, .help = "Dead and done ones: ended before this time."},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT,
};

static const struct field id_fields[] = {
    {.name = "id",
     .in = IN_PATH,
     .type = FIELD_ID,
     .required = true,
     .help = "The id, or the first 8 or more characters of it when no other message begins with them."}};

static const struct route routes[] = {
    {.method = METHOD_GET,
     .path = "/v1/messages",
     .credential = CREDENTIAL_VIEWER,
     .name = "listMessages",
     .tag = "messages",
     .summary = "List messages, dead letters among them, by sequence number",
     FIELDS(list_fields),
     .shape = ANSWER_LIST,
     .columns = message_columns,
     .column_count = MESSAGE_COLUMNS,
     .run = list},
    {.method = METHOD_GET,
     .path = "/v1/messages/{id}",
     .credential = CREDENTIAL_VIEWER,
     .name = "readMessage",
     .tag = "messages",
     .summary = "Show every message with this id; an outbox may hold one twice",
     FIELDS(id_fields),
     .shape = ANSWER_LIST,
     .columns = message_columns,
     .column_count = MESSAGE_COLUMNS,
     .run = show},
};

const struct route_table message_routes = {routes, sizeof routes / sizeof *routes};
