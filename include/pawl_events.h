/* Events and perspectives of the public API: append, read, register, wait. */
#ifndef PAWL_EVENTS_H
#define PAWL_EVENTS_H

#include "pawl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One event to append. A ptr of NULL and a nil id mean absent. */
typedef struct pawl_event {
    pawl_uuid id;      /* nil: one is generated. With your own ids an append can be repeated safely */
    pawl_str type;     /* required */
    pawl_str payload;  /* required, JSON */
    pawl_str metadata; /* a JSON object */
    pawl_uuid correlation_id;
    pawl_uuid causation_id;
    pawl_str traceparent;
    bool publish;   /* also send it as an outbox message with the same id, in the same transaction */
    pawl_str topic; /* of that message */
} pawl_event;

/* Special values for the expected version: any, or no event yet. */
enum { PAWL_ANY_VERSION = -1, PAWL_NO_STREAM = 0 };

typedef struct pawl_appended {
    int64_t version;       /* of the last event; after PAWL_CONFLICT the stream's actual one */
    int64_t first_version; /* of the first event */
    bool repeated; /* the same append has happened before: nothing was written, these are its versions */
} pawl_appended;

/* Appends all events or none, in a new transaction. PAWL_CONFLICT: the stream is not at the expected version
 * (appended->version has the actual one), or an id is already used elsewhere. PAWL_UNKNOWN: append again with
 * the same ids. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_append(pawl_store *store, pawl_str stream, int64_t expected_version,
                                                const pawl_event *events, size_t count,
                                                pawl_appended *appended, pawl_error *err);

struct pg_conn; /* libpq's PGconn */
struct sqlite3;

/* The same inside your own open transaction; the rules are those of pawl_send_pg and pawl_send_sqlite. */
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

/* Waits until a perspective (name, or name@version) has applied a version of a stream, so that you can read
 * your own writes. *reached false: timed out. PAWL_NOT_FOUND: there is no such perspective. PAWL_CONFLICT:
 * its checkpoint has failed; err says why. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_wait_for(pawl_store *store, pawl_str perspective, pawl_str stream,
                                                  int64_t version, int64_t timeout_ms, bool *reached,
                                                  pawl_error *err);

/* An event as it is stored. */
typedef struct pawl_stored_event {
    pawl_str stream;
    int64_t version;
    int64_t position; /* only when reading all streams; otherwise 0 */
    pawl_uuid id;
    pawl_str type, payload, metadata;
    pawl_uuid correlation_id, causation_id;
    pawl_str traceparent;
    int64_t appended_ms;
    bool replay; /* handled before, or older than the perspective: skip side effects */
} pawl_stored_event;

typedef struct pawl_read {
    pawl_str stream; /* absent: all streams, by position */
    int64_t from;    /* first version or position; 0 = the first (backward: the last) */
    bool backward;
    int64_t as_of_ms;      /* only events appended at or before this time; 0 = any */
    pawl_uuid as_of_event; /* with a stream: nothing after this event */
    int limit;             /* 1 to 5000 */
} pawl_read;

/* Calls `each` for each event; its texts are valid during the call. If it returns false, reading stops. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_events_read(pawl_store *store, const pawl_read *read,
                                                     bool (*each)(void *self, const pawl_stored_event *event),
                                                     void *self, pawl_error *err);

/* Stores a state that the caller folded from a stream up to a version, so that loading a long stream can
 * start there and continue at version + 1. The last two of a name are kept. *kept false: there is already one
 * of that version or a later one. PAWL_CONFLICT: the stream has not reached that version. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_snapshot_put(pawl_store *store, pawl_str stream, pawl_str name,
                                                      int64_t version, pawl_str state_json, bool *kept,
                                                      pawl_error *err);
/* Calls `each` with the newest snapshot up to version_max (0 = any); its text is valid during the call.
 * PAWL_NOT_FOUND: there is none. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_snapshot_get(
    pawl_store *store, pawl_str stream, pawl_str name, int64_t version_max,
    void (*each)(void *self, int64_t version, pawl_str state_json), void *self, pawl_error *err);

/* What a perspective in C gets: its events, and the transaction in which its checkpoint moves. */
typedef struct pawl_perspective_call {
    void *connection;    /* PGconn or sqlite3, inside the transaction: write, never commit */
    const char *dialect; /* "postgres" or "sqlite" */
    pawl_str perspective;
    const pawl_stored_event *events; /* in order within each stream */
    size_t count;
} pawl_perspective_call;

/* If it does not return PAWL_OK, everything it wrote is rolled back; err says why. May be called by several
 * threads at once. */
typedef pawl_status (*pawl_perspective_fn)(const pawl_perspective_call *call, void *self, pawl_error *err);

/* Applies a perspective (version 0 = any) with a function of yours; needs pawl_worker_config.perspectives. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_worker_perspective(pawl_worker *worker, const char *name,
                                                            int version, pawl_perspective_fn function,
                                                            void *self, pawl_error *err);

/* Registers the perspectives defined in a file or in every *.yaml of a directory (docs/perspectives.md).
 * *count: how many. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_perspectives_register(pawl_store *store, const char *path,
                                                               int *count, pawl_error *err);

/* A receptor on events gets its own inbox message for each event of its types (docs/receptors.md). A worker
 * handles them with a handler that has the receptor's name and a pattern "event:…"; if there is something
 * after the colon, the worker also registers the receptor. */
typedef struct pawl_receptor {
    const char *name;            /* letters, digits, _ - . */
    const char *const *patterns; /* globs, or prefixed with "exact:", "suffix:", "glob:" or "regex:" */
    size_t pattern_count;
    bool from_start; /* if it is new: include existing events */
    bool replace;    /* if it exists with other patterns: replace them, from its position on */
} pawl_receptor;

/* Registering the same receptor again changes nothing. PAWL_CONFLICT: it exists with other patterns. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_receptor_register(pawl_store *store, const pawl_receptor *receptor,
                                                           pawl_error *err);
/* It gets no more messages; existing ones stay. PAWL_NOT_FOUND: there is no such receptor. */
PAWL_API PAWL_MUSTCHECK pawl_status pawl_receptor_remove(pawl_store *store, const char *name,
                                                         pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
