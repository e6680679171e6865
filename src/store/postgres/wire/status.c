/* Mapping SQLSTATEs to statuses and error texts. */
#include "store/postgres/wire/status.h"

#include <string.h>

#include "base/error.h"

/* The first row whose code is a prefix of the SQLSTATE decides. */
static const struct {
    const char *code;
    pawl_status status;
} meanings[] =
    {
        {"PW001", PAWL_INVALID},     {"PW002", PAWL_NOT_FOUND},
        {"PW003", PAWL_CONFLICT},    {"PW004", PAWL_STALE},
        {"PW005", PAWL_BUSY},        {"08", PAWL_UNAVAILABLE}, /* connection */
        {"22", PAWL_INVALID},        /* data: 22P02 not JSON, 22021 not UTF-8, 22P05 … */
        {"23505", PAWL_CONFLICT},    /* another transaction was first: with the id of an event, say */
        {"23", PAWL_INVALID},        /* one of our constraints, with a descriptive name */
        {"25006", PAWL_UNAVAILABLE}, /* read-only: a standby, or a primary that is being demoted */
        {"28", PAWL_UNAVAILABLE},    /* the server does not let us in */
        {"3D000", PAWL_UNAVAILABLE}, /* no such database */
        {"3F000", PAWL_CONFLICT},    /* no such schema */
        {"40001", PAWL_BUSY},        {"40P01", PAWL_BUSY},
        {"42501", PAWL_CONFLICT}, /* no rights: the state of the database forbids it */
        {"42P01", PAWL_CONFLICT}, /* no such table: not migrated */
        {"42883", PAWL_CONFLICT}, /* no such function: migrated by another version */
        {"53", PAWL_UNAVAILABLE}, /* disk, memory, connections */
        {"54", PAWL_INVALID},     /* too big for the server */
        {"55P03", PAWL_BUSY},     /* lock_timeout */
        {"57014", PAWL_BUSY},     /* statement_timeout, or cancelled */
        {"57P", PAWL_UNAVAILABLE},   {"58", PAWL_UNAVAILABLE}, /* the server's own I/O */
};

/* The status of an SQLSTATE; NULL or empty (no answer from a server) is PAWL_UNAVAILABLE. */
static pawl_status pg_status_from_sqlstate(const char *sqlstate) {
    if (sqlstate == NULL || sqlstate[0] == '\0')
        return PAWL_UNAVAILABLE;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(sqlstate, meanings[i].code, strlen(meanings[i].code)) == 0)
            return meanings[i].status;
    }
    return PAWL_INTERNAL;
}

bool pg_status_is_collision(const char *sqlstate) {
    return sqlstate != NULL && (strcmp(sqlstate, "40001") == 0 || strcmp(sqlstate, "40P01") == 0);
}

bool pg_status_is_outage(const char *sqlstate) {
    return sqlstate == NULL || sqlstate[0] == '\0' || strncmp(sqlstate, "08", 2) == 0 ||
           strncmp(sqlstate, "57P", 3) == 0;
}

/* The error names the role that has the missing right; the server only names what was refused. */
static pawl_status right_missing(const char *message, const char *schema, const char *op, pawl_error *err) {
    if (strstr(message, "for database") != NULL)
        return error_set(err, PAWL_CONFLICT, op,
                         "%s: this login lacks the right; a new schema needs CREATE on the database",
                         message);
    if (strstr(message, "set role") != NULL)
        return error_set(err, PAWL_CONFLICT, op,
                         "%s: this login lacks the right, which members of %s_owner have", message, schema);
    if (strstr(message, "for table") != NULL)
        return error_set(
            err, PAWL_CONFLICT, op,
            "%s: this login lacks the right; grant it a table of yours, or %s_owner for pawl's own", message,
            schema);
    return error_set(
        err, PAWL_CONFLICT, op,
        "%s: this login lacks the right; grant it %s_program, to run pawl, and the role that has it: "
        "%s_producer sends, %s_worker handles, %s_view looks, %s_operator looks and acts",
        message, schema, schema, schema, schema, schema);
}

pawl_status pg_status_from_result(const PGresult *result, const char *schema, const char *op,
                                  pawl_error *err) {
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    pawl_status status = pg_status_from_sqlstate(sqlstate);
    if (message == NULL)
        message = "the connection to the server was lost";
    if (sqlstate == NULL)
        return error_set(err, status, op, "%s", message);
    if (strncmp(sqlstate, "PW", 2) == 0)
        return error_set(err, status, op, "%s", message);
    if (strcmp(sqlstate, "42501") == 0)
        return right_missing(message, schema, op, err);
    if (strcmp(sqlstate, "25006") == 0)
        return error_set(err, status, op, "the server takes no writes (%s); connect to the primary", message);
    if (strcmp(sqlstate, "3F000") == 0 || strcmp(sqlstate, "42P01") == 0 || strcmp(sqlstate, "42883") == 0)
        return error_set(err, status, op,
                         "schema \"%s\" is missing or of another version (%s); run `pawl migrate`", schema,
                         message);
    if (constraint != NULL)
        return error_set(err, status, op, "%s (%s)", message, constraint);
    return error_set(err, status, op, "%s (SQLSTATE %s)", message, sqlstate);
}
