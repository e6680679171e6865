/* Mapping SQLSTATEs to statuses and error texts, in one place. */
#ifndef STORE_POSTGRES_WIRE_STATUS_H
#define STORE_POSTGRES_WIRE_STATUS_H

#include <libpq-fe.h>

#include "pawl.h"

/* Two transactions conflicted and nothing happened: the same call may be repeated at once. */
bool pg_status_is_collision(const char *sqlstate);

/* The server is shutting down or refuses all work, whatever the statement was. */
bool pg_status_is_outage(const char *sqlstate);

/* Fills *err from a failed result, with what to do where there is something to do. */
pawl_status pg_status_from_result(const PGresult *result, const char *schema, const char *op,
                                  pawl_error *err);

#endif
