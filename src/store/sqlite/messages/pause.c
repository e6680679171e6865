/* Pauses and cancellations of messages on SQLite. */
#include "store/sqlite/messages/pause.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/relay.h"
#include "store/sqlite/file/row.h"

pawl_status pause_any(struct operation *op, bool *any) {
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_ANY);
    return statement_any(&s, any);
}

pawl_status pause_fits(struct operation *op, const struct item *item, bool *fits) {
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_FITS);
    char id[UUID_TEXT_BYTES];
    bind_text(&s, str_absent(item->topic) ? item->type : item->topic);
    bind_text(&s, item->stream);
    bind_text(&s, str_from(uuid_format(item->id, id)));
    return statement_any(&s, fits);
}

pawl_status pause_until(struct operation *op, const struct release_item *item, int64_t *until_ms) {
    *until_ms = op->now_ms + item->delay_ms;
    if (str_absent(item->handler))
        return PAWL_OK;
    char id[UUID_TEXT_BYTES];
    bool waits = false;
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_HANDLER);
    bind_text(&s, item->handler);
    bind_text(&s, str_from(uuid_format(item->ref.id, id)));
    pawl_status status = statement_any(&s, &waits);
    if (waits)
        *until_ms = PAWL_UNTIL_RESUMED_MS;
    return status;
}

static pawl_status settle_holds(struct operation *op) {
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_RESUME_HOLDS);
    bind_int(&s, op->now_ms);
    return statement_run(&s);
}

/* A cancelled message that waits for a resume becomes due, so that a worker ends it. */
static pawl_status cancel(struct operation *op, pawl_str name) {
    pawl_uuid id;
    if (!uuid_parse(name, &id))
        return PAWL_OK;
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_CANCEL);
    bind_uuid(&s, id);
    bind_int(&s, op->now_ms);
    bind_int(&s, PAWL_UNTIL_RESUMED_MS);
    int64_t changed = 0;
    pawl_status status = statement_run_count(&s, &changed);
    return status == PAWL_OK && changed > 0 ? settle_holds(op) : status;
}

pawl_status sqlite_pause_set(struct store *store, const struct pause_row *in, pawl_error *err) {
    struct operation op;
    pawl_status status = check_pause(in, err);
    if (!operation_begin(&op, store, OPERATION_WRITE, "pause_set", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_PAUSE_INSERT);
    row_bind(&s, &pause_new_shape, in);
    bind_int(&s, op.now_ms);
    op.news = true;
    status = statement_run(&s);
    if (status == PAWL_OK && in->scope == PAUSE_MESSAGE)
        status = cancel(&op, in->name);
    return operation_end(&op, status);
}

/* Messages that waited because of the pause are due at once. */
static pawl_status resume(struct operation *op, enum pause_scope scope, pawl_str name) {
    struct statement s = statement_begin(op, SQLITE_Q_PAUSE_RESUME);
    bind_int(&s, scope);
    bind_text(&s, name);
    bind_int(&s, op->now_ms);
    pawl_status status = statement_run(&s);
    return status == PAWL_OK ? settle_holds(op) : status;
}

pawl_status sqlite_pause_clear(struct store *store, enum pause_scope scope, pawl_str name, pawl_error *err) {
    struct operation op;
    int64_t changed = 0;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_WRITE, "pause_clear", &status, err))
        return status;
    struct statement s = statement_begin(&op, SQLITE_Q_PAUSE_DELETE);
    bind_int(&s, scope);
    bind_text(&s, name);
    status = statement_run_count(&s, &changed);
    if (status == PAWL_OK && changed == 0)
        status = error_set(err, PAWL_NOT_FOUND, "pause_clear", "it is not paused");
    if (status == PAWL_OK && scope != PAUSE_MESSAGE)
        status = resume(&op, scope, name);
    op.news = true;
    return operation_end(&op, status);
}
