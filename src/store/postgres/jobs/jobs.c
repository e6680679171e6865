/* Jobs on PostgreSQL: enqueue, claim, finish, renew, cancel, redrive, wake. */
#include "store/check/jobs.h"
#include "store/postgres/calls.h"

pawl_status pg_enqueue_prepare(const struct jobs_enqueue *in, struct arena *arena,
                               struct statement *statement, struct enqueue_result *result, pawl_error *err) {
    result->answers = arena_array(arena, in->count, sizeof *result->answers);
    result->ids = arena_array(arena, in->count, sizeof *result->ids);
    if (result->answers == NULL || result->ids == NULL)
        return pg_answer_no_memory("jobs_enqueue", err);
    *statement = pg_statement_new(POSTGRES_Q_JOBS_ENQUEUE, arena);
    PARAMS(&statement->params, ROWS_OF(job_new_shape, in->jobs, in->count), in->request);
    return PAWL_OK;
}

pawl_status pg_enqueue_take(const struct jobs_enqueue *in, const PGresult *rows,
                            struct enqueue_result *result, pawl_error *err) {
    if (PQntuples(rows) != 1 ||
        !pg_cell_array_ints((struct cell){rows, 0, 0}, (int *)result->answers, in->count) ||
        !pg_cell_array_bigs((struct cell){rows, 0, 1}, result->ids, in->count))
        return pg_answer_malformed("jobs_enqueue", err);
    return PAWL_OK;
}

pawl_status postgres_jobs_enqueue(struct store *store, const struct jobs_enqueue *in, struct arena *arena,
                                  struct enqueue_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct enqueue_result result = {0};
    pawl_status status = check_jobs_enqueue(in, err);
    if (status == PAWL_OK)
        status = pg_enqueue_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK && in->count > 0)
        status = pg_statement_run(postgres_of(store), "jobs_enqueue", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK && in->count > 0)
        status = pg_enqueue_take(in, statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statement);
    return status;
}

static void claim_params(const struct jobs_claim *in, struct params *p) {
    PARAMS(p, jobs_queue(in->queue), in->max, in->lease_ms, in->request);
}

pawl_status postgres_jobs_claim(struct store *store, const struct jobs_claim *in, struct arena *arena,
                                struct job_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_JOBS_CLAIM, "jobs_claim", arena, check_jobs_claim(in, err));
    SEND(&q, in->instance);
    claim_params(in, &q.statement.params);
    return pg_list(&q, &job_shape, ROWS_OUT(out, jobs), err);
}

/* What goes beside an item in arrays: its class with the refusal in it. No members when all are complete.
 */
static void finish_params(const struct jobs_finish *in, int *classes, struct params *p) {
    const struct finish_item *items = in->items;
    bool complete = true;
    for (size_t i = 0; i < in->count; i++) {
        complete = complete && items[i].outcome == JOB_COMPLETE;
        classes[i] = items[i].refused ? CLASS_PERMANENT + 1 : (int)items[i].error_class;
    }
    size_t some = complete ? 0 : in->count;
    PARAMS(p, in->instance, LIST_OF(items, ref.token, in->count), LIST_OF(items, ref.id, in->count),
           LIST_OF(items, outcome, some), SMALLS(classes, some), LIST_OF(items, delay_ms, some),
           LIST_OF(items, duration_ms, in->count), JSONS_OF(items, output, in->count),
           LIST_OF(items, error, in->count), JSONS_OF(items, steps, in->count),
           LIST_OF(items, input_hash, in->count), LIST_OF(items, output_hash, in->count),
           LIST_OF(items, wait_key, some), LIST_OF(items, wait_step, some));
    claim_params(&in->claim, p);
}

