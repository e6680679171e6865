/* Reading a handler's answer for a page. */
#include "domain/run/page.h"

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/template.h"

/* The value at a path of the answer, NULL when there is none. */
static pawl_status look(struct arena *arena, const struct tree *answer, pawl_str path, const char *name,
                        const struct tree **value, pawl_error *err) {
    struct template_scope scope = {.item = answer};
    char *full = str_absent(path)
                     ? arena_printf(arena, "item.%s", name)
                     : arena_printf(arena, "item%s%.*s", path.ptr[0] == '[' ? "" : ".", STR_ARG(path));
    *value = NULL;
    if (full == NULL)
        return error_no_memory(err, "page");
    return template_resolve(str_from(full), &scope, value, err);
}

/* MCP tools return their result in "structured", or as text. */
static const struct tree *unwrap(struct arena *arena, const struct tree *answer) {
    const struct tree *structured = tree_get_cstr(answer, "structured");
    const struct tree *text = tree_get_cstr(answer, "text"), *inner = NULL;
    if (tree_get_cstr(answer, "items") != NULL)
        return answer;
    if (structured != NULL && structured->kind == TREE_OBJECT)
        return structured;
    if (text != NULL && text->kind == TREE_STRING &&
        tree_parse(arena, text->text, NULL, &inner, NULL) == PAWL_OK && inner->kind == TREE_OBJECT)
        return inner;
    return answer;
}

static pawl_status read_item(struct arena *arena, const struct tree *item, size_t at, pawl_str path,
                             struct run_page_item *out, pawl_error *err) {
    const struct tree *key = NULL;
    pawl_str name = str_absent(path) ? STR("key") : path;
    pawl_status status = look(arena, item, path, "key", &key, err);
    if (status != PAWL_OK)
        return status;
    if (key == NULL)
        return error_set(err, PAWL_INVALID, "page", "item %zu of the page has no key: there is no '%.*s'", at,
                         STR_ARG(name));
    if ((key->kind != TREE_STRING && key->kind != TREE_NUMBER) || key->text.len == 0)
        return error_set(err, PAWL_INVALID, "page",
                         "the key of item %zu of the page ('%.*s') is no text and no number but %s", at,
                         STR_ARG(name), key->kind == TREE_STRING ? "empty" : tree_kind_name(key->kind));
    if (key->text.len > PAWL_ITEM_KEY_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "page",
                         "the key of item %zu of the page has %zu bytes: at most %d", at, key->text.len,
                         PAWL_ITEM_KEY_BYTES_MAX);
    out->key = key->text;
    return tree_text(arena, item, 0, &out->json, err);
}

static pawl_status read_items(struct arena *arena, const struct tree *answer, const struct run_page_ask *ask,
                              struct run_page *page, pawl_error *err) {
    const struct tree *items = NULL;
    pawl_str name = str_absent(ask->map.items) ? STR("items") : ask->map.items;
    pawl_status status = look(arena, answer, ask->map.items, "items", &items, err);
    if (status != PAWL_OK)
        return status;
    if (items == NULL || items->kind != TREE_ARRAY)
        return error_set(err, PAWL_INVALID, "page", "the page has no items: '%.*s' of the answer is %s",
                         STR_ARG(name), items == NULL ? "missing" : tree_kind_name(items->kind));
    if (items->count > (size_t)ask->limit)
        return error_set(err, PAWL_INVALID, "page", "the page has %zu items, asked for were at most %d",
                         items->count, ask->limit);
    page->items = arena_array(arena, items->count + 1, sizeof(*page->items));
    if (page->items == NULL)
        return error_no_memory(err, "page");
    for (size_t i = 0; status == PAWL_OK && i < items->count; i++)
        status = read_item(arena, items->items[i], i, ask->map.key, &page->items[i], err);
    page->count = items->count;
    return status;
}

/* Whether the answer says that this is the end: 1 yes, 0 no, -1 it does not say. */
static pawl_status read_end(struct arena *arena, const struct tree *answer, const struct run_page_ask *ask,
                            int *said, pawl_error *err) {
    const struct tree *end = NULL;
    *said = -1;
    pawl_status status = look(arena, answer, ask->map.end, "end", &end, err);
    if (status != PAWL_OK || end == NULL || end->kind == TREE_NULL)
        return status;
    if (end->kind != TREE_TRUE && end->kind != TREE_FALSE)
        return error_set(err, PAWL_INVALID, "page", "end of the page must be true or false, and is %s",
                         tree_kind_name(end->kind));
    *said = end->kind == TREE_TRUE;
    return PAWL_OK;
}

static pawl_status nothing_said(pawl_error *err) {
    return error_set(
        err, PAWL_INVALID, "page",
        "the page does not say how it goes on: it needs next, or end (true or false), or the run "
        "needs end: short");
}

