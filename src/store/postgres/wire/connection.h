/* One connection to a server: opened lazily, with a deadline on every wait. */
#ifndef STORE_POSTGRES_WIRE_CONNECTION_H
#define STORE_POSTGRES_WIRE_CONNECTION_H

#include <libpq-fe.h>

#include "sql_embedded.h"
#include "store/postgres/wire/binary.h"
#include "store/store.h"

enum { SCHEMA_BYTES = 64 };

/* Whether the server session stays the same from one transaction to the next. */
enum session { SESSION_UNKNOWN, SESSION_OURS, SESSION_SHARED };

/* The parameters of a connection; the password is kept by libpq only. */
struct address {
    PQconninfoOption *options; /* as parsed; PQconninfoFree */
    bool direct;               /* false: a pooler refused our session settings */
    int host; /* of the list of hosts (modulo their number), which to try first: the one that answered last,
                 or the one after a silent one */
    bool pinned; /* only that one is asked */
};

struct postgres {
    struct store store; /* first: the seam hands out a pointer to it */
    struct address address;
    PGconn *conn;          /* NULL: not connected */
    struct arena *scratch; /* of the query that runs, when it is given none */
    enum session session;
    int64_t answered_us;                /* of clock_boot_us, when it last answered */
    bool sent_before[POSTGRES_Q_COUNT]; /* on this connection */
    bool prepared[POSTGRES_Q_COUNT];    /* known to this session by name */
    char schema[SCHEMA_BYTES];
    const char *queries[POSTGRES_Q_COUNT]; /* with the schema's name in them; owned unless it is the usual */
    char role[SCHEMA_BYTES];               /* to act as; empty: the login's own */
    int connect_timeout_ms;
    int statement_timeout_ms;
    pawl_uuid alive;           /* whose liveness lock this session holds; nil: none */
    bool lock_lost;            /* that lock was lost with a broken connection */
    struct together *together; /* queries that are to be one transaction; NULL: each is its own */
    bool doubt;                /* the server warned that a commit may be lost */
};

/* Parses the address and the schema's name without connecting. Free with connection_free, even if it fails.
 */
PAWL_MUSTCHECK pawl_status pg_connection_init(struct postgres *self, const struct store_config *config,
                                              const char *op, pawl_error *err);
void pg_connection_free(struct postgres *self);

/* Makes sure that there is a connection; a broken one is replaced. */
PAWL_MUSTCHECK pawl_status pg_connection_ready(struct postgres *self, const char *op, pawl_error *err);

/* Drops the connection; the next operation opens a new one. */
void pg_connection_drop(struct postgres *self);

/* Waits until the socket can be read or written (events of poll.h) or until deadline_ms of clock_boot_ms.
 * False: time ran out. */
bool pg_connection_wait(PGconn *conn, short events, int64_t deadline_ms);

/* Asks the server, on a separate connection, whether the session of this one is running a statement. False:
 * it is not, or there is no answer in time, so the expected result will not arrive. */
bool pg_connection_working(const struct postgres *self, int64_t within_ms);

#endif
