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
    if (span_ms > 0) {
        TRY(fleet_perspectives(request->store, name, request->arena, &before, err));
        nanosleep(&(struct timespec){span_ms / 1000, (long)(span_ms % 1000) * 1000000}, NULL);
    }
    TRY(fleet_perspectives(request->store, name, request->arena, &rows, err));
    if (!str_absent(name) && rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective named %.*s",
                         STR_ARG(name));
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
    TRY(request->store->ops->events.checkpoint_errors(request->store, request_text(request, "perspective"),
                                                      request_limit(request), request->arena, &found, err));
    return request_rows(request, ROWS_OF(checkpoint_error, found.rows, found.count), NULL, err);
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
    TRY(request->store->ops->events.perspective_change(request->store, request_text(request, "name"), action,
                                                       &answer, err));
    return answered(request, answer, err);
}

static pawl_status perspective_pause(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_PAUSE, err);
}

static pawl_status perspective_resume(struct request *request, pawl_error *err) {
    return change(request, PERSPECTIVE_RESUME, err);
}

static pawl_status perspective_remove(struct request *request, pawl_error *err) {
    TRY(request_confirm(request, "Stop feeding this perspective", err));
    return change(request, PERSPECTIVE_REMOVE, err);
}

static pawl_status again(struct request *request, enum reset_mode mode, pawl_error *err) {
    struct perspective_reset in = {.perspective = request_text(request, "name"), .mode = mode};
    pawl_str *streams = NULL;
    int64_t changed = 0;
    TRY(request_texts(request, "streams", &streams, &in.stream_count, err));
    in.streams = streams;
    TRY(request->store->ops->events.perspective_reset(request->store, &in, &changed, err));
    return REQUEST_RECORD(request, perspective_reset_columns, err, cell_text(in.perspective),
                          cell_int(changed));
}

static pawl_status perspective_retry(struct request *request, pawl_error *err) {
    return again(request, RESET_FAILED, err);
}

static pawl_status perspective_rebuild(struct request *request, pawl_error *err) {
    TRY(request_confirm(request, "Empty the model and build it from the first event again", err));
    return again(request, RESET_REBUILD, err);
}

static pawl_status perspective_skip(struct request *request, pawl_error *err) {
    enum store_answer answer = ANSWER_APPLIED;
    struct checkpoint_skip in = {.perspective = request_text(request, "name"),
                                 .stream = request_text(request, "stream"),
                                 .version = request_number(request, "version", 0),
                                 .reason = request_text(request, "reason")};
    TRY(request->store->ops->events.checkpoint_skip(request->store, &in, &answer, err));
    if (answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "skip",
                         "there is no such event, or the perspective has passed it already");
    return answered(request, answer, err);
}

static const struct column switch_columns[] = {{COLUMN(TEXT, "perspective")},
                                               {COLUMN(TEXT, "answer")},
                                               {COLUMN(INT, "behind")},
                                               {COLUMN(TEXT, "digest_old")},
                                               {COLUMN(TEXT, "digest_new")}};

static pawl_status perspective_switch(struct request *request, pawl_error *err) {
    struct perspective_switch in = {.name = request_text(request, "name"),
                                    .version = (int)request_number(request, "version", 0),
                                    .wait_ms = request_number(request, "timeout_ms", 0),
                                    .digest_old = request_text(request, "digest_old"),
                                    .digest_new = request_text(request, "digest_new")};
    struct switch_result out;
    TRY(request->store->ops->events.perspective_switch(request->store, &in, request->arena, &out, err));
    if (out.answer == ANSWER_CONFLICT && out.behind > 0)
        return error_set(err, PAWL_CONFLICT, "switch",
                         "version %d is behind in %" PRId64 " streams: wait until it has applied everything",
                         in.version, out.behind);
    if (out.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "switch", "the digests differ: old %.*s, new %.*s",
                         STR_ARG(out.digest_old), STR_ARG(out.digest_new));
    return REQUEST_RECORD(request, switch_columns, err, cell_text(in.name),
                          cell_cstr(answer_name(out.answer)), cell_int(out.behind), cell_text(out.digest_old),
                          cell_text(out.digest_new));
}

