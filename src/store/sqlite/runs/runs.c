/* The rows of runs and partitions, and how a run starts. */
#include "store/sqlite/runs/runs.h"

#include <inttypes.h>

#include "base/str.h"
#include "base/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

pawl_status runs_call_begin(struct operation *op, struct jobs_call *call, struct store *store,
                            const char *name, pawl_error *err) {
    pawl_status status = operation_begin(op, store, OPERATION_WRITE, name, err);
    if (status != PAWL_OK)
        return status;
    status = jobs_begin(call, op, uuid_nil());
    return status == PAWL_OK ? PAWL_OK : operation_end(op, jobs_end(call, status));
}

pawl_status runs_load(struct operation *op, int64_t id, struct arena *arena, struct run_row *run,
                      bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_FIND);
    bind_int(&s, id);
    *found = statement_next(&s);
    if (*found) {
        *run = (struct run_row){.id = column_int(&s, 0),
                                .parent = column_int(&s, 1),
                                .state = (enum run_state)column_int(&s, 2),
                                .paused = column_int(&s, 3) != 0,
                                .paced = column_int(&s, 4) != 0,
                                .consolidated = column_int(&s, 5) != 0,
                                .rate_ms = column_int(&s, 11),
                                .deadline_ms = column_int(&s, 12),
                                .end = (enum end_rule)column_int(&s, 16),
                                .policy = (enum failed_policy)column_int(&s, 17),
                                .started_ms = column_int(&s, 23),
                                .ended_ms = column_int(&s, 24),
                                .job = column_int(&s, 25)};
        const struct {
            int *number;
            int column;
        } numbers[] = {{&run->children_open, 6}, {&run->children_failed, 7}, {&run->page_size, 8},
                       {&run->concurrency, 9},   {&run->rate, 10},           {&run->max_attempts, 13},
                       {&run->priority, 14},     {&run->flags, 15},          {&run->round, 18},
                       {&run->partitions, 19},   {&run->remaining, 20},      {&run->done, 21},
                       {&run->failed, 22}};
        for (size_t i = 0; i < COUNT(numbers); i++)
            *numbers[i].number = (int)column_int(&s, numbers[i].column);
        pawl_str *const texts[] = {&run->key,         &run->name,     &run->type,   &run->queue,
                                   &run->consolidate, &run->announce, &run->target, &run->traceparent,
                                   &run->wait_key,    &run->error,    &run->params, &run->spec,
                                   &run->agent};
        for (size_t i = 0; i < COUNT(texts); i++)
            *texts[i] = column_copy(&s, 26 + (int)i, arena);
    }
    return statement_end(&s);
}

pawl_status runs_load_sums(struct operation *op, struct run_row *run) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_SUMS);
    bind_int(&s, run->id);
    run->updated_ms = run->ended_ms > run->started_ms ? run->ended_ms : run->started_ms;
    if (statement_next(&s)) {
        run->total = column_int(&s, 0);
        run->items = column_int(&s, 1);
        run->repeats = column_int(&s, 2);
        run->pages = column_int(&s, 3);
        run->skipped = column_int(&s, 4);
        run->fetch_ms = column_int(&s, 5);
        run->fetch_ms_max = column_int(&s, 6);
        run->slow = column_int(&s, 7);
        if (column_int(&s, 8) > run->updated_ms)
            run->updated_ms = column_int(&s, 8);
    }
    return statement_end(&s);
}

pawl_status runs_save(struct operation *op, const struct run_row *run) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_SAVE);
    const int64_t numbers[] = {run->id,           (int64_t)run->state, run->paused,
                               run->consolidated, run->children_open,  run->children_failed,
                               run->concurrency,  run->rate,           run->rate_ms,
                               run->round,        run->remaining,      run->done,
                               run->failed,       run->ended_ms,       run->job};
    for (size_t i = 0; i < COUNT(numbers); i++)
        bind_int(&s, numbers[i]);
    bind_text(&s, run->error);
    return statement_run(&s);
}

