/* The server that pawl up runs beside its worker: a process of its own that ends with it. */
#ifndef CLI_WORKER_UP_SERVER_H
#define CLI_WORKER_UP_SERVER_H

#include <sys/types.h>

#include "cli/cli.h"

/* What pawl up passes on to it. */
#define UP_SERVER_OPTIONS                                                                                    \
    (OPTION(SERVE) | OPTION(LISTEN) | OPTION(TOKEN_FILE) | OPTION(TLS_CERT) | OPTION(TLS_KEY) |              \
     OPTION(PUBLIC_URL) | OPTION(REDACT) | OPTION(LEASE_API))

/* Starts it before there are threads; it writes to standard error like the worker. -1: it could not be
 * started, which is said and stops nothing. */
pid_t up_server_start(const struct cli *cli);

/* Asks it to end and waits, at most some seconds; takes -1. */
void up_server_stop(pid_t server);

#endif
