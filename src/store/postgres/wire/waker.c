/* Waking workers on PostgreSQL: LISTEN on a separate connection, NOTIFY by each put. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/postgres/query.h"

#define OP "postgres_waker"

struct waker {
    struct store_waker base; /* first: the seam hands out a pointer to it */
    struct postgres self;
};

/* The notification for a single message: kind.lane. */
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

pawl_status postgres_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                                pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_WAIT_BEGIN, "wait_begin", NULL, PAWL_OK);
    SEND(&q, instance, kinds, value_big(PAWL_WAIT_MS));
    pawl_status status = pg_done(&q, err);
    /* In its own transaction, after the request is committed, so that every later put sees it. */
    q = pg_read(store, POSTGRES_Q_WAIT_LATE, "wait_begin", NULL, status);
    return pg_flag(&q, late, err);
}

pawl_status postgres_wait_end(struct store *store, pawl_uuid instance, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_WAIT_END, "wait_end", NULL, PAWL_OK);
    SEND(&q, instance);
    return pg_done(&q, err);
}

pawl_status postgres_wake(struct store *store, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_WAKE, "wake", NULL, PAWL_OK);
    return pg_done(&q, err);
}
