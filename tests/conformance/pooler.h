/* A real PgBouncer in transaction mode, for as long as a test runs. */
#ifndef CONFORMANCE_POOLER_H
#define CONFORMANCE_POOLER_H

#include "support/pgserver.h"

struct pooler;

/* Starts a pooler before every database of the server. NULL with a printed reason when there is no pgbouncer.
 */
struct pooler *pooler_start(const char *server_url);

/* The address of the database at direct_url through the pooler. */
void pooler_address(const struct pooler *pooler, const char *direct_url, char url[static PGSERVER_URL_BYTES]);

/* Ends the process that pooler_start made, and removes its files; takes NULL. */
void pooler_stop(struct pooler *pooler);

#endif
