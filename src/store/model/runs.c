/* The tables of runs, how a run starts, and its fan-in. */
#include "store/model/runs.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/run/rule.h"

#define NONE ((pawl_str){NULL, 0})

struct model_runs *model_runs_new(void) {
    struct model_runs *runs = model_alloc(sizeof *runs);
    runs->runs.size = sizeof(struct run_row);
    runs->partitions.size = sizeof(struct partition_row);
    runs->items.size = sizeof(struct mitem);
    runs->targets.size = sizeof(struct run_target);
    return runs;
}

void model_runs_free(struct model_runs *runs) {
    if (runs == NULL)
        return;
    free(runs->runs.items);
    free(runs->partitions.items);
    free(runs->items.items);
    free(runs->targets.items);
    free(runs);
}

struct run_row *model_run_find(struct model *model, int64_t id) {
    struct pile *runs = &model->runs->runs;
    for (size_t i = 0; i < runs->count; i++)
        if (PILE(*runs, struct run_row, i)->id == id)
            return PILE(*runs, struct run_row, i);
    return NULL;
}

struct partition_row *model_partition_find(struct model *model, int64_t run, int part) {
    struct pile *parts = &model->runs->partitions;
    for (size_t i = 0; i < parts->count; i++) {
        struct partition_row *row = PILE(*parts, struct partition_row, i);
        if (row->run == run && row->part == part)
            return row;
    }
    return NULL;
}

size_t model_target_place(struct model *model, pawl_str name, bool *there) {
    struct pile *targets = &model->runs->targets;
    size_t at = 0;
    while (at < targets->count && str_compare(PILE(*targets, struct run_target, at)->name, name) < 0)
        at++;
    *there = at < targets->count && str_equal(PILE(*targets, struct run_target, at)->name, name);
    return at;
}

/* The words are made in the arena that keeps the model's texts: a test's life is short. */
static int64_t put_job(struct model *model, pawl_status worded, const struct job *job) {
    int64_t id = 0;
    assert(worded == PAWL_OK);
    (void)worded;
    enum store_answer answer = model_job_insert(model, &(struct mjob){.row.job = *job}, &id);
    assert(answer == ANSWER_APPLIED || answer == ANSWER_DUPLICATE);
    (void)answer;
    return id;
}

void model_page_put(struct model *model, const struct run_row *run, struct partition_row *part) {
    struct job job = {0};
    part->job = 0;
    if (!part->paused)
        part->job = put_job(model, run_page_job(run, part, model->jobs->texts, &job, NULL), &job);
}

int64_t model_run_items(struct model *model, int64_t run) {
    int64_t items = 0;
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        const struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        items += part->run == run ? part->items : 0;
    }
    return items;
}

/* A child has ended, or works again. */
static void tell_parent(struct model *model, const struct run_row *run, bool open) {
    struct run_row *parent = run->parent != 0 ? model_run_find(model, run->parent) : NULL;
    int by = open ? 1 : -1;
    if (parent == NULL)
        return;
    parent->children_open += by;
    parent->children_failed -= run->state != RUN_IS_COMPLETED ? by : 0;
    if (open && parent->state == RUN_IS_FAILED && parent->consolidated)
        model_run_open(model, parent, RUN_IS_NESTED);
    if (!open && parent->state == RUN_IS_NESTED && parent->children_open == 0)
        model_run_end(model, parent, parent->children_failed > 0 ? RUN_IS_FAILED : RUN_IS_COMPLETED,
                      parent->children_failed > 0
                          ? str_from(arena_printf(model->jobs->texts, "%d of its child runs failed",
                                                  parent->children_failed))
                          : NONE);
}

void model_run_limit(struct model *model, const struct run_row *run) {
    struct job_limit limit = {
        .concurrency = run->concurrency, .rate = run->rate, .rate_ms = run->rate_ms, .weight = 1};
    pawl_status status = run_key_text(run->id, model->jobs->texts, &limit.key, NULL);
    assert(status == PAWL_OK);
    (void)status;
    model_limit_put(model->jobs, &limit);
}

void model_run_open(struct model *model, struct run_row *run, enum run_state state) {
    bool ended = run_ended(run->state);
    if (ended) {
        tell_parent(model, run, true);
        run->ended_ms = 0;
        if (run->paced)
            model_run_limit(model, run);
    }
    run->state = state;
    run->error = NONE;
}

