/* Operations on perspectives: state, failures, pause, rebuild, switch, wait. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/event.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/receptor.h"
#include "work/doctor/fleet_facts.h"
#include "work/perspective/file.h"

static const struct column perspective_answer_columns[] = {{COLUMN(TEXT, "perspective")},
                                                           {COLUMN(TEXT, "answer")}};
static const struct column perspective_reset_columns[] = {{COLUMN(TEXT, "perspective")},
                                                          {COLUMN(INT, "checkpoints")}};

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

static pawl_status perspective_list(struct request *request, pawl_error *err) {
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

static pawl_status perspective_errors(struct request *request, pawl_error *err) {
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

static pawl_status perspective_pause(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_PAUSE, err);
}

static pawl_status perspective_resume(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_RESUME, err);
}

static pawl_status perspective_remove(struct request *request, pawl_error *err) {
    pawl_status status = request_confirm(request, "Stop feeding this perspective", err);
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

static pawl_status perspective_retry(struct request *request, pawl_error *err) {
    return again(request, RESET_FAILED, err);
}

static pawl_status perspective_rebuild(struct request *request, pawl_error *err) {
    pawl_status status =
        request_confirm(request, "Empty the model and build it from the first event again", err);
    return status == PAWL_OK ? again(request, RESET_REBUILD, err) : status;
}

static pawl_status perspective_skip(struct request *request, pawl_error *err) {
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

/* A command calls the first column name. */
static const struct column switch_columns[] = {{COLUMN(TEXT, "perspective")},
                                               {COLUMN(TEXT, "answer")},
                                               {COLUMN(INT, "behind")},
                                               {COLUMN(TEXT, "digest_old")},
                                               {COLUMN(TEXT, "digest_new")}};

static pawl_status perspective_switch(struct request *request, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "name")},
                                            {COLUMN(TEXT, "answer")},
                                            {COLUMN(INT, "behind")},
                                            {COLUMN(TEXT, "digest_old")},
                                            {COLUMN(TEXT, "digest_new")}};
    struct perspective_switch in = {
        .name = request_text(request, "name"),
        .wait_ms = request_number(request, "wait_ms", request_number(request, "timeout_ms", 0)),
        .digest_old = request_text(request, "digest_old"),
        .digest_new = request_text(request, "digest_new")};
    struct switch_result out;
    bool command = request_is_command(request);
    int64_t version = 0;
    if (in.wait_ms > PAWL_SWITCH_WAIT_MS_MAX)
        in.wait_ms = PAWL_SWITCH_WAIT_MS_MAX;
    pawl_status status = request_counted(request, "version", PAWL_PERSPECTIVE_VERSION_MAX, &version, err);
    in.version = (int)version;
    if (status == PAWL_OK)
        status =
            request->store->ops->events.perspective_switch(request->store, &in, request->arena, &out, err);
    if (status != PAWL_OK)
        return status;
    if (out.answer == ANSWER_CONFLICT && !command)
        return error_set(err, PAWL_CONFLICT, "perspectives",
                         "version %d is behind in %" PRId64 " streams: wait until it has applied everything",
                         in.version, out.behind);
    if (out.answer == ANSWER_CONFLICT && out.behind > 0)
        return error_set(err, PAWL_CONFLICT, "switch",
                         "%" PRId64 " streams are behind; wait until it has caught up and try again",
                         out.behind);
    if (out.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "switch", "the digests differ: old %.*s, new %.*s",
                         STR_ARG(out.digest_old), STR_ARG(out.digest_new));
    return request_record(request, command ? columns : switch_columns, COLUMN_COUNT(columns),
                          (struct cell[]){cell_text(in.name), cell_cstr(answer_name(out.answer)),
                                          cell_int(out.behind), cell_text(out.digest_old),
                                          cell_text(out.digest_new)},
                          err);
}

