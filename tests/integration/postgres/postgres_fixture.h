/* A database of one's own with a session on it, for the tests of the PostgreSQL store. */
#ifndef INTEGRATION_POSTGRES_FIXTURE_H
#define INTEGRATION_POSTGRES_FIXTURE_H

#include "support/check.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/store.h"
#include "support/pgserver.h"

enum { FIXTURE_VALUE_BYTES = 2048 };

struct fixture {
    char url[PGSERVER_URL_BYTES];
    PGconn *conn; /* as the superuser */
    char value[FIXTURE_VALUE_BYTES];
    pawl_error err;
};

/* The first value of the result; fails the test when a statement does. Valid until the next call. */
static inline const char *value_on(struct fixture *f, PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s\n%s", sql, PQerrorMessage(conn));
    snprintf(f->value, sizeof f->value, "%s",
             status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return f->value;
}

static inline const char *value(struct fixture *f, const char *sql) { return value_on(f, f->conn, sql); }

/* The SQLSTATE that sql fails with, "" when it does not fail. */
static inline const char *sqlstate_on(struct fixture *f, PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(f->value, sizeof f->value, "%s", sqlstate != NULL ? sqlstate : "");
    PQclear(result);
    return f->value;
}

/* Makes the schema and opens it; both must work. */
static inline struct store *store_made(struct fixture *f, const char *schema) {
    struct store_config config = {.url = f->url, .schema = schema};
    struct migrate_config counts = {.partition_count = 1000, .lane_count = 8};
    struct migrate_result made;
    struct store *store = NULL;
    if (store_migrate(&config, &counts, &made, &f->err) != PAWL_OK ||
        store_open(&config, &store, &f->err) != PAWL_OK)
        fail_msg("%s: %s", f->err.op, f->err.text);
    return store;
}

static inline int fixture_setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL || !pgserver_create_database("store", f->url))
        return -1;
    f->conn = PQconnectdb(f->url);
    *state = f;
    return PQstatus(f->conn) == CONNECTION_OK ? 0 : -1;
}

static inline int fixture_teardown(void **state) {
    struct fixture *f = *state;
    PQfinish(f->conn);
    pgserver_drop_database(f->url);
    free(f);
    return 0;
}

#endif
