/* What all measurements need: whose turn it is, the floors' statements, a calm store. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench.h"
#include "pg.h"

bool bench_is_postgres(const char *url) {
    return strncmp(url, "postgres://", 11) == 0 || strncmp(url, "postgresql://", 13) == 0;
}

const char *bench_sqlite_path(const char *url) { return strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url; }

void bench_unlink_sqlite(const char *url) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s%s", bench_sqlite_path(url), suffixes[i]);
        unlink(path); /* it may not be there */
    }
}

const struct side_ops *bench_side(const struct bench_options *options) {
    bool postgres = bench_is_postgres(options->url);
    if (strcmp(options->side, "pawl") == 0)
        return &side_pawl;
    if (strcmp(options->side, "floor") == 0)
        return postgres ? &side_floor_postgres : &side_floor_sqlite;
    if (strcmp(options->side, "pgq") == 0 && postgres)
        return &side_pgq;
    return NULL;
}

static char *file_read(struct arena *arena, const char *path) {
    char *content = arena_alloc(arena, BENCH_SQL_BYTES_MAX);
    FILE *file = content == NULL ? NULL : fopen(path, "re");
    if (file == NULL)
        return NULL;
    size_t len = fread(content, 1, BENCH_SQL_BYTES_MAX - 1, file);
    fclose(file);
    content[len] = '\0';
    return content;
}

pawl_status bench_sql(const struct bench_options *options, struct arena *arena, const char *name,
                      const char **text, pawl_error *err) {
    const char *slash = strchr(name, '/');
    int dialect = slash == NULL ? 0 : (int)(slash - name);
    char *path = arena_printf(arena, "%s/%.*s.sql", options->sql_dir, dialect, name);
    char *heading = arena_printf(arena, "-- name: %s\n", name + dialect + 1);
    char *content = path == NULL ? NULL : file_read(arena, path);
    char *at = content == NULL || heading == NULL ? NULL : strstr(content, heading);
    if (at == NULL)
        return error_set(err, PAWL_NOT_FOUND, "sql", "%s cannot be read from %s", name, options->sql_dir);
    at += strlen(heading);
    char *end = strstr(at, "\n-- name: ");
    if (end != NULL)
        *end = '\0';
    *text = at;
    return PAWL_OK;
}

static pawl_status calm_sqlite(const struct bench_options *options, pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    sqlite3 *db = NULL;
    pawl_status status = bench_sql(options, arena, "sqlite/checkpoint", &sql, err);
    if (status == PAWL_OK && (sqlite3_open(bench_sqlite_path(options->url), &db) != SQLITE_OK ||
                              sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK))
        status = error_set(err, PAWL_INTERNAL, "calm", "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    arena_free(arena);
    return status;
}

pawl_status bench_calm(const struct bench_options *options, pawl_error *err) {
    if (!bench_is_postgres(options->url))
        return calm_sqlite(options, err);
    PGconn *conn = NULL;
    pawl_status status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/calm", err);
    PQfinish(conn);
    return status;
}
