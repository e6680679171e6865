/* What one thread works with: a store of its own, and what it knows of the perspectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

void seat_free(struct seat *seat) {
    if (seat == NULL)
        return;
    store_close(seat->store);
    arena_free(seat->arena);
    arena_free(seat->registry);
    http_client_free(seat->client);
    free(seat);
}

struct seat *seat_take(struct perspectives *all, pawl_error *err) {
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

void seat_give(struct perspectives *all, struct seat *seat) {
    arena_reset(seat->arena);
    seat->mine = NULL; /* was in the arena */
    seat->mine_count = 0;
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

bool row_fed(const struct perspective_row *row) {
    return row->state == PERSPECTIVE_LIVE || row->state == PERSPECTIVE_FILLING;
}

/* Which perspectives there are, looked up now and then. */
pawl_status seat_refresh(struct perspectives *all, struct seat *seat, pawl_error *err) {
    int64_t now_ms = clock_boot_ms();
    if (seat->read_ms != 0 && now_ms - seat->read_ms < PERSPECTIVE_REFRESH_MS)
        return PAWL_OK;
    seat->read_ms = 0;
    seat->key_count = 0;
    arena_reset(seat->registry);
    pawl_status status =
        seat->store->ops->events.perspective_defined(seat->store, seat->registry, &seat->rows, err);
    if (status != PAWL_OK)
        return status;
    seat->keys = arena_array(seat->registry, seat->rows.count + 1, sizeof(*seat->keys));
    if (seat->keys == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < seat->rows.count; i++) {
        const struct perspective_row *row = &seat->rows.rows[i];
        bool fed = row_fed(row);
        if (fed && can_run(all, row))
            seat->keys[seat->key_count++] = row->key;
        else if (fed)
            tell_no_runner(all, row);
    }
    seat->read_ms = now_ms;
    return PAWL_OK;
}

const struct perspective_row *seat_row(const struct seat *seat, pawl_str key) {
    for (size_t i = 0; i < seat->rows.count; i++) {
        if (str_equal(seat->rows.rows[i].key, key))
            return &seat->rows.rows[i];
    }
    return NULL;
}

/* When all places are taken the one that ends first is; that one is tried again too early. */
void perspective_hold(struct perspectives *all, pawl_str key, int64_t wait_ms) {
    size_t at = 0;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < PERSPECTIVE_HOLDS_MAX; i++) {
        bool same = str_equal_cstr(key, all->holds[i].key);
        if (same || all->holds[i].until_ms < all->holds[at].until_ms)
            at = i;
        if (same)
            break;
    }
    snprintf(all->holds[at].key, sizeof(all->holds[at].key), "%.*s", STR_ARG(key));
    all->holds[at].until_ms = clock_boot_ms() + wait_ms;
    pthread_mutex_unlock(&all->lock);
}

bool perspective_held(struct perspectives *all, pawl_str key) {
    bool held = false;
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < PERSPECTIVE_HOLDS_MAX && !held; i++)
        held = all->holds[i].until_ms > now_ms && str_equal_cstr(key, all->holds[i].key);
    pthread_mutex_unlock(&all->lock);
    return held;
}

pawl_status seat_outside(struct perspectives *all, struct seat *seat, pawl_str **keys, size_t *count,
                         pawl_error *err) {
    *count = 0;
    *keys = arena_array(seat->arena, seat->key_count, sizeof(**keys));
    if (*keys == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective", "out of memory");
    for (size_t i = 0; i < seat->key_count; i++) {
        if (!perspective_inside(seat_row(seat, seat->keys[i])) && !perspective_held(all, seat->keys[i]))
            (*keys)[(*count)++] = seat->keys[i];
    }
    return PAWL_OK;
}