static pawl_status go_by_cursor(struct arena *arena, const struct tree *next, int said,
                                const struct run_page_ask *ask, struct run_page *page, pawl_error *err) {
    bool none = next == NULL || next->kind == TREE_NULL;
    if (ask->end_rule == RUN_END_SHORT)
        page->end = said == 1 || page->count < (size_t)ask->limit;
    else
        page->end = said == 1 || (none && next != NULL);
    if (page->end)
        return PAWL_OK;
    if (none && said == -1 && ask->end_rule == RUN_END_SAID)
        return nothing_said(err);
    if (none)
        return error_set(err, PAWL_INVALID, "page", "the page is not the last one but has no next cursor");
    if (tree_text(arena, next, PAWL_CURSOR_BYTES_MAX, &page->cursor, err) != PAWL_OK)
        return error_set(err, PAWL_INVALID, "page", "the cursor has more than %d bytes",
                         PAWL_CURSOR_BYTES_MAX);
    if (!str_absent(ask->cursor) && str_equal(page->cursor, ask->cursor))
        return error_set(err, PAWL_INVALID, "page",
                         "the cursor did not change (%.60s%s): the partition would never end",
                         page->cursor.ptr, page->cursor.len > 60 ? "…" : "");
    return PAWL_OK;
}

static pawl_status go_by_offset(const struct tree *next, int said, const struct run_page_ask *ask,
                                struct run_page *page, pawl_error *err) {
    int64_t at = ask->offset + (int64_t)page->count, given = at;
    bool none = next == NULL || next->kind == TREE_NULL;
    if (!none && (!tree_to_i64(next, &given) || given != at))
        return error_set(err, PAWL_INVALID, "page",
                         "by offset the next page begins after the items of this one, at %lld, but next says "
                         "%.*s; write by: cursor when the source decides where it goes on",
                         (long long)at, next->kind == TREE_NUMBER ? str_precision(next->text) : 9,
                         next->kind == TREE_NUMBER ? next->text.ptr : "otherwise");
    if (ask->end_rule == RUN_END_SHORT)
        page->end = said == 1 || page->count < (size_t)ask->limit;
    else if (said != -1)
        page->end = said == 1;
    else
        page->end = (none && next != NULL) || (page->total >= 0 && at >= page->total) || page->count == 0;
    if (page->end)
        return PAWL_OK;
    if (said == -1 && none && page->total < 0 && ask->end_rule == RUN_END_SAID)
        return nothing_said(err);
    if (page->count == 0)
        return error_set(err, PAWL_INVALID, "page",
                         "the offset did not move on (%lld): the partition would never end",
                         (long long)ask->offset);
    return PAWL_OK;
}

/* Seconds, or a text such as "30s". A handler whose source asked it to wait returns only this. */
static pawl_status read_retry_after(struct arena *arena, const struct tree *answer,
                                    const struct run_page_ask *ask, struct run_page *page, pawl_error *err) {
    const struct tree *items = NULL;
    struct tree_reader in = {.arena = arena, .op = "run", .err = err};
    tree_read_duration(&in, answer, "retry_after", 0, PAWL_RETRY_MS_MAX, &page->retry_after_ms);
    if (in.status == PAWL_OK && page->retry_after_ms >= 0)
        in.status = look(arena, answer, ask->map.items, "items", &items, err);
    page->throttled = in.status == PAWL_OK && page->retry_after_ms >= 0 && items == NULL;
    return in.status;
}

pawl_status run_page_read(struct arena *arena, const struct tree *answer, const struct run_page_ask *ask,
                          struct run_page *page, pawl_error *err) {
    struct run_page read = {.total = -1, .retry_after_ms = -1};
    const struct tree *next = NULL, *total = NULL;
    int said = -1;
    if (answer == NULL || answer->kind != TREE_OBJECT)
        return error_set(err, PAWL_INVALID, "page", "the answer must be an object with items, and is %s",
                         answer == NULL ? "nothing" : tree_kind_name(answer->kind));
    answer = unwrap(arena, answer);
    pawl_status status = read_retry_after(arena, answer, ask, &read, err);
    if (status == PAWL_OK && read.throttled) {
        *page = read;
        return PAWL_OK;
    }
    if (status == PAWL_OK)
        status = read_items(arena, answer, ask, &read, err);
    if (status == PAWL_OK)
        status = read_end(arena, answer, ask, &said, err);
    if (status == PAWL_OK)
        status = look(arena, answer, ask->map.next, "next", &next, err);
    if (status == PAWL_OK)
        status = look(arena, answer, ask->map.total, "total", &total, err);
    if (status == PAWL_OK && total != NULL && total->kind != TREE_NULL &&
        (!tree_to_i64(total, &read.total) || read.total < 0))
        status = error_set(err, PAWL_INVALID, "page", "total of the page must be a whole number from 0");
    if (status == PAWL_OK)
        status = ask->paging == RUN_BY_CURSOR ? go_by_cursor(arena, next, said, ask, &read, err)
                                              : go_by_offset(next, said, ask, &read, err);
    if (status == PAWL_OK)
        *page = read;
    return status;
}