/* The first row has the answers, those after it the jobs of the next claim. */
pawl_status postgres_jobs_finish(struct store *store, const struct jobs_finish *in, struct arena *arena,
                                 struct finish_result *out, pawl_error *err) {
    struct row_list jobs = {NULL, 0};
    struct finish_result result = {.count = in->count};
    struct query q =
        pg_write(store, POSTGRES_Q_JOBS_FINISH, "jobs_finish", arena, check_jobs_finish(in, err));
    if (q.status != PAWL_OK)
        return q.status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.results = arena_array(arena, in->count, sizeof *result.results);
    int *classes = arena_array(arena, in->count, sizeof *classes);
    if (result.answers == NULL || result.results == NULL || classes == NULL)
        return pg_answer_no_memory(q.op, err);
    finish_params(in, classes, &q.statement.params);
    pawl_status status = pg_ask(&q, err);
    if (status == PAWL_OK && (PQntuples(q.statement.result) < 1 ||
                              !pg_cell_array_ints(pg_cell(&q, 0, 0), (int *)result.answers, in->count) ||
                              !pg_cell_array_ints(pg_cell(&q, 0, 1), (int *)result.results, in->count)))
        status = pg_answer_malformed(q.op, err);
    if (status == PAWL_OK)
        status = pg_rows_take(pg_cell(&q, 1, 2), q.op, &job_shape, arena, &jobs, err);
    result.jobs = (struct job_list){jobs.rows, jobs.count};
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&q.statement);
    return status;
}

pawl_status postgres_jobs_renew(struct store *store, const struct jobs_renew *in, struct arena *arena,
                                struct renew_result *out, pawl_error *err) {
    struct answer_list list = {0};
    struct query q = pg_write(store, POSTGRES_Q_JOBS_RENEW, "jobs_renew", arena, check_jobs_renew(in, err));
    SEND(&q, in->instance, ROWS_OF(renew_item_shape, in->items, in->count), in->lease_ms);
    pawl_status status = pg_answers(&q, in->count, &list, err);
    bool *cancel = status == PAWL_OK ? arena_array(arena, in->count, sizeof *cancel) : NULL;
    if (status == PAWL_OK && cancel == NULL)
        status = pg_answer_no_memory(q.op, err);
    for (size_t i = 0; cancel != NULL && i < in->count; i++)
        cancel[i] = list.outcomes[i] != 0;
    if (status == PAWL_OK)
        *out = (struct renew_result){list.answers, cancel, in->count};
    return status;
}

/* One answer per item from an array in the first column. */
static pawl_status job_answers(struct query *q, size_t count, struct job_answers *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = pg_answers(q, count, &list, err);
    if (status == PAWL_OK)
        *out = (struct job_answers){list.answers, list.count};
    return status;
}

pawl_status postgres_jobs_cancel(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                                 struct job_answers *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_JOBS_CANCEL, "jobs_cancel", arena,
                              check_job_ids("jobs_cancel", ids, count, err));
    SEND(&q, LIST(ids, count));
    return job_answers(&q, count, out, err);
}

pawl_status postgres_jobs_redrive(struct store *store, const int64_t *ids, size_t count, bool discard,
                                  struct arena *arena, struct job_answers *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_JOBS_REDRIVE, "jobs_redrive", arena,
                              check_job_ids("jobs_redrive", ids, count, err));
    SEND(&q, LIST(ids, count), discard);
    return job_answers(&q, count, out, err);
}

pawl_status postgres_jobs_wake(struct store *store, const struct job_wake *in, struct wake_result *out,
                               pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_JOBS_WAKE, "jobs_wake", NULL, check_job_wake(in, err));
    SEND(&q, ROW_OF(job_wake_shape, in));
    return pg_row(&q, &wake_result_shape, out, err);
}

pawl_status postgres_jobs_steps_put(struct store *store, const struct steps_put *in, struct arena *arena,
                                    struct job_answers *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_STEPS_PUT, "steps_put", arena, check_steps_put(in, err));
    SEND(&q, in->instance, in->ref.token, in->ref.id, ROWS_OF(job_step_new_shape, in->steps, in->count));
    return job_answers(&q, in->count, out, err);
}

pawl_status postgres_jobs_limit_set(struct store *store, const struct job_limit *in, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_JOB_LIMIT_SET, "job_limit_set", NULL, check_job_limit(in, err));
    SEND(&q, ROW_OF(job_limit_shape, in));
    return pg_done(&q, err);
}
