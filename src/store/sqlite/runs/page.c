/* Pages of runs on SQLite: the guard, what to fetch, and storing a page. */
#include "base/str.h"
#include "domain/run/rule.h"
#include "store/sqlite/events/user_sql.h"
#include "store/sqlite/runs/runs.h"

/* One call about a page. */
struct page_call {
    struct jobs_call call;
    const struct page_ref *ref;
    struct run_row run;
    struct partition_row part;
    bool run_found, part_found;
    enum store_answer answer;
    enum page_skip skip;
};

static pawl_status complete_job(struct page_call *p) {
    struct finish_item item = {.ref = p->ref->job, .outcome = JOB_COMPLETE};
    return jobs_report_one(&p->call, &item, &p->answer);
}

/* Whether the job is held, and what the guard says. */
static pawl_status page_load(struct page_call *p) {
    bool held = false;
    struct operation *op = p->call.op;
    p->answer = ANSWER_APPLIED;
    TRY(jobs_held(&p->call, p->ref->job, &held));
    if (!held)
        return complete_job(p);
    TRY(partition_load(op, p->ref->run, p->ref->part, op->scratch, &p->part, &p->part_found));
    TRY(runs_load(op, p->ref->run, op->scratch, &p->run, &p->run_found));
    p->skip = run_guard(p->ref, p->run_found ? &p->run : NULL, p->part_found ? &p->part : NULL);
    return PAWL_OK;
}

static pawl_status skip_page(struct page_call *p) {
    if (p->part_found) {
        p->part.skipped++;
        TRY(partition_save(p->call.op, &p->part));
    }
    return complete_job(p);
}

static pawl_status begin_in(struct page_call *p) {
    TRY(page_load(p));
    if (p->answer != ANSWER_APPLIED)
        return PAWL_OK;
    if (p->skip == PAGE_NOT_SKIPPED && p->part.paused && p->part.state == PART_ACTIVE) {
        p->skip = PAGE_PAUSED;
        if (p->part.job == p->ref->job.id)
            p->part.job = 0;
    }
    return p->skip != PAGE_NOT_SKIPPED ? skip_page(p) : PAWL_OK;
}

/* What the handler needs, texts in the caller's arena. */
static pawl_status page_give(const struct page_call *p, struct arena *arena, struct page *out,
                             pawl_error *err) {
    struct page page = {.answer = p->answer,
                        .outcome = PAGE_SKIPPED,
                        .skip = p->skip,
                        .next_offset = p->part_found ? p->part.offset : 0};
    if (p->answer == ANSWER_APPLIED && p->skip == PAGE_NOT_SKIPPED) {
        page.outcome = PAGE_ADVANCED;
        page.bounded = p->part.bounded;
        page.low = p->part.low;
        page.high = p->part.high;
        page.total = p->part.total;
        page.offset = p->part.offset;
        page.deadline_ms = p->run.deadline_ms;
        page.limit = p->run.page_size;
        page.end = p->run.end;
        const struct {
            pawl_str from;
            pawl_str *to;
        } texts[] = {{p->run.key, &page.run_key},       {p->run.name, &page.run_name},
                     {p->run.params, &page.run_params}, {p->run.spec, &page.spec},
                     {p->part.name, &page.partition},   {p->part.params, &page.params},
                     {p->part.cursor, &page.cursor},    {p->run.traceparent, &page.traceparent},
                     {p->run.agent, &page.agent}};
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            TRY(str_dup(arena, texts[i].from, texts[i].to, err));
    }
    *out = page;
    return PAWL_OK;
}

pawl_status sqlite_runs_page_begin(struct store *store, const struct page_ref *in, struct arena *arena,
                                   struct page *out, pawl_error *err) {
    struct page_call p = {.ref = in};
    struct page page;
    pawl_status status = jobs_call_begin(&p.call, store, "page_begin", in->instance,
                                         check_page_ref("page_begin", in, err), err);
    if (status != PAWL_OK)
        return status;
    status = begin_in(&p);
    if (status == PAWL_OK)
        status = page_give(&p, arena, &page, err);
    return jobs_give(&p.call, status, out, &page);
}

/* The target's own statement, in this transaction. */
static pawl_status store_by_target(struct page_call *p, const struct page_commit *in,
                                   const struct run_item *items, size_t count) {
    struct operation *op = p->call.op;
    pawl_str sql = {NULL, 0}, json;
    struct statement s = SQL(op, SQLITE_Q_RUN_TARGET_FIND, p->run.target);
    if (statement_next(&s))
        sql = column_copy(&s, 0, op->scratch);
    TRY(statement_end(&s));
    TRY(run_items_json(in, &p->part, items, count, op->scratch, &json, op->err));
    return user_sql_run(op, sql, json, op->err);
}

