/* Events: appending to streams with optimistic concurrency, and waiting for perspectives. */
#ifndef PAWL_EVENTS_H
#define PAWL_EVENTS_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One event to append. A ptr of NULL and a nil id mean absent. */
typedef struct pawl_event {
    pawl_uuid id;      /* nil: one is made. With ids of your own an append can be repeated safely */
    pawl_str type;     /* required */
    pawl_str payload;  /* required, JSON */
    pawl_str metadata; /* a JSON object */
    pawl_uuid correlation_id;
    pawl_uuid causation_id;
    pawl_str traceparent;
    bool publish;   /* also an outbox message with the same id, type and payload, in the same transaction */
    pawl_str topic; /* of that message */
} pawl_event;

/* The expected version besides a number: whatever it is, or no event yet. */
enum { PAWL_ANY_VERSION = -1, PAWL_NO_STREAM = 0 };

typedef struct pawl_appended {
    int64_t version;       /* the stream's; its actual one after PAWL_CONFLICT */
    int64_t first_version; /* of the first event */
    bool repeated;         /* these ids were appended before: nothing was written */
} pawl_appended;

/*
 * Appends in a transaction of its own, all events or none. PAWL_CONFLICT: the stream has another version than
 * expected (appended->version says which), or an id is known elsewhere. PAWL_UNKNOWN: append again with the
 * same ids.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_append(pawl_store *store, pawl_str stream, int64_t expected_version,
                                                const pawl_event *events, size_t count,
                                                pawl_appended *appended, pawl_error *err);

struct pg_conn; /* libpq's PGconn */
struct sqlite3;

/* The same inside an open transaction of your own; rules as for pawl_send_pg and pawl_send_sqlite. */
typedef struct pawl_append_to {
    const char *schema; /* PostgreSQL; NULL = "pawl" */
    pawl_str stream;
    int64_t expected_version;
} pawl_append_to;

PAWL_API PAWL_MUSTCHECK pawl_status pawl_append_pg(struct pg_conn *conn, const pawl_append_to *to,
                                                   const pawl_event *events, size_t count,
                                                   pawl_appended *appended, pawl_error *err);
PAWL_API PAWL_MUSTCHECK pawl_status pawl_append_sqlite(struct sqlite3 *db, const pawl_append_to *to,
                                                       const pawl_event *events, size_t count,
                                                       pawl_appended *appended, pawl_error *err);

/*
 * Waits until a perspective (name, or name@version) has applied a version of a stream: read your own writes.
 * *reached false: the time is over. PAWL_NOT_FOUND: there is no such perspective. PAWL_CONFLICT: its
 * checkpoint has failed; err says why.
 */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_wait_for(pawl_store *store, pawl_str perspective, pawl_str stream,
                                                  int64_t version, int64_t timeout_ms, bool *reached,
                                                  pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
