/* The whole work of one turn in one call. */
#include "store/model/batch.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/apply.h"
#include "store/model/claim.h"
#include "store/model/event_state.h"
#include "store/model/instance.h"
#include "store/model/lane.h"
#include "store/model/log.h"
#include "store/model/put.h"
#include "store/model/report.h"

/* A beat younger than this is not renewed by a batch. */
enum { BEAT_AGE_MS = 1000 };

/* What is made ready before anything is changed, so that an error leaves the state untouched. */
struct batch_plan {
    struct work_batch_result result;
    struct fail_scratch fails[KIND_COUNT + 1];
    struct put_plan puts[KIND_COUNT + 1];
    struct messages_put put_in[KIND_COUNT + 1];
    bool used; /* the request key was used before */
};

static pawl_status batch_prepare_kind(const struct work_batch *in, int kind, struct arena *arena,
                                      struct batch_plan *plan, pawl_error *err) {
    struct work_batch_result *result = &plan->result;
    pawl_status status =
        model_answers_new(arena, in->renewal_count[kind], false, &result->renewed[kind], err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->completion_count[kind], false, &result->completed[kind], err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->failure_count[kind], true, &result->failed[kind], err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->release_count[kind], false, &result->released[kind], err);
    if (status == PAWL_OK)
        status =
            model_fail_prepare(arena, in->failures[kind], in->failure_count[kind], &plan->fails[kind], err);
    if (status != PAWL_OK)
        return status;
    plan->put_in[kind] = (struct messages_put){
        .kind = (enum store_kind)kind,
        .messages = in->messages[kind],
        .count = in->message_count[kind],
        .consumer = str_absent(in->consumer) ? in->instance.service : in->consumer,
    };
    return model_put_prepare(&plan->put_in[kind], arena, &plan->puts[kind], err);
}

static pawl_status batch_prepare(const struct work_batch *in, struct arena *arena, struct batch_plan *plan,
                                 pawl_error *err) {
    pawl_status status = check_batch(in, err);
    for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++)
        status = batch_prepare_kind(in, kind, arena, plan, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->receptor_count, false, &plan->result.receptors, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->checkpoint_count, false, &plan->result.checkpoints, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->checkpoint_renewal_count, false,
                                   &plan->result.checkpoint_renewals, err);
    return status;
}

static bool batch_claims(const struct work_batch *in) {
    if ((in->flags & BATCH_SKIP_CLAIM) != 0)
        return false;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        if (in->claim_max[kind] > 0)
            return true;
    }
    return in->checkpoint_max > 0;
}

/* Registers an unknown instance, beats a known one whose beat is old; or says why the call cannot be. */
static pawl_status batch_enter(struct model *model, const struct work_batch *in, struct instance **instance,
                               pawl_error *err) {
    struct beat_result beat = {0};
    char text[UUID_TEXT_BYTES];
    pawl_status status =
        model_partition_count_check(model, "batch_process", in->instance.partition_count, err);
    if (status != PAWL_OK)
        return status;
    if (model_tombstone_find(model, in->instance.id) != NULL)
        return error_set(err, PAWL_STALE, "batch_process",
                         "instance %s was evicted and removed; drop its work and use a fresh id",
                         uuid_format(in->instance.id, text));
    if (model_instance_find(model, in->instance.id) == NULL) {
        *instance = model_instance_add(model, &in->instance);
        model_instance_beat(model, *instance, &beat);
        return PAWL_OK;
    }
    status = model_instance_active(model, in->instance.id, "batch_process", instance, err);
    if (status != PAWL_OK)
        return status;
    if (model->now_ms - (*instance)->beat_ms >= BEAT_AGE_MS) {
        model_instance_beat(model, *instance, &beat);
        return PAWL_OK;
    }
    return batch_claims(in) ? model_claim_allowed(model, in->instance.id, "batch_process", err) : PAWL_OK;
}