static pawl_status store_items(struct page_call *p, const struct page_commit *in, size_t *distinct) {
    struct run_item *items = NULL;
    TRY(run_items_distinct(in->items, in->count, p->call.op->scratch, &items, distinct, p->call.op->err));
    if (!str_absent(p->run.target))
        return *distinct > 0 ? store_by_target(p, in, items, *distinct) : PAWL_OK;
    for (size_t i = 0; i < *distinct; i++)
        TRY(statement_run(SQL(p->call.op, SQLITE_Q_RUN_ITEM_PUT, p->ref->run, items[i].key, p->ref->part,
                              str_absent(items[i].payload) ? STR("null") : items[i].payload)));
    return PAWL_OK;
}

/* The page is an endless loop: its job dies, and the partition fails. */
static pawl_status fail_page(struct page_call *p, const struct page_commit *in, struct page_result *out) {
    struct finish_item item = {.ref = p->ref->job,
                               .outcome = JOB_FAIL,
                               .error_class = CLASS_PERMANENT,
                               .delay_ms = -1,
                               .duration_ms = in->fetch_ms,
                               .error = out->error};
    out->outcome = PAGE_FAILED;
    /* Before its job, because this may be the job of a duplicate page, whose end does not affect the
     * partition. */
    TRY(runs_partition_end(&p->call, &p->run, &p->part, PART_FAILED, out->error));
    return jobs_report_one(&p->call, &item, &p->answer);
}

static pawl_status advance(struct page_call *p, const struct page_commit *in, bool more,
                           struct page_result *out) {
    struct finish_item done = {.ref = p->ref->job, .outcome = JOB_COMPLETE, .duration_ms = in->fetch_ms};
    out->outcome = more ? PAGE_ADVANCED : PAGE_FINISHED;
    out->next_offset = p->part.offset;
    p->part.job = 0;
    if (more) {
        TRY(runs_page_put(&p->call, &p->run, &p->part));
        out->next_job = p->part.job;
        TRY(partition_save(p->call.op, &p->part));
        if (out->next_job != 0)
            TRY(jobs_wake_wanted(p->call.op));
    } else {
        TRY(runs_partition_end(&p->call, &p->run, &p->part, PART_DONE, (pawl_str){NULL, 0}));
        out->last = p->run.remaining == 0;
    }
    return jobs_report_one(&p->call, &done, &p->answer);
}

static pawl_status commit_in(struct page_call *p, const struct page_commit *in, struct arena *arena,
                             struct page_result *out) {
    size_t distinct = 0;
    TRY(page_load(p));
    if (p->answer != ANSWER_APPLIED)
        return PAWL_OK;
    out->next_offset = p->part_found ? p->part.offset : 0;
    if (p->skip != PAGE_NOT_SKIPPED) {
        out->outcome = PAGE_SKIPPED;
        return skip_page(p);
    }
    TRY(check_page_room(in->count, p->run.page_size, p->call.op->err));
    struct runrule_page page = run_page_rule(in, &p->run, &p->part);
    TRY(runs_partition_open(&p->call, &p->run, &p->part));
    if (runrule_loops(&page) != LOOP_NONE) {
        char text[RUNRULE_TEXT_BYTES];
        TRY(str_dup(arena, str_from(runrule_loop_text(&page, text)), &out->error, p->call.op->err));
        return fail_page(p, in, out);
    }
    TRY(store_items(p, in, &distinct));
    run_page_count(in, &p->run, &p->part, in->count - distinct, p->call.op->now_ms);
    return advance(p, in, runrule_more(&page), out);
}

pawl_status sqlite_runs_page_commit(struct store *store, const struct page_commit *in, struct arena *arena,
                                    struct page_result *out, pawl_error *err) {
    struct page_call p = {.ref = &in->ref};
    struct page_result result = {0};
    pawl_status status =
        jobs_call_begin(&p.call, store, "page_commit", in->ref.instance, check_page_commit(in, err), err);
    if (status != PAWL_OK)
        return status;
    status = commit_in(&p, in, arena, &result);
    result.answer = p.answer;
    result.skip = p.skip;
    return jobs_give(&p.call, status, out, &result);
}
