/* The floors of a projection: reading and upserting by hand. */
#include <endian.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "pg.h"
#include "workloads/project.h"

/* ---- PostgreSQL */

struct hand {
    PGconn *conn;
    struct buf streams, versions, payloads;
    int64_t position; /* of the last event that was read */
    int count;        /* events of the last page */
    bool by_stream;   /* one checkpoint for each stream instead of one cursor */
};

static pawl_status send(struct hand *hand, const char *name, int count, const char *const *values,
                        const int *lengths, pawl_error *err) {
    static const int binary[3] = {1, 1, 1};
    if (PQsendQueryPrepared(hand->conn, name, count, values, lengths, binary, 1) != 1)
        return error_set(err, PAWL_INTERNAL, "sql", "%s", PQerrorMessage(hand->conn));
    return PAWL_OK;
}

static pawl_status send_upsert(struct hand *hand, pawl_error *err) {
    int64_t position = (int64_t)htobe64((uint64_t)hand->position);
    const char *values[] = {hand->streams.ptr, hand->versions.ptr, hand->payloads.ptr};
    int lengths[] = {(int)hand->streams.len, (int)hand->versions.len, (int)hand->payloads.len};
    const char *at[] = {(const char *)&position};
    int at_length = sizeof(position);
    pawl_status status = send(hand, "postgres/floor_project_upsert", 3, values, lengths, err);
    if (status != PAWL_OK)
        return status;
    return hand->by_stream ? send(hand, "postgres/floor_project_checkpoint", 2, values, lengths, err)
                           : send(hand, "postgres/floor_project_cursor", 1, at, &at_length, err);
}

static void keep(struct hand *hand, const PGresult *rows) {
    enum { POSITION, STREAM, VERSION, PAYLOAD = 5 };
    hand->count = PQntuples(rows);
    pg_array_begin(&hand->streams, PG_OID_TEXT, (size_t)hand->count);
    pg_array_begin(&hand->versions, PG_OID_INT8, (size_t)hand->count);
    pg_array_begin(&hand->payloads, PG_OID_TEXT, (size_t)hand->count);
    for (int i = 0; i < hand->count; i++) {
        pg_array_bytes(&hand->streams, PQgetvalue(rows, i, STREAM), (size_t)PQgetlength(rows, i, STREAM));
        pg_array_bytes(&hand->versions, PQgetvalue(rows, i, VERSION), 8);
        pg_array_bytes(&hand->payloads, PQgetvalue(rows, i, PAYLOAD), (size_t)PQgetlength(rows, i, PAYLOAD));
        hand->position = pg_get_int8(rows, i, POSITION);
    }
}

/* One result of a pipeline and the NULL after it; rows are kept. */
static pawl_status receive(struct hand *hand, bool rows, pawl_error *err) {
    PGresult *result = PQgetResult(hand->conn);
    pawl_status status = pg_check(hand->conn, result, err);
    if (status == PAWL_OK && rows)
        keep(hand, result);
    if (status == PAWL_OK && PQresultStatus(result) != PGRES_PIPELINE_SYNC)
        PQclear(PQgetResult(hand->conn));
    PQclear(result);
    return status;
}

/* What was read is upserted, and the next page read: one transaction, one round trip. */
static pawl_status page(struct hand *hand, int batch, pawl_error *err) {
    bool upsert = hand->count > 0;
    pawl_status status = upsert ? send_upsert(hand, err) : PAWL_OK;
    int64_t position = (int64_t)htobe64((uint64_t)hand->position);
    int32_t limit = (int32_t)htobe32((uint32_t)batch);
    const char *values[] = {(const char *)&position, (const char *)&limit};
    int lengths[] = {sizeof(position), sizeof(limit)};
    if (status == PAWL_OK)
        status = send(hand, "postgres/floor_project_read", 2, values, lengths, err);
    if (status == PAWL_OK && PQpipelineSync(hand->conn) != 1)
        status = error_set(err, PAWL_INTERNAL, "sql", "%s", PQerrorMessage(hand->conn));
    for (int i = 0; status == PAWL_OK && upsert && i < 2; i++)
        status = receive(hand, false, err);
    if (status == PAWL_OK)
        status = receive(hand, true, err);
    return status == PAWL_OK ? receive(hand, false, err) : status;
}

static pawl_status fill(struct hand *hand, const struct bench_options *options, pawl_error *err) {
    int64_t messages = (int64_t)htobe64((uint64_t)options->messages);
    int64_t streams = (int64_t)htobe64((uint64_t)options->streams);
    const char *values[] = {(const char *)&messages, (const char *)&streams};
    int lengths[] = {sizeof(messages), sizeof(streams)};
    int binary[] = {1, 1};
    pawl_status status = pg_run_file(hand->conn, options, "postgres/floor_project_fill", err);
    if (status == PAWL_OK)
        status = pg_prepare_file(hand->conn, options, "postgres/floor_project_events", err);
    if (status != PAWL_OK)
        return status;
    PGresult *result =
        PQexecPrepared(hand->conn, "postgres/floor_project_events", 2, values, lengths, binary, 1);
    status = pg_check(hand->conn, result, err);
    PQclear(result);
    if (status == PAWL_OK && hand->by_stream)
        status = pg_run_file(hand->conn, options, "postgres/floor_project_checkpoints", err);
    return status == PAWL_OK ? bench_calm(options, err) : status;
}

