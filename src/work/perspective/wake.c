/* Handling messages of appends: each says "look at this stream", and what its perspectives lack is applied.
 */
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

enum { TROUBLE_MS = 500, BUSY_NAP_MS = 4, BUSY_TRIES_MAX = 5 };

static void judge(const struct handler_batch *batch, const struct names *busy_ones) {
    for (size_t i = 0; i < batch->count; i++) {
        bool behind = i > 0 && batch->groups[i - 1] == batch->groups[i] &&
                      batch->verdicts[i - 1].outcome != HANDLED_DONE;
        bool busy = false;
        for (size_t j = 0; j < busy_ones->count && !busy; j++)
            busy = str_equal(busy_ones->list[j], batch->items[i]->stream);
        if (behind)
            continue;
        batch->verdicts[i].outcome = busy ? HANDLED_SNOOZE : HANDLED_DONE;
        batch->verdicts[i].delay_ms = busy ? PERSPECTIVE_BUSY_MS : 0;
    }
}

/* If no perspective inside the store was advanced: what others have to apply is recorded by itself. */
static pawl_status record(const struct work *work, const pawl_str *streams, size_t count, struct names *busy,
                          pawl_error *err) {
    struct projector *projector = work->projector;
    struct checkpoint_grants grants = {0};
    struct checkpoints_claim in = {.instance = work->instance,
                                   .streams = streams,
                                   .stream_count = count,
                                   .max = PERSPECTIVE_CLAIM_MAX,
                                   .lease_ms = work->all->config.lease_ms};
    pawl_status status = projector->store->ops->events.checkpoints_claim(projector->store, &in,
                                                                         projector->arena, &grants, err);
    for (size_t i = 0; status == PAWL_OK && i < grants.busy_count && busy->count < busy->max; i++)
        busy->list[busy->count++] = grants.busy[i];
    return status;
}

static pawl_status look_after(const struct work *work, const pawl_str *streams, size_t count,
                              struct names *busy, pawl_error *err) {
    busy->count = 0;
    busy->max = 2 * count; /* inside and outside */
    busy->list = arena_array(work->projector->arena, busy->max, sizeof(*busy->list));
    if (busy->list == NULL)
        return error_no_memory(err, "perspective");
    bool written = false;
    pawl_status status = perspectives_advance_named(work, streams, count, busy, &written, err);
    if (status == PAWL_OK && !written)
        status = record(work, streams, count, busy, err);
    if (work->projector->mine_count < work->projector->key_count)
        perspectives_look(work->all); /* what was recorded is due now */
    return status;
}

/*
 * The streams of a bundle. A transaction that has locked one of them ends soon, so asking again is cheaper
 * than giving the message back.
 */
static pawl_status run_streams(const struct work *work, const struct handler_batch *batch, struct names *busy,
                               pawl_error *err) {
    pawl_str *streams = arena_array(work->projector->arena, batch->count, sizeof(*streams));
    size_t count = 0;
    if (streams == NULL)
        return error_no_memory(err, "perspective");
    for (size_t i = 0; i < batch->count; i++) {
        bool seen = i > 0 && batch->groups[i - 1] == batch->groups[i];
        if (batch->items[i]->attempt <= 1)
            observe_wait(batch->observer, ROLLUP_PERSPECTIVE, batch->items[i]->put_ms);
        if (!seen)
            streams[count++] = batch->items[i]->stream;
    }
    pawl_status status = look_after(work, streams, count, busy, err);
    for (int tries = 0; status == PAWL_OK && busy->count > 0 && tries < BUSY_TRIES_MAX; tries++) {
        if (work_over(work))
            break;
        nanosleep(&(struct timespec){0, (long)(BUSY_NAP_MS << tries) * 1000000}, NULL);
        struct names again = *busy;
        status = look_after(work, again.list, again.count, busy, err);
    }
    return status;
}

void perspectives_wake(const struct handler_batch *batch, void *self) {
    struct perspectives *all = self;
    pawl_error error = {0};
    struct names busy = {0};
    struct projector *projector = projector_take(all, &error);
    pawl_status status = projector != NULL ? projector_refresh(all, projector, &error) : error.status;
    pthread_mutex_lock(&all->lock);
    struct work work = {all, projector, all->instance, clock_boot_ms() + PERSPECTIVE_SLICE_MS, batch->cancel};
    pthread_mutex_unlock(&all->lock);
    if (work.until_ms > batch->fence_ms)
        work.until_ms = batch->fence_ms;
    if (projector != NULL && status == PAWL_OK && !work_over(&work))
        status = run_streams(&work, batch, &busy, &error);
    else if (status == PAWL_OK)
        status = PAWL_STALE;
    if (status == PAWL_OK)
        judge(batch, &busy);
    for (size_t i = 0; status != PAWL_OK && status != PAWL_STALE && i < batch->count; i++) {
        if (i > 0 && batch->groups[i - 1] == batch->groups[i])
            continue;
        batch->verdicts[i].outcome = HANDLED_SNOOZE;
        batch->verdicts[i].delay_ms = TROUBLE_MS;
    }
    if (status != PAWL_OK && status != PAWL_STALE) {
        struct note note = {.type = NOTE_TROUBLE};
        snprintf(note.error, sizeof(note.error), "%.200s", error.text);
        perspectives_note(all, &note);
    }
    if (projector != NULL)
        projector_give(all, projector);
}
