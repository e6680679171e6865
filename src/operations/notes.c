/* Operations on pauses, actions and refused deliveries. */
#include "base/error.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/note.h"

static pawl_status pause_list(struct request *request, pawl_error *err) {
    struct pause_rows found;
    pawl_status status = request->store->ops->relay->pauses(request->store, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(pause, found.rows, found.count), NULL, err)
                             : status;
}

static pawl_status pause_scope(const struct request *request, enum pause_scope *scope, pawl_error *err) {
    pawl_str text = request_either(request, "scope", "topic"); /* the word topic|stream|handler */
    int found = str_choice(PAUSE_SCOPES, text);
    *scope = (enum pause_scope)(PAUSE_TOPIC + found);
    if (found >= 0)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "pause",
                     "\"%.*s\" cannot be paused: name a topic, a stream or a handler", STR_ARG(text));
}

static pawl_status resume_check(struct request *request, pawl_error *err) {
    enum pause_scope scope;
    return pause_scope(request, &scope, err);
}

/* A message is cancelled, not paused; only that can be taken back here. */
static pawl_status pause_check(struct request *request, pawl_error *err) {
    enum pause_scope scope = PAUSE_TOPIC;
    pawl_status status = pause_scope(request, &scope, err);
    return status == PAWL_OK && scope == PAUSE_MESSAGE
               ? error_set(err, PAWL_INVALID, "pause",
                           "\"message\" cannot be paused: name a topic, a stream or a handler")
               : status;
}

static pawl_status note_pause(struct request *request, const char *action, const char *sentence,
                              pawl_error *err) {
    const char *detail = arena_printf(request->arena, "%.*s %.*s",
                                      STR_ARG(request_either(request, "scope", "topic")),
                                      STR_ARG(request_text(request, "name")));
    pawl_status status = request_note(request, action, detail, err);
    if (status == PAWL_OK)
        request_say(request, sentence);
    return status;
}

static pawl_status pause_set(struct request *request, pawl_error *err) {
    struct pause_row row = {.name = request_text(request, "name"),
                            .reason = request_text(request, "reason"),
                            .actor = request->front->actor(request->self)};
    pawl_status status = pause_scope(request, &row.scope, err);
    if (status == PAWL_OK)
        status = request->store->ops->relay->pause_set(request->store, &row, err);
    if (status == PAWL_OK && request_is_command(request))
        return note_pause(request, "pause", "paused; workers are woken to see it", err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &row.since_ms, err);
    return status == PAWL_OK ? request_shown(request, pause_columns, PAUSE_COLUMNS, &row, err) : status;
}

static pawl_status pause_clear(struct request *request, pawl_error *err) {
    enum pause_scope scope = PAUSE_TOPIC;
    pawl_status status = pause_scope(request, &scope, err);
    if (status == PAWL_OK)
        status = request->store->ops->relay->pause_clear(request->store, scope, request_text(request, "name"),
                                                         err);
    return status == PAWL_OK ? note_pause(request, "resume", "goes on", err) : status;
}

