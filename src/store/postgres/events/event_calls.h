/* The operations on events and perspectives as statements; for the tables in store.c. */
#ifndef STORE_POSTGRES_EVENTS_EVENT_CALLS_H
#define STORE_POSTGRES_EVENTS_EVENT_CALLS_H

#include "store/events.h"
#include "store/postgres/row.h"

/* events.c */
PAWL_MUSTCHECK pawl_status pg_append_prepare(const struct events_append *in, struct arena *arena,
                                             struct statement *statement, struct append_result *out,
                                             pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_append_take(const PGresult *result, struct append_result *out, pawl_error *err);
/* The event at columns first … first + 10; no memory sets *failed. */
void pg_event_take(struct cell first, struct arena *arena, struct stored_event *event, bool *failed);
/* Runs a statement that gives one number; clears it. */
PAWL_MUSTCHECK pawl_status pg_number_run(struct store *store, const char *op, struct statement *statement,
                                         int64_t *value, pawl_error *err);

/* perspectives.c: patterns as the functions give them, "mode text" on a line each; returns how many. */
size_t pg_patterns_take(pawl_str lines, struct arena *arena, struct event_pattern **out, bool *failed);

/* Parts of a batch. */
void pg_checkpoints_renew_prepare(const struct checkpoints_renew *in, struct arena *arena,
                                  struct statement *statement);
PAWL_MUSTCHECK pawl_status pg_grants_take(const PGresult *r, struct arena *arena,
                                          struct checkpoint_grants *out, pawl_error *err);

#endif
