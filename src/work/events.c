/* Appending and reading events, registering perspectives and receptors, and waiting for perspectives:
 * functions of the public API. */
#include <inttypes.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "pawl_events.h"
#include "store/foreign.h"
#include "work/perspective/file.h"
#include "work/send.h"

enum { ASK_MS_FIRST = 2, ASK_MS_LAST = 100 };

static pawl_status append_to(const struct place *place, const pawl_append_to *to, const pawl_event *events,
                             size_t count, pawl_appended *appended, pawl_error *err) {
    struct events_append in = {
        .stream = to->stream, .expected = to->expected_version, .events = events, .count = count};
    struct append_result result = {0};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, place->op);
    pawl_status status = PLACE_CALL(place, traced_append, sqlite_append_in_transaction,
                                    postgres_append_in_transaction, &in, arena, &result, err);
    if (status == PAWL_OK && appended != NULL)
        *appended = (pawl_appended){.version = result.version,
                                    .first_version = result.first_version,
                                    .repeated = result.answer == ANSWER_DUPLICATE};
    if (status == PAWL_OK && result.answer == ANSWER_CONFLICT)
        status = append_refused("pawl_append", &in, &result, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_append(pawl_store *store, pawl_str stream, int64_t expected_version,
                        const pawl_event *events, size_t count, pawl_appended *appended, pawl_error *err) {
    struct place place = {.op = "pawl_append", .store = store};
    pawl_append_to to = {.stream = stream, .expected_version = expected_version};
    return append_to(&place, &to, events, count, appended, err);
}

pawl_status pawl_append_pg(struct pg_conn *conn, const pawl_append_to *to, const pawl_event *events,
                           size_t count, pawl_appended *appended, pawl_error *err) {
    struct place place = {.op = "pawl_append_pg", .postgres = conn, .schema = to->schema};
    return append_to(&place, to, events, count, appended, err);
}

pawl_status pawl_append_sqlite(struct sqlite3 *db, const pawl_append_to *to, const pawl_event *events,
                               size_t count, pawl_appended *appended, pawl_error *err) {
    struct place place = {.op = "pawl_append_sqlite", .sqlite = db};
    return append_to(&place, to, events, count, appended, err);
}

pawl_status pawl_events_read(pawl_store *store, const pawl_read *read,
                             bool (*each)(void *self, const pawl_stored_event *event), void *self,
                             pawl_error *err) {
    struct store *inner = send_store(store);
    struct arena *arena = arena_create(0);
    struct event_list list;
    struct stamp_result stamped;
    pawl_status status = arena == NULL ? error_no_memory(err, "pawl_events_read") : PAWL_OK;
    if (status == PAWL_OK && str_absent(read->stream))
        status = inner->ops->events.events_stamp(inner, PAWL_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = inner->ops->events.events_read(inner, read, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < list.count && each(self, &list.events[i]); i++)
        continue;
    arena_free(arena);
    return status;
}

pawl_status pawl_snapshot_put(pawl_store *store, pawl_str stream, pawl_str name, int64_t version,
                              pawl_str state_json, bool *kept, pawl_error *err) {
    struct store *inner = send_store(store);
    struct snapshot in = {.stream = stream, .name = name, .version = version, .state = state_json};
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = inner->ops->events.snapshot_put(inner, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        status = error_set(err, PAWL_CONFLICT, "pawl_snapshot_put", "the stream has not reached version %lld",
                           (long long)version);
    if (status == PAWL_OK)
        *kept = answer == ANSWER_APPLIED;
    return status;
}

pawl_status pawl_snapshot_get(pawl_store *store, pawl_str stream, pawl_str name, int64_t version_max,
                              void (*each)(void *self, int64_t version, pawl_str state_json), void *self,
                              pawl_error *err) {
    struct store *inner = send_store(store);
    struct arena *arena = arena_create(0);
    struct snapshot found;
    pawl_status status = arena == NULL ? error_no_memory(err, "pawl_snapshot_get") : PAWL_OK;
    if (status == PAWL_OK)
        status = inner->ops->events.snapshot_get(inner, stream, name, version_max, arena, &found, err);
    if (status == PAWL_OK)
        each(self, found.version, found.state);
    arena_free(arena);
    return status;
}

static void count_one(void *self, const struct perspective_new *in,
                      const struct perspective_registered *out) {
    (void)in;
    (void)out;
    ++*(int *)self;
}

pawl_status pawl_perspectives_register(pawl_store *store, const char *path, int *count, pawl_error *err) {
    int made = 0;
    pawl_status status = perspective_register_path(send_store(store), path, 0, count_one, &made, err);
    if (status == PAWL_OK && count != NULL)
        *count = made;
    return status;
}

pawl_status pawl_receptor_register(pawl_store *store, const pawl_receptor *receptor, pawl_error *err) {
    struct store *inner = send_store(store);
    struct event_pattern patterns[PAWL_PATTERNS_MAX];
    enum store_answer answer = ANSWER_APPLIED;
    struct receptor_new in = {.name = str_from(receptor->name),
                              .patterns = patterns,
                              .pattern_count = receptor->pattern_count,
                              .from_start = receptor->from_start,
                              .replace = receptor->replace};
    for (size_t i = 0; i < in.pattern_count && i < PAWL_PATTERNS_MAX; i++)
        patterns[i] = event_pattern_from(str_from(receptor->patterns[i]));
    pawl_status status = inner->ops->events.receptor_register(inner, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "pawl_receptor_register",
                         "receptor %s is registered with other patterns; set replace to give it these",
                         receptor->name);
    return status;
}

pawl_status pawl_receptor_remove(pawl_store *store, const char *name, pawl_error *err) {
    struct store *inner = send_store(store);
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = inner->ops->events.receptor_remove(inner, str_from(name), &answer, err);
    if (status == PAWL_OK && answer == ANSWER_NOT_FOUND)
        return error_set(err, PAWL_NOT_FOUND, "pawl_receptor_remove",
                         "there is no receptor on events named %s", name);
    return status;
}

static void pause_ms(int64_t ms) {
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&wait, NULL); /* a signal only makes it shorter */
}

pawl_status perspective_caught_up(struct store *store, const struct perspective_target *target,
                                  struct arena *arena, struct perspective_reached *out, pawl_error *err) {
    struct stamp_result stamped;
    pawl_status status = PAWL_OK;
    if (str_absent(target->stream))
        status = store->ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err);
    if (status == PAWL_OK)
        status = store->ops->events.perspective_reached(store, target, arena, out, err);
    if (status == PAWL_OK && out->failed)
        status = error_set(err, PAWL_CONFLICT, "wait",
                           "the perspective has failed on the way, at %" PRId64 ": %.*s", out->at,
                           STR_ARG(out->error));
    return status;
}

pawl_status pawl_wait_for(pawl_store *store, pawl_str perspective, pawl_str stream, int64_t version,
                          int64_t timeout_ms, bool *reached, pawl_error *err) {
    struct store *inner = send_store(store);
    struct perspective_target in = {.perspective = perspective, .stream = stream, .version = version};
    struct perspective_reached at = {0};
    if (timeout_ms < 0 || timeout_ms > PAWL_TIMEOUT_MS_MAX)
        return error_set(err, PAWL_INVALID, "pawl_wait_for", "a timeout of %" PRId64 " ms is outside 0 … %d",
                         timeout_ms, PAWL_TIMEOUT_MS_MAX);
    int64_t end_ms = clock_boot_ms() + timeout_ms, wait_ms = ASK_MS_FIRST;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "pawl_wait_for");
    pawl_status status;
    for (;;) {
        arena_reset(arena);
        status = perspective_caught_up(inner, &in, arena, &at, err);
        int64_t left_ms = end_ms - clock_boot_ms();
        if (status != PAWL_OK || at.reached || left_ms <= 0)
            break;
        pause_ms(wait_ms < left_ms ? wait_ms : left_ms);
        wait_ms = wait_ms * 2 < ASK_MS_LAST ? wait_ms * 2 : ASK_MS_LAST;
    }
    if (status == PAWL_OK)
        *reached = at.reached;
    arena_free(arena);
    return status;
}