static pawl_status check_wait(struct request *request, pawl_error *err) {
    bool stream = request_value(request, "stream").present,
         version = request_value(request, "at_version").present;
    if (stream != version || stream == request_value(request, "position").present)
        return error_set(err, PAWL_INVALID, "wait",
                         "it needs --stream and --at-version, or --position, and not both");
    return PAWL_OK;
}

static pawl_status wait_for(struct request *request, pawl_error *err) {
    enum { WAIT_MS_DEFAULT = 30000 };
    static const struct column columns[] = {{COLUMN(TEXT, "perspective")}, {COLUMN(INT, "reached")}};
    int64_t at = 0;
    struct perspective_target target = {.perspective = request_text(request, "name"),
                                        .stream = request_text(request, "stream"),
                                        .version = request_number(request, "at_version", 0),
                                        .position = request_number(request, "position", 0)};
    pawl_status status = perspective_wait(request->store, &target,
                                          request_number(request, "timeout_ms", WAIT_MS_DEFAULT), &at, err);
    return status == PAWL_OK
               ? REQUEST_RECORD(request, columns, err, cell_text(target.perspective), cell_int(at))
               : status;
}

/* ---- Checkpoints */

#define ROW struct checkpoint_view
static const struct column place_columns[] = {
    {.key = "perspective", TEXT_OF(perspective)},
    {.key = "stream", TEXT_OF(stream)},
    {COLUMN(TEXT, "status")},
    {.key = "version", INT_OF(version)},
    {.key = "head", INT_OF(head)},
    {.key = "stopped", BOOL_OF(stopped)},
    {.key = "attempts", INT_OF(attempts)},
    {.key = "failed_version", INT_OF(failed_version)},
    {COLUMN(TIME, "next")},
    {.key = "instance", UUID_OF(instance)},
    {.key = "lease_until", TIME_OF(lease_until_ms)},
    {.key = "token", INT_OF(token)},
    {.key = "updated", TIME_OF(updated_ms)},
    {.key = "fingerprint", TEXT_OF(fingerprint)},
    {.key = "error", TEXT_OF(error), .content = true},
};
#undef ROW

static pawl_status list_checkpoints(struct request *request, struct checkpoint_filter *filter,
                                    struct checkpoint_views *found, pawl_error *err) {
    filter->stream = request_text(request, "stream");
    filter->limit = request_limit(request);
    return request->store->ops->events.checkpoints_list(request->store, filter, request->arena, found, err);
}

/* The cursor holds stream and perspective of the last row, a line each. */
static pawl_status checkpoint_list(struct request *request, pawl_error *err) {
    static const char *const names[] = {"pending", "processing", "completed", "failed"};
    struct checkpoint_filter filter = {.perspective = request_text(request, "perspective"),
                                       .status = request_choice(request, "status") - 1};
    pawl_str after = request_after(request);
    struct checkpoint_views found = {.count = 0};
    const char *next = NULL, *line = after.len > 0 ? memchr(after.ptr, '\n', after.len) : NULL;
    if (line != NULL) {
        size_t len = (size_t)(line - after.ptr);
        filter.after_stream = (pawl_str){after.ptr, len};
        filter.after_perspective = (pawl_str){line + 1, after.len - len - 1};
    }
    pawl_status status = list_checkpoints(request, &filter, &found, err);
    if (status != PAWL_OK)
        return status;
    request_list(request, place_columns, COLUMN_COUNT(place_columns));
    for (size_t i = 0; i < found.count; i++) {
        const struct checkpoint_view *row = &found.rows[i];
        const struct cell made[] = {cell_cstr(names[row->status]),
                                    row->stopped ? cell_none() : cell_time(row->next_ms)};
        struct cell cells[COLUMN_COUNT(place_columns)];
        row_cells(place_columns, COLUMN_COUNT(place_columns), row, made, cells);
        request_row(request, cells);
        next = arena_printf(request->arena, "%.*s\n%.*s", STR_ARG(row->stream), STR_ARG(row->perspective));
    }
    return request_list_end(request, found.count == (size_t)filter.limit ? next : NULL, err);
}

