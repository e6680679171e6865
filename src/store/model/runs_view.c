/* Questions about runs: lists, invariants, the dump. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "store/model/runs.h"
#include "store/model/view.h"

static bool matches(pawl_str wanted, pawl_str text) { return str_absent(wanted) || str_equal(wanted, text); }

/* Adds what its partitions have done. */
static void sum_up(struct model *model, struct run_row *run) {
    run->updated_ms = run->ended_ms > run->started_ms ? run->ended_ms : run->started_ms;
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        const struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        if (part->run != run->id)
            continue;
        run->total = part->total < 0 || run->total < 0 ? -1 : run->total + part->total;
        run->items += part->items;
        run->repeats += part->repeats;
        run->pages += part->pages;
        run->skipped += part->skipped;
        run->fetch_ms += part->fetch_ms;
        run->fetch_ms_max = part->fetch_ms_max > run->fetch_ms_max ? part->fetch_ms_max : run->fetch_ms_max;
        run->slow += part->slow;
        run->updated_ms = part->updated_ms > run->updated_ms ? part->updated_ms : run->updated_ms;
    }
}

static struct run_row give_run(struct model *model, const struct run_row *run, struct arena *arena) {
    struct run_row copy = *run;
    pawl_str *const texts[] = {
        &copy.key,      &copy.name,  &copy.type,  &copy.consolidate, &copy.params,   &copy.spec, &copy.target,
        &copy.announce, &copy.queue, &copy.error, &copy.traceparent, &copy.wait_key, &copy.agent};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = model_give(arena, *texts[i]);
    sum_up(model, &copy);
    return copy;
}

