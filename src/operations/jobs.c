/* Operations on jobs: lists, why, enqueue, ends, signals; and limits of keys. */
#include "operations/jobs.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/why/job.h"
#include "view/work.h"
#include "work/enqueue_check.h"
#include "work/pipeline/run.h"
#include "work/schedule_duty.h"

const struct column enqueued_columns[ENQUEUED_COLUMNS] = {{COLUMN(INT, "id")}, {COLUMN(TEXT, "answer")}};
static const struct column woken_columns[] = {{COLUMN(INT, "woken")}, {COLUMN(BOOL, "kept")}};

static pawl_status check_id(pawl_str text, int64_t *id, pawl_error *err) {
    if (str_to_i64(text, 1, INT64_MAX, id))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "job", "\"%.*s\" is not the id of a job: a number from 1 is needed",
                     STR_ARG(text));
}

static pawl_status read_id(const struct request *request, int64_t *id, pawl_error *err) {
    return check_id(request_text(request, "id"), id, err);
}

static pawl_status job_missing(const struct request *request, const char *op, int64_t id, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "there is no job %" PRId64 "; a job that is done is gone: %s",
                     id, request_see(request, "pawl audit list has its executions", "see /v1/executions"));
}

static pawl_status job_show(struct request *request, pawl_error *err) {
    struct job_filter filter = {.limit = 1};
    struct job_rows rows = {.count = 0};
    struct cell cells[JOB_COLUMNS];
    pawl_status status = read_id(request, &filter.id, err);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->jobs(request->store, &filter, request->arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = job_missing(request, "job", filter.id, err);
    if (status != PAWL_OK)
        return status;
    job_cells(&rows.rows[0], cells);
    return request_record(request, job_columns, JOB_COLUMNS, cells, err);
}

static pawl_status job_steps(struct request *request, pawl_error *err) {
    struct job_steps found = {.count = 0};
    int64_t id = 0;
    pawl_status status = read_id(request, &id, err);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->steps_read(request->store, id, request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    REQUEST_CELLS(request, step, found.steps, found.count);
    return request_list_end(request, NULL, err);
}

static pawl_status job_wake(struct request *request, pawl_error *err) {
    enum { KEEP_MS = 86400000 };
    struct job_wake in = {.wait_key = request_either(request, "wait_key", "event"),
                          .keep_ms = request_number(request, "keep_ms", KEEP_MS)};
    struct wake_result out = {0};
    pawl_status status = request_json(request, "payload", &in.payload, err);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->wake(request->store, &in, &out, err);
    if (status != PAWL_OK)
        return status;
    return REQUEST_RECORD(request, woken_columns, err, cell_int(out.woken), cell_bool(out.kept));
}

pawl_status enqueue_refused(const struct request *request, pawl_str task, enum store_answer answer,
                            pawl_error *err) {
    if (answer == ANSWER_NOT_FOUND)
        return request_not_found("job", "task", task, err);
    if (answer == ANSWER_REFUSED)
        return error_set(err, PAWL_CONFLICT, "job", "refused: the agent of the task '%.*s' lacks a scope; %s",
                         STR_ARG(task),
                         request_see(request, "pawl agent refusals says which", "see /v1/refusals"));
    return PAWL_OK;
}

void enqueued_cells(int64_t id, enum store_answer answer, struct cell cells[static ENQUEUED_COLUMNS]) {
    cells[0] = id != 0 ? cell_int(id) : cell_none();
    cells[1] = cell_cstr(answer == ANSWER_APPLIED ? "enqueued" : "duplicate");
}

pawl_status enqueue_jobs(struct request *request, const struct job_new *job, int64_t count, pawl_error *err) {
    size_t most = count < PAWL_BATCH_DEFAULT ? (size_t)count : PAWL_BATCH_DEFAULT;
    struct job_new *jobs = arena_array(request->arena, most, sizeof *jobs);
    struct putter putter = request->front->putter(request->self);
    pawl_status status = jobs != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    for (int64_t left = count; left > 0 && status == PAWL_OK; left -= (int64_t)most) {
        struct enqueue_result out = {0};
        struct jobs_enqueue in = {.jobs = jobs, .count = left < (int64_t)most ? (size_t)left : most};
        for (size_t i = 0; i < in.count; i++)
            jobs[i] = *job;
        status = request->front->key(request->self, 0, &in.request, err);
        if (status == PAWL_OK && left == count)
            status = enqueue_check(request->store, &(struct jobs_enqueue){.jobs = job, .count = 1},
                                   request->arena, err);
        if (status == PAWL_OK)
            status = traced_enqueue(&putter, &in, &out, err);
        if (status == PAWL_OK && left == count && request_is_command(request))
            request_list(request, enqueued_columns, ENQUEUED_COLUMNS);
        for (size_t i = 0; status == PAWL_OK && i < in.count; i++) {
            struct cell cells[ENQUEUED_COLUMNS];
            status = enqueue_refused(request, job->task, out.answers[i], err);
            enqueued_cells(out.ids[i], out.answers[i], cells);
            if (status == PAWL_OK && request_is_command(request))
                request_row(request, cells);
            else if (status == PAWL_OK)
                status = request_record(request, enqueued_columns, ENQUEUED_COLUMNS, cells, err);
        }
    }
    return status;
}

struct job_new job_from(const struct request *request) {
    return (struct job_new){.task = request_text(request, "task"),
                            .type = request_text(request, "type"),
                            .queue = request_text(request, "queue"),
                            .key = request_text(request, "key"),
                            .unique_key = request_text(request, "unique_key"),
                            .traceparent = request_text(request, "traceparent"),
                            .priority = (int)request_number(request, "priority", 0),
                            .max_attempts = (int)request_number(request, "max_attempts", 0),
                            .due_ms = request_number(request, "due_ms", 0),
                            .deadline_ms = request_number(request, "deadline_ms", 0),
                            .timeout_ms = request_number(request, "timeout_ms", 0),
                            .flags = JOB_AUDIT | JOB_EVENTS};
}

static pawl_status job_enqueue(struct request *request, pawl_error *err) {
    struct job_new job = job_from(request);
    pawl_status status = request_json(request, "payload", &job.payload, err);
    return status == PAWL_OK ? enqueue_jobs(request, &job, 1, err) : status;
}

/* ---- Lists */

/* A command goes on until it has shown as many as --limit says. */
static pawl_status job_list(struct request *request, pawl_error *err) {
    struct job_filter filter = job_filter_from(request);
    int64_t left = request_number(request, "limit", PAWL_LIST_DEFAULT);
    do {
        struct job_rows found = {.count = 0};
        filter.limit = left < PAWL_LIST_MAX ? (int)left : PAWL_LIST_MAX;
        pawl_status status =
            request->store->ops->jobs->jobs(request->store, &filter, request->arena, &found, err);
        if (status != PAWL_OK)
            return status;
        REQUEST_CELLS(request, job, found.rows, found.count);
        left -= (int64_t)found.count;
        filter.after_id = found.next_id;
    } while (request_is_command(request) && filter.after_id > 0 && left > 0);
    request_list_said(request, filter.after_id > 0);
    return request_list_end_number(request, filter.after_id, err);
}

#define ROW struct job_dead_group
static const struct column failed_columns[] = {
    {.key = "count", INT_OF(count)},
    {.key = "fingerprint", TEXT_OF(fingerprint)},
    {.key = "first", TIME_OF(first_ms)},
    {.key = "last", TIME_OF(last_ms)},
    {.key = "sample_error", TEXT_OF(sample_error), .content = true}};
#undef ROW

static pawl_status job_groups(struct request *request, pawl_error *err) {
    struct job_dead_groups found = {.count = 0};
    pawl_status status = request->store->ops->jobs->dead_groups(request->store, request_limit(request),
                                                                request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(failed, found.groups, found.count), NULL, err)
                             : status;
}

/* ---- Why */

static const struct column why_columns[] = {
    {COLUMN(INT, "id")},      {COLUMN(TEXT, "cause")},       {COLUMN(TEXT, "state")},
    {COLUMN(TIME, "until")},  {COLUMN(INT, "ahead")},        {COLUMN(INT, "limit")},
    {COLUMN(INT, "running")}, {COLUMN(TEXT, "wait_key")},    {COLUMN(TEXT, "error"), .content = true},
    {COLUMN(TIME, "now")},    {COLUMN(TEXT, "explanation")}, {COLUMN(TEXT, "next")}};

static pawl_status job_explain(struct request *request, pawl_error *err) {
    struct job_why why;
    int64_t id = request_number(request, "id", 0);
    pawl_status status = request->store->ops->jobs->why(request->store, id, request->arena, &why, err);
    if (status == PAWL_NOT_FOUND)
        return job_missing(request, "why", id, err);
    if (status != PAWL_OK)
        return status;
    if (!request->front->sees_content(request->self))
        why.row.error = (pawl_str){NULL, 0};
    bool limited = why.cause == JOB_WHY_CONCURRENCY;
    struct buf texts[2]; /* the explanation, and what to do */
    buf_init(&texts[0], 0);
    buf_init(&texts[1], 0);
    job_story(&why, &texts[0], &texts[1]);
    status = buf_status(&texts[0], "why", err);
    if (status == PAWL_OK)
        status = buf_status(&texts[1], "why", err);
    if (status == PAWL_OK)
        status = REQUEST_RECORD(request, why_columns, err, cell_int(id), cell_cstr(job_cause_name(why.cause)),
                                cell_cstr(job_state_name(why.row.state)), cell_time(why.until_ms),
                                cell_int(why.ahead), limited ? cell_int(why.limit) : cell_none(),
                                limited ? cell_int(why.running) : cell_none(), cell_text(why.row.wait_key),
                                cell_text(why.row.error), cell_time(why.now_ms),
                                cell_text(buf_str(&texts[0])), cell_text(buf_str(&texts[1])));
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return status;
}

/* ---- Ends: several on the command line, one over HTTP */

typedef pawl_status end_jobs(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                             struct job_answers *out, pawl_error *err);

static pawl_status cancel_ids(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                              struct job_answers *out, pawl_error *err) {
    return store->ops->jobs->cancel(store, ids, count, arena, out, err);
}

static pawl_status retry_ids(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                             struct job_answers *out, pawl_error *err) {
    return store->ops->jobs->redrive(store, ids, count, false, arena, out, err);
}

static pawl_status discard_ids(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                               struct job_answers *out, pawl_error *err) {
    return store->ops->jobs->redrive(store, ids, count, true, arena, out, err);
}

/* What is done to jobs, and the word for a job to which it was. */
struct ending {
    const char *action, *done, *wanted;
    end_jobs *end;
};

/* What was done to which of them is kept, with the reason. */
static pawl_status note_ids(struct request *request, const char *action, const int64_t *ids,
                            const struct job_answers *answers, pawl_error *err) {
    const char *list = "";
    for (size_t i = 0; i < answers->count && list != NULL; i++)
        if (answers->answers[i] == ANSWER_APPLIED)
            list = arena_printf(request->arena, "%s%s%" PRId64, list, *list != '\0' ? ", " : "", ids[i]);
    if (list == NULL)
        return error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    return *list != '\0' ? request_note(request, action, list, err) : PAWL_OK;
}

static pawl_status end_one(struct request *request, const struct ending *how, int64_t id,
                           enum store_answer answer, pawl_error *err) {
    if (answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "job", "the unique key of job %" PRId64 " is taken by another",
                         id);
    if (answer != ANSWER_APPLIED)
        return error_set(err, PAWL_NOT_FOUND, "job", "there is no such %sjob %" PRId64, how->wanted, id);
    return REQUEST_RECORD(request, enqueued_columns, err, cell_int(id), cell_cstr(how->done));
}

static pawl_status end_ids(struct request *request, const struct ending *how, pawl_error *err) {
    const struct tree *words = request_value(request, "ids").tree;
    size_t count = words != NULL ? words->count : 1;
    int64_t *ids = arena_array(request->arena, count, sizeof *ids);
    struct job_answers answers = {0};
    pawl_status status = ids != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = check_id(words != NULL ? words->items[i]->text : request_text(request, "id"), &ids[i], err);
    if (status == PAWL_OK)
        status = how->end(request->store, ids, count, request->arena, &answers, err);
    if (status == PAWL_OK)
        status = note_ids(request, how->action, ids, &answers, err);
    if (status != PAWL_OK)
        return status;
    if (!request_is_command(request))
        return end_one(request, how, ids[0], answers.answers[0], err);
    request_list(request, enqueued_columns, ENQUEUED_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        enum store_answer answer = answers.answers[i];
        request_row(request, (struct cell[]){cell_int(ids[i]),
                                             cell_cstr(answer == ANSWER_APPLIED    ? how->done
                                                       : answer == ANSWER_CONFLICT ? "its unique key is taken"
                                                                                   : "not found")});
        if (answer != ANSWER_APPLIED)
            request_exit_with(request,
                              error_exit_code(answer == ANSWER_CONFLICT ? PAWL_CONFLICT : PAWL_NOT_FOUND));
    }
    return request_list_end(request, NULL, err);
}

static pawl_status job_cancel(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"job cancel", "cancelled", "", cancel_ids}, err);
}
static pawl_status job_retry(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"job retry", "ready", "dead ", retry_ids}, err);
}
static pawl_status job_discard(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"job discard", "discarded", "dead ", discard_ids}, err);
}