/* The next page of numbered rows begins after the number of the last. */
static pawl_status action_list(struct request *request, pawl_error *err) {
    struct audit_rows found;
    int limit = request_limit(request);
    pawl_status status = request->store->ops->relay->audits(request->store, request_after_number(request),
                                                            limit, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    int64_t last = found.count == (size_t)limit ? found.rows[found.count - 1].number : 0;
    return request_rows(request, ROWS_OF(action, found.rows, found.count), request_key(request, last), err);
}

static pawl_status refused_list(struct request *request, pawl_error *err) {
    struct refused_rows found;
    int limit = request_limit(request);
    pawl_status status = request->store->ops->relay->refused(request->store, request_after_number(request),
                                                             limit, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    int64_t last = found.count == (size_t)limit ? found.rows[found.count - 1].number : 0;
    return request_rows(request, ROWS_OF(refused, found.rows, found.count), request_key(request, last), err);
}

static pawl_status refused_forget(struct request *request, pawl_error *err) {
    struct value number = request_value(request, "number");
    if (number.number < 1)
        return error_set(err, PAWL_INVALID, "inbox", "\"%.*s\" is not a number of pawl inbox refused",
                         STR_ARG(number.text));
    pawl_status status = request->store->ops->relay->refused_remove(request->store, number.number, err);
    if (status == PAWL_OK)
        request_say(request, "forgotten");
    return status;
}

/* ---- The tables */

static const struct field page_fields[] = {FIELD_ROW_CURSOR, FIELD_ROW_LIMIT};
static const struct field pause_fields[] = {
    {.name = "scope",
     .in = IN_BODY,
     .type = FIELD_CHOICE,
     .choices = "topic|stream|handler", /* a message is cancelled, not paused */
     .required = true,
     .help = "What is paused."},
    {TEXT_FIELD(IN_BODY, "name", PAWL_PATTERN_BYTES_MAX,
                "Of the topic or stream, or the pattern of the handler."),
     .required = true},
    {TEXT_FIELD(IN_BODY, "reason", 500, "Shown to others.")}};
static const struct field pause_end_fields[] = {
    {CHOICE_FIELD(IN_PATH, "scope", PAUSE_SCOPES, "What was paused."), .required = true},
    FIELD_ROW_NAME("Of the topic or stream, or the pattern of the handler.")};
static const struct field refused_fields[] = {FIELD_ROW_NUMBER("number", "Of the list of refused ones.")};

static const struct operation refused[] = {
    {COMMAND("inbox refused", "List what brokers delivered and the inbox rejected"),
     .flags = FLAG(LIMIT) | FLAG(AFTER),
     .details = "A conflict has the id of a message that was received before with a different payload. A "
                "malformed one is not a CloudEvent that an inbox can store; its detail says why. Both were "
                "acknowledged to the broker after they were stored here, once per content; bytes that are "
                "not text are shown as base64.",
     .example = "pawl inbox refused\npawl inbox refused -o json | jq -r '.[].payload'",
     .empty = "nothing was refused", READS("/v1/refused", "listRefused", "messages"), FIELDS(page_fields),
     COLUMNS(refused_columns), .run = refused_list},
    {COMMAND("inbox forget", "Delete one rejected message"), .arguments = "NUMBER", .writes = true,
     .details = "NUMBER is that of pawl inbox refused. The content is lost.",
     DELETES("/v1/refused/{number}", "forgetRefused", "messages"), FIELDS(refused_fields),
     .run = refused_forget},
};

static const struct operation pauses[] = {
    {COMMAND("pause", "Pause the messages of a topic, of a stream or for a handler"),
     .arguments = "topic|stream|handler NAME", .flags = FLAG(REASON), .check = pause_check, .writes = true,
     .details = "Workers are woken and notice immediately (behind a pooler: with their next heartbeat). A "
                "subscription to the topic stops reading. A message without a topic is matched by its type; "
                "a handler is named by its pattern. What is already running may finish. A resume takes "
                "effect immediately.",
     .example = "pawl pause stream order-1 --reason 'being repaired'\npawl pause handler 'order.*'",
     POSTS("/v1/pauses", "pause", "pauses"), FIELDS(pause_fields), RECORD(pause_columns), .run = pause_set},
    {COMMAND("resume", "Resume what was paused"), .arguments = "topic|stream|handler|message NAME",
     .check = resume_check, .writes = true,
     .details = "A message is one that was cancelled (pawl messages cancel) and has not ended yet.",
     .example = "pawl resume stream order-1", DELETES("/v1/pauses/{scope}/{name}", "resume", "pauses"),
     FIELDS(pause_end_fields), .run = pause_clear},
    {COMMAND("pauses", "List what is paused"), .empty = "nothing is paused",
     READS("/v1/pauses", "listPauses", "pauses"), COLUMNS(pause_columns), .run = pause_list},
    {COMMAND("actions", "List what people did: redrives, discards, replays, pauses; newest first"),
     .flags = FLAG(LIMIT), .details = "The actor is PAWL_ACTOR, else the login name.",
     .empty = "nothing was done yet", READS("/v1/actions", "listActions", "audit"), FIELDS(page_fields),
     COLUMNS(action_columns), .run = action_list},
};

const struct operation_table refused_operations = OPERATION_TABLE(refused);
const struct operation_table pause_operations = OPERATION_TABLE(pauses);
