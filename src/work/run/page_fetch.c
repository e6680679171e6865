/* Fetching a page: the arguments for the tool or statement, and reading its answer. */
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pipeline/template.h"
#include "work/pipeline/job.h"
#include "work/run/page_job.h"

enum { MARGIN_MS = 500 /* part of the page's deadline, reserved for storing the page */ };

/* Everything known about the page: the arguments of a tool without `with`, and the members of ${run.…}. */
static pawl_status describe(const struct page_fetch *in, struct arena *arena, bool whole,
                            const struct tree **out, pawl_error *err) {
    const struct page *page = in->page;
    struct buf text;
    struct json_writer json;
    buf_init(&text, 0);
    json_writer_init(&json, &text);
    json_begin_object(&json);
    json_put_int(&json, whole ? "run" : "id", in->ref->run);
    json_put_str(&json, "key", page->run_key);
    json_put_str(&json, "name", page->run_name);
    json_put_int(&json, "page", in->ref->page);
    json_put_int(&json, "generation", in->ref->generation);
    json_put_int(&json, "offset", page->offset);
    json_put_raw(&json, "cursor", page->cursor);
    json_put_int(&json, "limit", page->limit);
    json_put_int(&json, "attempt", in->in->job->attempts);
    json_put_str(&json, "traceparent", page->traceparent);
    if (whole) {
        json_put_raw(&json, "partition", page->params);
        json_put_raw(&json, "params", page->run_params);
    } else {
        json_put_str(&json, "partition", page->partition);
    }
    json_end_object(&json);
    return tree_parse_buf(arena, &text, "page", out, err);
}

static pawl_status make_arguments(const struct page_fetch *in, struct arena *arena, const struct tree **out,
                                  pawl_error *err) {
    struct template_scope scope = {0};
    if (in->doc->fetch.with == NULL)
        return describe(in, arena, true, out, err);
    pawl_status status = describe(in, arena, false, &scope.run, err);
    if (status == PAWL_OK)
        status = tree_parse(arena, in->page->run_params, NULL, &scope.params, err);
    if (status == PAWL_OK)
        status = tree_parse(arena, in->page->params, NULL, &scope.item, err);
    if (status == PAWL_OK)
        status = pipeline_job_env(in->in->world, arena, &scope.env, err);
    return status == PAWL_OK ? template_fill(arena, in->doc->fetch.with, &scope, out, err) : status;
}

static pawl_status call_tool(const struct page_fetch *in, struct arena *arena, struct tool_answer *answer,
                             pawl_error *err) {
    const struct tree *arguments = NULL;
    int64_t deadline_ms = clock_boot_ms() + in->doc->fetch.timeout_ms;
    if (in->in->deadline_ms > 0 && in->in->deadline_ms - MARGIN_MS < deadline_ms)
        deadline_ms = in->in->deadline_ms - MARGIN_MS;
    const char *key = arena_printf(arena, "run:%lld:%d:%lld:%d", (long long)in->ref->run, in->ref->part,
                                   (long long)in->ref->page, in->ref->generation);
    pawl_status status = key != NULL ? make_arguments(in, arena, &arguments, err)
                                     : error_no_memory(err, "page");
    struct tool_call call = {.uses = in->doc->fetch.uses,
                             .arguments = arguments,
                             .deadline_ms = deadline_ms,
                             .cancel = in->in->cancel,
                             .traceparent = in->page->traceparent,
                             .idempotency_key = str_from(key),
                             .context = (void *)in->in,
                             .not_started_ms = in->in->not_started_ms};
    return status == PAWL_OK ? tools_call(in->in->world->tools, &call, arena, answer, err) : status;
}

static pawl_status page_of_rows(const struct page_fetch *in, const struct stored_items *rows,
                                struct arena *arena, struct run_page *out, pawl_error *err) {
    struct run_page page = {.total = -1, .retry_after_ms = -1, .count = rows->count};
    struct buf cursor;
    if (rows->count > (size_t)in->page->limit)
        return error_set(err, PAWL_INVALID, "page", "the statement gave %zu rows, asked for were at most %d",
                         rows->count, in->page->limit);
    page.items = arena_array(arena, rows->count + 1, sizeof(*page.items));
    if (page.items == NULL)
        return error_no_memory(err, "page");
    for (size_t i = 0; i < rows->count; i++) {
        if (str_absent(rows->items[i].key) || rows->items[i].key.len == 0)
            return error_set(err, PAWL_INVALID, "page", "row %zu of the statement has no key", i);
        if (!str_absent(rows->items[i].payload) && json_check(rows->items[i].payload, "page", err) != PAWL_OK)
            return PAWL_INVALID;
        page.items[i] = (struct run_page_item){rows->items[i].key, rows->items[i].payload};
    }
    page.end = rows->count < (size_t)in->page->limit;
    *out = page;
    if (page.end || in->doc->paging == RUN_BY_OFFSET)
        return PAWL_OK;
    buf_init(&cursor, 0);
    json_quote(&cursor, rows->items[rows->count - 1].key);
    return str_keep(arena, &cursor, "page", &out->cursor, err);
}

/* A statement continues after the last key it returned, and ends with a page that is not full. */
static pawl_status by_sql(const struct page_fetch *in, struct arena *arena, struct run_page *out,
                          pawl_error *err) {
    const struct tree *about = NULL;
    struct store *store = NULL;
    struct stored_items rows = {0};
    pawl_str json;
    pawl_status status = describe(in, arena, true, &about, err);
    if (status == PAWL_OK)
        status = tree_text(arena, about, 0, &json, err);
    if (status == PAWL_OK)
        status = shared_store_take(in->in->world->shared, &store, err);
    if (status == PAWL_OK) {
        status = store->ops->runs->page_select(store, in->doc->fetch_sql, json, arena, &rows, err);
        shared_store_give(in->in->world->shared, status);
    }
    return status == PAWL_OK ? page_of_rows(in, &rows, arena, out, err) : status;
}

pawl_status page_fetch(const struct page_fetch *in, struct arena *arena, struct page_fetched *out,
                       pawl_error *err) {
    struct tool_answer answer = {.retry_after_ms = -1};
    struct run_page_ask ask = {.paging = in->doc->paging,
                               .end_rule = in->doc->end,
                               .map = in->doc->map,
                               .offset = in->page->offset,
                               .cursor = in->page->cursor,
                               .limit = in->page->limit};
    *out = (struct page_fetched){.retry_after_ms = -1};
    if (!str_absent(in->doc->fetch_sql))
        return by_sql(in, arena, &out->page, err);
    pawl_status status = call_tool(in, arena, &answer, err);
    out->retry_after_ms = answer.retry_after_ms;
    out->throttled = answer.throttled;
    if (status == PAWL_OK)
        status = run_page_read(arena, answer.output, &ask, &out->page, err);
    if (status == PAWL_OK && out->page.retry_after_ms >= 0)
        out->retry_after_ms = out->page.retry_after_ms;
    if (status == PAWL_OK && out->page.throttled) {
        out->throttled = true;
        status = error_set(err, PAWL_UNAVAILABLE, "page", "the source asked for quiet");
    }
    return status;
}