/* ---- Limits */

static pawl_status limit_list(struct request *request, pawl_error *err) {
    struct job_limits found = {.count = 0};
    pawl_status status = request->store->ops->jobs->limits(request->store, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(limit, found.limits, found.count), NULL, err)
                             : status;
}

static pawl_status limit_set(struct request *request, pawl_error *err) {
    struct job_limit limit = {.key = request_either(request, "name", "key"),
                              .concurrency = (int)request_number(request, "concurrency", 0),
                              .rate = (int)request_number(request, "rate", 0),
                              .rate_ms = request_number(request, "rate_window_ms", 1000),
                              .weight = (int)request_number(request, "weight", 1)};
    pawl_status status = request->store->ops->jobs->limit_set(request->store, &limit, err);
    return status == PAWL_OK ? request_shown(request, limit_columns, LIMIT_COLUMNS, &limit, err) : status;
}

/* ---- The tables */

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", JOB_STATES, "Only in this state.")},
    JOB_FILTER_FIELDS(IN_QUERY),
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field id_fields[] = {FIELD_ROW_NUMBER("id", "The id of the job.")};
static const struct field limit_fields[] = {FIELD_ROW_LIMIT};
static const struct field enqueue_fields[] = {
    {TEXT_FIELD(IN_BODY, "type", PAWL_TYPE_BYTES_MAX,
                "Its type, which chooses the handler; required without a task.")},
    {TEXT_FIELD(IN_BODY, "task", PAWL_NAME_BYTES_MAX, "The task that it is a job of.")},
    {FIELD(FIELD_JSON, IN_BODY, "payload", "The task's parameters by default.")},
    {TEXT_FIELD(IN_BODY, "queue", PAWL_NAME_BYTES_MAX, "The default queue if absent.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX, "For concurrency, rate and fairness.")},
    {TEXT_FIELD(IN_BODY, "unique_key", PAWL_NAME_BYTES_MAX, "Held while the job is unfinished.")},
    {TEXT_FIELD(IN_BODY, "traceparent", 100, "W3C trace context.")},
    {INT_FIELD(IN_BODY, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX, "Higher goes first.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX, "Before it counts as dead.")},
    {INT_FIELD(IN_BODY, "due_ms", 1, 0, "Not before this time.")},
    {INT_FIELD(IN_BODY, "deadline_ms", 1, 0, "Neither started nor retried after this time.")},
    {INT_FIELD(IN_BODY, "timeout_ms", 1, PAWL_LEASE_MS_MAX, "Of one execution.")}};
static const struct field wake_fields[] = {
    {TEXT_FIELD(IN_BODY, "wait_key", PAWL_STREAM_BYTES_MAX, "What the jobs wait for."), .required = true},
    {FIELD(FIELD_JSON, IN_BODY, "payload", "Handed to them.")},
    {INT_FIELD(IN_BODY, "keep_ms", 0, PAWL_JOB_DELAY_MS_MAX,
               "How long it is kept if no job waits for it; a day by default.")}};
static const struct field set_limit_fields[] = {
    FIELD_ROW_NAME("The key, or its beginning and *."),
    {INT_FIELD(IN_BODY, "concurrency", 0, 1000000,
               "Jobs running at the same time, over all workers; 0 = no limit.")},
    {INT_FIELD(IN_BODY, "rate", 0, PAWL_JOB_RATE_MAX, "Starts per window; 0 = no limit.")},
    {INT_FIELD(IN_BODY, "rate_window_ms", 1, PAWL_LEASE_MS_MAX, "A second by default.")},
    {INT_FIELD(IN_BODY, "weight", 1, PAWL_JOB_WEIGHT_MAX, "Share against other keys.")}};

static const struct operation operations[] = {
    {COMMAND("job list", "List jobs"), .alias = "job",
     .flags = FLAG(JOB_STATE) | FLAG(QUEUE) | FLAG(TASK) | FLAG(TYPE) | FLAG(KEY) | FLAG(LIMIT) | FLAG(AFTER),
     .details = "Completed jobs are not listed; pawl audit list shows what they did.", .empty = "no jobs",
     READS("/v1/jobs", "listJobs", "jobs"), .route_summary = "List jobs that are not done, by id",
     FIELDS(list_fields), COLUMNS(job_columns), .run = job_list},
    {.summary = "Enqueue a job",
     POSTS("/v1/jobs", "enqueueJob", "jobs"),
     .unaudited = true,
     FIELDS(enqueue_fields),
     RECORD(enqueued_columns),
     .run = job_enqueue},
    {.summary = "Count dead jobs by cause, biggest group first",
     READS("/v1/jobs/groups", "listJobGroups", "jobs"),
     FIELDS(limit_fields),
     COLUMNS(failed_columns),
     .run = job_groups},
    {COMMAND("job show", "Show one job"), .arguments = "ID", READS("/v1/jobs/{id}", "readJob", "jobs"),
     FIELDS(id_fields), RECORD(job_columns), .run = job_show},
    {.summary = "What the job is waiting for",
     READS("/v1/jobs/{id}/why", "explainJob", "jobs"),
     FIELDS(id_fields),
     RECORD(why_columns),
     .run = job_explain},
    {COMMAND("job steps", "Show the steps of a job that are recorded"), .arguments = "ID",
     .details = "A completed step does not run again when the job is retried.",
     .empty = "no steps are recorded", READS("/v1/jobs/{id}/steps", "listJobSteps", "jobs"),
     FIELDS(id_fields), COLUMNS(step_columns), .run = job_steps},
    {COMMAND("job cancel", "Cancel jobs, also while they run"), .arguments = "ID...", .flags = FLAG(REASON),
     .writes = true,
     .details = "A running job is told within about two seconds; what it has done by then stays done.",
     POSTS("/v1/jobs/{id}/cancel", "cancelJob", "jobs"),
     .route_summary = "Cancel one job; a running one is asked to stop", FIELDS(id_fields),
     RECORD(enqueued_columns), .run = job_cancel},
    {COMMAND("job retry", "Redrive dead jobs: give them another round of attempts"), .arguments = "ID...",
     .flags = FLAG(REASON), .writes = true, POSTS("/v1/jobs/{id}/retry", "retryJob", "jobs"),
     .route_summary = "Give one dead job another round of attempts", FIELDS(id_fields),
     RECORD(enqueued_columns), .run = job_retry},
    {COMMAND("job discard", "Discard dead jobs"), .arguments = "ID...", .flags = FLAG(REASON), .writes = true,
     POSTS("/v1/jobs/{id}/discard", "discardJob", "jobs"), .route_summary = "Discard one dead job",
     FIELDS(id_fields), RECORD(enqueued_columns), .run = job_discard},
    {COMMAND("job wake", "Signal an event to the jobs that wait for it"), .arguments = "EVENT [PAYLOAD]",
     .writes = true,
     .details = "The payload becomes the output of the waiting step. A signal that no job waits for yet is "
                "kept for a day.",
     POSTS("/v1/jobs/wake", "wakeJobs", "jobs"), FIELDS(wake_fields), RECORD(woken_columns), .run = job_wake},
    {COMMAND("limit list", "List the limits of keys"), .alias = "limit", .empty = "no limits",
     READS("/v1/limits", "listLimits", "jobs"), COLUMNS(limit_columns), .run = limit_list},
    {COMMAND("limit set", "Set the limits of a key, replacing all of them"), .arguments = "KEY",
     .flags = FLAG(AT_ONCE) | FLAG(STARTS) | FLAG(PER) | FLAG(WEIGHT), .writes = true,
     .details = "A key is what pawl job enqueue --key names. With tenant:* the limits apply to each key that "
                "begins with tenant: and has no limits itself. They apply across all workers. Without any "
                "flag the limits are removed.",
     .example = "pawl limit set 'tenant:*' --at-once 4 --starts 100 --per 1m",
     PUTS("/v1/limits/{name}", "setLimit", "jobs"),
     .route_summary = "Set the limits of a key, replacing all of them; no limits and weight 1 removes them",
     FIELDS(set_limit_fields), RECORD(limit_columns), .run = limit_set},
};

const struct operation_table job_operations = OPERATION_TABLE(operations);
