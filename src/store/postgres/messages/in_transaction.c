/* Putting and ending messages and jobs inside the caller's open PostgreSQL transaction. */
#include "base/error.h"
#include "base/str.h"
#include "domain/name.h"
#include "store/check/jobs.h"
#include "store/foreign.h"
#include "store/postgres/calls.h"
#include "store/postgres/wire/schema.h"

#define OP "pawl_send_pg"

static pawl_status check_connection(PGconn *conn, pawl_error *err) {
    if (PQpipelineStatus(conn) != PQ_PIPELINE_OFF)
        return error_set(err, PAWL_INVALID, OP,
                         "the connection is in pipeline mode: leave it before sending");
    switch (PQtransactionStatus(conn)) {
    case PQTRANS_INTRANS:
        return PAWL_OK;
    case PQTRANS_INERROR:
        return error_set(err, PAWL_INVALID, OP, "the transaction has failed already: roll it back");
    case PQTRANS_IDLE:
        return error_set(err, PAWL_INVALID, OP,
                         "no transaction is open on the connection: BEGIN one, or use pawl_send");
    default:
        return error_set(err, PAWL_UNAVAILABLE, OP, "the connection is broken or busy");
    }
}

/* The statement failed, and with it the caller's transaction: nothing of it will happen. */
static pawl_status failure(PGconn *conn, const PGresult *result, pawl_error *err) {
    const char *message = result != NULL ? PQresultErrorMessage(result) : PQerrorMessage(conn);
    const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    bool lost = PQstatus(conn) != CONNECTION_OK;
    bool missing = state != NULL &&
                   (str_equal_cstr(str_from(state), "42883") || str_equal_cstr(str_from(state), "3F000"));
    if (missing)
        return error_set(err, PAWL_CONFLICT, OP, "the schema is missing or older: run pawl migrate (%.*s)",
                         STR_ARG(str_trim(str_from(message))));
    return error_set(err, lost ? PAWL_UNAVAILABLE : PAWL_INTERNAL, OP, "%.*s",
                     STR_ARG(str_trim(str_from(message))));
}

/* Whether it can run there; checked: the status of the check of the input. */
static pawl_status ready(PGconn *conn, const char *schema, pawl_status checked, pawl_error *err) {
    pawl_status status = checked;
    if (status == PAWL_OK)
        status = name_check_schema(str_from(schema != NULL ? schema : "pawl"), err);
    return status == PAWL_OK ? check_connection(conn, err) : status;
}

static pawl_status run(PGconn *conn, const char *schema, struct statement *statement, pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    pg_schema_substitute(&text, sql_postgres_queries[statement->query].text,
                         schema != NULL ? schema : "pawl");
    const struct params *p = &statement->params;
    pawl_status status = buf_status(&text, OP, err);
    if (status == PAWL_OK)
        status = pg_params_status(p, OP, err);
    if (status == PAWL_OK) {
        statement->result =
            PQexecParams(conn, text.ptr, p->count, p->types, p->values, p->lengths, p->formats, 1);
        if (PQresultStatus(statement->result) != PGRES_TUPLES_OK)
            status = failure(conn, statement->result, err);
    }
    buf_free(&text);
    return status;
}

pawl_status postgres_put_in_transaction(struct pg_conn *conn, const char *schema,
                                        const struct messages_put *in, struct arena *arena,
                                        struct put_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct put_result result = {0};
    pawl_status status = ready(conn, schema, check_put(in, err), err);
    if (status == PAWL_OK)
        status = pg_put_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK)
        status = run(conn, schema, &statement, err);
    if (status == PAWL_OK)
        status = pg_put_take(in, statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    PQclear(statement.result);
    return status;
}

pawl_status postgres_append_in_transaction(struct pg_conn *conn, const char *schema,
                                           const struct events_append *in, struct arena *arena,
                                           struct append_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct append_result result = {0};
    pawl_status status = ready(conn, schema, check_append(in, err), err);
    if (status == PAWL_OK)
        status = pg_append_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK)
        status = run(conn, schema, &statement, err);
    if (status == PAWL_OK)
        status = pg_append_take(statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    PQclear(statement.result);
    return status;
}

pawl_status postgres_enqueue_in_transaction(struct pg_conn *conn, const char *schema,
                                            const struct jobs_enqueue *in, struct arena *arena,
                                            struct enqueue_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct enqueue_result result = {0};
    pawl_status status = ready(conn, schema, check_jobs_enqueue(in, err), err);
    if (status == PAWL_OK)
        status = pg_enqueue_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK && in->count > 0)
        status = run(conn, schema, &statement, err);
    if (status == PAWL_OK && in->count > 0)
        status = pg_enqueue_take(in, statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    PQclear(statement.result);
    return status;
}

/* Runs the statement that finishes a message or a job, and frees its arena; what its refusal means, other
 * failures are told as they are. */
static pawl_status finish(PGconn *conn, const char *schema, struct statement *statement, pawl_error *err) {
    pawl_status status = run(conn, schema, statement, err);
    pawl_str state = {NULL, 0};
    if (status != PAWL_OK && statement->result != NULL)
        state = str_from(PQresultErrorField(statement->result, PG_DIAG_SQLSTATE));
    if (str_equal_cstr(state, "PW004"))
        status = error_set(err, PAWL_STALE, "pawl_finish_pg",
                           "the grant has ended: roll back and drop the message");
    else if (str_equal_cstr(state, "PW003"))
        status =
            error_set(err, PAWL_CONFLICT, "pawl_finish_pg",
                      "an earlier message of the stream is not finished yet: roll back and try again later");
    PQclear(statement->result);
    arena_free(statement->params.arena);
    return status;
}

/* The statement with an arena of its own. */
static pawl_status finish_new(enum postgres_query query, struct statement *statement, pawl_error *err) {
    struct arena *arena = arena_create(0);
    *statement = pg_statement_new(query, arena);
    return arena != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "pawl_finish_pg", "out of memory");
}

pawl_status postgres_finish_in_transaction(struct pg_conn *conn, const char *schema, enum store_kind kind,
                                           struct item_ref ref, pawl_error *err) {
    struct statement statement;
    pawl_status status = ready(conn, schema, PAWL_OK, err);
    if (status == PAWL_OK)
        status = finish_new(POSTGRES_Q_FINISH, &statement, err);
    if (status != PAWL_OK)
        return status;
    PARAMS(&statement.params, kind, ref.token, ref.id);
    return finish(conn, schema, &statement, err);
}

pawl_status postgres_job_finish_in_transaction(struct pg_conn *conn, const char *schema, struct job_ref ref,
                                               int64_t duration_ms, pawl_error *err) {
    struct statement statement;
    pawl_status status = ready(conn, schema, PAWL_OK, err);
    if (status == PAWL_OK)
        status = finish_new(POSTGRES_Q_JOB_COMPLETE, &statement, err);
    if (status != PAWL_OK)
        return status;
    PARAMS(&statement.params, ref.token, ref.id, duration_ms);
    return finish(conn, schema, &statement, err);
}
