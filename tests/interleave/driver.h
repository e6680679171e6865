/* Forced interleavings: sessions of one database, each stepped statement by statement, with blocking
 * observed. */
#ifndef INTERLEAVE_DRIVER_H
#define INTERLEAVE_DRIVER_H

#include "base/arena.h"
#include "support/check.h"
#include "support/pgserver.h"

struct session;

enum { SESSIONS_MAX = 4 };

/* One test: a database of its own with the schema pawl, a frozen clock, and named sessions. */
struct scene {
    char url[PGSERVER_URL_BYTES];
    struct arena *arena;
    int64_t now_ms;
    bool by_lane;             /* claims name the only lane (INTERLEAVE_BY_LANE) */
    struct session *observer; /* looks and moves the clock; never part of the race */
    struct session *a, *b, *c;
};

/* Fixtures: a migrated database with one lane unless the table of tests says otherwise; afterwards every
 * invariant. */
int scene_setup(void **state);
int scene_setup_lanes(void **state); /* with 8 lanes */
int scene_teardown(void **state);

/* Removes what the scenes shared; at the end of main. */
void scenes_end(void);

#define SCENE_TEST(function)                                                                                 \
    { #function, function, scene_setup, scene_teardown, NULL }
#define SCENE_TEST_LANES(function)                                                                           \
    { #function, function, scene_setup_lanes, scene_teardown, NULL }

/* Runs a statement to its end and gives back the first column of its rows, joined by blanks; fails on any
 * error. */
const char *run(struct scene *scene, struct session *session, const char *sql);

/* Sends a statement and does not wait. */
void start(struct scene *scene, struct session *session, const char *sql);

/* Fails unless the started statement comes to wait for a lock, whoever holds it. */
void blocked(struct scene *scene, struct session *session);

/* Waits for the started statement; the result as run() gives it. */
const char *finish(struct scene *scene, struct session *session);

/* The SQLSTATE of a statement that must fail; run_error runs it, finish_error waits for a started one. */
const char *run_error(struct scene *scene, struct session *session, const char *sql);
const char *finish_error(struct scene *scene, struct session *session);

/* Asks the server to cancel what the session is running. */
void cancel(struct scene *scene, struct session *session);

/* Ends the session as a killed process would: without a word. scene keeps a fresh one in its place. */
void cut(struct scene *scene, struct session **session);

/* Moves the frozen clock; commits at once. */
void move_clock(struct scene *scene, int64_t by_ms);

/* Formats into the scene's arena. */
const char *text(struct scene *scene, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
