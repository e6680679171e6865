/* Measuring workers over HTTP: remembering what they claimed and when. */
#include "server/lease_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "server/server.h"
#include "work/observe.h"

/* An item can be in one of a few slots; the oldest makes room. So memory is bounded, and work that is never
 * reported needs no sweep. */
enum { WAYS = 8, SETS = PAWL_HTTP_LEASES_WATCHED_MAX / WAYS, PASS_ON_MS = 5000 };

struct watched {
    struct lease_ref ref;
    int64_t claimed_us; /* boot clock; 0: the place is free */
    enum rollup_kind kind;
};

struct lease_watch {
    struct pool_task pool_task; /* first */
    struct server *server;
    pthread_mutex_t lock; /* of places */
    struct watched places[SETS][WAYS];
    struct observer observer;
    _Atomic bool counted; /* since the sums were passed on */
    /* The loop's own. */
    bool running;
    int64_t passed_ms;
};

struct lease_watch *lease_watch_new(struct server *server) {
    struct lease_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->server = server;
    pthread_mutex_init(&watch->lock, NULL);
    return watch;
}

void lease_watch_free(struct lease_watch *watch) {
    if (watch == NULL)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* ---- Passing on */

static void run(struct pool_task *pool_task, struct store *store, const pawl_error *none) {
    struct lease_watch *watch = (struct lease_watch *)pool_task;
    pawl_error err = *none;
    if (store != NULL && observe_pass_on(&watch->observer, store, &err) != PAWL_OK)
        log_failure(&watch->server->config.log, LOG_LEVEL_INFO, "rollups_not_added", &err);
    server_hand_back(watch->server, pool_task);
}

static void done(struct pool_task *pool_task) { ((struct lease_watch *)pool_task)->running = false; }

static void start(struct lease_watch *watch) {
    watch->running = true;
    watch->pool_task.run = run;
    watch->pool_task.done = done;
    store_pool_put(&watch->server->lease_pool, &watch->pool_task);
}

void lease_watch_tick(struct lease_watch *watch, int64_t now_ms) {
    if (watch == NULL || watch->running || now_ms - watch->passed_ms < PASS_ON_MS)
        return;
    watch->passed_ms = now_ms;
    if (atomic_exchange(&watch->counted, false))
        start(watch);
}

void lease_watch_end(struct lease_watch *watch) {
    if (watch != NULL && !watch->running && atomic_exchange(&watch->counted, false))
        start(watch);
}

/* ---- Counting */

pawl_uuid lease_job_id(int64_t id) {
    pawl_uuid made = {{0}};
    memcpy(made.b, &id, sizeof id);
    return made;
}

static struct watched *places_of(struct lease_watch *watch, const struct lease_ref *ref) {
    uint64_t parts[2];
    memcpy(parts, ref->id.b, sizeof parts);
    uint64_t mixed = (parts[0] ^ parts[1] ^ (uint64_t)ref->token) * UINT64_C(0x9e3779b97f4a7c15);
    return watch->places[(mixed >> 32) % SETS];
}

static bool same(const struct watched *place, const struct lease_ref *ref) {
    return place->claimed_us != 0 && place->ref.token == ref->token && uuid_equal(place->ref.id, ref->id);
}

/* Whether it was not there before. */
static bool keep(struct lease_watch *watch, const struct lease_claimed *item) {
    struct watched *places = places_of(watch, &item->ref), *oldest = places;
    for (int i = 0; i < WAYS; i++) {
        if (same(&places[i], &item->ref))
            return false;
        if (places[i].claimed_us < oldest->claimed_us)
            oldest = &places[i];
    }
    *oldest = (struct watched){item->ref, clock_boot_us(), item->kind};
    return true;
}

void lease_watch_claimed(struct lease_watch *watch, const struct lease_claimed *item) {
    pthread_mutex_lock(&watch->lock);
    bool fresh = keep(watch, item);
    pthread_mutex_unlock(&watch->lock);
    if (!fresh || item->since_ms == 0)
        return;
    observe_clock(&watch->observer, item->now_ms);
    observe_wait(&watch->observer, item->kind, item->since_ms);
    atomic_store(&watch->counted, true);
}

void lease_watch_reported(struct lease_watch *watch, struct lease_ref ref, enum rollup_result result) {
    struct watched found = {.claimed_us = 0};
    pthread_mutex_lock(&watch->lock);
    struct watched *places = places_of(watch, &ref);
    for (int i = 0; i < WAYS; i++) {
        if (same(&places[i], &ref)) {
            found = places[i];
            places[i].claimed_us = 0;
        }
    }
    pthread_mutex_unlock(&watch->lock);
    if (found.claimed_us == 0)
        return;
    observe_handled(&watch->observer, found.kind, result, clock_boot_us() - found.claimed_us);
    atomic_store(&watch->counted, true);
}

void lease_watch_asked(struct lease_watch *watch, enum rollup_kind kind, int64_t began_us, bool ok,
                       size_t count) {
    observe_claim(&watch->observer, kind, clock_boot_us() - began_us, ok, count);
    atomic_store(&watch->counted, true);
}
