/* Operations on schedules: list, read from inputs, store with the next run, preview. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/jobs.h"
#include "operations/tables.h"
#include "operations/tasks.h"
#include "view/work.h"
#include "work/pipeline/job.h"
#include "work/schedule_duty.h"

static const struct column instant_columns[] = {{COLUMN(TIME, "instant")}};

enum { INSTANTS_DEFAULT = 10, INSTANTS_MAX = 1000 };

static pawl_status schedule_list(struct request *request, pawl_error *err) {
    struct schedule_filter filter = {.task = request_text(request, "task"),
                                     .after_name = request_after(request),
                                     .limit = request_limit(request)};
    struct job_schedule_list found = {.count = 0};
    TRY(request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err));
    const char *next = found.count == (size_t)filter.limit ? found.schedules[found.count - 1].name.ptr : NULL;
    return request_rows(request, ROWS_OF(schedule, found.schedules, found.count), next, err);
}

static pawl_status schedule_find(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    pawl_str name = request_text(request, "name");
    struct schedule_filter filter = {.name = name, .limit = 1};
    struct job_schedule_list found = {.count = 0};
    TRY(request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err));
    if (found.count == 0)
        return request_not_found("schedule", "schedule", name, err);
    *schedule = found.schedules[0];
    return PAWL_OK;
}

static pawl_status schedule_show(struct request *request, pawl_error *err) {
    struct job_schedule schedule = {0};
    TRY(schedule_find(request, &schedule, err));
    return request_shown(request, schedule_columns, SCHEDULE_COLUMNS, &schedule, err);
}

static pawl_status schedule_from(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    pawl_str cron = request_text(request, "cron"), every = request_text(request, "every"),
             at = request_text(request, "at");
    int missed = request_choice(request, "missed"), overlap = request_choice(request, "overlap");
    const char *dashes = request->front->dashes;
    if (!str_absent(cron) + !str_absent(every) + !str_absent(at) != 1)
        return error_set(err, PAWL_INVALID, "schedule", "give one of %scron, %severy and %sat", dashes,
                         dashes, dashes);
    *schedule = (struct job_schedule){
        .name = request_text(request, "name"),
        .task = request_text(request, "task"),
        .kind = !str_absent(cron)    ? JOB_SCHEDULE_CRON
                : !str_absent(every) ? JOB_SCHEDULE_INTERVAL
                                     : JOB_SCHEDULE_AT,
        .expr = !str_absent(cron)    ? cron
                : !str_absent(every) ? every
                                     : at,
        .zone = request_text(request, "zone"),
        .missed = missed != 0 ? (enum missed_policy)missed : MISSED_ONE,
        .missed_max = PAWL_SCHEDULE_MISSED_DEFAULT,
        .overlap = overlap != 0 ? (enum overlap)overlap : OVERLAP_ALLOW,
        .jitter_ms = request_number(request, "jitter_ms", 0),
        .paused = request_bool(request, "paused"),
        .start_ms = request_number(request, "start_ms", 0),
        .end_ms = request_number(request, "end_ms", 0),
        .version = request_number(request, "expected_version", 0),
    };
    return PAWL_OK;
}

static pawl_status compile(const struct job_schedule *schedule, struct schedule **compiled, pawl_error *err) {
    struct schedule_rule rule;
    TRY(schedule_rule_of(schedule, &rule, err));
    return schedule_compile(&rule, NULL, compiled, err);
}

pawl_status schedule_store(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    struct schedule *compiled = NULL;
    struct put_answer answer = {0};
    int64_t now_ms = 0;
    pawl_status status = task_owned(request, schedule->task, err);
    if (status == PAWL_OK)
        status = compile(schedule, &compiled, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    if (status == PAWL_OK && (schedule->paused || !schedule_next(compiled, now_ms - 1, &schedule->next_ms)))
        schedule->next_ms = 0;
    schedule_free(compiled);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->schedule_put(request->store, schedule, &answer, err);
    if (status != PAWL_OK || answer.answer == ANSWER_APPLIED)
        return status;
    if (answer.answer == ANSWER_NOT_FOUND)
        return request_not_found("schedule", "task", schedule->task, err);
    return error_set(err, PAWL_CONFLICT, "schedule",
                     "the schedule was changed by someone else in the meantime");
}

static pawl_status schedule_instants(struct request *request, const struct job_schedule *schedule,
                                     pawl_error *err) {
    int64_t ticks[INSTANTS_MAX], now_ms = 0, wanted = request_number(request, "limit", INSTANTS_DEFAULT);
    struct schedule *compiled = NULL;
    size_t found = 0;
    pawl_status status = compile(schedule, &compiled, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    if (status == PAWL_OK)
        found = schedule_preview(compiled, now_ms, ticks,
                                 (size_t)(wanted < INSTANTS_MAX ? wanted : INSTANTS_MAX));
    schedule_free(compiled);
    if (status != PAWL_OK)
        return status;
    request_list(request, instant_columns, COLUMN_COUNT(instant_columns));
    for (size_t i = 0; i < found; i++)
        request_row(request, (struct cell[]){cell_time(ticks[i])});
    return request_list_end(request, NULL, err);
}

pawl_status schedule_given(struct request *request, struct job_schedule *schedule, bool *given,
                           pawl_error *err) {
    static const char *const details[] = {"zone", "missed", "overlap", "jitter_ms", "start_ms", "end_ms"};
    int64_t now_ms = 0;
    *given = request_value(request, "cron").present || request_value(request, "every").present ||
             request_value(request, "at").present;
    for (size_t i = 0; !*given && i < sizeof details / sizeof *details; i++)
        if (request_value(request, details[i]).present)
            return error_set(err, PAWL_INVALID, "schedule", "%s needs one of cron, every and at", details[i]);
    if (!*given)
        return PAWL_OK;
    TRY(schedule_from(request, schedule, err));
    TRY(request->store->ops->core.clock_read(request->store, &now_ms, err));
    return schedule_first(schedule, now_ms, &schedule->next_ms, err);
}

/* ---- Changing */

