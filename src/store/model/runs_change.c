/* What people do to runs: reset, retry, pause, cancel, pace; targets; and what goes with time. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/model/runs.h"

#define NONE ((pawl_str){NULL, 0})

/* A partition begins a new generation: what is left of the old one is dropped, its next page enqueued. */
static void renew(struct model *model, struct run_row *run, struct partition_row *part) {
    int64_t old = part->job;
    part->generation++;
    part->job = 0;
    part->updated_ms = model->now_ms;
    if (old != 0)
        model_job_drop(model, old);
    model_page_put(model, run, part);
}

pawl_status model_partition_reset(struct store *store, const struct partition_reset *in,
                                  enum store_answer *out, pawl_error *err) {
    pawl_status status = check_partition_reset(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct run_row *run = model_run_find(model, in->run);
    struct partition_row *part = model_partition_find(model, in->run, in->part);
    *out = run == NULL || part == NULL ? ANSWER_NOT_FOUND
           : !run_workable(run->state) ? ANSWER_CONFLICT
                                       : ANSWER_APPLIED;
    if (*out != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    model_partition_open(model, run, part);
    part->offset = in->offset;
    part->cursor = model_keep(model->jobs, in->cursor);
    part->page = 0;
    part->items = part->repeats = part->pages = part->skipped = part->slow = 0;
    part->fetch_ms = part->fetch_ms_max = part->fetch_ms_last = 0;
    renew(model, run, part);
    return model_leave(model, PAWL_OK);
}

static int retry_failed(struct model *model, struct run_row *run) {
    int count = 0;
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        if (part->run != run->id || part->state != PART_FAILED)
            continue;
        model_partition_open(model, run, part);
        renew(model, run, part);
        count++;
    }
    return count;
}

pawl_status model_run_retry(struct store *store, const struct run_retry *in, struct run_retried *out,
                            pawl_error *err) {
    pawl_status status = check_run_retry(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct run_row *run = model_run_find(model, in->run);
    struct partition_row *part = in->part >= 0 ? model_partition_find(model, in->run, in->part) : NULL;
    *out = (struct run_retried){ANSWER_CONFLICT, 0};
    if (run == NULL || (in->part >= 0 && part == NULL)) {
        out->answer = ANSWER_NOT_FOUND;
    } else if (!run_workable(run->state)) {
        out->answer = ANSWER_CONFLICT;
    } else if (part != NULL && (part->state == PART_ACTIVE || part->state == PART_FAILED)) {
        model_partition_open(model, run, part);
        renew(model, run, part);
        *out = (struct run_retried){ANSWER_APPLIED, 1};
    } else if (part == NULL && run->failed > 0) {
        *out = (struct run_retried){ANSWER_APPLIED, retry_failed(model, run)};
    } else if (part == NULL && run->state == RUN_IS_FAILED && !run->consolidated) {
        int64_t old = run->job;
        run->job = 0;
        model_job_drop(model, old);
        model_run_open(model, run, RUN_IS_CONSOLIDATING);
        model_consolidate(model, run);
        *out = (struct run_retried){ANSWER_APPLIED, 1};
    }
    return model_leave(model, PAWL_OK);
}

static void pause_partition(struct model *model, const struct run_row *run, struct partition_row *part) {
    const struct mjob *job = part->job != 0 ? model_job_find(model->jobs, part->job) : NULL;
    part->paused = run->paused;
    if (!run->paused && part->job == 0) {
        part->updated_ms = model->now_ms;
        model_page_put(model, run, part);
    } else if (run->paused && job != NULL && job->row.state != JOB_RUNNING) {
        int64_t old = part->job;
        part->job = 0;
        model_job_drop(model, old);
    }
}

pawl_status model_run_pause(struct store *store, int64_t id, bool paused, enum store_answer *out,
                            pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    struct run_row *run = model_run_find(model, id);
    *out = run == NULL             ? ANSWER_NOT_FOUND
           : run_ended(run->state) ? ANSWER_CONFLICT
           : run->paused == paused ? ANSWER_DUPLICATE
                                   : ANSWER_APPLIED;
    if (*out != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    run->paused = paused;
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        if (part->run == id && part->state == PART_ACTIVE)
            pause_partition(model, run, part);
    }
    return model_leave(model, PAWL_OK);
}

pawl_status model_run_cancel(struct store *store, int64_t id, enum store_answer *out, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    struct run_row *run = model_run_find(model, id);
    *out = run == NULL                      ? ANSWER_NOT_FOUND
           : run->state == RUN_IS_CANCELLED ? ANSWER_DUPLICATE
           : run_ended(run->state)          ? ANSWER_CONFLICT
                                            : ANSWER_APPLIED;
    if (*out != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    int64_t consolidation = run->job;
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        if (part->run != id || part->state != PART_ACTIVE)
            continue;
        int64_t old = part->job;
        part->state = PART_CANCELLED;
        part->job = 0;
        part->ended_ms = part->updated_ms = model->now_ms;
        if (old != 0)
            model_job_drop(model, old);
    }
    run->remaining = 0;
    run->job = 0;
    model_run_end(model, run, RUN_IS_CANCELLED, NONE);
    if (consolidation != 0)
        model_job_drop(model, consolidation);
    return model_leave(model, PAWL_OK);
}

pawl_status model_run_pace(struct store *store, const struct run_pace *in, enum store_answer *out,
                           pawl_error *err) {
    pawl_status status = check_run_pace(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct run_row *run = model_run_find(model, in->run);
    *out = run == NULL                            ? ANSWER_NOT_FOUND
           : !run->paced || run_ended(run->state) ? ANSWER_CONFLICT
                                                  : ANSWER_APPLIED;
    if (*out != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    run_pace_set(run, in);
    model_run_limit(model, run);
    if (in->hold_ms > 0) {
        pawl_str key = NONE;
        struct jobrule_limit limit = {run->concurrency, run->rate, run->rate_ms, 1};
        status = run_key_text(run->id, model->jobs->texts, &key, err);
        struct mkey *state = model_key_state(model->jobs, key);
        int64_t hold_us = jobrule_hold_us(&limit, model->now_ms + in->hold_ms);
        state->tat_us = hold_us > state->tat_us ? hold_us : state->tat_us;
    }
    return model_leave(model, status);
}

pawl_status model_target_put(struct store *store, const struct run_target *in, pawl_error *err) {
    pawl_status status = check_run_target(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct pile *targets = &model->runs->targets;
    bool there = false;
    size_t at = model_target_place(model, in->name, &there);
    struct run_target fresh = {model_keep(model->jobs, in->name), model_keep(model->jobs, in->sql),
                               model->now_ms};
    if (!there) {
        pile_add(targets, &fresh);
        for (size_t i = targets->count - 1; i > at; i--)
            *PILE(*targets, struct run_target, i) = *PILE(*targets, struct run_target, i - 1);
    }
    *PILE(*targets, struct run_target, at) = fresh;
    return model_leave(model, PAWL_OK);
}

pawl_status model_target_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct model *model = model_enter(store);
    bool there = false;
    size_t at = model_target_place(model, name, &there);
    if (!there)
        return model_leave(model, run_target_missing(name, err));
    for (size_t i = 0; i < model->runs->runs.count; i++) {
        const struct run_row *run = PILE(model->runs->runs, struct run_row, i);
        if (!run_ended(run->state) && !str_absent(run->target) && str_equal(run->target, name))
            return model_leave(model, run_target_used(name, err));
    }
    pile_drop(&model->runs->targets, at);
    return model_leave(model, PAWL_OK);
}

pawl_status model_targets(struct store *store, struct arena *arena, struct run_targets *out,
                          pawl_error *err) {
    struct model *model = model_enter(store);
    struct pile *targets = &model->runs->targets;
    struct run_targets list = {arena_array(arena, targets->count, sizeof *list.targets), targets->count};
    if (list.targets == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "targets", "no memory for the targets"));
    for (size_t i = 0; i < list.count; i++) {
        const struct run_target *target = PILE(*targets, struct run_target, i);
        list.targets[i] = (struct run_target){model_give(arena, target->name), model_give(arena, target->sql),
                                              target->updated_ms};
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                              struct stored_items *out, pawl_error *err) {
    struct model *model = model_enter(store);
    bool there = false;
    (void)json;
    (void)arena;
    (void)out;
    (void)model_target_place(model, name, &there);
    if (!there)
        return model_leave(model, run_target_missing(name, err));
    return model_leave(model, error_set(err, PAWL_CONFLICT, "page_select", "this store has no SQL"));
}

/* At most *left items of the run, by key; true when none is left. */
static bool remove_items(struct model *model, int64_t run, int64_t *left, int64_t *removed) {
    struct pile *items = &model->runs->items;
    for (size_t i = 0; i < items->count;) {
        if (PILE(*items, struct mitem, i)->run != run) {
            i++;
            continue;
        }
        if (*left == 0)
            return false;
        pile_drop(items, i);
        --*left;
        ++*removed;
    }
    return true;
}

pawl_status model_runs_maintain(struct store *store, int rows_max, struct runs_maintain_result *out,
                                pawl_error *err) {
    pawl_status status = check_run_rows_max(rows_max, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct runs_maintain_result result = {0, 0};
    int64_t left = rows_max;
    for (size_t i = 0; left > 0 && i < model->runs->runs.count;) {
        const struct run_row *run = PILE(model->runs->runs, struct run_row, i);
        if (!run_ended(run->state) || run->ended_ms >= model->now_ms - PAWL_RUN_RETENTION_MS_DEFAULT) {
            i++;
            continue;
        }
        int64_t id = run->id;
        if (!remove_items(model, id, &left, &result.items_removed))
            break;
        struct pile *parts = &model->runs->partitions;
        for (size_t n = parts->count; n-- > 0;)
            if (PILE(*parts, struct partition_row, n)->run == id)
                pile_drop(parts, n);
        pile_drop(&model->runs->runs, i);
        result.runs_removed++;
    }
    *out = result;
    return model_leave(model, PAWL_OK);
}
