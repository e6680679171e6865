/* The floors of an append: plain INSERTs into a table of the same shape, versions counted by the client. */
#include <endian.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "pg.h"

enum { COLUMNS = 3, PARAMS = 5, ARRAY_HEADER_BYTES = 24, BUSY_MS = 60000 };

/* ---- PostgreSQL */

struct pg_append_side {
    struct side side;
    PGconn *conn;
    struct buf arrays[COLUMNS];
    int64_t version; /* of the connection: no two connections share a stream */
};

static pawl_status pg_append_prepare(const struct bench_options *options, pawl_error *err) {
    PGconn *conn = NULL;
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/floor_append_table", err);
    PQfinish(conn);
    return status;
}

static void pg_append_close(struct side *side) {
    struct pg_append_side *self = (struct pg_append_side *)side;
    if (self == NULL)
        return;
    for (int i = 0; i < COLUMNS; i++)
        buf_free(&self->arrays[i]);
    PQfinish(self->conn);
    free(self);
}

static pawl_status pg_append_open(const struct bench_options *options, int index, int count,
                                  struct side **side, pawl_error *err) {
    (void)index;
    (void)count;
    struct pg_append_side *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    self->side.options = options;
    for (int i = 0; i < COLUMNS; i++)
        buf_init(&self->arrays[i], 0);
    pawl_status status = pg_connect(options->url, &self->conn, err);
    if (status == PAWL_OK)
        status = pg_prepare_file(self->conn, options, "postgres/floor_append_one", err);
    if (status == PAWL_OK)
        status = pg_prepare_file(self->conn, options, "postgres/floor_append_batch", err);
    if (status != PAWL_OK)
        pg_append_close(&self->side);
    else
        *side = &self->side;
    return status;
}

/* For a single event the parameters are the elements themselves: the bytes after the array's header. */
static pawl_status pg_append_put(struct side *side, const pawl_outgoing *messages, size_t count,
                                 pawl_error *err) {
    static const enum pg_oid types[COLUMNS] = {PG_OID_UUID, PG_OID_TEXT, PG_OID_TEXT};
    static const int binary[PARAMS] = {1, 1, 1, 1, 1};
    struct pg_append_side *self = (struct pg_append_side *)side;
    int64_t first = (int64_t)htobe64((uint64_t)self->version + 1);
    const char *values[PARAMS] = {messages[0].stream.ptr, (const char *)&first};
    int lengths[PARAMS] = {(int)messages[0].stream.len, sizeof(first)};
    for (int i = 0; i < COLUMNS; i++)
        pg_array_begin(&self->arrays[i], types[i], count);
    for (size_t i = 0; i < count; i++) {
        pg_array_bytes(&self->arrays[0], messages[i].id.b, sizeof(messages[i].id.b));
        pg_array_text(&self->arrays[1], messages[i].type);
        pg_array_text(&self->arrays[2], messages[i].payload);
    }
    int skip = count == 1 ? ARRAY_HEADER_BYTES : 0;
    for (int i = 0; i < COLUMNS; i++) {
        if (buf_status(&self->arrays[i], "append", err) != PAWL_OK)
            return PAWL_NO_MEMORY;
        values[PARAMS - COLUMNS + i] = self->arrays[i].ptr + skip;
        lengths[PARAMS - COLUMNS + i] = (int)self->arrays[i].len - skip;
    }
    PGresult *result =
        PQexecPrepared(self->conn, count == 1 ? "postgres/floor_append_one" : "postgres/floor_append_batch",
                       PARAMS, values, lengths, binary, 1);
    pawl_status status = pg_check(self->conn, result, err);
    PQclear(result);
    self->version += (int64_t)count;
    return status;
}

const struct side_ops side_append_postgres = {
    .prepare = pg_append_prepare,
    .open = pg_append_open,
    .close = pg_append_close,
    .put = pg_append_put,
};

/* ---- SQLite */

enum append_statement { APPEND_BEGIN, APPEND_COMMIT, APPEND_INSERT, APPEND_STATEMENTS };

