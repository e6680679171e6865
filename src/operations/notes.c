/* Operations on pauses, actions and refused deliveries. */
#include "base/error.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/note.h"

static pawl_status pause_list(struct request *request, pawl_error *err) {
    struct pause_rows found;
    TRY(request->store->ops->relay->pauses(request->store, request->arena, &found, err));
    return request_rows(request, ROWS_OF(pause, found.rows, found.count), NULL, err);
}

static const struct column resumed_columns[] = {
    {COLUMN(TEXT, "scope")}, {COLUMN(TEXT, "name")}, {COLUMN(TEXT, "answer")}};

static pawl_status pause_set(struct request *request, pawl_error *err) {
    struct pause_row row = {.scope = (enum pause_scope)(PAUSE_TOPIC + request_number(request, "scope", 0)),
                            .name = request_text(request, "name"),
                            .reason = request_text(request, "reason"),
                            .actor = request->front->actor(request->self)};
    TRY(request->store->ops->relay->pause_set(request->store, &row, err));
    TRY(request->store->ops->core.clock_read(request->store, &row.since_ms, err));
    return request_shown(request, pause_columns, PAUSE_COLUMNS, &row, err);
}

static pawl_status pause_clear(struct request *request, pawl_error *err) {
    struct value scope = request_value(request, "scope");
    pawl_str name = request_text(request, "name");
    TRY(request->store->ops->relay->pause_clear(request->store,
                                                (enum pause_scope)(PAUSE_TOPIC + scope.number), name, err));
    return REQUEST_RECORD(request, resumed_columns, err, cell_text(scope.text), cell_text(name),
                          cell_cstr("resumed"));
}

/* The next page of numbered rows begins after the number of the last. */
static pawl_status action_list(struct request *request, pawl_error *err) {
    struct audit_rows found;
    int limit = request_limit(request);
    TRY(request->store->ops->relay->audits(request->store, request_after_number(request), limit,
                                           request->arena, &found, err));
    int64_t last = found.count == (size_t)limit ? found.rows[found.count - 1].number : 0;
    while (found.count > 0 && found.rows[found.count - 1].at_ms < request_number(request, "since_ms", 0)) {
        found.count--;
        last = 0; /* what follows is older still */
    }
    return request_rows(request, ROWS_OF(action, found.rows, found.count), request_key(request, last), err);
}

static pawl_status refused_list(struct request *request, pawl_error *err) {
    struct refused_rows found;
    int limit = request_limit(request);
    TRY(request->store->ops->relay->refused(request->store, request_after_number(request), limit,
                                            request->arena, &found, err));
    int64_t last = found.count == (size_t)limit ? found.rows[found.count - 1].number : 0;
    return request_rows(request, ROWS_OF(refused, found.rows, found.count), request_key(request, last), err);
}

static const struct column forgotten_columns[] = {{COLUMN(INT, "number")}, {COLUMN(TEXT, "answer")}};

static pawl_status refused_forget(struct request *request, pawl_error *err) {
    int64_t number = request_number(request, "number", 0);
    TRY(request->store->ops->relay->refused_remove(request->store, number, err));
    return REQUEST_RECORD(request, forgotten_columns, err, cell_int(number), cell_cstr("deleted"));
}

/* ---- The tables */

static const struct field pause_fields[] = {
    {CHOICE_FIELD(IN_BODY, "scope", "topic|stream|handler|queue",
                  "What is paused."), /* a message is cancelled */
     .required = true, .word = true},
    {TEXT_FIELD(IN_BODY, "name", PAWL_PATTERN_BYTES_MAX,
                "Of the topic, stream or queue, or the pattern of the handler."),
     .required = true, .word = true},
    {TEXT_FIELD(IN_BODY, "reason", 500, "Shown to others.")}};
static const struct field pause_end_fields[] = {
    {CHOICE_FIELD(IN_PATH, "scope", PAUSE_SCOPES, "What was paused."), .required = true},
    FIELD_ROW_NAME("Of the topic, stream or queue, or the pattern of the handler.")};
static const struct field action_fields[] = {
    {TIME_FIELD(IN_QUERY, "since_ms", "Only what was done at or after this time.")}};
static const struct field refused_fields[] = {FIELD_ROW_NUMBER("number", "Of the list of refused ones.")};

static const struct operation refused[] = {
    {OPERATION("message.refused", "List what brokers delivered and the inbox rejected"), READS("/v1/refused"),
     .paged = PAGED, COLUMNS(refused_columns), .run = refused_list,
     .details = "A conflict has the id of a message that was received before with a different payload. A "
                "malformed one is not a CloudEvent that an inbox can store; its detail says why. Both were "
                "acknowledged to the broker after they were stored here, once per content; bytes that are "
                "not text are shown as base64.",
     .example = "pawl message refused\npawl message refused -o json | jq -r '.[].payload'",
     .empty = "nothing was refused"},
    {OPERATION("message.forget", "Delete one rejected message: its content is lost"),
     DELETES("/v1/refused/{number}"), FIELDS(refused_fields), RECORD(forgotten_columns),
     .run = refused_forget},
};

static const struct operation pauses[] = {
    {OPERATION("pause",
               "Pause the messages of a topic, of a stream or for a handler, or the jobs of a queue"),
     POSTS("/v1/pauses"), FIELDS(pause_fields), RECORD(pause_columns), .run = pause_set,
     .details = "Workers are woken and notice immediately (behind a pooler: with their next heartbeat). A "
                "subscription to the topic stops reading. A message without a topic is matched by its type; "
                "a handler is named by its pattern. What is already running may finish. A resume takes "
                "effect immediately.",
     .example = "pawl pause stream order-1 --reason 'being repaired'\npawl pause handler 'order.*'\npawl "
                "pause queue default"},
    {OPERATION("resume", "Resume what was paused"), DELETES("/v1/pauses/{scope}/{name}"),
     FIELDS(pause_end_fields), RECORD(resumed_columns), .run = pause_clear,
     .details = "A message is one that was cancelled (pawl message cancel) and has not ended yet.",
     .example = "pawl resume stream order-1"},
    {OPERATION("pause.list", "List what is paused"), READS("/v1/pauses"), COLUMNS(pause_columns),
     .run = pause_list, .empty = "nothing is paused"},
    {OPERATION("action.list",
               "List what people did: retries, deletions, replays, pauses, deploys; newest first"),
     READS("/v1/actions"), FIELDS(action_fields), .paged = PAGED, COLUMNS(action_columns), .run = action_list,
     .details = "The actor is PAWL_ACTOR, else the login name.", .example = "pawl action list --since 1h",
     .empty = "nothing was done yet"},
};

const struct operation_table refused_operations = OPERATION_TABLE(refused);
const struct operation_table pause_operations = OPERATION_TABLE(pauses);
