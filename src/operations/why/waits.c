/* Operations that wait: until a job or a run has ended. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/runs/runs.h"
#include "operations/tables.h"
#include "view/names.h"
#include "view/run.h"
#include "view/why/job.h"
#include "view/work.h"

static bool wait_on(struct request *request, const char *what, pawl_str progress) {
    struct waiting waiting = {
        .what = what,
        .timeout_ms = request_number(request, "timeout_ms", PAWL_WAIT_RESULT_MS_DEFAULT),
        .progress = progress};
    return what != NULL && request->front->wait(request->self, &waiting);
}

/* ---- Jobs */

static const struct column result_columns[] = {{COLUMN(INT, "id")},
                                               {COLUMN(BOOL, "ended")},
                                               {COLUMN(TEXT, "state")},
                                               {COLUMN(INT, "attempts")},
                                               {COLUMN(TIME, "finished"), .show = SHOW_WIDE},
                                               {COLUMN(JSON, "output"), .content = true},
                                               {COLUMN(TEXT, "error"), .content = true},
                                               {COLUMN(TEXT, "explanation")}};

/* A job that is done is gone; what is left is its last execution. */
static pawl_status job_done(struct request *request, int64_t id, pawl_error *err) {
    struct run_filter filter = {.job_id = id, .limit = 1};
    struct task_run_list found = {.count = 0};
    TRY(request->store->ops->jobs->runs(request->store, &filter, request->arena, &found, err));
    if (found.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "job",
                         "there is no job %" PRId64
                         ", and no execution of it is kept: the id is wrong, or its "
                         "record has expired",
                         id);
    const struct task_run *run = &found.runs[0];
    if (run->outcome != RUN_SUCCEEDED)
        request_exit_with(request, error_exit_code(PAWL_CONFLICT));
    return REQUEST_RECORD(request, result_columns, err, cell_int(id), cell_bool(true),
                          cell_cstr(execution_outcome_name(run->outcome)), cell_int(run->attempt),
                          cell_time(run->finished_ms), cell_text(run->output), cell_text(run->error),
                          cell_none());
}

/* What it waits for, in words. */
static pawl_status job_open(struct request *request, int64_t id, pawl_error *err) {
    struct job_why why;
    pawl_status status = request->store->ops->jobs->why(request->store, id, request->arena, &why, err);
    if (status == PAWL_NOT_FOUND) /* it has ended in the meantime */
        return job_done(request, id, err);
    if (status != PAWL_OK)
        return status;
    if (!request->front->sees_content(request->self))
        why.row.error = (pawl_str){NULL, 0};
    AUTO_BUF(story, 0);
    AUTO_BUF(next, 0);
    job_story(&why, &story, &next);
    bool dead = why.row.state == JOB_DEAD;
    request_exit_with(request, error_exit_code(dead ? PAWL_CONFLICT : PAWL_BUSY));
    if (story.len > 0 && next.len > 0)
        buf_append_char(&story, ' ');
    buf_append_str(&story, buf_str(&next));
    status = buf_status(&story, "job", err);
    if (status == PAWL_OK)
        status = REQUEST_RECORD(request, result_columns, err, cell_int(id), cell_bool(dead),
                                cell_cstr(job_state_name(why.row.state)), cell_int(why.row.job.attempts),
                                cell_time(why.row.died_ms), cell_none(), cell_text(why.row.error),
                                cell_text(buf_str(&story)));
    return status;
}

static pawl_status job_wait(struct request *request, pawl_error *err) {
    struct job_filter filter = {.id = request_number(request, "id", 0), .limit = 1};
    struct job_rows found = {.count = 0};
    TRY(request->store->ops->jobs->jobs(request->store, &filter, request->arena, &found, err));
    if (found.count == 0)
        return job_done(request, filter.id, err);
    const struct job_row *row = &found.rows[0];
    pawl_str progress = str_absent(row->job.progress) ? str_from(job_state_name(row->state))
                                                      : row->job.progress;
    if (row->state != JOB_DEAD &&
        wait_on(request, arena_printf(request->arena, "job %" PRId64, filter.id), progress))
        return PAWL_OK;
    return job_open(request, filter.id, err);
}

/* ---- Runs */

static pawl_status run_wait(struct request *request, pawl_error *err) {
    struct run_row run = {0};
    int64_t now_ms = 0;
    TRY(run_view_find(request->store, request_text(request, "run"), request->arena, &run, &now_ms, err));
    if (!run_view_ended(&run)) {
        const char *progress = arena_printf(request->arena, "%s, %d of %d partitions, %" PRId64 " items",
                                            run_state_name(run.state), run.done, run.partitions, run.items);
        if (wait_on(request, arena_printf(request->arena, "run %" PRId64, run.id), str_from(progress)))
            return PAWL_OK;
        request_exit_with(request, error_exit_code(PAWL_BUSY));
    } else if (run.state != RUN_IS_COMPLETED) {
        request_exit_with(request, error_exit_code(PAWL_CONFLICT));
    }
    return run_show(request, &run, err);
}

#define FIELD_ROW_TIMEOUT                                                                                    \
    {                                                                                                        \
        DURATION_FIELD(IN_QUERY, "timeout_ms", 1, PAWL_WAIT_RESULT_MS_MAX,                                   \
                       "How long to wait; a minute by default. Then the answer says how it is so far.")      \
    }
static const struct field job_fields[] = {FIELD_ROW_NUMBER("id", "The id of the job."), FIELD_ROW_TIMEOUT};
static const struct field run_fields[] = {
    {TEXT_FIELD(IN_PATH, "run", PAWL_NAME_BYTES_MAX, "Its number or its key."), .required = true},
    FIELD_ROW_TIMEOUT};

static const struct operation operations[] = {
    {OPERATION("job.wait", "Wait until a job has ended, and show its result"), READS("/v1/jobs/{id}/wait"),
     FIELDS(job_fields), RECORD(result_columns), .run = job_wait,
     .details =
         "A job has ended when it succeeded, was cancelled or is dead. The exit code is 73 when it did "
         "not succeed, and 75 when it has not ended yet; then the explanation says what it is waiting "
         "for.",
     .example = "pawl job wait 17 --timeout 5m"},
    {OPERATION("run.wait", "Wait until a run has ended, and show it"), READS("/v1/runs/{run}/wait"),
     FIELDS(run_fields), .shape = ANSWER_RECORD, .columns = run_columns, .column_count = RUN_COLUMNS,
     .run = run_wait,
     .details = "The exit code is 73 when the run failed or was cancelled, and 75 when it has not ended yet.",
     .example = "pawl run wait 7 --timeout 10m"},
};

const struct operation_table wait_operations = OPERATION_TABLE(operations);
