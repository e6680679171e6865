/* A backlog of many streams: its events are applied once and in order whoever takes part, the messages that
 * waited for its end are done behind it, and a perspective that cannot be applied holds up no other. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "integration/postgres/postgres_fixture.h"
#include "pawl_events.h"
#include "support/beside.h"
#include "support/sqlitefile.h"

/* More streams than one round of batches takes. */
enum { STREAMS = 700, EACH = 2, CONCURRENCY = 4, WAIT_MS = 120000, NAP_MS = 20 };

static const char definition[] = "{\"name\":\"log\",\"on\":[\"exact:Added\"],\"function\":true,\"batch\":20}";
/* Its name comes first. */
static const char broken[] = "{\"name\":\"broken\",\"on\":[\"exact:Added\"],\"function\":true}";
/* Twice the same event, or one before its predecessor, cannot be written. */
static const char table[] = "CREATE TABLE log (stream TEXT PRIMARY KEY, version INTEGER NOT NULL)";
static const char first[] = "INSERT INTO log VALUES ('%.*s', %lld)";
static const char next[] = "UPDATE log SET version = %lld WHERE stream = '%.*s' AND version = %lld";
static const char whole[] = "SELECT count(*) || ':' || sum(version) FROM log";
/* Messages that wait, and events that are not applied. */
static const char left_sqlite[] = "SELECT (SELECT count(*) FROM pawl_message WHERE kind = 3) + 1400 - "
                                  "(SELECT coalesce(sum(version), 0) FROM log)";
static const char left_postgres[] =
    "SELECT (SELECT count(*) FROM pawl_internal.live_message WHERE kind = 3) + 1400 - "
    "(SELECT coalesce(sum(version), 0) FROM log)";

struct story {
    const char *url;
    char path[SQLITEFILE_PATH_BYTES + 16];
    bool beside_broken;
    atomic_int wrong, broken_calls;
};

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

static long changed(const pawl_perspective_call *call, const char *sql) {
    if (strcmp(call->dialect, "sqlite") == 0)
        return sqlite3_exec(call->connection, sql, NULL, NULL, NULL) == SQLITE_OK
                   ? sqlite3_changes(call->connection)
                   : -1;
    PGresult *result = PQexec(call->connection, sql);
    long rows = PQresultStatus(result) == PGRES_COMMAND_OK ? strtol(PQcmdTuples(result), NULL, 10) : -1;
    PQclear(result);
    return rows;
}

static pawl_status add(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct story *story = self;
    for (size_t i = 0; i < call->count; i++) {
        const pawl_stored_event *event = &call->events[i];
        char sql[160];
        if (event->version == 1)
            snprintf(sql, sizeof sql, first, (int)event->stream.len, event->stream.ptr, 1LL);
        else
            snprintf(sql, sizeof sql, next, (long long)event->version, (int)event->stream.len,
                     event->stream.ptr, (long long)event->version - 1);
        if (changed(call, sql) != 1) {
            atomic_fetch_add(&story->wrong, 1);
            return error_set(err, PAWL_INVALID, "add", "version %lld is not the next",
                             (long long)event->version);
        }
    }
    return PAWL_OK;
}

/* What it must not do, every time. */
static pawl_status end_transaction(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct story *story = self;
    (void)err;
    atomic_fetch_add(&story->broken_calls, 1);
    (void)changed(call, "ROLLBACK");
    return PAWL_OK;
}