static pawl_status check_wait(struct request *request, pawl_error *err) {
    bool stream = request_value(request, "stream").present,
         version = request_value(request, "at_version").present;
    if (stream != version || stream == request_value(request, "position").present)
        return error_set(err, PAWL_INVALID, "wait",
                         "it needs %sstream and %sat%sversion, or %sposition, and not both",
                         request->front->dashes, request->front->dashes,
                         request_is_command(request) ? "-" : "_", request->front->dashes);
    return PAWL_OK;
}

static const struct column reached_columns[] = {
    {COLUMN(TEXT, "perspective")}, {COLUMN(INT, "reached")}, {COLUMN(BOOL, "applied")}};

static pawl_status wait_for(struct request *request, pawl_error *err) {
    enum { WAIT_MS_DEFAULT = 30000 };
    struct perspective_reached found = {0};
    struct perspective_target target = {.perspective = request_text(request, "name"),
                                        .stream = request_text(request, "stream"),
                                        .version = request_number(request, "at_version", 0),
                                        .position = request_number(request, "position", 0)};
    TRY(check_wait(request, err));
    TRY(perspective_caught_up(request->store, &target, request->arena, &found, err));
    struct waiting waiting = {.what = arena_printf(request->arena, "perspective %.*s %.*s %" PRId64,
                                                   STR_ARG(target.perspective), STR_ARG(target.stream),
                                                   target.version + target.position),
                              .timeout_ms = request_number(request, "timeout_ms", WAIT_MS_DEFAULT),
                              .progress = str_from(arena_printf(request->arena, "at %" PRId64, found.at))};
    if (!found.reached && waiting.what != NULL && request->front->wait(request->self, &waiting))
        return PAWL_OK;
    if (!found.reached)
        request_exit_with(request, error_exit_code(PAWL_BUSY));
    return REQUEST_RECORD(request, reached_columns, err, cell_text(target.perspective), cell_int(found.at),
                          cell_bool(found.reached));
}

/* ---- Checkpoints */

#define ROW struct checkpoint_view
static const struct column place_columns[] = {
    {.key = "perspective", TEXT_OF(perspective)},
    {.key = "stream", TEXT_OF(stream)},
    {COLUMN(TEXT, "status")},
    {.key = "version", INT_OF(version)},
    {.key = "head", INT_OF(head), .drop = 2},
    {.key = "stopped", BOOL_OF(stopped)},
    {.key = "attempts", INT_OF(attempts)},
    {.key = "failed_version", INT_OF(failed_version)},
    {COLUMN(TIME, "next"), .drop = 1},
    {.key = "instance", UUID_OF(instance), .show = SHOW_WIDE},
    {.key = "lease_until", TIME_OF(lease_until_ms), .show = SHOW_WIDE},
    {.key = "token", INT_OF(token), .show = SHOW_WIDE},
    {.key = "updated", TIME_OF(updated_ms), .show = SHOW_WIDE},
    {.key = "fingerprint", TEXT_OF(fingerprint), .show = SHOW_WIDE},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true},
};
#undef ROW

