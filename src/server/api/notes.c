/* Routes of pauses, actions, refused deliveries, settings, maintenance and invariants. */
#include <string.h>

#include "base/error.h"
#include "operations/notes.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/note.h"
#include "view/output/row.h"

/* ---- Pauses */

static pawl_status set_pause(struct call *call, pawl_error *err) {
    struct pause_row row = {.scope = (enum pause_scope)call_choice(call, "scope"),
                            .name = call_text(call, "name"),
                            .reason = call_text(call, "reason"),
                            .actor = call_actor(call)};
    pawl_status status = call->store->ops->relay->pause_set(call->store, &row, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &row.since_ms, err);
    if (status == PAWL_OK) {
        struct cell cells[PAUSE_COLUMNS];
        row_cells(pause_columns, PAUSE_COLUMNS, &row, NULL, cells);
        call_record(call, cells);
    }
    return status;
}

static pawl_status clear_pause(struct call *call, pawl_error *err) {
    return call->store->ops->relay->pause_clear(call->store, (enum pause_scope)call_choice(call, "scope"),
                                                call_text(call, "name"), err);
}

/* ---- Settings and upkeep */

static pawl_status change_settings(struct call *call, pawl_error *err) {
    struct settings_change change = {
        .instance_lease_ms = call_int(call, "instance_lease_ms", -1),
        .stale_ms = call_int(call, "stale_ms", -1),
        .dedupe_ms = call_int(call, "dedupe_ms", -1),
        .history_ms = call_int(call, "history_ms", -1),
        .test_now_ms = -1,
        .max_attempts = (int)call_int(call, "max_attempts", -1),
        .dead_policy = call_choice(call, "dead_policy") != 0 ? call_choice(call, "dead_policy") : -1};
    pawl_status status = call->store->ops->core.settings_change(call->store, &change, err);
    return status == PAWL_OK ? http_run(call, op_settings_show, err) : status;
}

static const struct column check_columns[] = {{COLUMN(TEXT, "invariant")}, {COLUMN(TEXT, "detail")}};

static pawl_status check(struct call *call, pawl_error *err) {
    struct violations found;
    pawl_status status = call->store->ops->view.check(call->store, call->arena, &found, err);
    if (status == PAWL_CONFLICT && call->store->caps.role)
        return error_set(
            err, status, "check",
            "the server may not read the tables themselves: run pawl check with the owner's login");
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < found.count; i++)
        call_row(call, (struct cell[]){cell_text(found.rows[i].invariant), cell_text(found.rows[i].detail)});
    return call_list_end(call, NULL, err);
}

/* ---- Fields and routes */

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
static const struct field setting_fields[] = {
    {INT_FIELD(IN_BODY, "instance_lease_ms", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX,
               "An instance silent for longer loses its work.")},
    {INT_FIELD(IN_BODY, "stale_ms", PAWL_LEASE_MS_MIN, PAWL_STALE_MS_MAX,
               "The row of an instance silent for longer is removed.")},
    {INT_FIELD(IN_BODY, "dedupe_ms", 1000, PAWL_DEDUPE_MS_MAX, "How long an inbox remembers ids.")},
    {INT_FIELD(IN_BODY, "history_ms", 0, PAWL_HISTORY_MS_MAX,
               "How long done messages are kept; 0 keeps none.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX,
               "Attempts before a message becomes a dead letter.")},
    {CHOICE_FIELD(IN_BODY, "dead_policy", "block|skip|park",
                  "What happens to a stream when one of its messages becomes a dead letter.")}};

static const struct route routes[] = {
    {READS("/v1/pauses", "listPauses"), .tag = "pauses", .summary = "List what is paused",
     COLUMNS(pause_columns), .operation = op_pause_list},
    {ACTS(METHOD_POST, "/v1/pauses", "pause"), .tag = "pauses",
     .summary = "Pause the messages of a topic, of a stream or for a handler", FIELDS(pause_fields),
     .shape = ANSWER_RECORD, COLUMNS(pause_columns), .run = set_pause},
    {ACTS(METHOD_DELETE, "/v1/pauses/{scope}/{name}", "resume"), .tag = "pauses",
     .summary = "Resume what was paused", FIELDS(pause_end_fields), .shape = ANSWER_EMPTY, .status = 204,
     .run = clear_pause},
    {READS("/v1/actions", "listActions"), .tag = "audit", .summary = "List what people did, newest first",
     FIELDS(page_fields), COLUMNS(action_columns), .operation = op_action_list},
    {READS("/v1/refused", "listRefused"), .tag = "messages",
     .summary = "List what brokers delivered and the inbox rejected", FIELDS(page_fields),
     COLUMNS(refused_columns), .operation = op_refused_list},
    {ACTS(METHOD_DELETE, "/v1/refused/{number}", "forgetRefused"), .tag = "messages",
     .summary = "Delete one rejected message", FIELDS(refused_fields), .shape = ANSWER_EMPTY, .status = 204,
     .operation = op_refused_forget},
    {READS("/v1/settings", "readSettings"), .tag = "database", .summary = "Settings of the schema",
     .shape = ANSWER_RECORD, COLUMNS(setting_columns), .operation = op_settings_show},
    {ACTS(METHOD_PUT, "/v1/settings", "changeSettings"), .tag = "database",
     .summary = "Change settings of the schema; omitted ones are unchanged", FIELDS(setting_fields),
     .shape = ANSWER_RECORD, COLUMNS(setting_columns), .run = change_settings},
    {ACTS(METHOD_POST, "/v1/maintain", "maintain"), .tag = "database",
     .summary = "Remove what is no longer needed, one round", .shape = ANSWER_RECORD, COLUMNS(upkeep_columns),
     .operation = op_maintain},
    {ACTS(METHOD_GET, "/v1/check", "check"), .tag = "database",
     .summary = "Run every invariant; an empty list means that all is well", COLUMNS(check_columns),
     .run = check},
};

const struct route_table note_routes = ROUTE_TABLE(routes);