struct file_append_side {
    struct side side;
    sqlite3 *db;
    sqlite3_stmt *statements[APPEND_STATEMENTS];
    int64_t version;
};

static pawl_status file_append_prepare(const struct bench_options *options, pawl_error *err) {
    return side_pawl.prepare(options, err);
}

static void file_append_close(struct side *side) {
    struct file_append_side *self = (struct file_append_side *)side;
    if (self == NULL)
        return;
    for (int i = 0; i < APPEND_STATEMENTS; i++)
        sqlite3_finalize(self->statements[i]);
    sqlite3_close(self->db);
    free(self);
}

static pawl_status file_append_fault(struct file_append_side *self, pawl_error *err) {
    return error_set(err, PAWL_INTERNAL, "sqlite", "%s", sqlite3_errmsg(self->db));
}

static pawl_status file_append_open_statements(struct file_append_side *self, pawl_error *err) {
    static const char *const files[APPEND_STATEMENTS] = {"sqlite/begin", "sqlite/commit", "sqlite/append"};
    const struct bench_options *options = self->side.options;
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    pawl_status status = bench_sql(
        options, arena, options->durable ? "sqlite/connect_full" : "sqlite/connect_normal", &sql, err);
    if (status == PAWL_OK && sqlite3_exec(self->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = file_append_fault(self, err);
    for (int i = 0; status == PAWL_OK && i < APPEND_STATEMENTS; i++) {
        status = bench_sql(options, arena, files[i], &sql, err);
        if (status == PAWL_OK && sqlite3_prepare_v3(self->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                    &self->statements[i], NULL) != SQLITE_OK)
            status = file_append_fault(self, err);
    }
    arena_free(arena);
    return status;
}

static pawl_status file_append_open(const struct bench_options *options, int index, int count,
                                    struct side **side, pawl_error *err) {
    (void)index;
    (void)count;
    struct file_append_side *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    self->side.options = options;
    pawl_status status = sqlite3_open(bench_sqlite_path(options->url), &self->db) == SQLITE_OK
                             ? PAWL_OK
                             : file_append_fault(self, err);
    if (status == PAWL_OK) {
        sqlite3_busy_timeout(self->db, BUSY_MS);
        status = file_append_open_statements(self, err);
    }
    if (status != PAWL_OK)
        file_append_close(&self->side);
    else
        *side = &self->side;
    return status;
}

static pawl_status file_append_step(struct file_append_side *self, enum append_statement which,
                                    pawl_error *err) {
    int code = sqlite3_step(self->statements[which]);
    sqlite3_reset(self->statements[which]);
    return code == SQLITE_DONE ? PAWL_OK : file_append_fault(self, err);
}

static pawl_status file_append_put(struct side *side, const pawl_outgoing *messages, size_t count,
                                   pawl_error *err) {
    struct file_append_side *self = (struct file_append_side *)side;
    sqlite3_stmt *insert = self->statements[APPEND_INSERT];
    int64_t now_ms = clock_wall_ms();
    pawl_status status = file_append_step(self, APPEND_BEGIN, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        sqlite3_bind_text(insert, 1, messages[0].stream.ptr, (int)messages[0].stream.len, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, ++self->version);
        sqlite3_bind_blob(insert, 3, messages[i].id.b, sizeof(messages[i].id.b), SQLITE_STATIC);
        sqlite3_bind_text(insert, 4, messages[i].type.ptr, (int)messages[i].type.len, SQLITE_STATIC);
        sqlite3_bind_text(insert, 5, messages[i].payload.ptr, (int)messages[i].payload.len, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 6, now_ms);
        status = file_append_step(self, APPEND_INSERT, err);
    }
    return status == PAWL_OK ? file_append_step(self, APPEND_COMMIT, err) : status;
}

const struct side_ops side_append_sqlite = {
    .prepare = file_append_prepare,
    .open = file_append_open,
    .close = file_append_close,
    .put = file_append_put,
};
