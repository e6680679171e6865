/* Projectors: one thread's store handle and its cached list of perspectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

void projector_free(struct projector *projector) {
    if (projector == NULL)
        return;
    store_close(projector->store);
    arena_free(projector->arena);
    arena_free(projector->registry);
    http_client_free(projector->client);
    free(projector);
}

struct projector *projector_take(struct perspectives *all, pawl_error *err) {
    pthread_mutex_lock(&all->lock);
    struct projector *projector = all->free_projectors;
    if (projector != NULL)
        all->free_projectors = projector->next;
    pthread_mutex_unlock(&all->lock);
    if (projector == NULL) {
        projector = calloc(1, sizeof(*projector));
        if (projector != NULL) {
            projector->arena = arena_create(0);
            projector->registry = arena_create(0);
        }
        if (projector == NULL || projector->arena == NULL || projector->registry == NULL)
            (void)error_no_memory(err, "perspective");
        else if (store_open(&all->config.store, &projector->store, err) == PAWL_OK)
            return projector;
        projector_free(projector);
        return NULL;
    }
    return projector;
}

void projector_give(struct perspectives *all, struct projector *projector) {
    arena_reset(projector->arena);
    projector->mine = NULL; /* was in the arena */
    projector->mine_count = 0;
    pthread_mutex_lock(&all->lock);
    projector->next = all->free_projectors;
    all->free_projectors = projector;
    pthread_mutex_unlock(&all->lock);
}

bool perspective_can_run(const struct perspectives *all, const struct perspective_row *row) {
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

/* Logged once per perspective. */
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

/* In whatever order they come. */
static uint64_t listing_of(const struct perspective_rows *rows) {
    uint64_t listing = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct perspective_row *row = &rows->rows[i];
        listing += hash_stream(row->key) * ((uint64_t)row->run << 9 | (uint64_t)row->state << 1 | 1);
    }
    return listing;
}

/* Which perspectives there are, looked up now and then. */
pawl_status projector_refresh(struct perspectives *all, struct projector *projector, pawl_error *err) {
    int64_t now_ms = clock_boot_ms();
    if (projector->read_ms != 0 && now_ms - projector->read_ms < PERSPECTIVE_REFRESH_MS)
        return PAWL_OK;
    projector->read_ms = 0;
    projector->key_count = 0;
    arena_reset(projector->registry);
    pawl_status status = projector->store->ops->events.perspective_defined(
        projector->store, projector->registry, &projector->rows, err);
    if (status != PAWL_OK)
        return status;
    projector->keys = arena_array(projector->registry, projector->rows.count + 1, sizeof(*projector->keys));
    if (projector->keys == NULL)
        return error_no_memory(err, "perspective");
    for (size_t i = 0; i < projector->rows.count; i++) {
        const struct perspective_row *row = &projector->rows.rows[i];
        bool fed = row_fed(row);
        if (fed && perspective_can_run(all, row))
            projector->keys[projector->key_count++] = row->key;
        else if (fed)
            tell_no_runner(all, row);
    }
    projector->listing = listing_of(&projector->rows);
    projector->read_ms = now_ms;
    return PAWL_OK;
}

pawl_status projector_follow(struct perspectives *all, struct projector *projector, pawl_error *err) {
    pthread_mutex_lock(&all->lock);
    bool same = projector->read_ms != 0 && projector->listing == all->listing;
    pthread_mutex_unlock(&all->lock);
    return same ? PAWL_OK : projector_refresh(all, projector, err);
}

const struct perspective_row *projector_row(const struct projector *projector, pawl_str key) {
    for (size_t i = 0; i < projector->rows.count; i++) {
        if (str_equal(projector->rows.rows[i].key, key))
            return &projector->rows.rows[i];
    }
    return NULL;
}

/* If all entries are in use, replace the one that expires first; that perspective is then retried too early.
 */
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
