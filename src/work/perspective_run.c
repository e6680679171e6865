/* Applying what was granted: batch after batch until the streams are caught up or the time is over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "work/perspective_int.h"

enum { RETRY_MS_FIRST = 20, RETRY_MS_LAST = 640 };

bool work_over(const struct work *work) {
    struct perspectives *all = work->all;
    if (clock_boot_ms() >= work->until_ms || (work->cancel != NULL && atomic_load(work->cancel)))
        return true;
    pthread_mutex_lock(&all->lock);
    bool over = all->ending || memcmp(&all->instance, &work->instance, sizeof(all->instance)) != 0;
    pthread_mutex_unlock(&all->lock);
    return over;
}

/* A perspective in C sees events as the public API has them. */
struct bridge {
    const struct function *function;
    struct arena *arena;
    pawl_str links[TRACER_LINKS_MAX]; /* traceparents of the events; only when they are traced */
    size_t link_count;
    bool traced;
};

static void add_link(struct bridge *bridge, pawl_str traceparent) {
    pawl_str copy;
    if (bridge->traced && !str_absent(traceparent) && bridge->link_count < TRACER_LINKS_MAX &&
        str_dup(bridge->arena, traceparent, &copy, NULL) == PAWL_OK)
        bridge->links[bridge->link_count++] = copy;
}

static pawl_status call_function(const struct perspective_call *call, void *self, pawl_error *err) {
    struct bridge *bridge = self;
    pawl_stored_event *events = calloc(call->count > 0 ? call->count : 1, sizeof(*events));
    if (events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < call->count; i++) {
        const struct stored_event *in = &call->events[i];
        add_link(bridge, in->traceparent);
        events[i] = (pawl_stored_event){
            in->stream,   in->version,        in->position,     in->id,          in->type,        in->payload,
            in->metadata, in->correlation_id, in->causation_id, in->traceparent, in->appended_ms, in->replay};
    }
    pawl_perspective_call given = {call->connection, call->dialect, call->perspective, events, call->count};
    pawl_status status = bridge->function->function(&given, bridge->function->self, err);
    free(events);
    return status;
}

static void note_failure(const struct work *work, const struct perspective_row *row, pawl_str stream,
                         const struct apply_item *item) {
    struct note note = {
        .type = NOTE_FAILED, .version = item->failed_version, .stopped = item->outcome == FAIL_DEAD};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(row->key));
    snprintf(note.stream, sizeof(note.stream), "%.*s", STR_ARG(stream));
    snprintf(note.error, sizeof(note.error), "%.*s", STR_ARG(item->error));
    perspectives_note(work->all, &note);
}

/* What one call said of the streams it was about. Returns whether anything moved. */
static bool take_items(const struct work *work, const struct perspective_row *row, struct share *shares,
                       const size_t *at, const struct apply_result *result) {
    struct sums sums = {0};
    bool moved = false;
    for (size_t i = 0; i < result->count; i++) {
        const struct apply_item *item = &result->items[i];
        struct share *share = &shares[at[i]];
        sums.events += item->events;
        moved = moved || !item->more || item->version > share->version;
        share->version = item->version > share->version ? item->version : share->version;
        share->done = !item->more || item->answer != ANSWER_APPLIED;
        sums.completed += item->answer == ANSWER_APPLIED && !item->more;
        sums.failed += item->answer == ANSWER_INVALID;
        sums.stale += item->answer == ANSWER_STALE;
        if (item->answer == ANSWER_INVALID)
            note_failure(work, row, share->stream, item);
    }
    perspectives_add(work->all, sums);
    return moved;
}

/* As many streams as one batch can take events of: a call locks and answers for each that it is given. */
static size_t gather(const struct share *shares, size_t count, int batch, pawl_str *streams, size_t *at) {
    size_t open = 0;
    int64_t waiting = 0;
    for (size_t i = 0; i < count && waiting < batch; i++) {
        if (shares[i].done)
            continue;
        waiting += shares[i].head > shares[i].version ? shares[i].head - shares[i].version : 1;
        streams[open] = shares[i].stream;
        at[open++] = i;
    }
    return open;
}

static pawl_status renew(const struct work *work, const struct perspective_row *row, struct share *shares,
                         size_t count, pawl_error *err) {
    struct store *store = work->seat->store;
    struct checkpoint_ref *refs = arena_array(work->seat->arena, count, sizeof(*refs));
    size_t *at = arena_array(work->seat->arena, count, sizeof(*at));
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
    struct checkpoints_renew in = {refs, open, work->all->config.lease_ms};
    struct answer_list answers;
    pawl_status status = store->ops->events.checkpoints_renew(store, &in, work->seat->arena, &answers, err);
    for (size_t i = 0; status == PAWL_OK && i < answers.count; i++)
        shares[at[i]].done = answers.answers[i] != ANSWER_APPLIED;
    return status;
}

