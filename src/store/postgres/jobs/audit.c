/* Executions, their audit, the spine, and housekeeping of jobs on PostgreSQL. */
#include <stdio.h>

#include "base/str.h"
#include "store/check/jobs.h"
#include "store/postgres/query.h"

/* After the members of the shape: the hash, and of the page next_id. A page without executions is a row
 * without one. */
pawl_status postgres_jobs_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                               struct task_run_list *out, pawl_error *err) {
    struct row_list rows = {NULL, 0};
    const int after = (int)task_run_shape.count;
    struct query q = pg_read(store, POSTGRES_Q_TASK_RUNS, "task_runs", arena,
                             check_limit("task_runs", filter->limit, err));
    SEND(&q, filter->task, filter->job_id, filter->outcome, filter->since_ms, filter->before_id,
         filter->limit, run_filter_scan(filter));
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 0, 0), q.op, &task_run_shape, arena, &rows, err);
    if (status == PAWL_OK) {
        struct task_run_list list = {.runs = rows.rows, .next_id = pg_cell_int(pg_cell(&q, 0, after + 1))};
        bool failed = false;
        list.count = PQgetisnull(q.statement.result, 0, 0) ? 0 : rows.count;
        for (size_t i = 0; i < list.count; i++)
            list.runs[i].hash = pg_cell_text(pg_cell(&q, (int)i, after), arena, &failed);
        if (failed)
            status = pg_answer_no_memory(q.op, err);
        else
            *out = list;
    }
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_jobs_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance,
                                   struct run_sums *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_RUN_SUMS, "run_sums", NULL, PAWL_OK);
    SEND(&q, since_ms, instance);
    return pg_row(&q, &task_run_sums_shape, out, err);
}

static pawl_status head_run(struct query *q, struct audit_head *out, pawl_error *err) {
    pawl_status status = pg_ask_one(q, err);
    if (status == PAWL_OK) {
        *out = (struct audit_head){.number = pg_cell_int(pg_cell(q, 0, 0)),
                                   .made_ms = pg_cell_int(pg_cell(q, 0, 1))};
        (void)snprintf(out->hash, sizeof out->hash, "%s", PQgetvalue(q->statement.result, 0, 2));
    }
    pg_statement_clear(&q->statement);
    return status;
}

pawl_status postgres_jobs_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                                       pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_AUDIT_ANCHOR, "audit_anchor", NULL, PAWL_OK);
    SEND(&q, older_ms);
    return head_run(&q, out, err);
}

pawl_status postgres_jobs_audit_head(struct store *store, struct audit_head *out, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_AUDIT_HEAD, "audit_head", NULL, PAWL_OK);
    return head_run(&q, out, err);
}

pawl_status postgres_jobs_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                                       struct audit_report *out, pawl_error *err) {
    struct query q =
        pg_read(store, POSTGRES_Q_AUDIT_VERIFY, "audit_verify", arena, check_audit_expect(expect, err));
    SEND(&q, expect);
    pawl_status status = pg_row(&q, &audit_report_shape, out, err);
    if (status == PAWL_OK)
        out->sound = str_absent(out->fault);
    return status;
}

pawl_status postgres_jobs_spine_read(struct store *store, int limit, struct arena *arena,
                                     struct spine_events *out, pawl_error *err) {
    struct query q =
        pg_read(store, POSTGRES_Q_SPINE_READ, "spine_read", arena, check_limit("spine_read", limit, err));
    SEND(&q, limit);
    pawl_status status = pg_list(&q, &spine_event_shape, ROWS_OUT(out, events), err);
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->events[i].event_type = str_from(run_outcome_event(out->events[i].outcome));
    return status;
}

pawl_status postgres_jobs_spine_remove(struct store *store, const int64_t *ids, size_t count,
                                       int64_t *removed, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_SPINE_REMOVE, "spine_remove", NULL,
                              check_job_ids("spine_remove", ids, count, err));
    SEND(&q, LIST(ids, count));
    return pg_int(&q, removed, err);
}

pawl_status postgres_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                   pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_JOBS_MAINTAIN, "jobs_maintain", NULL,
                              check_rows_max("jobs_maintain", rows_max, err));
    SEND(&q, rows_max);
    return pg_row(&q, &jobs_maintain_shape, out, err);
}
