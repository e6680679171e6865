/* The state of an SQLite file: saved into memory, page by page. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "sweep/state.h"

struct sqlite_state {
    struct state state; /* first */
    sqlite3 *file, *saved;
    int64_t version; /* of the file when it was saved; another one says that somebody else wrote */
};

static void must(struct sqlite_state *self, int rc) {
    if (rc != SQLITE_OK)
        fail_msg("the observer: %s", sqlite3_errmsg(self->file));
}

/* Every row of the statement, its cells after one another. */
static void say_rows(struct sqlite_state *self, sqlite3 *db, const char *sql, FILE *out) {
    sqlite3_stmt *stmt = NULL;
    must(self, sqlite3_prepare_v2(db, sql, -1, &stmt, NULL));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const void *cell = sqlite3_column_blob(stmt, i);
            fprintf(out, "%d:", sqlite3_column_type(stmt, i));
            if (cell != NULL)
                (void)fwrite(cell, 1, (size_t)sqlite3_column_bytes(stmt, i), out);
            fputc('\n', out);
        }
    }
    must(self, sqlite3_finalize(stmt));
}

struct text {
    char *ptr;
    size_t len;
};

/* What ("*": all rows) of each table. */
static struct text say_tables(struct sqlite_state *self, sqlite3 *db, const char *what) {
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.ptr, &text.len);
    sqlite3_stmt *stmt = NULL;
    assert_non_null(out);
    must(self, sqlite3_prepare_v2(db,
                                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                                  "'sqlite_stat%' ORDER BY name",
                                  -1, &stmt, NULL));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", what, sqlite3_column_text(stmt, 0));
        fprintf(out, "%s ", (const char *)sqlite3_column_text(stmt, 0));
        say_rows(self, db, sql, out);
        sqlite3_free(sql);
    }
    must(self, sqlite3_finalize(stmt));
    assert_int_equal(fclose(out), 0);
    return text;
}

static int64_t version_read(struct sqlite_state *self) {
    sqlite3_stmt *stmt = NULL;
    must(self, sqlite3_prepare_v2(self->file, "PRAGMA data_version", -1, &stmt, NULL));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t version = sqlite3_column_int64(stmt, 0);
    must(self, sqlite3_finalize(stmt));
    return version;
}

static void copy(struct sqlite_state *self, sqlite3 *to, sqlite3 *from) {
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    must(self, sqlite3_backup_finish(backup));
    self->version = version_read(self);
}

static struct state *open_state(const struct store_config *config) {
    struct sqlite_state *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->state.ops = &state_sqlite;
    must(self, sqlite3_open(store_sqlite_path(config->url), &self->file));
    must(self, sqlite3_busy_timeout(self->file, 10000));
    must(self, sqlite3_open(":memory:", &self->saved));
    self->version = -1;
    return &self->state;
}

static void close_state(struct state *state) {
    struct sqlite_state *self = (struct sqlite_state *)(void *)state;
    sqlite3_close(self->file);
    sqlite3_close(self->saved);
    free(self);
}

static void save(struct state *state) {
    struct sqlite_state *self = (struct sqlite_state *)(void *)state;
    if (version_read(self) != self->version)
        copy(self, self->saved, self->file);
}

static bool same(struct state *state) {
    struct sqlite_state *self = (struct sqlite_state *)(void *)state;
    if (version_read(self) == self->version)
        return true;
    struct text now = say_tables(self, self->file, "*"), then = say_tables(self, self->saved, "*");
    bool equal = now.len == then.len && memcmp(now.ptr, then.ptr, now.len) == 0;
    free(now.ptr);
    free(then.ptr);
    return equal;
}

static void restore(struct state *state) {
    struct sqlite_state *self = (struct sqlite_state *)(void *)state;
    copy(self, self->file, self->saved);
}

static char *counts(struct state *state) {
    struct sqlite_state *self = (struct sqlite_state *)(void *)state;
    return say_tables(self, self->file, "count(*)").ptr;
}

const struct state_ops state_sqlite = {open_state, close_state, save, same, restore, counts};
