/* Fuzzes documents of runs in JSON and YAML, their plans, and what a handler answers for a page. */
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/run/doc.h"
#include "fuzz.h"

/* A document that was accepted plans parts that are named once each, and can be kept. */
static void fuzz_doc(struct arena *arena, pawl_str text, bool yaml) {
    struct run_doc doc;
    struct run_parts parts = {NULL, 0};
    pawl_str spec;
    pawl_error err;
    if (run_doc_parse(arena, text, yaml, &doc, &err) != PAWL_OK)
        return;
    if (doc.planner != 0 && run_doc_plan(arena, &doc, &parts, &err) == PAWL_OK)
        for (size_t i = 0; i < parts.count && i < 50; i++) {
            must(parts.parts[i].id.len > 0 && parts.parts[i].id.len <= PAWL_PARTITION_NAME_BYTES_MAX);
            must(!parts.parts[i].bounded || parts.parts[i].low <= parts.parts[i].high);
            must(i == 0 || !str_equal(parts.parts[i].id, parts.parts[i - 1].id));
        }
    if (run_doc_spec(arena, &doc, &spec, &err) == PAWL_OK)
        must(json_valid(spec, PAWL_JSON_DEPTH_MAX, NULL));
}

static void fuzz_page(struct arena *arena, pawl_str text) {
    const struct tree *answer = NULL;
    pawl_error err;
    if (tree_parse(arena, text, NULL, &answer, &err) != PAWL_OK)
        return;
    for (unsigned i = 0; i < 8; i++) {
        struct run_page_ask ask = {.paging = i & 1 ? RUN_BY_CURSOR : RUN_BY_OFFSET,
                                   .end_rule = i & 2 ? RUN_END_SAID : RUN_END_SHORT,
                                   .limit = 3,
                                   .cursor = i & 4 ? STR("1") : (pawl_str){NULL, 0}};
        if ((i & 1) != 0 && (i & 4) != 0)
            ask.map = (struct run_page_map){
                .items = STR("data.rows"), .next = STR("data.next"), .key = STR("k.id")};
        struct run_page page;
        if (run_page_read(arena, answer, &ask, &page, &err) != PAWL_OK)
            continue;
        must(page.count <= 3 || page.throttled);
        must(str_absent(page.cursor) || json_valid(page.cursor, PAWL_JSON_DEPTH_MAX, NULL));
        must(page.throttled || page.end || ask.paging == RUN_BY_OFFSET || !str_absent(page.cursor));
        for (size_t item = 0; item < page.count; item++)
            must(page.items[item].key.len > 0 &&
                 json_valid(page.items[item].json, PAWL_JSON_DEPTH_MAX, NULL));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    struct arena *arena = arena_create(64 << 20);
    fuzz_doc(arena, text, false);
    fuzz_doc(arena, text, true);
    fuzz_page(arena, text);
    arena_free(arena);
    return 0;
}