struct partition_row partition_columns(struct statement *s, struct arena *arena) {
    struct partition_row row = {.run = column_int(s, 0),
                                .part = (int)column_int(s, 1),
                                .state = (enum part_state)column_int(s, 2),
                                .paused = column_int(s, 3) != 0,
                                .bounded = column_int(s, 4) != 0,
                                .low = column_int(s, 5),
                                .high = column_int(s, 6),
                                .total = column_int(s, 7),
                                .offset = column_int(s, 8),
                                .generation = (int)column_int(s, 9),
                                .page = column_int(s, 10),
                                .job = column_int(s, 11),
                                .items = column_int(s, 12),
                                .repeats = column_int(s, 13),
                                .pages = column_int(s, 14),
                                .skipped = column_int(s, 15),
                                .fetch_ms = column_int(s, 16),
                                .fetch_ms_max = column_int(s, 17),
                                .fetch_ms_last = column_int(s, 18),
                                .slow = column_int(s, 19),
                                .started_ms = column_int(s, 20),
                                .updated_ms = column_int(s, 21),
                                .ended_ms = column_int(s, 22)};
    row.name = column_copy(s, 23, arena);
    row.cursor = column_copy(s, 24, arena);
    row.error = column_copy(s, 25, arena);
    row.params = column_copy(s, 26, arena);
    return row;
}

pawl_status partition_load(struct operation *op, int64_t run, int part, struct arena *arena,
                           struct partition_row *row, bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_PARTITION_FIND);
    bind_int(&s, run);
    bind_int(&s, part);
    *found = statement_next(&s);
    if (*found)
        *row = partition_columns(&s, arena);
    return statement_end(&s);
}

pawl_status partition_save(struct operation *op, const struct partition_row *p) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_PARTITION_SAVE);
    const int64_t numbers[] = {
        p->run,      p->part,         (int64_t)p->state, p->paused,  p->offset,     p->generation,
        p->page,     p->job,          p->items,          p->repeats, p->pages,      p->skipped,
        p->fetch_ms, p->fetch_ms_max, p->fetch_ms_last,  p->slow,    p->updated_ms, p->ended_ms};
    for (size_t i = 0; i < COUNT(numbers); i++)
        bind_int(&s, numbers[i]);
    bind_text(&s, p->cursor);
    bind_text(&s, p->error);
    return statement_run(&s);
}

pawl_status partition_places(struct operation *op, int64_t run, enum part_state state, struct id_list *list) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_PARTITION_PARTS);
    bind_int(&s, run);
    bind_int(&s, (int64_t)state);
    return jobs_ids(&s, op->scratch, list);
}

static pawl_status insert_run(struct operation *op, const struct run_row *r) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_BEGIN);
    const int64_t numbers[] = {
        r->id,           r->parent,        (int64_t)r->state,  r->paused,       r->paced,
        r->consolidated, r->children_open, r->children_failed, r->page_size,    r->concurrency,
        r->rate,         r->rate_ms,       r->deadline_ms,     r->max_attempts, r->priority,
        r->flags,        (int64_t)r->end,  (int64_t)r->policy, r->round,        r->partitions,
        r->remaining,    r->done,          r->failed,          r->started_ms,   r->ended_ms,
        r->job};
    const pawl_str texts[] = {r->key,      r->name,   r->type,        r->queue,    r->consolidate,
                              r->announce, r->target, r->traceparent, r->wait_key, r->error,
                              r->params,   r->spec,   r->agent};
    for (size_t i = 0; i < COUNT(numbers); i++)
        bind_int(&s, numbers[i]);
    for (size_t i = 0; i < COUNT(texts); i++)
        bind_text(&s, texts[i]);
    return statement_run(&s);
}

static pawl_status insert_partition(struct operation *op, const struct partition_row *p) {
    struct statement s = statement_begin(op, SQLITE_Q_RUN_PARTITION_INSERT);
    const int64_t numbers[] = {
        p->run,           p->part,    (int64_t)p->state, p->paused,     p->bounded,  p->low,
        p->high,          p->total,   p->offset,         p->generation, p->page,     p->job,
        p->items,         p->repeats, p->pages,          p->skipped,    p->fetch_ms, p->fetch_ms_max,
        p->fetch_ms_last, p->slow,    p->started_ms,     p->updated_ms, p->ended_ms};
    for (size_t i = 0; i < COUNT(numbers); i++)
        bind_int(&s, numbers[i]);
    bind_text(&s, p->name);
    bind_text(&s, p->cursor);
    bind_text(&s, p->error);
    bind_text(&s, p->params);
    return statement_run(&s);
}

