/* Sending inside a transaction of your own on PostgreSQL. */
#ifndef PAWL_PG_H
#define PAWL_PG_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pg_conn; /* libpq's PGconn */

/*
 * Puts messages with the statements of an open transaction: they exist exactly when it commits. schema NULL =
 * "pawl"; config and ids may be NULL, as for pawl_send. The connection must not be in pipeline mode. After a
 * failure the transaction is aborted, as after any failed statement: roll it back.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_send_pg(struct pg_conn *conn, const char *schema,
                                                 const pawl_send_config *config,
                                                 const pawl_outgoing *messages, size_t count, pawl_uuid *ids,
                                                 pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
