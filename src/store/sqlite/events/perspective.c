/* Perspectives on SQLite: find, register, backfill, pause, remove. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/events/events.h"

pawl_status perspective_missing(const struct operation *op, pawl_str key) {
    return error_set(op->err, PAWL_NOT_FOUND, op->name, "perspective \"%.*s\" is not registered",
                     STR_ARG(key));
}

LOCAL_SHAPE(brief, struct perspective_brief, M(state), M(paused), M(run), M(target), M(clear), M(batch),
            M(max_attempts), M(policy), M(backfilled), M(backfill_after), M(position), M(version), M(name));

pawl_status perspective_read(struct operation *op, pawl_str key, struct perspective_brief *out) {
    *out = (struct perspective_brief){.found = false};
    return row_find(SQL(op, SQLITE_Q_PERSPECTIVE_FIND, key), &brief_shape, op->scratch, out, &out->found);
}

bool perspective_fed(const struct perspective_brief *perspective) {
    return perspective->found &&
           (perspective->state == PERSPECTIVE_LIVE || perspective->state == PERSPECTIVE_FILLING);
}

pawl_status perspective_find_live(struct operation *op, pawl_str name, pawl_str *key,
                                  struct perspective_brief *out) {
    TRY(perspective_read(op, name, out));
    *key = name;
    if (out->found && out->state != PERSPECTIVE_REMOVED)
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_PERSPECTIVE_LIVE, name);
    bool found = statement_next(&s);
    if (found)
        *key = column_copy(&s, 0, op->scratch);
    TRY(statement_end(&s));
    if (!found)
        return perspective_missing(op, name);
    return perspective_read(op, *key, out);
}

/* ---- Patterns */

struct named_pattern {
    pawl_str key;
    struct event_pattern pattern;
};

LOCAL_SHAPE(named, struct named_pattern, M(key), M(pattern.mode), M(pattern.text));

static pawl_status type_map(struct operation *op, const struct row_list *patterns, pawl_str type) {
    for (size_t i = 0; i < patterns->count; i++) {
        const struct named_pattern *named = (const struct named_pattern *)patterns->rows + i;
        bool matches = false;
        TRY(event_pattern_matches(&named->pattern, type, &matches, op->err));
        if (!matches)
            continue;
        TRY(statement_run(SQL(op, SQLITE_Q_MAPPING_INSERT, type, named->key)));
    }
    return PAWL_OK;
}

pawl_status types_resolve(struct operation *op, pawl_str type) {
    struct row_list patterns = {NULL, 0};
    pawl_status status =
        rows_read(statement_begin(op, SQLITE_Q_PATTERN_FED), &named_shape, op->scratch, &patterns);
    if (status != PAWL_OK || patterns.count == 0)
        return status;
    if (!str_absent(type))
        return type_map(op, &patterns, type);
    struct statement s = statement_begin(op, SQLITE_Q_EVENT_TYPE_LIST);
    while (status == PAWL_OK && statement_next(&s))
        status = type_map(op, &patterns, column_copy(&s, 0, op->scratch));
    return statement_close(&s, status);
}

/* ---- Register */

bool perspective_same_text(pawl_str a, pawl_str b) {
    return str_absent(a) == str_absent(b) && str_equal(a, b);
}

static pawl_status same_definition(struct operation *op, const struct perspective_new *in, pawl_str key,
                                   const struct perspective_brief *kept, bool *same) {
    *same = kept->run == in->run && perspective_same_text(kept->target, in->target) &&
            perspective_same_text(kept->clear, in->clear) &&
            kept->batch == (in->batch != 0 ? in->batch : PAWL_PERSPECTIVE_BATCH_DEFAULT) &&
            kept->policy == (in->policy != POLICY_DEFAULT ? in->policy : POLICY_BLOCK) &&
            (in->max_attempts == 0 || kept->max_attempts == in->max_attempts);
    size_t count = 0;
    struct statement s = SQL(op, SQLITE_Q_PATTERN_LIST, key);
    for (; statement_next(&s); count++)
        *same = *same && count < in->pattern_count &&
                (int64_t)in->patterns[count].mode == column_int(&s, 0) &&
                str_equal(in->patterns[count].text, column_borrow(&s, 1));
    *same = *same && count == in->pattern_count;
    return statement_end(&s);
}

static pawl_status insert(struct operation *op, const struct perspective_new *in, pawl_str key,
                          enum perspective_state state) {
    TRY(statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_INSERT, key, in->name, in->version, state, in->run,
                          in->target, in->clear, in->batch != 0 ? in->batch : PAWL_PERSPECTIVE_BATCH_DEFAULT,
                          in->max_attempts != 0 ? in->max_attempts : op->settings.max_attempts,
                          in->policy != POLICY_DEFAULT ? in->policy : POLICY_BLOCK, op->now_ms)));
    return patterns_insert(op, key, in->patterns, in->pattern_count);
}

