/* Schedules: listed, changed, paused, looked ahead, fired by hand. */
#include "base/error.h"
#include "base/str.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/output/row.h"
#include "view/work.h"
#include "work/pipeline/job.h"
#include "work/schedule_duty.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct schedule_filter filter = {
        .task = call_text(call, "task"), .after_name = call_cursor(call), .limit = call_limit(call)};
    struct job_schedule_list found = {.count = 0};
    pawl_status status = call->store->ops->jobs->schedules(call->store, &filter, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.schedules, sizeof *found.schedules, found.count);
    const char *next = found.count == (size_t)filter.limit ? found.schedules[found.count - 1].name.ptr : NULL;
    return call_list_end(call, next, err);
}

static pawl_status find(struct call *call, struct job_schedule *schedule, pawl_error *err) {
    struct schedule_filter filter = {.name = call_text(call, "name"), .limit = 1};
    struct job_schedule_list found = {.count = 0};
    pawl_status status = call->store->ops->jobs->schedules(call->store, &filter, call->arena, &found, err);
    if (status == PAWL_OK && found.count == 0)
        status =
            error_set(err, PAWL_NOT_FOUND, "schedule", "there is no schedule '%.*s'", STR_ARG(filter.name));
    if (status == PAWL_OK)
        *schedule = found.schedules[0];
    return status;
}

static pawl_status show(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    struct cell cells[SCHEDULE_COLUMNS];
    pawl_status status = find(call, &schedule, err);
    if (status != PAWL_OK)
        return status;
    row_cells(schedule_columns, SCHEDULE_COLUMNS, &schedule, NULL, cells);
    call_record(call, cells);
    return PAWL_OK;
}

/* ---- Changing */

static pawl_status compile(const struct job_schedule *schedule, struct schedule **compiled, pawl_error *err) {
    struct schedule_rule rule;
    pawl_status status = schedule_rule_of(schedule, &rule, err);
    return status == PAWL_OK ? schedule_compile(&rule, NULL, compiled, err) : status;
}

