/* event_rows(?1): the events of a batch as a table for the SQL of perspectives, without going through JSON.
 */
#ifndef STORE_SQLITE_EVENTS_EVENT_TABLE_H
#define STORE_SQLITE_EVENTS_EVENT_TABLE_H

#include <sqlite3.h>

#include "store/events.h"

struct event_batch {
    const pawl_stored_event *events;
    size_t count;
};

/* Makes the table known to a connection. A code of SQLite. */
int event_table_install(sqlite3 *db);
/* Whether a perspective's SQL takes its events by event_rows(?1). */
bool event_table_named(pawl_str sql);
/* PAWL_INVALID: the statement also uses ?1 in another way, which would find nothing there. */
PAWL_MUSTCHECK pawl_status event_table_check(pawl_str sql, const char *op, pawl_error *err);
/* The batch must outlive the statement's run. A code of SQLite. */
int event_table_bind(sqlite3_stmt *stmt, const struct event_batch *batch);

#endif