pawl_status model_run_rows(struct store *store, const struct runs_filter *filter, struct arena *arena,
                           struct run_list *out, pawl_error *err) {
    pawl_status status = check_runs_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct pile *runs = &model->runs->runs;
    struct run_list list = {arena_array(arena, runs->count, sizeof *list.runs), 0, model->now_ms};
    if (list.runs == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "runs", "no memory for the runs"));
    for (size_t i = runs->count; i-- > 0 && list.count < (size_t)filter->limit;) {
        const struct run_row *run = PILE(*runs, struct run_row, i);
        if ((filter->id != 0 && filter->id != run->id) || !matches(filter->key, run->key) ||
            !matches(filter->name, run->name) || (filter->state != 0 && filter->state != (int)run->state) ||
            (filter->open && run_ended(run->state)) ||
            (filter->parent != 0 && filter->parent != run->parent) ||
            (filter->before_id != 0 && run->id >= filter->before_id))
            continue;
        list.runs[list.count++] = give_run(model, run, arena);
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

static bool wanted(const struct partitions_filter *filter, const struct partition_row *part, int64_t now_ms) {
    if ((filter->run != 0 && filter->run != part->run) || !matches(filter->name, part->name) ||
        (filter->state != 0 && filter->state != (int)part->state))
        return false;
    if (part->run < filter->after_run || (part->run == filter->after_run && part->part <= filter->after_part))
        return false;
    return filter->quiet_ms == 0 ||
           (part->state == PART_ACTIVE && !part->paused && part->updated_ms <= now_ms - filter->quiet_ms);
}

pawl_status model_partition_rows(struct store *store, const struct partitions_filter *filter,
                                 struct arena *arena, struct partition_list *out, pawl_error *err) {
    pawl_status status = check_partitions_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct pile *parts = &model->runs->partitions;
    struct partition_list list = {arena_array(arena, parts->count, sizeof *list.partitions), 0,
                                  model->now_ms};
    if (list.partitions == NULL)
        return model_leave(model,
                           error_set(err, PAWL_NO_MEMORY, "partitions", "no memory for the partitions"));
    for (size_t i = 0; i < parts->count && list.count < (size_t)filter->limit; i++) {
        const struct partition_row *part = PILE(*parts, struct partition_row, i);
        if (!wanted(filter, part, model->now_ms))
            continue;
        struct partition_row copy = *part;
        pawl_str *const texts[] = {&copy.name, &copy.params, &copy.cursor, &copy.error};
        for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++)
            *texts[n] = model_give(arena, *texts[n]);
        list.partitions[list.count++] = copy;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_item_rows(struct store *store, const struct items_filter *filter, struct arena *arena,
                            struct stored_items *out, pawl_error *err) {
    pawl_status status = check_items_filter(filter, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct pile *items = &model->runs->items;
    struct stored_items list = {arena_array(arena, items->count, sizeof *list.items), 0};
    if (list.items == NULL)
        return model_leave(model, error_set(err, PAWL_NO_MEMORY, "items", "no memory for the items"));
    for (size_t i = 0; i < items->count && list.count < (size_t)filter->limit; i++) {
        const struct mitem *item = PILE(*items, struct mitem, i);
        if (item->run != filter->run || (filter->part >= 0 && item->part != filter->part) ||
            (!str_absent(filter->after_key) && str_compare(item->key, filter->after_key) <= 0))
            continue;
        list.items[list.count++] =
            (struct stored_item){item->part, model_give(arena, item->key), model_give(arena, item->payload)};
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

static const char *partition_fault(struct model *model, const struct run_row *run,
                                   const struct partition_row *part) {
    const struct mjob *job = part->job != 0 ? model_job_find(model->jobs, part->job) : NULL;
    bool works = job != NULL && job->row.state != JOB_DEAD;
    if (part->state != PART_ACTIVE)
        return NULL;
    if (run->state != RUN_IS_RUNNING)
        return "run_state_matches";
    if ((part->job == 0 && !part->paused) || (part->job != 0 && !works))
        return "run_partition_has_job";
    return part->paused == run->paused ? NULL : "run_state_matches";
}

static const char *run_fault(struct model *model, const struct run_row *run) {
    int states[PART_CANCELLED + 1] = {0};
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        const struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        if (part->run != run->id)
            continue;
        states[part->state]++;
        const char *fault = partition_fault(model, run, part);
        if (fault != NULL)
            return fault;
    }
    if (states[PART_ACTIVE] != run->remaining || states[PART_DONE] != run->done ||
        states[PART_FAILED] != run->failed ||
        states[PART_ACTIVE] + states[PART_DONE] + states[PART_FAILED] + states[PART_CANCELLED] !=
            run->partitions)
        return "run_counters_match";
    const struct mjob *job = run->job != 0 ? model_job_find(model->jobs, run->job) : NULL;
    if (run->state == RUN_IS_CONSOLIDATING && (job == NULL || job->row.state == JOB_DEAD))
        return "run_consolidation_has_job";
    if ((run->state == RUN_IS_RUNNING) != (run->remaining > 0) ||
        run_ended(run->state) != (run->ended_ms > 0))
        return "run_state_matches";
    int open = 0, failed = 0;
    for (size_t i = 0; i < model->runs->runs.count; i++) {
        const struct run_row *child = PILE(model->runs->runs, struct run_row, i);
        if (child->parent != run->id)
            continue;
        open += !run_ended(child->state);
        failed += run_ended(child->state) && child->state != RUN_IS_COMPLETED;
    }
    return open == run->children_open && failed <= run->children_failed ? NULL : "run_children_match";
}

const char *model_runs_fault(struct model *model) {
    const char *fault = NULL;
    for (size_t i = 0; fault == NULL && i < model->runs->runs.count; i++)
        fault = run_fault(model, PILE(model->runs->runs, struct run_row, i));
    for (size_t i = 0; fault == NULL && i < model->runs->items.count; i++) {
        const struct mitem *item = PILE(model->runs->items, struct mitem, i);
        if (model_partition_find(model, item->run, item->part) == NULL)
            fault = "run_item_has_partition";
    }
    return fault;
}

void model_runs_dump(struct model *model, struct buf *buf) {
    for (size_t i = 0; i < model->runs->runs.count; i++) {
        const struct run_row *run = PILE(model->runs->runs, struct run_row, i);
        buf_append_cstr(buf, "run");
        model_dump_text(buf, "key", run->key);
        model_dump_text(buf, "name", run->name);
        buf_printf(
            buf,
            " state=%d paused=%d round=%d partitions=%d remaining=%d done=%d failed=%d children_open=%d "
            "children_failed=%d",
            (int)run->state, run->paused, run->round, run->partitions, run->remaining, run->done, run->failed,
            run->children_open, run->children_failed);
        model_dump_error(buf, run->error);
        buf_append_char(buf, '\n');
    }
    for (size_t i = 0; i < model->runs->partitions.count; i++) {
        const struct partition_row *part = PILE(model->runs->partitions, struct partition_row, i);
        const struct run_row *run = model_run_find(model, part->run);
        buf_append_cstr(buf, "partition");
        model_dump_text(buf, "run", run->key);
        model_dump_text(buf, "name", part->name);
        buf_printf(buf,
                   " state=%d paused=%d job=%d generation=%d page=%" PRId64 " offset=%" PRId64
                   " items=%" PRId64 " repeats=%" PRId64 " skipped=%" PRId64,
                   (int)part->state, part->paused, part->state == PART_ACTIVE && part->job != 0,
                   part->generation, part->page, part->offset, part->items, part->repeats, part->skipped);
        model_dump_text(buf, "cursor", part->cursor);
        model_dump_error(buf, part->error);
        buf_append_char(buf, '\n');
    }
    for (size_t i = 0; i < model->runs->items.count; i++) {
        const struct mitem *item = PILE(model->runs->items, struct mitem, i);
        buf_append_cstr(buf, "item");
        model_dump_text(buf, "run", model_run_find(model, item->run)->key);
        model_dump_text(buf, "key", item->key);
        buf_printf(buf, " part=%d", item->part);
        model_dump_text(buf, "payload", item->payload);
        buf_append_char(buf, '\n');
    }
}
