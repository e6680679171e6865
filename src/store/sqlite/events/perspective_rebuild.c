/* Rebuilding a perspective in place, and switching to another version. */
#include "base/error.h"
#include "base/str.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/events/user_sql.h"

static pawl_status rebuild(struct operation *op, const struct perspective_reset *in,
                           const struct perspective_brief *kept, pawl_str streams, int64_t *count) {
    int64_t applied = 0;
    bool found = false;
    TRY(statement_number(SQL(op, SQLITE_Q_CHECKPOINT_RESET_APPLIED, in->perspective, streams), &applied,
                         &found));
    TRY(perspective_count_applied(op, in->perspective, -applied));
    TRY(statement_run_count(
        SQL(op, SQLITE_Q_CHECKPOINT_REBUILD, in->perspective, streams, op->now_ms, operation_next_token(op)),
        count));
    TRY(perspective_count_again(op, in->perspective));
    TRY(statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_SET_POSITION, in->perspective, 0)));
    if (!str_absent(kept->clear))
        TRY(user_sql_run(op, kept->clear, streams, op->err));
    return PAWL_OK;
}

static pawl_status reset(struct operation *op, const struct perspective_reset *in, int64_t *count) {
    struct perspective_brief kept;
    pawl_str streams;
    TRY(perspective_read(op, in->perspective, &kept));
    if (!kept.found || kept.state == PERSPECTIVE_REMOVED)
        return perspective_missing(op, in->perspective);
    TRY(check_clear(in, kept.clear, op->err));
    TRY(texts_json(op, in->streams, in->stream_count, &streams));
    if (in->mode == RESET_REBUILD)
        return rebuild(op, in, &kept, streams, count);
    TRY(statement_run_count(SQL(op, SQLITE_Q_CHECKPOINT_RESET_FAILED, in->perspective, streams, op->now_ms),
                            count));
    return perspective_count_again(op, in->perspective);
}

pawl_status sqlite_perspective_reset(struct store *store, const struct perspective_reset *in, int64_t *count,
                                     pawl_error *err) {
    int64_t result = 0;
    struct operation op = operation_write(store, "perspective_reset", check_reset(in, err), err);
    return operation_give(&op, reset(&op, in, &result), count, &result);
}

/* ---- Switch */

static pawl_status behind(struct operation *op, pawl_str key, int64_t *count) {
    bool found = false;
    return statement_number(SQL(op, SQLITE_Q_PERSPECTIVE_BEHIND, key), count, &found);
}

static pawl_status compare(struct operation *op, const struct perspective_switch *in, pawl_str old,
                           struct arena *arena, struct switch_result *out) {
    int64_t old_behind = 0;
    TRY(behind(op, old, &old_behind));
    if (old_behind == 0)
        TRY(user_sql_text(op, in->digest_old, arena, &out->digest_old, op->err));
    if (old_behind == 0)
        TRY(user_sql_text(op, in->digest_new, arena, &out->digest_new, op->err));
    if (old_behind > 0 || !perspective_same_text(out->digest_old, out->digest_new))
        out->answer = ANSWER_CONFLICT;
    return PAWL_OK;
}

static pawl_status switch_to(struct operation *op, const struct perspective_switch *in, struct arena *arena,
                             struct switch_result *out) {
    pawl_str key, old = {NULL, 0};
    struct perspective_brief kept = {0};
    TRY(perspective_key(op->scratch, in->name, in->version, &key, op->err));
    TRY(perspective_read(op, key, &kept));
    if (!perspective_fed(&kept))
        return error_set(op->err, PAWL_NOT_FOUND, op->name,
                         "perspective \"%.*s\" is not registered, or not being filled", STR_ARG(key));
    out->answer = ANSWER_DUPLICATE;
    if (kept.state == PERSPECTIVE_LIVE)
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_PERSPECTIVE_LIVE, in->name);
    if (statement_next(&s))
        old = column_copy(&s, 0, op->scratch);
    TRY(statement_end(&s));
    TRY(behind(op, key, &out->behind));
    out->answer = out->behind == 0 && kept.backfilled ? ANSWER_APPLIED : ANSWER_CONFLICT;
    if (out->answer == ANSWER_APPLIED && !str_absent(in->digest_old) && !str_absent(old))
        TRY(compare(op, in, old, arena, out));
    if (out->answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (!str_absent(old)) {
        TRY(perspective_set_state(op, old, PERSPECTIVE_RETIRED, false));
        TRY(perspective_unmap(op, old));
    }
    return perspective_set_state(op, key, PERSPECTIVE_LIVE, kept.paused);
}

pawl_status sqlite_perspective_switch(struct store *store, const struct perspective_switch *in,
                                      struct arena *arena, struct switch_result *out, pawl_error *err) {
    struct switch_result result = {0};
    struct operation op = operation_write(store, "perspective_switch", check_switch(in, err), err);
    return operation_give(&op, switch_to(&op, in, arena, &result), out, &result);
}
