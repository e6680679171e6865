/* Queries about perspectives: the list with counts and lag, and how far one has got. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/events/events.h"

enum { WALK_MAX = 10000 };

/* What keeps a perspective from having applied everything. */
struct walk {
    int64_t position;
    pawl_str stream; /* absent: nothing that was looked at */
    int64_t appended_ms;
    bool whole; /* false: there are more events than were looked at; appended_ms is that of the last one */
};

static pawl_status walk(struct operation *op, pawl_str key, int64_t from, int64_t look, struct walk *out) {
    int64_t head = 0;
    bool found = false;
    TRY(statement_number(statement_begin(op, SQLITE_Q_EVENT_POSITION), &head, &found));
    int64_t through = head - from > look ? from + look : head;
    *out = (struct walk){.position = through > from ? through : from, .whole = through == head};
    struct statement s = SQL(op, SQLITE_Q_PERSPECTIVE_WALK, key, from, through);
    if (statement_next(&s))
        *out = (struct walk){column_int(&s, 0) - 1, column_copy(&s, 1, op->scratch), column_int(&s, 2), true};
    TRY(statement_end(&s));
    if (!out->whole)
        TRY(statement_number(SQL(op, SQLITE_Q_EVENT_APPENDED, out->position), &out->appended_ms, &found));
    return PAWL_OK;
}

/* So that the next look begins there. */
static pawl_status remember(struct operation *op, pawl_str key, int64_t position) {
    return statement_run(SQL(op, SQLITE_Q_PERSPECTIVE_SET_POSITION, key, position));
}

static struct perspective_row row_column(struct statement *s, struct arena *arena) {
    struct perspective_row row = {.lag_whole = false};
    row_read(s, 0, &perspective_shape, arena, &row);
    row.lag_events = row.matched > row.applied ? row.matched - row.applied : 0; /* retired: no types */
    return row;
}

static bool is_fed(const struct perspective_row *row) {
    return row->state == PERSPECTIVE_LIVE || row->state == PERSPECTIVE_FILLING;
}

static pawl_status row_finish(struct operation *op, struct arena *arena, int64_t look,
                              struct perspective_row *row) {
    struct walk at = {0};
    TRY(patterns_read(op, row->key, arena, &row->patterns, &row->pattern_count));
    row->lag_whole = true;
    if (!is_fed(row)) {
        row->position = 0;
        return PAWL_OK;
    }
    TRY(walk(op, row->key, row->position, look, &at));
    if (!at.whole && op->writes)
        TRY(remember(op, row->key, at.position));
    row->position = at.position;
    row->lag_whole = at.whole;
    row->lag_ms = perspective_lag_ms(row, at.appended_ms > 0 ? op->now_ms - at.appended_ms : 0);
    return PAWL_OK;
}

/* What is to be listed, and what is still to be read of each row. */
struct listing {
    pawl_str name; /* absent: all */
    enum operation_mode mode;
    pawl_status (*finish)(struct operation *op, struct arena *arena, int64_t look,
                          struct perspective_row *row);
};

static pawl_status list_all(struct store *store, const struct listing *listing, struct arena *arena,
                            struct perspective_rows *out, pawl_error *err) {
    size_t fed = 0;
    struct perspective_rows list = {.rows = arena_array(arena, PAWL_PERSPECTIVES_MAX, sizeof *list.rows)};
    if (list.rows == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective_list", "no memory for the answer");
    struct operation op = operation_begin(store, listing->mode, "perspective_list", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s = SQL(&op, SQLITE_Q_PERSPECTIVE_LIST, listing->name);
    while (list.count < PAWL_PERSPECTIVES_MAX && statement_next(&s)) {
        list.rows[list.count] = row_column(&s, arena);
        fed += is_fed(&list.rows[list.count++]);
    }
    pawl_status status = statement_end(&s);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        status = listing->finish(&op, arena, perspective_look(fed), &list.rows[i]);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                    struct perspective_rows *out, pawl_error *err) {
    struct listing listing = {name, OPERATION_READ, row_finish};
    struct perspective_rows list = {0}, moved;
    bool whole = true;
    TRY(list_all(store, &listing, arena, &list, err));
    for (size_t i = 0; i < list.count; i++)
        whole = whole && list.rows[i].lag_whole;
    /* The next list continues from here; only a writing transaction can remember that. If another writer
     * takes long, the result is still right, and the next list tries again. */
    listing.mode = OPERATION_WRITE;
    if (!whole && list_all(store, &listing, arena, &moved, NULL) == PAWL_OK)
        list = moved;
    *out = list;
    return PAWL_OK;
}

static pawl_status definition_finish(struct operation *op, struct arena *arena, int64_t look,
                                     struct perspective_row *row) {
    (void)look;
    row->lag_whole = true;
    row->checkpoints = row->pending = row->processing = row->completed = row->failed = row->stopped = 0;
    row->matched = row->applied = row->lag_events = row->position = 0;
    return patterns_read(op, row->key, arena, &row->patterns, &row->pattern_count);
}

pawl_status sqlite_perspective_defined(struct store *store, struct arena *arena, struct perspective_rows *out,
                                       pawl_error *err) {
    const struct listing listing = {{NULL, 0}, OPERATION_READ, definition_finish};
    return list_all(store, &listing, arena, out, err);
}

static pawl_status reached(struct operation *op, const struct perspective_target *in, struct arena *arena,
                           struct perspective_reached *out) {
    pawl_str key, stream = in->stream;
    struct perspective_brief kept;
    struct walk at = {0};
    struct checkpoint_state c = {0};
    int64_t head = 0, waiting = 0;
    TRY(perspective_find_live(op, in->perspective, &key, &kept));
    if (str_absent(in->stream)) {
        TRY(walk(op, key, kept.position, WALK_MAX, &at));
        if (at.position > kept.position)
            TRY(remember(op, key, at.position));
        stream = at.stream;
        out->at = at.position;
        out->reached = out->at >= in->position;
    }
    if (!str_absent(stream))
        TRY(checkpoint_read(op, stream, key, &c));
    if (!str_absent(in->stream)) {
        out->at = c.found ? c.view.version : 0;
        TRY(stream_version(op, in->stream, &head));
        if (out->at < in->version)
            TRY(events_matching(op, in->stream, key, out->at, in->version, &waiting));
        out->reached = out->at >= in->version || (head >= in->version && waiting == 0);
    }
    out->failed = !out->reached && c.found && c.view.status == CHECKPOINT_FAILED;
    if (out->failed)
        TRY(str_dup(arena, c.view.error, &out->error, op->err));
    return PAWL_OK;
}

pawl_status sqlite_perspective_reached(struct store *store, const struct perspective_target *in,
                                       struct arena *arena, struct perspective_reached *out,
                                       pawl_error *err) {
    struct perspective_reached result = {0};
    /* A position is remembered, so that the next question begins there. */
    enum operation_mode mode = str_absent(in->stream) ? OPERATION_WRITE : OPERATION_READ;
    struct operation op = operation_begin(store, mode, "perspective_reached", check_target(in, err), err);
    return operation_give(&op, reached(&op, in, arena, &result), out, &result);
}