static pawl_status put_perspective(struct operation *op, const struct perspective_new *in,
                                   struct perspective_registered *out) {
    pawl_str key;
    struct perspective_brief kept;
    bool same = false, live = false;
    pawl_status status = perspective_key(op->scratch, in->name, in->version, &key, op->err);
    if (status == PAWL_OK)
        status = perspective_read(op, key, &kept);
    if (status == PAWL_OK && kept.found)
        status = same_definition(op, in, key, &kept, &same);
    if (status != PAWL_OK)
        return status;
    if (kept.found && (perspective_fed(&kept) || !same)) {
        *out = (struct perspective_registered){same ? ANSWER_DUPLICATE : ANSWER_CONFLICT, kept.state,
                                               kept.backfilled};
        return PAWL_OK;
    }
    struct statement s = SQL(op, SQLITE_Q_PERSPECTIVE_LIVE, in->name);
    live = statement_next(&s);
    status = statement_end(&s);
    *out =
        (struct perspective_registered){ANSWER_APPLIED, live ? PERSPECTIVE_FILLING : PERSPECTIVE_LIVE, false};
    if (status == PAWL_OK && kept.found) {
        status = statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_REFILL, key, out->state));
    } else if (status == PAWL_OK) {
        status = insert(op, in, key, out->state);
    }
    return status == PAWL_OK ? types_resolve(op, (pawl_str){NULL, 0}) : status;
}

pawl_status sqlite_perspective_register(struct store *store, const struct perspective_new *in,
                                        struct perspective_registered *out, pawl_error *err) {
    struct perspective_registered result;
    struct operation op = operation_write(store, "perspective_register", check_perspective(in, err), err);
    return operation_give(&op, put_perspective(&op, in, &result), out, &result);
}

static pawl_status backfill(struct operation *op, pawl_str key, int streams_max, bool *done) {
    struct perspective_brief kept;
    TRY(perspective_read(op, key, &kept));
    if (!kept.found || kept.state == PERSPECTIVE_REMOVED)
        return perspective_missing(op, key);
    *done = true;
    if (kept.backfilled || kept.state == PERSPECTIVE_RETIRED)
        return PAWL_OK;
    pawl_str last = {NULL, 0};
    struct statement s = SQL(op, SQLITE_Q_BACKFILL_STREAMS, kept.backfill_after, streams_max);
    if (statement_next(&s)) {
        *done = column_int(&s, 0) < streams_max;
        last = column_copy(&s, 1, op->scratch);
    }
    TRY(statement_end(&s));
    TRY(statement_run(SQL(op, SQLITE_Q_BACKFILL_INSERT, key, kept.backfill_after, streams_max, op->now_ms)));
    return statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_SET_BACKFILL, key, last, *done ? 1 : 0));
}

pawl_status sqlite_perspective_backfill(struct store *store, pawl_str perspective, int streams_max,
                                        bool *done, pawl_error *err) {
    bool result = false;
    struct operation op =
        operation_write(store, "perspective_backfill", check_backfill(perspective, streams_max, err), err);
    return operation_give(&op, backfill(&op, perspective, streams_max, &result), done, &result);
}

pawl_status perspective_set_state(struct operation *op, pawl_str key, enum perspective_state state,
                                  bool paused) {
    return statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_SET_STATE, key, state, paused ? 1 : 0));
}

pawl_status perspective_unmap(struct operation *op, pawl_str key) {
    return statement_run(SQL(op, SQLITE_Q_MAPPING_DELETE, key));
}

static pawl_status change(struct operation *op, pawl_str key, enum perspective_action action,
                          enum store_answer *answer) {
    struct perspective_brief kept;
    TRY(perspective_read(op, key, &kept));
    bool removed = kept.found && kept.state == PERSPECTIVE_REMOVED;
    *answer = ANSWER_APPLIED;
    if (!kept.found || (removed && action != PERSPECTIVE_REMOVE))
        *answer = ANSWER_NOT_FOUND;
    else if (action == PERSPECTIVE_REMOVE ? removed : kept.paused == (action == PERSPECTIVE_PAUSE))
        *answer = ANSWER_DUPLICATE;
    if (*answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (action != PERSPECTIVE_REMOVE)
        return perspective_set_state(op, key, kept.state, action == PERSPECTIVE_PAUSE);
    TRY(perspective_set_state(op, key, PERSPECTIVE_REMOVED, false));
    return perspective_unmap(op, key);
}

pawl_status sqlite_perspective_change(struct store *store, pawl_str perspective,
                                      enum perspective_action action, enum store_answer *answer,
                                      pawl_error *err) {
    enum store_answer result = ANSWER_APPLIED;
    struct operation op =
        operation_write(store, "perspective_change", check_key("perspective_change", perspective, err), err);
    return operation_give(&op, change(&op, perspective, action, &result), answer, &result);
}

pawl_status patterns_read(struct operation *op, pawl_str key, struct arena *arena,
                          struct event_pattern **patterns, size_t *count) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(SQL(op, SQLITE_Q_PATTERN_LIST, key), &event_pattern_shape, arena, &list));
    *patterns = list.rows;
    *count = list.count;
    return PAWL_OK;
}

pawl_status patterns_insert(struct operation *op, pawl_str key, const struct event_pattern *patterns,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        TRY(statement_run(
            SQL(op, SQLITE_Q_PATTERN_INSERT, key, (int64_t)i + 1, patterns[i].mode, patterns[i].text)));
    return PAWL_OK;
}
