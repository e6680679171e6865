/* Operations on perspectives and receptors on events: state, pause, rebuild, register. */
#include "operations/events.h"

#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/operations.h"
#include "view/event.h"
#include "view/names.h"
#include "view/receptor.h"
#include "work/doctor/fleet_facts.h"

const struct column perspective_answer_columns[EVENT_ANSWER_COLUMNS] = {{COLUMN(TEXT, "perspective")},
                                                                        {COLUMN(TEXT, "answer")}};
const struct column perspective_reset_columns[EVENT_ANSWER_COLUMNS] = {{COLUMN(TEXT, "perspective")},
                                                                       {COLUMN(INT, "checkpoints")}};
const struct column receptor_answer_columns[EVENT_ANSWER_COLUMNS] = {{COLUMN(TEXT, "receptor")},
                                                                     {COLUMN(TEXT, "answer")}};

/* When all is applied, by how much was applied between two looks. */
static int64_t eta_of(const struct perspective_row *row, const struct perspective_rows *before,
                      int64_t elapsed_ms) {
    for (size_t i = 0; i < before->count; i++) {
        int64_t applied = row->applied - before->rows[i].applied;
        if (!str_equal(before->rows[i].key, row->key))
            continue;
        if (row->lag_events == 0)
            return 0;
        return applied > 0 ? row->lag_events * elapsed_ms / applied : -1;
    }
    return -1;
}

