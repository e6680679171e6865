/* Routes of jobs: list, show, explain, enqueue, cancel, retry; limits of keys. */
#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/jobs.h"
#include "operations/messages.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "server/operation.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/why/job.h"
#include "view/work.h"
#include "work/enqueue_check.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct request request = http_request(call);
    struct job_filter filter = job_filter_from(&request);
    filter.limit = call_limit(call);
    struct job_rows rows = {.count = 0};
    pawl_status status = call->store->ops->jobs->jobs(call->store, &filter, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, job, rows.rows, rows.count);
    return call_list_end_number(call, rows.next_id, err);
}

/* ---- Why */

static const struct column why_columns[] = {
    {COLUMN(INT, "id")},      {COLUMN(TEXT, "cause")},       {COLUMN(TEXT, "state")},
    {COLUMN(TIME, "until")},  {COLUMN(INT, "ahead")},        {COLUMN(INT, "limit")},
    {COLUMN(INT, "running")}, {COLUMN(TEXT, "wait_key")},    {COLUMN(TEXT, "error"), .content = true},
    {COLUMN(TIME, "now")},    {COLUMN(TEXT, "explanation")}, {COLUMN(TEXT, "next")}};

static pawl_status explain(struct call *call, pawl_error *err) {
    struct job_why why;
    struct request request = http_request(call);
    int64_t id = call_int(call, "id", 0);
    pawl_status status = call->store->ops->jobs->why(call->store, id, call->arena, &why, err);
    if (status == PAWL_NOT_FOUND)
        return job_missing(&request, "why", id, err);
    if (status != PAWL_OK)
        return status;
    if (!call_sees_content(call))
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
        call_record(call, (struct cell[]){cell_int(id), cell_cstr(job_cause_name(why.cause)),
                                          cell_cstr(job_state_name(why.row.state)), cell_time(why.until_ms),
                                          cell_int(why.ahead), limited ? cell_int(why.limit) : cell_none(),
                                          limited ? cell_int(why.running) : cell_none(),
                                          cell_text(why.row.wait_key), cell_text(why.row.error),
                                          cell_time(why.now_ms), cell_text(buf_str(&texts[0])),
                                          cell_text(buf_str(&texts[1]))});
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return status;
}

/* ---- Enqueue */

static pawl_status enqueue(struct call *call, pawl_error *err) {
    struct job_new job = {.task = call_text(call, "task"),
                          .type = call_text(call, "type"),
                          .queue = call_text(call, "queue"),
                          .key = call_text(call, "key"),
                          .unique_key = call_text(call, "unique_key"),
                          .traceparent = call_text(call, "traceparent"),
                          .priority = (int)call_int(call, "priority", 0),
                          .max_attempts = (int)call_int(call, "max_attempts", 0),
                          .due_ms = call_int(call, "due_ms", 0),
                          .deadline_ms = call_int(call, "deadline_ms", 0),
                          .timeout_ms = call_int(call, "timeout_ms", 0),
                          .flags = JOB_AUDIT | JOB_EVENTS};
    struct jobs_enqueue in = {.jobs = &job, .count = 1};
    struct enqueue_result out;
    pawl_status status = call_json(call, "payload", &job.payload, err);
    if (status == PAWL_OK)
        status = call_request(call, 0, &in.request, err);
    if (status == PAWL_OK)
        status = enqueue_check(call->store, &in, call->arena, err);
    struct putter putter = call_putter(call);
    if (status == PAWL_OK)
        status = traced_enqueue(&putter, &in, &out, err);
    if (status != PAWL_OK)
        return status;
    struct request request = http_request(call);
    struct cell cells[ENQUEUED_COLUMNS];
    status = enqueue_refused(&request, job.task, out.answers[0], err);
    if (status != PAWL_OK)
        return status;
    enqueued_cells(out.ids[0], out.answers[0], cells);
    call_record(call, cells);
    return PAWL_OK;
}

/* ---- One, ended */

