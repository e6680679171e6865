/* Perspectives at work. */
#include "work/perspective.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "work/perspective_int.h"

enum { LOG_MS = 1000, TROUBLE_MS = 500 };

const struct function *perspectives_find(const struct perspectives *all, const struct perspective_row *row) {
    for (size_t i = 0; i < all->function_count; i++) {
        const struct function *f = &all->functions[i];
        if (str_equal(f->name, row->name) && (f->version == 0 || f->version == row->version))
            return f;
    }
    return NULL;
}

void perspectives_note(struct perspectives *all, const struct note *note) {
    pthread_mutex_lock(&all->lock);
    if (all->note_count < PERSPECTIVE_NOTES_MAX)
        all->notes[all->note_count++] = *note;
    else
        all->notes_lost++;
    pthread_mutex_unlock(&all->lock);
}

void perspectives_add(struct perspectives *all, struct sums sums) {
    pthread_mutex_lock(&all->lock);
    all->sums.claimed += sums.claimed;
    all->sums.completed += sums.completed;
    all->sums.failed += sums.failed;
    all->sums.events += sums.events;
    all->sums.stale += sums.stale;
    pthread_mutex_unlock(&all->lock);
}

static void seat_free(struct seat *seat) {
    if (seat == NULL)
        return;
    store_close(seat->store);
    arena_free(seat->arena);
    arena_free(seat->registry);
    http_client_free(seat->client);
    free(seat);
}

static struct seat *seat_take(struct perspectives *all, pawl_error *err) {
    pthread_mutex_lock(&all->lock);
    struct seat *seat = all->free_seats;
    if (seat != NULL)
        all->free_seats = seat->next;
    all->working++;
    pthread_mutex_unlock(&all->lock);
    if (seat == NULL) {
        seat = calloc(1, sizeof(*seat));
        if (seat != NULL) {
            seat->arena = arena_create(0);
            seat->registry = arena_create(0);
        }
        if (seat == NULL || seat->arena == NULL || seat->registry == NULL)
            (void)error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
        else if (store_open(&all->config.store, &seat->store, err) == PAWL_OK)
            return seat;
        seat_free(seat);
        pthread_mutex_lock(&all->lock);
        all->working--;
        pthread_mutex_unlock(&all->lock);
        return NULL;
    }
    return seat;
}

static void seat_give(struct perspectives *all, struct seat *seat) {
    arena_reset(seat->arena);
    pthread_mutex_lock(&all->lock);
    seat->next = all->free_seats;
    all->free_seats = seat;
    all->working--;
    pthread_mutex_unlock(&all->lock);
}

static bool can_run(const struct perspectives *all, const struct perspective_row *row) {
    switch (row->run) {
    case RUN_SQL:
        return true;
    case RUN_FUNCTION:
        return perspectives_find(all, row) != NULL;
    case RUN_COMMAND:
    case RUN_HTTP:
        return all->config.outside;
    }
    return false;
}

/* P27, once per perspective. */
static void tell_no_runner(struct perspectives *all, const struct perspective_row *row) {
    static const char *const why[] = {
        [RUN_FUNCTION] = "this worker has no function for it",
        [RUN_COMMAND] = "this worker may not run programs for perspectives: --perspectives-outside",
        [RUN_HTTP] = "this worker may not call endpoints for perspectives: --perspectives-outside"};
    struct note note = {.type = NOTE_NO_RUNNER};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(row->key));
    snprintf(note.error, sizeof(note.error), "%s", why[row->run]);
    pthread_mutex_lock(&all->lock);
    bool known = all->told_count == sizeof(all->told) / sizeof(*all->told);
    for (size_t i = 0; i < all->told_count && !known; i++)
        known = strcmp(all->told[i], note.perspective) == 0;
    if (!known)
        memcpy(all->told[all->told_count++], note.perspective, sizeof(note.perspective));
    pthread_mutex_unlock(&all->lock);
    if (!known)
        perspectives_note(all, &note);
}

