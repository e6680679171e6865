/* One store operation on SQLite: begin, commit, roll back, and what every commit writes. */
#include "store/sqlite/file/operation.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "store/sqlite/events/perspective_count.h"
#include "store/sqlite/file/checkpointer.h"
#include "store/sqlite/file/clock.h"
#include "store/sqlite/file/files.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/file/turn.h"
#include "store/sqlite/file/waker.h"
#include "store/sqlite/fleet/liveness.h"

enum { TOKEN_EPOCH_SHIFT = 40 };

int64_t operation_next_seq(struct operation *op) { return ++op->last_seq; }

int64_t operation_last_token(const struct operation *op) {
    return op->settings.epoch << TOKEN_EPOCH_SHIFT | op->last_token;
}

int64_t operation_next_token(struct operation *op) {
    op->last_token++;
    return operation_last_token(op);
}

pawl_status operation_note_evicted(struct operation *op, pawl_uuid instance) {
    pawl_status status = list_grow(op, op->scratch, (void **)&op->evicted, &op->evicted_cap,
                                   op->evicted_count, sizeof(*op->evicted));
    if (status == PAWL_OK)
        op->evicted[op->evicted_count++] = instance;
    return status;
}

pawl_status operation_read_settings(struct operation *op, bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_SETTINGS_READ);
    bool row = statement_next(&s);
    if (row) {
        const int after = (int)settings_shape.count;
        row_read(&s, 0, &settings_shape, op->scratch, &op->settings);
        op->now_ms = op->store->clock_ms != NULL ? *op->store->clock_ms
                                                 : clock_now(op->settings.test_now_ms, column_int(&s, after));
        op->last_seq = column_int(&s, after + 1);
        op->last_token = column_int(&s, after + 2);
    }
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK)
        *found = row;
    return status;
}

pawl_status operation_raise_epoch(struct operation *op, int64_t epoch, enum epoch_cause cause) {
    pawl_status status = statement_run(SQL(op, SQLITE_Q_SETTINGS_EPOCH, epoch, op->now_ms, cause));
    if (status == PAWL_OK)
        op->settings.epoch = epoch;
    return status;
}

static pawl_status run(struct operation *op, enum sqlite_query query) {
    return statement_run(statement_begin(op, query));
}

/* What undoes a transaction is prepared before it begins: then it needs no memory, of which there may be
 * none. */
static pawl_status prepare(struct operation *op, enum sqlite_query query) {
    struct statement s = statement_begin(op, query);
    return statement_end(&s);
}

/* Rolls back after a failure; if that fails too, SQLite has already rolled back. */
static void roll_back(struct operation *op) {
    if (sqlite3_get_autocommit(op->store->db) != 0)
        return;
    pawl_error *err = op->err;
    op->err = NULL; /* the first failure is the one to report */
    (void)run(op, SQLITE_Q_TRANSACTION_ROLLBACK);
    op->err = err;
}

static pawl_status begin(struct operation *op) {
    struct sqlite_store *self = op->store;
    pthread_mutex_lock(&self->lock);
    arena_reset(self->scratch);
    if (op->writes && !self->in_memory)
        turn_give(self);
    self->turn_wanted = op->writes;
    connection_deadline_start(self);
    pawl_status status = prepare(op, SQLITE_Q_TRANSACTION_ROLLBACK);
    if (status == PAWL_OK)
        status = run(op, op->writes ? SQLITE_Q_TRANSACTION_BEGIN_WRITE : SQLITE_Q_TRANSACTION_BEGIN_READ);
    self->turn_wanted = false;
    turn_end(self);
    op->changes = sqlite3_total_changes64(self->db);
    bool found = false;
    if (status == PAWL_OK)
        status = operation_read_settings(op, &found);
    if (status == PAWL_OK && !found)
        status = error_set(op->err, PAWL_CONFLICT, op->name,
                           "the database %s has no settings: run pawl migrate", self->path);
    if (status == PAWL_OK)
        status = files_still_there(self, op->name, op->err);
    if (status != PAWL_OK) {
        roll_back(op);
        pthread_mutex_unlock(&self->lock);
    }
    return status;
}

struct operation operation_begin(struct store *store, enum operation_mode mode, const char *name,
                                 pawl_status checked, pawl_error *err) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct operation op = {.store = self,
                           .scratch = self->scratch,
                           .name = name,
                           .err = err,
                           .writes = mode == OPERATION_WRITE,
                           .status = checked};
    if (checked == PAWL_OK)
        op.status = begin(&op);
    return op;
}

static bool has_counted(const struct kind_counts *delta) {
    for (size_t i = 0; i < tally_shape.count; i++) {
        int64_t value;
        assert(tally_shape.members[i].type == MEMBER_BIG);
        memcpy(&value, (const char *)delta + tally_shape.members[i].offset, sizeof(value));
        if (value != 0)
            return true;
    }
    return false;
}

