/* What executions leave behind: runs, their chain of hashes, the spine; and what goes in time. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/jobs.h"

static struct audit_run audit_run_of(const struct task_run *run, int64_t expires_ms) {
    return (struct audit_run){.id = run->id,
                              .job_id = run->job_id,
                              .task = run->task,
                              .type = run->type,
                              .queue = run->queue,
                              .attempt = run->attempt,
                              .instance = run->instance,
                              .token = run->token,
                              .started_ms = run->started_ms,
                              .finished_ms = run->finished_ms,
                              .outcome = (int)run->outcome,
                              .input_hash = run->input_hash,
                              .output_hash = run->output_hash,
                              .output = run->output,
                              .error = run->error,
                              .steps = run->steps,
                              .expires_ms = expires_ms};
}

static void note_event(struct model *model, const struct mjob *job, const struct mend *end) {
    struct model_jobs *jobs = model->jobs;
    struct spine_event event = {.id = ++jobs->last_event,
                                .job_id = job->row.job.id,
                                .event_type = str_from(run_outcome_event(end->outcome)),
                                .task = job->row.job.task,
                                .type = job->row.job.type,
                                .instance = end->instance,
                                .attempt = job->row.job.attempts,
                                .made_ms = model->now_ms,
                                .payload = model_keep(jobs, end->output),
                                .error = model_keep(jobs, end->error)};
    pile_add(&jobs->spine, &event);
}

void model_record_run(struct model *model, const struct mjob *job, const struct mend *end) {
    struct model_jobs *jobs = model->jobs;
    const struct job *j = &job->row.job;
    if ((j->flags & JOB_EVENTS) != 0)
        note_event(model, job, end);
    if ((j->flags & JOB_AUDIT) == 0)
        return;
    if (jobs->open == NULL) {
        jobs->open = model_alloc(sizeof *jobs->open);
        jobs->open->id = ++jobs->last_run;
        buf_init(&jobs->open->entries, 0);
    }
    const struct task *task = str_absent(j->task) ? NULL : model_task_find(jobs, j->task);
    int64_t keep_ms = task != NULL && task->retention_ms > 0 ? task->retention_ms
                                                             : PAWL_RUN_RETENTION_MS_DEFAULT;
    struct mrun fresh = {.run = {.id = ++jobs->last_run,
                                 .job_id = j->id,
                                 .task = j->task,
                                 .type = j->type,
                                 .queue = j->queue,
                                 .attempt = j->attempts,
                                 .instance = end->instance,
                                 .token = j->token,
                                 .started_ms = model->now_ms - end->duration_ms,
                                 .finished_ms = model->now_ms,
                                 .outcome = end->outcome,
                                 .output = model_keep(jobs, end->output),
                                 .error = model_keep(jobs, end->error),
                                 .steps = model_keep(jobs, end->steps),
                                 .input_hash = model_keep(jobs, end->input_hash),
                                 .output_hash = model_keep(jobs, end->output_hash)},
                         .expires_ms = model->now_ms + keep_ms,
                         .block = jobs->open->id,
                         .place = (int)(jobs->open->entries.len / AUDIT_ENTRY_BYTES)};
    struct audit_run row = audit_run_of(&fresh.run, fresh.expires_ms);
    pawl_status status = audit_run_hash(&row, fresh.hash, NULL);
    assert(status == PAWL_OK);
    (void)status;
    audit_entry_append(&jobs->open->entries, fresh.hash, fresh.expires_ms);
    pile_add(&jobs->runs, &fresh);
}

static const struct mblock *last_block(const struct model_jobs *jobs, pawl_uuid chain) {
    const struct mblock *last = NULL;
    for (size_t i = 0; i < jobs->blocks.count; i++)
        if (uuid_equal(PILE(jobs->blocks, struct mblock, i)->chain, chain))
            last = PILE(jobs->blocks, struct mblock, i);
    return last;
}

static struct audit_block block_of(const struct mblock *block) {
    return (struct audit_block){block->chain, block->number, block->id, block->made_ms,
                                buf_str(&block->entries)};
}

void model_audit_seal(struct model *model, pawl_uuid chain) {
    struct model_jobs *jobs = model->jobs;
    if (jobs->open == NULL)
        return;
    struct mblock block = *jobs->open;
    free(jobs->open);
    jobs->open = NULL;
    const struct mblock *last = last_block(jobs, chain);
    block.chain = chain;
    block.made_ms = model->now_ms;
    block.number = last != NULL ? last->number + 1 : 1;
    if (last != NULL)
        memcpy(block.previous, last->hash, sizeof block.previous);
    struct audit_block sealed = block_of(&block);
    pawl_status status = audit_block_hash(block.previous, &sealed, block.hash, NULL);
    assert(status == PAWL_OK);
    (void)status;
    pile_add(&jobs->blocks, &block);
}

static struct task_run run_give(const struct mrun *run, struct arena *arena) {
    struct task_run copy = run->run;
    pawl_str *const texts[] = {&copy.task,  &copy.type,  &copy.queue,      &copy.output,
                               &copy.error, &copy.steps, &copy.input_hash, &copy.output_hash};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = model_give(arena, *texts[i]);
    char hex[SHA256_TEXT_BYTES];
    sha256_text(run->hash, hex);
    copy.hash = model_give(arena, (pawl_str){hex, SHA256_TEXT_BYTES - 1});
    return copy;
}

pawl_status model_task_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                            struct task_run_list *out, pawl_error *err) {
    pawl_status status = check_list_limit("task_runs", filter->limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct task_run_list list = {arena_array(arena, jobs->runs.count, sizeof *list.runs), 0, 0};
    int left = run_filter_scan(filter);
    if (list.runs == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "task_runs", "no memory for the runs"));
    for (size_t i = jobs->runs.count; i-- > 0 && list.next_id == 0;) {
        const struct mrun *run = PILE(jobs->runs, struct mrun, i);
        bool named = str_absent(filter->task) ||
                     (!str_absent(run->run.task) && str_equal(run->run.task, filter->task));
        if (!named || (filter->job_id != 0 && filter->job_id != run->run.job_id) ||
            (filter->before_id != 0 && run->run.id >= filter->before_id))
            continue;
        if ((filter->outcome == 0 || filter->outcome == (int)run->run.outcome) &&
            run->run.finished_ms >= filter->since_ms)
            list.runs[list.count++] = run_give(run, arena);
        if (--left == 0 || list.count == (size_t)filter->limit)
            list.next_id = run->run.id;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance, struct run_sums *out,
                           pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    const struct pile *runs = &model->jobs->runs;
    struct run_sums sums = {0};
    for (size_t i = 0; i < runs->count; i++) {
        const struct task_run *run = &PILE(*runs, struct mrun, i)->run;
        bool fits = run->finished_ms >= since_ms &&
                    (uuid_is_nil(instance) || uuid_equal(run->instance, instance));
        bool known = uuid_is_nil(run->instance);
        if (!fits)
            continue;
        sums.runs++;
        sums.succeeded += run->outcome == RUN_SUCCEEDED;
        sums.duration_ms += run->finished_ms - run->started_ms;
        for (size_t k = 0; k < i; k++) {
            const struct task_run *other = &PILE(*runs, struct mrun, k)->run;
            known = known || (other->finished_ms >= since_ms && uuid_equal(other->instance, run->instance));
        }
        sums.workers += !known;
    }
    *out = sums;
    return model_leave(model, PAWL_OK);
}

/* The first block or row whose hash is not what it should be; absent when all are. */
static pawl_str first_fault(struct model_jobs *jobs, struct arena *arena) {
    uint8_t hash[SHA256_BYTES];
    for (size_t i = 0; i < jobs->runs.count; i++) {
        const struct mrun *run = PILE(jobs->runs, struct mrun, i);
        struct audit_run row = audit_run_of(&run->run, run->expires_ms);
        if (audit_run_hash(&row, hash, NULL) != PAWL_OK || memcmp(hash, run->hash, sizeof hash) != 0)
            return str_from(arena_printf(arena, "task_run %" PRId64 " was changed", run->run.id));
    }
    for (size_t i = 0; i < jobs->blocks.count; i++) {
        const struct mblock *block = PILE(jobs->blocks, struct mblock, i);
        struct audit_block sealed = block_of(block);
        if (audit_block_hash(block->previous, &sealed, hash, NULL) != PAWL_OK ||
            memcmp(hash, block->hash, sizeof hash) != 0)
            return str_from(arena_printf(arena, "block %" PRId64 " was changed", block->number));
    }
    return (pawl_str){NULL, 0};
}

