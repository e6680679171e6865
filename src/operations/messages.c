/* Looking at messages, cancelling them; and the filters of messages and jobs. */
#include "operations/messages.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "operations/why/why.h"
#include "view/message.h"
#include "view/names.h"
#include "view/note.h"
#include "view/why/view.h"
#include "view/work.h"

struct message_filter message_filter_from(const struct request *request) {
    return (struct message_filter){.kind = (enum store_kind)request_choice(request, "kind"),
                                   .state = request_choice(request, "state"),
                                   .stream = request_text(request, "stream"),
                                   .type = request_text(request, "type"),
                                   .topic = request_text(request, "topic"),
                                   .fingerprint = request_text(request, "fingerprint"),
                                   .lane = (int)request_number(request, "lane", -1),
                                   .before_ms = request_number(request, "before_ms", 0),
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
    TRY(request->store->ops->view.message_find(request->store, id, request->arena, rows, err));
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if ((state == 0 || (int)rows->rows[i].state == state) &&
            (kind == 0 || (int)rows->rows[i].item.kind == kind))
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
    return PAWL_OK;
}

bool message_filtered(const struct message_filter *filter) {
    return filter->kind != 0 || !str_absent(filter->stream) || !str_absent(filter->type) ||
           !str_absent(filter->topic) || !str_absent(filter->fingerprint) || filter->before_ms != 0;
}

/* ---- Looking */

/* Leaves out what was put before the input since_ms. */
static void keep_since(const struct request *request, struct message_rows *found) {
    int64_t since_ms = request_number(request, "since_ms", 0);
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++)
        if (found->rows[i].item.put_ms >= since_ms)
            found->rows[kept++] = found->rows[i];
    found->count = kept;
}

/* With the id: an outbox may hold one more than once. */
static pawl_status list_of_id(struct request *request, const struct message_filter *filter, pawl_error *err) {
    struct message_rows rows = {.count = 0};
    pawl_uuid id;
    TRY(request_message_id(request, request_text(request, "id"), &id, err));
    TRY(messages_with_id(request, id, filter->state, (int)filter->kind, &rows, err));
    keep_since(request, &rows);
    REQUEST_CELLS(request, message, rows.rows, rows.count);
    return request_list_end(request, NULL, err);
}

static pawl_status message_list(struct request *request, pawl_error *err) {
    struct message_filter filter = message_filter_from(request);
    struct message_rows found;
    if (request_value(request, "id").present)
        return list_of_id(request, &filter, err);
    filter.limit = request_limit(request);
    TRY(request->store->ops->view.messages(request->store, &filter, request->arena, &found, err));
    keep_since(request, &found); /* so a page may be short */
    REQUEST_CELLS(request, message, found.rows, found.count);
    return request_list_end_number(request, found.next_seq, err);
}

static pawl_status message_failures(struct request *request, pawl_error *err) {
    int kind, last, limit = request_limit(request);
    request_kinds(request, &kind, &last);
    request_list(request, group_columns, GROUP_COLUMNS);
    for (; kind <= last; kind++) {
        struct dead_groups found = {.count = 0};
        TRY(request->store->ops->view.dead_groups(request->store, (enum store_kind)kind, limit,
                                                  request->arena, &found, err));
        request_more_rows(request, ROWS_OF(group, found.groups, found.count));
    }
    return request_list_end(request, NULL, err);
}

/* The newest with the id. */
static pawl_status message_show(struct request *request, pawl_error *err) {
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    struct cell cells[MESSAGE_COLUMNS];
    pawl_str text = request_text(request, "id");
    TRY(request_message_id(request, text, &id, err));
    TRY(messages_with_id(request, id, 0, request_choice(request, "kind"), &rows, err));
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "message", "there is no message with id %.*s", STR_ARG(text));
    message_cells(&rows.rows[rows.count - 1], cells);
    if (rows.count > 1)
        request_below(request,
                      arena_printf(request->arena,
                                   "%zu messages have this id: pawl message list --id shows them all",
                                   rows.count));
    return request_record(request, message_columns, MESSAGE_COLUMNS, cells, err);
}

/* As the executions of a job: also of a message that is done. */
static pawl_status message_attempts(struct request *request, pawl_error *err) {
    pawl_uuid id;
    struct attempt_rows found = {.count = 0};
    TRY(request_message_id(request, request_text(request, "id"), &id, err));
    TRY(request->store->ops->view.attempts(request->store, id, request->arena, &found, err));
    REQUEST_CELLS(request, attempt, found.rows, found.count);
    return request_list_end(request, NULL, err);
}

static pawl_status message_explain(struct request *request, pawl_error *err) {
    pawl_uuid id;
    pawl_status status = request_message_id(request, request_text(request, "id"), &id, err);
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
    TRY(request->store->ops->view.message_find(request->store, id, request->arena, &rows, err));
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "cancel", "there is no message with id %.*s", STR_ARG(text));
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].state != STATE_DONE && rows.rows[i].state != STATE_DEAD)
            return PAWL_OK;
    return error_set(err, PAWL_CONFLICT, "cancel", "message %.*s has ended already", STR_ARG(text));
}