static pawl_status end_one(struct call *call, enum operation_verb verb, const char *said, pawl_error *err) {
    const struct store_jobs_ops *ops = call->store->ops->jobs;
    int64_t id = call_int(call, "id", 0);
    struct job_answers answers;
    pawl_status status =
        verb == OPERATION_CANCEL_JOBS
            ? ops->cancel(call->store, &id, 1, call->arena, &answers, err)
            : ops->redrive(call->store, &id, 1, verb == OPERATION_DISCARD_JOBS, call->arena, &answers, err);
    if (status != PAWL_OK)
        return status;
    if (answers.answers[0] == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "job", "the unique key of job %" PRId64 " is taken by another",
                         id);
    if (answers.answers[0] != ANSWER_APPLIED)
        return error_set(err, PAWL_NOT_FOUND, "job", "there is no such %sjob %" PRId64,
                         verb == OPERATION_CANCEL_JOBS ? "" : "dead ", id);
    call_record(call, (struct cell[]){cell_int(id), cell_cstr(said)});
    return PAWL_OK;
}

static pawl_status cancel(struct call *call, pawl_error *err) {
    return end_one(call, OPERATION_CANCEL_JOBS, "cancelled", err);
}
static pawl_status retry(struct call *call, pawl_error *err) {
    return end_one(call, OPERATION_RETRY_JOBS, "ready", err);
}
static pawl_status discard(struct call *call, pawl_error *err) {
    return end_one(call, OPERATION_DISCARD_JOBS, "discarded", err);
}

/* ---- Many, ended */

static pawl_status end_many(struct call *call, enum operation_verb verb, pawl_error *err) {
    struct request request = http_request(call);
    struct operation_new in = {.verb = verb,
                               .jobs = job_filter_from(&request),
                               .max = call_int(call, "max", 0),
                               .per_second = call_int(call, "per_second", 0),
                               .dry_run = call_bool(call, "dry_run"),
                               .total = -1};
    if (verb != OPERATION_CANCEL_JOBS)
        in.jobs.state = JOB_DEAD;
    bool filtered = !str_absent(in.jobs.queue) || !str_absent(in.jobs.task) || !str_absent(in.jobs.type) ||
                    !str_absent(in.jobs.key) || !str_absent(in.jobs.fingerprint) ||
                    (verb == OPERATION_CANCEL_JOBS && in.jobs.state != 0);
    if (filtered == call_bool(call, "all"))
        return error_set(err, PAWL_INVALID, "job", "%s",
                         filtered ? "a filter and all exclude each other: give one of them"
                                  : "it needs a filter such as task or type, or all");
    return operation_start(call, &in, err);
}

static pawl_status cancel_many(struct call *call, pawl_error *err) {
    return end_many(call, OPERATION_CANCEL_JOBS, err);
}
static pawl_status retry_many(struct call *call, pawl_error *err) {
    return end_many(call, OPERATION_RETRY_JOBS, err);
}
static pawl_status discard_many(struct call *call, pawl_error *err) {
    return end_many(call, OPERATION_DISCARD_JOBS, err);
}

/* ---- Groups, signals, limits */

#define ROW struct job_dead_group
static const struct column failed_columns[] = {
    {.key = "count", INT_OF(count)},
    {.key = "fingerprint", TEXT_OF(fingerprint)},
    {.key = "first", TIME_OF(first_ms)},
    {.key = "last", TIME_OF(last_ms)},
    {.key = "sample_error", TEXT_OF(sample_error), .content = true}};
#undef ROW

static pawl_status groups(struct call *call, pawl_error *err) {
    struct job_dead_groups found = {.count = 0};
    pawl_status status =
        call->store->ops->jobs->dead_groups(call->store, call_limit(call), call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.groups, sizeof *found.groups, found.count);
    return call_list_end(call, NULL, err);
}

/* ---- Fields and routes */

