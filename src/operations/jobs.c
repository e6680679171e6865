/* Operations on jobs: lists, why, enqueue, ends, signals; and limits of keys. */
#include "operations/jobs.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "operations/tasks.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/why/job.h"
#include "view/work.h"
#include "work/enqueue.h"
#include "work/pipeline/run.h"
#include "work/schedule_duty.h"

const struct column enqueued_columns[ENQUEUED_COLUMNS] = {{COLUMN(INT, "id")}, {COLUMN(TEXT, "answer")}};
static const struct column woken_columns[] = {{COLUMN(INT, "woken")}, {COLUMN(BOOL, "kept")}};

static pawl_status job_missing(const struct request *request, const char *op, int64_t id, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op,
                     "there is no job %" PRId64 "; a job that is done is gone: %s has its executions", id,
                     request_see(request, "audit.list"));
}

static pawl_status job_show(struct request *request, pawl_error *err) {
    struct job_filter filter = {.limit = 1, .id = request_number(request, "id", 0)};
    struct job_rows rows = {.count = 0};
    struct cell cells[JOB_COLUMNS];
    TRY(request->store->ops->jobs->jobs(request->store, &filter, request->arena, &rows, err));
    if (rows.count == 0)
        TRY(job_missing(request, "job", filter.id, err));
    job_cells(&rows.rows[0], cells);
    return request_record(request, job_columns, JOB_COLUMNS, cells, err);
}

static pawl_status job_steps(struct request *request, pawl_error *err) {
    struct job_steps found = {.count = 0};
    TRY(request->store->ops->jobs->steps_read(request->store, request_number(request, "id", 0),
                                              request->arena, &found, err));
    REQUEST_CELLS(request, step, found.steps, found.count);
    return request_list_end(request, NULL, err);
}

static pawl_status job_wake(struct request *request, pawl_error *err) {
    enum { KEEP_MS = 86400000 };
    struct job_wake in = {.wait_key = request_text(request, "wait_key"),
                          .keep_ms = request_number(request, "keep_ms", KEEP_MS)};
    struct wake_result out = {0};
    TRY(request_json(request, "payload", &in.payload, err));
    TRY(request->store->ops->jobs->wake(request->store, &in, &out, err));
    return REQUEST_RECORD(request, woken_columns, err, cell_int(out.woken), cell_bool(out.kept));
}

pawl_status enqueue_refused(const struct request *request, pawl_str task, enum store_answer answer,
                            pawl_error *err) {
    if (answer == ANSWER_NOT_FOUND)
        return request_not_found("job", "task", task, err);
    if (answer == ANSWER_REFUSED)
        return error_set(err, PAWL_CONFLICT, "job",
                         "refused: the agent of the task '%.*s' lacks a scope; %s says which", STR_ARG(task),
                         request_see(request, "agent.refusals"));
    return PAWL_OK;
}

void enqueued_cells(int64_t id, enum store_answer answer, struct cell cells[static ENQUEUED_COLUMNS]) {
    cells[0] = id != 0 ? cell_int(id) : cell_none();
    cells[1] = cell_cstr(answer == ANSWER_APPLIED ? "enqueued" : "duplicate");
}