pawl_status op_perspective_list(struct request *request, pawl_error *err) {
    struct perspective_rows before = {.count = 0}, rows = {.count = 0};
    pawl_str name = request_text(request, "name");
    int64_t span_ms = request_number(request, "rates_ms", 0);
    pawl_status status = PAWL_OK;
    if (span_ms > 0) {
        status = fleet_perspectives(request->store, name, request->arena, &before, err);
        nanosleep(&(struct timespec){span_ms / 1000, (long)(span_ms % 1000) * 1000000}, NULL);
    }
    if (status == PAWL_OK)
        status = fleet_perspectives(request->store, name, request->arena, &rows, err);
    if (status == PAWL_OK && !str_absent(name) && rows.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective named %.*s",
                           STR_ARG(name));
    if (status != PAWL_OK)
        return status;
    request_list(request, perspective_columns, PERSPECTIVE_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[PERSPECTIVE_COLUMNS];
        perspective_cells(request->arena, &rows.rows[i], eta_of(&rows.rows[i], &before, span_ms), cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

pawl_status op_perspective_errors(struct request *request, pawl_error *err) {
    struct checkpoint_errors found = {.count = 0};
    pawl_status status = request->store->ops->events.checkpoint_errors(
        request->store, request_either(request, "perspective", "name"), request_limit(request),
        request->arena, &found, err);
    return status == PAWL_OK
               ? request_rows(request, ROWS_OF(checkpoint_error, found.rows, found.count), NULL, err)
               : status;
}

/* ---- Changing */

static pawl_status answered(struct request *request, enum store_answer answer, pawl_error *err) {
    pawl_str name = request_text(request, "name");
    if (answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective %.*s here",
                         STR_ARG(name));
    return REQUEST_RECORD(request, perspective_answer_columns, err, cell_text(name),
                          cell_cstr(answer_name(answer)));
}

static pawl_status change(struct request *request, enum perspective_action action, pawl_error *err) {
    enum store_answer answer;
    pawl_status status = request->store->ops->events.perspective_change(
        request->store, request_text(request, "name"), action, &answer, err);
    return status == PAWL_OK ? answered(request, answer, err) : status;
}

pawl_status op_perspective_pause(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_PAUSE, err);
}

pawl_status op_perspective_resume(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_RESUME, err);
}

pawl_status op_perspective_remove(struct request *request, pawl_error *err) {
    pawl_status status = request->front->confirm(request->self, "Stop feeding this perspective", err);
    return status == PAWL_OK ? change(request, PERSPECTIVE_REMOVE, err) : status;
}

static pawl_status again(struct request *request, enum reset_mode mode, pawl_error *err) {
    struct perspective_reset in = {.perspective = request_text(request, "name"), .mode = mode};
    pawl_str *streams = NULL;
    int64_t changed = 0;
    pawl_status status = request_texts(request, "streams", &streams, &in.stream_count, err);
    in.streams = streams;
    if (status == PAWL_OK)
        status = request->store->ops->events.perspective_reset(request->store, &in, &changed, err);
    if (status != PAWL_OK)
        return status;
    return REQUEST_RECORD(request, perspective_reset_columns, err, cell_text(in.perspective),
                          cell_int(changed));
}

pawl_status op_perspective_retry(struct request *request, pawl_error *err) {
    return again(request, RESET_FAILED, err);
}

pawl_status op_perspective_rebuild(struct request *request, pawl_error *err) {
    pawl_status status = request->front->confirm(
        request->self, "Empty the model and build it from the first event again", err);
    return status == PAWL_OK ? again(request, RESET_REBUILD, err) : status;
}

pawl_status op_perspective_skip(struct request *request, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    struct checkpoint_skip in = {.perspective = request_text(request, "name"),
                                 .stream = request_text(request, "stream"),
                                 .reason = request_text(request, "reason")};
    pawl_status status = request_counted(request, "version", INT64_MAX, &in.version, err);
    if (status == PAWL_OK)
        status = request->store->ops->events.checkpoint_skip(request->store, &in, &answer, err);
    if (status != PAWL_OK)
        return status;
    if (answer == ANSWER_CONFLICT && request_is_command(request))
        return error_set(err, PAWL_CONFLICT, "skip",
                         "there is no such event, or the perspective has passed it already");
    return answered(request, answer, err);
}

/* ---- Receptors on events */

pawl_status op_receptor_list(struct request *request, pawl_error *err) {
    struct fleet_receptors found = {.count = 0};
    pawl_status status =
        fleet_receptors(request->store, request_text(request, "name"), request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    request_list(request, receptor_columns, RECEPTOR_COLUMNS);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[RECEPTOR_COLUMNS];
        receptor_cells(request->arena, &found.rows[i], cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

static pawl_status receptor_answered(struct request *request, enum store_answer answer, pawl_error *err) {
    return REQUEST_RECORD(request, receptor_answer_columns, err, cell_text(request_text(request, "name")),
                          cell_cstr(answer_name(answer)));
}

pawl_status op_receptor_register(struct request *request, pawl_error *err) {
    struct event_pattern patterns[PAWL_PATTERNS_MAX];
    enum store_answer answer = ANSWER_APPLIED;
    struct receptor_new in = {.name = request_text(request, "name"),
                              .patterns = patterns,
                              .from_start = request_bool(request, "from_start"),
                              .replace = request_bool(request, "replace")};
    pawl_str *texts = NULL;
    pawl_status status = request_texts(request, request_is_command(request) ? "patterns" : "on", &texts,
                                       &in.pattern_count, err);
    for (size_t i = 0; status == PAWL_OK && i < in.pattern_count; i++)
        patterns[i] = event_pattern_from(texts[i]);
    if (status == PAWL_OK)
        status = request->store->ops->events.receptor_register(request->store, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        status = error_set(
            err, PAWL_CONFLICT, "receptors",
            "receptor %.*s is registered with other patterns; %sreplace changes them, from its position on",
            STR_ARG(in.name), request->front->dashes);
    return status == PAWL_OK ? receptor_answered(request, answer, err) : status;
}

pawl_status op_receptor_remove(struct request *request, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    pawl_str name = request_text(request, "name");
    pawl_status status = request->front->confirm(request->self, "Give this receptor no more events", err);
    if (status == PAWL_OK)
        status = request->store->ops->events.receptor_remove(request->store, name, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_NOT_FOUND)
        status = error_set(err, PAWL_NOT_FOUND, "receptors", "there is no receptor on events named %.*s",
                           STR_ARG(name));
    return status == PAWL_OK ? receptor_answered(request, answer, err) : status;
}

pawl_status receptor_notes(struct request *request, pawl_uuid id, pawl_error *err) {
    struct receptor_row *rows = NULL;
    size_t count = 0;
    pawl_status status =
        request->store->ops->view.receptors(request->store, id, request->arena, &rows, &count, err);
    if (status != PAWL_OK)
        return status;
    REQUEST_CELLS(request, receptor_note, rows, count);
    return request_list_end(request, NULL, err);
}

pawl_status op_receptor_notes_list(struct request *request, pawl_error *err) {
    return receptor_notes(request, request_value(request, "id").uuid, err);
}