static pawl_status perspective_failed(struct request *request, pawl_error *err) {
    struct checkpoint_filter filter = {.perspective = request_text(request, "name"),
                                       .status = CHECKPOINT_FAILED};
    struct checkpoint_views found = {.count = 0};
    pawl_status status = list_checkpoints(request, &filter, &found, err);
    if (status != PAWL_OK)
        return status;
    REQUEST_CELLS(request, checkpoint, found.rows, found.count);
    return request_list_end(request, NULL, err);
}

/* ---- The table */

#define FIELD_ROW_KEY FIELD_ROW_NAME("The perspective with its version: name@version.")
static const struct field name_fields[] = {FIELD_ROW_NAME("The perspective, without a version.")};
static const struct field key_fields[] = {FIELD_ROW_KEY};
static const struct field error_fields[] = {
    {TEXT_FIELD(IN_QUERY, "perspective", PAWL_STREAM_BYTES_MAX, "Only of this one, name@version.")},
    FIELD_ROW_LIMIT};
static const struct field checkpoint_fields[] = {
    {TEXT_FIELD(IN_QUERY, "perspective", PAWL_STREAM_BYTES_MAX, "Only of this one, name@version.")},
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},
    {CHOICE_FIELD(IN_QUERY, "status", "pending|processing|completed|failed", "Only in this status.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field reset_fields[] = {
    FIELD_ROW_KEY,
    {FIELD(FIELD_TEXTS, IN_BODY, "streams", "Only these; all by default."), .max = PAWL_BATCH_DEFAULT}};
static const struct field skip_fields[] = {
    FIELD_ROW_KEY,
    {TEXT_FIELD(IN_BODY, "stream", PAWL_STREAM_BYTES_MAX, "Of the event."), .required = true},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Of the event."), .required = true},
    {TEXT_FIELD(IN_BODY, "reason", 500, "Why it is left out."), .required = true}};
static const struct field switch_fields[] = {
    FIELD_ROW_NAME("The perspective, without a version."),
    {INT_FIELD(IN_BODY, "version", 1, PAWL_PERSPECTIVE_VERSION_MAX, "Becomes live."), .required = true},
    {INT_FIELD(IN_BODY, "wait_ms", 0, 5000, "How long appends may be blocked for it.")}};

static const struct operation status_rows[] = {
    {COMMAND("perspectives status", "Show the perspectives: checkpoints by status, lag, time left"),
     .alias = "perspectives", .arguments = "[NAME]", .flags = FLAG(RATES), .writes = true,
     .details = "The lag is in events and in the age of the first that is not applied. With --rates, eta is "
                "the time until all is applied, at the speed measured.",
     .example = "pawl perspectives status --rates 5s", .empty = "no perspectives",
     READS("/v1/perspectives", "listPerspectives", "perspectives"),
     .route_summary = "Show the perspectives: checkpoints by status, lag, progress",
     COLUMNS(perspective_columns), .run = perspective_list},
};

static const struct operation operations[] = {
    {COMMAND("perspectives failed", "List the streams on which a perspective failed"),
     .arguments = "[NAME@VERSION]", .flags = FLAG(STREAM) | FLAG(LIMIT), .empty = "nothing has failed",
     .run = perspective_failed},
    {COMMAND("perspectives errors", "Count the failures of perspectives by cause"),
     .arguments = "[NAME@VERSION]", .flags = FLAG(LIMIT), .empty = "nothing has failed",
     READS("/v1/perspectives/errors", "listPerspectiveErrors", "perspectives"), FIELDS(error_fields),
     COLUMNS(checkpoint_error_columns), .run = perspective_errors},
    {.summary = "Every version of one perspective",
     READS("/v1/perspectives/{name}", "readPerspective", "perspectives"),
     FIELDS(name_fields),
     COLUMNS(perspective_columns),
     .run = perspective_list},
    {.summary = "How far each perspective has applied each stream",
     READS("/v1/checkpoints", "listCheckpoints", "perspectives"),
     FIELDS(checkpoint_fields),
     COLUMNS(place_columns),
     .run = checkpoint_list},
    {COMMAND("perspectives reset", "Retry the failed streams of a perspective now"),
     .arguments = "NAME@VERSION [STREAM...]", .arguments_max = 1000, .writes = true,
     POSTS("/v1/perspectives/{name}/reset", "resetPerspective", "perspectives"), FIELDS(reset_fields),
     RECORD(perspective_reset_columns), .run = perspective_retry},
    {COMMAND("perspectives skip", "Skip one event in a perspective, with a reason"),
     .arguments = "NAME@VERSION STREAM VERSION", .flags = FLAG(REASON), .writes = true,
     .example = "pawl perspectives skip orders@1 order-7 12 --reason 'amount was text'",
     POSTS("/v1/perspectives/{name}/skip", "skipEvent", "perspectives"), FIELDS(skip_fields),
     RECORD(perspective_answer_columns), .run = perspective_skip},
    {COMMAND("perspectives pause", "Stop applying events to a perspective for now"),
     .arguments = "NAME@VERSION", .writes = true,
     POSTS("/v1/perspectives/{name}/pause", "pausePerspective", "perspectives"), FIELDS(key_fields),
     RECORD(perspective_answer_columns), .run = perspective_pause},
    {COMMAND("perspectives resume", "Resume a paused perspective"), .arguments = "NAME@VERSION",
     .writes = true, POSTS("/v1/perspectives/{name}/resume", "resumePerspective", "perspectives"),
     FIELDS(key_fields), RECORD(perspective_answer_columns), .run = perspective_resume},
    {COMMAND("perspectives rebuild", "Rebuild a perspective from the first event, in place"),
     .arguments = "NAME@VERSION [STREAM...]", .arguments_max = 1000, .flags = FLAG(YES), .writes = true,
     .details = "Its clear statement and the reset of its checkpoints are one transaction. Readers see the "
                "model fill up; to avoid that, register a new version and switch to it.",
     POSTS("/v1/perspectives/{name}/rebuild", "rebuildPerspective", "perspectives"), FIELDS(reset_fields),
     RECORD(perspective_reset_columns), .run = perspective_rebuild},
    {COMMAND("perspectives switch", "Make a filled version of a perspective the live one"),
     .arguments = "NAME VERSION", .flags = FLAG(TIMEOUT) | FLAG(DIGEST_OLD) | FLAG(DIGEST_NEW),
     .writes = true,
     .details = "In one transaction, when the version has applied everything; appends wait meanwhile, at "
                "most --timeout. With digests both versions are compared first.",
     POSTS("/v1/perspectives/{name}/switch", "switchPerspective", "perspectives"), FIELDS(switch_fields),
     RECORD(switch_columns), .run = perspective_switch},
    {COMMAND("perspectives wait", "Wait until a perspective has applied what was written"),
     .arguments = "NAME[@VERSION]", .flags = FLAG(STREAM) | FLAG(AT_VERSION) | FLAG(POSITION) | FLAG(TIMEOUT),
     .check = check_wait, .writes = true,
     .example = "pawl perspectives wait orders --stream order-1 --at-version 3 --timeout 5s",
     .run = wait_for},
    {COMMAND("perspectives remove", "Remove a perspective; its checkpoints and tables stay"),
     .arguments = "NAME@VERSION", .flags = FLAG(YES), .writes = true,
     POSTS("/v1/perspectives/{name}/remove", "removePerspective", "perspectives"), FIELDS(key_fields),
     RECORD(perspective_answer_columns), .run = perspective_remove},
};

const struct operation_table perspective_status_operations = OPERATION_TABLE(status_rows);
const struct operation_table perspective_operations = OPERATION_TABLE(operations);