/* Enqueues it, count times; one job is a record, several are a list. */
static pawl_status enqueue_jobs(struct request *request, const struct job_new *job, pawl_error *err) {
    int64_t count = request_number(request, "count", 1);
    bool list = request_value(request, "count").present;
    size_t most = count < PAWL_BATCH_DEFAULT ? (size_t)count : PAWL_BATCH_DEFAULT;
    struct job_new *jobs = arena_array(request->arena, most, sizeof *jobs);
    struct putter putter = request->front->putter(request->self);
    pawl_status status = jobs != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    if (status == PAWL_OK)
        status = enqueue_check(request->store, &(struct jobs_enqueue){.jobs = job, .count = 1},
                               request->arena, err);
    if (status == PAWL_OK && list)
        request_list(request, enqueued_columns, ENQUEUED_COLUMNS);
    for (int64_t left = count; left > 0 && status == PAWL_OK; left -= (int64_t)most) {
        struct enqueue_result out = {0};
        struct jobs_enqueue in = {.jobs = jobs, .count = left < (int64_t)most ? (size_t)left : most};
        for (size_t i = 0; i < in.count; i++)
            jobs[i] = *job;
        status = request->front->key(request->self, 0, &in.request, err);
        if (status == PAWL_OK)
            status = traced_enqueue(&putter, &in, &out, err);
        for (size_t i = 0; status == PAWL_OK && i < in.count; i++) {
            struct cell cells[ENQUEUED_COLUMNS];
            status = enqueue_refused(request, job->task, out.answers[i], err);
            enqueued_cells(out.ids[i], out.answers[i], cells);
            if (status == PAWL_OK && list)
                request_row(request, cells);
            else if (status == PAWL_OK)
                status = request_record(request, enqueued_columns, ENQUEUED_COLUMNS, cells, err);
        }
    }
    return status == PAWL_OK && list ? request_list_end(request, NULL, err) : status;
}

/* A pipeline of its own: {"pipeline": …, "params": …} */
static pawl_status read_pipeline(struct request *request, struct job_new *job, pawl_error *err) {
    pawl_str document, scopes, params;
    const struct pipeline *pipeline = NULL;
    TRY(pipeline_checked(request, true, &pipeline, &document, &scopes, err));
    TRY(request_json(request, "params", &params, err));
    job->type = STR(PIPELINE_JOB_TYPE);
    job->payload =
        str_from(arena_printf(request->arena, "{\"pipeline\":%.*s,\"params\":%.*s}", STR_ARG(document),
                              STR_ARG(str_absent(params) ? STR("{}") : params)));
    return str_absent(job->payload) ? error_set(err, PAWL_NO_MEMORY, "job", "out of memory") : PAWL_OK;
}

/* What would be left unsaid otherwise: an input that nothing looks at. */
static pawl_status enqueue_words(struct request *request, pawl_error *err) {
    bool pipeline = request_value(request, "pipeline").present, task = request_value(request, "task").present,
         params = request_value(request, "params").present;
    if (pipeline && (task || request_value(request, "type").present))
        return error_set(err, PAWL_INVALID, "job", "give one of a type, %stask and %spipeline",
                         request->front->dashes, request->front->dashes);
    if (params && !pipeline && !task)
        return error_set(err, PAWL_INVALID, "job",
                         "%sparams are those of a task or a pipeline; a job of a type has a payload",
                         request->front->dashes);
    return PAWL_OK;
}