void model_run_end(struct model *model, struct run_row *run, enum run_state state, pawl_str error) {
    struct job_limit none = {.weight = 1};
    struct job_wake wake = {.keep_ms = 0};
    run->state = state;
    run->ended_ms = model->now_ms;
    run->error = error;
    pawl_status status = run_key_text(run->id, model->jobs->texts, &none.key, NULL);
    if (status == PAWL_OK && !str_absent(run->wait_key))
        status = run_end_signal(run, model->jobs->texts, &wake, NULL);
    assert(status == PAWL_OK);
    if (run->paced)
        model_limit_put(model->jobs, &none);
    if (!str_absent(run->wait_key))
        (void)model_wake_in(model, &wake);
    tell_parent(model, run, false);
}

/* The consolidation is over, or there was none to do. */
static void consolidated(struct model *model, struct run_row *run) {
    run->consolidated = true;
    run->job = 0;
    if (run->children_open > 0)
        run->state = RUN_IS_NESTED;
    else if (run->children_failed > 0)
        model_run_end(
            model, run, RUN_IS_FAILED,
            str_from(arena_printf(model->jobs->texts, "%d of its child runs failed", run->children_failed)));
    else
        model_run_end(model, run, RUN_IS_COMPLETED, NONE);
}

void model_consolidate(struct model *model, struct run_row *run) {
    struct job job = {0};
    run->round++;
    if (str_absent(run->consolidate)) {
        consolidated(model, run);
        return;
    }
    run->state = RUN_IS_CONSOLIDATING;
    run->job = put_job(
        model, run_consolidate_job(run, model_run_items(model, run->id), model->jobs->texts, &job, NULL),
        &job);
}

/* What follows when a partition has left state active. */
static void fan_in(struct model *model, struct run_row *run) {
    switch (runrule_fan_in(run->remaining, run->failed, run->policy == FAILED_PARTIAL,
                           run->policy == FAILED_WAIT)) {
    case NEXT_CONSOLIDATE:
        model_consolidate(model, run);
        break;
    case NEXT_FAIL:
        model_run_end(model, run, RUN_IS_FAILED,
                      str_from(arena_printf(model->jobs->texts, "%d of %d partitions failed", run->failed,
                                            run->partitions)));
        break;
    case NEXT_REPAIR:
        run->state = RUN_IS_IN_REPAIR;
        break;
    case NEXT_NOTHING:
        break;
    }
}

bool model_partition_end(struct model *model, struct run_row *run, struct partition_row *part,
                         enum part_state state, pawl_str error) {
    struct job job = {0};
    part->state = state;
    part->error = model_keep(model->jobs, error);
    part->ended_ms = part->updated_ms = model->now_ms;
    run->remaining--;
    run->done += state == PART_DONE;
    run->failed += state == PART_FAILED;
    if (!str_absent(run->announce))
        (void)put_job(model, run_announce_job(run, part, model->jobs->texts, &job, NULL), &job);
    fan_in(model, run);
    return run->remaining == 0;
}

void model_partition_open(struct model *model, struct run_row *run, struct partition_row *part) {
    if (part->state == PART_ACTIVE)
        return;
    run->done -= part->state == PART_DONE;
    run->failed -= part->state == PART_FAILED;
    run->remaining++;
    part->state = PART_ACTIVE;
    part->paused = run->paused;
    part->error = NONE;
    part->ended_ms = 0;
    part->updated_ms = model->now_ms;
    if (run->state != RUN_IS_RUNNING)
        model_run_open(model, run, RUN_IS_RUNNING);
}

static pawl_str end_text(struct model *model, const struct job *job, enum run_job_end how, pawl_str error) {
    pawl_str text = NONE;
    pawl_status status = run_job_end_text(job, how, error, model->jobs->texts, &text, NULL);
    assert(status == PAWL_OK);
    (void)status;
    return text;
}