/* The cursor holds stream and perspective of the last row, a line each. */
static pawl_status checkpoint_list(struct request *request, pawl_error *err) {
    static const char *const names[] = {"pending", "processing", "completed", "failed"};
    struct checkpoint_filter filter = {.perspective = request_text(request, "perspective"),
                                       .stream = request_text(request, "stream"),
                                       .limit = request_limit(request),
                                       .status = request_choice(request, "state") - 1};
    pawl_str after = request_after(request);
    struct checkpoint_views found = {.count = 0};
    const char *next = NULL, *line = after.len > 0 ? memchr(after.ptr, '\n', after.len) : NULL;
    if (line != NULL) {
        size_t len = (size_t)(line - after.ptr);
        filter.after_stream = (pawl_str){after.ptr, len};
        filter.after_perspective = (pawl_str){line + 1, after.len - len - 1};
    }
    TRY(request->store->ops->events.checkpoints_list(request->store, &filter, request->arena, &found, err));
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

/* ---- The table */

#define FIELD_ROW_KEY                                                                                        \
    {                                                                                                        \
        TEXT_FIELD(IN_PATH, "name", PAWL_STREAM_BYTES_MAX, "The perspective with its version."),             \
            .required = true, .value = "NAME@VERSION", .example = "\"orders@1\""                             \
    }
#define FIELD_ROW_ONLY                                                                                       \
    {                                                                                                        \
        TEXT_FIELD(IN_QUERY, "perspective", PAWL_STREAM_BYTES_MAX, "Only of this one."),                     \
            .word = true, .value = "NAME@VERSION"                                                            \
    }
#define FLAG_RATES                                                                                           \
    { DURATION_FIELD(IN_TERMINAL, "rates_ms", 1, 3600000, "Measure the speed over this time.") }
static const struct field list_fields[] = {FLAG_RATES};
static const struct field name_fields[] = {FIELD_ROW_NAME("The perspective, without a version."), FLAG_RATES};
static const struct field key_fields[] = {FIELD_ROW_KEY};
static const struct field error_fields[] = {FIELD_ROW_ONLY};
static const struct field checkpoint_fields[] = {
    FIELD_ROW_ONLY,
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},
    {CHOICE_FIELD(IN_QUERY, "state", "pending|processing|completed|failed", "Only in this state.")}};
#define FIELD_ROW_STREAMS                                                                                    \
    {                                                                                                        \
        FIELD(FIELD_TEXTS, IN_BODY, "streams", "Only these; all by default."), .max = PAWL_BATCH_DEFAULT,    \
                                                                               .word = true                  \
    }
static const struct field reset_fields[] = {FIELD_ROW_KEY, FIELD_ROW_STREAMS};
static const struct field rebuild_fields[] = {FIELD_ROW_KEY, FIELD_ROW_STREAMS, FLAG_YES};
static const struct field delete_fields[] = {FIELD_ROW_KEY, FLAG_YES};
static const struct field skip_fields[] = {
    FIELD_ROW_KEY,
    {TEXT_FIELD(IN_BODY, "stream", PAWL_STREAM_BYTES_MAX, "Of the event."), .required = true, .word = true},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Of the event."), .required = true, .word = true},
    {TEXT_FIELD(IN_BODY, "reason", 500, "Why it is left out."), .required = true}};
static const struct field switch_fields[] = {
    FIELD_ROW_NAME("The perspective, without a version."),
    {INT_FIELD(IN_BODY, "version", 1, PAWL_PERSPECTIVE_VERSION_MAX, "Becomes live."), .required = true,
     .word = true},
    {DURATION_FIELD(IN_BODY, "timeout_ms", 0, PAWL_SWITCH_WAIT_MS_MAX,
                    "How long appends may be blocked for it.")},
    {TEXT_FIELD(IN_TERMINAL, "digest_old", 0, "A query that reduces the old version's tables to one text."),
     .value = "SQL"},
    {TEXT_FIELD(IN_TERMINAL, "digest_new", 0, "The same for the new version; the two texts must be equal."),
     .value = "SQL"}};
static const struct field wait_fields[] = {
    {TEXT_FIELD(IN_PATH, "name", PAWL_STREAM_BYTES_MAX, "The perspective, with or without its version."),
     .required = true, .value = "NAME[@VERSION]"},
    {TEXT_FIELD(IN_QUERY, "stream", PAWL_STREAM_BYTES_MAX, "The stream."), .example = "\"order-1\""},
    {INT_FIELD(IN_QUERY, "at_version", 1, 0, "The version of the stream that must be applied."),
     .example = "1"},
    {INT_FIELD(IN_QUERY, "position", 1, 0, "Everything up to this position must be applied.")},
    {DURATION_FIELD(IN_QUERY, "timeout_ms", 1, PAWL_WAIT_RESULT_MS_MAX, "How long to wait; 30s by default."),
     .example = "100"}};

