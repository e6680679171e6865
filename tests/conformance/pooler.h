/* A real PgBouncer in transaction mode, for as long as a test runs. */
#ifndef CONFORMANCE_POOLER_H
#define CONFORMANCE_POOLER_H

#include "support/pgserver.h"

struct pooler;

/* Starts a pooler before the database at server_url and writes the address to use instead. NULL with a
 * printed reason when there is no pgbouncer. */
struct pooler *pooler_start(const char *server_url, char url[static PGSERVER_URL_BYTES]);

/* Ends the process that pooler_start made, and removes its files; takes NULL. */
void pooler_stop(struct pooler *pooler);

#endif
