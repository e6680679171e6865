/* Pages: the guard, what to fetch, and what a page that came back does. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "store/model/runs.h"

static void complete_job(struct model *model, const struct page_ref *ref) {
    (void)model_finish_one(model, ref->instance,
                           &(struct finish_item){.ref = ref->job, .outcome = JOB_COMPLETE});
}

/* The run and the partition of a page; run NULL: there is no such page. */
struct place_of {
    struct run_row *run;
    struct partition_row *part;
};

static struct place_of find(struct model *model, const struct page_ref *ref) {
    return (struct place_of){model_run_find(model, ref->run),
                             model_partition_find(model, ref->run, ref->part)};
}

/* A page that is skipped leaves its number in the partition, and its job is completed. */
static void skip(struct model *model, const struct page_ref *ref, struct partition_row *part) {
    if (part != NULL)
        part->skipped++;
    complete_job(model, ref);
}

pawl_status model_page_begin(struct store *store, const struct page_ref *in, struct arena *arena,
                             struct page *out, pawl_error *err) {
    pawl_status status = check_page_ref("page_begin", in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    *out = (struct page){.answer = ANSWER_APPLIED, .outcome = PAGE_SKIPPED};
    if (!model_job_held(model, in->instance, in->job)) {
        out->answer = model_finish_one(model, in->instance,
                                       &(struct finish_item){.ref = in->job, .outcome = JOB_COMPLETE});
        return model_leave(model, PAWL_OK);
    }
    struct place_of at = find(model, in);
    out->skip = run_guard(in, at.run, at.part);
    if (at.part != NULL) {
        out->next_offset = at.part->offset;
        if (out->skip == PAGE_NOT_SKIPPED && at.part->paused && at.part->state == PART_ACTIVE)
            out->skip = PAGE_PAUSED;
        if (out->skip == PAGE_PAUSED && at.part->job == in->job.id)
            at.part->job = 0;
    }
    if (out->skip != PAGE_NOT_SKIPPED || at.part == NULL) {
        skip(model, in, at.part);
        return model_leave(model, PAWL_OK);
    }
    const struct run_row *run = at.run;
    const struct partition_row *part = at.part;
    *out = (struct page){.answer = ANSWER_APPLIED,
                         .outcome = PAGE_ADVANCED,
                         .run_key = model_give(arena, run->key),
                         .run_name = model_give(arena, run->name),
                         .run_params = model_give(arena, run->params),
                         .spec = model_give(arena, run->spec),
                         .partition = model_give(arena, part->name),
                         .params = model_give(arena, part->params),
                         .cursor = model_give(arena, part->cursor),
                         .traceparent = model_give(arena, run->traceparent),
                         .agent = model_give(arena, run->agent),
                         .bounded = part->bounded,
                         .low = part->low,
                         .high = part->high,
                         .total = part->total,
                         .offset = part->offset,
                         .next_offset = part->offset,
                         .deadline_ms = run->deadline_ms,
                         .limit = run->page_size,
                         .end = run->end};
    return model_leave(model, PAWL_OK);
}

/* Inserts the item, or replaces the one with its key. */
static void store_item(struct model *model, const struct page_ref *ref, const struct run_item *item) {
    struct pile *items = &model->runs->items;
    struct mitem fresh = {
        .run = ref->run,
        .part = ref->part,
        .key = model_keep(model->jobs, item->key),
        .payload = model_keep(model->jobs, str_absent(item->payload) ? STR("null") : item->payload)};
    size_t at = 0;
    for (; at < items->count; at++) {
        const struct mitem *row = PILE(*items, struct mitem, at);
        if (row->run > ref->run || (row->run == ref->run && str_compare(row->key, item->key) >= 0))
            break;
    }
    bool there = at < items->count && PILE(*items, struct mitem, at)->run == ref->run &&
                 str_equal(PILE(*items, struct mitem, at)->key, item->key);
    if (!there) {
        pile_add(items, &fresh);
        for (size_t i = items->count - 1; i > at; i--)
            *PILE(*items, struct mitem, i) = *PILE(*items, struct mitem, i - 1);
    }
    *PILE(*items, struct mitem, at) = fresh;
}

/* The page leads nowhere: its job dies, and the partition with it. */
static void fail_page(struct model *model, const struct page_commit *in, struct place_of at,
                      struct page_result *out) {
    struct finish_item item = {.ref = in->ref.job,
                               .outcome = JOB_FAIL,
                               .error_class = CLASS_PERMANENT,
                               .delay_ms = -1,
                               .duration_ms = in->fetch_ms,
                               .error = out->error};
    /* Before its job: a page that somebody delivered once more may have brought it, whose end says nothing.
     */
    (void)model_partition_end(model, at.run, at.part, PART_FAILED, out->error);
    (void)model_finish_one(model, in->ref.instance, &item);
    out->outcome = PAGE_FAILED;
}

static void advance(struct model *model, const struct page_commit *in, struct place_of at, bool more,
                    struct page_result *out) {
    struct finish_item done = {.ref = in->ref.job, .outcome = JOB_COMPLETE, .duration_ms = in->fetch_ms};
    out->outcome = more ? PAGE_ADVANCED : PAGE_FINISHED;
    out->next_offset = at.part->offset;
    at.part->job = 0;
    if (more) {
        model_page_put(model, at.run, at.part);
        out->next_job = at.part->job;
    } else {
        out->last = model_partition_end(model, at.run, at.part, PART_DONE, (pawl_str){NULL, 0});
    }
    (void)model_finish_one(model, in->ref.instance, &done);
}

static pawl_status commit(struct model *model, const struct page_commit *in, struct arena *arena,
                          struct page_result *out, pawl_error *err) {
    struct place_of at = find(model, &in->ref);
    out->skip = run_guard(&in->ref, at.run, at.part);
    if (at.part != NULL)
        out->next_offset = at.part->offset;
    if (out->skip != PAGE_NOT_SKIPPED || at.part == NULL) {
        out->outcome = PAGE_SKIPPED;
        skip(model, &in->ref, at.part);
        return PAWL_OK;
    }
    struct run_item *items = NULL;
    size_t count = 0;
    pawl_status status = check_page_room(in->count, at.run->page_size, err);
    if (status == PAWL_OK && !str_absent(at.run->target))
        status = error_set(err, PAWL_INVALID, "page_commit", "the model runs no SQL, so it has no targets");
    if (status == PAWL_OK)
        status = run_items_distinct(in->items, in->count, arena, &items, &count, err);
    if (status != PAWL_OK)
        return status;
    struct runrule_page page = run_page_rule(in, at.run, at.part);
    if (runrule_loops(&page) != LOOP_NONE) {
        char text[RUNRULE_TEXT_BYTES];
        out->error = model_give(arena, str_from(runrule_loop_text(&page, text)));
        model_partition_open(model, at.run, at.part);
        fail_page(model, in, at, out);
        return PAWL_OK;
    }
    bool more = runrule_more(&page);
    model_partition_open(model, at.run, at.part);
    for (size_t i = 0; i < count; i++)
        store_item(model, &in->ref, &items[i]);
    struct page_commit kept = *in;
    kept.cursor = model_keep(model->jobs, in->cursor);
    run_page_count(&kept, at.run, at.part, in->count - count, model->now_ms);
    advance(model, in, at, more, out);
    return PAWL_OK;
}

pawl_status model_page_commit(struct store *store, const struct page_commit *in, struct arena *arena,
                              struct page_result *out, pawl_error *err) {
    struct page_result result = {.answer = ANSWER_APPLIED};
    pawl_status status = check_page_commit(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    if (model_job_held(model, in->ref.instance, in->ref.job))
        status = commit(model, in, arena, &result, err);
    else
        result.answer = model_finish_one(model, in->ref.instance,
                                         &(struct finish_item){.ref = in->ref.job, .outcome = JOB_COMPLETE});
    if (status == PAWL_OK)
        *out = result;
    return model_leave(model, status);
}
