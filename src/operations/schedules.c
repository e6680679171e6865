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
    pawl_status status =
        request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    const char *next = found.count == (size_t)filter.limit ? found.schedules[found.count - 1].name.ptr : NULL;
    return request_rows(request, ROWS_OF(schedule, found.schedules, found.count), next, err);
}

static pawl_status schedule_find(struct request *request, struct job_schedule *schedule, pawl_error *err) {
    pawl_str name = request_text(request, "name");
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

static pawl_status schedule_show(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_find(request, &schedule, err);
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
    static const char *const details[][2] = {{"zone", "zone"},       {"missed", "missed"},
                                             {"overlap", "overlap"}, {"jitter_ms", "jitter"},
                                             {"start", "start"},     {"end", "end"}};
    int64_t now_ms = 0;
    *given = request_value(request, "cron").present || request_value(request, "every").present ||
             request_value(request, "at").present;
    for (size_t i = 0; !*given && i < sizeof details / sizeof *details; i++)
        if (request_value(request, details[i][0]).present)
            return error_set(err, PAWL_INVALID, "schedule", "--%s needs one of --cron, --every and --at",
                             details[i][1]);
    if (!*given)
        return PAWL_OK;
    pawl_status status = schedule_from(request, schedule, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    return status == PAWL_OK ? schedule_first(schedule, now_ms, &schedule->next_ms, err) : status;
}

/* ---- Changing */

static pawl_status schedule_put(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    int64_t now_ms = 0;
    pawl_status status = schedule_from(request, &schedule, err);
    if (status == PAWL_OK)
        status = request_json(request, "params", &schedule.params, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    if (status == PAWL_OK)
        status = schedule_first(&schedule, now_ms, &schedule.next_ms, err);
    if (status == PAWL_OK)
        status = pipeline_task_check(request->store, schedule.task, schedule.params, request->arena, err);
    if (status == PAWL_OK)
        status = schedule_store(request, &schedule, err);
    return status == PAWL_OK ? schedule_show(request, err) : status;
}

static pawl_status schedule_remove(struct request *request, pawl_error *err) {
    return request->store->ops->jobs->schedule_remove(request->store, request_text(request, "name"), err);
}

static pawl_status set_paused(struct request *request, bool paused, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_find(request, &schedule, err);
    if (status != PAWL_OK)
        return status;
    schedule.paused = paused;
    status = schedule_store(request, &schedule, err);
    return status == PAWL_OK ? schedule_show(request, err) : status;
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
    pawl_status status = schedule_given(request, &schedule, &given, err);
    if (status == PAWL_OK && !given && !request_value(request, "name").present)
        return error_set(err, PAWL_INVALID, "schedule", "name a schedule, or give --cron, --every or --at");
    if (status == PAWL_OK && !given)
        status = schedule_find(request, &schedule, err);
    return status == PAWL_OK ? schedule_instants(request, &schedule, err) : status;
}

static pawl_status preview_rule(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_from(request, &schedule, err);
    return status == PAWL_OK ? schedule_instants(request, &schedule, err) : status;
}

static pawl_status schedule_run(struct request *request, pawl_error *err) {
    struct job_schedule schedule;
    pawl_status status = schedule_find(request, &schedule, err);
    return status == PAWL_OK ? task_enqueue(request, schedule.task, schedule.params, err) : status;
}

/* ---- The table */

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

static const struct operation operations[] = {
    {COMMAND("schedule list", "List schedules with their last and next runs"), .alias = "schedule",
     .empty = "no schedules", READS("/v1/schedules", "listSchedules", "schedules"), FIELDS(list_fields),
     COLUMNS(schedule_columns), .run = schedule_list},
    {COMMAND("schedule preview", "Show the next runs of a schedule, or of an expression"),
     .arguments = "[NAME]", .flags = SCHEDULE_FLAGS | FLAG(LIMIT), .limit_other = true,
     .details = "docs/schedules.md has the rules for gaps and overlaps of daylight saving time.",
     .example = "pawl schedule preview nightly --limit 5\npawl schedule preview --cron '30 2 * * *' --zone "
                "Europe/Berlin",
     .empty = "it has no more instants",
     READS("/v1/schedules/{name}/preview", "previewSchedule", "schedules"),
     .route_summary = "Show the next runs of a schedule", FIELDS(ahead_fields), COLUMNS(instant_columns),
     .run = schedule_preview_of},
    {.summary = "The next instants of a rule, without storing it",
     POSTS("/v1/schedules/preview", "previewRule", "schedules"),
     .unaudited = true,
     FIELDS(rule_fields),
     COLUMNS(instant_columns),
     .run = preview_rule},
    {.summary = "Show one schedule",
     READS("/v1/schedules/{name}", "readSchedule", "schedules"),
     FIELDS(name_fields),
     RECORD(schedule_columns),
     .run = schedule_show},
    {.summary = "Create or change a schedule",
     PUTS("/v1/schedules/{name}", "putSchedule", "schedules"),
     FIELDS(put_fields),
     RECORD(schedule_columns),
     .run = schedule_put},
    {.summary = "Delete a schedule",
     DELETES("/v1/schedules/{name}", "deleteSchedule", "schedules"),
     FIELDS(name_fields),
     .run = schedule_remove},
    {.summary = "Pause it",
     POSTS("/v1/schedules/{name}/pause", "pauseSchedule", "schedules"),
     FIELDS(name_fields),
     RECORD(schedule_columns),
     .run = schedule_pause},
    {.summary = "Resume it; missed runs are not made up for",
     POSTS("/v1/schedules/{name}/resume", "resumeSchedule", "schedules"),
     FIELDS(name_fields),
     RECORD(schedule_columns),
     .run = schedule_resume},
    {.summary = "Enqueue its job now, in addition to its schedule",
     POSTS("/v1/schedules/{name}/run", "runSchedule", "schedules"),
     FIELDS(name_fields),
     RECORD(enqueued_columns),
     .run = schedule_run},
};

const struct operation_table schedule_operations = OPERATION_TABLE(operations);