#define FILTER_FIELDS(place)                                                                                 \
    {TEXT_FIELD((place), "queue", PAWL_NAME_BYTES_MAX, "Only of this queue.")},                              \
        {TEXT_FIELD((place), "task", PAWL_NAME_BYTES_MAX, "Only of this task.")},                            \
        {TEXT_FIELD((place), "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},                            \
        {TEXT_FIELD((place), "key", PAWL_NAME_BYTES_MAX, "Only with this key.")}, {                          \
        TEXT_FIELD((place), "fingerprint", PAWL_NAME_BYTES_MAX, "Only dead ones of this group.")             \
    }
#define BULK_FIELDS                                                                                          \
    {FIELD(FIELD_BOOL, IN_BODY, "all", "Every one; instead of a filter.")},                                  \
        {INT_FIELD(IN_BODY, "max", 1, 0, "At most this many.")},                                             \
        {INT_FIELD(IN_BODY, "per_second", 1, 1000000, "The maximum rate.")}, {                               \
        FIELD(FIELD_BOOL, IN_BODY, "dry_run", "Only count them.")                                            \
    }

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", JOB_STATES, "Only in this state.")},
    FILTER_FIELDS(IN_QUERY),
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct field id_fields[] = {FIELD_ROW_NUMBER("id", "The id of the job.")};
static const struct field limit_fields[] = {FIELD_ROW_LIMIT};
static const struct field dead_fields[] = {FILTER_FIELDS(IN_BODY), BULK_FIELDS};
static const struct field cancel_fields[] = {
    {CHOICE_FIELD(IN_BODY, "state", JOB_STATES, "Only in this state.")}, FILTER_FIELDS(IN_BODY), BULK_FIELDS};
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

#define ENDS(route_path, route_name, text, function)                                                         \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name), .tag = "jobs", .summary = (text), FIELDS(id_fields),      \
                                                   .shape = ANSWER_RECORD, COLUMNS(enqueued_columns),        \
                                                   .run = (function)                                         \
    }
#define ENDS_MANY(route_path, route_name, text, list, function)                                              \
    {                                                                                                        \
        ACTS(METHOD_POST, route_path, route_name), .tag = "jobs", .summary = (text), FIELDS(list),           \
                                                   .shape = ANSWER_RECORD, .columns = operation_columns,     \
                                                   .column_count = OPERATION_COLUMNS, .status = 202,         \
                                                   .run = (function)                                         \
    }

static const struct route routes[] = {
    {READS("/v1/jobs", "listJobs"), .tag = "jobs", .summary = "List jobs that are not done, by id",
     FIELDS(list_fields), COLUMNS(job_columns), .run = list},
    {ACTS(METHOD_POST, "/v1/jobs", "enqueueJob"), .tag = "jobs", .summary = "Enqueue a job",
     .unaudited = true, FIELDS(enqueue_fields), .shape = ANSWER_RECORD, COLUMNS(enqueued_columns),
     .run = enqueue},
    {READS("/v1/jobs/groups", "listJobGroups"), .tag = "jobs",
     .summary = "Count dead jobs by cause, biggest group first", FIELDS(limit_fields),
     COLUMNS(failed_columns), .run = groups},
    {ACTS(METHOD_POST, "/v1/jobs/wake", "wakeJobs"), .tag = "jobs",
     .summary = "Wake the jobs that wait for a signal", FIELDS(wake_fields), .shape = ANSWER_RECORD,
     COLUMNS(woken_columns), .operation = op_job_wake},
    ENDS_MANY("/v1/jobs/cancel", "cancelJobs", "Cancel every matching job, as an operation", cancel_fields,
              cancel_many),
    ENDS_MANY("/v1/jobs/retry", "retryJobs", "Run every matching dead job again, as an operation",
              dead_fields, retry_many),
    ENDS_MANY("/v1/jobs/discard", "discardJobs", "Discard every matching dead job, as an operation",
              dead_fields, discard_many),
    {READS("/v1/jobs/{id}", "readJob"), .tag = "jobs", .summary = "Show one job", FIELDS(id_fields),
     .shape = ANSWER_RECORD, COLUMNS(job_columns), .operation = op_job_show},
    {READS("/v1/jobs/{id}/why", "explainJob"), .tag = "jobs", .summary = "What the job is waiting for",
     FIELDS(id_fields), .shape = ANSWER_RECORD, COLUMNS(why_columns), .run = explain},
    {READS("/v1/jobs/{id}/steps", "listJobSteps"), .tag = "jobs",
     .summary = "The finished steps of its pipeline, with their timings", FIELDS(id_fields),
     COLUMNS(step_columns), .operation = op_job_steps},
    ENDS("/v1/jobs/{id}/cancel", "cancelJob", "Cancel one job; a running one is asked to stop", cancel),
    ENDS("/v1/jobs/{id}/retry", "retryJob", "Run one dead job again", retry),
    ENDS("/v1/jobs/{id}/discard", "discardJob", "Discard one dead job", discard),
    {READS("/v1/limits", "listLimits"), .tag = "jobs", .summary = "List the limits of keys",
     COLUMNS(limit_columns), .operation = op_limit_list},
    {ACTS(METHOD_PUT, "/v1/limits/{name}", "setLimit"), .tag = "jobs",
     .summary = "Set the limits of a key; no limits and weight 1 removes them", FIELDS(set_limit_fields),
     .shape = ANSWER_RECORD, COLUMNS(limit_columns), .operation = op_limit_set},
};

const struct route_table job_routes = ROUTE_TABLE(routes);
