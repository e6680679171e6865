/* Perspectives that run inside the store: claim, apply and move in one transaction, batch after batch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

bool perspective_inside(const struct perspective_row *row) {
    return row != NULL && (row->run == RUN_SQL || row->run == RUN_FUNCTION);
}

static void add_up(const struct work *work, const struct perspective_row *row,
                   const struct advance_result *result) {
    struct sums sums = {.claimed = (int64_t)result->count};
    for (size_t i = 0; i < result->count; i++) {
        const struct apply_item *item = &result->items[i];
        sums.events += item->events;
        sums.completed += item->answer == ANSWER_APPLIED && !item->more;
        sums.failed += item->answer == ANSWER_INVALID;
        if (item->answer == ANSWER_INVALID)
            perspective_note_failure(
                work->all, &(struct checkpoint_ref){.stream = result->streams[i], .perspective = row->key},
                item->failed_version, item->outcome == FAIL_DEAD, item->error);
    }
    perspectives_add(work->all, sums);
}

/* A batch has failed if one of its streams has; result is NULL if the store did not answer. */
static void end_batch(struct observer *observer, struct observed_batch *seen,
                      const struct perspective_row *row, const struct advance_result *result) {
    struct observed_batch_end end = {.perspective = row->key,
                                     .links = result != NULL ? result->links : NULL,
                                     .link_count = result != NULL ? result->link_count : 0,
                                     .streams = result != NULL ? (int64_t)result->count : 0,
                                     .failed = result == NULL};
    for (size_t i = 0; result != NULL && i < result->count; i++) {
        end.events += result->items[i].events;
        if (result->items[i].answer == ANSWER_INVALID && !end.failed) {
            end.failed = true;
            end.error = result->items[i].error;
        }
    }
    observe_batch_end(observer, seen, &end);
}

/* One store call; one that found nothing to do is not counted as a batch. */
static pawl_status advance_call(const struct work *work, const struct perspective_row *row,
                                struct perspective_advance *in, struct arena *arena,
                                struct advance_result *out, pawl_error *err) {
    struct store *store = work->projector->store;
    struct observer *observer = work->all->config.observer;
    struct observed_batch seen;
    arena_reset(arena);
    observe_batch(observer, (pawl_str){NULL, 0}, &seen);
    in->links_max = observe_batch_traced(observer, &seen) ? TRACER_LINKS_MAX : 0;
    pawl_status status = store->ops->events.perspective_advance(store, in, arena, out, err);
    if (status != PAWL_OK || out->count > 0)
        end_batch(observer, &seen, row, status == PAWL_OK ? out : NULL);
    if (status == PAWL_OK)
        add_up(work, row, out);
    return status;
}

static struct perspective_advance advance_of(const struct work *work, const struct perspective_row *row,
                                             const struct names *names) {
    const struct function *own = row->run == RUN_FUNCTION ? perspectives_find(work->all, row) : NULL;
    return (struct perspective_advance){.instance = work->instance,
                                        .perspective = row->key,
                                        .streams = names->list,
                                        .stream_count = names->count,
                                        .mine = work->projector->mine,
                                        .mine_count = work->projector->mine_count,
                                        .function = own != NULL ? own->function : NULL,
                                        .self = own != NULL ? own->self : NULL};
}

/* One batch. Transient errors are retried while there is time. */
static pawl_status advance_once(const struct work *work, const struct perspective_row *row,
                                const struct names *names, struct arena *arena, struct advance_result *out,
                                pawl_error *err) {
    struct perspective_advance in = advance_of(work, row, names);
    int64_t wait_ms = PERSPECTIVE_RETRY_MS_FIRST;
    for (bool told = false;; told = true) {
        pawl_status status = advance_call(work, row, &in, arena, out, err);
        if (!perspective_passing(status))
            return status;
        if (!told)
            perspective_note_trouble(work->all, row->key, err);
        if (work_over(work))
            return status;
        nanosleep(&(struct timespec){wait_ms / 1000, (long)(wait_ms % 1000) * 1000000}, NULL);
        wait_ms = wait_ms * 2 < PERSPECTIVE_RETRY_MS_LAST ? wait_ms * 2 : PERSPECTIVE_RETRY_MS_LAST;
    }
}

/* Other slots may help if one batch did not cover all streams and the store allows several writers; a batch
 * that took long may have waited for another slot's rows. */
static bool share_backlog(const struct work *work, const struct perspective_row *row, int64_t begin_ms,
                          const struct advance_result *result) {
    if (clock_boot_ms() - begin_ms > PERSPECTIVE_HELP_MS)
        return perspectives_help(work->all, row->key, false);
    return result->count > 1 && work->projector->store->caps.many_writers &&
           perspectives_help(work->all, row->key, true);
}

pawl_status perspective_advance_due(const struct work *work, const struct perspective_row *row, bool *more,
                                    pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct advance_result result = {.count = 1};
    struct names due = {0};
    bool shared = false;
    pawl_status status = arena == NULL ? error_no_memory(err, "perspective") : PAWL_OK;
    for (int turn = 0; turn < PERSPECTIVE_TURNS_MAX && status == PAWL_OK && result.count > 0 && !shared;
         turn++) {
        if (work_over(work))
            break;
        int64_t begin_ms = clock_boot_ms();
        status = advance_once(work, row, &due, arena, &result, err);
        if (turn > 0 && status == PAWL_OK)
            shared = share_backlog(work, row, begin_ms, &result);
    }
    *more = status == PAWL_OK && result.count > 0;
    arena_free(arena);
    return status;
}

