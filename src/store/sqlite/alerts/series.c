/* Rollups and series on SQLite. */
#include "store/sqlite/alerts/series.h"

#include "base/str.h"
#include "store/jobs.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/view.h"

/* ---- Names */

static pawl_status find(struct operation *op, const struct series_point *name, int64_t *id, bool *own) {
    struct statement s = SQL(op, SQLITE_Q_SERIES_FIND, name->scope, name->kind, name->name);
    *id = 0;
    *own = false;
    if (statement_next(&s)) {
        *id = column_int(&s, 0);
        *own = column_int(&s, 1) != 0;
    }
    return statement_end(&s);
}

static pawl_status id_of(struct operation *op, const struct series_point *name, int64_t *id) {
    bool own = false;
    pawl_status status = find(op, name, id, &own);
    if (status == PAWL_OK && !own)
        status = statement_run(SQL(op, SQLITE_Q_SERIES_ADD, name->scope, name->kind, name->name));
    return status == PAWL_OK && !own ? find(op, name, id, &own) : status;
}

static int64_t step_of(const struct operation *op) { return op->now_ms - op->now_ms % SERIES_STEP_MS; }

static pawl_status series_add(struct operation *op, const struct series_point *points, size_t count) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        int64_t id = 0;
        status = id_of(op, &points[i], &id);
        if (status == PAWL_OK)
            status =
                statement_run(SQL(op, SQLITE_Q_POINT_ADD, id, step_of(op), ROW_OF(point_shape, &points[i])));
    }
    return status == PAWL_OK ? series_look(op) : status;
}

/* ---- Looking */

/* What was seen of the series, by their ids. */
struct look {
    struct seen {
        int64_t id, ready, dead, oldest_age_ms;
    } * seen;
    size_t count, cap;
};

static pawl_status seen_of(struct operation *op, struct look *look, int64_t id, struct seen **out) {
    size_t i = 0;
    while (i < look->count && look->seen[i].id != id)
        i++;
    pawl_status status = PAWL_OK;
    if (i == look->count) {
        status =
            list_grow(op, op->scratch, (void **)&look->seen, &look->cap, look->count, sizeof *look->seen);
        if (status != PAWL_OK)
            return status;
        look->seen[look->count++].id = id;
    }
    *out = &look->seen[i];
    return PAWL_OK;
}

static pawl_status note(struct operation *op, struct look *look, const struct series_point *name,
                        struct seen found) {
    int64_t id = 0;
    struct seen *seen = NULL;
    if (found.ready <= 0 && found.dead <= 0)
        return PAWL_OK;
    pawl_status status = id_of(op, name, &id);
    if (status == PAWL_OK)
        status = seen_of(op, look, id, &seen);
    if (status != PAWL_OK)
        return status;
    seen->ready += found.ready;
    seen->dead += found.dead;
    if (found.oldest_age_ms > seen->oldest_age_ms)
        seen->oldest_age_ms = found.oldest_age_ms;
    return PAWL_OK;
}

static int64_t age_ms(const struct operation *op, int64_t since_ms) {
    return since_ms > 0 && since_ms < op->now_ms ? op->now_ms - since_ms : 0;
}

static pawl_status look_at_messages(struct operation *op, struct look *look) {
    pawl_status status = PAWL_OK;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT && status == PAWL_OK; kind++) {
        struct kind_counts counts = {0};
        const struct series_point name = {.scope = SERIES_KIND, .kind = kind, .name = STR("")};
        status = view_count_kind(op, kind, &counts);
        if (status == PAWL_OK)
            status = note(op, look, &name,
                          (struct seen){0, counts.ready, counts.dead, age_ms(op, counts.oldest_ready_ms)});
    }
    return status;
}

static pawl_status look_at_jobs(struct operation *op, struct look *look) {
    const struct series_point all = {.scope = SERIES_KIND, .kind = ROLLUP_JOB, .name = STR("")};
    struct row_list list = {NULL, 0};
    pawl_status status =
        rows_read(statement_begin(op, SQLITE_Q_JOB_COUNTS), &job_counts_shape, op->scratch, &list);
    for (size_t i = 0; i < list.count && status == PAWL_OK; i++) {
        const struct job_counts *counts = &((const struct job_counts *)list.rows)[i];
        const struct series_point queue = {.scope = SERIES_QUEUE, .kind = ROLLUP_JOB, .name = counts->queue};
        struct seen seen = {0, counts->ready, counts->dead, age_ms(op, counts->oldest_ready_ms)};
        status = note(op, look, &all, seen);
        if (status == PAWL_OK)
            status = note(op, look, &queue, seen);
    }
    return status;
}