/* A batch fails when one of its streams did; result is NULL when the store did not answer. */
static void end_batch(struct observer *observer, struct observed_batch *seen,
                      const struct perspective_row *row, const struct bridge *bridge,
                      const struct apply_result *result) {
    struct observed_batch_end end = {.perspective = row->key,
                                     .links = bridge->links,
                                     .link_count = bridge->link_count,
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

/* One batch of what is still open. *open = how many streams that were. */
static pawl_status apply_once(const struct work *work, const struct perspective_row *row,
                              struct share *shares, size_t count, size_t *open, pawl_error *err) {
    struct store *store = work->seat->store;
    struct arena *arena = arena_create(0);
    pawl_str *streams = arena != NULL ? arena_array(arena, count, sizeof(*streams)) : NULL;
    size_t *at = arena != NULL ? arena_array(arena, count, sizeof(*at)) : NULL;
    pawl_status status = PAWL_OK;
    if (streams == NULL || at == NULL) {
        status = error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
        goto done;
    }
    *open = gather(shares, count, row->batch, streams, at);
    if (*open == 0)
        goto done;
    struct observer *observer = work->all->config.observer;
    struct observed_batch seen;
    observe_batch(observer, (pawl_str){NULL, 0}, &seen);
    struct bridge bridge = {.function = perspectives_find(work->all, row),
                            .arena = arena,
                            .traced = observer != NULL && observer->tracer != NULL};
    struct perspective_apply in = {.perspective = row->key,
                                   .token = shares[at[0]].token,
                                   .streams = streams,
                                   .stream_count = *open,
                                   .function = row->run == RUN_FUNCTION ? call_function : NULL,
                                   .self = &bridge};
    struct apply_result result = {.count = 0};
    status = store->ops->events.perspective_apply(store, &in, arena, &result, err);
    end_batch(observer, &seen, row, &bridge, status == PAWL_OK ? &result : NULL);
    if (status == PAWL_OK && !take_items(work, row, shares, at, &result))
        status = error_set(err, PAWL_INTERNAL, "perspective", "a batch moved nothing");
done:
    arena_free(arena);
    return status;
}

static void owe(const struct work *work, const struct perspective_row *row, const struct share *share) {
    struct perspectives *all = work->all;
    char *text = malloc(share->stream.len + row->key.len + 1);
    pthread_mutex_lock(&all->lock);
    if (text != NULL && all->owed_count < PERSPECTIVE_OWED_MAX) {
        memcpy(text, share->stream.ptr, share->stream.len);
        memcpy(text + share->stream.len, row->key.ptr, row->key.len);
        all->owed[all->owed_count++] =
            (struct owed){text, share->stream.len, row->key.len, share->version, share->token};
        text = NULL;
    }
    pthread_mutex_unlock(&all->lock);
    free(text); /* too many: its lease gives it back */
}

/* What was not finished is due again at once, for whoever comes. */
static void give_back(const struct work *work, const struct perspective_row *row, struct share *shares,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!shares[i].done)
            owe(work, row, &shares[i]);
    }
}

static void pause_ms(int64_t ms) {
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

static void note_trouble(const struct work *work, const struct perspective_row *row, const pawl_error *err) {
    struct note note = {.type = NOTE_TROUBLE};
    snprintf(note.perspective, sizeof(note.perspective), "%.*s", STR_ARG(row->key));
    snprintf(note.error, sizeof(note.error), "%.200s", err->text);
    perspectives_note(work->all, &note);
}

/* Nobody is to blame for these: the same call may succeed soon. */
static bool passing(pawl_status status) {
    return status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_BUSY;
}

static pawl_status step(const struct work *work, const struct perspective_row *row, struct share *shares,
                        size_t count, size_t *open, pawl_error *err) {
    if (row->run == RUN_SQL || row->run == RUN_FUNCTION)
        return apply_once(work, row, shares, count, open, err);
    *open = 0;
    for (size_t i = 0; i < count; i++) {
        if (shares[i].done)
            continue;
        *open = 1;
        return perspective_run_outside(work, row, &shares[i], err);
    }
    return PAWL_OK;
}

void perspective_run(const struct work *work, const struct perspective_row *row, struct share *shares,
                     size_t count) {
    int64_t wait_ms = RETRY_MS_FIRST;
    int64_t renew_ms = clock_boot_ms() + work->all->config.lease_ms / 3;
    size_t open = count;
    bool told = false;
    while (open > 0 && !work_over(work)) {
        pawl_error error = {0};
        pawl_status status = PAWL_OK;
        if (clock_boot_ms() >= renew_ms) {
            status = renew(work, row, shares, count, &error);
            renew_ms = clock_boot_ms() + work->all->config.lease_ms / 3;
        }
        if (status == PAWL_OK)
            status = step(work, row, shares, count, &open, &error);
        if (status == PAWL_OK) {
            wait_ms = RETRY_MS_FIRST;
            continue;
        }
        if (status == PAWL_NOT_FOUND || status == PAWL_STALE)
            return; /* the perspective was removed, or we were put out: nothing is ours */
        if (!told)
            note_trouble(work, row, &error);
        told = true;
        if (!passing(status))
            break;
        pause_ms(wait_ms);
        wait_ms = wait_ms * 2 < RETRY_MS_LAST ? wait_ms * 2 : RETRY_MS_LAST;
    }
    give_back(work, row, shares, count);
}

/* Grants are applied perspective by perspective, so that a batch is as large as it can be. */
void perspectives_run_grants(const struct work *work, const struct checkpoint_grants *grants) {
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
                                                 .head = grant->head,
                                                 .token = grant->token,
                                                 .replay_to = grant->replay_to};
        }
        if (count > 0)
            perspective_run(work, seat_row(seat, seat->keys[k]), shares, count);
    }
}
