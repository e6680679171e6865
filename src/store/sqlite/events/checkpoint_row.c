/* Reading and writing the row of a checkpoint. */
#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/events/events.h"

/* Neither error nor lease. */
static bool is_plain(const struct checkpoint_view *v) {
    return str_absent(v->error) && str_absent(v->fingerprint) && !v->stopped && uuid_is_nil(v->instance) &&
           v->lease_until_ms == 0 && v->failed_version == 0;
}

/* Where checkpoint_shape has next_ms: in the table, when it is due. */
enum { CHECKPOINT_DUE = 12 };

struct checkpoint_state checkpoint_column(struct statement *s, struct arena *arena) {
    struct checkpoint_state c = {.found = true};
    row_read(s, 0, &checkpoint_shape, arena, &c.view);
    c.due_ms = column_is_null(s, CHECKPOINT_DUE) ? -1 : c.view.next_ms;
    c.view.next_ms = 0;
    c.stored = (struct counted_state){c.view.status, c.view.stopped};
    c.plain = is_plain(&c.view);
    return c;
}

pawl_status checkpoint_read(struct operation *op, pawl_str stream, pawl_str key,
                            struct checkpoint_state *out) {
    struct statement s = SQL(op, SQLITE_Q_CHECKPOINT_READ, stream, key);
    *out = (struct checkpoint_state){.found = false};
    if (statement_next(&s))
        *out = checkpoint_column(&s, op->scratch);
    return statement_end(&s);
}

/* NULL: never. */
static struct value due_value(const struct checkpoint_state *c) {
    return value_or_null(c->due_ms >= 0, c->due_ms);
}

static pawl_status write_plain(struct operation *op, const struct checkpoint_state *c) {
    const struct checkpoint_view *v = &c->view;
    return statement_run(SQL(op, SQLITE_Q_CHECKPOINT_MOVE, v->stream, v->perspective, v->version, v->token,
                             v->status, v->attempts, due_value(c), op->now_ms));
}

static pawl_status write_all(struct operation *op, const struct checkpoint_state *c) {
    const struct checkpoint_view *v = &c->view;
    struct statement s = SQL(op, SQLITE_Q_CHECKPOINT_WRITE, v->stream, v->perspective, v->version, v->token,
                             v->status, v->attempts, v->error, v->fingerprint, v->stopped,
                             id_or_null(v->instance), v->lease_until_ms, due_value(c), v->failed_version,
                             v->replay_to);
    bind_int(&s, op->now_ms);
    return statement_run(s);
}

pawl_status checkpoint_write(struct operation *op, struct checkpoint_state *c) {
    struct counted_state now = {c->view.status, c->view.stopped};
    bool plain = is_plain(&c->view);
    TRY(plain && c->plain ? write_plain(op, c) : write_all(op, c));
    TRY(perspective_count_moved(op, c->view.perspective, c->stored, now));
    c->stored = now;
    c->plain = plain;
    return PAWL_OK;
}

pawl_status sqlite_checkpoints_list(struct store *store, const struct checkpoint_filter *filter,
                                    struct arena *arena, struct checkpoint_views *out, pawl_error *err) {
    struct checkpoint_views list = {0};
    struct operation op =
        operation_read(store, "checkpoints_list", check_limit("checkpoints_list", filter->limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    list.rows = arena_array(arena, (size_t)filter->limit, sizeof *list.rows);
    if (list.rows == NULL)
        return operation_end(&op, operation_no_memory(&op));
    struct statement s = SQL(&op, SQLITE_Q_CHECKPOINT_LIST, ROW_OF(checkpoint_filter_shape, filter));
    while (statement_next(&s)) {
        struct checkpoint_state c = checkpoint_column(&s, arena);
        if (c.view.status == CHECKPOINT_FAILED)
            c.view.next_ms = c.due_ms > 0 ? c.due_ms : 0;
        if (c.view.status == CHECKPOINT_COMPLETED && c.view.version < c.view.head)
            c.view.status = CHECKPOINT_PENDING;
        list.rows[list.count++] = c.view;
    }
    return operation_give(&op, statement_end(&s), out, &list);
}
