/* Every write and every sync of SQLite fails once: what was acknowledged stays, the rest is told apart. */
#include "support/check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/sqlitefile.h"

enum { TABLES_MAX = 4 };

/* The real file system below, and the call that is to fail. */
static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    /* SQLite has a table of methods per way of locking; each gets a copy with write and sync replaced. */
    const sqlite3_io_methods *real_methods[TABLES_MAX];
    sqlite3_io_methods methods[TABLES_MAX];
    int writes_left; /* -1: none fails */
    int syncs_left;
    bool fired;
} fault;

static bool fails(int *left) {
    if (*left < 0)
        return false;
    if ((*left)-- > 0)
        return false;
    fault.fired = true;
    return true;
}

static int fault_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at) {
    return fails(&fault.writes_left) ? SQLITE_IOERR_WRITE
                                     : fault.real_methods[0]->xWrite(file, from, len, at);
}

static int fault_sync(sqlite3_file *file, int flags) {
    return fails(&fault.syncs_left) ? SQLITE_IOERR_FSYNC : fault.real_methods[0]->xSync(file, flags);
}

/* The file is the real one's; only its table of methods is ours. */
static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    int rc = fault.real->xOpen(fault.real, name, file, flags, out);
    if (rc != SQLITE_OK || file->pMethods == NULL)
        return rc;
    int i = 0;
    while (i < TABLES_MAX && fault.real_methods[i] != NULL && fault.real_methods[i] != file->pMethods)
        i++;
    assert_true(i < TABLES_MAX);
    if (fault.real_methods[i] == NULL) {
        fault.real_methods[i] = file->pMethods;
        fault.methods[i] = *file->pMethods;
        fault.methods[i].xWrite = fault_write;
        fault.methods[i].xSync = fault_sync;
    }
    assert_ptr_equal(fault.real_methods[i]->xWrite, fault.real_methods[0]->xWrite);
    file->pMethods = &fault.methods[i];
    return rc;
}

static int install(void **fixture) {
    (void)fixture;
    fault.real = sqlite3_vfs_find(NULL);
    fault.vfs = *fault.real;
    fault.vfs.pNext = NULL;
    fault.vfs.zName = "fault";
    fault.vfs.xOpen = fault_open;
    fault.writes_left = fault.syncs_left = -1;
    return sqlite3_vfs_register(&fault.vfs, 1) == SQLITE_OK ? 0 : -1;
}

static int uninstall(void **fixture) {
    (void)fixture;
    return sqlite3_vfs_unregister(&fault.vfs) == SQLITE_OK ? 0 : -1;
}

/* How many messages there are. */
static int64_t ready(struct store *store) {
    struct counts counts;
    pawl_error err;
    if (store->ops->view.counts(store, &counts, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return counts.kind[KIND_OUTBOX].ready;
}

/* One put of 200 messages while the nth call fails; returns whether the call came so far. */
static bool put_with_fault(const struct sqlitefile *file, int number, int *left, int nth) {
    static pawl_outgoing messages[200];
    struct store_config config = {.url = file->path, .durability = DURABILITY_FULL};
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    struct put_result result;
    pawl_error err = {0};
    for (size_t i = 0; i < 200; i++)
        messages[i] = (pawl_outgoing){.stream = STR("a"),
                                      .type = STR("made"),
                                      .payload = STR("{\"text\": \"some bytes to fill pages\"}")};
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = messages, .count = 200};
    put.request = sqlitefile_id(number);
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
    int64_t before = ready(store);
    fault.fired = false;
    *left = nth;
    pawl_status status = store->ops->core.messages_put(store, &put, arena, &result, &err);
    *left = -1;
    if (!fault.fired) {
        assert_int_equal(status, PAWL_OK);
    } else if (status == PAWL_OK) {
        assert_int_equal(ready(store), before + 200); /* what failed came after the commit */
    } else {
        /* A log that was not written has no commit in it; one that was not synced may have it after a crash.
         */
        assert_int_equal(status, left == &fault.writes_left ? PAWL_UNAVAILABLE : PAWL_UNKNOWN);
        assert_int_equal(ready(store), before);
        /* The same request again: once, whatever happened before. */
        assert_int_equal(store->ops->core.messages_put(store, &put, arena, &result, &err), PAWL_OK);
    }
    store_close(store);
    store = sqlitefile_open(file->path);
    assert_int_equal(ready(store), before + 200);
    sqlitefile_check(store);
    store_close(store);
    arena_free(arena);
    return fault.fired;
}

static void every_write_may_fail(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    int nth = 0;
    sqlitefile_migrate(file->path);
    while (put_with_fault(file, nth + 1, &fault.writes_left, nth))
        nth++;
    assert_true(nth > 10); /* the log's header and its frames */
    assert_string_equal(sqlitefile_sql(file->path, "PRAGMA integrity_check", text), "ok");
}

static void every_sync_may_fail(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    int nth = 0;
    sqlitefile_migrate(file->path);
    while (put_with_fault(file, nth + 1, &fault.syncs_left, nth))
        nth++;
    assert_true(nth > 0);
    assert_string_equal(sqlitefile_sql(file->path, "PRAGMA integrity_check", text), "ok");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(every_write_may_fail),
        FILE_TEST(every_sync_may_fail),
    };
    return cmocka_run_group_tests_name("sqlite_faults", tests, install, uninstall);
}
