/* Routes of perspectives: state, errors, checkpoints, pause, rebuild, switch. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/events.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/event.h"
#include "view/names.h"
#include "work/doctor/fleet_facts.h"

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

#define CHANGES(route_path, route_name, text, function)                                                      \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name),                                                           \
            .tag = "perspectives", .summary = (text), FIELDS(key_fields), .shape = ANSWER_RECORD,            \
            COLUMNS(perspective_answer_columns), .operation = (function)                                     \
    }
#define RESETS(route_path, route_name, text, function)                                                       \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name),                                                           \
            .tag = "perspectives", .summary = (text), FIELDS(reset_fields), .shape = ANSWER_RECORD,          \
            COLUMNS(perspective_reset_columns), .operation = (function)                                      \
    }

static const struct route routes[] = {
    {READS("/v1/perspectives", "listPerspectives"), .tag = "perspectives",
     .summary = "List perspectives: checkpoints by status, lag, progress", COLUMNS(perspective_columns),
     .operation = op_perspective_list},
    {READS("/v1/perspectives/errors", "listPerspectiveErrors"), .tag = "perspectives",
     .summary = "Count the failures of perspectives by cause", FIELDS(error_fields),
     COLUMNS(checkpoint_error_columns), .operation = op_perspective_errors},
    {READS("/v1/perspectives/{name}", "readPerspective"), .tag = "perspectives",
     .summary = "Every version of one perspective", FIELDS(name_fields), COLUMNS(perspective_columns),
     .operation = op_perspective_list},
    {READS("/v1/checkpoints", "listCheckpoints"), .tag = "perspectives",
     .summary = "How far each perspective has applied each stream", FIELDS(checkpoint_fields),
     COLUMNS(place_columns), .run = checkpoints},
    CHANGES("/v1/perspectives/{name}/pause", "pausePerspective", "Pause it", op_perspective_pause),
    CHANGES("/v1/perspectives/{name}/resume", "resumePerspective", "Resume it", op_perspective_resume),
    CHANGES("/v1/perspectives/{name}/remove", "removePerspective", "Stop feeding it", op_perspective_remove),
    RESETS("/v1/perspectives/{name}/reset", "resetPerspective", "Retry its failed streams now",
           op_perspective_retry),
    RESETS("/v1/perspectives/{name}/rebuild", "rebuildPerspective", "Rebuild it from the first event",
           op_perspective_rebuild),
    {ACTS(METHOD_POST, "/v1/perspectives/{name}/skip", "skipEvent"), .tag = "perspectives",
     .summary = "Skip one event", FIELDS(skip_fields), .shape = ANSWER_RECORD,
     COLUMNS(perspective_answer_columns), .operation = op_perspective_skip},
    {ACTS(METHOD_POST, "/v1/perspectives/{name}/switch", "switchPerspective"), .tag = "perspectives",
     .summary = "Make a filled version the live one", FIELDS(switch_fields), .shape = ANSWER_RECORD,
     COLUMNS(switch_columns), .run = switch_to},
};

const struct route_table perspective_routes = ROUTE_TABLE(routes);