/* Which perspectives there are, looked up now and then. */
static pawl_status seat_refresh(struct perspectives *all, struct seat *seat, pawl_error *err) {
    int64_t now_ms = clock_boot_ms();
    if (seat->read_ms != 0 && now_ms - seat->read_ms < PERSPECTIVE_REFRESH_MS)
        return PAWL_OK;
    seat->read_ms = 0;
    seat->key_count = 0;
    arena_reset(seat->registry);
    pawl_status status = seat->store->ops->events.perspective_list(seat->store, (pawl_str){NULL, 0},
                                                                   seat->registry, &seat->rows, err);
    if (status != PAWL_OK)
        return status;
    seat->keys = arena_array(seat->registry, seat->rows.count + 1, sizeof(*seat->keys));
    if (seat->keys == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < seat->rows.count; i++) {
        const struct perspective_row *row = &seat->rows.rows[i];
        bool fed = row->state == PERSPECTIVE_LIVE || row->state == PERSPECTIVE_FILLING;
        if (fed && can_run(all, row))
            seat->keys[seat->key_count++] = row->key;
        else if (fed)
            tell_no_runner(all, row);
    }
    seat->read_ms = now_ms;
    return PAWL_OK;
}

static const struct perspective_row *row_of(const struct seat *seat, pawl_str key) {
    for (size_t i = 0; i < seat->rows.count; i++) {
        if (str_equal(seat->rows.rows[i].key, key))
            return &seat->rows.rows[i];
    }
    return NULL;
}

/* Grants are applied perspective by perspective, so that a batch is as large as it can be. */
static void run_grants(const struct work *work, const struct checkpoint_grants *grants) {
    struct seat *seat = work->seat;
    struct share *shares = arena_array(seat->arena, grants->count + 1, sizeof(*shares));
    perspectives_add(work->all, (struct sums){.claimed = (int64_t)grants->count});
    for (size_t k = 0; shares != NULL && k < seat->key_count; k++) {
        size_t count = 0;
        for (size_t i = 0; i < grants->count; i++) {
            const struct checkpoint_grant *grant = &grants->grants[i];
            if (str_equal(grant->perspective, seat->keys[k]))
                shares[count++] = (struct share){.stream = grant->stream,
                                                 .version = grant->version,
                                                 .token = grant->token,
                                                 .replay_to = grant->replay_to};
        }
        if (count > 0)
            perspective_run(work, row_of(seat, seat->keys[k]), shares, count);
    }
}

/* ---- Messages of appends */

static void judge(const struct handler_batch *batch, const struct checkpoint_grants *grants) {
    for (size_t i = 0; i < batch->count; i++) {
        bool behind = i > 0 && batch->groups[i - 1] == batch->groups[i] &&
                      batch->verdicts[i - 1].outcome != HANDLED_DONE;
        bool busy = false;
        for (size_t j = 0; j < grants->busy_count && !busy; j++)
            busy = str_equal(grants->busy[j], batch->items[i]->stream);
        if (behind)
            continue;
        batch->verdicts[i].outcome = busy ? HANDLED_SNOOZE : HANDLED_DONE;
        batch->verdicts[i].delay_ms = busy ? PERSPECTIVE_BUSY_MS : 0;
    }
}

static pawl_status claim_streams(const struct work *work, const struct handler_batch *batch,
                                 struct checkpoint_grants *grants, pawl_error *err) {
    struct seat *seat = work->seat;
    pawl_str *streams = arena_array(seat->arena, batch->count, sizeof(*streams));
    size_t count = 0;
    if (streams == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < batch->count; i++) {
        bool seen = i > 0 && batch->groups[i - 1] == batch->groups[i];
        if (!seen)
            streams[count++] = batch->items[i]->stream;
    }
    struct checkpoints_claim in = {.instance = work->instance,
                                   .streams = streams,
                                   .stream_count = count,
                                   .perspectives = seat->keys,
                                   .perspective_count = seat->key_count,
                                   .max = PERSPECTIVE_CLAIM_MAX,
                                   .lease_ms = work->all->config.lease_ms};
    return seat->store->ops->events.checkpoints_claim(seat->store, &in, seat->arena, grants, err);
}

