/* Appending events and waiting for perspectives: functions of the public API. */
#include <inttypes.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "pawl_events.h"
#include "store/foreign.h"
#include "work/send.h"

enum { PAUSE_MS_FIRST = 2, PAUSE_MS_MAX = 100 };

static struct events_append append_of(const pawl_append_to *to, const pawl_event *events, size_t count) {
    return (struct events_append){
        .stream = to->stream, .expected = to->expected_version, .events = events, .count = count};
}

static pawl_status answer(const struct events_append *in, const struct append_result *result,
                          pawl_appended *appended, pawl_error *err) {
    if (appended != NULL)
        *appended = (pawl_appended){.version = result->version,
                                    .first_version = result->first_version,
                                    .repeated = result->answer == ANSWER_DUPLICATE};
    if (result->answer != ANSWER_CONFLICT)
        return PAWL_OK;
    return append_refused("pawl_append", in, result, err);
}

pawl_status pawl_append(pawl_store *store, pawl_str stream, int64_t expected_version,
                        const pawl_event *events, size_t count, pawl_appended *appended, pawl_error *err) {
    pawl_append_to to = {.stream = stream, .expected_version = expected_version};
    struct events_append in = append_of(&to, events, count);
    struct append_result result = {0};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "pawl_append", "out of memory");
    struct putter putter = send_putter(store, arena);
    pawl_status status = traced_append(&putter, &in, &result, err);
    if (status == PAWL_OK)
        status = answer(&in, &result, appended, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_append_pg(struct pg_conn *conn, const pawl_append_to *to, const pawl_event *events,
                           size_t count, pawl_appended *appended, pawl_error *err) {
    struct events_append in = append_of(to, events, count);
    struct append_result result = {0};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "pawl_append_pg", "out of memory");
    pawl_status status = postgres_append_in_transaction(conn, to->schema, &in, arena, &result, err);
    if (status == PAWL_OK)
        status = answer(&in, &result, appended, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_append_sqlite(struct sqlite3 *db, const pawl_append_to *to, const pawl_event *events,
                               size_t count, pawl_appended *appended, pawl_error *err) {
    struct events_append in = append_of(to, events, count);
    struct append_result result = {0};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "pawl_append_sqlite", "out of memory");
    pawl_status status = sqlite_append_in_transaction(db, &in, arena, &result, err);
    if (status == PAWL_OK)
        status = answer(&in, &result, appended, err);
    arena_free(arena);
    return status;
}

static void pause_ms(int64_t ms) {
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&wait, NULL); /* a signal only makes it shorter */
}

pawl_status pawl_wait_for(pawl_store *store, pawl_str perspective, pawl_str stream, int64_t version,
                          int64_t timeout_ms, bool *reached, pawl_error *err) {
    struct store *inner = send_store(store);
    struct perspective_target in = {.perspective = perspective, .stream = stream, .version = version};
    struct perspective_reached at = {0};
    if (timeout_ms < 0 || timeout_ms > PAWL_TIMEOUT_MS_MAX)
        return error_set(err, PAWL_INVALID, "pawl_wait_for", "a timeout of %" PRId64 " ms is outside 0 … %d",
                         timeout_ms, PAWL_TIMEOUT_MS_MAX);
    int64_t end_ms = clock_boot_ms() + timeout_ms, wait_ms = PAUSE_MS_FIRST;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "pawl_wait_for", "out of memory");
    pawl_status status;
    for (;;) {
        arena_reset(arena);
        status = inner->ops->events.perspective_reached(inner, &in, arena, &at, err);
        if (status == PAWL_OK && at.failed)
            status = error_set(err, PAWL_CONFLICT, "pawl_wait_for",
                               "the perspective has failed at version %" PRId64 ": %.*s", at.at,
                               STR_ARG(at.error));
        int64_t left_ms = end_ms - clock_boot_ms();
        if (status != PAWL_OK || at.reached || left_ms <= 0)
            break;
        pause_ms(wait_ms < left_ms ? wait_ms : left_ms);
        wait_ms = wait_ms * 2 < PAUSE_MS_MAX ? wait_ms * 2 : PAUSE_MS_MAX;
    }
    if (status == PAWL_OK)
        *reached = at.reached;
    arena_free(arena);
    return status;
}
