/* Operations on receptors on events: their progress, registering, and what became of one message or event. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/names.h"
#include "view/receptor.h"
#include "work/doctor/fleet_facts.h"

static const struct column receptor_answer_columns[] = {{COLUMN(TEXT, "receptor")}, {COLUMN(TEXT, "answer")}};

static pawl_status receptor_list(struct request *request, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    TRY(fleet_receptors(request->store, request_text(request, "name"), request->arena, &found, err));
    request_list(request, receptor_columns, RECEPTOR_COLUMNS);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[RECEPTOR_COLUMNS];
        receptor_cells(request->arena, &found.rows[i], cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

static pawl_status receptor_show(struct request *request, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    struct cell cells[RECEPTOR_COLUMNS];
    TRY(fleet_receptors(request->store, request_text(request, "name"), request->arena, &found, err));
    receptor_cells(request->arena, &found.rows[0], cells);
    return request_record(request, receptor_columns, RECEPTOR_COLUMNS, cells, err);
}

static pawl_status receptor_answered(struct request *request, enum store_answer answer, pawl_error *err) {
    return REQUEST_RECORD(request, receptor_answer_columns, err, cell_text(request_text(request, "name")),
                          cell_cstr(answer_name(answer)));
}

static pawl_status receptor_register(struct request *request, pawl_error *err) {
    struct event_pattern patterns[PAWL_PATTERNS_MAX];
    enum store_answer answer = ANSWER_APPLIED;
    struct receptor_new in = {.name = request_text(request, "name"),
                              .patterns = patterns,
                              .from_start = request_bool(request, "from_start"),
                              .replace = request_bool(request, "replace")};
    pawl_str *texts = NULL;
    TRY(request_texts(request, "on", &texts, &in.pattern_count, err));
    for (size_t i = 0; i < in.pattern_count; i++)
        patterns[i] = event_pattern_from(texts[i]);
    TRY(request->store->ops->events.receptor_register(request->store, &in, &answer, err));
    if (answer == ANSWER_CONFLICT)
        return error_set(
            err, PAWL_CONFLICT, "receptors",
            "receptor %.*s is registered with other patterns; %sreplace changes them, from its position on",
            STR_ARG(in.name), request->front->dashes);
    return receptor_answered(request, answer, err);
}

static pawl_status receptor_remove(struct request *request, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    pawl_str name = request_text(request, "name");
    TRY(request_confirm(request, "Give this receptor no more events", err));
    TRY(request->store->ops->events.receptor_remove(request->store, name, &answer, err));
    if (answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "receptors", "there is no receptor on events named %.*s",
                         STR_ARG(name));
    return receptor_answered(request, answer, err);
}

/* How the receptors of a message or an event have ended. */
static pawl_status list_notes(struct request *request, pawl_uuid id, pawl_error *err) {
    struct receptor_row *rows = NULL;
    size_t count = 0;
    TRY(request->store->ops->view.receptors(request->store, id, request->arena, &rows, &count, err));
    REQUEST_CELLS(request, receptor_note, rows, count);
    return request_list_end(request, NULL, err);
}

static pawl_status message_notes(struct request *request, pawl_error *err) {
    pawl_uuid id;
    TRY(request_message_id(request, request_text(request, "id"), &id, err));
    return list_notes(request, id, err);
}

static pawl_status event_notes(struct request *request, pawl_error *err) {
    return list_notes(request, request_value(request, "id").uuid, err);
}

/* ---- The tables */

static const struct field name_fields[] = {FIELD_ROW_NAME("The receptor.")};
static const struct field delete_fields[] = {FIELD_ROW_NAME("The receptor."), FLAG_YES};
static const struct field set_fields[] = {
    FIELD_ROW_NAME("The receptor."),
    {FIELD(FIELD_TEXTS, IN_BODY, "on",
           "Types of events: globs, or prefixed with exact:, suffix:, glob: or regex:."),
     .required = true, .word = true, .value = "PATTERN", .min = 1, .max = PAWL_PATTERNS_MAX},
    {BOOL_FIELD(IN_BODY, "from_start",
                "Include existing events, if the receptor is new; only new events by default.")},
    {BOOL_FIELD(IN_BODY, "replace", "Replace the patterns of an existing receptor, from its position on.")}};
static const struct field message_fields[] = {FIELD_ROW_MESSAGE_ID};
static const struct field event_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The event's id."), .required = true}};

static const struct operation notes[] = {
    {OPERATION("message.receptors", "Show the receptors of an inbox message, and what each has done"),
     READS("/v1/messages/{id}/receptors"), FIELDS(message_fields), COLUMNS(receptor_note_columns),
     .run = message_notes,
     .details = "A receptor is recorded when it ends for the first time. The message is done when all of "
                "them are; a completed receptor does not run again.",
     .empty = "no receptor has ended yet"},
    {OPERATION("event.receptors", "Show the receptors of an event, and what each has done"),
     READS("/v1/events/{id}/receptors"), FIELDS(event_fields), COLUMNS(receptor_note_columns),
     .run = event_notes, .empty = "no receptor has ended yet"},
};

static const struct operation operations[] = {
    {OPERATION("receptor.list", "Show the receptors on events: what they get and how far they are"),
     READS("/v1/receptors"), COLUMNS(receptor_columns), .run = receptor_list,
     .details =
         "behind: events not examined yet. messages: how many were created for it; they are inbox "
         "messages with its topic, so pawl message list, retry and pause take --topic event:NAME. To see "
         "what became of one event: pawl event receptors EVENT.",
     .empty = "no receptors on events"},
    {OPERATION("receptor.show", "Show one receptor on events"), READS("/v1/receptors/{name}"),
     FIELDS(name_fields), RECORD(receptor_columns), .run = receptor_show},
    {OPERATION("receptor.set", "Register a receptor: one message for each event of some types"),
     PUTS("/v1/receptors/{name}"), FIELDS(set_fields), RECORD(receptor_answer_columns),
     .run = receptor_register, .database = DATABASE_MAKE,
     .details =
         "A worker with a handler NAME@event:PATTERN registers it by itself; one with NAME@event: takes "
         "it as it is (docs/receptors.md).",
     .example = "pawl receptor set invoices 'Order*' --from-start"},
    {OPERATION("receptor.delete", "Delete a receptor; its messages stay"), DELETES("/v1/receptors/{name}"),
     FIELDS(delete_fields), RECORD(receptor_answer_columns), .run = receptor_remove},
};

const struct operation_table receptor_note_operations = OPERATION_TABLE(notes);
const struct operation_table receptor_operations = OPERATION_TABLE(operations);
