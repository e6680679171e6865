/* Operations on messages: lists, one of them, cancel, send; and the filters of messages and jobs. */
#include "operations/messages.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/front/fields.h"
#include "operations/tables.h"
#include "operations/why/why.h"
#include "view/message.h"
#include "view/names.h"
#include "view/note.h"
#include "view/why/view.h"

struct message_filter message_filter_from(const struct request *request) {
    return (struct message_filter){.kind = (enum store_kind)request_choice(request, "kind"),
                                   .state = request_choice(request, "state"),
                                   .stream = request_text(request, "stream"),
                                   .type = request_text(request, "type"),
                                   .topic = request_text(request, "topic"),
                                   .fingerprint = request_text(request, "fingerprint"),
                                   .lane = (int)request_number(request, "lane", -1),
                                   .after_seq = request_after_number(request)};
}

struct job_filter job_filter_from(const struct request *request) {
    return (struct job_filter){.state = request_choice(request, "state"),
                               .queue = request_text(request, "queue"),
                               .task = request_text(request, "task"),
                               .type = request_text(request, "type"),
                               .key = request_text(request, "key"),
                               .fingerprint = request_text(request, "fingerprint"),
                               .after_id = request_after_number(request)};
}

pawl_status messages_with_id(struct request *request, pawl_uuid id, int state, int kind,
                             struct message_rows *rows, pawl_error *err) {
    rows->count = 0;
    pawl_status status =
        request->store->ops->view.message_find(request->store, id, request->arena, rows, err);
    if (status != PAWL_OK)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if ((state == 0 || (int)rows->rows[i].state == state) &&
            (kind == 0 || (int)rows->rows[i].item.kind == kind))
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
    return PAWL_OK;
}

/* ---- Lists */

/* Rows that a command shows up to its limit; one more is asked for to know whether that is all. */
struct listing {
    struct request *request;
    int64_t left;
    bool more;
};

static pawl_status list_row(void *self, const struct message_row *row, pawl_error *err) {
    (void)err;
    struct listing *listing = self;
    struct cell cells[MESSAGE_COLUMNS];
    listing->more = listing->left-- <= 0;
    if (listing->more)
        return PAWL_OK;
    message_cells(row, cells);
    request_row(listing->request, cells);
    return PAWL_OK;
}

/* Of dead letters the state is known, and what went wrong is what one wants to read. */
static const struct column *columns_for(struct request *request, int state) {
    struct column *columns = arena_array(request->arena, MESSAGE_COLUMNS, sizeof *columns);
    if (columns == NULL || state != STATE_DEAD)
        return message_columns;
    for (size_t i = 0; i < MESSAGE_COLUMNS; i++) {
        columns[i] = message_columns[i];
        if (strcmp(columns[i].key, "state") == 0)
            columns[i].show = SHOW_WIDE;
        if (strcmp(columns[i].key, "error") == 0)
            columns[i].drop = 0;
    }
    return columns;
}

pawl_status messages_list(struct request *request, enum store_kind kind, int state, pawl_error *err) {
    struct message_filter filter = message_filter_from(request);
    filter.kind = kind != 0 ? kind : filter.kind;
    filter.state = state != 0 ? state : filter.state;
    struct listing listing = {request, request_number(request, "limit", PAWL_LIST_DEFAULT), false};
    request_list(request, columns_for(request, state), MESSAGE_COLUMNS);
    if (request_is_command(request)) {
        pawl_status status =
            messages_visit(request->store, filter, listing.left + 1, list_row, &listing, err);
        request_list_said(request, listing.more);
        return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
    }
    struct message_rows found;
    filter.before_ms = request_number(request, "before_ms", 0);
    filter.limit = request_limit(request);
    pawl_status status =
        request->store->ops->view.messages(request->store, &filter, request->arena, &found, err);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        status = list_row(&listing, &found.rows[i], err);
    return status == PAWL_OK ? request_list_end_number(request, found.next_seq, err) : status;
}

static pawl_status message_list(struct request *request, pawl_error *err) {
    return messages_list(request, 0, 0, err);
}
static pawl_status dead_list(struct request *request, pawl_error *err) {
    return messages_list(request, 0, STATE_DEAD, err);
}
static pawl_status history_list(struct request *request, pawl_error *err) {
    return messages_list(request, 0, STATE_DONE, err);
}

