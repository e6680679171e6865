/* What the store is told about the streams in hand, and what of them is due: the claims of perspectives. */
#include "work/perspective/exchange.h"

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

static pawl_status renew(struct store *store, const struct perspectives_exchange *in, struct arena *arena,
                         struct answer_list *out, pawl_error *err) {
    struct checkpoints_renew renew = {in->instance, in->renewals, in->renewal_count, in->lease_ms};
    return in->renewal_count > 0 ? store->ops->events.checkpoints_renew(store, &renew, arena, out, err)
                                 : PAWL_OK;
}

static pawl_status report(struct perspectives *all, struct store *store,
                          const struct perspectives_exchange *in, struct arena *arena, pawl_error *err) {
    struct answer_list answers = {0};
    struct sums sums = {0};
    if (in->report_count == 0)
        return PAWL_OK;
    pawl_status status = store->ops->core.checkpoints_report(
        store, &(struct checkpoints_report){in->instance, in->reports, in->report_count}, arena, &answers,
        err);
    for (size_t i = 0; status == PAWL_OK && i < answers.count; i++) {
        bool taken = answers.answers[i] == ANSWER_APPLIED || answers.answers[i] == ANSWER_DUPLICATE;
        sums.completed += taken && in->reports[i].status == CHECKPOINT_COMPLETED;
        sums.failed += taken && in->reports[i].status == CHECKPOINT_FAILED;
        sums.stale += !taken;
    }
    perspectives_add(all, sums);
    return status;
}

/* Continues registrations that are not backfilled yet, for example because their process died. */
static pawl_status backfill(struct projector *projector, bool *more, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < projector->rows.count; i++) {
        struct perspective_row *row = &projector->rows.rows[i];
        if (row->backfilled || !row_fed(row))
            continue;
        status = projector->store->ops->events.perspective_backfill(
            projector->store, row->key, PERSPECTIVE_BACKFILL_STREAMS, &row->backfilled, err);
        *more = *more || !row->backfilled;
    }
    return status;
}

/* Checkpoints of perspectives outside the store. */
static pawl_status claim_outside(struct perspectives *all, struct projector *projector,
                                 const struct perspectives_exchange *in, struct arena *arena,
                                 struct checkpoint_grants *out, pawl_error *err) {
    struct checkpoints_claim claim = {
        .instance = in->instance, .max = in->claim_max, .lease_ms = in->lease_ms};
    pawl_str *keys = arena_array(arena, projector->key_count, sizeof(*keys));
    if (keys == NULL)
        return error_no_memory(err, "perspective");
    for (size_t i = 0; i < projector->key_count; i++) {
        if (!perspective_inside(projector_row(projector, projector->keys[i])) &&
            !perspective_held(all, projector->keys[i]))
            keys[claim.perspective_count++] = projector->keys[i];
    }
    claim.perspectives = keys;
    if (claim.perspective_count == 0)
        return PAWL_OK;
    pawl_status status =
        projector->store->ops->events.checkpoints_claim(projector->store, &claim, arena, out, err);
    if (status == PAWL_OK)
        perspectives_add(all, (struct sums){.claimed = (int64_t)out->count});
    return status;
}

/* Of a perspective that is gone no processes are kept. */
static pawl_status keep_programs(struct perspectives *all, const struct perspective_rows *rows,
                                 struct arena *arena, pawl_error *err) {
    const pawl_str prefix = STR(PERSPECTIVE_PIPE);
    pawl_str *names = arena_array(arena, rows->count, sizeof(*names));
    size_t count = 0;
    if (names == NULL)
        return error_no_memory(err, "perspective");
    for (size_t i = 0; i < rows->count; i++) {
        pawl_str target = rows->rows[i].target;
        if (row_fed(&rows->rows[i]) && str_starts_with(target, prefix))
            names[count++] = (pawl_str){target.ptr + prefix.len, target.len - prefix.len};
    }
    pipes_keep(all->pipes, names, count);
    return PAWL_OK;
}

/* What was claimed outside the store, and a turn or more for those inside it that may have something due. */
static pawl_status claim(struct perspectives *all, struct projector *projector,
                         const struct perspectives_exchange *in, struct arena *arena,
                         struct perspectives_answer *out, pawl_error *err) {
    struct checkpoint_grants outside = {0};
    struct stamp_result stamped = {0};
    pawl_status status = projector_refresh(all, projector, err);
    if (status == PAWL_OK) {
        pthread_mutex_lock(&all->lock);
        bool same = all->listing == projector->listing;
        all->listing = projector->listing;
        pthread_mutex_unlock(&all->lock);
        if (!same && all->pipes != NULL)
            status = keep_programs(all, &projector->rows, arena, err);
    }
    if (status == PAWL_OK)
        status = projector->store->ops->events.events_stamp(projector->store, PAWL_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = backfill(projector, &out->more, err);
    if (status == PAWL_OK)
        status = claim_outside(all, projector, in, arena, &outside, err);
    if (status != PAWL_OK)
        return status;
    size_t most = outside.count + projector->key_count * (1 + PERSPECTIVE_HELPERS_MAX);
    out->granted = arena_array(arena, most, sizeof(*out->granted));
    if (out->granted == NULL)
        return error_no_memory(err, "perspective");
    for (size_t i = 0; i < outside.count; i++)
        out->granted[out->count++] = outside.grants[i];
    for (size_t k = 0; k < projector->key_count; k++) {
        pawl_str key = {NULL, 0};
        bool inside = perspective_inside(projector_row(projector, projector->keys[k]));
        for (int turns = inside ? perspectives_turns(all, projector->keys[k]) : 0; turns > 0; turns--) {
            if (str_absent(key))
                status = str_dup(arena, projector->keys[k], &key, err);
            if (status != PAWL_OK)
                return status;
            out->granted[out->count++] = (struct checkpoint_grant){.perspective = key};
        }
    }
    return PAWL_OK;
}

pawl_status perspectives_tell(struct perspectives *all, struct store *store,
                              const struct perspectives_exchange *in, struct arena *arena,
                              struct perspectives_answer *out, pawl_error *err) {
    struct perspectives_answer answer = {0};
    struct projector projector = all->claimer;
    pawl_status status = renew(store, in, arena, &answer.renewed, err);
    if (status == PAWL_OK)
        status = report(all, store, in, arena, err);
    if (status == PAWL_OK && in->claim_max > 0) {
        projector.store = store;
        status = claim(all, &projector, in, arena, &answer, err);
        projector.store = NULL;
        all->claimer = projector;
    }
    if (status == PAWL_OK)
        *out = answer;
    else if (status != PAWL_STALE)
        perspective_note_trouble(all, STR(""), err);
    return status;
}

/* Whether anything that can be applied here lags: due, or held by another worker. */
pawl_status perspectives_left(struct perspectives *all, struct store *store, struct arena *arena, bool *left,
                              pawl_error *err) {
    struct perspective_rows rows = {0};
    pawl_status status = store->ops->events.perspective_list(store, (pawl_str){NULL, 0}, arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    *left = false;
    for (size_t i = 0; i < rows.count; i++) {
        const struct perspective_row *row = &rows.rows[i];
        *left = *left || (row_fed(row) && perspective_can_run(all, row) && !row->paused &&
                          (!row->backfilled || row->pending > 0 || row->processing > 0));
    }
    return PAWL_OK;
}