static pawl_status job_enqueue(struct request *request, pawl_error *err) {
    struct job_new job = {.task = request_text(request, "task"),
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
    TRY(enqueue_words(request, err));
    TRY(request_agent(request, &job.agent, err));
    if (request_value(request, "pipeline").present)
        TRY(read_pipeline(request, &job, err));
    else
        TRY(request_json(request, request_value(request, "params").present ? "params" : "payload",
                         &job.payload, err));
    return enqueue_jobs(request, &job, err);
}

/* ---- Lists */

static pawl_status job_list(struct request *request, pawl_error *err) {
    struct job_filter filter = job_filter_from(request);
    struct job_rows found = {.count = 0};
    filter.limit = request_limit(request);
    TRY(request->store->ops->jobs->jobs(request->store, &filter, request->arena, &found, err));
    REQUEST_CELLS(request, job, found.rows, found.count);
    return request_list_end_number(request, found.next_id, err);
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
    TRY(request->store->ops->jobs->dead_groups(request->store, request_limit(request), request->arena, &found,
                                               err));
    return request_rows(request, ROWS_OF(failed, found.groups, found.count), NULL, err);
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

/* ---- Ends */

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
    const char *done, *wanted;
    end_jobs *end;
};

/* A command goes on with the others, and says what became of each. */
static pawl_status answer_end(struct request *request, const struct ending *how, int64_t id,
                              enum store_answer answer, pawl_error *err) {
    bool taken = answer == ANSWER_CONFLICT, applied = answer == ANSWER_APPLIED;
    if (!applied && !request_is_command(request))
        return taken ? error_set(err, PAWL_CONFLICT, "job",
                                 "the unique key of job %" PRId64 " is taken by another", id)
                     : error_set(err, PAWL_NOT_FOUND, "job", "there is no such %sjob %" PRId64, how->wanted,
                                 id);
    if (!applied)
        request_exit_with(request, error_exit_code(taken ? PAWL_CONFLICT : PAWL_NOT_FOUND));
    const struct cell cells[] = {cell_int(id), cell_cstr(applied ? how->done
                                                         : taken ? "its unique key is taken"
                                                                 : "not found")};
    return request_each(request, enqueued_columns, ENQUEUED_COLUMNS, cells, err);
}

static pawl_status end_ids(struct request *request, const struct ending *how, pawl_error *err) {
    pawl_str *texts = NULL;
    size_t count = 0;
    struct job_answers answers = {0};
    TRY(request_texts(request, "id", &texts, &count, err));
    int64_t *ids = arena_array(request->arena, count + 1, sizeof *ids);
    if (ids == NULL)
        return error_set(err, PAWL_NO_MEMORY, "job", "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!str_to_i64(texts[i], 1, INT64_MAX, &ids[i])) /* checked by the front */
            return error_set(err, PAWL_INVALID, "job", "\"%.*s\" is not the id of a job", STR_ARG(texts[i]));
    TRY(how->end(request->store, ids, count, request->arena, &answers, err));
    request_each_begin(request, enqueued_columns, ENQUEUED_COLUMNS);
    for (size_t i = 0; i < count; i++)
        TRY(answer_end(request, how, ids[i], answers.answers[i], err));
    return request_each_end(request, err);
}

static pawl_status job_cancel(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"cancelled", "", cancel_ids}, err);
}
static pawl_status job_retry(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"ready", "dead ", retry_ids}, err);
}
static pawl_status job_delete(struct request *request, pawl_error *err) {
    return end_ids(request, &(struct ending){"deleted", "dead ", discard_ids}, err);
}

/* ---- The tables */

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "state", JOB_STATES, "Only in this state.")}, JOB_FILTER_FIELDS(IN_QUERY)};
static const struct field id_fields[] = {FIELD_ROW_NUMBER("id", "The id of the job.")};
static const struct field end_fields[] = {
    {INT_FIELD(IN_PATH, "id", 1, 0, "The id of the job."), .required = true, .many = true}};
