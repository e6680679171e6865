/* Operations on schedules: list, read from inputs, store with the next run, preview. */
#include "base/error.h"
#include "base/str.h"
#include "operations/operations.h"
#include "operations/tasks.h"
#include "view/work.h"
#include "work/schedule_duty.h"

const struct column instant_columns[INSTANT_COLUMNS] = {{COLUMN(TIME, "instant")}};

pawl_status op_schedule_list(struct request *request, pawl_error *err) {
    struct schedule_filter filter = {.task = request_text(request, "task"),
                                     .after_name = request_after(request),
                                     .limit = request_limit(request)};
    struct job_schedule_list found = {.count = 0};
    pawl_status status =
        request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    const char *next = found.count == (size_t)filter.limit ? found.schedules[found.count - 1].name.ptr : NULL;
    return request_rows(request, ROWS_OF(schedule, found.schedules, found.count), next, err);
}

pawl_status schedule_find(struct request *request, pawl_str name, struct job_schedule *schedule,
                          pawl_error *err) {
    struct schedule_filter filter = {.name = name, .limit = 1};
    struct job_schedule_list found = {.count = 0};
    pawl_status status =
        request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err);
    if (status == PAWL_OK && found.count == 0)
        status = request_not_found("schedule", "schedule", name, err);
    if (status == PAWL_OK)
        *schedule = found.schedules[0];
    return status;
}

pawl_status op_schedule_show(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_find(request, request_text(request, "name"), &schedule, err);
    return status == PAWL_OK ? request_shown(request, schedule_columns, SCHEDULE_COLUMNS, &schedule, err)
                             : status;
}

/* A time: a text of people, or milliseconds of programs. */
static pawl_status read_instant(const struct request *request, const char *name, const char *name_ms,
                                int64_t *instant_ms, pawl_error *err) {
    pawl_str text = request_text(request, name);
    *instant_ms = request_number(request, name_ms, 0);
    if (str_absent(text) || schedule_parse_instant(text, instant_ms))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "schedule",
                     "%s%s \"%.*s\" is not a time such as 2026-01-02T03:04:05Z", request->front->dashes, name,
                     STR_ARG(text));
}

pawl_status schedule_from(struct request *request, struct job_schedule *schedule, pawl_error *err) {
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
        .version = request_number(request, "version", 0),
    };
    pawl_status status = read_instant(request, "start", "start_ms", &schedule->start_ms, err);
    return status == PAWL_OK ? read_instant(request, "end", "end_ms", &schedule->end_ms, err) : status;
}

static pawl_status compile(const struct job_schedule *schedule, struct schedule **compiled, pawl_error *err) {
    struct schedule_rule rule;
    pawl_status status = schedule_rule_of(schedule, &rule, err);
    return status == PAWL_OK ? schedule_compile(&rule, NULL, compiled, err) : status;
}

pawl_status schedule_store(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    struct schedule *compiled = NULL;
    struct put_answer answer = {0};
    int64_t now_ms = 0;
    pawl_status status = compile(schedule, &compiled, err);
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

pawl_status schedule_instants(struct request *request, const struct job_schedule *schedule, pawl_error *err) {
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
    request_list(request, instant_columns, INSTANT_COLUMNS);
    for (size_t i = 0; i < found; i++)
        request_row(request, (struct cell[]){cell_time(ticks[i])});
    return request_list_end(request, NULL, err);
}
