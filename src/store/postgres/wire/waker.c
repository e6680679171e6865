/* Waking workers that wait: LISTEN on a separate connection, NOTIFY by each put. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/postgres/calls.h"

#define OP "postgres_waker"

struct waker {
    struct store_waker base; /* first: the seam hands out a pointer to it */
    struct postgres self;
};

/* What put_wake says of a single message: kind.lane. */
static struct lane_name place_of(const char *text) {
    struct lane_name place = {0};
    int end = 0;
    if (sscanf(text, "%1d.%5d%n", &place.kind, &place.lane, &end) != 2 || text[end] != '\0' ||
        place.kind < 1 || place.kind > KIND_COUNT || place.lane < 0)
        return (struct lane_name){0};
    return place;
}

static pawl_status drain(struct store_waker *base, bool *woken, pawl_error *err) {
    struct waker *waker = (struct waker *)(void *)base;
    *woken = base->news = false;
    base->place = (struct lane_name){0};
    bool alive = PQconsumeInput(waker->self.conn) != 0 && PQstatus(waker->self.conn) == CONNECTION_OK;
    for (PGnotify *notify; (notify = PQnotifies(waker->self.conn)) != NULL; PQfreemem(notify)) {
        struct lane_name place = place_of(notify->extra);
        bool same = place.kind == base->place.kind && place.lane == base->place.lane;
        if (*woken && !same)
            place = (struct lane_name){0};
        base->place = place;
        *woken = true;
        base->news = base->news || strcmp(notify->extra, "pause") == 0;
    }
    if (!alive)
        return error_set(err, PAWL_UNAVAILABLE, OP, "the listening connection is lost");
    return PAWL_OK;
}

static void waker_close(struct store_waker *base) {
    struct waker *waker = (struct waker *)(void *)base;
    pg_connection_free(&waker->self);
    free(waker);
}

pawl_status postgres_waker_open(const struct store_config *config, struct store_waker **out,
                                pawl_error *err) {
    struct waker *waker = calloc(1, sizeof *waker);
    if (waker == NULL)
        return error_set(err, PAWL_NO_MEMORY, OP, "no memory for a waker");
    char sqlstate[6];
    pawl_status status = pg_connection_init(&waker->self, config, OP, err);
    if (status == PAWL_OK)
        status = pg_connection_ready(&waker->self, OP, err);
    if (status == PAWL_OK && !waker->self.address.direct)
        status =
            error_set(err, PAWL_CONFLICT, OP, "a pooler shares the sessions, so workers cannot be woken");
    if (status == PAWL_OK)
        status = pg_script_run(&waker->self, OP, waker->self.queries[POSTGRES_Q_LISTEN], sqlstate, err);
    if (status != PAWL_OK) {
        waker_close(&waker->base);
        return status;
    }
    waker->base =
        (struct store_waker){.fd = PQsocket(waker->self.conn), .drain = drain, .close = waker_close};
    *out = &waker->base;
    return PAWL_OK;
}

/* One statement about an instance (nil: about none) whose answer has no columns that matter. */
static pawl_status run(struct store *store, const char *op, struct statement *statement, pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, statement, EFFECT_WRITE, err);
    pg_statement_clear(statement);
    return status;
}

pawl_status postgres_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                                pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("wait_begin", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_WAIT_BEGIN, arena);
    pg_params_uuid(&statement.params, instance);
    pg_params_int(&statement.params, kinds);
    pg_params_big(&statement.params, PAWL_WAIT_MS);
    pawl_status status = run(store, "wait_begin", &statement, err);
    /* In its own transaction, after the commit of the wish: every later put has seen it. */
    struct statement look = pg_statement_new(POSTGRES_Q_WAIT_LATE, arena);
    if (status == PAWL_OK)
        status = pg_statement_run(postgres_of(store), "wait_begin", &look, EFFECT_READ, err);
    if (status == PAWL_OK)
        *late = pg_cell_bool((struct cell){look.result, 0, 0});
    pg_statement_clear(&look);
    arena_free(arena);
    return status;
}

pawl_status postgres_wait_end(struct store *store, pawl_uuid instance, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("wait_end", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_WAIT_END, arena);
    pg_params_uuid(&statement.params, instance);
    pawl_status status = run(store, "wait_end", &statement, err);
    arena_free(arena);
    return status;
}

pawl_status postgres_wake(struct store *store, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_WAKE, NULL);
    return run(store, "wake", &statement, err);
}
