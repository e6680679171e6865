/* One store operation on SQLite: a transaction with its time, settings, counters and sums. */
#ifndef STORE_SQLITE_FILE_OPERATION_H
#define STORE_SQLITE_FILE_OPERATION_H

#include "base/error.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/file/statement.h"
#include "store/sqlite/operations.h"

struct part;

/* What it adds to the counts of a perspective; see perspective_count.h. */
struct perspective_delta {
    pawl_str key;
    int64_t by_status[4]; /* enum checkpoint_status */
    int64_t stopped, applied;
};

/* Lives on the stack of the operation's function, from operation_read or operation_write to operation_end. */
struct operation {
    struct sqlite_store *store;
    struct arena *scratch; /* freed with the operation */
    const char *name;
    pawl_error *err;
    pawl_status status; /* not PAWL_OK: it has not begun, and there is nothing to end */
    bool writes;
    int64_t now_ms;
    struct settings settings;
    int64_t last_seq, last_token;
    int64_t changes;                          /* rows the connection had written before */
    struct kind_counts tally[KIND_COUNT + 1]; /* what it adds to each; see tally_shape */
    struct perspective_delta perspective;
    bool wake;          /* a worker waits for what this operation put */
    bool news;          /* it paused or cancelled something: all workers are to look */
    struct part *parts; /* claim parts loaded so far, part.h */
    pawl_uuid *evicted; /* whose lock files go after the commit */
    size_t evicted_count, evicted_cap;
};

enum operation_mode { OPERATION_READ, OPERATION_WRITE };

/* Locks the store, begins a transaction and reads time and settings, unless checked, the status of the check
 * of the input, is a failure already. */
struct operation operation_begin(struct store *store, enum operation_mode mode, const char *name,
                                 pawl_status checked, pawl_error *err);
static inline struct operation operation_read(struct store *store, const char *name, pawl_status checked,
                                              pawl_error *err) {
    return operation_begin(store, OPERATION_READ, name, checked, err);
}
static inline struct operation operation_write(struct store *store, const char *name, pawl_status checked,
                                               pawl_error *err) {
    return operation_begin(store, OPERATION_WRITE, name, checked, err);
}

/* Ends an operation with its work, an expression that gives a status and is left out when the operation has
 * not begun: commits on PAWL_OK, else rolls back; unlocks. The result is the status of the whole. */
#define operation_end(op, work) ((op)->status == PAWL_OK ? operation_close((op), (work)) : (op)->status)
PAWL_MUSTCHECK pawl_status operation_close(struct operation *op, pawl_status status);

/* The same; *result becomes *out when all of it succeeded. */
#define operation_give(op, work, out, result)                                                                \
    ((op)->status == PAWL_OK                                                                                 \
         ? operation_give_bytes((op), (work), (out), (result), sizeof *(1 ? (out) : (result)))               \
         : (op)->status)
PAWL_MUSTCHECK pawl_status operation_give_bytes(struct operation *op, pawl_status status, void *out,
                                                const void *result, size_t size);

/*
 * The same inside a transaction that the caller has begun on the connection and will end: a savepoint
 * takes the place of the transaction. No lock: the connection is the caller's.
 */
PAWL_MUSTCHECK pawl_status operation_join(struct operation *op, struct sqlite_store *store, const char *name,
                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status operation_leave(struct operation *op, pawl_status status);

/* The next number of the sequence and the next token: epoch << 40 | counter. */
int64_t operation_next_seq(struct operation *op);
int64_t operation_next_token(struct operation *op);
int64_t operation_last_token(const struct operation *op); /* the highest drawn so far */

/* Every token from now on is above every token before. */
PAWL_MUSTCHECK pawl_status operation_raise_epoch(struct operation *op, int64_t epoch, enum epoch_cause cause);

static inline pawl_status operation_no_memory(struct operation *op) {
    return error_set(op->err, PAWL_NO_MEMORY, op->name, "out of memory");
}

/* Remembers an instance whose liveness lock file is removed once the eviction is committed. */
PAWL_MUSTCHECK pawl_status operation_note_evicted(struct operation *op, pawl_uuid instance);

/* Reads the settings row; *found false when there is none. */
PAWL_MUSTCHECK pawl_status operation_read_settings(struct operation *op, bool *found);

#endif