static void project(const struct handler_batch *batch, void *self) {
    struct perspectives *all = self;
    pawl_error error = {0};
    struct checkpoint_grants grants = {0};
    struct seat *seat = seat_take(all, &error);
    pawl_status status = seat != NULL ? seat_refresh(all, seat, &error) : error.status;
    pthread_mutex_lock(&all->lock);
    struct work work = {all, seat, all->instance, clock_boot_ms() + PERSPECTIVE_SLICE_MS, batch->cancel};
    pthread_mutex_unlock(&all->lock);
    if (work.until_ms > batch->fence_ms)
        work.until_ms = batch->fence_ms;
    if (status == PAWL_OK && !work_over(&work))
        status = claim_streams(&work, batch, &grants, &error);
    else if (status == PAWL_OK)
        status = PAWL_STALE;
    if (status == PAWL_OK) {
        run_grants(&work, &grants);
        judge(batch, &grants);
    }
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
    if (seat != NULL)
        seat_give(all, seat);
}

/* ---- What is due */

static void give_owed(struct perspectives *all, struct seat *seat) {
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
        pawl_status status =
            seat->store->ops->core.checkpoints_report(seat->store, &one, 1, seat->arena, &answers, &ignored);
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

/* Registrations whose process died, or that nobody backfills, go on here. */
static pawl_status backfill(struct seat *seat, bool *more, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < seat->rows.count; i++) {
        struct perspective_row *row = &seat->rows.rows[i];
        bool fed = row->state == PERSPECTIVE_LIVE || row->state == PERSPECTIVE_FILLING;
        if (row->backfilled || !fed)
            continue;
        status = seat->store->ops->events.perspective_backfill(
            seat->store, row->key, PERSPECTIVE_BACKFILL_STREAMS, &row->backfilled, err);
        *more = *more || !row->backfilled;
    }
    return status;
}

static pawl_status due_round(const struct work *work, bool *found, pawl_error *err) {
    struct perspectives *all = work->all;
    struct seat *seat = work->seat;
    struct checkpoint_grants grants = {0};
    struct stamp_result stamped = {0};
    pawl_status status = seat_refresh(all, seat, err);
    if (status != PAWL_OK)
        return status;
    give_owed(all, seat);
    status = seat->store->ops->events.events_stamp(seat->store, PERSPECTIVE_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = backfill(seat, found, err);
    if (status != PAWL_OK || seat->key_count == 0)
        return status;
    struct checkpoints_claim in = {.instance = work->instance,
                                   .perspectives = seat->keys,
                                   .perspective_count = seat->key_count,
                                   .max = PERSPECTIVE_DUE_MAX,
                                   .lease_ms = all->config.lease_ms};
    status = seat->store->ops->events.checkpoints_claim(seat->store, &in, seat->arena, &grants, err);
    if (status != PAWL_OK)
        return status;
    *found = *found || grants.count > 0;
    run_grants(work, &grants);
    give_owed(all, seat);
    return PAWL_OK;
}

/* True when there is work for us again; false at the end. */
static bool wait_turn(struct perspectives *all, int64_t wait_ms, pawl_uuid *instance) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(wait_ms / 1000);
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&all->lock);
    while (!all->ending && uuid_equal(all->instance, *instance) && wait_ms > 0) {
        if (pthread_cond_timedwait(&all->changed, &all->lock, &until) == ETIMEDOUT)
            break;
    }
    while (!all->ending && uuid_is_nil(all->instance))
        pthread_cond_wait(&all->changed, &all->lock);
    *instance = all->instance;
    bool ending = all->ending;
    pthread_mutex_unlock(&all->lock);
    return !ending;
}