static int name_compare(const void *a, const void *b) {
    return str_compare(*(const pawl_str *)a, *(const pawl_str *)b);
}

/* The streams taken are the first ones, in order: those with more to apply, and all later ones, are left. */
static void names_left(struct names *names, const struct advance_result *result) {
    size_t left = 0, at = 0;
    if (result->count == 0) {
        names->count = 0;
        return;
    }
    pawl_str last = result->streams[result->count - 1];
    for (size_t i = 0; i < names->count; i++) {
        pawl_str name = names->list[i];
        while (at < result->count && str_compare(result->streams[at], name) < 0)
            at++;
        bool taken = at < result->count && str_equal(result->streams[at], name);
        if (taken ? result->items[at].more : str_compare(name, last) > 0)
            names->list[left++] = name;
    }
    names->count = left;
}

static pawl_status busy_add(const struct work *work, const struct advance_result *result, struct names *busy,
                            pawl_error *err) {
    for (size_t i = 0; i < result->busy_count; i++) {
        bool known = false;
        for (size_t j = 0; j < busy->count && !known; j++)
            known = str_equal(busy->list[j], result->busy[i]);
        if (known)
            continue;
        if (busy->count == busy->max)
            return error_set(err, PAWL_INTERNAL, "perspective", "more streams are busy than were named");
        pawl_status status = str_dup(work->projector->arena, result->busy[i], &busy->list[busy->count], err);
        if (status != PAWL_OK)
            return status;
        busy->count++;
    }
    return PAWL_OK;
}

/* One more batch of each perspective that has some left. */
static pawl_status turn(const struct work *work, struct names *left, bool first, struct arena *arena,
                        struct names *busy, bool *written, pawl_error *err) {
    struct projector *projector = work->projector;
    pawl_status status = PAWL_OK;
    for (size_t k = 0; status == PAWL_OK && k < projector->key_count; k++) {
        struct advance_result result = {0};
        const struct perspective_row *row = projector_row(projector, projector->keys[k]);
        if (left[k].count == 0)
            continue;
        if (work_over(work))
            return first ? error_set(err, PAWL_STALE, "perspective", "there is no time left") : PAWL_OK;
        status = advance_once(work, row, &left[k], arena, &result, err);
        *written = *written || status == PAWL_OK;
        if (status == PAWL_OK)
            status = busy_add(work, &result, busy, err);
        if (status == PAWL_OK)
            names_left(&left[k], &result);
        if (status == PAWL_NOT_FOUND) { /* retired or removed since the list was read: nothing was written */
            left[k].count = 0;
            status = PAWL_OK;
        }
        if (status != PAWL_OK &&
            status != PAWL_STALE) /* left to its turns, so that the others can continue here */
            perspectives_backlog_set(work->all, row->key, true);
    }
    return status;
}

/* Which perspectives to apply now. A backlog is left to the turns of its perspective: two slots on one stream
 * would compete. What is outside the store is leased, stream by stream. */
static pawl_status share_out(const struct work *work, const pawl_str *streams, size_t count,
                             struct names **left, size_t *open, pawl_error *err) {
    struct projector *projector = work->projector;
    *left = arena_array(projector->arena, projector->key_count, sizeof(**left));
    projector->mine = arena_array(projector->arena, projector->key_count, sizeof(*projector->mine));
    projector->mine_count = *open = 0;
    if (*left == NULL || projector->mine == NULL)
        return error_no_memory(err, "perspective");
    for (size_t k = 0; k < projector->key_count; k++) {
        struct names *names = &(*left)[k];
        bool inside = perspective_inside(projector_row(projector, projector->keys[k]));
        *names = (struct names){0};
        if (!inside || perspectives_backlog(work->all, projector->keys[k]))
            continue;
        projector->mine[projector->mine_count++] = projector->keys[k];
        names->list = arena_array(projector->arena, count, sizeof(*names->list));
        if (names->list == NULL)
            return error_no_memory(err, "perspective");
        memcpy(names->list, streams, count * sizeof(*streams));
        names->count = count;
        qsort(names->list, count, sizeof(*names->list), name_compare);
        (*open)++;
    }
    return PAWL_OK;
}

/* After the first round every wake-up is recorded, if any of them is still live or filling; the rest is due.
 */
pawl_status perspectives_advance_named(const struct work *work, const pawl_str *streams, size_t count,
                                       struct names *busy, bool *written, pawl_error *err) {
    struct projector *projector = work->projector;
    struct names *left = NULL;
    size_t open = 0;
    struct arena *arena = arena_create(0);
    pawl_status status = arena == NULL ? error_no_memory(err, "perspective")
                                       : share_out(work, streams, count, &left, &open, err);
    *written = false;
    for (bool first = true; status == PAWL_OK && open > 0 && (first || !work_over(work)); first = false) {
        status = turn(work, left, first, arena, busy, written, err);
        open = 0;
        for (size_t k = 0; k < projector->key_count; k++)
            open += left[k].count > 0;
    }
    for (size_t k = 0; status == PAWL_OK && open > 0 && k < projector->key_count; k++) {
        if (left[k].count > 0) /* or it would have no turn before the next poll */
            perspectives_backlog_set(work->all, projector->keys[k], true);
    }
    if (open > 0)
        perspectives_look(work->all);
    arena_free(arena);
    return status;
}
