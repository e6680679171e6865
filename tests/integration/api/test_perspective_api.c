/* A perspective in C through the public API alone: it writes in the transaction in which its checkpoint
 * moves. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "integration/postgres/postgres_fixture.h"
#include "pawl_events.h"
#include "support/beside.h"
#include "support/sqlitefile.h"

enum { EVENTS = 25, FAILS_AT = 7, WAIT_MS = 60000 };

static const char definition[] = "{\"name\":\"log\",\"on\":[\"exact:Added\"],\"function\":true,\"batch\":10}";
static const char table[] = "CREATE TABLE log (version INTEGER PRIMARY KEY)";

struct story {
    const char *url;
    char path[SQLITEFILE_PATH_BYTES + 16];
    atomic_int calls, failures;
};

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

static bool write_row(const pawl_perspective_call *call, int64_t version) {
    char sql[96];
    snprintf(sql, sizeof sql, "INSERT INTO log VALUES (%lld)", (long long)version);
    if (strcmp(call->dialect, "sqlite") == 0)
        return sqlite3_exec(call->connection, sql, NULL, NULL, NULL) == SQLITE_OK;
    PGresult *result = PQexec(call->connection, sql);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
}

/* Writes, and then fails the first times it gets a certain event: what it wrote must not stay. */
static pawl_status add(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct story *story = self;
    atomic_fetch_add(&story->calls, 1);
    for (size_t i = 0; i < call->count; i++) {
        if (!write_row(call, call->events[i].version))
            return error_set(err, PAWL_INTERNAL, "add", "version %lld could not be written",
                             (long long)call->events[i].version);
        if (call->events[i].version == FAILS_AT && atomic_fetch_add(&story->failures, 1) < 3)
            return error_set(err, PAWL_INVALID, "add", "not yet");
    }
    return PAWL_OK;
}

/* covers: P43 B0.12 */
static void tell(struct story *story) {
    pawl_store_config config = {.url = story->url};
    pawl_store *store = NULL;
    pawl_error err = {0};
    pawl_event events[EVENTS];
    pawl_appended at;
    int count = 0;
    bool reached = false;
    FILE *file = fopen(story->path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(definition, 1, sizeof definition - 1, file), sizeof definition - 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pawl_open(&config, &store, &err), PAWL_OK);
    must(pawl_perspectives_register(store, story->path, &count, &err), &err);
    assert_int_equal(count, 1);
    for (int i = 0; i < EVENTS; i++)
        events[i] = (pawl_event){.type = STR("Added"), .payload = STR("{}")};
    must(pawl_append(store, STR("s"), PAWL_NO_STREAM, events, EVENTS, &at, &err), &err);
    pawl_worker_config worker_config = {.store = config, .perspectives = true, .poll_ms = 20};
    pawl_worker *worker = NULL;
    struct beside beside;
    must(pawl_worker_create(&worker_config, &worker, &err), &err);
    must(pawl_worker_perspective(worker, "log", 0, add, story, &err), &err);
    beside_start(&beside, worker);
    for (int64_t waited_ms = 0; !reached && waited_ms < WAIT_MS; waited_ms += 50) {
        pawl_status status = pawl_wait_for(store, STR("log"), STR("s"), EVENTS, 50, &reached, &err);
        if (status != PAWL_CONFLICT) /* the checkpoint has failed and is tried again */
            must(status, &err);
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    assert_true(reached);
    beside_stop(&beside);
    pawl_worker_free(worker);
    pawl_close(store);
    assert_true(atomic_load(&story->failures) > 3);
}

static void a_c_perspective_on_sqlite(void **state) {
    struct sqlitefile *file = *state;
    struct story story = {.url = file->path};
    char text[64];
    pawl_error err = {0};
    pawl_store_config config = {.url = file->path};
    must(pawl_migrate(&config, &err), &err);
    snprintf(story.path, sizeof story.path, "%s.json", file->path);
    sqlitefile_sql(file->path, table, text);
    tell(&story);
    assert_string_equal(sqlitefile_sql(file->path, "SELECT count(*) || ':' || max(version) FROM log", text),
                        "25:25");
    remove(story.path);
}

static void a_c_perspective_on_postgres(void **state) {
    struct fixture *f = *state;
    struct story story = {.url = f->url};
    pawl_error err = {0};
    pawl_store_config config = {.url = f->url};
    must(pawl_migrate(&config, &err), &err);
    snprintf(story.path, sizeof story.path, "/tmp/pawl-perspective-%d.json", (int)getpid());
    value(f, table);
    tell(&story);
    assert_string_equal(value(f, "SELECT count(*) || ':' || max(version) FROM log"), "25:25");
    remove(story.path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_c_perspective_on_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_c_perspective_on_postgres, fixture_setup, fixture_teardown),
    };
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