/* The last block of the chain after a chain (NULL: of the first chain); NULL when there is none. */
static struct mblock *next_head(struct model_jobs *jobs, const struct mblock *after) {
    struct mblock *next = NULL;
    for (size_t i = 0; i < jobs->blocks.count; i++) {
        struct mblock *block = PILE(jobs->blocks, struct mblock, i);
        if (after != NULL && memcmp(block->chain.b, after->chain.b, sizeof block->chain.b) <= 0)
            continue;
        if (next == NULL || memcmp(block->chain.b, next->chain.b, sizeof block->chain.b) <= 0)
            next = block;
    }
    return next;
}

static void anchor_add(struct model *model, pawl_str heads) {
    struct model_jobs *jobs = model->jobs;
    struct manchor next = {.head = {.number = (int64_t)jobs->anchors.count + 1, .made_ms = model->now_ms}};
    uint8_t none[SHA256_BYTES] = {0};
    const uint8_t *previous =
        jobs->anchors.count > 0 ? PILE(jobs->anchors, struct manchor, jobs->anchors.count - 1)->hash : none;
    pawl_status status =
        audit_anchor_hash(previous, next.head.number, next.head.made_ms, heads, next.hash, NULL);
    assert(status == PAWL_OK);
    (void)status;
    sha256_text(next.hash, next.head.hash);
    pile_add(&jobs->anchors, &next);
}