static void batch_report(struct model *model, const struct work_batch *in, enum store_kind kind,
                         struct batch_plan *plan) {
    const pawl_uuid id = in->instance.id;
    struct work_batch_result *result = &plan->result;
    model_report_renew(
        model, &(struct messages_renew){id, kind, in->renewals[kind], in->renewal_count[kind], in->lease_ms},
        &result->renewed[kind]);
    model_report_complete(model,
                          &(struct messages_complete){id, kind, in->completions[kind],
                                                      in->completion_count[kind],
                                                      (in->flags & BATCH_DEBUG) != 0},
                          &result->completed[kind]);
    model_report_fail(model, &(struct messages_fail){id, kind, in->failures[kind], in->failure_count[kind]},
                      &plan->fails[kind], &result->failed[kind]);
    model_report_release(model,
                         &(struct messages_release){id, kind, in->releases[kind], in->release_count[kind]},
                         &result->released[kind]);
}

static pawl_status batch_claim(struct model *model, const struct work_batch *in, enum store_kind kind,
                               struct arena *arena, struct batch_plan *plan, pawl_error *err) {
    struct grants grants = {NULL, 0, 0};
    const struct messages_claim claim = {
        .instance = in->instance.id,
        .kind = kind,
        .max = in->claim_max[kind],
        .lease_ms = in->lease_ms,
        .policy = in->policy,
        .max_attempts = in->max_attempts,
        .request = in->request,
    };
    if (plan->used)
        model_claim_repeat(model, &claim, &grants);
    else
        model_claim_make(model, &claim, &grants);
    pawl_status status = model_grants_copy(&grants, arena, &plan->result.claimed[kind], err);
    free(grants.records);
    return status;
}

/* Every perspective that is fed, for who names none. */
static pawl_status batch_keys(const struct model *model, const struct work_batch *in, struct arena *arena,
                              struct checkpoints_claim *out, pawl_error *err) {
    const struct event_tables *t = model->events;
    size_t most = t != NULL ? t->perspective_count : 0, count = 0;
    pawl_str *keys = arena_array(arena, most, sizeof *keys);
    if (keys == NULL)
        return error_set(err, PAWL_NO_MEMORY, "batch_process", "no memory for %zu perspectives", most);
    for (size_t i = 0; i < most; i++) {
        if (model_perspective_fed(t->perspectives[i]))
            keys[count++] = t->perspectives[i]->key;
    }
    out->perspectives = in->perspective_count > 0 ? in->perspectives : keys;
    out->perspective_count = in->perspective_count > 0 ? in->perspective_count : count;
    return PAWL_OK;
}

/* The streams that messages speak of: what they say is written down in checkpoints, so the messages end. */
static pawl_status batch_woken(struct model *model, struct checkpoints_claim *claim, struct arena *arena,
                               struct checkpoint_grants *out, pawl_error *err) {
    struct grants grants = {NULL, 0, 0};
    struct item_list items = {NULL, 0};
    struct answer_list answers;
    const struct messages_claim messages = {.instance = claim->instance,
                                            .kind = KIND_PERSPECTIVE,
                                            .max = PAWL_WAKE_MAX,
                                            .lease_ms = claim->lease_ms};
    model_claim_make(model, &messages, &grants);
    pawl_status status = model_grants_copy(&grants, arena, &items, err);
    free(grants.records);
    struct complete_item *done = arena_array(arena, items.count, sizeof *done);
    pawl_str *streams = arena_array(arena, items.count, sizeof *streams);
    if (status == PAWL_OK && (done == NULL || streams == NULL))
        status = error_set(err, PAWL_NO_MEMORY, "batch_process", "no memory for %zu streams", items.count);
    if (status == PAWL_OK)
        status = model_answers_new(arena, items.count, false, &answers, err);
    if (status != PAWL_OK || items.count == 0)
        return status;
    claim->stream_count = wakes_take(items.items, items.count, streams, done);
    claim->streams = streams;
    if (claim->stream_count > 0)
        status = model_checkpoints_grant(model, claim, arena, out, err);
    claim->stream_count = 0;
    const struct messages_complete complete = {claim->instance, KIND_PERSPECTIVE, done, items.count, false};
    if (status == PAWL_OK)
        model_report_complete(model, &complete, &answers);
    return status;
}