/* Whether the caller may replace or remove the schedule of this name, if there is one. */
static pawl_status schedule_owned(struct request *request, pawl_error *err) {
    struct job_schedule schedule = {0};
    pawl_error none;
    pawl_status status = schedule_find(request, &schedule, &none);
    if (status == PAWL_OK)
        return task_owned(request, schedule.task, err);
    if (status != PAWL_NOT_FOUND)
        *err = none;
    return status == PAWL_NOT_FOUND ? PAWL_OK : status;
}

static pawl_status schedule_put(struct request *request, pawl_error *err) {
    struct job_schedule schedule = {0};
    int64_t now_ms = 0;
    TRY(schedule_from(request, &schedule, err));
    TRY(schedule_owned(request, err));
    TRY(request_json(request, "params", &schedule.params, err));
    TRY(request->store->ops->core.clock_read(request->store, &now_ms, err));
    TRY(schedule_first(&schedule, now_ms, &schedule.next_ms, err));
    TRY(pipeline_task_check(request->store, schedule.task, schedule.params, request->arena, err));
    TRY(schedule_store(request, &schedule, err));
    return schedule_show(request, err);
}

static const struct column deleted_columns[] = {{COLUMN(TEXT, "name")}, {COLUMN(TEXT, "answer")}};

static pawl_status schedule_remove(struct request *request, pawl_error *err) {
    pawl_str name = request_text(request, "name");
    TRY(schedule_owned(request, err));
    TRY(request->store->ops->jobs->schedule_remove(request->store, name, err));
    return REQUEST_RECORD(request, deleted_columns, err, cell_text(name), cell_cstr("deleted"));
}

static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct job_schedule schedule = {0};
    TRY(schedule_find(request, &schedule, err));
    schedule.paused = paused;
    TRY(schedule_store(request, &schedule, err));
    return schedule_show(request, err);
}

static pawl_status schedule_pause(struct request *request, pawl_error *err) {
    return set_paused(request, true, err);
}
static pawl_status schedule_resume(struct request *request, pawl_error *err) {
    return set_paused(request, false, err);
}

/* ---- Looking ahead, and now */

