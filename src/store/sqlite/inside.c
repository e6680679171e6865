/* Putting messages with somebody else's connection, inside the transaction that is open there. */
#include "base/error.h"
#include "store/foreign.h"
#include "store/sqlite/events.h"
#include "store/sqlite/put.h"

#define OP "pawl_send_sqlite"

/* A store around the caller's connection, for the time of the call: statements and scratch, no lock, no file.
 */
static pawl_status borrow(struct sqlite3 *db, struct sqlite_store *store, pawl_error *err) {
    if (sqlite3_get_autocommit(db) != 0)
        return error_set(
            err, PAWL_INVALID, OP,
            "no transaction is open on the connection: BEGIN IMMEDIATE one, or use pawl_send or pawl_append");
    const char *file = sqlite3_db_filename(db, "main");
    *store = (struct sqlite_store){.db = db, .path = (char *)(file != NULL ? file : "the database")};
    store->scratch = arena_create(0);
    return store->scratch != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, OP, "out of memory");
}

static void give_back(struct sqlite_store *store) {
    for (size_t i = 0; i < SQLITE_Q_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    arena_free(store->scratch);
}

static pawl_status put(struct sqlite_store *store, const struct messages_put *in, struct arena *arena,
                       struct put_result *out, pawl_error *err) {
    struct operation op;
    struct put_result result = {0};
    bool used = false;
    pawl_status status = operation_join(&op, store, OP, err);
    if (status != PAWL_OK)
        return status;
    status = request_use(&op, in->request, &used);
    if (status == PAWL_OK)
        status = put_messages(&op, in, used, arena, &result);
    status = operation_leave(&op, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_put_inside(struct sqlite3 *db, const struct messages_put *in, struct arena *arena,
                              struct put_result *out, pawl_error *err) {
    struct sqlite_store store;
    pawl_status status = check_put(in, err);
    if (status == PAWL_OK)
        status = borrow(db, &store, err);
    if (status != PAWL_OK)
        return status;
    status = put(&store, in, arena, out, err);
    give_back(&store);
    return status;
}

static pawl_status append(struct sqlite_store *store, const struct events_append *in, struct arena *arena,
                          struct append_result *out, pawl_error *err) {
    struct operation op;
    struct append_result result = {0};
    pawl_status status = operation_join(&op, store, "pawl_append_sqlite", err);
    if (status != PAWL_OK)
        return status;
    status = append_events(&op, in, arena, &result);
    status = operation_leave(&op, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_append_inside(struct sqlite3 *db, const struct events_append *in, struct arena *arena,
                                 struct append_result *out, pawl_error *err) {
    struct sqlite_store store;
    pawl_status status = check_append(in, err);
    if (status == PAWL_OK)
        status = borrow(db, &store, err);
    if (status != PAWL_OK)
        return status;
    status = append(&store, in, arena, out, err);
    give_back(&store);
    return status;
}
