/* Building the jobs, keys and error texts of runs. */
#include "store/run_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"

static bool run_keyed(const struct run_row *run) { return run->paced; }

bool run_ended(enum run_state state) {
    return state == RUN_IS_COMPLETED || state == RUN_IS_FAILED || state == RUN_IS_CANCELLED;
}

bool run_workable(enum run_state state) {
    return state == RUN_IS_RUNNING || state == RUN_IS_IN_REPAIR || state == RUN_IS_FAILED;
}

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "runs", "no memory for the texts of a job");
}

static pawl_str kept(const char *text, bool *failed) {
    *failed = *failed || text == NULL;
    return str_from(text);
}

pawl_status run_key_text(int64_t run, struct arena *arena, pawl_str *out, pawl_error *err) {
    bool failed = false;
    *out = kept(arena_printf(arena, "run:%" PRId64, run), &failed);
    return failed ? no_memory(err) : PAWL_OK;
}

/* Copies the text into the arena and frees the buffer. */
static pawl_status take(struct buf *buf, struct arena *arena, pawl_str *out, pawl_error *err) {
    pawl_status status = buf_status(buf, "runs", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(buf), out, err);
    buf_free(buf);
    return status;
}

static struct job job_of(const struct run_row *run) {
    return (struct job){.queue = run->queue,
                        .traceparent = run->traceparent,
                        .agent = run->agent,
                        .priority = run->priority,
                        .max_attempts = run->max_attempts,
                        .flags = run->flags | JOB_RUN};
}

pawl_status run_page_job(const struct run_row *run, const struct partition_row *part, struct arena *arena,
                         struct job *out, pawl_error *err) {
    struct job job = job_of(run);
    struct buf buf;
    bool failed = false;
    job.type = run->type;
    job.timeout_ms = run->deadline_ms;
    char generation[16] = "";
    if (part->generation > 0)
        (void)snprintf(generation, sizeof generation, ":%d", part->generation);
    job.unique_key = kept(
        arena_printf(arena, "run:%" PRId64 ":%d:%" PRId64 "%s", run->id, part->part, part->page, generation),
        &failed);
    if (run_keyed(run))
        job.key = kept(arena_printf(arena, "run:%" PRId64, run->id), &failed);
    if (failed)
        return no_memory(err);
    buf_init(&buf, 0);
    buf_printf(&buf,
               "{\"run\":%" PRId64 ",\"part\":%d,\"generation\":%d,\"page\":%" PRId64 ",\"offset\":%" PRId64
               ",\"limit\":%d,\"partition\":",
               run->id, part->part, part->generation, part->page, part->offset, run->page_size);
    json_quote(&buf, part->name);
    buf_append_cstr(&buf, ",\"cursor\":");
    buf_append_str(&buf, str_absent(part->cursor) ? STR("null") : part->cursor);
    buf_append_char(&buf, '}');
    pawl_status status = take(&buf, arena, &job.payload, err);
    if (status == PAWL_OK)
        *out = job;
    return status;
}

pawl_status run_consolidate_job(const struct run_row *run, int64_t items, struct arena *arena,
                                struct job *out, pawl_error *err) {
    struct job job = job_of(run);
    struct buf buf;
    bool failed = false;
    job.type = run->consolidate;
    job.unique_key =
        kept(arena_printf(arena, "run:%" PRId64 ":consolidate:%d", run->id, run->round), &failed);
    if (failed)
        return no_memory(err);
    buf_init(&buf, 0);
    buf_printf(&buf, "{\"run\":%" PRId64 ",\"round\":%d,\"key\":", run->id, run->round);
    json_quote(&buf, run->key);
    buf_append_cstr(&buf, ",\"name\":");
    json_quote(&buf, run->name);
    buf_printf(&buf, ",\"partitions\":%d,\"done\":%d,\"failed\":%d,\"items\":%" PRId64 "}", run->partitions,
               run->done, run->failed, items);
    pawl_status status = take(&buf, arena, &job.payload, err);
    if (status == PAWL_OK)
        *out = job;
    return status;
}

pawl_status run_announce_job(const struct run_row *run, const struct partition_row *part, struct arena *arena,
                             struct job *out, pawl_error *err) {
    struct job job = job_of(run);
    struct buf buf;
    bool failed = false;
    job.type = run->announce;
    job.flags &= ~JOB_RUN; /* its end does not matter for the run */
    job.unique_key = kept(
        arena_printf(arena, "run:%" PRId64 ":%d:done:%d", run->id, part->part, part->generation), &failed);
    if (failed)
        return no_memory(err);
    buf_init(&buf, 0);
    buf_printf(&buf, "{\"run\":%" PRId64 ",\"part\":%d,\"generation\":%d,\"partition\":", run->id, part->part,
               part->generation);
    json_quote(&buf, part->name);
    buf_printf(&buf, ",\"status\":\"%s\",\"items\":%" PRId64 ",\"error\":",
               part->state == PART_DONE ? "done" : "failed", part->items);
    if (str_absent(part->error))
        buf_append_cstr(&buf, "null");
    else
        json_quote(&buf, part->error);
    buf_append_char(&buf, '}');
    pawl_status status = take(&buf, arena, &job.payload, err);
    if (status == PAWL_OK)
        *out = job;
    return status;
}