static void *due_thread(void *self) {
    struct perspectives *all = self;
    pawl_uuid instance = uuid_nil();
    int64_t wait_ms = 0;
    while (wait_turn(all, wait_ms, &instance)) {
        pawl_error error = {0};
        bool found = false;
        struct seat *seat = seat_take(all, &error);
        pawl_status status = error.status;
        if (seat != NULL) {
            struct work work = {all, seat, instance, INT64_MAX, NULL};
            status = due_round(&work, &found, &error);
            seat_give(all, seat);
        }
        pthread_mutex_lock(&all->lock);
        all->due_left = found || (status != PAWL_OK && status != PAWL_STALE);
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

/* ---- The worker's side */

static void tell(struct log *log, const struct note *note) {
    switch (note->type) {
    case NOTE_FAILED:
        log_event(log, LOG_LEVEL_WARN, "perspective_failed",
                  "perspective=%s stream=%s version=%" PRId64 " stopped=%s error=%s", note->perspective,
                  note->stream, note->version, note->stopped ? "true" : "false", note->error);
        return;
    case NOTE_NO_RUNNER:
        log_event(log, LOG_LEVEL_WARN, "no_runner", "perspective=%s reason=%s", note->perspective,
                  note->error);
        return;
    case NOTE_TROUBLE:
        log_event(log, LOG_LEVEL_WARN, "perspective_trouble", "perspective=%s error=%s", note->perspective,
                  note->error);
        return;
    }
}

void perspectives_tick(void *self, pawl_uuid instance, struct log *log) {
    struct perspectives *all = self;
    struct note notes[PERSPECTIVE_NOTES_MAX];
    struct sums sums = {0};
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&all->lock);
    if (!uuid_equal(all->instance, instance)) {
        all->instance = instance;
        all->due_left = !uuid_is_nil(instance);
        pthread_cond_broadcast(&all->changed);
    }
    size_t count = all->note_count, lost = all->notes_lost;
    memcpy(notes, all->notes, count * sizeof(*notes));
    all->note_count = all->notes_lost = 0;
    bool due = now_ms - all->logged_ms >= LOG_MS && (all->sums.claimed > 0 || all->sums.failed > 0);
    if (due) {
        sums = all->sums;
        all->sums = (struct sums){0};
        all->logged_ms = now_ms;
    }
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < count; i++)
        tell(log, &notes[i]);
    if (lost > 0)
        log_event(log, LOG_LEVEL_WARN, "perspective_notes_lost", "count=%zu", lost);
    if (due)
        log_event(log, LOG_LEVEL_INFO, "perspective_batch",
                  "claimed=%" PRId64 " completed=%" PRId64 " failed=%" PRId64 " events=%" PRId64
                  " stale=%" PRId64,
                  sums.claimed, sums.completed, sums.failed, sums.events, sums.stale);
}

bool perspectives_busy(void *self) {
    struct perspectives *all = self;
    pthread_mutex_lock(&all->lock);
    bool busy = all->due_left || all->working > 0;
    pthread_mutex_unlock(&all->lock);
    return busy;
}

pawl_status perspectives_create(const struct perspectives_config *config, struct handler_table *table,
                                struct perspectives **out, pawl_error *err) {
    struct perspectives *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    all->config = *config;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &attr);
    pthread_condattr_destroy(&attr);
    all->arena = arena_create(0);
    pawl_status status = all->arena == NULL ? error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory")
                                            : PAWL_OK;
    if (status == PAWL_OK && config->outside)
        status = keeper_create("perspectives", &all->keeper, err);
    if (status == PAWL_OK)
        status = handler_table_add_perspectives(table, project, all, err);
    if (status != PAWL_OK) {
        perspectives_free(all);
        return status;
    }
    *out = all;
    return PAWL_OK;
}

pawl_status perspectives_function(struct perspectives *all, pawl_str name, int version,
                                  pawl_perspective_fn function, void *self, pawl_error *err) {
    if (all->function_count == PERSPECTIVE_FUNCTIONS_MAX)
        return error_set(err, PAWL_INVALID, "perspective",
                         "there are %d functions already, which is the most", PERSPECTIVE_FUNCTIONS_MAX);
    struct function *made = &all->functions[all->function_count];
    *made = (struct function){.version = version, .function = function, .self = self};
    pawl_status status = str_dup(all->arena, name, &made->name, err);
    all->function_count += status == PAWL_OK;
    return status;
}

pawl_status perspectives_start(struct perspectives *all, pawl_error *err) {
    all->due_left = true;
    int failed = pthread_create(&all->thread, NULL, due_thread, all);
    if (failed != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "perspective", failed, "no thread");
    all->started = true;
    return PAWL_OK;
}

void perspectives_free(struct perspectives *all) {
    if (all == NULL)
        return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    if (all->started)
        pthread_join(all->thread, NULL);
    while (all->free_seats != NULL) {
        struct seat *seat = all->free_seats;
        all->free_seats = seat->next;
        seat_free(seat);
    }
    for (size_t i = 0; i < all->owed_count; i++)
        free(all->owed[i].text);
    keeper_free(all->keeper);
    arena_free(all->arena);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

struct keeper *perspectives_keeper(struct perspectives *perspectives) {
    return perspectives->keeper;
}
