/* Executions, their audit, the spine, and what is removed in time. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/jobs/jobs.h"

#define CELL(column) ((struct cell){r, row, (column)})
#define TEXT(column) pg_cell_text(CELL(column), arena, &failed)

pawl_status postgres_jobs_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                               struct task_run_list *out, pawl_error *err) {
    pawl_status status = check_list_limit("task_runs", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_TASK_RUNS, arena);
    pg_params_text(&statement.params, filter->task);
    pg_params_big(&statement.params, filter->job_id);
    pg_params_int(&statement.params, filter->outcome);
    pg_params_big(&statement.params, filter->since_ms);
    pg_params_big(&statement.params, filter->before_id);
    pg_params_int(&statement.params, filter->limit);
    pg_params_int(&statement.params, run_filter_scan(filter));
    status = pg_statement_run(postgres_of(store), "task_runs", &statement, EFFECT_READ, err);
    if (status != PAWL_OK)
        return status;
    const PGresult *r = statement.result;
    int count = PQgetisnull(r, 0, 0) ? 0 : PQntuples(r);
    struct task_run *rows = arena_array(arena, (size_t)count, sizeof *rows);
    bool failed = rows == NULL;
    for (int row = 0; !failed && row < count; row++) {
        pg_row_take(CELL(0), &task_run_shape, arena, &rows[row], &failed);
        rows[row].hash = TEXT(16);
    }
    if (failed)
        status = pg_answer_no_memory("task_runs", err);
    else
        *out = (struct task_run_list){rows, (size_t)count, pg_cell_int((struct cell){r, 0, 17})};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance,
                                   struct run_sums *out, pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_RUN_SUMS, "run_sums", err);
    if (status != PAWL_OK)
        return status;
    pg_params_big(&brief.statement.params, since_ms);
    pg_params_uuid(&brief.statement.params, instance);
    status = pg_statement_run(postgres_of(store), "run_sums", &brief.statement, EFFECT_READ, err);
    if (status == PAWL_OK) {
        const PGresult *r = brief.statement.result;
        int row = 0;
        *out = (struct run_sums){.runs = pg_cell_int(CELL(0)),
                                 .succeeded = pg_cell_int(CELL(1)),
                                 .duration_ms = pg_cell_int(CELL(2)),
                                 .workers = pg_cell_int(CELL(3))};
    }
    pg_brief_end(&brief);
    return status;
}

static struct audit_head head_read(const PGresult *r) {
    struct audit_head head = {.number = pg_cell_int((struct cell){r, 0, 0}),
                              .made_ms = pg_cell_int((struct cell){r, 0, 1})};
    (void)snprintf(head.hash, sizeof head.hash, "%s", PQgetvalue(r, 0, 2));
    return head;
}

pawl_status postgres_jobs_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                                       pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_AUDIT_ANCHOR, "audit_anchor", err);
    if (status != PAWL_OK)
        return status;
    pg_params_big(&brief.statement.params, older_ms);
    status = pg_statement_run(postgres_of(store), "audit_anchor", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out = head_read(brief.statement.result);
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_audit_head(struct store *store, struct audit_head *out, pawl_error *err) {
    struct brief brief;
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_AUDIT_HEAD, "audit_head", err);
    if (status != PAWL_OK)
        return status;
    status = pg_statement_run(postgres_of(store), "audit_head", &brief.statement, EFFECT_READ, err);
    if (status == PAWL_OK)
        *out = head_read(brief.statement.result);
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                                       struct audit_report *out, pawl_error *err) {
    pawl_status status = check_audit_expect(expect, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_AUDIT_VERIFY, arena);
    pg_params_text(&statement.params, expect);
    status = pg_statement_run(postgres_of(store), "audit_verify", &statement, EFFECT_READ, err);
    if (status != PAWL_OK)
        return status;
    const PGresult *r = statement.result;
    int row = 0;
    bool failed = false;
    struct audit_report report = {.chains = pg_cell_int(CELL(0)),
                                  .blocks = pg_cell_int(CELL(1)),
                                  .anchors = pg_cell_int(CELL(2)),
                                  .rows = pg_cell_int(CELL(3)),
                                  .removed = pg_cell_int(CELL(4)),
                                  .fault = TEXT(5)};
    report.sound = str_absent(report.fault);
    if (failed)
        status = pg_answer_no_memory("audit_verify", err);
    else
        *out = report;
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_spine_read(struct store *store, int limit, struct arena *arena,
                                     struct spine_events *out, pawl_error *err) {
    pawl_status status = check_list_limit("spine_read", limit, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_SPINE_READ, arena);
    pg_params_int(&statement.params, limit);
    status = pg_statement_run(postgres_of(store), "spine_read", &statement, EFFECT_READ, err);
    if (status != PAWL_OK)
        return status;
    const PGresult *r = statement.result;
    struct spine_event *rows = arena_array(arena, (size_t)PQntuples(r), sizeof *rows);
    bool failed = rows == NULL;
    for (int row = 0; !failed && row < PQntuples(r); row++)
        rows[row] = (struct spine_event){
            .id = pg_cell_int(CELL(0)),
            .job_id = pg_cell_int(CELL(1)),
            .event_type = str_from(run_outcome_event((enum run_outcome)pg_cell_int(CELL(2)))),
            .attempt = (int)pg_cell_int(CELL(3)),
            .made_ms = pg_cell_int(CELL(4)),
            .instance = pg_cell_uuid(CELL(5)),
            .task = TEXT(6),
            .type = TEXT(7),
            .error = TEXT(8),
            .payload = TEXT(9)};
    if (failed)
        status = pg_answer_no_memory("spine_read", err);
    else
        *out = (struct spine_events){rows, (size_t)PQntuples(r)};
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_spine_remove(struct store *store, const int64_t *ids, size_t count,
                                       int64_t *removed, pawl_error *err) {
    struct brief brief;
    pawl_status status = check_job_ids("spine_remove", ids, count, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_SPINE_REMOVE, "spine_remove", err);
    if (status != PAWL_OK)
        return status;
    pg_params_bigs(&brief.statement.params, (struct strided){ids, sizeof *ids, count});
    status = pg_statement_run(postgres_of(store), "spine_remove", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *removed = pg_cell_int((struct cell){brief.statement.result, 0, 0});
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                   pawl_error *err) {
    struct brief brief;
    if (rows_max < 1)
        return error_set(err, PAWL_INVALID, "jobs_maintain", "rows_max %d is below 1", rows_max);
    pawl_status status = pg_brief_begin(&brief, POSTGRES_Q_JOBS_MAINTAIN, "jobs_maintain", err);
    if (status != PAWL_OK)
        return status;
    pg_params_int(&brief.statement.params, rows_max);
    status = pg_statement_run(postgres_of(store), "jobs_maintain", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK) {
        const PGresult *r = brief.statement.result;
        int row = 0;
        *out = (struct jobs_maintain_result){
            .runs_removed = pg_cell_int(CELL(0)),
            .claims_removed = pg_cell_int(CELL(1)),
            .fires_removed = pg_cell_int(CELL(2)),
            .signals_removed = pg_cell_int(CELL(3)),
            .refusals_removed = pg_cell_int(CELL(4)),
            .spine_removed = pg_cell_int(CELL(5)),
            .tally_folded = pg_cell_int(CELL(6)),
            .leases_expired = pg_cell_int(CELL(7)),
        };
    }
    pg_brief_end(&brief);
    return status;
}
