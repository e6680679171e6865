/* What a slot does for a perspective: it applies what one stream lacks, or, inside the store, whatever is
 * due.
 */
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/perspective/int.h"

bool work_over(const struct work *work) {
    struct perspectives *all = work->all;
    if (clock_boot_ms() >= work->until_ms || (work->cancel != NULL && atomic_load(work->cancel)))
        return true;
    pthread_mutex_lock(&all->lock);
    bool over = !uuid_equal(all->instance, work->instance);
    pthread_mutex_unlock(&all->lock);
    return over;
}

bool perspective_passing(pawl_status status) {
    return status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_BUSY;
}

/* The list of perspectives may have changed since it was claimed; the store itself sees to it for those that
 * run inside it. */
static pawl_status run(const struct work *work, const struct checkpoint_grant *grant,
                       struct handler_verdict *verdict, int64_t *version, pawl_error *err) {
    pawl_status status = grant->token != 0 ? projector_refresh(work->all, work->projector, err)
                                           : projector_follow(work->all, work->projector, err);
    const struct perspective_row *row = status == PAWL_OK ? projector_row(work->projector, grant->perspective)
                                                          : NULL;
    if (row == NULL || !row_fed(row))
        return status;
    if (grant->token != 0)
        return perspective_run_outside(work, row, grant, verdict, version, err);
    bool more = false;
    if (!perspectives_turn_begin(work->all, row->key))
        return PAWL_OK;
    status = perspective_advance_due(work, row, &more, err);
    perspectives_turn_end(work->all, row->key, status == PAWL_NOT_FOUND ? false : more || status != PAWL_OK,
                          &work->projector->rows);
    verdict->outcome = more && status == PAWL_OK ? HANDLED_SNOOZE : HANDLED_DONE;
    verdict->delay_ms = 0;
    return status == PAWL_NOT_FOUND ? PAWL_OK : status; /* removed: nothing of it is due */
}

/* What the store could not do now goes back, to be tried with the next claim. */
void perspective_turn(struct perspectives *all, const struct checkpoint_grant *grant, const stop_flag *cancel,
                      struct handler_verdict *verdict, int64_t *version) {
    pawl_error error = {0};
    struct projector *projector = projector_take(all, &error);
    pawl_status status = projector != NULL ? PAWL_OK : error.status;
    *version = grant->version;
    verdict->outcome = HANDLED_NOT_RUN;
    pthread_mutex_lock(&all->lock);
    struct work work = {all, projector, all->instance, clock_boot_ms() + PERSPECTIVE_SLICE_MS, cancel};
    pthread_mutex_unlock(&all->lock);
    if (status == PAWL_OK && !work_over(&work))
        status = run(&work, grant, verdict, version, &error);
    if (status != PAWL_OK && status != PAWL_STALE && !perspective_held(all, grant->perspective))
        perspective_note_trouble(all, grant->perspective, &error);
    if (projector != NULL)
        projector_give(all, projector);
}
