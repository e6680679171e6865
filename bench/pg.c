/* Plain libpq, as a program without pawl would use it. */
#include "pg.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void quiet(void *self, const char *message) {
    (void)self;
    (void)message; /* notices of DROP … IF EXISTS */
}

pawl_status pg_connect(const char *url, PGconn **conn, pawl_error *err) {
    PGconn *made = PQconnectdb(url);
    if (made == NULL || PQstatus(made) != CONNECTION_OK) {
        pawl_status status = error_set(err, PAWL_UNAVAILABLE, "connect", "%s",
                                       made != NULL ? PQerrorMessage(made) : "out of memory");
        PQfinish(made);
        return status;
    }
    PQsetNoticeProcessor(made, quiet, NULL);
    *conn = made;
    return PAWL_OK;
}

pawl_status pg_check(PGconn *conn, const PGresult *result, pawl_error *err) {
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_PIPELINE_SYNC:
        return PAWL_OK;
    default:
        return error_set(err, PAWL_INTERNAL, "sql", "%s",
                         result != NULL ? PQresultErrorMessage(result) : PQerrorMessage(conn));
    }
}

pawl_status pg_run(PGconn *conn, const char *sql, pawl_error *err) {
    PGresult *result = PQexec(conn, sql);
    pawl_status status = pg_check(conn, result, err);
    PQclear(result);
    return status;
}

pawl_status pg_run_file(PGconn *conn, const struct bench_options *options, const char *name,
                        pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    pawl_status status = bench_sql(options, arena, name, &sql, err);
    if (status == PAWL_OK)
        status = pg_run(conn, sql, err);
    arena_free(arena);
    return status;
}

pawl_status pg_prepare_file(PGconn *conn, const struct bench_options *options, const char *name,
                            pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    PGresult *result = NULL;
    pawl_status status = bench_sql(options, arena, name, &sql, err);
    if (status != PAWL_OK)
        goto done;
    result = PQprepare(conn, name, sql, 0, NULL);
    status = pg_check(conn, result, err);
done:
    PQclear(result);
    arena_free(arena);
    return status;
}

pawl_status pg_number(PGconn *conn, const struct bench_options *options, const char *name, int64_t *value,
                      pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    PGresult *result = NULL;
    pawl_status status = bench_sql(options, arena, name, &sql, err);
    if (status != PAWL_OK)
        goto done;
    result = PQexec(conn, sql);
    status = pg_check(conn, result, err);
    if (status == PAWL_OK && (PQntuples(result) < 1 || PQnfields(result) < 1))
        status = error_set(err, PAWL_NOT_FOUND, "sql", "no row from %s", name);
    if (status == PAWL_OK)
        *value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
done:
    PQclear(result);
    arena_free(arena);
    return status;
}

static void put_u32(struct buf *buf, uint32_t value) {
    uint32_t big = htobe32(value);
    buf_append(buf, &big, sizeof(big));
}

void pg_array_begin(struct buf *buf, enum pg_oid type, size_t count) {
    buf_reset(buf);
    put_u32(buf, count > 0 ? 1 : 0); /* dimensions */
    put_u32(buf, 1);                 /* NULLs are possible */
    put_u32(buf, (uint32_t)type);
    if (count > 0) {
        put_u32(buf, (uint32_t)count);
        put_u32(buf, 1); /* lower bound */
    }
}

void pg_array_bytes(struct buf *buf, const void *ptr, size_t len) {
    put_u32(buf, (uint32_t)len);
    buf_append(buf, ptr, len);
}

void pg_array_text(struct buf *buf, pawl_str text) {
    if (text.ptr == NULL)
        put_u32(buf, UINT32_MAX); /* -1 = NULL */
    else
        pg_array_bytes(buf, text.ptr, text.len);
}

void pg_array_int4(struct buf *buf, int32_t value) {
    put_u32(buf, 4);
    put_u32(buf, (uint32_t)value);
}

void pg_array_int8(struct buf *buf, int64_t value) {
    uint64_t big = htobe64((uint64_t)value);
    put_u32(buf, 8);
    buf_append(buf, &big, sizeof(big));
}

int64_t pg_get_int8(const PGresult *result, int row, int column) {
    uint64_t big = 0;
    memcpy(&big, PQgetvalue(result, row, column), sizeof(big));
    return (int64_t)be64toh(big);
}
