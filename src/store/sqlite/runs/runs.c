/* Reading and writing the rows of runs and partitions, and starting runs. */
#include "store/sqlite/runs/runs.h"

#include <inttypes.h>

#include "base/str.h"
#include "base/uuid.h"

pawl_status runs_load(struct operation *op, int64_t id, struct arena *arena, struct run_row *run,
                      bool *found) {
    struct statement s = SQL(op, SQLITE_Q_RUN_FIND, id);
    *found = statement_next(&s);
    if (*found) {
        *run = (struct run_row){0};
        row_read(&s, 0, &run_shape, arena, run);
    }
    return statement_end(&s);
}

pawl_status runs_load_sums(struct operation *op, struct run_row *run) {
    struct statement s = SQL(op, SQLITE_Q_RUN_SUMS, run->id);
    run->updated_ms = run->ended_ms > run->started_ms ? run->ended_ms : run->started_ms;
    if (statement_next(&s)) {
        row_read(&s, 0, &run_sums_shape, op->scratch, run);
        int64_t updated_ms = column_int(&s, (int)run_sums_shape.count);
        if (updated_ms > run->updated_ms)
            run->updated_ms = updated_ms;
    }
    return statement_end(&s);
}

pawl_status runs_save(struct operation *op, const struct run_row *run) {
    return statement_run(SQL(op, SQLITE_Q_RUN_SAVE, ROW_OF(run_saved_shape, run)));
}

pawl_status partition_load(struct operation *op, int64_t run, int part, struct arena *arena,
                           struct partition_row *row, bool *found) {
    return row_find(SQL(op, SQLITE_Q_RUN_PARTITION_FIND, run, part), &partition_shape, arena, row, found);
}

pawl_status partition_save(struct operation *op, const struct partition_row *p) {
    return statement_run(SQL(op, SQLITE_Q_RUN_PARTITION_SAVE, ROW_OF(partition_saved_shape, p)));
}

pawl_status partition_places(struct operation *op, int64_t run, enum part_state state, struct id_list *list) {
    return jobs_ids(SQL(op, SQLITE_Q_RUN_PARTITION_PARTS, run, state), op->scratch, list);
}

static pawl_status insert_run(struct operation *op, const struct run_row *run) {
    return statement_run(SQL(op, SQLITE_Q_RUN_BEGIN, ROW_OF(run_shape, run)));
}

static pawl_status insert_partition(struct operation *op, const struct partition_row *partition) {
    return statement_run(SQL(op, SQLITE_Q_RUN_PARTITION_INSERT, ROW_OF(partition_shape, partition)));
}

/* The answer before anything is written; parent is loaded when there is one. */
static pawl_status may_start(struct jobs_call *call, const struct run_start *in, struct run_row *parent,
                             struct run_started *out) {
    bool found = false;
    int64_t id = 0;
    *out = (struct run_started){ANSWER_APPLIED, 0};
    if (!str_absent(in->key)) {
        TRY(statement_number(SQL(call->op, SQLITE_Q_RUN_FIND_KEY, in->key), &id, &found));
        if (found)
            *out = (struct run_started){ANSWER_DUPLICATE, id};
    }
    if (out->answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (!str_absent(in->target)) {
        struct statement s = SQL(call->op, SQLITE_Q_RUN_TARGET_FIND, in->target);
        if (!statement_next(&s))
            out->answer = ANSWER_NOT_FOUND;
        TRY(statement_end(&s));
    }
    if (in->parent != 0) {
        TRY(runs_load(call->op, in->parent, call->op->scratch, parent, &found));
        if (!found)
            out->answer = ANSWER_NOT_FOUND;
        else if (out->answer == ANSWER_APPLIED && run_ended(parent->state))
            out->answer = ANSWER_CONFLICT;
    }
    return PAWL_OK;
}

static pawl_status put_partitions(struct jobs_call *call, const struct run_start *in,
                                  const struct run_row *run) {
    for (size_t i = 0; i < in->count; i++) {
        struct partition_row part = partition_row_of(&in->partitions[i], run->id, (int)i, call->op->now_ms);
        TRY(runs_page_put(call, run, &part));
        TRY(insert_partition(call->op, &part));
    }
    return PAWL_OK;
}

static pawl_status start_in(struct jobs_call *call, const struct run_start *in, struct run_started *out) {
    struct run_row parent = {0};
    struct run_row run = run_row_of(in, call->op->now_ms);
    bool found = false;
    TRY(may_start(call, in, &parent, out));
    if (out->answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (!str_absent(parent.agent))
        run.agent = parent.agent;
    TRY(statement_number(statement_begin(call->op, SQLITE_Q_RUN_NEXT_ID), &run.id, &found));
    if (str_absent(run.key)) {
        run.key = str_from(arena_printf(call->op->scratch, "run-%" PRId64, run.id));
        if (str_absent(run.key))
            return operation_no_memory(call->op);
    }
    TRY(insert_run(call->op, &run));
    if (run.parent != 0) {
        parent.children_open++;
        TRY(runs_save(call->op, &parent));
    }
    if (run.paced)
        TRY(runs_limit(call->op, &run));
    TRY(put_partitions(call, in, &run));
    if (in->count == 0)
        TRY(runs_fan_in(call, &run));
    TRY(jobs_wake_wanted(call->op));
    out->id = run.id;
    return PAWL_OK;
}

pawl_status sqlite_runs_start(struct store *store, const struct run_start *in, struct run_started *out,
                              pawl_error *err) {
    struct jobs_call call;
    struct run_started result = {0};
    jobs_call_begin(&call, store, "run_start", uuid_nil(), check_run_start(in, err), err);
    return jobs_give(&call, start_in(&call, in, &result), out, &result);
}