static pawl_status write_tally(struct operation *op, int kind) {
    const struct kind_counts *delta = &op->tally[kind];
    if (!has_counted(delta))
        return PAWL_OK;
    return statement_run(SQL(op, SQLITE_Q_TALLY_ADD, ROW_OF(tally_shape, delta), kind));
}

static pawl_status write_counters(struct operation *op) {
    pawl_status status =
        statement_run(SQL(op, SQLITE_Q_SETTINGS_COUNT, op->last_seq, op->last_token, op->now_ms));
    if (status == PAWL_OK)
        status = perspective_count_write(op);
    for (int kind = 1; kind <= KIND_COUNT && status == PAWL_OK; kind++)
        status = write_tally(op, kind);
    return status;
}

/* An operation that found nothing to do writes nothing: a worker that polls must not wear out the
 * disk. */
static bool has_changes(const struct operation *op) {
    bool counted = false;
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        counted = counted || has_counted(&op->tally[kind]);
    return counted || sqlite3_total_changes64(op->store->db) != op->changes;
}

/*
 * A failed COMMIT is rolled back. If the log was written but not synced, or not yet visible to others, the
 * commit may still reappear after a crash, so the outcome is unknown. If the log could not be written, it is
 * not.
 */
static pawl_status commit(struct operation *op) {
    struct statement s = statement_begin(op, SQLITE_Q_TRANSACTION_COMMIT);
    while (statement_next(&s))
        continue;
    int rc = s.rc;
    pawl_status status = statement_end(&s);
    if (status != PAWL_OK && op->writes && (rc & 0xff) == SQLITE_IOERR && rc != SQLITE_IOERR_WRITE &&
        rc != SQLITE_IOERR_NOMEM)
        status = error_set(
            op->err, PAWL_UNKNOWN, op->name,
            "writing %s failed while committing (code %d): it may have happened; look before trying "
            "again",
            op->store->path, rc);
    return status;
}

pawl_status operation_close(struct operation *op, pawl_status status) {
    if (status == PAWL_OK && op->writes && has_changes(op))
        status = write_counters(op);
    if (status == PAWL_OK && op->writes)
        status = files_still_there(op->store, op->name, op->err);
    if (status == PAWL_OK)
        status = commit(op);
    if (status != PAWL_OK)
        roll_back(op);
    if (status == PAWL_OK && op->writes) /* into a log that was removed meanwhile: not to be promised */
        status = files_still_there(op->store, op->name, op->err);
    if (status == PAWL_OK && op->writes && !op->store->in_memory) {
        for (size_t i = 0; i < op->evicted_count; i++)
            liveness_remove_file(op->store, op->evicted[i]);
        if (op->news)
            waker_write(op->store->path);
        else if (op->wake)
            waker_touch(op->store->path);
        checkpointer_after_commit(op->store);
    }
    pthread_mutex_unlock(&op->store->lock);
    return status;
}

pawl_status operation_give_bytes(struct operation *op, pawl_status status, void *out, const void *result,
                                 size_t size) {
    status = operation_close(op, status);
    if (status == PAWL_OK)
        memcpy(out, result, size);
    return status;
}

pawl_status operation_join(struct operation *op, struct sqlite_store *store, const char *name,
                           pawl_error *err) {
    *op = (struct operation){
        .store = store, .scratch = store->scratch, .name = name, .err = err, .writes = true};
    bool found = false;
    TRY(prepare(op, SQLITE_Q_SEND_ROLLBACK));
    TRY(prepare(op, SQLITE_Q_SEND_RELEASE));
    pawl_status status = run(op, SQLITE_Q_SEND_SAVEPOINT);
    if (status == PAWL_OK)
        status = operation_read_settings(op, &found);
    if (status == PAWL_OK && !found)
        status = error_set(err, PAWL_CONFLICT, name, "the database has no settings: run pawl migrate");
    return status == PAWL_OK ? PAWL_OK : operation_leave(op, status);
}

pawl_status operation_leave(struct operation *op, pawl_status status) {
    if (status == PAWL_OK)
        status = write_counters(op);
    if (status == PAWL_OK) {
        /* A worker that wakes up now waits for the caller's commit before it can look. */
        if (op->wake)
            waker_touch(op->store->path);
        return run(op, SQLITE_Q_SEND_RELEASE);
    }
    pawl_error *err = op->err;
    op->err = NULL; /* the first failure is the one to report */
    if (run(op, SQLITE_Q_SEND_ROLLBACK) == PAWL_OK)
        (void)run(op, SQLITE_Q_SEND_RELEASE);
    op->err = err;
    return status;
}
