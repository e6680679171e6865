/* Pauses and cancellations of messages on SQLite. */
#include "store/sqlite/messages/pause.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/relay.h"
#include "store/sqlite/file/row.h"

pawl_status pause_any(struct operation *op, bool *any) {
    return statement_any(statement_begin(op, SQLITE_Q_PAUSE_ANY), any);
}

pawl_status pause_fits(struct operation *op, const struct item *item, bool *fits) {
    char id[UUID_TEXT_BYTES];
    return statement_any(SQL(op, SQLITE_Q_PAUSE_FITS, str_absent(item->topic) ? item->type : item->topic,
                             item->stream, str_from(uuid_format(item->id, id))),
                         fits);
}

pawl_status pause_until(struct operation *op, const struct release_item *item, int64_t *until_ms) {
    *until_ms = op->now_ms + item->delay_ms;
    if (str_absent(item->handler))
        return PAWL_OK;
    char id[UUID_TEXT_BYTES];
    bool waits = false;
    TRY(statement_any(SQL(op, SQLITE_Q_PAUSE_HANDLER, item->handler, str_from(uuid_format(item->ref.id, id))),
                      &waits));
    if (waits)
        *until_ms = PAWL_UNTIL_RESUMED_MS;
    return PAWL_OK;
}

static pawl_status settle_holds(struct operation *op) {
    return statement_run(SQL(op, SQLITE_Q_PAUSE_RESUME_HOLDS, op->now_ms));
}

/* A cancelled message that waits for a resume becomes due, so that a worker ends it. */
static pawl_status cancel(struct operation *op, pawl_str name) {
    pawl_uuid id;
    if (!uuid_parse(name, &id))
        return PAWL_OK;
    int64_t changed = 0;
    pawl_status status =
        statement_run_count(SQL(op, SQLITE_Q_PAUSE_CANCEL, id, op->now_ms, PAWL_UNTIL_RESUMED_MS), &changed);
    return status == PAWL_OK && changed > 0 ? settle_holds(op) : status;
}

pawl_status sqlite_pause_set(struct store *store, const struct pause_row *in, pawl_error *err) {
    struct operation op = operation_write(store, "pause_set", check_pause(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    op.news = true;
    pawl_status status =
        statement_run(SQL(&op, SQLITE_Q_PAUSE_INSERT, ROW_OF(pause_new_shape, in), op.now_ms));
    if (status == PAWL_OK && in->scope == PAUSE_MESSAGE)
        status = cancel(&op, in->name);
    return operation_end(&op, status);
}

/* Messages that waited because of the pause are due at once. */
static pawl_status resume(struct operation *op, enum pause_scope scope, pawl_str name) {
    pawl_status status = statement_run(SQL(op, SQLITE_Q_PAUSE_RESUME, scope, name, op->now_ms));
    return status == PAWL_OK ? settle_holds(op) : status;
}

pawl_status sqlite_pause_clear(struct store *store, enum pause_scope scope, pawl_str name, pawl_error *err) {
    int64_t changed = 0;
    struct operation op = operation_write(store, "pause_clear", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_run_count(SQL(&op, SQLITE_Q_PAUSE_DELETE, scope, name), &changed);
    if (status == PAWL_OK && changed == 0)
        status = error_set(err, PAWL_NOT_FOUND, "pause_clear", "it is not paused");
    if (status == PAWL_OK && scope <= PAUSE_HANDLER)
        status = resume(&op, scope, name);
    op.news = true;
    return operation_end(&op, status);
}
