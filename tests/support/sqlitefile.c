/* A SQLite database of one test, in a directory of its own. */
#include "support/sqlitefile.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "support/check.h"

int sqlitefile_setup(void **fixture) {
    struct sqlitefile *file = calloc(1, sizeof *file);
    if (file == NULL)
        return -1;
    snprintf(file->dir, sizeof file->dir, "/tmp/pawl-sqlite-XXXXXX");
    if (mkdtemp(file->dir) == NULL) {
        free(file);
        return -1;
    }
    snprintf(file->path, sizeof file->path, "%s/work.db", file->dir);
    *fixture = file;
    return 0;
}

int sqlitefile_teardown(void **fixture) {
    struct sqlitefile *file = *fixture;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", file->dir);
    int failed = system(command);
    free(file);
    return failed;
}

struct store_config sqlitefile_config(const char *path) {
    return (struct store_config){.url = path, .durability = DURABILITY_NORMAL};
}

void sqlitefile_migrate(const char *path) {
    struct store_config config = sqlitefile_config(path);
    struct migrate_config migrate = {.partition_count = 64, .lane_count = 4};
    struct migrate_result result = {0};
    pawl_error err;
    pawl_status status = store_migrate(&config, &migrate, &result, &err);
    if (status != PAWL_OK)
        fail_msg("%s", err.text);
}

struct store *sqlitefile_open(const char *path) {
    struct store_config config = sqlitefile_config(path);
    struct store *store = NULL;
    pawl_error err;
    pawl_status status = store_open(&config, &store, &err);
    if (status != PAWL_OK)
        fail_msg("%s", err.text);
    return store;
}

pawl_uuid sqlitefile_id(int number) {
    pawl_uuid id = {{0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80}};
    id.b[14] = (uint8_t)(number >> 8);
    id.b[15] = (uint8_t)number;
    return id;
}

void sqlitefile_join(struct store *store, int number) {
    struct instance_new in = {.id = sqlitefile_id(number),
                              .service = STR("orders"),
                              .host = STR("here"),
                              .pid = (int)getpid(),
                              .kinds = KIND_BIT(KIND_OUTBOX),
                              .lease_ms = PAWL_LEASE_MS_MAX};
    struct instance_grant grant;
    pawl_error err;
    if (store->ops->core.instance_register(store, &in, &grant, &err) != PAWL_OK)
        fail_msg("%s", err.text);
}

pawl_status sqlitefile_put(struct store *store, int number, const char *stream, pawl_error *err) {
    pawl_outgoing message = {.id = sqlitefile_id(number),
                             .stream = str_from(stream),
                             .type = STR("made"),
                             .payload = STR("{\"n\": 1}")};
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
    struct put_result result;
    struct arena *arena = arena_create(0);
    pawl_status status = store->ops->core.messages_put(store, &put, arena, &result, err);
    arena_free(arena);
    return status;
}

const char *sqlitefile_sql(const char *path, const char *sql, char text[static 64]) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    text[0] = '\0';
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW && sqlite3_column_text(stmt, 0) != NULL)
        snprintf(text, 64, "%s", (const char *)sqlite3_column_text(stmt, 0));
    assert_true(rc == SQLITE_ROW || rc == SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return text;
}

void sqlitefile_check(struct store *store) {
    struct arena *arena = arena_create(0);
    struct violations found = {0};
    pawl_error err;
    assert_int_equal(store->ops->view.check(store, arena, &found, &err), PAWL_OK);
    if (found.count > 0)
        fail_msg("%.*s: %.*s", STR_ARG(found.rows[0].invariant), STR_ARG(found.rows[0].detail));
    arena_free(arena);
}