void model_run_job_ended(struct model *model, const struct job *job, enum run_job_end how, pawl_str error) {
    struct run_job_name name;
    if ((job->flags & JOB_RUN) == 0 || !run_job_name(job->unique_key, &name))
        return;
    struct run_row *run = model_run_find(model, name.run);
    struct partition_row *part = name.part >= 0 ? model_partition_find(model, name.run, name.part) : NULL;
    if (run == NULL)
        return;
    if (name.part >= 0) {
        if (part != NULL && part->state == PART_ACTIVE && part->job == job->id)
            (void)model_partition_end(model, run, part, PART_FAILED, end_text(model, job, how, error));
        return;
    }
    bool waits = run->job == job->id && (run->state == RUN_IS_CONSOLIDATING ||
                                         (run->state == RUN_IS_FAILED && how == RUN_JOB_COMPLETED));
    if (!waits)
        return;
    if (how == RUN_JOB_COMPLETED) {
        if (run->state == RUN_IS_FAILED)
            model_run_open(model, run, RUN_IS_CONSOLIDATING);
        consolidated(model, run);
        return;
    }
    pawl_str why = end_text(model, job, how, error);
    model_run_end(model, run, RUN_IS_FAILED,
                  str_from(arena_printf(model->jobs->texts, "the consolidation failed: %.*s", STR_ARG(why))));
}

/* The answer before anything is written. */
static struct run_started may_start(struct model *model, const struct run_start *in) {
    bool there = true;
    struct pile *runs = &model->runs->runs;
    for (size_t i = 0; !str_absent(in->key) && i < runs->count; i++)
        if (str_equal(PILE(*runs, struct run_row, i)->key, in->key))
            return (struct run_started){ANSWER_DUPLICATE, PILE(*runs, struct run_row, i)->id};
    if (!str_absent(in->target))
        (void)model_target_place(model, in->target, &there);
    const struct run_row *parent = in->parent != 0 ? model_run_find(model, in->parent) : NULL;
    if (!there || (in->parent != 0 && parent == NULL))
        return (struct run_started){ANSWER_NOT_FOUND, 0};
    if (parent != NULL && run_ended(parent->state))
        return (struct run_started){ANSWER_CONFLICT, 0};
    return (struct run_started){ANSWER_APPLIED, model->runs->last_run + 1};
}

static void keep_texts(struct model *model, pawl_str *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        *texts[i] = model_keep(model->jobs, *texts[i]);
}

static struct run_row *add_run(struct model *model, const struct run_start *in, int64_t id) {
    struct run_row fresh = run_row_of(in, model->now_ms);
    fresh.id = id;
    const struct run_row *parent = in->parent != 0 ? model_run_find(model, in->parent) : NULL;
    if (parent != NULL && !str_absent(parent->agent))
        fresh.agent = parent->agent;
    if (str_absent(fresh.key))
        fresh.key = str_from(arena_printf(model->jobs->texts, "run-%" PRId64, id));
    pawl_str *const texts[] = {&fresh.key,      &fresh.name,        &fresh.type,     &fresh.consolidate,
                               &fresh.announce, &fresh.params,      &fresh.spec,     &fresh.target,
                               &fresh.queue,    &fresh.traceparent, &fresh.wait_key, &fresh.agent};
    keep_texts(model, texts, sizeof texts / sizeof texts[0]);
    model->runs->last_run = id;
    struct run_row *run = pile_add(&model->runs->runs, &fresh);
    if (run->paced)
        model_run_limit(model, run);
    return run;
}

static pawl_status run_start(struct store *store, const struct run_start *in, struct run_started *out,
                             pawl_error *err) {
    pawl_status status = check_run_start(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    *out = may_start(model, in);
    if (out->answer != ANSWER_APPLIED)
        return model_leave(model, PAWL_OK);
    struct run_row *run = add_run(model, in, out->id);
    if (run->parent != 0)
        model_run_find(model, run->parent)->children_open++;
    for (size_t i = 0; i < in->count; i++) {
        struct partition_row part = partition_row_of(&in->partitions[i], run->id, (int)i, model->now_ms);
        pawl_str *const texts[] = {&part.name, &part.params, &part.cursor};
        keep_texts(model, texts, sizeof texts / sizeof texts[0]);
        model_page_put(model, run, pile_add(&model->runs->partitions, &part));
    }
    if (in->count == 0)
        fan_in(model, run);
    return model_leave(model, PAWL_OK);
}

const struct store_runs_ops model_runs_ops = {
    .start = run_start,
    .page_begin = model_page_begin,
    .page_commit = model_page_commit,
    .runs = model_run_rows,
    .partitions = model_partition_rows,
    .items = model_item_rows,
    .reset = model_partition_reset,
    .retry = model_run_retry,
    .pause = model_run_pause,
    .cancel = model_run_cancel,
    .pace = model_run_pace,
    .target_put = model_target_put,
    .target_remove = model_target_remove,
    .targets = model_targets,
    .page_select = model_page_select,
    .maintain = model_runs_maintain,
};