/* Of a schedule by name, or of the rule that the inputs describe. */
static pawl_status schedule_preview_of(struct request *request, pawl_error *err) {
    struct job_schedule schedule = {0};
    bool given = false;
    TRY(schedule_given(request, &schedule, &given, err));
    if (!given && !request_value(request, "name").present)
        return error_set(err, PAWL_INVALID, "schedule",
                         "name a schedule, or give one of %scron, %severy and %sat", request->front->dashes,
                         request->front->dashes, request->front->dashes);
    if (!given)
        TRY(schedule_find(request, &schedule, err));
    return schedule_instants(request, &schedule, err);
}

static pawl_status schedule_run(struct request *request, pawl_error *err) {
    struct job_schedule schedule = {0};
    TRY(schedule_find(request, &schedule, err));
    return task_enqueue(request, schedule.task, schedule.params, err);
}

/* ---- The table */

static const struct field list_fields[] = {
    {TEXT_FIELD(IN_QUERY, "task", PAWL_NAME_BYTES_MAX, "Only of this task.")}};
static const struct field name_fields[] = {FIELD_ROW_NAME("The schedule.")};
static const struct field preview_fields[] = {
    {TEXT_FIELD(IN_QUERY, "name", PAWL_NAME_BYTES_MAX, "The schedule; or a rule instead."), .word = true},
    SCHEDULE_RULE_FIELDS(IN_QUERY),
    {INT_FIELD(IN_QUERY, "limit", 1, INSTANTS_MAX, "How many runs to show; 10 by default.")}};
static const struct field set_fields[] = {
    FIELD_ROW_NAME("The schedule."),
    {TEXT_FIELD(IN_BODY, "task", PAWL_NAME_BYTES_MAX, "The task that it fires."), .required = true},
    SCHEDULE_RULE_FIELDS(IN_BODY),
    SCHEDULE_POLICY_FIELDS,
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "Payload of its jobs; the task's by default.")},
    {BOOL_FIELD(IN_BODY, "paused", "Does not fire.")},
    {INT_FIELD(IN_BODY, "expected_version", 1, 0, "Refuse unless it has this version.")}};

static const struct operation operations[] = {
    {OPERATION("schedule.list", "List schedules with their last and next runs"), READS("/v1/schedules"),
     FIELDS(list_fields), .paged = PAGED, COLUMNS(schedule_columns), .run = schedule_list,
     .empty = "no schedules"},
    {OPERATION("schedule.show", "Show one schedule"), READS("/v1/schedules/{name}"), FIELDS(name_fields),
     RECORD(schedule_columns), .run = schedule_show},
    {OPERATION("schedule.preview", "Show the next runs of a schedule, or of a rule that is not stored"),
     READS("/v1/schedules/preview"), FIELDS(preview_fields), COLUMNS(instant_columns),
     .run = schedule_preview_of,
     .details = "docs/schedules.md has the rules for gaps and overlaps of daylight saving time.",
     .example = "pawl schedule preview nightly --limit 5\npawl schedule preview --cron '30 2 * * *' --zone "
                "Europe/Berlin",
     .empty = "it has no more runs"},
    {OPERATION("schedule.set", "Create or change a schedule"), PUTS("/v1/schedules/{name}"),
     FIELDS(set_fields), RECORD(schedule_columns), .run = schedule_put,
     .example = "pawl schedule set nightly --task report --cron '0 3 * * *' --zone Europe/Berlin"},
    {OPERATION("schedule.delete", "Delete a schedule"), DELETES("/v1/schedules/{name}"), FIELDS(name_fields),
     RECORD(deleted_columns), .run = schedule_remove},
    {OPERATION("schedule.pause", "Pause a schedule"), POSTS("/v1/schedules/{name}/pause"),
     FIELDS(name_fields), RECORD(schedule_columns), .run = schedule_pause},
    {OPERATION("schedule.resume", "Resume a schedule; missed runs are not made up for"),
     POSTS("/v1/schedules/{name}/resume"), FIELDS(name_fields), RECORD(schedule_columns),
     .run = schedule_resume},
    {OPERATION("schedule.run", "Enqueue a job of a schedule now, in addition to its rule"),
     POSTS("/v1/schedules/{name}/run"), FIELDS(name_fields), RECORD(enqueued_columns), .run = schedule_run},
};

const struct operation_table schedule_operations = OPERATION_TABLE(operations);
