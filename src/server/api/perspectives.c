/* Perspectives: how they do, and what is done about them. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/event.h"
#include "view/names.h"
#include "work/doctor/fleet_facts.h"

static pawl_status list_named(struct call *call, pawl_str name, pawl_error *err) {
    struct perspective_rows rows = {.count = 0};
    pawl_status status = fleet_perspectives(call->store, name, call->arena, &rows, err);
    if (status == PAWL_OK && !str_absent(name) && rows.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective named %.*s",
                           STR_ARG(name));
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[PERSPECTIVE_COLUMNS];
        perspective_cells(call->arena, &rows.rows[i], -1, cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

static pawl_status list(struct call *call, pawl_error *err) {
    return list_named(call, (pawl_str){NULL, 0}, err);
}
static pawl_status show(struct call *call, pawl_error *err) {
    return list_named(call, call_text(call, "name"), err);
}

static pawl_status errors(struct call *call, pawl_error *err) {
    struct checkpoint_errors found = {.count = 0};
    pawl_status status = call->store->ops->events.checkpoint_errors(
        call->store, call_text(call, "perspective"), call_limit(call), call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.rows, sizeof *found.rows, found.count);
    return call_list_end(call, NULL, err);
}

/* ---- Checkpoints */

static const struct column place_columns[] = {
    {COLUMN(TEXT, "perspective")}, {COLUMN(TEXT, "stream")},        {COLUMN(TEXT, "status")},
    {COLUMN(INT, "version")},      {COLUMN(INT, "head")},           {COLUMN(BOOL, "stopped")},
    {COLUMN(INT, "attempts")},     {COLUMN(INT, "failed_version")}, {COLUMN(TIME, "next")},
    {COLUMN(UUID, "instance")},    {COLUMN(TIME, "lease_until")},   {COLUMN(INT, "token")},
    {COLUMN(TIME, "updated")},     {COLUMN(TEXT, "fingerprint")},   {COLUMN(TEXT, "error"), .content = true}};

static void place_row(struct call *call, const struct checkpoint_view *row) {
    static const char *const names[] = {"pending", "processing", "completed", "failed"};
    call_row(call,
             (struct cell[]){cell_text(row->perspective), cell_text(row->stream),
                             cell_cstr(names[row->status]), cell_int(row->version), cell_int(row->head),
                             cell_bool(row->stopped), cell_int(row->attempts), cell_int(row->failed_version),
                             row->stopped ? cell_none() : cell_time(row->next_ms), cell_uuid(row->instance),
                             cell_time(row->lease_until_ms), cell_int(row->token), cell_time(row->updated_ms),
                             cell_text(row->fingerprint), cell_text(row->error)});
}

/* The cursor holds stream and perspective of the last row, a line each. */
static pawl_status checkpoints(struct call *call, pawl_error *err) {
    struct checkpoint_filter filter = {.perspective = call_text(call, "perspective"),
                                       .stream = call_text(call, "stream"),
                                       .status = call_choice(call, "status") - 1,
                                       .limit = call_limit(call)};
    pawl_str cursor = call_cursor(call);
    for (size_t i = 0; i < cursor.len; i++) {
        if (cursor.ptr[i] == '\n') {
            filter.after_stream = (pawl_str){cursor.ptr, i};
            filter.after_perspective = (pawl_str){cursor.ptr + i + 1, cursor.len - i - 1};
        }
    }
    struct checkpoint_views found = {.count = 0};
    pawl_status status =
        call->store->ops->events.checkpoints_list(call->store, &filter, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < found.count; i++)
        place_row(call, &found.rows[i]);
    const char *next = NULL;
    if (found.count == (size_t)filter.limit) {
        const struct checkpoint_view *last = &found.rows[found.count - 1];
        next = arena_printf(call->arena, "%.*s\n%.*s", STR_ARG(last->stream), STR_ARG(last->perspective));
    }
    return call_list_end(call, next, err);
}

/* ---- Changing */

static const struct column answer_columns[] = {{COLUMN(TEXT, "perspective")}, {COLUMN(TEXT, "answer")}};

static pawl_status answered(struct call *call, enum store_answer answer, pawl_error *err) {
    pawl_str name = call_text(call, "name");
    if (answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective %.*s here",
                         STR_ARG(name));
    call_record(call, (struct cell[]){cell_text(name), cell_cstr(answer_name(answer))});
    return PAWL_OK;
}

static pawl_status change(struct call *call, enum perspective_action action, pawl_error *err) {
    enum store_answer answer;
    pawl_status status = call->store->ops->events.perspective_change(call->store, call_text(call, "name"),
                                                                     action, &answer, err);
    return status == PAWL_OK ? answered(call, answer, err) : status;
}

static pawl_status pause_it(struct call *call, pawl_error *err) {
    return change(call, PERSPECTIVE_PAUSE, err);
}
static pawl_status resume(struct call *call, pawl_error *err) {
    return change(call, PERSPECTIVE_RESUME, err);
}
static pawl_status remove_it(struct call *call, pawl_error *err) {
    return change(call, PERSPECTIVE_REMOVE, err);
}

static const struct column reset_columns[] = {{COLUMN(TEXT, "perspective")}, {COLUMN(INT, "checkpoints")}};

static pawl_status again(struct call *call, enum reset_mode mode, pawl_error *err) {
    const struct tree *items = call_value(call, "streams")->tree;
    size_t count = items != NULL ? items->count : 0;
    pawl_str *streams = arena_array(call->arena, count + 1, sizeof *streams);
    int64_t changed = 0;
    if (streams == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspectives", "no memory for the streams");
    for (size_t i = 0; i < count; i++)
        streams[i] = items->items[i]->text;
    struct perspective_reset in = {call_text(call, "name"), mode, streams, count};
    pawl_status status = call->store->ops->events.perspective_reset(call->store, &in, &changed, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_text(in.perspective), cell_int(changed)});
    return status;
}

