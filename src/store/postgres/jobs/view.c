/* Jobs, counts, limits and steps as the views show them. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/jobs/jobs.h"

#define CELL(column) ((struct cell){r, row, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)

pawl_status pg_list_run(struct store *store, struct statement *statement, const char *op, struct arena *arena,
                        size_t size, void **rows, pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, statement, EFFECT_READ, err);
    if (status != PAWL_OK)
        return status;
    *rows = arena_array(arena, (size_t)PQntuples(statement->result), size);
    return *rows == NULL ? pg_answer_no_memory(op, err) : PAWL_OK;
}

#define M(name) MEMBER(struct job_row, name)
static const struct member job_view_members[] = {M(state),     M(instance),    M(error),  M(wait_key),
                                                 M(wait_step), M(fingerprint), M(reason), M(died_ms)};
#undef M
/* What a view adds to a job. */
static const struct row_shape job_view = ROW_SHAPE(struct job_row, job_view_members);

pawl_status postgres_jobs_jobs(struct store *store, const struct job_filter *filter, struct arena *arena,
                               struct job_rows *out, pawl_error *err) {
    pawl_status status = check_job_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_VIEW_JOBS, arena);
    struct params *p = &statement.params;
    pg_params_big(p, filter->id);
    pg_params_int(p, filter->state);
    pg_params_text(p, filter->queue);
    pg_params_text(p, filter->task);
    pg_params_text(p, filter->type);
    pg_params_text(p, filter->key);
    pg_params_text(p, filter->fingerprint);
    pg_params_big(p, filter->after_id);
    pg_params_int(p, filter->limit);
    pg_params_int(p, filter->scan_max > 0 ? filter->scan_max : PAWL_LIST_SCAN);
    struct job_row *rows = NULL;
    status = pg_list_run(store, &statement, "jobs", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    int count = status == PAWL_OK && !PQgetisnull(r, 0, 0) ? PQntuples(r) : 0;
    for (int row = 0; row < count; row++) {
        struct job_row *one = &rows[row];
        pg_row_take(CELL(0), &pg_job_shape, arena, &one->job, &failed);
        pg_row_take(CELL(JOB_COLUMNS), &job_view, arena, one, &failed);
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("jobs", err);
    if (status == PAWL_OK)
        *out = (struct job_rows){rows, (size_t)count, pg_cell_int((struct cell){r, 0, JOB_COLUMNS + 8})};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                              pawl_error *err) {
    struct job_why why = {0};
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_WHY, arena);
    pg_params_big(&statement.params, id);
    pawl_status status = pg_statement_run(postgres_of(store), "job_why", &statement, EFFECT_READ, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        int row = 0;
        why.cause = (enum job_why_cause)pg_cell_int(CELL(0));
        why.until_ms = pg_cell_int(CELL(1));
        why.ahead = pg_cell_int(CELL(2));
        why.limit = (int)pg_cell_int(CELL(3));
        why.running = (int)pg_cell_int(CELL(4));
        why.now_ms = pg_cell_int(CELL(5));
    }
    pg_statement_clear(&statement);
    struct job_rows rows = {.count = 0};
    if (status == PAWL_OK)
        status = postgres_jobs_jobs(store, &(struct job_filter){.id = id, .limit = 1}, arena, &rows, err);
    if (status == PAWL_OK && (rows.count == 0 || why.cause == 0))
        status = error_set(err, PAWL_NOT_FOUND, "job_why", "there is no unfinished job %lld", (long long)id);
    if (status != PAWL_OK)
        return status;
    why.row = rows.rows[0];
    *out = why;
    return PAWL_OK;
}

pawl_status postgres_jobs_dead_groups(struct store *store, int limit, struct arena *arena,
                                      struct job_dead_groups *out, pawl_error *err) {
    struct row_list list;
    pawl_status status = check_list_limit("job_dead_groups", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_DEAD_GROUPS, arena);
    pg_params_int(&statement.params, limit);
    status = pg_rows_run(store, &statement, "job_dead_groups", &job_dead_group_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_dead_groups){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_counts(struct store *store, struct arena *arena, struct job_counts_list *out,
                                 pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_COUNTS, arena);
    pawl_status status = pg_rows_run(store, &statement, "job_counts", &job_counts_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_counts_list){list.rows, list.count, pg_rows_now(&statement, &job_counts_shape)};
    pg_statement_clear(&statement);
    return status == PAWL_OK && list.count == 0 ? postgres_clock_read(store, &out->now_ms, err) : status;
}

pawl_status postgres_jobs_backlog(struct store *store, int look_max, struct arena *arena,
                                  struct job_backlog *out, pawl_error *err) {
    pawl_status status = check_backlog_look(look_max, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_BACKLOG, arena);
    pg_params_int(&statement.params, look_max);
    struct job_priority *rows = NULL;
    struct job_backlog backlog = {.count = 0};
    int64_t ready = 0, later = 0;
    status = pg_list_run(store, &statement, "job_backlog", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++) {
        backlog.overdue += pg_cell_int(CELL(3));
        if (PQgetisnull(r, row, 0))
            continue;
        struct job_priority *priority = &rows[backlog.count++];
        *priority = (struct job_priority){.priority = (int)pg_cell_int(CELL(0)),
                                          .ready = pg_cell_int(CELL(1)),
                                          .later = pg_cell_int(CELL(2))};
        ready += priority->ready;
        later += priority->later;
    }
    backlog.priorities = rows;
    backlog.all = ready < look_max && later < look_max;
    if (status == PAWL_OK)
        *out = backlog;
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_limits(struct store *store, struct arena *arena, struct job_limits *out,
                                 pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_LIMITS, arena);
    pawl_status status = pg_rows_run(store, &statement, "job_limits", &job_limit_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_limits){list.rows, list.count};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_steps_read(struct store *store, int64_t job_id, struct arena *arena,
                                     struct job_steps *out, pawl_error *err) {
    struct row_list list;
    struct statement statement = pg_statement_new(POSTGRES_Q_STEPS_READ, arena);
    pg_params_big(&statement.params, job_id);
    pawl_status status = pg_rows_run(store, &statement, "steps_read", &job_step_shape, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_steps){list.rows, list.count};
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        out->steps[i].duration_ms = out->steps[i].finished_ms - out->steps[i].started_ms;
    pg_statement_clear(&statement);
    return status;
}