/* Stores it with its next instant from now on; none while it is paused. */
static pawl_status store_it(struct call *call, struct job_schedule *schedule, pawl_error *err) {
    struct schedule *compiled = NULL;
    struct put_answer answer = {0};
    int64_t now_ms = 0;
    pawl_status status = compile(schedule, &compiled, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    if (status == PAWL_OK && (schedule->paused || !schedule_next(compiled, now_ms - 1, &schedule->next_ms)))
        schedule->next_ms = 0;
    schedule_free(compiled);
    if (status == PAWL_OK)
        status = call->store->ops->jobs->schedule_put(call->store, schedule, &answer, err);
    if (status != PAWL_OK || answer.answer == ANSWER_APPLIED)
        return status;
    if (answer.answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "schedule", "there is no task '%.*s'", STR_ARG(schedule->task));
    return error_set(err, PAWL_CONFLICT, "schedule",
                     "the schedule was changed by someone else in the meantime");
}

/* What the body says. */
static pawl_status read_schedule(struct call *call, struct job_schedule *schedule, pawl_error *err) {
    pawl_str cron = call_text(call, "cron"), every = call_text(call, "every"), at = call_text(call, "at");
    int missed = call_choice(call, "missed"), overlap = call_choice(call, "overlap");
    if (!str_absent(cron) + !str_absent(every) + !str_absent(at) != 1)
        return error_set(err, PAWL_INVALID, "schedule", "give one of cron, every and at");
    *schedule = (struct job_schedule){
        .name = call_text(call, "name"),
        .task = call_text(call, "task"),
        .kind = !str_absent(cron)    ? JOB_SCHEDULE_CRON
                : !str_absent(every) ? JOB_SCHEDULE_INTERVAL
                                     : JOB_SCHEDULE_AT,
        .expr = !str_absent(cron)    ? cron
                : !str_absent(every) ? every
                                     : at,
        .zone = call_text(call, "zone"),
        .missed = missed != 0 ? (enum missed_policy)missed : MISSED_ONE,
        .missed_max = PAWL_SCHEDULE_MISSED_DEFAULT,
        .overlap = overlap != 0 ? (enum overlap)overlap : OVERLAP_ALLOW,
        .jitter_ms = call_int(call, "jitter_ms", 0),
        .start_ms = call_int(call, "start_ms", 0),
        .end_ms = call_int(call, "end_ms", 0),
        .paused = call_bool(call, "paused"),
        .version = call_int(call, "version", 0),
    };
    return call_json(call, "params", &schedule->params, err);
}

static pawl_status put(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    int64_t now_ms = 0;
    pawl_status status = read_schedule(call, &schedule, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    if (status == PAWL_OK)
        status = schedule_first(&schedule, now_ms, &schedule.next_ms, err);
    if (status == PAWL_OK)
        status = pipeline_task_check(call->store, schedule.task, schedule.params, call->arena, err);
    if (status == PAWL_OK)
        status = store_it(call, &schedule, err);
    return status == PAWL_OK ? show(call, err) : status;
}

static pawl_status remove_schedule(struct call *call, pawl_error *err) {
    return call->store->ops->jobs->schedule_remove(call->store, call_text(call, "name"), err);
}

static pawl_status set_paused(struct call *call, bool paused, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(call, &schedule, err);
    if (status != PAWL_OK)
        return status;
    schedule.paused = paused;
    status = store_it(call, &schedule, err);
    return status == PAWL_OK ? show(call, err) : status;
}

static pawl_status pause_it(struct call *call, pawl_error *err) { return set_paused(call, true, err); }
static pawl_status resume(struct call *call, pawl_error *err) { return set_paused(call, false, err); }

/* ---- Looking ahead, and now */

static const struct column instant_columns[] = {{COLUMN(TIME, "instant")}};

static pawl_status instants(struct call *call, const struct job_schedule *schedule, pawl_error *err) {
    enum { INSTANTS_MAX = 100, INSTANTS_DEFAULT = 10 };
    int64_t ticks[INSTANTS_MAX], now_ms = 0;
    struct schedule *compiled = NULL;
    int64_t wanted = call_int(call, "limit", INSTANTS_DEFAULT);
    pawl_status status = compile(schedule, &compiled, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    size_t found = 0;
    if (status == PAWL_OK)
        found = schedule_preview(compiled, now_ms, ticks,
                                 (size_t)(wanted < INSTANTS_MAX ? wanted : INSTANTS_MAX));
    schedule_free(compiled);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < found; i++)
        call_row(call, (struct cell[]){cell_time(ticks[i])});
    return call_list_end(call, NULL, err);
}

static pawl_status preview(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(call, &schedule, err);
    return status == PAWL_OK ? instants(call, &schedule, err) : status;
}

static pawl_status preview_body(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = read_schedule(call, &schedule, err);
    return status == PAWL_OK ? instants(call, &schedule, err) : status;
}

static const struct column run_columns[] = {{COLUMN(INT, "id")}, {COLUMN(TEXT, "answer")}};

static pawl_status enqueue(struct call *call, pawl_str task, pawl_str params, pawl_error *err) {
    struct job_new job = {.task = task, .payload = params};
    struct jobs_enqueue in = {.jobs = &job, .count = 1};
    struct enqueue_result out;
    pawl_status status = call_request(call, 0, &in.request, err);
    if (status == PAWL_OK)
        status = pipeline_task_check(call->store, task, params, call->arena, err);
    if (status == PAWL_OK)
        status = call->store->ops->jobs->enqueue(call->store, &in, call->arena, &out, err);
    if (status != PAWL_OK)
        return status;
    if (out.answers[0] == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "task", "there is no task '%.*s'", STR_ARG(task));
    if (out.answers[0] == ANSWER_REFUSED)
        return error_set(err, PAWL_CONFLICT, "task", "refused: its agent lacks a scope; see /v1/refusals");
    call_record(call,
                (struct cell[]){out.ids[0] != 0 ? cell_int(out.ids[0]) : cell_none(),
                                cell_cstr(out.answers[0] == ANSWER_APPLIED ? "enqueued" : "duplicate")});
    return PAWL_OK;
}

static pawl_status run_schedule(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(call, &schedule, err);
    return status == PAWL_OK ? enqueue(call, schedule.task, schedule.params, err) : status;
}

static pawl_status run_task(struct call *call, pawl_error *err) {
    pawl_str params;
    pawl_status status = call_json(call, "params", &params, err);
    return status == PAWL_OK ? enqueue(call, call_text(call, "name"), params, err) : status;
}

/* ---- Fields and routes */

static const struct field list_fields[] = {
    {TEXT_FIELD(IN_QUERY, "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field name_fields[] = {FIELD_ROW_NAME("The schedule.")};
static const struct field ahead_fields[] = {FIELD_ROW_NAME("The schedule."), FIELD_ROW_LIMIT};
#define RULE_FIELDS                                                                                          \
    {TEXT_FIELD(IN_BODY, "cron", PAWL_CRON_BYTES_MAX, "docs/schedules.md has the form.")},                   \
        {TEXT_FIELD(IN_BODY, "every", 32, "An interval such as 15m.")},                                      \
        {TEXT_FIELD(IN_BODY, "at", 64, "Once, at 2026-01-02T03:04:05Z.")},                                   \
        {TEXT_FIELD(IN_BODY, "zone", PAWL_ZONE_NAME_BYTES_MAX, "IANA name; UTC without it.")},               \
        {INT_FIELD(IN_BODY, "start_ms", 1, 0, "Not before.")}, {                                             \
        INT_FIELD(IN_BODY, "end_ms", 1, 0, "Not after.")                                                     \
    }
static const struct field rule_fields[] = {RULE_FIELDS,
                                           {INT_FIELD(IN_BODY, "limit", 1, 100, "How many runs to show.")}};
static const struct field put_fields[] = {
    FIELD_ROW_NAME("The schedule."),
    RULE_FIELDS,
    {TEXT_FIELD(IN_BODY, "task", PAWL_NAME_BYTES_MAX, "The task that it fires."), .required = true},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of its jobs; the task's without it.")},
    {CHOICE_FIELD(IN_BODY, "missed", "skip|one|all", "What to do about missed runs.")},
    {CHOICE_FIELD(IN_BODY, "overlap", "allow|skip|queue", "While an earlier job of it is unfinished.")},
    {INT_FIELD(IN_BODY, "jitter_ms", 0, PAWL_SCHEDULE_JITTER_MS_MAX, "Maximum random delay.")},
    {FIELD(FIELD_BOOL, IN_BODY, "paused", "Does not fire.")},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Refuse unless it has this version.")}};
static const struct field run_fields[] = {
    FIELD_ROW_NAME("The task."),
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of the job; the task's without it.")}};

#define SCHEDULE_RECORD .shape = ANSWER_RECORD, COLUMNS(schedule_columns)

static const struct route routes[] = {
    {READS("/v1/schedules", "listSchedules"), .tag = "schedules",
     .summary = "List schedules with their last and next runs", FIELDS(list_fields),
     COLUMNS(schedule_columns), .run = list},
    {ACTS(METHOD_POST, "/v1/schedules/preview", "previewRule"), .tag = "schedules",
     .summary = "The next instants of a rule that you think of", .unaudited = true, FIELDS(rule_fields),
     COLUMNS(instant_columns), .run = preview_body},
    {READS("/v1/schedules/{name}", "readSchedule"), .tag = "schedules", .summary = "Show one schedule",
     FIELDS(name_fields), SCHEDULE_RECORD, .run = show},
    {ACTS(METHOD_PUT, "/v1/schedules/{name}", "putSchedule"), .tag = "schedules",
     .summary = "Make or change a schedule", FIELDS(put_fields), SCHEDULE_RECORD, .run = put},
    {ACTS(METHOD_DELETE, "/v1/schedules/{name}", "deleteSchedule"), .tag = "schedules",
     .summary = "Delete a schedule", FIELDS(name_fields), .shape = ANSWER_EMPTY, .status = 204,
     .run = remove_schedule},
    {READS("/v1/schedules/{name}/preview", "previewSchedule"), .tag = "schedules",
     .summary = "Its next instants", FIELDS(ahead_fields), COLUMNS(instant_columns), .run = preview},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/pause", "pauseSchedule"), .tag = "schedules",
     .summary = "Pause it", FIELDS(name_fields), SCHEDULE_RECORD, .run = pause_it},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/resume", "resumeSchedule"), .tag = "schedules",
     .summary = "Resume it; missed runs are not made up for", FIELDS(name_fields), SCHEDULE_RECORD,
     .run = resume},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/run", "runSchedule"), .tag = "schedules",
     .summary = "Enqueue its job now, beside its instants", FIELDS(name_fields), .shape = ANSWER_RECORD,
     COLUMNS(run_columns), .run = run_schedule},
    {ACTS(METHOD_POST, "/v1/tasks/{name}/run", "runTask"), .tag = "tasks",
     .summary = "Enqueue a job of the task now", FIELDS(run_fields), .shape = ANSWER_RECORD,
     COLUMNS(run_columns), .run = run_task},
};

const struct route_table schedule_routes = ROUTE_TABLE(routes);
