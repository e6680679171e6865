/* Jobs: enqueued, claimed, finished, renewed, cancelled, redriven, woken. */
#include "store/postgres/jobs/jobs.h"

#include "base/error.h"
#include "base/str.h"

pawl_status pg_brief_begin(struct brief *brief, enum postgres_query query, const char *op, pawl_error *err) {
    brief->arena = arena_create(0);
    if (brief->arena == NULL)
        return pg_answer_no_memory(op, err);
    brief->statement = pg_statement_new(query, brief->arena);
    return PAWL_OK;
}

void pg_brief_end(struct brief *brief) {
    pg_statement_clear(&brief->statement);
    arena_free(brief->arena);
}

/* One answer per item from an array in the first column. */
static pawl_status pg_job_answers_run(struct store *store, struct statement *statement, const char *op,
                                      size_t count, struct arena *arena, struct job_answers *out,
                                      pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status =
        pg_answers_run(store, statement, &(struct answers_wanted){op, count, arena, &list}, err);
    if (status == PAWL_OK)
        *out = (struct job_answers){list.answers, list.count};
    return status;
}

pawl_status pg_enqueue_prepare(const struct jobs_enqueue *in, struct arena *arena,
                               struct statement *statement, struct enqueue_result *result, pawl_error *err) {
    const struct job_new *j = in->jobs;
    result->answers = arena_array(arena, in->count, sizeof *result->answers);
    result->ids = arena_array(arena, in->count, sizeof *result->ids);
    if (result->answers == NULL || result->ids == NULL)
        return pg_answer_no_memory("jobs_enqueue", err);
    *statement = pg_statement_new(POSTGRES_Q_JOBS_ENQUEUE, arena);
    struct params *p = &statement->params;
    pg_params_texts(p, STRIDED(j, type, in->count));
    pg_params_jsons(p, STRIDED(j, payload, in->count));
    pg_params_texts(p, STRIDED(j, queue, in->count));
    pg_params_texts(p, STRIDED(j, key, in->count));
    pg_params_texts(p, STRIDED(j, unique_key, in->count));
    pg_params_texts(p, STRIDED(j, traceparent, in->count));
    pg_params_texts(p, STRIDED(j, task, in->count));
    pg_params_texts(p, STRIDED(j, agent, in->count));
    pg_params_ints(p, STRIDED(j, priority, in->count));
    pg_params_ints(p, STRIDED(j, max_attempts, in->count));
    pg_params_ints(p, STRIDED(j, flags, in->count));
    pg_params_bigs(p, STRIDED(j, due_ms, in->count));
    pg_params_bigs(p, STRIDED(j, delay_ms, in->count));
    pg_params_bigs(p, STRIDED(j, deadline_ms, in->count));
    pg_params_bigs(p, STRIDED(j, timeout_ms, in->count));
    pg_params_uuid(p, in->request);
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

#define M(name) MEMBER(struct job, name)
static const struct member job_members[] = {
    M(id),          M(token),      M(lease_until_ms), M(type),        M(queue),    M(payload),
    M(task),        M(key),        M(unique_key),     M(traceparent), M(schedule), M(progress),
    M(priority),    M(attempts),   M(max_attempts),   M(flags),       M(put_ms),   M(due_ms),
    M(deadline_ms), M(timeout_ms), M(instant_ms),     M(cancel_ms),   M(agent)};
#undef M
const struct row_shape pg_job_shape = ROW_SHAPE(struct job, job_members);

/* The jobs of the rows from first_row on, at columns from first_column on. */
static pawl_status jobs_take(struct cell first, const char *op, struct arena *arena, struct job_list *out,
                             pawl_error *err) {
    struct job_list list = {.count = (size_t)(PQntuples(first.result) - first.row)};
    list.jobs = arena_array(arena, list.count, sizeof *list.jobs);
    bool failed = list.jobs == NULL;
    for (size_t i = 0; !failed && i < list.count; i++)
        pg_row_take((struct cell){first.result, first.row + (int)i, first.column}, &pg_job_shape, arena,
                    &list.jobs[i], &failed);
    if (failed)
        return pg_answer_no_memory(op, err);
    *out = list;
    return PAWL_OK;
}

static void claim_params(const struct jobs_claim *in, struct params *p) {
    pg_params_text(p, jobs_queue(in->queue));
    pg_params_int(p, in->max);
    pg_params_big(p, in->lease_ms);
    pg_params_uuid(p, in->request);
}

pawl_status postgres_jobs_claim(struct store *store, const struct jobs_claim *in, struct arena *arena,
                                struct job_list *out, pawl_error *err) {
    pawl_status status = check_jobs_claim(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOBS_CLAIM, arena);
    pg_params_uuid(&statement.params, in->instance);
    claim_params(in, &statement.params);
    status = pg_statement_run(postgres_of(store), "jobs_claim", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = jobs_take((struct cell){statement.result, 0, 0}, "jobs_claim", arena, out, err);
    pg_statement_clear(&statement);
    return status;
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
    pg_params_uuid(p, in->instance);
    pg_params_bigs(p, STRIDED(items, ref.token, in->count));
    pg_params_bigs(p, STRIDED(items, ref.id, in->count));
    pg_params_smalls(p, STRIDED(items, outcome, some));
    pg_params_smalls(p, (struct strided){classes, sizeof *classes, some});
    pg_params_bigs(p, STRIDED(items, delay_ms, some));
    pg_params_bigs(p, STRIDED(items, duration_ms, in->count));
    pg_params_jsons(p, STRIDED(items, output, in->count));
    pg_params_texts(p, STRIDED(items, error, in->count));
    pg_params_jsons(p, STRIDED(items, steps, in->count));
    pg_params_texts(p, STRIDED(items, input_hash, in->count));
    pg_params_texts(p, STRIDED(items, output_hash, in->count));
    pg_params_texts(p, STRIDED(items, wait_key, some));
    pg_params_texts(p, STRIDED(items, wait_step, some));
    claim_params(&in->claim, p);
}

pawl_status postgres_jobs_finish(struct store *store, const struct jobs_finish *in, struct arena *arena,
                                 struct finish_result *out, pawl_error *err) {
    struct finish_result result = {.count = in->count};
    pawl_status status = check_jobs_finish(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.results = arena_array(arena, in->count, sizeof *result.results);
    int *classes = arena_array(arena, in->count, sizeof *classes);
    if (result.answers == NULL || result.results == NULL || classes == NULL)
        return pg_answer_no_memory("jobs_finish", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_JOBS_FINISH, arena);
    finish_params(in, classes, &statement.params);
    status = pg_statement_run(postgres_of(store), "jobs_finish", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK &&
        (PQntuples(statement.result) < 1 ||
         !pg_cell_array_ints((struct cell){statement.result, 0, 0}, (int *)result.answers, in->count) ||
         !pg_cell_array_ints((struct cell){statement.result, 0, 1}, (int *)result.results, in->count)))
        status = pg_answer_malformed("jobs_finish", err);
    if (status == PAWL_OK)
        status = jobs_take((struct cell){statement.result, 1, 2}, "jobs_finish", arena, &result.jobs, err);
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_renew(struct store *store, const struct jobs_renew *in, struct arena *arena,
                                struct renew_result *out, pawl_error *err) {
    struct renew_result result = {.count = in->count};
    pawl_status status = check_jobs_renew(in, err);
    if (status != PAWL_OK)
        return status;
    result.answers = arena_array(arena, in->count, sizeof *result.answers);
    result.cancel = arena_array(arena, in->count, sizeof *result.cancel);
    int *cancels = arena_array(arena, in->count, sizeof *cancels);
    if (result.answers == NULL || result.cancel == NULL || cancels == NULL)
        return pg_answer_no_memory("jobs_renew", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_JOBS_RENEW, arena);
    struct params *p = &statement.params;
    pg_params_uuid(p, in->instance);
    pg_params_bigs(p, STRIDED(in->items, ref.token, in->count));
    pg_params_bigs(p, STRIDED(in->items, ref.id, in->count));
    pg_params_jsons(p, STRIDED(in->items, progress, in->count));
    pg_params_big(p, in->lease_ms);
    status = pg_statement_run(postgres_of(store), "jobs_renew", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK &&
        (PQntuples(statement.result) != 1 ||
         !pg_cell_array_ints((struct cell){statement.result, 0, 0}, (int *)result.answers, in->count) ||
         !pg_cell_array_ints((struct cell){statement.result, 0, 1}, cancels, in->count)))
        status = pg_answer_malformed("jobs_renew", err);
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++)
        result.cancel[i] = cancels[i] != 0;
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_jobs_cancel(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                                 struct job_answers *out, pawl_error *err) {
    pawl_status status = check_job_ids("jobs_cancel", ids, count, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOBS_CANCEL, arena);
    pg_params_bigs(&statement.params, (struct strided){ids, sizeof *ids, count});
    return pg_job_answers_run(store, &statement, "jobs_cancel", count, arena, out, err);
}

pawl_status postgres_jobs_redrive(struct store *store, const int64_t *ids, size_t count, bool discard,
                                  struct arena *arena, struct job_answers *out, pawl_error *err) {
    pawl_status status = check_job_ids("jobs_redrive", ids, count, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_JOBS_REDRIVE, arena);
    pg_params_bigs(&statement.params, (struct strided){ids, sizeof *ids, count});
    pg_params_bool(&statement.params, discard);
    return pg_job_answers_run(store, &statement, "jobs_redrive", count, arena, out, err);
}

pawl_status postgres_jobs_wake(struct store *store, const struct job_wake *in, struct wake_result *out,
                               pawl_error *err) {
    struct brief brief;
    pawl_status status = check_job_wake(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_JOBS_WAKE, "jobs_wake", err);
    if (status != PAWL_OK)
        return status;
    pg_params_text(&brief.statement.params, in->wait_key);
    pg_params_json(&brief.statement.params, in->payload);
    pg_params_big(&brief.statement.params, in->keep_ms);
    status = pg_statement_run(postgres_of(store), "jobs_wake", &brief.statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out = (struct wake_result){pg_cell_int((struct cell){brief.statement.result, 0, 0}),
                                    pg_cell_bool((struct cell){brief.statement.result, 0, 1})};
    pg_brief_end(&brief);
    return status;
}

pawl_status postgres_jobs_steps_put(struct store *store, const struct steps_put *in, struct arena *arena,
                                    struct job_answers *out, pawl_error *err) {
    pawl_status status = check_steps_put(in, err);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_STEPS_PUT, arena);
    struct params *p = &statement.params;
    pg_params_uuid(p, in->instance);
    pg_params_big(p, in->ref.token);
    pg_params_big(p, in->ref.id);
    pg_params_texts(p, STRIDED(in->steps, step, in->count));
    pg_params_ints(p, STRIDED(in->steps, index, in->count));
    pg_params_smalls(p, STRIDED(in->steps, state, in->count));
    pg_params_ints(p, STRIDED(in->steps, attempt, in->count));
    pg_params_bigs(p, STRIDED(in->steps, duration_ms, in->count));
    pg_params_texts(p, STRIDED(in->steps, input_hash, in->count));
    pg_params_texts(p, STRIDED(in->steps, output_hash, in->count));
    pg_params_texts(p, STRIDED(in->steps, error, in->count));
    pg_params_jsons(p, STRIDED(in->steps, output, in->count));
    return pg_job_answers_run(store, &statement, "steps_put", in->count, arena, out, err);
}

pawl_status postgres_jobs_limit_set(struct store *store, const struct job_limit *in, pawl_error *err) {
    struct brief brief;
    pawl_status status = check_job_limit(in, err);
    if (status == PAWL_OK)
        status = pg_brief_begin(&brief, POSTGRES_Q_JOB_LIMIT_SET, "job_limit_set", err);
    if (status != PAWL_OK)
        return status;
    struct params *p = &brief.statement.params;
    pg_params_text(p, in->key);
    pg_params_int(p, in->concurrency);
    pg_params_int(p, in->rate);
    pg_params_big(p, in->rate_ms);
    pg_params_int(p, in->weight);
    status = pg_statement_run(postgres_of(store), "job_limit_set", &brief.statement, EFFECT_WRITE, err);
    pg_brief_end(&brief);
    return status;
}
