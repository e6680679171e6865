/* Plain libpq for the floors: connections, statements from files, arrays in binary form. */
#ifndef BENCH_PG_H
#define BENCH_PG_H

#include <libpq-fe.h>

#include "base/buf.h"
#include "bench.h"

/* PQfinish releases it. */
pawl_status pg_connect(const char *url, PGconn **conn, pawl_error *err);

/* Runs statements that return nothing we want. */
pawl_status pg_run(PGconn *conn, const char *sql, pawl_error *err);
pawl_status pg_run_file(PGconn *conn, const struct bench_options *options, const char *name, pawl_error *err);

/* Prepares the statement of the file under the file's name. */
pawl_status pg_prepare_file(PGconn *conn, const struct bench_options *options, const char *name,
                            pawl_error *err);

/* PAWL_OK when the result is one of success, else its text; NULL is a failure of the connection. */
pawl_status pg_check(PGconn *conn, const PGresult *result, pawl_error *err);

/* The first column of the first row of the file's query, as a number. */
pawl_status pg_number(PGconn *conn, const struct bench_options *options, const char *name, int64_t *value,
                      pawl_error *err);

enum pg_oid { PG_OID_INT2 = 21, PG_OID_INT4 = 23, PG_OID_INT8 = 20, PG_OID_TEXT = 25, PG_OID_UUID = 2950 };

/* A one-dimensional array parameter: begin, one append per element, then buf.ptr and buf.len. */
void pg_array_begin(struct buf *buf, enum pg_oid type, size_t count);
void pg_array_bytes(struct buf *buf, const void *ptr, size_t len);
void pg_array_text(struct buf *buf, pawl_str text); /* absent = NULL */
void pg_array_int4(struct buf *buf, int32_t value);
void pg_array_int8(struct buf *buf, int64_t value);

/* A number of a binary result. */
int64_t pg_get_int8(const PGresult *result, int row, int column);

#endif
