/* Converting messages of the public API to those of the stores; also used by the adapters for open
 * transactions. */
#ifndef WORK_SEND_H
#define WORK_SEND_H

#include "store/foreign.h"
#include "work/put_spans.h"

/* Where something is put: into a store, or into a transaction that the caller has open. */
struct place {
    const char *op;    /* the function of the API, for errors */
    pawl_store *store; /* or NULL */
    struct sqlite3 *sqlite;
    struct pg_conn *postgres;
    const char *schema; /* of postgres */
};

/* The store inside a public handle; owned by the handle. */
struct store *send_store(pawl_store *store);

/* The caller for put_spans.h, which traces if pawl_trace was called. */
struct putter send_putter(pawl_store *store, struct arena *arena);

/* Calls the function for that place: of work/put_spans.h, or of store/foreign.h. */
#define PLACE_CALL(place, to_store, to_sqlite, to_postgres, in, arena, out, err)                             \
    ((place)->store != NULL                                                                                  \
         ? to_store((struct putter[]){send_putter((place)->store, (arena))}, (in), (out), (err))             \
     : (place)->sqlite != NULL                                                                               \
         ? to_sqlite((place)->sqlite, (in), (arena), (out), (err))                                           \
         : to_postgres((place)->postgres, (place)->schema, (in), (arena), (out), (err)))

#endif