static pawl_status reset(struct call *call, pawl_error *err) { return again(call, RESET_FAILED, err); }
static pawl_status rebuild(struct call *call, pawl_error *err) { return again(call, RESET_REBUILD, err); }

static pawl_status skip(struct call *call, pawl_error *err) {
    struct checkpoint_skip in = {.perspective = call_text(call, "name"),
                                 .stream = call_text(call, "stream"),
                                 .version = call_int(call, "version", 0),
                                 .reason = call_text(call, "reason")};
    enum store_answer answer;
    pawl_status status = call->store->ops->events.checkpoint_skip(call->store, &in, &answer, err);
    return status == PAWL_OK ? answered(call, answer, err) : status;
}

static const struct column switch_columns[] = {{COLUMN(TEXT, "perspective")},
                                               {COLUMN(TEXT, "answer")},
                                               {COLUMN(INT, "behind")},
                                               {COLUMN(TEXT, "digest_old")},
                                               {COLUMN(TEXT, "digest_new")}};

static pawl_status switch_to(struct call *call, pawl_error *err) {
    struct perspective_switch in = {.name = call_text(call, "name"),
                                    .version = (int)call_int(call, "version", 0),
                                    .wait_ms = call_int(call, "wait_ms", 0)};
    struct switch_result out;
    pawl_status status =
        call->store->ops->events.perspective_switch(call->store, &in, call->arena, &out, err);
    if (status != PAWL_OK)
        return status;
    if (out.answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "perspectives",
                         "version %d is behind in %" PRId64 " streams: wait until it has applied everything",
                         in.version, out.behind);
    call_record(call,
                (struct cell[]){cell_text(in.name), cell_cstr(answer_name(out.answer)), cell_int(out.behind),
                                cell_text(out.digest_old), cell_text(out.digest_new)});
    return PAWL_OK;
}

/* ---- Fields and routes */

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
    {FIELD(FIELD_TEXTS, IN_BODY, "streams", "Only these; all without it."), .max = PAWL_BATCH_DEFAULT}};
static const struct field skip_fields[] = {
    FIELD_ROW_KEY,
    {TEXT_FIELD(IN_BODY, "stream", PAWL_STREAM_BYTES_MAX, "Of the event."), .required = true},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Of the event."), .required = true},
    {TEXT_FIELD(IN_BODY, "reason", 500, "Why it is left out."), .required = true}};
static const struct field switch_fields[] = {
    FIELD_ROW_NAME("The perspective, without a version."),
    {INT_FIELD(IN_BODY, "version", 1, PAWL_PERSPECTIVE_VERSION_MAX, "Becomes live."), .required = true},
    {INT_FIELD(IN_BODY, "wait_ms", 0, 5000, "How long appends may be held back for it.")}};

#define CHANGES(route_path, route_name, text, function)                                                      \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name), .tag = "perspectives", .summary = (text),                 \
                                                   FIELDS(key_fields), .shape = ANSWER_RECORD,               \
                                                   COLUMNS(answer_columns), .run = (function)                \
    }
#define RESETS(route_path, route_name, text, function)                                                       \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name), .tag = "perspectives", .summary = (text),                 \
                                                   FIELDS(reset_fields), .shape = ANSWER_RECORD,             \
                                                   COLUMNS(reset_columns), .run = (function)                 \
    }

static const struct route routes[] = {
    {READS("/v1/perspectives", "listPerspectives"), .tag = "perspectives",
     .summary = "List perspectives: checkpoints by status, lag, progress", COLUMNS(perspective_columns),
     .run = list},
    {READS("/v1/perspectives/errors", "listPerspectiveErrors"), .tag = "perspectives",
     .summary = "Count the failures of perspectives by cause", FIELDS(error_fields),
     COLUMNS(checkpoint_error_columns), .run = errors},
    {READS("/v1/perspectives/{name}", "readPerspective"), .tag = "perspectives",
     .summary = "Every version of one perspective", FIELDS(name_fields), COLUMNS(perspective_columns),
     .run = show},
    {READS("/v1/checkpoints", "listCheckpoints"), .tag = "perspectives",
     .summary = "How far each perspective has applied each stream", FIELDS(checkpoint_fields),
     COLUMNS(place_columns), .run = checkpoints},
    CHANGES("/v1/perspectives/{name}/pause", "pausePerspective", "Pause it", pause_it),
    CHANGES("/v1/perspectives/{name}/resume", "resumePerspective", "Resume it", resume),
    CHANGES("/v1/perspectives/{name}/remove", "removePerspective", "Stop feeding it", remove_it),
    RESETS("/v1/perspectives/{name}/reset", "resetPerspective", "Retry its failed streams now", reset),
    RESETS("/v1/perspectives/{name}/rebuild", "rebuildPerspective", "Build it again from the first event",
           rebuild),
    {ACTS(METHOD_POST, "/v1/perspectives/{name}/skip", "skipEvent"), .tag = "perspectives",
     .summary = "Leave one event out of it", FIELDS(skip_fields), .shape = ANSWER_RECORD,
     COLUMNS(answer_columns), .run = skip},
    {ACTS(METHOD_POST, "/v1/perspectives/{name}/switch", "switchPerspective"), .tag = "perspectives",
     .summary = "Make a version that has filled the live one", FIELDS(switch_fields), .shape = ANSWER_RECORD,
     COLUMNS(switch_columns), .run = switch_to},
};

const struct route_table perspective_routes = ROUTE_TABLE(routes);
