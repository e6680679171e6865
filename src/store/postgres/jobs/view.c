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

pawl_status postgres_jobs(struct store *store, const struct job_filter *filter, struct arena *arena,
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
        pg_job_take(CELL(0), arena, &one->job, &failed);
        one->state = (enum job_state)pg_cell_int(CELL(JOB_COLUMNS));
        one->instance = pg_cell_uuid(CELL(JOB_COLUMNS + 1));
        one->error = TEXT(JOB_COLUMNS + 2);
        one->wait_key = TEXT(JOB_COLUMNS + 3);
        one->wait_step = TEXT(JOB_COLUMNS + 4);
        one->fingerprint = TEXT(JOB_COLUMNS + 5);
        one->reason = (int)pg_cell_int(CELL(JOB_COLUMNS + 6));
        one->died_ms = pg_cell_int(CELL(JOB_COLUMNS + 7));
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("jobs", err);
    if (status == PAWL_OK)
        *out = (struct job_rows){rows, (size_t)count, pg_cell_int((struct cell){r, 0, JOB_COLUMNS + 8})};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_job_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
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
        status = postgres_jobs(store, &(struct job_filter){.id = id, .limit = 1}, arena, &rows, err);
    if (status == PAWL_OK && (rows.count == 0 || why.cause == 0))
        status = error_set(err, PAWL_NOT_FOUND, "job_why", "there is no unfinished job %lld", (long long)id);
    if (status != PAWL_OK)
        return status;
    why.row = rows.rows[0];
    *out = why;
    return PAWL_OK;
}

pawl_status postgres_job_dead_groups(struct store *store, int limit, struct arena *arena,
                                     struct job_dead_groups *out, pawl_error *err) {
    pawl_status status = check_list_limit("job_dead_groups", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_DEAD_GROUPS, arena);
    pg_params_int(&statement.params, limit);
    struct job_dead_group *rows = NULL;
    status = pg_list_run(store, &statement, "job_dead_groups", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++)
        rows[row] = (struct job_dead_group){.fingerprint = TEXT(0),
                                            .sample_error = TEXT(1),
                                            .count = pg_cell_int(CELL(2)),
                                            .first_ms = pg_cell_int(CELL(3)),
                                            .last_ms = pg_cell_int(CELL(4))};
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("job_dead_groups", err);
    if (status == PAWL_OK)
        *out = (struct job_dead_groups){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_job_counts(struct store *store, struct arena *arena, struct job_counts_list *out,
                                pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_COUNTS, arena);
    struct job_counts *rows = NULL;
    int64_t now_ms = 0;
    pawl_status status =
        pg_list_run(store, &statement, "job_counts", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++) {
        now_ms = pg_cell_int(CELL(0));
        rows[row] = (struct job_counts){
            .queue = TEXT(1),
            .ready = pg_cell_int(CELL(2)),
            .running = pg_cell_int(CELL(3)),
            .later = pg_cell_int(CELL(4)),
            .waiting = pg_cell_int(CELL(5)),
            .dead = pg_cell_int(CELL(6)),
            .put = pg_cell_int(CELL(7)),
            .done = pg_cell_int(CELL(8)),
            .failed = pg_cell_int(CELL(9)),
            .lost = pg_cell_int(CELL(10)),
            .died = pg_cell_int(CELL(11)),
            .cancelled = pg_cell_int(CELL(12)),
            .redriven = pg_cell_int(CELL(13)),
            .discarded = pg_cell_int(CELL(14)),
            .stale = pg_cell_int(CELL(15)),
            .oldest_ready_ms = pg_cell_int(CELL(16)),
        };
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("job_counts", err);
    size_t count = status == PAWL_OK ? (size_t)PQntuples(r) : 0;
    pg_statement_clear(&statement);
    if (status == PAWL_OK && count == 0)
        status = postgres_clock_read(store, &now_ms, err);
    if (status == PAWL_OK)
        *out = (struct job_counts_list){rows, count, now_ms};
    return status;
}

pawl_status postgres_job_backlog(struct store *store, int look_max, struct arena *arena,
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

pawl_status postgres_job_limits(struct store *store, struct arena *arena, struct job_limits *out,
                                pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_JOB_LIMITS, arena);
    struct job_limit *rows = NULL;
    pawl_status status =
        pg_list_run(store, &statement, "job_limits", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++)
        rows[row] = (struct job_limit){.key = TEXT(0),
                                       .concurrency = (int)pg_cell_int(CELL(1)),
                                       .rate = (int)pg_cell_int(CELL(2)),
                                       .rate_ms = pg_cell_int(CELL(3)),
                                       .weight = (int)pg_cell_int(CELL(4))};
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("job_limits", err);
    if (status == PAWL_OK)
        *out = (struct job_limits){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_steps_read(struct store *store, int64_t job_id, struct arena *arena,
                                struct job_steps *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_STEPS_READ, arena);
    pg_params_big(&statement.params, job_id);
    struct job_step *rows = NULL;
    pawl_status status =
        pg_list_run(store, &statement, "steps_read", arena, sizeof *rows, (void **)&rows, err);
    const PGresult *r = statement.result;
    bool failed = false;
    for (int row = 0; status == PAWL_OK && row < PQntuples(r); row++) {
        rows[row] = (struct job_step){.step = TEXT(1),
                                      .index = (int)pg_cell_int(CELL(2)),
                                      .state = (enum job_step_state)pg_cell_int(CELL(3)),
                                      .attempt = (int)pg_cell_int(CELL(4)),
                                      .started_ms = pg_cell_int(CELL(5)),
                                      .finished_ms = pg_cell_int(CELL(6)),
                                      .input_hash = TEXT(7),
                                      .output_hash = TEXT(8),
                                      .error = TEXT(9),
                                      .output = TEXT(10)};
        rows[row].duration_ms = rows[row].finished_ms - rows[row].started_ms;
    }
    if (status == PAWL_OK && failed)
        status = pg_answer_no_memory("steps_read", err);
    if (status == PAWL_OK)
        *out = (struct job_steps){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}
