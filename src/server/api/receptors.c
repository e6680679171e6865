/* Receptors: those on events, and how far they have come with one message or one event. */
#include "base/error.h"
#include "base/str.h"
#include "server/api/fields.h"
#include "server/api/ids.h"
#include "server/http/call.h"
#include "view/names.h"
#include "view/receptor.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    pawl_status status = fleet_receptors(call->store, (pawl_str){NULL, 0}, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[RECEPTOR_COLUMNS];
        receptor_cells(call->arena, &found.rows[i], cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

static pawl_status show(struct call *call, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    struct cell cells[RECEPTOR_COLUMNS];
    pawl_status status = fleet_receptors(call->store, call_text(call, "name"), call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    receptor_cells(call->arena, &found.rows[0], cells);
    call_record(call, cells);
    return PAWL_OK;
}

static const struct column answer_columns[] = {{COLUMN(TEXT, "receptor")}, {COLUMN(TEXT, "answer")}};

static pawl_status register_it(struct call *call, pawl_error *err) {
    const struct tree *on = call_value(call, "on")->tree;
    struct event_pattern patterns[PAWL_PATTERNS_MAX];
    enum store_answer answer = ANSWER_APPLIED;
    struct receptor_new in = {.name = call_text(call, "name"),
                              .patterns = patterns,
                              .pattern_count = on->count,
                              .from_start = call_bool(call, "from_start"),
                              .replace = call_bool(call, "replace")};
    for (size_t i = 0; i < on->count; i++)
        patterns[i] = event_pattern_from(on->items[i]->text);
    pawl_status status = call->store->ops->events.receptor_register(call->store, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        status = error_set(
            err, PAWL_CONFLICT, "receptors",
            "receptor %.*s is registered with other patterns; replace changes them, from its position on",
            STR_ARG(in.name));
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_text(in.name), cell_cstr(answer_name(answer))});
    return status;
}

static pawl_status remove_it(struct call *call, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    pawl_str name = call_text(call, "name");
    pawl_status status = call->store->ops->events.receptor_remove(call->store, name, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_NOT_FOUND)
        status = error_set(err, PAWL_NOT_FOUND, "receptors", "there is no receptor on events named %.*s",
                           STR_ARG(name));
    return status;
}

/* ---- How they ended */

static pawl_status notes(struct call *call, pawl_uuid id, pawl_error *err) {
    struct receptor_row *rows = NULL;
    size_t count = 0;
    pawl_status status = call->store->ops->view.receptors(call->store, id, call->arena, &rows, &count, err);
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, receptor_note, rows, count);
    return call_list_end(call, NULL, err);
}

static pawl_status notes_of_message(struct call *call, pawl_error *err) {
    pawl_uuid id;
    pawl_status status = ids_message(call, "id", &id, err);
    return status == PAWL_OK ? notes(call, id, err) : status;
}

static pawl_status notes_of_event(struct call *call, pawl_error *err) {
    return notes(call, call_value(call, "id")->uuid, err);
}

/* ---- Fields and routes */

static const struct field name_fields[] = {FIELD_ROW_NAME("The receptor.")};
static const struct field register_fields[] = {
    FIELD_ROW_NAME("The receptor."),
    {.name = "on",
     .in = IN_BODY,
     .type = FIELD_TEXTS,
     .required = true,
     .min = 1,
     .max = PAWL_PATTERNS_MAX,
     .help = "Types of events: globs, or with exact:, suffix:, glob: or regex: in front."},
    {FIELD(FIELD_BOOL, IN_BODY, "from_start",
           "A new one gets the events that are there, too; without it those from now on.")},
    {FIELD(FIELD_BOOL, IN_BODY, "replace", "One that is there gets these patterns, from its position on.")}};
static const struct field message_fields[] = {FIELD_ROW_MESSAGE_ID};
static const struct field event_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The event's id."), .required = true}};

static const struct route routes[] = {
    {READS("/v1/receptors", "listEventReceptors"), .tag = "receptors",
     .summary = "The receptors on events: what they get and how far they are", COLUMNS(receptor_columns),
     .run = list},
    {READS("/v1/receptors/{name}", "readReceptor"), .tag = "receptors", .summary = "One receptor on events",
     FIELDS(name_fields), .shape = ANSWER_RECORD, COLUMNS(receptor_columns), .run = show},
    {ACTS(METHOD_PUT, "/v1/receptors/{name}", "putReceptor"), .tag = "receptors",
     .summary = "Register a receptor: one message for each event of some types", FIELDS(register_fields),
     .shape = ANSWER_RECORD, COLUMNS(answer_columns), .run = register_it},
    {ACTS(METHOD_DELETE, "/v1/receptors/{name}", "removeReceptor"), .tag = "receptors",
     .summary = "Remove a receptor; its messages stay", FIELDS(name_fields), .shape = ANSWER_EMPTY,
     .status = 204, .run = remove_it},
    {READS("/v1/events/{id}/receptors", "listReceptorsOfEvent"), .tag = "receptors",
     .summary = "How the receptors of an event have ended", FIELDS(event_fields),
     COLUMNS(receptor_note_columns), .run = notes_of_event},
    {READS("/v1/messages/{id}/receptors", "listReceptors"), .tag = "receptors",
     .summary = "How the receptors of an inbox message have ended", FIELDS(message_fields),
     COLUMNS(receptor_note_columns), .run = notes_of_message},
};

const struct route_table receptor_routes = ROUTE_TABLE(routes);
