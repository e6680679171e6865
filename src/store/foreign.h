/* Putting and ending messages and jobs, and appending events, inside an open transaction on the caller's
 * connection. */
#ifndef STORE_FOREIGN_H
#define STORE_FOREIGN_H

#include "store/events.h"
#include "store/jobs.h"

struct pg_conn;
struct sqlite3;

/* schema NULL = "pawl". PAWL_INVALID when no transaction is open. */
PAWL_MUSTCHECK pawl_status postgres_put_in_transaction(struct pg_conn *conn, const char *schema,
                                                       const struct messages_put *in, struct arena *arena,
                                                       struct put_result *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status sqlite_put_in_transaction(struct sqlite3 *db, const struct messages_put *in,
                                                     struct arena *arena, struct put_result *out,
                                                     pawl_error *err);

PAWL_MUSTCHECK pawl_status postgres_append_in_transaction(struct pg_conn *conn, const char *schema,
                                                          const struct events_append *in, struct arena *arena,
                                                          struct append_result *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status sqlite_append_in_transaction(struct sqlite3 *db, const struct events_append *in,
                                                        struct arena *arena, struct append_result *out,
                                                        pawl_error *err);

/* Ends a claimed message. PAWL_STALE: the grant has ended and the caller's transaction is aborted
 * (PostgreSQL) or rolled back (SQLite); PAWL_CONFLICT: an earlier message of its stream is unfinished. */
PAWL_MUSTCHECK pawl_status postgres_finish_in_transaction(struct pg_conn *conn, const char *schema,
                                                          enum store_kind kind, struct item_ref ref,
                                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status sqlite_finish_in_transaction(struct sqlite3 *db, enum store_kind kind,
                                                        struct item_ref ref, pawl_error *err);

PAWL_MUSTCHECK pawl_status postgres_enqueue_in_transaction(struct pg_conn *conn, const char *schema,
                                                           const struct jobs_enqueue *in, struct arena *arena,
                                                           struct enqueue_result *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status sqlite_enqueue_in_transaction(struct sqlite3 *db, const struct jobs_enqueue *in,
                                                         struct arena *arena, struct enqueue_result *out,
                                                         pawl_error *err);

/* Completes a claimed job; PAWL_STALE as above. */
PAWL_MUSTCHECK pawl_status postgres_job_finish_in_transaction(struct pg_conn *conn, const char *schema,
                                                              struct job_ref ref, int64_t duration_ms,
                                                              pawl_error *err);
PAWL_MUSTCHECK pawl_status sqlite_job_finish_in_transaction(struct sqlite3 *db, struct job_ref ref,
                                                            int64_t duration_ms, pawl_error *err);

#endif