static void define(pawl_store *store, const struct story *story, const char *text) {
    pawl_error err = {0};
    int count = 0;
    FILE *file = fopen(story->path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    must(pawl_perspectives_register(store, story->path, &count, &err), &err);
}

static void fill(pawl_store *store, struct story *story) {
    pawl_error err = {0};
    pawl_event events[EACH];
    pawl_appended at;
    define(store, story, definition);
    if (story->beside_broken)
        define(store, story, broken);
    for (int i = 0; i < EACH; i++)
        events[i] = (pawl_event){.type = STR("Added"), .payload = STR("{}")};
    for (int i = 0; i < STREAMS; i++) {
        char stream[16];
        snprintf(stream, sizeof stream, "s-%d", i);
        must(pawl_append(store, str_from(stream), PAWL_NO_STREAM, events, EACH, &at, &err), &err);
    }
}

/* Applies everything and ends when nothing is left. */
static void drain(struct story *story, long (*left)(void *self), void *self) {
    pawl_error err = {0};
    pawl_worker *worker = NULL;
    struct beside beside;
    pawl_worker_config config = {
        .store = {.url = story->url}, .perspectives = true, .poll_ms = NAP_MS, .concurrency = CONCURRENCY};
    must(pawl_worker_create(&config, &worker, &err), &err);
    must(pawl_worker_perspective(worker, "log", 0, add, story, &err), &err);
    if (story->beside_broken)
        must(pawl_worker_perspective(worker, "broken", 0, end_transaction, story, &err), &err);
    beside_start(&beside, worker);
    for (int64_t waited_ms = 0; waited_ms < WAIT_MS && left(self) > 0; waited_ms += NAP_MS)
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
    assert_int_equal(left(self), 0);
    beside_stop(&beside);
    pawl_worker_free(worker);
}

static void tell(struct story *story, long (*left)(void *self), void *self) {
    pawl_store_config config = {.url = story->url};
    pawl_store *store = NULL;
    pawl_error err = {0};
    must(pawl_open(&config, &store, &err), &err);
    fill(store, story);
    assert_int_equal(left(self), STREAMS * (1 + EACH));
    drain(story, left, self);
    pawl_close(store);
    assert_int_equal(atomic_load(&story->wrong), 0);
    remove(story->path);
}

static long left_on_sqlite(void *self) {
    struct sqlitefile *file = self;
    char text[64];
    return strtol(sqlitefile_sql(file->path, left_sqlite, text), NULL, 10);
}

static long left_on_postgres(void *self) { return strtol(value(self, left_postgres), NULL, 10); }

static void on_sqlite(struct sqlitefile *file, bool beside_broken) {
    struct story story = {.url = file->path, .beside_broken = beside_broken};
    pawl_store_config config = {.url = file->path};
    pawl_error err = {0};
    char text[64];
    must(pawl_migrate(&config, &err), &err);
    snprintf(story.path, sizeof story.path, "%s.json", file->path);
    sqlitefile_sql(file->path, table, text);
    tell(&story, left_on_sqlite, file);
    assert_string_equal(sqlitefile_sql(file->path, whole, text), "700:1400");
    assert_int_equal(atomic_load(&story.broken_calls) > 0, beside_broken);
}

static void on_postgres(struct fixture *f, bool beside_broken) {
    struct story story = {.url = f->url, .beside_broken = beside_broken};
    pawl_store_config config = {.url = f->url};
    pawl_error err = {0};
    must(pawl_migrate(&config, &err), &err);
    snprintf(story.path, sizeof story.path, "/tmp/pawl-backlog-%d.json", (int)getpid());
    value(f, table);
    tell(&story, left_on_postgres, f);
    assert_string_equal(value(f, whole), "700:1400");
    assert_int_equal(atomic_load(&story.broken_calls) > 0, beside_broken);
}

/* covers: P43 B0.12 */
static void a_backlog_on_sqlite(void **state) { on_sqlite(*state, false); }

/* covers: P43 B0.12 */
static void a_backlog_on_postgres(void **state) { on_postgres(*state, false); }

static void one_that_cannot_be_applied_holds_up_no_other_on_sqlite(void **state) { on_sqlite(*state, true); }

static void one_that_cannot_be_applied_holds_up_no_other_on_postgres(void **state) {
    on_postgres(*state, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_backlog_on_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_backlog_on_postgres, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_applied_holds_up_no_other_on_sqlite,
                                        sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_applied_holds_up_no_other_on_postgres,
                                        fixture_setup, fixture_teardown),
    };
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
