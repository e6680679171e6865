/* The thread that applies due checkpoints: new and rebuilt streams, retries, and what dead workers left. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/perspective/int.h"

static void give_owed(struct perspectives *all, struct projector *projector) {
    for (;;) {
        pthread_mutex_lock(&all->lock);
        struct owed owed = all->owed_count > 0 ? all->owed[--all->owed_count] : (struct owed){0};
        pthread_mutex_unlock(&all->lock);
        if (owed.text == NULL)
            return;
        struct checkpoint_report one = {.stream = {owed.text, owed.stream_len},
                                        .perspective = {owed.text + owed.stream_len, owed.key_len},
                                        .version = owed.version,
                                        .token = owed.token,
                                        .status = CHECKPOINT_PENDING};
        struct answer_list answers;
        pawl_error ignored;
        pawl_status status = projector->store->ops->core.checkpoints_report(
            projector->store, &(struct checkpoints_report){owed.instance, &one, 1}, projector->arena,
            &answers, &ignored);
        bool again = status == PAWL_UNAVAILABLE || status == PAWL_BUSY || status == PAWL_UNKNOWN;
        if (!again) {
            free(owed.text);
            continue;
        }
        pthread_mutex_lock(&all->lock);
        all->owed[all->owed_count++] = owed;
        pthread_mutex_unlock(&all->lock);
        return;
    }
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

/* Each perspective in turn, for a while, so that one that cannot be applied does not hold up the others. The
 * first error is reported when all have had their turn. */
static pawl_status advance_all(const struct work *work, bool *found, pawl_error *err) {
    const struct projector *projector = work->projector;
    pawl_status first = PAWL_OK;
    for (size_t k = 0; first != PAWL_STALE && k < projector->key_count; k++) {
        const struct perspective_row *row = projector_row(projector, projector->keys[k]);
        struct work slice = *work;
        pawl_error error = {0};
        slice.until_ms = clock_boot_ms() + PERSPECTIVE_SLICE_MS;
        pawl_status status = perspective_inside(row) ? perspective_advance_due(&slice, row, found, &error)
                                                     : PAWL_OK;
        if (status != PAWL_OK && (first == PAWL_OK || status == PAWL_STALE)) {
            first = status;
            *err = error;
        }
    }
    return first;
}

static pawl_status due_outside(const struct work *work, bool *found, pawl_error *err) {
    struct projector *projector = work->projector;
    struct checkpoint_grants grants = {0};
    pawl_str *outside = NULL;
    size_t count = 0;
    pawl_status status = projector_outside(work->all, projector, &outside, &count, err);
    if (status != PAWL_OK || count == 0)
        return status;
    struct checkpoints_claim in = {.instance = work->instance,
                                   .perspectives = outside,
                                   .perspective_count = count,
                                   .max = PERSPECTIVE_DUE_MAX,
                                   .lease_ms = work->all->config.lease_ms};
    struct holding holding;
    status = perspectives_settle(work, err);
    if (status == PAWL_OK)
        status = perspectives_claim(work, &in, &holding, &grants, err);
    if (status != PAWL_OK)
        return status;
    *found = *found || grants.count > 0;
    perspectives_run_grants(work, &grants);
    give_owed(work->all, projector);
    if (grants.count > 0)
        perspectives_let_go(work->all, &holding);
    return PAWL_OK;
}

static pawl_status due_round(const struct work *work, bool *found, bool *looked, pawl_error *err) {
    struct perspectives *all = work->all;
    struct projector *projector = work->projector;
    struct stamp_result stamped = {0};
    pawl_status status = projector_refresh(all, projector, err);
    if (status != PAWL_OK)
        return status;
    give_owed(all, projector);
    status = projector->store->ops->events.events_stamp(projector->store, PAWL_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = backfill(projector, found, err);
    if (status != PAWL_OK)
        return status;
    pawl_error outside = {0};
    status = advance_all(work, found, err);
    perspectives_backlog_sum(all, &projector->rows);
    *looked = status != PAWL_STALE;
    if (!*looked)
        return status;
    pawl_status last = due_outside(work, found, &outside);
    if (status == PAWL_OK && last != PAWL_OK)
        *err = outside;
    return status != PAWL_OK ? status : last;
}

/* Whether anything that can be applied here lags: due, or held by another worker. */
static pawl_status look_around(const struct projector *projector, bool *left, pawl_error *err) {
    struct perspective_rows rows = {0};
    pawl_status status = projector->store->ops->events.perspective_list(projector->store, (pawl_str){NULL, 0},
                                                                        projector->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct perspective_row *row = &rows.rows[i];
        bool mine = false;
        for (size_t k = 0; k < projector->key_count; k++)
            mine = mine || str_equal(projector->keys[k], row->key);
        *left = *left || (mine && row_fed(row) && !row->paused &&
                          (!row->backfilled || row->pending > 0 || row->processing > 0));
    }
    return status;
}

/* True when there is work for us again; false at the end. */
static bool wait_turn(struct perspectives *all, int64_t wait_ms, pawl_uuid *instance) {
    struct timespec until = clock_monotonic_after(wait_ms);
    pthread_mutex_lock(&all->lock);
    while (!all->ending && !all->look && uuid_equal(all->instance, *instance) && wait_ms > 0) {
        if (pthread_cond_timedwait(&all->changed, &all->lock, &until) == ETIMEDOUT)
            break;
    }
    while (!all->ending && uuid_is_nil(all->instance))
        pthread_cond_wait(&all->changed, &all->lock);
    *instance = all->instance;
    all->look = false;
    bool ending = all->ending;
    pthread_mutex_unlock(&all->lock);
    return !ending;
}

void *perspectives_due(void *self) {
    struct perspectives *all = self;
    pawl_uuid instance = uuid_nil();
    int64_t wait_ms = 0;
    while (wait_turn(all, wait_ms, &instance)) {
        pawl_error error = {0};
        bool found = false, looked = false, left = false;
        pthread_mutex_lock(&all->lock);
        bool settling = all->settling;
        pthread_mutex_unlock(&all->lock);
        struct projector *projector = projector_take(all, &error);
        pawl_status status = error.status;
        if (projector != NULL) {
            struct work work = {all, projector, instance, INT64_MAX, NULL};
            status = due_round(&work, &found, &looked, &error);
            if (settling && status == PAWL_OK && !found)
                status = look_around(projector, &left, &error);
            projector_give(all, projector);
        }
        pthread_mutex_lock(&all->lock);
        all->looked = all->looked || (looked && uuid_equal(all->instance, instance));
        all->due_left = found || (status != PAWL_OK && status != PAWL_STALE);
        all->settling = all->settling && (!settling || left || all->due_left);
        pthread_mutex_unlock(&all->lock);
        if (status != PAWL_OK && status != PAWL_STALE) {
            struct note note = {.type = NOTE_TROUBLE};
            snprintf(note.error, sizeof(note.error), "%.200s", error.text);
            perspectives_note(all, &note);
        }
        wait_ms = found && status == PAWL_OK ? 0 : all->config.poll_ms;
    }
    return NULL;
}