pawl_status run_end_signal(const struct run_row *run, struct arena *arena, struct job_wake *out,
                           pawl_error *err) {
    struct buf buf;
    struct job_wake wake = {.wait_key = run->wait_key, .keep_ms = PAWL_SIGNAL_KEEP_MS};
    buf_init(&buf, 0);
    buf_printf(&buf, "{\"run\":%" PRId64 ",\"key\":", run->id);
    json_quote(&buf, run->key);
    buf_printf(&buf, ",\"state\":\"%s\"}",
               run->state == RUN_IS_COMPLETED ? "completed"
               : run->state == RUN_IS_FAILED  ? "failed"
                                              : "cancelled");
    pawl_status status = take(&buf, arena, &wake.payload, err);
    if (status == PAWL_OK)
        *out = wake;
    return status;
}

pawl_status run_items_json(const struct page_commit *in, const struct partition_row *part,
                           const struct run_item *items, size_t count, struct arena *arena, pawl_str *out,
                           pawl_error *err) {
    struct buf buf;
    buf_init(&buf, 0);
    buf_append_char(&buf, '[');
    for (size_t i = 0; i < count; i++) {
        buf_printf(&buf, "%s{\"run\":%" PRId64 ",\"partition\":", i > 0 ? "," : "", in->ref.run);
        json_quote(&buf, part->name);
        buf_append_cstr(&buf, ",\"key\":");
        json_quote(&buf, items[i].key);
        buf_append_cstr(&buf, ",\"payload\":");
        buf_append_str(&buf, str_absent(items[i].payload) ? STR("null") : items[i].payload);
        buf_append_char(&buf, '}');
    }
    buf_append_char(&buf, ']');
    return take(&buf, arena, out, err);
}

pawl_status run_job_end_text(const struct job *job, enum run_job_end how, pawl_str error, struct arena *arena,
                             pawl_str *out, pawl_error *err) {
    bool failed = false;
    *out = how != RUN_JOB_DEAD
               ? kept(arena_printf(arena, "its job %" PRId64 " was %s", job->id,
                                   how == RUN_JOB_COMPLETED ? "completed without a page" : "cancelled"),
                      &failed)
           : str_absent(error) ? STR("its job died")
                               : error;
    return failed ? no_memory(err) : PAWL_OK;
}

/* The text up to the next colon; rest goes after it. */
static pawl_str cut(pawl_str *rest) {
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != ':')
        len++;
    pawl_str head = {rest->ptr, len};
    size_t gone = len < rest->len ? len + 1 : len;
    *rest = (pawl_str){rest->ptr + gone, rest->len - gone};
    return head;
}

bool run_job_name(pawl_str unique_key, struct run_job_name *out) {
    struct run_job_name name = {0, -1};
    int64_t part = 0;
    pawl_str rest = unique_key;
    if (str_absent(unique_key) || !str_equal(cut(&rest), STR("run")) ||
        !str_to_i64(cut(&rest), 1, INT64_MAX, &name.run))
        return false;
    pawl_str which = cut(&rest);
    if (!str_equal(which, STR("consolidate"))) {
        if (!str_to_i64(which, 0, PAWL_PARTITIONS_PER_RUN_MAX, &part))
            return false;
        name.part = (int)part;
    }
    *out = name;
    return true;
}

enum page_skip run_guard(const struct page_ref *in, const struct run_row *run,
                         const struct partition_row *part) {
    if (run == NULL || part == NULL)
        return PAGE_UNKNOWN;
    if (part->state == PART_DONE)
        return PAGE_PARTITION_DONE;
    if (part->state == PART_CANCELLED || !run_workable(run->state))
        return PAGE_RUN_OVER;
    if (in->generation != part->generation)
        return PAGE_OLD_GENERATION;
    return in->page < part->page ? PAGE_BEHIND : in->page > part->page ? PAGE_AHEAD : PAGE_NOT_SKIPPED;
}

/* By key; of one key in the order of the page. */
static int by_key(const void *a, const void *b) {
    const struct run_item *const *x = a, *const *y = b;
    int order = str_compare((*x)->key, (*y)->key);
    return order != 0 ? order : *x < *y ? -1 : 1;
}