/* The answer before anything is written; parent is loaded when there is one. */
static pawl_status may_start(struct jobs_call *call, const struct run_start *in, struct run_row *parent,
                             struct run_started *out) {
    bool found = false;
    int64_t id = 0;
    pawl_status status = PAWL_OK;
    *out = (struct run_started){ANSWER_APPLIED, 0};
    if (!str_absent(in->key)) {
        struct statement s = statement_begin(call->op, SQLITE_Q_RUN_FIND_KEY);
        bind_text(&s, in->key);
        status = statement_number(&s, &id, &found);
        if (found)
            *out = (struct run_started){ANSWER_DUPLICATE, id};
    }
    if (status != PAWL_OK || out->answer != ANSWER_APPLIED)
        return status;
    if (!str_absent(in->target)) {
        struct statement s = statement_begin(call->op, SQLITE_Q_RUN_TARGET_FIND);
        bind_text(&s, in->target);
        if (!statement_next(&s))
            out->answer = ANSWER_NOT_FOUND;
        status = statement_end(&s);
    }
    if (status == PAWL_OK && in->parent != 0) {
        status = runs_load(call->op, in->parent, call->op->scratch, parent, &found);
        if (!found)
            out->answer = ANSWER_NOT_FOUND;
        else if (out->answer == ANSWER_APPLIED && run_ended(parent->state))
            out->answer = ANSWER_CONFLICT;
    }
    return status;
}

static pawl_status put_partitions(struct jobs_call *call, const struct run_start *in,
                                  const struct run_row *run) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        struct partition_row part = partition_row_of(&in->partitions[i], run->id, (int)i, call->op->now_ms);
        status = runs_page_put(call, run, &part);
        if (status == PAWL_OK)
            status = insert_partition(call->op, &part);
    }
    return status;
}

static pawl_status start_in(struct jobs_call *call, const struct run_start *in, struct run_started *out) {
    struct run_row parent = {0};
    struct run_row run = run_row_of(in, call->op->now_ms);
    bool found = false;
    pawl_status status = may_start(call, in, &parent, out);
    if (status != PAWL_OK || out->answer != ANSWER_APPLIED)
        return status;
    if (!str_absent(parent.agent))
        run.agent = parent.agent;
    struct statement s = statement_begin(call->op, SQLITE_Q_RUN_NEXT_ID);
    status = statement_number(&s, &run.id, &found);
    if (status == PAWL_OK && str_absent(run.key)) {
        run.key = str_from(arena_printf(call->op->scratch, "run-%" PRId64, run.id));
        if (str_absent(run.key))
            status = operation_no_memory(call->op);
    }
    if (status == PAWL_OK)
        status = insert_run(call->op, &run);
    if (status == PAWL_OK && run.parent != 0) {
        parent.children_open++;
        status = runs_save(call->op, &parent);
    }
    if (status == PAWL_OK && run.paced)
        status = runs_limit(call->op, &run);
    if (status == PAWL_OK)
        status = put_partitions(call, in, &run);
    if (status == PAWL_OK && in->count == 0)
        status = runs_fan_in(call, &run);
    if (status == PAWL_OK)
        status = jobs_wake_wanted(call->op);
    out->id = run.id;
    return status;
}

static pawl_status run_start(struct store *store, const struct run_start *in, struct run_started *out,
                             pawl_error *err) {
    struct operation op;
    struct jobs_call call;
    struct run_started result = {0};
    pawl_status status = check_run_start(in, err);
    if (status == PAWL_OK)
        status = runs_call_begin(&op, &call, store, "run_start", err);
    if (status != PAWL_OK)
        return status;
    status = operation_end(&op, jobs_end(&call, start_in(&call, in, &result)));
    if (status == PAWL_OK)
        *out = result;
    return status;
}

const struct store_runs_ops sqlite_runs_ops = {
    .start = run_start,
    .page_begin = sqlite_page_begin,
    .page_commit = sqlite_page_commit,
    .runs = sqlite_run_rows,
    .partitions = sqlite_partition_rows,
    .items = sqlite_item_rows,
    .reset = sqlite_partition_reset,
    .retry = sqlite_run_retry,
    .pause = sqlite_run_pause,
    .cancel = sqlite_run_cancel,
    .pace = sqlite_run_pace,
    .target_put = sqlite_target_put,
    .target_remove = sqlite_target_remove,
    .targets = sqlite_run_targets,
    .page_select = sqlite_page_select,
    .maintain = sqlite_runs_maintain,
};