/* What has nothing any more is to be seen as well. */
static pawl_status look_at_known(struct operation *op, struct look *look) {
    struct row_list list = {NULL, 0};
    struct seen *seen;
    pawl_status status =
        rows_read(statement_begin(op, SQLITE_Q_SERIES_LIST), &number_shape, op->scratch, &list);
    for (size_t i = 0; i < list.count && status == PAWL_OK; i++)
        status = seen_of(op, look, ((const int64_t *)list.rows)[i], &seen);
    return status;
}

pawl_status series_look(struct operation *op) {
    struct look look = {NULL, 0, 0};
    bool looked = false;
    pawl_status status = statement_any(SQL(op, SQLITE_Q_POINT_LOOKED, step_of(op)), &looked);
    if (status != PAWL_OK || looked)
        return status;
    status = look_at_known(op, &look);
    if (status == PAWL_OK)
        status = look_at_messages(op, &look);
    if (status == PAWL_OK)
        status = look_at_jobs(op, &look);
    for (size_t i = 0; i < look.count && status == PAWL_OK; i++) {
        const struct seen *seen = &look.seen[i];
        int64_t changed = 0;
        status =
            statement_run_count(SQL(op, SQLITE_Q_SERIES_SEEN, seen->id, seen->ready, seen->dead), &changed);
        if (status == PAWL_OK && (changed > 0 || seen->ready > 0))
            status = statement_run(SQL(op, SQLITE_Q_POINT_LOOK, seen->id, step_of(op), seen->ready,
                                       seen->dead, seen->oldest_age_ms));
    }
    return status;
}

/* ---- Growing old */

pawl_status series_fold(struct operation *op) {
    static const struct {
        int64_t step_ms, to_ms, kept_ms;
    } rows[] = {{SERIES_STEP_MS, SERIES_MINUTE_MS, SERIES_STEP_KEPT_MS},
                {SERIES_MINUTE_MS, SERIES_QUARTER_MS, SERIES_MINUTE_KEPT_MS},
                {SERIES_QUARTER_MS, SERIES_QUARTER_MS, SERIES_KEPT_MS}};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == PAWL_OK; i++) {
        int64_t step_ms = rows[i].step_ms, to_ms = rows[i].to_ms, first_ms = 0;
        int64_t before_ms = (op->now_ms - rows[i].kept_ms) / to_ms * to_ms;
        bool found = false;
        status = statement_number(SQL(op, SQLITE_Q_POINT_FIRST, step_ms), &first_ms, &found);
        if (status != PAWL_OK || !found || first_ms >= before_ms)
            continue;
        if (first_ms - first_ms % to_ms + SERIES_FOLD_STEPS * to_ms < before_ms)
            before_ms = first_ms - first_ms % to_ms + SERIES_FOLD_STEPS * to_ms;
        if (to_ms > step_ms)
            status = statement_run(SQL(op, SQLITE_Q_POINT_FOLD, step_ms, to_ms, before_ms));
        if (status == PAWL_OK)
            status = statement_run(SQL(op, SQLITE_Q_POINT_PURGE, step_ms, before_ms));
        if (status == PAWL_OK && to_ms == step_ms)
            status = statement_run(statement_begin(op, SQLITE_Q_SERIES_FORGET));
    }
    return status;
}

/* ---- Adding */

static pawl_status add(struct operation *op, const struct rollups_new *in) {
    for (size_t i = 0; i < in->count; i++)
        TRY(statement_run(SQL(op, SQLITE_Q_ROLLUP_ADD, ROW_OF(rollup_shape, &in->cells[i]))));
    return in->point_count > 0 ? series_add(op, in->points, in->point_count) : PAWL_OK;
}

pawl_status sqlite_rollups_add(struct store *store, const struct rollups_new *in, pawl_error *err) {
    struct operation op = operation_write(store, "rollups_add", check_rollups(in, err), err);
    return operation_end(&op, add(&op, in));
}