static struct audit_head last_anchor(const struct model_jobs *jobs) {
    return jobs->anchors.count > 0 ? PILE(jobs->anchors, struct manchor, jobs->anchors.count - 1)->head
                                   : (struct audit_head){0};
}

pawl_status model_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                               pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct buf heads;
    buf_init(&heads, 0);
    struct audit_head last = last_anchor(jobs);
    if (last.number == 0 || last.made_ms <= model->now_ms - older_ms) {
        for (struct mblock *head = next_head(jobs, NULL); head != NULL; head = next_head(jobs, head)) {
            if (!head->anchored)
                audit_head_append(&heads, head->chain, head->number, head->hash);
            head->anchored = true;
        }
        if (heads.len > 0)
            anchor_add(model, buf_str(&heads));
    }
    buf_free(&heads);
    *out = last_anchor(jobs);
    return model_leave(model, PAWL_OK);
}

pawl_status model_audit_head(struct store *store, struct audit_head *out, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    *out = last_anchor(model->jobs);
    return model_leave(model, PAWL_OK);
}

static bool anchor_known(const struct model_jobs *jobs, pawl_str expect) {
    for (size_t i = 0; i < jobs->anchors.count; i++)
        if (strncasecmp(PILE(jobs->anchors, struct manchor, i)->head.hash, expect.ptr, expect.len) == 0)
            return true;
    return false;
}