static const struct field enqueue_fields[] = {
    {TEXT_FIELD(IN_BODY, "type", PAWL_TYPE_BYTES_MAX,
                "Its type, which chooses the handler; required without a task and a pipeline."),
     .word = true, .example = "\"report.make\""},
    {FIELD(FIELD_JSON, IN_BODY, "payload", "JSON, for the handler; @FILE is a file."), .word = true},
    {TEXT_FIELD(IN_BODY, "task", PAWL_NAME_BYTES_MAX, "The task that it is a job of.")},
    {FIELD(FIELD_OBJECT, IN_BODY, "pipeline", "A pipeline of its own (docs/pipelines.md)."), .file = true},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "The parameters of the task or pipeline; a task's by default.")},
    {TEXT_FIELD(IN_BODY, "queue", PAWL_NAME_BYTES_MAX, "The queue; \"default\" if not given.")},
    {TEXT_FIELD(IN_BODY, "key", PAWL_NAME_BYTES_MAX,
                "The key whose limits (concurrency, rate, weight) apply to the job.")},
    {TEXT_FIELD(IN_BODY, "unique_key", PAWL_NAME_BYTES_MAX,
                "Only one unfinished job may have this key; a second is a duplicate.")},
    {TEXT_FIELD(IN_BODY, "traceparent", 100, "The W3C trace context to carry along.")},
    {INT_FIELD(IN_BODY, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX,
               "Higher runs first; one point counts as much as a minute of waiting.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX, "Attempts before it counts as dead.")},
    {TIME_FIELD(IN_BODY, "due_ms", "Not before this time.")},
    {TIME_FIELD(IN_BODY, "deadline_ms", "Neither started nor retried after this time.")},
    {DURATION_FIELD(IN_BODY, "timeout_ms", 1, PAWL_LEASE_MS_MAX, "The time limit of one execution.")},
    {INT_FIELD(IN_TERMINAL, "count", 1, 100000000, "Enqueue N of it; the answer is a list.")}};
static const struct field signal_fields[] = {
    {TEXT_FIELD(IN_BODY, "wait_key", PAWL_STREAM_BYTES_MAX, "What the jobs wait for."), .required = true,
     .word = true, .value = "EVENT"},
    {FIELD(FIELD_JSON, IN_BODY, "payload", "Handed to them."), .word = true},
    {DURATION_FIELD(IN_BODY, "keep_ms", 0, PAWL_JOB_DELAY_MS_MAX,
                    "How long it is kept if no job waits for it; a day by default.")}};
static const struct operation operations[] = {
    {OPERATION("job.list", "List jobs that are not done, by id"), READS("/v1/jobs"), FIELDS(list_fields),
     .paged = PAGED, COLUMNS(job_columns), .run = job_list,
     .details = "Completed jobs are not listed; pawl audit list shows what they did.", .empty = "no jobs"},
    {OPERATION("job.show", "Show one job"), READS("/v1/jobs/{id}"), FIELDS(id_fields), RECORD(job_columns),
     .run = job_show},
    {OPERATION("job.why", "Explain what a job is waiting for"), READS("/v1/jobs/{id}/why"), FIELDS(id_fields),
     RECORD(why_columns), .run = job_explain},
    {OPERATION("job.steps", "Show the steps of a job that are recorded"), READS("/v1/jobs/{id}/steps"),
     FIELDS(id_fields), COLUMNS(step_columns), .run = job_steps,
     .details = "A completed step does not run again when the job is retried.",
     .empty = "no steps are recorded"},
    {OPERATION("job.failures", "Count dead jobs by cause, biggest group first"), READS("/v1/jobs/failures"),
     .paged = PAGED_LIMIT, COLUMNS(failed_columns), .run = job_groups, .empty = "no dead jobs"},
    {OPERATION("job.enqueue", "Enqueue a job: of a type, of a task, or a pipeline"),
     WORKS(METHOD_POST, "/v1/jobs"), FIELDS(enqueue_fields), RECORD(enqueued_columns), .run = job_enqueue,
     .check = enqueue_words, .options = OPTION(TOOLS) | OPTION(TOOLS_TIMEOUT) | OPTION(PIPELINE_ENV),
     .database = DATABASE_MAKE,
     .details = "A type is handled by a worker's --on. A pipeline is checked here, before anything is "
                "stored, and again when it runs. If an unfinished job holds the unique key, its id is "
                "returned instead of a new one.",
     .example = "pawl job enqueue report.make '{\"day\":1}' --unique-key report-1\n"
                "pawl job enqueue --pipeline report.yaml --params '{\"day\":1}' --tools tools.json\n"
                "pawl job enqueue --task nightly --due +1h"},
    {OPERATION("job.cancel", "Cancel jobs, also while they run"), POSTS("/v1/jobs/{id}/cancel"),
     FIELDS(end_fields), RECORD(enqueued_columns), .run = job_cancel,
     .details = "A running job is told within about two seconds; what it has done by then stays done."},
    {OPERATION("job.retry", "Give dead jobs another round of attempts"), POSTS("/v1/jobs/{id}/retry"),
     FIELDS(end_fields), RECORD(enqueued_columns), .run = job_retry},
    {OPERATION("job.delete", "Delete dead jobs"), DELETES("/v1/jobs/{id}"), FIELDS(end_fields),
     RECORD(enqueued_columns), .run = job_delete},
    {OPERATION("job.signal", "Signal an event to the jobs that wait for it"), POSTS("/v1/jobs/signal"),
     FIELDS(signal_fields), RECORD(woken_columns), .run = job_wake,
     .details = "The payload becomes the output of the waiting step. A signal that no job waits for yet is "
                "kept for a day."},
};

const struct operation_table job_operations = OPERATION_TABLE(operations);
