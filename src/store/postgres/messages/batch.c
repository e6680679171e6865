/* The batch on PostgreSQL: one transaction and one round trip, without steps that have nothing to do. */
#include "store/batch.h"
#include "store/postgres/calls.h"

/* begin, five reports and a put for each kind, receptors, checkpoints twice, three claims, grants, lanes. */
enum { BATCH_STEPS_MAX = 1 + 5 * KIND_COUNT + 3 + KIND_COUNT + 2 };

/* The statements of a batch and what each is for; NULL: the step is left out. */
struct batch {
    const struct work_batch *in;
    struct arena *arena;
    struct statement steps[BATCH_STEPS_MAX];
    size_t count;
    struct statement *begin, *receptors, *checkpoints, *extend, *grant, *lanes;
    struct statement *renew[KIND_COUNT + 1], *complete[KIND_COUNT + 1], *fail[KIND_COUNT + 1];
    struct statement *release[KIND_COUNT + 1], *put[KIND_COUNT + 1], *claim[KIND_COUNT + 1];
    struct messages_put put_in[KIND_COUNT + 1];
    struct work_batch_result out;
};

static struct statement *step(struct batch *batch, enum postgres_query query) {
    struct statement *statement = &batch->steps[batch->count++];
    *statement = pg_statement_new(query, batch->arena);
    return statement;
}

static pawl_status kind_prepare(struct batch *batch, int k, pawl_error *err) {
    const struct work_batch *in = batch->in;
    const struct messages_renew renew = batch_renew(in, k);
    const struct messages_complete complete = batch_complete(in, k);
    const struct messages_fail fail = batch_fail(in, k);
    const struct messages_release release = batch_release(in, k);
    pawl_status status = PAWL_OK;
    if (renew.count > 0) {
        batch->renew[k] = step(batch, POSTGRES_Q_RENEW);
        pg_renew_params(&renew, &batch->renew[k]->params);
    }
    if (complete.count > 0) {
        batch->complete[k] = step(batch, POSTGRES_Q_COMPLETE);
        pg_complete_params(&complete, &batch->complete[k]->params);
    }
    if (fail.count > 0) {
        batch->fail[k] = step(batch, POSTGRES_Q_FAIL);
        status = pg_fail_params(&fail, &batch->fail[k]->params, err);
    }
    if (release.count > 0) {
        batch->release[k] = step(batch, POSTGRES_Q_RELEASE);
        pg_release_params(&release, &batch->release[k]->params);
    }
    if (status == PAWL_OK && in->message_count[k] > 0) {
        batch->put_in[k] = batch_put(in, k);
        batch->put[k] = step(batch, POSTGRES_Q_PUT);
        status = pg_put_prepare(&batch->put_in[k], batch->arena, batch->put[k], &batch->out.put[k], err);
    }
    return status;
}

static void claims_prepare(struct batch *batch) {
    for (int k = KIND_OUTBOX; (batch->in->flags & BATCH_SKIP_CLAIM) == 0 && k <= KIND_COUNT; k++) {
        const struct messages_claim claim = batch_claim(batch->in, k);
        if (claim.max == 0)
            continue;
        batch->claim[k] = step(batch, POSTGRES_Q_CLAIM);
        batch->claim[k]->query = pg_claim_params(&claim, &batch->claim[k]->params);
    }
}

static void grant_prepare(struct batch *batch) {
    const struct work_batch *in = batch->in;
    if ((in->flags & BATCH_SKIP_CLAIM) != 0 || in->checkpoint_max == 0)
        return;
    batch->grant = step(batch, POSTGRES_Q_WORK_PERSPECTIVES);
    struct params *p = &batch->grant->params;
    PARAMS(p, in->instance.id, LIST(in->perspectives, in->perspective_count), in->checkpoint_max,
           in->lease_ms, in->request);
}

static pawl_status batch_prepare(struct batch *batch, pawl_error *err) {
    const struct work_batch *in = batch->in;
    batch->begin = step(batch, POSTGRES_Q_BATCH_BEGIN);
    PARAMS(&batch->begin->params, ROW_OF(instance_new_shape, &in->instance), in->request, in->instance.slots);
    pawl_status status = PAWL_OK;
    for (int k = KIND_OUTBOX; status == PAWL_OK && k <= KIND_COUNT; k++)
        status = kind_prepare(batch, k, err);
    if (in->receptor_count > 0) {
        batch->receptors = step(batch, POSTGRES_Q_RECEPTORS_REPORT);
        PARAMS(&batch->receptors->params, ROWS_OF(receptor_report_shape, in->receptors, in->receptor_count));
    }
    const struct checkpoints_report checkpoints = batch_checkpoints(in);
    const struct checkpoints_renew extend = batch_checkpoints_renew(in);
    if (extend.count > 0) {
        batch->extend = step(batch, POSTGRES_Q_CHECKPOINTS_RENEW);
        pg_checkpoints_renew_params(&extend, &batch->extend->params);
    }
    if (in->checkpoint_count > 0) {
        batch->checkpoints = step(batch, POSTGRES_Q_CHECKPOINTS_REPORT);
        pg_checkpoints_params(&checkpoints, &batch->checkpoints->params);
    }
    claims_prepare(batch);
    grant_prepare(batch);
    if ((in->flags & BATCH_LANES) != 0) {
        batch->lanes = step(batch, POSTGRES_Q_LANES_OWNED);
        PARAMS(&batch->lanes->params, in->instance.id);
    }
    return status;
}