static const struct operation operations[] = {
    {OPERATION("perspective.list", "Show the perspectives: checkpoints by state, lag, time left"),
     READS("/v1/perspectives"), FIELDS(list_fields), COLUMNS(perspective_columns), .run = perspective_list,
     .details = "The lag is in events and in the age of the first that is not applied. With --rates, eta is "
                "the time until all is applied, at the speed measured.",
     .example = "pawl perspective list --rates 5s", .empty = "no perspectives"},
    {OPERATION("perspective.show", "Show every version of one perspective"), READS("/v1/perspectives/{name}"),
     FIELDS(name_fields), COLUMNS(perspective_columns), .run = perspective_list},
    {OPERATION("perspective.checkpoints", "List how far each perspective has applied each stream"),
     READS("/v1/perspectives/checkpoints"), FIELDS(checkpoint_fields), .paged = PAGED, COLUMNS(place_columns),
     .run = checkpoint_list, .example = "pawl perspective checkpoints orders@1 --state failed",
     .empty = "no checkpoints"},
    {OPERATION("perspective.errors", "Count the failures of perspectives by cause"),
     READS("/v1/perspectives/errors"), FIELDS(error_fields), .paged = PAGED_LIMIT,
     COLUMNS(checkpoint_error_columns), .run = perspective_errors, .empty = "nothing has failed"},
    {OPERATION("perspective.wait", "Wait until a perspective has applied what was written"),
     READS("/v1/perspectives/{name}/wait"), FIELDS(wait_fields), RECORD(reached_columns), .run = wait_for,
     .check = check_wait, .details = "The exit code is 75 when it has not been applied in time.",
     .example = "pawl perspective wait orders --stream order-1 --at-version 3 --timeout 5s"},
    {OPERATION("perspective.pause", "Stop applying events to a perspective for now"),
     POSTS("/v1/perspectives/{name}/pause"), FIELDS(key_fields), RECORD(perspective_answer_columns),
     .run = perspective_pause},
    {OPERATION("perspective.resume", "Resume a paused perspective"), POSTS("/v1/perspectives/{name}/resume"),
     FIELDS(key_fields), RECORD(perspective_answer_columns), .run = perspective_resume},
    {OPERATION("perspective.reset", "Retry the failed streams of a perspective now"),
     POSTS("/v1/perspectives/{name}/reset"), FIELDS(reset_fields), RECORD(perspective_reset_columns),
     .run = perspective_retry},
    {OPERATION("perspective.skip", "Skip one event in a perspective, with a reason"),
     POSTS("/v1/perspectives/{name}/skip"), FIELDS(skip_fields), RECORD(perspective_answer_columns),
     .run = perspective_skip,
     .example = "pawl perspective skip orders@1 order-7 12 --reason 'amount was text'"},
    {OPERATION("perspective.rebuild", "Rebuild a perspective from the first event, in place"),
     POSTS("/v1/perspectives/{name}/rebuild"), FIELDS(rebuild_fields), RECORD(perspective_reset_columns),
     .run = perspective_rebuild,
     .details = "Its clear statement and the reset of its checkpoints are one transaction. Readers see the "
                "model fill up; to avoid that, set a new version and switch to it."},
    {OPERATION("perspective.switch", "Make a filled version of a perspective the live one"),
     POSTS("/v1/perspectives/{name}/switch"), FIELDS(switch_fields), RECORD(switch_columns),
     .run = perspective_switch,
     .details = "In one transaction, when the version has applied everything; appends wait meanwhile, at "
                "most --timeout. With digests both versions are compared first."},
    {OPERATION("perspective.delete", "Delete a perspective; its checkpoints and tables stay"),
     DELETES("/v1/perspectives/{name}"), FIELDS(delete_fields), RECORD(perspective_answer_columns),
     .run = perspective_remove},
};

const struct operation_table perspective_operations = OPERATION_TABLE(operations);