static pawl_status dead_groups(struct request *request, pawl_error *err) {
    bool limited = request_value(request, "limit").present, cut = false;
    int limit = request_is_command(request) && !limited ? PAWL_LIST_MAX : request_limit(request);
    int kind, last;
    request_kinds(request, &kind, &last);
    request_list(request, group_columns, GROUP_COLUMNS);
    for (; kind <= last; kind++) {
        struct dead_groups found = {.count = 0};
        pawl_status status = request->store->ops->view.dead_groups(request->store, (enum store_kind)kind,
                                                                   limit, request->arena, &found, err);
        if (status != PAWL_OK)
            return status;
        cut = cut || found.count == (size_t)limit;
        request_more_rows(request, ROWS_OF(group, found.groups, found.count));
    }
    if (cut && !limited)
        request_below(
            request, arena_printf(request->arena, "the first %d groups of a kind; there may be more", limit));
    return request_list_end(request, NULL, err);
}

/* ---- One */

/* An outbox may hold an id more than once: a list for programs, records one below the other for people. */
static pawl_status show_messages(struct request *request, int state, const char *noun, pawl_error *err) {
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    pawl_status status = request_message_id(request, "id", &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(request, id, state, 0, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "messages", "there is no %s with id %.*s", noun,
                           STR_ARG(request_text(request, "id")));
    if (status != PAWL_OK)
        return status;
    if (!request_is_command(request) || (rows.count > 1 && request_for_program(request))) {
        REQUEST_CELLS(request, message, rows.rows, rows.count);
        return request_list_end(request, NULL, err);
    }
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++) {
        struct cell cells[MESSAGE_COLUMNS];
        message_cells(&rows.rows[i], cells);
        if (i > 0)
            request_say(request, "");
        status = request_record(request, message_columns, MESSAGE_COLUMNS, cells, err);
    }
    return status;
}

pawl_status message_show(struct request *request, pawl_error *err) {
    return show_messages(request, 0, "message", err);
}
static pawl_status dead_show(struct request *request, pawl_error *err) {
    return show_messages(request, STATE_DEAD, "dead letter", err);
}

static pawl_status message_explain(struct request *request, pawl_error *err) {
    pawl_uuid id;
    pawl_status status = request_message_id(request, "id", &id, err);
    if (status == PAWL_OK)
        status = why_message(request, id, err);
    return status == PAWL_NOT_FOUND
               ? error_set(err, status, "why",
                           "there is no message with id %.*s; it may be done and no longer kept",
                           STR_ARG(request_text(request, "id")))
               : status;
}

static pawl_status check_state(struct request *request, pawl_uuid id, pawl_error *err) {
    struct message_rows rows = {.count = 0};
    pawl_str text = request_text(request, "id");
    pawl_status status =
        request->store->ops->view.message_find(request->store, id, request->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "cancel", "there is no message with id %.*s", STR_ARG(text));
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].state != STATE_DONE && rows.rows[i].state != STATE_DEAD)
            return PAWL_OK;
    return error_set(err, PAWL_CONFLICT, "cancel", "message %.*s has ended already", STR_ARG(text));
}

static pawl_status message_cancel(struct request *request, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    pawl_status status = request_message_id(request, "id", &id, err);
    if (status == PAWL_OK)
        status = check_state(request, id, err);
    if (status != PAWL_OK)
        return status;
    struct pause_row row = {.scope = PAUSE_MESSAGE,
                            .name = str_from(uuid_format(id, text)),
                            .actor = request->front->actor(request->self),
                            .reason = request_text(request, "reason")};
    status = request->store->ops->relay->pause_set(request->store, &row, err);
    if (status == PAWL_OK)
        status = request_note(request, "cancel", text, err);
    if (status == PAWL_OK)
        request_say(request, "cancelled; its worker is woken to see it");
    return status;
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

static pawl_status message_of(struct request *request, const struct tree *object, pawl_outgoing *message,
                              pawl_error *err) {
    struct value values[MESSAGE_FIELDS] = {0};
    pawl_status status = fields_read(object, "a message", message_fields, MESSAGE_FIELDS, values, err);
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
    if (values[1].tree != NULL)
        status = tree_text(request->arena, values[1].tree, 0, &message->payload, err);
    if (status == PAWL_OK && values[4].tree != NULL)
        status = tree_text(request->arena, values[4].tree, 0, &message->headers, err);
    return status;
}

static const struct column sent_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "answer")}};

static pawl_status put_messages(struct request *request, pawl_error *err) {
    const struct tree *items = request_value(request, "messages").tree;
    pawl_outgoing *messages = arena_array(request->arena, items->count, sizeof *messages);
    struct messages_put put = {.kind = request_choice(request, "kind") == KIND_INBOX ? KIND_INBOX
                                                                                     : KIND_OUTBOX,
                               .messages = messages,
                               .count = items->count,
                               .consumer = request_text(request, "consumer")};
    struct put_result result;
    struct putter putter = request->front->putter(request->self);
    pawl_status status = messages != NULL ? request->front->key(request->self, 0, &put.request, err)
                                          : error_set(err, PAWL_NO_MEMORY, "http", "no memory for messages");
    for (size_t i = 0; status == PAWL_OK && i < items->count; i++)
        status = message_of(request, items->items[i], &messages[i], err);
    if (status == PAWL_OK)
        status = traced_put(&putter, &put, &result, err);
    if (status != PAWL_OK)
        return status;
    request_list(request, sent_columns, COLUMN_COUNT(sent_columns));
    for (size_t i = 0; i < items->count; i++)
        request_row(request,
                    (struct cell[]){cell_uuid(result.ids[i]), cell_cstr(answer_name(result.answers[i]))});
    return request_list_end(request, NULL, err);
}