pawl_status project_floor_postgres(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    struct hand hand = {.by_stream = strcmp(options->side, "checkpoints") == 0};
    const char *const statements[] = {"postgres/floor_project_read", "postgres/floor_project_upsert",
                                      hand.by_stream ? "postgres/floor_project_checkpoint"
                                                     : "postgres/floor_project_cursor"};
    buf_init(&hand.streams, 0);
    buf_init(&hand.versions, 0);
    buf_init(&hand.payloads, 0);
    pawl_status status = pg_connect(options->url, &hand.conn, err);
    if (status == PAWL_OK)
        status = fill(&hand, options, err);
    for (size_t i = 0; status == PAWL_OK && i < sizeof(statements) / sizeof(*statements); i++)
        status = pg_prepare_file(hand.conn, options, statements[i], err);
    if (status == PAWL_OK && PQenterPipelineMode(hand.conn) != 1)
        status = error_set(err, PAWL_INTERNAL, "bench", "no pipeline mode");
    int64_t begin_us = clock_boot_us();
    do {
        if (status == PAWL_OK)
            status = page(&hand, options->batch, err);
    } while (status == PAWL_OK && hand.count > 0);
    *spent_us = clock_boot_us() - begin_us;
    buf_free(&hand.streams);
    buf_free(&hand.versions);
    buf_free(&hand.payloads);
    PQfinish(hand.conn);
    return status;
}

/* ---- SQLite */

enum { READ, UPSERT, CURSOR, BEGIN, COMMIT, STATEMENTS };

static pawl_status fault(sqlite3 *db, pawl_error *err) {
    return error_set(err, PAWL_INTERNAL, "sqlite", "%s", sqlite3_errmsg(db));
}

static pawl_status step(sqlite3 *db, sqlite3_stmt *statement, pawl_error *err) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? PAWL_OK : fault(db, err);
}

static pawl_status sqlite_page(sqlite3 *db, sqlite3_stmt **all, int batch, int64_t *position, int *count,
                               pawl_error *err) {
    enum { POSITION, STREAM, VERSION, PAYLOAD = 5 };
    int code = SQLITE_DONE;
    pawl_status status = step(db, all[BEGIN], err);
    *count = 0;
    sqlite3_bind_int64(all[READ], 1, *position);
    sqlite3_bind_int(all[READ], 2, batch);
    while (status == PAWL_OK && (code = sqlite3_step(all[READ])) == SQLITE_ROW) {
        *position = sqlite3_column_int64(all[READ], POSITION);
        sqlite3_bind_value(all[UPSERT], 1, sqlite3_column_value(all[READ], STREAM));
        sqlite3_bind_value(all[UPSERT], 2, sqlite3_column_value(all[READ], VERSION));
        sqlite3_bind_value(all[UPSERT], 3, sqlite3_column_value(all[READ], PAYLOAD));
        status = step(db, all[UPSERT], err);
        (*count)++;
    }
    sqlite3_reset(all[READ]);
    if (status == PAWL_OK && code != SQLITE_DONE)
        status = fault(db, err);
    sqlite3_bind_int64(all[CURSOR], 1, *position);
    if (status == PAWL_OK)
        status = step(db, all[CURSOR], err);
    return status == PAWL_OK ? step(db, all[COMMIT], err) : status;
}

pawl_status project_floor_sqlite(const struct bench_options *options, int64_t *spent_us, pawl_error *err) {
    static const char *const files[STATEMENTS] = {"sqlite/project_read", "sqlite/project_upsert",
                                                  "sqlite/project_cursor", "sqlite/begin", "sqlite/commit"};
    struct arena *arena = arena_create(0);
    sqlite3 *db = NULL;
    sqlite3_stmt *all[STATEMENTS] = {NULL};
    const char *sql = NULL;
    int64_t position = 0;
    int count = 1;
    pawl_status status = sqlite3_open(bench_sqlite_path(options->url), &db) == SQLITE_OK ? PAWL_OK
                                                                                         : fault(db, err);
    if (status == PAWL_OK)
        status = bench_sql(options, arena, options->durable ? "sqlite/connect_full" : "sqlite/connect_normal",
                           &sql, err);
    if (status == PAWL_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = fault(db, err);
    for (int i = 0; status == PAWL_OK && i < STATEMENTS; i++) {
        status = bench_sql(options, arena, files[i], &sql, err);
        if (status == PAWL_OK &&
            sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &all[i], NULL) != SQLITE_OK)
            status = fault(db, err);
    }
    int64_t begin_us = clock_boot_us();
    while (status == PAWL_OK && count > 0)
        status = sqlite_page(db, all, options->batch, &position, &count, err);
    *spent_us = clock_boot_us() - begin_us;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(all[i]);
    sqlite3_close(db);
    arena_free(arena);
    return status;
}

pawl_status project_sqlite_run(const struct bench_options *options, const char *name, int64_t *value,
                               pawl_error *err) {
    struct arena *arena = arena_create(0);
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    const char *sql = NULL;
    pawl_status status = bench_sql(options, arena, name, &sql, err);
    if (status == PAWL_OK && sqlite3_open(bench_sqlite_path(options->url), &db) != SQLITE_OK)
        status = fault(db, err);
    if (status == PAWL_OK && value == NULL && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = fault(db, err);
    if (status == PAWL_OK && value != NULL) {
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_step(statement) == SQLITE_ROW)
            *value = sqlite3_column_int64(statement, 0);
        else
            status = fault(db, err);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    arena_free(arena);
    return status;
}
