/* Applying granted checkpoints outside the store, until the streams are caught up or time runs out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

bool work_over(const struct work *work) {
    struct perspectives *all = work->all;
    if (clock_boot_ms() >= work->until_ms || (work->cancel != NULL && atomic_load(work->cancel)))
        return true;
    pthread_mutex_lock(&all->lock);
    bool over = all->ending || memcmp(&all->instance, &work->instance, sizeof(all->instance)) != 0;
    pthread_mutex_unlock(&all->lock);
    return over;
}

static pawl_status renew(const struct work *work, const struct perspective_row *row, struct share *shares,
                         size_t count, pawl_error *err) {
    struct store *store = work->projector->store;
    struct checkpoint_ref *refs = arena_array(work->projector->arena, count, sizeof(*refs));
    size_t *at = arena_array(work->projector->arena, count, sizeof(*at));
    size_t open = 0;
    if (refs == NULL || at == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (shares[i].done)
            continue;
        refs[open] = (struct checkpoint_ref){shares[i].stream, row->key, shares[i].token};
        at[open++] = i;
    }
    if (open == 0)
        return PAWL_OK;
    struct checkpoints_renew in = {work->instance, refs, open, work->all->config.lease_ms};
    struct answer_list answers;
    pawl_status status =
        store->ops->events.checkpoints_renew(store, &in, work->projector->arena, &answers, err);
    for (size_t i = 0; status == PAWL_OK && i < answers.count; i++)
        shares[at[i]].done = answers.answers[i] != ANSWER_APPLIED;
    return status;
}

static void owe(const struct work *work, const struct perspective_row *row, const struct share *share) {
    struct perspectives *all = work->all;
    char *text = malloc(share->stream.len + row->key.len + 1);
    pthread_mutex_lock(&all->lock);
    bool room = text != NULL && all->owed_count < PERSPECTIVE_OWED_MAX;
    if (room) {
        memcpy(text, share->stream.ptr, share->stream.len);
        memcpy(text + share->stream.len, row->key.ptr, row->key.len);
        all->owed[all->owed_count++] = (struct owed){text,           share->stream.len, row->key.len,
                                                     work->instance, share->version,    share->token};
    }
    pthread_mutex_unlock(&all->lock);
    if (!room)
        free(text); /* its lease gives it back */
}

/* Unfinished checkpoints are due again at once, for any worker. */
static void give_back(const struct work *work, const struct perspective_row *row, struct share *shares,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!shares[i].done)
            owe(work, row, &shares[i]);
    }
}

void perspective_pause(int64_t *wait_ms) {
    nanosleep(&(struct timespec){*wait_ms / 1000, (long)(*wait_ms % 1000) * 1000000}, NULL);
    *wait_ms = *wait_ms * 2 < PERSPECTIVE_RETRY_MS_LAST ? *wait_ms * 2 : PERSPECTIVE_RETRY_MS_LAST;
}

void perspective_note_trouble(const struct work *work, const struct perspective_row *row,
                              const pawl_error *err) {
    struct note note = {.type = NOTE_TROUBLE};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(row->key));
    snprintf(note.error, sizeof(note.error), "%.200s", err->text);
    perspectives_note(work->all, &note);
}

bool perspective_passing(pawl_status status) {
    return status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_BUSY;
}

/* The first stream that is still open. *open: whether there was one. */
static pawl_status step(const struct work *work, const struct perspective_row *row, struct share *shares,
                        size_t count, bool *open, pawl_error *err) {
    *open = false;
    for (size_t i = 0; i < count && !*open; i++) {
        *open = !shares[i].done;
        if (*open)
            return perspective_run_outside(work, row, &shares[i], err);
    }
    return PAWL_OK;
}

void perspective_run(const struct work *work, const struct perspective_row *row, struct share *shares,
                     size_t count) {
    int64_t wait_ms = PERSPECTIVE_RETRY_MS_FIRST;
    int64_t renew_ms = clock_boot_ms() + work->all->config.lease_ms / 3;
    bool open = true, told = false;
    while (open && !work_over(work)) {
        pawl_error error = {0};
        pawl_status status = PAWL_OK;
        if (clock_boot_ms() >= renew_ms) {
            status = renew(work, row, shares, count, &error);
            renew_ms = clock_boot_ms() + work->all->config.lease_ms / 3;
        }
        if (status == PAWL_OK)
            status = step(work, row, shares, count, &open, &error);
        if (status == PAWL_OK) {
            wait_ms = PERSPECTIVE_RETRY_MS_FIRST;
            continue;
        }
        if (status == PAWL_NOT_FOUND || status == PAWL_STALE)
            return; /* the perspective was removed, or we were evicted: we hold nothing */
        if (perspective_held(work->all, row->key))
            break; /* reported where programs are started */
        if (!told)
            perspective_note_trouble(work, row, &error);
        told = true;
        if (!perspective_passing(status))
            break;
        perspective_pause(&wait_ms);
    }
    give_back(work, row, shares, count);
}

void perspectives_run_grants(const struct work *work, const struct checkpoint_grants *grants) {
    struct projector *projector = work->projector;
    struct share *shares = arena_array(projector->arena, grants->count + 1, sizeof(*shares));
    perspectives_add(work->all, (struct sums){.claimed = (int64_t)grants->count});
    for (size_t k = 0; shares != NULL && k < projector->key_count; k++) {
        size_t count = 0;
        for (size_t i = 0; i < grants->count; i++) {
            const struct checkpoint_grant *grant = &grants->grants[i];
            if (str_equal(grant->perspective, projector->keys[k]))
                shares[count++] = (struct share){.stream = grant->stream,
                                                 .version = grant->version,
                                                 .head = grant->head,
                                                 .token = grant->token,
                                                 .replay_to = grant->replay_to};
        }
        if (count > 0)
            perspective_run(work, projector_row(projector, projector->keys[k]), shares, count);
    }
}