static pawl_status batch_grant(struct model *model, const struct work_batch *in, struct arena *arena,
                               struct batch_plan *plan, pawl_error *err) {
    struct checkpoint_grants woken = {0}, due = {0};
    struct checkpoints_claim claim = {.instance = in->instance.id,
                                      .max = in->checkpoint_max,
                                      .lease_ms = in->lease_ms,
                                      .request = in->request};
    if (plan->used)
        return model_checkpoints_held(model, &claim, arena, &plan->result.granted, err);
    pawl_status status = batch_keys(model, in, arena, &claim, err);
    if (status == PAWL_OK)
        status = batch_woken(model, &claim, arena, &woken, err);
    claim.max -= (int)woken.count;
    if (status == PAWL_OK && claim.max > 0)
        status = model_checkpoints_grant(model, &claim, arena, &due, err);
    return status == PAWL_OK ? grants_join(&woken, &due, arena, &plan->result.granted, err) : status;
}

/* The lanes the instance owns at the end, ascending. */
static pawl_status batch_lanes(struct model *model, const struct work_batch *in, struct arena *arena,
                               struct work_batch_result *result, pawl_error *err) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        size_t count = (size_t)model_lanes_owned(model, (enum store_kind)kind, in->instance.id);
        result->lanes[kind] = arena_array(arena, count, sizeof(int));
        if (result->lanes[kind] == NULL)
            return error_set(err, PAWL_NO_MEMORY, "batch_process", "no memory for %zu lanes", count);
        for (int i = 0; i < model->settings.lane_count; i++) {
            if (uuid_equal(model->lanes[kind][i].owner, in->instance.id))
                result->lanes[kind][result->lane_count[kind]++] = i;
        }
    }
    return PAWL_OK;
}

static pawl_status batch_run(struct model *model, const struct work_batch *in, struct arena *arena,
                             struct batch_plan *plan, pawl_error *err) {
    struct instance *instance = NULL;
    pawl_status status = batch_enter(model, in, &instance, err);
    if (status != PAWL_OK)
        return status;
    struct work_batch_result *result = &plan->result;
    plan->used = model_request_find(model, in->request) != NULL;
    if (!plan->used)
        model_request_add(model, in->request);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        batch_report(model, in, (enum store_kind)kind, plan);
        model_put_apply(model, &plan->put_in[kind], plan->used, &plan->puts[kind]);
        result->put[kind] = plan->puts[kind].result;
    }
    for (size_t i = 0; i < in->receptor_count; i++)
        result->receptors.answers[i] = model_receptor_apply(model, &in->receptors[i]);
    model_checkpoints_extend(model,
                             &(struct checkpoints_renew){in->instance.id, in->checkpoint_renewals,
                                                         in->checkpoint_renewal_count, in->lease_ms},
                             result->checkpoint_renewals.answers);
    for (size_t i = 0; i < in->checkpoint_count; i++)
        result->checkpoints.answers[i] = model_checkpoint_apply(model, in->instance.id, &in->checkpoints[i]);
    for (int kind = KIND_OUTBOX; batch_claims(in) && kind <= KIND_COUNT; kind++) {
        if (in->claim_max[kind] == 0)
            continue;
        status = batch_claim(model, in, (enum store_kind)kind, arena, plan, err);
        if (status != PAWL_OK)
            return status;
    }
    if (batch_claims(in) && in->checkpoint_max > 0)
        status = batch_grant(model, in, arena, plan, err);
    if (status != PAWL_OK)
        return status;
    result->now_ms = model->now_ms;
    result->lease_until_ms = instance->lease_until_ms;
    return (in->flags & BATCH_LANES) != 0 ? batch_lanes(model, in, arena, result, err) : PAWL_OK;
}

pawl_status model_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                struct work_batch_result *out, pawl_error *err) {
    struct batch_plan plan = {0};
    pawl_status status = batch_prepare(in, arena, &plan, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    status = batch_run(model, in, arena, &plan, err);
    if (status == PAWL_OK)
        *out = plan.result;
    return model_leave(model, status);
}
