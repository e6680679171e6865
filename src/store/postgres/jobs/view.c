/* Queries about jobs on PostgreSQL: lists, counts, limits, steps, why. */
#include "base/limits.h"
#include "store/check/jobs.h"
#include "store/postgres/query.h"

/* A page without jobs is a row without one. */
pawl_status postgres_jobs_jobs(struct store *store, const struct job_filter *filter, struct arena *arena,
                               struct job_rows *out, pawl_error *err) {
    struct job_filter wanted = *filter;
    wanted.scan_max = filter->scan_max > 0 ? filter->scan_max : PAWL_LIST_SCAN;
    struct query q = pg_read(store, POSTGRES_Q_VIEW_JOBS, "jobs", arena, check_job_filter(filter, err));
    SEND(&q, ROW_OF(job_filter_shape, &wanted));
    pawl_status status = pg_ask(&q, err);
    if (status != PAWL_OK)
        return status;
    const int view = (int)job_shape.count;
    int count = PQgetisnull(q.statement.result, 0, 0) ? 0 : PQntuples(q.statement.result);
    struct job_row *rows = arena_array(arena, (size_t)count, sizeof *rows);
    bool failed = rows == NULL;
    for (int i = 0; !failed && i < count; i++) {
        pg_row_take(pg_cell(&q, i, 0), &job_shape, arena, &rows[i].job, &failed);
        pg_row_take(pg_cell(&q, i, view), &job_view_shape, arena, &rows[i], &failed);
    }
    if (failed)
        status = pg_answer_no_memory(q.op, err);
    else
        *out = (struct job_rows){rows, (size_t)count,
                                 pg_cell_int(pg_cell(&q, 0, view + (int)job_view_shape.count))};
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_jobs_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                              pawl_error *err) {
    struct job_why why = {0};
    struct job_rows rows = {.count = 0};
    struct query q = pg_read(store, POSTGRES_Q_JOB_WHY, "job_why", arena, PAWL_OK);
    SEND(&q, id);
    pawl_status status = pg_row(&q, &job_why_shape, &why, err);
    if (status == PAWL_OK)
        status = postgres_jobs_jobs(store, &(struct job_filter){.id = id, .limit = 1}, arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (rows.rows == NULL || rows.count == 0 || (int)why.cause == 0)
        return job_unknown(id, err);
    why.row = rows.rows[0];
    *out = why;
    return PAWL_OK;
}

/* Columns: a priority's row, and what is overdue; a row without a priority has only that. */
pawl_status postgres_jobs_backlog(struct store *store, int look_max, struct arena *arena,
                                  struct job_backlog *out, pawl_error *err) {
    struct row_list rows = {NULL, 0};
    struct query q =
        pg_read(store, POSTGRES_Q_JOB_BACKLOG, "job_backlog", arena, check_backlog_look(look_max, err));
    SEND(&q, look_max);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 0, 0), q.op, &job_priority_shape, arena, &rows, err);
    struct job_backlog backlog = {.priorities = rows.rows};
    int64_t ready = 0, later = 0;
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct job_priority *priority = &backlog.priorities[i];
        backlog.overdue += pg_cell_int(pg_cell(&q, (int)i, (int)job_priority_shape.count));
        ready += priority->ready;
        later += priority->later;
        if (!PQgetisnull(q.statement.result, (int)i, 0))
            backlog.priorities[backlog.count++] = *priority;
    }
    backlog.all = ready < look_max && later < look_max;
    if (status == PAWL_OK)
        *out = backlog;
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_jobs_steps_read(struct store *store, int64_t job_id, struct arena *arena,
                                     struct job_steps *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_STEPS_READ, "steps_read", arena, PAWL_OK);
    SEND(&q, job_id);
    pawl_status status = pg_list(&q, &job_step_shape, ROWS_OUT(out, steps), err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->steps[i].duration_ms = out->steps[i].finished_ms - out->steps[i].started_ms;
    return status;
}
