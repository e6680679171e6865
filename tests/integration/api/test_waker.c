/* Waking: only if a worker waits, after the commit, and also by puts inside foreign transactions. */
#include "support/check.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sqlite3.h>
#include <string.h>

#include "base/str.h"
#include "pawl_pg.h"
#include "pawl_sqlite.h"
#include "support/pgserver.h"
#include "support/sqlitefile.h"

enum { SOON_MS = 5000, NEVER_MS = 150 };

struct bench {
    struct store_config config;
    struct store *store;
    struct store_waker *waker;
};

/* Whether a wake-up arrives within the time. */
static bool woken(struct bench *bench, int wait_ms) {
    pawl_error err;
    bool woke = false;
    for (int waited_ms = 0; !woke && waited_ms < wait_ms; waited_ms += 50) {
        struct pollfd poller = {.fd = bench->waker->fd, .events = POLLIN};
        if (poll(&poller, 1, 50) == 1)
            assert_int_equal(bench->waker->drain(bench->waker, &woke, &err), PAWL_OK);
    }
    return woke;
}

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", pawl_status_name(status), err->text);
}

static pawl_status put(struct bench *bench, enum store_kind kind, pawl_error *err) {
    struct arena *arena = arena_create(0);
    pawl_outgoing message = {.type = STR("t"), .payload = STR("{}")};
    struct messages_put in = {.kind = kind, .messages = &message, .count = 1};
    if (kind == KIND_INBOX)
        in.consumer = STR("c");
    struct put_result out;
    pawl_status status = bench->store->ops->core.messages_put(bench->store, &in, arena, &out, err);
    arena_free(arena);
    return status;
}

static void open_bench(struct bench *bench) {
    pawl_error err;
    struct migrate_config migrate = {0};
    struct migrate_result result;
    must(store_migrate(&bench->config, &migrate, &result, &err), &err);
    must(store_open(&bench->config, &bench->store, &err), &err);
    must(store_waker_open(&bench->config, &bench->waker, &err), &err);
}

static void close_bench(struct bench *bench) {
    store_waker_close(bench->waker);
    store_close(bench->store);
}

static void check_waking(struct bench *bench) {
    const struct store_core_ops *core = &bench->store->ops->core;
    pawl_error err;
    bool late = true;
    must(core->wake(bench->store, &err), &err);
    assert_true(woken(bench, SOON_MS));
    must(put(bench, KIND_OUTBOX, &err), &err);
    assert_false(woken(bench, NEVER_MS)); /* nobody waits */
    must(core->wait_begin(bench->store, sqlitefile_id(1), KIND_BIT(KIND_OUTBOX), &late, &err), &err);
    assert_false(late);
    must(put(bench, KIND_INBOX, &err), &err);
    assert_false(woken(bench, NEVER_MS)); /* not for this kind */
    must(put(bench, KIND_OUTBOX, &err), &err);
    assert_true(woken(bench, SOON_MS));
    must(put(bench, KIND_OUTBOX, &err), &err);
    assert_true(woken(bench, SOON_MS)); /* again: the wish lasts */
    must(core->wait_end(bench->store, sqlitefile_id(1), &err), &err);
    must(put(bench, KIND_OUTBOX, &err), &err);
    assert_false(woken(bench, NEVER_MS));
}

static void test_sqlite(void **fixture) {
    struct sqlitefile *file = *fixture;
    struct bench bench = {.config = sqlitefile_config(file->path)};
    open_bench(&bench);
    check_waking(&bench);
    /* A transaction of the application's own. */
    pawl_error err;
    bool late = false;
    sqlite3 *db = NULL;
    pawl_outgoing message = {.type = STR("t"), .payload = STR("{}")};
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    assert_int_equal(pawl_send_sqlite(db, NULL, &message, 1, NULL, &err), PAWL_INVALID); /* none is open */
    must(bench.store->ops->core.wait_begin(bench.store, sqlitefile_id(1), KIND_BIT(KIND_OUTBOX), &late, &err),
         &err);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    must(pawl_send_sqlite(db, NULL, &message, 1, NULL, &err), &err);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_true(woken(&bench, SOON_MS));
    sqlite3_close(db);
    sqlitefile_check(bench.store);
    close_bench(&bench);
}

static void test_postgres(void **fixture) {
    (void)fixture;
    char url[PGSERVER_URL_BYTES];
    if (pgserver_url() == NULL)
        skip();
    assert_true(pgserver_create_database("waker", url));
    struct bench bench = {.config = {.url = url}};
    open_bench(&bench);
    check_waking(&bench);
    /* A transaction that is open while the wish is made may have missed it: late says so. */
    pawl_error err;
    bool late = false;
    pawl_outgoing message = {.type = STR("t"), .payload = STR("{}")};
    PGconn *conn = PQconnectdb(url);
    assert_int_equal(pawl_send_pg(conn, NULL, NULL, &message, 1, NULL, &err),
                     PAWL_INVALID); /* none is open */
    PQclear(PQexec(conn, "begin"));
    must(pawl_send_pg(conn, NULL, NULL, &message, 1, NULL, &err), &err);
    must(bench.store->ops->core.wait_begin(bench.store, sqlitefile_id(1), KIND_BIT(KIND_OUTBOX), &late, &err),
         &err);
    assert_true(late);
    PQclear(PQexec(conn, "commit"));
    assert_false(woken(&bench, NEVER_MS));
    must(bench.store->ops->core.wait_begin(bench.store, sqlitefile_id(1), KIND_BIT(KIND_OUTBOX), &late, &err),
         &err);
    assert_false(late);
    /* From now on everybody has seen it, and the wake-up comes with the commit, not before. */
    PQclear(PQexec(conn, "begin"));
    must(pawl_send_pg(conn, NULL, NULL, &message, 1, NULL, &err), &err);
    assert_false(woken(&bench, NEVER_MS));
    PQclear(PQexec(conn, "commit"));
    assert_true(woken(&bench, SOON_MS));
    PQfinish(conn);
    close_bench(&bench);
    pgserver_drop_database(url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test(test_postgres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
