/* Operations on jobs: showing one, its steps, signals; and limits of keys. */
#include "operations/jobs.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "operations/operations.h"
#include "view/work.h"

const struct column enqueued_columns[ENQUEUED_COLUMNS] = {{COLUMN(INT, "id")}, {COLUMN(TEXT, "answer")}};
const struct column woken_columns[WOKEN_COLUMNS] = {{COLUMN(INT, "woken")}, {COLUMN(BOOL, "kept")}};

static pawl_status read_id(const struct request *request, int64_t *id, pawl_error *err) {
    struct value value = request_value(request, "id");
    *id = value.number;
    if (value.number > 0)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "job", "\"%.*s\" is not the id of a job: a number from 1 is needed",
                     STR_ARG(value.text));
}

pawl_status job_missing(const struct request *request, const char *op, int64_t id, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "there is no job %" PRId64 "; a job that is done is gone: %s",
                     id, request_see(request, "pawl audit list has its executions", "see /v1/executions"));
}

pawl_status op_job_show(struct request *request, pawl_error *err) {
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

pawl_status op_job_steps(struct request *request, pawl_error *err) {
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

pawl_status op_job_wake(struct request *request, pawl_error *err) {
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

/* ---- Limits */

pawl_status op_limit_list(struct request *request, pawl_error *err) {
    struct job_limits found = {.count = 0};
    pawl_status status = request->store->ops->jobs->limits(request->store, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(limit, found.limits, found.count), NULL, err)
                             : status;
}

pawl_status op_limit_set(struct request *request, pawl_error *err) {
    struct job_limit limit = {.key = request_either(request, "name", "key"),
                              .concurrency = (int)request_number(request, "concurrency", 0),
                              .rate = (int)request_number(request, "rate", 0),
                              .rate_ms = request_number(request, "rate_window_ms", 1000),
                              .weight = (int)request_number(request, "weight", 1)};
    pawl_status status = request->store->ops->jobs->limit_set(request->store, &limit, err);
    return status == PAWL_OK ? request_shown(request, limit_columns, LIMIT_COLUMNS, &limit, err) : status;
}