pawl_status run_items_distinct(const struct run_item *items, size_t count, struct arena *arena,
                               struct run_item **out, size_t *out_count, pawl_error *err) {
    const struct run_item **order = arena_array(arena, count, sizeof *order);
    struct run_item *distinct = arena_array(arena, count, sizeof *distinct);
    size_t kept_count = 0;
    if (order == NULL || distinct == NULL)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        order[i] = &items[i];
    qsort(order, count, sizeof *order, by_key);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || !str_equal(order[i]->key, order[i + 1]->key))
            distinct[kept_count++] = *order[i];
    *out = distinct;
    *out_count = kept_count;
    return PAWL_OK;
}

void run_pace_set(struct run_row *run, const struct run_pace *in) {
    if (in->concurrency >= 0)
        run->concurrency = in->concurrency;
    if (in->rate >= 0) {
        run->rate = in->rate;
        run->rate_ms = in->rate_ms;
    }
    if (in->hold_ms > 0 && run->rate == 0) {
        run->rate = PAWL_PACE_RATE;
        run->rate_ms = 1000;
    }
}

pawl_status run_target_missing(pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "target_remove", "there is no statement '%.*s'", STR_ARG(name));
}

pawl_status run_target_used(pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_CONFLICT, "target_remove",
                     "a run that has not ended stores its items with target '%.*s'; end it first",
                     STR_ARG(name));
}

struct run_row run_row_of(const struct run_start *in, int64_t now_ms) {
    return (struct run_row){
        .key = in->key,
        .name = in->name,
        .type = in->type,
        .consolidate = in->consolidate,
        .announce = in->announce,
        .params = str_absent(in->params) ? STR("{}") : in->params,
        .spec = str_absent(in->spec) ? STR("{}") : in->spec,
        .target = in->target,
        .agent = in->agent,
        .queue = str_absent(in->queue) ? STR("default") : in->queue,
        .traceparent = in->traceparent,
        .wait_key = in->wait_key,
        .state = RUN_IS_RUNNING,
        .paced = in->paced || in->concurrency > 0 || in->rate > 0,
        .parent = in->parent,
        .page_size = in->page_size != 0 ? in->page_size : PAWL_PAGE_SIZE_DEFAULT,
        .concurrency = in->concurrency,
        .rate = in->rate,
        .rate_ms = in->rate_ms,
        .max_attempts = in->max_attempts != 0 ? in->max_attempts : PAWL_PAGE_ATTEMPTS_DEFAULT,
        .priority = in->priority,
        .flags = in->flags,
        .deadline_ms = in->deadline_ms != 0 ? in->deadline_ms : PAWL_PAGE_DEADLINE_MS_DEFAULT,
        .end = in->end != 0 ? in->end : END_HANDLER,
        .policy = in->policy != 0 ? in->policy : FAILED_SKIP,
        .partitions = (int)in->count,
        .remaining = (int)in->count,
        .started_ms = now_ms,
    };
}

struct partition_row partition_row_of(const struct partition_new *in, int64_t run, int part, int64_t now_ms) {
    return (struct partition_row){
        .run = run,
        .part = part,
        .name = in->name,
        .params = str_absent(in->params) ? STR("{}") : in->params,
        .cursor = in->cursor,
        .state = PART_ACTIVE,
        .bounded = in->bounded,
        .low = in->bounded ? in->low : 0,
        .high = in->bounded ? in->high : 0,
        .total = in->total,
        .offset = in->offset,
        .started_ms = now_ms,
        .updated_ms = now_ms,
    };
}

void run_page_count(const struct page_commit *in, const struct run_row *run, struct partition_row *part,
                    size_t repeats, int64_t now_ms) {
    part->offset += (int64_t)in->count;
    part->cursor = in->cursor;
    part->page++;
    part->items += (int64_t)in->count;
    part->repeats += (int64_t)repeats;
    part->pages++;
    part->fetch_ms += in->fetch_ms;
    part->fetch_ms_last = in->fetch_ms;
    if (in->fetch_ms > part->fetch_ms_max)
        part->fetch_ms_max = in->fetch_ms;
    part->slow += in->fetch_ms > run->deadline_ms;
    part->updated_ms = now_ms;
}

struct runrule_page run_page_rule(const struct page_commit *in, const struct run_row *run,
                                  const struct partition_row *part) {
    return (struct runrule_page){.page = part->page,
                                 .offset = part->offset,
                                 .cursor = part->cursor,
                                 .next = in->cursor,
                                 .items = (int64_t)in->count,
                                 .page_size = run->page_size,
                                 .by_short_page = run->end == END_SHORT_PAGE,
                                 .said = (int)in->more};
}
