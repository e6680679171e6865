/* Sending and finishing messages inside your own transaction on PostgreSQL. */
#ifndef PAWL_PG_H
#define PAWL_PG_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pg_conn; /* libpq's PGconn */

/* Puts messages inside an open transaction: they exist only if it commits. schema NULL = "pawl"; config and
 * ids may be NULL, as for pawl_send. The connection must not be in pipeline mode. After a failure the
 * transaction is aborted, as after any failed statement: roll it back. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_send_pg(struct pg_conn *conn, const char *schema,
                                                 const pawl_send_config *config,
                                                 const pawl_outgoing *messages, size_t count, pawl_uuid *ids,
                                                 pawl_error *err);

/* For a handler: ends its message or job inside an open transaction, together with everything else the
 * handler writes there (its own rows, and messages sent with pawl_send_pg). Then commit, and return
 * PAWL_DONE. PAWL_STALE: the grant has ended and the transaction is aborted; roll back and return PAWL_RETRY.
 * PAWL_CONFLICT: the result of an earlier message of the stream is not recorded yet; roll back and return
 * PAWL_SNOOZE. In SQL: SELECT pawl.finish(token, id, kind), and for a job
 * pawl.job_finish(token, id). */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_finish_pg(struct pg_conn *conn, const char *schema,
                                                   const pawl_message *message, pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