/* ---- The tables */

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

static const struct field group_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", KIND_CHOICES, "Only of this kind.")}, FIELD_ROW_LIMIT};

static const struct operation messages[] = {
    {COMMAND("messages cancel", "Cancel a waiting or running message: it becomes a dead letter"),
     .arguments = "ID", .flags = FLAG(REASON), .check = request_check_ids, .writes = true,
     .details = "The worker that runs it is woken and notices immediately (behind a pooler: with its next "
                "heartbeat): a program gets SIGTERM and two seconds later SIGKILL, a call to an endpoint is "
                "aborted, and pawl_cancelled returns true to a C function. A waiting message ends when it is "
                "claimed, without running. It becomes a dead letter, and the policy of its stream applies; a "
                "message that completes first stays completed. pawl resume message ID undoes it until a "
                "worker has acted on it.",
     .example = "pawl messages cancel 01890a5d-ac96-774b-bcce-b302099a8057 --reason 'wrong address'",
     .run = message_cancel},
    {COMMAND("messages list", "List messages in order of their sequence number"), .alias = "messages",
     .flags = FLAG(KIND) | MESSAGE_LIST_FLAGS,
     .details = "Filters are combined. Without --limit at most 100 are shown; give the last seq to --after "
                "for the next ones.",
     .example = "pawl messages list --stream order-1\npawl messages list --state blocked -o ndjson | jq .id",
     .empty = "no messages", READS("/v1/messages", "listMessages", "messages"), FIELDS(list_fields),
     COLUMNS(message_columns), .run = message_list},
    {COMMAND("messages show", "Show one message with its payload, whatever state it is in"),
     .arguments = "ID", .check = request_check_ids,
     .details = "An outbox may hold an id more than once: then each of them is shown, in JSON as an array.",
     READS("/v1/messages/{id}", "readMessage", "messages"),
     .route_summary = "Show every message with this id; an outbox may hold one twice", FIELDS(id_fields),
     COLUMNS(message_columns), .run = message_show},
    {.summary = "What the message is waiting for, and what to do",
     READS("/v1/messages/{id}/why", "explainMessage", "messages"),
     FIELDS(id_fields),
     RECORD(why_view_columns),
     .run = message_explain},
    {.summary = "Send messages, in one transaction",
     POSTS("/v1/messages", "putMessages", "messages"),
     .unaudited = true,
     FIELDS(put_fields),
     COLUMNS(sent_columns),
     .run = put_messages},
};

static const struct operation dead[] = {
    {COMMAND("dead list", "List dead letters: messages that failed for good"), .alias = "dead",
     .flags = FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(FINGERPRINT) | FLAG(LIMIT) |
              FLAG(AFTER),
     .details = "The reason is attempts (the last attempt failed), permanent (the handler said that no "
                "attempt can succeed), killed (its worker died with it too often), cancelled (a person ended "
                "it; the error says who and why) or parked (it waits for a dead letter of its stream, and is "
                "redriven with it).",
     .example = "pawl dead list --type order.created", .empty = "no dead letters", .run = dead_list},
    {COMMAND("dead show", "Show one dead letter with its payload and its error"), .arguments = "ID",
     .check = request_check_ids, .run = dead_show},
    {COMMAND("dead groups", "Count dead letters by cause"), .flags = FLAG(KIND) | FLAG(LIMIT),
     .limit_other = true,
     .details = "Errors that differ only in numbers and names have the same fingerprint; pawl dead redrive "
                "--fingerprint takes it.",
     .empty = "no dead letters", READS("/v1/dead/groups", "listDeadGroups", "dead letters"),
     FIELDS(group_fields), COLUMNS(group_columns), .run = dead_groups},
};

static const struct operation history[] = {
    {COMMAND("history list", "List completed messages, for as long as they are kept"), .alias = "history",
     .flags = FLAG(KIND) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "How long they are kept is the setting history (pawl settings).",
     .empty = "no history: nothing was done, or none of it is kept", .run = history_list},
};

const struct operation_table message_operations = OPERATION_TABLE(messages);
const struct operation_table dead_operations = OPERATION_TABLE(dead);
const struct operation_table history_operations = OPERATION_TABLE(history);
