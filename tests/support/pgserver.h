/* A PostgreSQL for test programs: the run's shared one (PAWL_TEST_PG_URL), or a throw-away one of our own. */
#ifndef SUPPORT_PGSERVER_H
#define SUPPORT_PGSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PGSERVER_URL_BYTES = 512, PGSERVER_SKIP = 77 };

/* A server that one test owns and may break. Fields are for reading. */
struct pgserver {
    char url[PGSERVER_URL_BYTES];        /* over TCP on the loopback */
    char socket_url[PGSERVER_URL_BYTES]; /* over its unix socket */
    char dir[PGSERVER_URL_BYTES];
    char bindir[PGSERVER_URL_BYTES];
    pid_t pid; /* of the postmaster */
};

/* Starts a server of one's own; it ends with this process at the latest. NULL, with the reason on stderr,
 * when there is no PostgreSQL. Free with pgserver_stop. */
struct pgserver *pgserver_start(bool fsync);

/* Ends the server and removes its directory; takes NULL. */
void pgserver_stop(struct pgserver *server);

/* The address of a server that this program shares with others; started on first use. NULL: return
 * PGSERVER_SKIP from main. Tests keep out of each other's way by making databases of their own. */
const char *pgserver_url(void);

/* Makes an empty database with a fresh name (hint is part of it) on the shared server and writes its address.
 */
bool pgserver_create_database(const char *hint, char url[static PGSERVER_URL_BYTES]);

/* Drops a database made by pgserver_create_database, whoever is still connected. */
void pgserver_drop_database(const char *url);

/* Runs one or more statements on the database at url; false, with the reason on stderr, when it fails. */
bool pgserver_execute(const char *url, const char *sql);

#endif
