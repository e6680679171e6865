/* Routes of schedules: list, change, pause, preview, run now. */
#include "operations/jobs.h"
#include "operations/operations.h"
#include "operations/tasks.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/work.h"
#include "work/pipeline/job.h"
#include "work/schedule_duty.h"

/* ---- Changing */

static pawl_status put(struct call *call, pawl_error *err) {
    struct job_schedule schedule;
    struct request request = http_request(call);
    int64_t now_ms = 0;
    pawl_status status = schedule_from(&request, &schedule, err);
    if (status == PAWL_OK)
        status = call_json(call, "params", &schedule.params, err);
    if (status == PAWL_OK)
        status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    if (status == PAWL_OK)
        status = schedule_first(&schedule, now_ms, &schedule.next_ms, err);
    if (status == PAWL_OK)
        status = pipeline_task_check(call->store, schedule.task, schedule.params, call->arena, err);
    if (status == PAWL_OK)
        status = schedule_store(&request, &schedule, err);
    return status == PAWL_OK ? op_schedule_show(&request, err) : status;
}

static pawl_status remove_schedule(struct call *call, pawl_error *err) {
    return call->store->ops->jobs->schedule_remove(call->store, call_text(call, "name"), err);
}

static pawl_status find(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    return schedule_find(request, request_text(request, "name"), schedule, err);
}

static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(request, &schedule, err);
    if (status != PAWL_OK)
        return status;
    schedule.paused = paused;
    status = schedule_store(request, &schedule, err);
    return status == PAWL_OK ? op_schedule_show(request, err) : status;
}

static pawl_status pause_it(struct request *request, pawl_error *err) {
    return set_paused(request, true, err);
}
static pawl_status resume(struct request *request, pawl_error *err) {
    return set_paused(request, false, err);
}

/* ---- Looking ahead, and now */

static pawl_status preview(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(request, &schedule, err);
    return status == PAWL_OK ? schedule_instants(request, &schedule, err) : status;
}

static pawl_status preview_rule(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_from(request, &schedule, err);
    return status == PAWL_OK ? schedule_instants(request, &schedule, err) : status;
}

static pawl_status run_schedule(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = find(request, &schedule, err);
    return status == PAWL_OK ? task_enqueue(request, schedule.task, schedule.params, err) : status;
}

static pawl_status run_task(struct request *request, pawl_error *err) {
    pawl_str params;
    pawl_status status = request_json(request, "params", &params, err);
    return status == PAWL_OK ? task_enqueue(request, request_text(request, "name"), params, err) : status;
}

/* ---- Fields and routes */

static const struct field list_fields[] = {
    {TEXT_FIELD(IN_QUERY, "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field name_fields[] = {FIELD_ROW_NAME("The schedule.")};
static const struct field ahead_fields[] = {FIELD_ROW_NAME("The schedule."), FIELD_ROW_LIMIT};
#define RULE_FIELDS                                                                                          \
    {TEXT_FIELD(IN_BODY, "cron", PAWL_CRON_BYTES_MAX, "docs/schedules.md describes the format.")},           \
        {TEXT_FIELD(IN_BODY, "every", 32, "An interval such as 15m.")},                                      \
        {TEXT_FIELD(IN_BODY, "at", 64, "Once, at 2026-01-02T03:04:05Z.")},                                   \
        {TEXT_FIELD(IN_BODY, "zone", PAWL_ZONE_NAME_BYTES_MAX, "IANA name; UTC by default.")},               \
        {INT_FIELD(IN_BODY, "start_ms", 1, 0, "Not before.")}, {                                             \
        INT_FIELD(IN_BODY, "end_ms", 1, 0, "Not after.")                                                     \
    }
static const struct field rule_fields[] = {RULE_FIELDS,
                                           {INT_FIELD(IN_BODY, "limit", 1, 100, "How many runs to show.")}};
static const struct field put_fields[] = {
    FIELD_ROW_NAME("The schedule."),
    RULE_FIELDS,
    {TEXT_FIELD(IN_BODY, "task", PAWL_NAME_BYTES_MAX, "The task that it fires."), .required = true},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of its jobs; the task's by default.")},
    {CHOICE_FIELD(IN_BODY, "missed", "skip|one|all", "What to do about missed runs.")},
    {CHOICE_FIELD(IN_BODY, "overlap", "allow|skip|queue",
                  "What to do while an earlier job of it is unfinished.")},
    {INT_FIELD(IN_BODY, "jitter_ms", 0, PAWL_SCHEDULE_JITTER_MS_MAX, "Maximum random delay.")},
    {FIELD(FIELD_BOOL, IN_BODY, "paused", "Does not fire.")},
    {INT_FIELD(IN_BODY, "version", 1, 0, "Refuse unless it has this version.")}};
static const struct field run_fields[] = {
    FIELD_ROW_NAME("The task."),
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of the job; the task's by default.")}};

#define SCHEDULE_RECORD .shape = ANSWER_RECORD, COLUMNS(schedule_columns)

static const struct route routes[] = {
    {READS("/v1/schedules", "listSchedules"), .tag = "schedules",
     .summary = "List schedules with their last and next runs", FIELDS(list_fields),
     COLUMNS(schedule_columns), .operation = op_schedule_list},
    {ACTS(METHOD_POST, "/v1/schedules/preview", "previewRule"), .tag = "schedules",
     .summary = "The next instants of a rule, without storing it", .unaudited = true, FIELDS(rule_fields),
     COLUMNS(instant_columns), .operation = preview_rule},
    {READS("/v1/schedules/{name}", "readSchedule"), .tag = "schedules", .summary = "Show one schedule",
     FIELDS(name_fields), SCHEDULE_RECORD, .operation = op_schedule_show},
    {ACTS(METHOD_PUT, "/v1/schedules/{name}", "putSchedule"), .tag = "schedules",
     .summary = "Create or change a schedule", FIELDS(put_fields), SCHEDULE_RECORD, .run = put},
    {ACTS(METHOD_DELETE, "/v1/schedules/{name}", "deleteSchedule"), .tag = "schedules",
     .summary = "Delete a schedule", FIELDS(name_fields), .shape = ANSWER_EMPTY, .status = 204,
     .run = remove_schedule},
    {READS("/v1/schedules/{name}/preview", "previewSchedule"), .tag = "schedules",
     .summary = "Its next instants", FIELDS(ahead_fields), COLUMNS(instant_columns), .operation = preview},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/pause", "pauseSchedule"), .tag = "schedules",
     .summary = "Pause it", FIELDS(name_fields), SCHEDULE_RECORD, .operation = pause_it},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/resume", "resumeSchedule"), .tag = "schedules",
     .summary = "Resume it; missed runs are not made up for", FIELDS(name_fields), SCHEDULE_RECORD,
     .operation = resume},
    {ACTS(METHOD_POST, "/v1/schedules/{name}/run", "runSchedule"), .tag = "schedules",
     .summary = "Enqueue its job now, in addition to its schedule", FIELDS(name_fields),
     .shape = ANSWER_RECORD, COLUMNS(enqueued_columns), .operation = run_schedule},
    {ACTS(METHOD_POST, "/v1/tasks/{name}/run", "runTask"), .tag = "tasks",
     .summary = "Enqueue a job of the task now", FIELDS(run_fields), .shape = ANSWER_RECORD,
     COLUMNS(enqueued_columns), .operation = run_task},
};

const struct route_table schedule_routes = ROUTE_TABLE(routes);
