/* Forced interleavings: sessions of one database, each stepped statement by statement, with blocking
 * observed. */
#include "interleave/driver.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "conformance/pgtemplate.h"
#include "store/store.h"

/* A statement that neither ends nor blocks within this time is a defect, not a slow machine. */
enum { DEADLINE_MS = 20000 };

struct session {
    PGconn *conn;
    char pid[16];
};

static struct session *session_open(const char *url) {
    struct session *session = calloc(1, sizeof *session);
    assert_non_null(session);
    session->conn = PQconnectdb(url);
    if (PQstatus(session->conn) != CONNECTION_OK)
        fail_msg("cannot connect: %s", PQerrorMessage(session->conn));
    snprintf(session->pid, sizeof session->pid, "%d", PQbackendPID(session->conn));
    return session;
}

static void session_close(struct session *session) {
    if (session == NULL)
        return;
    PQfinish(session->conn);
    free(session);
}

const char *text(struct scene *scene, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const char *result = arena_vprintf(scene->arena, fmt, args);
    va_end(args);
    assert_non_null(result);
    return result;
}

/* One template per number of lanes, made when it is first needed, dropped by main. */
static struct pgtemplate *templates[2];

static bool database_make(struct scene *scene, int lanes) {
    struct pgtemplate **template = &templates[lanes > 1];
    struct migrate_config migrate = {.partition_count = 64, .lane_count = lanes};
    if (*template == NULL)
        *template = pgtemplate_make(&migrate);
    return *template != NULL && pgtemplate_copy(*template, scene->url);
}

void scenes_end(void) {
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        pgtemplate_free(templates[i]);
}

static int setup(void **state, int lanes) {
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->arena = arena_create(0);
    scene->by_lane = lanes == 1 && getenv("INTERLEAVE_BY_LANE") != NULL;
    if (!database_make(scene, lanes)) {
        arena_free(scene->arena);
        free(scene);
        return -1;
    }
    scene->observer = session_open(scene->url);
    scene->a = session_open(scene->url);
    scene->b = session_open(scene->url);
    scene->c = session_open(scene->url);
    scene->now_ms = INT64_C(4102444800000);
    move_clock(scene, 0);
    *state = scene;
    return 0;
}

int scene_setup(void **state) { return setup(state, 1); }
int scene_setup_lanes(void **state) { return setup(state, 8); }

static int violations(struct scene *scene) {
    struct store_config config = {.url = scene->url};
    struct store *store = NULL;
    struct violations found = {0};
    pawl_error err;
    pawl_status status = store_open(&config, &store, &err);
    if (status == PAWL_OK)
        status = store->ops->view.check(store, scene->arena, &found, &err);
    if (status != PAWL_OK)
        print_error("check: %s\n", err.text);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        print_error("invariant %.*s: %.*s\n", STR_ARG(found.rows[i].invariant),
                    STR_ARG(found.rows[i].detail));
    store_close(store);
    return status == PAWL_OK ? (int)found.count : 1;
}

int scene_teardown(void **state) {
    struct scene *scene = *state;
    session_close(scene->a);
    session_close(scene->b);
    session_close(scene->c);
    session_close(scene->observer);
    int broken = violations(scene);
    pgserver_drop_database(scene->url);
    arena_free(scene->arena);
    free(scene);
    return broken == 0 ? 0 : -1;
}

/* Waits until the session has an answer, or until it is seen waiting for a lock when that is asked for. */
static bool wait_for(struct scene *scene, struct session *session, bool until_blocked) {
    int64_t deadline_ms = clock_boot_ms() + DEADLINE_MS;
    while (clock_boot_ms() < deadline_ms) {
        struct pollfd event = {.fd = PQsocket(session->conn), .events = POLLIN};
        (void)poll(&event, 1, 2);
        if (!PQconsumeInput(session->conn))
            return !until_blocked; /* the connection is gone: that is an answer */
        if (!PQisBusy(session->conn))
            return !until_blocked;
        if (until_blocked) {
            const char *waits =
                run(scene, scene->observer,
                    text(scene, "SELECT cardinality(pg_blocking_pids(%s)) > 0", session->pid));
            if (strcmp(waits, "t") == 0)
                return true;
        }
    }
    return false;
}

static const char *rows_text(struct scene *scene, const PGresult *result) {
    struct buf joined;
    buf_init(&joined, 0);
    for (int row = 0; row < PQntuples(result); row++) {
        if (row > 0)
            buf_append_char(&joined, ' ');
        buf_append_cstr(&joined, PQgetvalue(result, row, 0));
    }
    const char *copy = text(scene, "%s", joined.len > 0 ? joined.ptr : "");
    buf_free(&joined);
    return copy;
}

/* The last result of what was sent; the SQLSTATE when it failed. */
static const char *collect(struct scene *scene, struct session *session, bool *failed) {
    const char *answer = "";
    *failed = false;
    if (!wait_for(scene, session, false))
        fail_msg("a statement did not end within %d ms", DEADLINE_MS);
    for (PGresult *result; (result = PQgetResult(session->conn)) != NULL; PQclear(result)) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK) {
            answer = rows_text(scene, result);
        } else if (status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY) {
            const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
            *failed = true;
            answer = text(scene, "%s", state != NULL ? state : "connection");
            print_message("%s: %s", answer, PQresultErrorMessage(result));
        }
    }
    return answer;
}

void start(struct scene *scene, struct session *session, const char *sql) {
    (void)scene;
    if (!PQsendQuery(session->conn, sql))
        fail_msg("cannot send: %s", PQerrorMessage(session->conn));
}

const char *finish(struct scene *scene, struct session *session) {
    bool failed = false;
    const char *answer = collect(scene, session, &failed);
    if (failed)
        fail_msg("a statement failed: %s", answer);
    return answer;
}

const char *finish_error(struct scene *scene, struct session *session) {
    bool failed = false;
    const char *answer = collect(scene, session, &failed);
    if (!failed)
        fail_msg("a statement that must fail gave: %s", answer);
    return answer;
}

const char *run(struct scene *scene, struct session *session, const char *sql) {
    start(scene, session, sql);
    return finish(scene, session);
}

const char *run_error(struct scene *scene, struct session *session, const char *sql) {
    start(scene, session, sql);
    return finish_error(scene, session);
}

void blocked(struct scene *scene, struct session *session) {
    if (!wait_for(scene, session, true))
        fail_msg("the statement did not wait for a lock: %s", finish(scene, session));
}

void cancel(struct scene *scene, struct session *session) {
    run(scene, scene->observer, text(scene, "SELECT pg_cancel_backend(%s)", session->pid));
}

void cut(struct scene *scene, struct session **session) {
    const char *pid = text(scene, "%s", (*session)->pid);
    session_close(*session);
    *session = session_open(scene->url);
    /* Its locks must be gone before the next step means anything. */
    int64_t deadline_ms = clock_boot_ms() + DEADLINE_MS;
    while (strcmp(run(scene, scene->observer,
                      text(scene, "SELECT count(*) FROM pg_stat_activity WHERE pid = %s", pid)),
                  "0") != 0) {
        if (clock_boot_ms() > deadline_ms)
            fail_msg("the server did not notice that a session is gone");
    }
}

void move_clock(struct scene *scene, int64_t by_ms) {
    scene->now_ms += by_ms;
    run(scene, scene->observer,
        text(scene, "UPDATE pawl_internal.settings SET test_now_ms = %lld", (long long)scene->now_ms));
}
