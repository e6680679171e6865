/* Sending statements and reading results: one alone, or several as one transaction in one round trip. */
#ifndef STORE_POSTGRES_WIRE_PIPELINE_H
#define STORE_POSTGRES_WIRE_PIPELINE_H

#include "store/postgres/wire/connection.h"

struct statement {
    enum postgres_query query;
    struct params params;
    PGresult *result; /* binary; set when the call succeeded; statement_clear */
};

enum statement_effect { EFFECT_READ, EFFECT_WRITE };

void pg_statement_clear(struct statement *statement); /* takes one without a result */

/*
 * Runs one statement in its own transaction. A conflict with another transaction is retried a few times.
 * PAWL_UNKNOWN: a write was sent and the connection was lost before its outcome was known.
 */
PAWL_MUSTCHECK pawl_status pg_statement_run(struct postgres *self, const char *op,
                                            struct statement *statement, enum statement_effect effect,
                                            pawl_error *err);

/* The same for several: all of them, or none. */
PAWL_MUSTCHECK pawl_status pg_statements_run(struct postgres *self, const char *op,
                                             struct statement *statements, size_t count,
                                             enum statement_effect effect, pawl_error *err);

/* Whether the session stays the same from one transaction to the next, and is not shared. */
PAWL_MUSTCHECK pawl_status pg_session_is_ours(struct postgres *self, const char *op, bool *ours,
                                              pawl_error *err);

/* Runs the text of one reading statement without parameters; PQclear the result. */
PAWL_MUSTCHECK pawl_status pg_query_run(struct postgres *self, const char *op, const char *text,
                                        PGresult **result, pawl_error *err);

/* Lets the server parse a statement with one JSON parameter without running it. PAWL_INVALID: it is malformed
 * or refers to something that does not exist. A text with several statements is not checked. */
PAWL_MUSTCHECK pawl_status pg_parse_run(struct postgres *self, const char *op, const char *text,
                                        pawl_error *err);

/* Runs text with any number of statements, even none (migrations), without parameters and without retries. */
PAWL_MUSTCHECK pawl_status pg_script_run(struct postgres *self, const char *op, const char *text,
                                         char sqlstate[static 6], pawl_error *err);

/* Runs a statement inside a transaction that the caller opened with script_run. */
PAWL_MUSTCHECK pawl_status pg_step_run(struct postgres *self, const char *op, struct statement *statement,
                                       pawl_error *err);

#endif