pawl_status model_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                               struct audit_report *out, pawl_error *err) {
    pawl_status status = check_audit_expect(expect, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct audit_report report = {.blocks = (int64_t)jobs->blocks.count,
                                  .anchors = (int64_t)jobs->anchors.count,
                                  .rows = (int64_t)jobs->runs.count};
    for (size_t i = 0; i < jobs->blocks.count; i++) {
        const struct mblock *block = PILE(jobs->blocks, struct mblock, i);
        report.chains += block->number == 1;
        report.removed += (int64_t)(block->entries.len / AUDIT_ENTRY_BYTES);
    }
    report.removed -= report.rows;
    report.fault = first_fault(jobs, arena);
    if (str_absent(report.fault) && !str_absent(expect) && !anchor_known(jobs, expect))
        report.fault = audit_anchor_unknown(expect, arena);
    report.sound = str_absent(report.fault);
    *out = report;
    return model_leave(model, PAWL_OK);
}

pawl_status model_spine_read(struct store *store, int limit, struct arena *arena, struct spine_events *out,
                             pawl_error *err) {
    pawl_status status = check_list_limit("spine_read", limit, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    struct spine_events list = {arena_array(arena, jobs->spine.count, sizeof *list.events), 0};
    if (list.events == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "spine_read", "no memory for the events"));
    for (size_t i = 0; i < jobs->spine.count && list.count < (size_t)limit; i++) {
        struct spine_event copy = *PILE(jobs->spine, struct spine_event, i);
        copy.task = model_give(arena, copy.task);
        copy.type = model_give(arena, copy.type);
        copy.payload = model_give(arena, copy.payload);
        copy.error = model_give(arena, copy.error);
        list.events[list.count++] = copy;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                               pawl_error *err) {
    pawl_status status = check_job_ids("spine_remove", ids, count, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct pile *spine = &model->jobs->spine;
    int64_t gone = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < spine->count; n++) {
            if (PILE(*spine, struct spine_event, n)->id == ids[i]) {
                pile_drop(spine, n);
                gone++;
                break;
            }
        }
    }
    *removed = gone;
    return model_leave(model, PAWL_OK);
}

/* Drops what is over; at most rows_max. */
static int64_t drop(struct model *model, struct pile *pile, int rows_max,
                    bool (*over)(struct model *model, const void *item)) {
    int64_t gone = 0;
    for (size_t i = 0; i < pile->count && gone < rows_max;) {
        if (over(model, pile->items + i * pile->size)) {
            pile_drop(pile, i);
            gone++;
        } else {
            i++;
        }
    }
    return gone;
}

static bool run_over(struct model *model, const void *item) {
    return ((const struct mrun *)item)->expires_ms < model->now_ms;
}

static bool claim_over(struct model *model, const void *item) {
    const struct mclaim *claim = item;
    if (claim->active || claim->lease_until_ms >= model->now_ms - 3600000)
        return false;
    free(claim->ids.items);
    free(claim->done.items);
    return true;
}

static bool fire_over(struct model *model, const void *item) {
    const struct mfire *fire = item;
    for (size_t i = 0; i < model->jobs->schedules.count; i++) {
        const struct job_schedule *schedule = PILE(model->jobs->schedules, struct job_schedule, i);
        if (str_equal(schedule->name, fire->schedule))
            return fire->fired_ms < model->now_ms - PAWL_FIRE_MS && fire->instant_ms <= schedule->last_ms;
    }
    return false;
}

static bool signal_over(struct model *model, const void *item) {
    return ((const struct msignal *)item)->expires_ms <= model->now_ms;
}

static bool refusal_over(struct model *model, const void *item) {
    return ((const struct refusal *)item)->made_ms < model->now_ms - PAWL_REFUSAL_MS;
}

static bool event_over(struct model *model, const void *item) {
    return ((const struct spine_event *)item)->made_ms < model->now_ms - PAWL_SPINE_MS;
}

static int64_t jobs_lost(const struct model_jobs *jobs) {
    int64_t lost = 0;
    for (size_t i = 0; i < jobs->counts.count; i++)
        lost += PILE(jobs->counts, struct job_counts, i)->lost;
    return lost;
}

pawl_status model_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                pawl_error *err) {
    if (rows_max < 1)
        return error_set(err, PAWL_INVALID, "jobs_maintain", "rows_max %d is below 1", rows_max);
    struct model *model = model_enter(store);
    struct model_jobs *jobs = model->jobs;
    int64_t lost = jobs_lost(jobs);
    model_jobs_sweep(model, uuid_nil());
    *out = (struct jobs_maintain_result){
        .leases_expired = jobs_lost(jobs) - lost,
        .runs_removed = drop(model, &jobs->runs, rows_max, run_over),
        .claims_removed = drop(model, &jobs->claims, rows_max, claim_over),
        .fires_removed = drop(model, &jobs->fires, rows_max, fire_over),
        .signals_removed = drop(model, &jobs->signals, rows_max, signal_over),
        .refusals_removed = drop(model, &jobs->refusals, rows_max, refusal_over),
        .spine_removed = drop(model, &jobs->spine, rows_max, event_over),
    };
    return model_leave(model, PAWL_OK);
}