static const struct column cancelled_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "answer")}};

static pawl_status message_cancel(struct request *request, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    TRY(request_message_id(request, request_text(request, "id"), &id, err));
    TRY(check_state(request, id, err));
    struct pause_row row = {.scope = PAUSE_MESSAGE,
                            .name = str_from(uuid_format(id, text)),
                            .actor = request->front->actor(request->self),
                            .reason = request_text(request, "reason")};
    TRY(request->store->ops->relay->pause_set(request->store, &row, err));
    return REQUEST_RECORD(request, cancelled_columns, err, cell_uuid(id), cell_cstr("cancelled"));
}

/* ---- The table */

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", "ready|leased|scheduled|blocked|dead|done",
                  "Only in this state; any but done by default.")},
    MESSAGE_FILTER_FIELDS(IN_QUERY),
    {TIME_FIELD(IN_QUERY, "since_ms", "Only what was put at or after this time.")},
    {INT_FIELD(IN_QUERY, "lane", 0, PAWL_LANES_MAX, "Only of this lane.")},
    {FIELD(FIELD_ID, IN_QUERY, "id", "Only with this id: an outbox may hold one more than once.")},
};
static const struct field id_fields[] = {FIELD_ROW_MESSAGE_ID};
static const struct field show_fields[] = {FIELD_ROW_MESSAGE_ID, FIELD_ROW_KIND(IN_QUERY)};
static const struct field failure_fields[] = {FIELD_ROW_KIND(IN_QUERY)};

static const struct operation messages[] = {
    {OPERATION("message.list", "List messages in order of their sequence number"), READS("/v1/messages"),
     FIELDS(list_fields), .paged = PAGED, COLUMNS(message_columns), .run = message_list,
     .details =
         "Filters are combined. Dead letters are those with --state dead. Their reason is attempts (the "
         "last attempt failed), permanent (the handler said that no attempt can succeed), killed (its "
         "worker died with it too often), cancelled (a person ended it; the error says who and why) or "
         "parked (it waits for a dead letter of its stream, and is retried with it). Completed messages, "
         "--state done, are kept for as long as the setting history says.",
     .example =
         "pawl message list --stream order-1 --since 1h\npawl message list --state dead -o ndjson | jq .id",
     .empty = "no messages"},
    {OPERATION("message.show", "Show one message with its payload, whatever state it is in"),
     READS("/v1/messages/{id}"), FIELDS(show_fields), RECORD(message_columns), .run = message_show,
     .details =
         "An outbox may hold an id more than once: then this is the newest, and pawl message list --id "
         "has them all."},
    {OPERATION("message.why", "Explain what a message is waiting for, and what to do"),
     READS("/v1/messages/{id}/why"), FIELDS(id_fields), RECORD(why_view_columns), .run = message_explain},
    {OPERATION("message.attempts", "Show the failed attempts of a message, the first one first"),
     READS("/v1/messages/{id}/attempts"), FIELDS(id_fields), COLUMNS(attempt_columns),
     .run = message_attempts,
     .details = "Each with the worker that tried, from when it was granted until it failed, and the error; "
                "lost: its worker was lost while it ran. The last 20 are kept, for 30 days, even after the "
                "message is done; deleting a dead letter removes them.",
     .example = "pawl message attempts 01890a5d-ac96-774b-bcce-b302099a8057",
     .empty = "no attempt has failed, as far as is known"},
    {OPERATION("message.failures", "Count dead letters by cause"), READS("/v1/messages/failures"),
     FIELDS(failure_fields), .paged = PAGED_LIMIT, COLUMNS(group_columns), .run = message_failures,
     .details = "Errors that differ only in numbers and names have the same fingerprint; pawl message retry "
                "--fingerprint takes it. --limit is for each kind.",
     .empty = "no dead letters"},
    {OPERATION("message.cancel", "Cancel a waiting or running message: it becomes a dead letter"),
     POSTS("/v1/messages/{id}/cancel"), FIELDS(id_fields), RECORD(cancelled_columns), .run = message_cancel,
     .details = "The worker that runs it is woken and notices immediately (behind a pooler: with its next "
                "heartbeat): a program gets SIGTERM and two seconds later SIGKILL, a call to an endpoint is "
                "aborted, and pawl_cancelled returns true to a C function. A waiting message ends when it is "
                "claimed, without running. It becomes a dead letter, and the policy of its stream applies; a "
                "message that completes first stays completed. pawl resume message ID undoes it until a "
                "worker has acted on it.",
     .example = "pawl message cancel 01890a5d-ac96-774b-bcce-b302099a8057 --reason 'wrong address'"},
};

const struct operation_table message_operations = OPERATION_TABLE(messages);