/* A step that was left out has an empty list. */
static pawl_status list_take(struct batch *batch, const struct statement *statement, size_t count,
                             struct answer_list *out, pawl_error *err) {
    *out = (struct answer_list){.count = 0};
    if (statement == NULL)
        return PAWL_OK;
    return pg_answers_take("batch_process", statement->result, count, batch->arena, out, err);
}

static pawl_status kind_take(struct batch *batch, int k, pawl_error *err) {
    const struct work_batch *in = batch->in;
    struct work_batch_result *out = &batch->out;
    pawl_status status = list_take(batch, batch->renew[k], in->renewal_count[k], &out->renewed[k], err);
    if (status == PAWL_OK)
        status = list_take(batch, batch->complete[k], in->completion_count[k], &out->completed[k], err);
    if (status == PAWL_OK)
        status = list_take(batch, batch->fail[k], in->failure_count[k], &out->failed[k], err);
    if (status == PAWL_OK)
        status = list_take(batch, batch->release[k], in->release_count[k], &out->released[k], err);
    if (status == PAWL_OK && batch->put[k] != NULL)
        status = pg_put_take(&batch->put_in[k], batch->put[k]->result, &out->put[k], err);
    if (status == PAWL_OK && batch->claim[k] != NULL) {
        struct row_list claimed = {NULL, 0};
        status = pg_rows_take((struct cell){batch->claim[k]->result, 0, 0}, "batch_process", &item_shape,
                              batch->arena, &claimed, err);
        out->claimed[k] = (struct item_list){claimed.rows, claimed.count};
        pg_claim_take(&out->claimed[k]);
    }
    return status;
}

static pawl_status lanes_take(struct batch *batch, int k, pawl_error *err) {
    struct cell cell = {batch->lanes->result, 0, k - 1};
    size_t count = pg_cell_array_count(cell);
    int *lanes = arena_array(batch->arena, count, sizeof *lanes);
    if (lanes == NULL)
        return pg_answer_no_memory("batch_process", err);
    if (!pg_cell_array_ints(cell, lanes, count))
        return pg_answer_malformed("batch_process", err);
    batch->out.lanes[k] = lanes;
    batch->out.lane_count[k] = count;
    return PAWL_OK;
}

static pawl_status batch_take(struct batch *batch, pawl_error *err) {
    const struct work_batch *in = batch->in;
    struct work_batch_result *out = &batch->out;
    if (PQntuples(batch->begin->result) != 1 ||
        (batch->lanes != NULL && PQntuples(batch->lanes->result) != 1))
        return pg_answer_malformed("batch_process", err);
    out->now_ms = pg_cell_int((struct cell){batch->begin->result, 0, 0});
    out->lease_until_ms = pg_cell_int((struct cell){batch->begin->result, 0, 1});
    pawl_status status = list_take(batch, batch->receptors, in->receptor_count, &out->receptors, err);
    if (status == PAWL_OK)
        status = list_take(batch, batch->checkpoints, in->checkpoint_count, &out->checkpoints, err);
    if (status == PAWL_OK)
        status =
            list_take(batch, batch->extend, in->checkpoint_renewal_count, &out->checkpoint_renewals, err);
    if (status == PAWL_OK && batch->grant != NULL)
        status = pg_grants_take(batch->grant->result, batch->arena, &out->granted, err);
    for (int k = KIND_OUTBOX; status == PAWL_OK && k <= KIND_COUNT; k++) {
        status = kind_take(batch, k, err);
        if (status == PAWL_OK && batch->lanes != NULL)
            status = lanes_take(batch, k, err);
    }
    return status;
}

pawl_status postgres_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                   struct work_batch_result *out, pawl_error *err) {
    pawl_status status = check_batch(in, err);
    if (status != PAWL_OK)
        return status;
    struct batch *batch = arena_alloc(arena, sizeof *batch);
    if (batch == NULL)
        return pg_answer_no_memory("batch_process", err);
    batch->in = in;
    batch->arena = arena;
    status = batch_prepare(batch, err);
    if (status == PAWL_OK)
        status = pg_statements_run(postgres_of(store), "batch_process", batch->steps, batch->count,
                                   EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = batch_take(batch, err);
    if (status == PAWL_OK)
        *out = batch->out;
    for (size_t i = 0; i < batch->count; i++)
        pg_statement_clear(&batch->steps[i]);
    return status;
}
