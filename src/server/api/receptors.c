/* Routes of receptors on events, and of receptor results for a message or event. */
#include "operations/events.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/api/ids.h"
#include "server/http/call.h"
#include "view/receptor.h"

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

static pawl_status notes_of_message(struct call *call, pawl_error *err) {
    struct request request = http_request(call);
    pawl_uuid id;
    pawl_status status = ids_message(call, "id", &id, err);
    return status == PAWL_OK ? receptor_notes(&request, id, err) : status;
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
     .help = "Types of events: globs, or prefixed with exact:, suffix:, glob: or regex:."},
    {FIELD(FIELD_BOOL, IN_BODY, "from_start",
           "Include existing events, if the receptor is new; only new events by default.")},
    {FIELD(FIELD_BOOL, IN_BODY, "replace",
           "Replace the patterns of an existing receptor, from its position on.")}};
static const struct field message_fields[] = {FIELD_ROW_MESSAGE_ID};
static const struct field event_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The event's id."), .required = true}};

static const struct route routes[] = {
    {READS("/v1/receptors", "listEventReceptors"), .tag = "receptors",
     .summary = "List the receptors on events: their patterns and progress", COLUMNS(receptor_columns),
     .operation = op_receptor_list},
    {READS("/v1/receptors/{name}", "readReceptor"), .tag = "receptors", .summary = "One receptor on events",
     FIELDS(name_fields), .shape = ANSWER_RECORD, COLUMNS(receptor_columns), .run = show},
    {ACTS(METHOD_PUT, "/v1/receptors/{name}", "putReceptor"), .tag = "receptors",
     .summary = "Register a receptor: one message for each event of some types", FIELDS(register_fields),
     .shape = ANSWER_RECORD, COLUMNS(receptor_answer_columns), .operation = op_receptor_register},
    {ACTS(METHOD_DELETE, "/v1/receptors/{name}", "removeReceptor"), .tag = "receptors",
     .summary = "Remove a receptor; its messages stay", FIELDS(name_fields), .shape = ANSWER_EMPTY,
     .status = 204, .operation = op_receptor_remove},
    {READS("/v1/events/{id}/receptors", "listReceptorsOfEvent"), .tag = "receptors",
     .summary = "The results of the receptors of an event", FIELDS(event_fields),
     COLUMNS(receptor_note_columns), .operation = op_receptor_notes_list},
    {READS("/v1/messages/{id}/receptors", "listReceptors"), .tag = "receptors",
     .summary = "The results of the receptors of an inbox message", FIELDS(message_fields),
     COLUMNS(receptor_note_columns), .run = notes_of_message},
};

const struct route_table receptor_routes = ROUTE_TABLE(routes);
