/* Runs: the document and its faults, plans, pages and their faults, the gauge. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "domain/run/doc.h"
#include "domain/run/gauge.h"

static struct arena *arena;

static int open_arena(void **fixture __attribute__((unused))) {
    arena = arena_create(0);
    return arena == NULL;
}

static int close_arena(void **fixture __attribute__((unused))) {
    arena_free(arena);
    return 0;
}

static const struct tree *tree(const char *json) {
    const struct tree *made = NULL;
    assert_int_equal(tree_parse(arena, str_from(json), NULL, &made, NULL), PAWL_OK);
    return made;
}

/* ---- Documents */

static const char whole[] =
    "name: catalogue\n"
    "key: catalogue-2026\n"
    "params: {shop: nord}\n"
    "partitions:\n"
    "  range: {from: 0, to: 100, parts: 3}\n"
    "page:\n"
    "  uses: shop.page\n"
    "  with: {shop: \"${params.shop}\", from: \"${item.from}\", at: \"${run.cursor ?? 0}\"}\n"
    "  size: 50\n"
    "  deadline: 20s\n"
    "  by: offset\n"
    "  end: short\n"
    "  attempts: 7\n"
    "  answer: {items: data.rows, key: id}\n"
    "concurrency: {run: 4, partition: 1}\n"
    "rate: {requests: 10, per: 2s}\n"
    "failed: partial\n"
    "target: products\n"
    "consolidate: {uses: shop.check}\n";

/* covers: C06 */
TEST(a_document_says_everything) {
    struct run_doc doc = {0};
    struct run_parts parts = {0};
    assert_int_equal(run_doc_parse(arena, str_from(whole), true, &doc, NULL), PAWL_OK);
    assert_true(str_equal_cstr(doc.name, "catalogue"));
    assert_int_equal(doc.page_size, 50);
    assert_int_equal(doc.attempts, 7);
    assert_int_equal(doc.deadline_ms, 20000);
    assert_int_equal(doc.paging, RUN_BY_OFFSET);
    assert_int_equal(doc.end, RUN_END_SHORT);
    assert_int_equal(doc.rate.concurrency, 4);
    assert_int_equal(doc.rate.rate, 10);
    assert_int_equal(doc.rate.rate_ms, 2000);
    assert_true(doc.rate.adaptive);
    assert_int_equal(doc.failed, RUN_FAILED_PARTIAL);
    assert_int_equal(doc.consolidate, RUN_CONSOLIDATE_TOOL);
    assert_int_equal(run_doc_plan(arena, &doc, &parts, NULL), PAWL_OK);
    assert_int_equal(parts.count, 3);
    pawl_str spec = {NULL, 0};
    assert_int_equal(run_doc_spec(arena, &doc, &spec, NULL), PAWL_OK);
    assert_null(strstr(spec.ptr, "\"partitions\":{"));
    struct run_doc again = {0};
    assert_int_equal(run_doc_read(arena, tree(spec.ptr), &again, NULL), PAWL_OK);
    assert_int_equal(again.page_size, 50);
    assert_int_equal(again.planner, 0);
}

/* covers: C06 C37 */
TEST(what_is_left_out_has_a_default) {
    struct run_doc doc = {0};
    pawl_str text = STR("{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"}}");
    assert_int_equal(run_doc_parse(arena, text, false, &doc, NULL), PAWL_OK);
    assert_int_equal(doc.page_size, 30);
    assert_int_equal(doc.deadline_ms, 60000);
    assert_int_equal(doc.attempts, 5);
    assert_int_equal(doc.paging, RUN_BY_CURSOR);
    assert_int_equal(doc.end, RUN_END_SAID);
    assert_int_equal(doc.failed, RUN_FAILED_SKIP);
    assert_int_equal(doc.consolidate, RUN_CONSOLIDATE_NONE);
}

/* Each is refused with its place and its reason. */
TEST(faults_of_a_document_are_named) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[]", "a run must be an object"},
        {"{\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"}}", "the run has no name"},
        {"{\"name\":\"n\",\"page\":{\"uses\":\"t\"}}", "the run has no partitions"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"]}", "what fetches one"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"grpc\":\"t\"}}",
         "line 1, column 40: 'grpc' is not known in page: there are uses, sql"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"size\":3}}", "by uses (a tool) or by sql"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"sql\":\"s\"}}",
         "by uses (a tool) or by sql"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"size\":5001}}",
         "size must be a whole number from 1 to 5000"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"size\":0}}", "size must be"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"deadline\":\"2h\"}}",
         "deadline must be"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"with\":{\"x\":\"${steps.a}\"}}}",
         "'steps.a' is not known here"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\",\"answer\":{\"key\":\"a..b\"}}}",
         "key must be a path"},
        {"{\"name\":\"n\",\"partitions\":[\"a\",\"a\"],\"page\":{\"uses\":\"t\"}}",
         "there are two partitions 'a'"},
        {"{\"name\":\"n\",\"partitions\":[],\"page\":{\"uses\":\"t\"}}", "a list of 1 to 10000"},
        {"{\"name\":\"n\",\"partitions\":{},\"page\":{\"uses\":\"t\"}}", "partitions need a plan"},
        {"{\"name\":\"n\",\"partitions\":{\"list\":[\"a\"],\"range\":{}},\"page\":{\"uses\":\"t\"}}",
         "in one way"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"concurrency\":{\"partition\":2}"
         "}",
         "one after the other"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"rate\":{}}",
         "rate needs requests"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"failed\":\"ignore\"}",
         "failed must be skip, partial or wait"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"consolidate\":{}}",
         "is consolidated by one of"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"consolidate\":{\"pipeline\":[]}"
         "}",
         "a pipeline needs steps"},
        {"{\"name\":\"n\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\"},\"consolidate\":{\"run\":{"
         "\"name\":\"m\","
         "\"page\":{\"uses\":\"t\"}}}}",
         "the run has no partitions"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct run_doc doc = {0};
        pawl_error err = {0};
        assert_int_equal(run_doc_parse(arena, str_from(rows[i].text), false, &doc, &err), PAWL_INVALID);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%s\n says %s\n not %s", rows[i].text, err.text, rows[i].says);
    }
}

/* ---- Plans */

TEST(overlapping_partitions_are_refused_with_both_names) {
    struct run_parts parts = {0};
    pawl_error err = {0};
    assert_int_equal(
        run_plan_list(
            arena, tree("[{\"id\":\"b\",\"from\":100,\"to\":200},\n {\"id\":\"a\",\"from\":0,\"to\":101}]"),
            &parts, &err),
        PAWL_INVALID);
    assert_string_equal(err.text, "line 1, column 2: partitions 'a' (0 to 101) and 'b' (100 to 200) overlap");
    assert_int_equal(
        run_plan_list(arena,
                      tree("[{\"id\":\"b\",\"from\":100,\"to\":200},{\"id\":\"a\",\"from\":0,\"to\":100}]"),
                      &parts, &err),
        PAWL_OK);
    assert_true(parts.parts[0].bounded);
    assert_int_equal(parts.parts[0].low, 100);
    assert_int_equal(run_plan_list(arena,
                                   tree("[{\"id\":\"b\",\"from\":\"k\",\"to\":\"p\"},"
                                        "{\"id\":\"a\",\"from\":\"a\",\"to\":\"l\"}]"),
                                   &parts, &err),
                     PAWL_INVALID);
    assert_int_equal(run_plan_list(arena, tree("[{\"id\":\"b\",\"from\":1,\"to\":1}]"), &parts, &err),
                     PAWL_INVALID);
    assert_non_null(strstr(err.text, "is empty"));
    assert_int_equal(run_plan_list(arena, tree("[{\"id\":\"b\",\"from\":1}]"), &parts, &err), PAWL_INVALID);
    assert_int_equal(run_plan_list(arena, tree("[{\"id\":\"b\",\"from\":1,\"to\":2},\"c\"]"), &parts, &err),
                     PAWL_INVALID);
    assert_int_equal(run_plan_list(arena, tree("[{\"from\":1}]"), &parts, &err), PAWL_INVALID);
    assert_int_equal(run_plan_list(arena, tree("[\"a\\u0001\"]"), &parts, &err), PAWL_INVALID);
}

TEST(a_range_is_split_without_holes) {
    static const char *const ranges[] = {
        "{\"from\":0,\"to\":100,\"parts\":8}", "{\"from\":-7,\"to\":100,\"parts\":107}",
        "{\"from\":1,\"to\":10,\"step\":4}",
        "{\"from\":-9223372036854775808,\"to\":9223372036854775807,\"parts\":10000}",
        "{\"from\":0,\"to\":9223372036854775807,\"step\":9223372036854775806}"};
    static const size_t counts[] = {8, 107, 3, 10000, 2};
    for (size_t i = 0; i < 5; i++) {
        struct run_parts parts = {0};
        const struct tree *range = tree(ranges[i]);
        int64_t at = 0, to = 0;
        assert_int_equal(run_plan_range(arena, range, &parts, NULL), PAWL_OK);
        assert_int_equal(parts.count, counts[i]);
        assert_true(tree_to_i64(tree_get_cstr(range, "from"), &at));
        assert_true(tree_to_i64(tree_get_cstr(range, "to"), &to));
        for (size_t k = 0; k < parts.count; k++) {
            assert_true(parts.parts[k].low == at);
            assert_true(parts.parts[k].high > at);
            at = parts.parts[k].high;
        }
        assert_true(at == to);
    }
    struct run_parts parts = {0};
    assert_int_equal(run_plan_range(arena, tree("{\"from\":0,\"to\":100,\"parts\":8}"), &parts, NULL),
                     PAWL_OK);
    assert_true(str_equal_cstr(parts.parts[1].id, "12..25"));
    static const char *const wrong[] = {"{\"from\":5,\"to\":5,\"parts\":1}",
                                        "{\"from\":0,\"to\":3,\"parts\":4}",
                                        "{\"from\":0,\"parts\":4}",
                                        "{\"from\":0,\"to\":9}",
                                        "{\"from\":0,\"to\":9,\"parts\":1,\"step\":1}",
                                        "{\"from\":0,\"to\":10001,\"step\":1}",
                                        "{\"from\":0.5,\"to\":9,\"parts\":1}"};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(run_plan_range(arena, tree(wrong[i]), &parts, NULL), PAWL_INVALID);
}

TEST(days_are_split_by_the_calendar) {
    struct run_parts parts = {0};
    assert_int_equal(
        run_plan_dates(arena, tree("{\"from\":\"2026-01-15\",\"to\":\"2026-04-02\",\"every\":\"month\"}"),
                       &parts, NULL),
        PAWL_OK);
    assert_int_equal(parts.count, 4);
    assert_true(str_equal_cstr(parts.parts[0].id, "2026-01-15..2026-02-01"));
    assert_true(str_equal_cstr(parts.parts[1].id, "2026-02-01..2026-03-01"));
    assert_true(str_equal_cstr(parts.parts[3].id, "2026-04-01..2026-04-02"));
    assert_int_equal(run_plan_dates(arena,
                                    tree("{\"from\":\"2024-02-27\",\"to\":\"2024-03-02\",\"every\":\"day\"}"),
                                    &parts, NULL),
                     PAWL_OK);
    assert_int_equal(parts.count, 4);
    assert_true(str_equal_cstr(parts.parts[2].id, "2024-02-29..2024-03-01"));
    assert_int_equal(
        run_plan_dates(arena, tree("{\"from\":\"2025-12-31\",\"to\":\"2027-01-01\",\"every\":\"year\"}"),
                       &parts, NULL),
        PAWL_OK);
    assert_int_equal(parts.count, 2);
    assert_int_equal(
        run_plan_dates(arena, tree("{\"from\":\"2026-01-01\",\"to\":\"2026-01-15\",\"every\":\"week\"}"),
                       &parts, NULL),
        PAWL_OK);
    assert_int_equal(parts.count, 2);
    assert_int_equal(run_plan_dates(arena,
                                    tree("{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"parts\":12}"),
                                    &parts, NULL),
                     PAWL_OK);
    assert_int_equal(parts.count, 12);
    static const char *const wrong[] = {
        "{\"from\":\"2026-02-30\",\"to\":\"2027-01-01\",\"every\":\"day\"}",
        "{\"from\":\"2026-1-1\",\"to\":\"2027-01-01\",\"every\":\"day\"}",
        "{\"from\":\"2027-01-01\",\"to\":\"2026-01-01\",\"every\":\"day\"}",
        "{\"from\":\"1990-01-01\",\"to\":\"2026-01-01\",\"every\":\"day\"}",
        "{\"from\":\"2026-01-01\",\"to\":\"2026-01-03\",\"parts\":3}",
        "{\"from\":\"2026-01-01\",\"to\":\"2027-01-01\",\"every\":\"fortnight\"}"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(run_plan_dates(arena, tree(wrong[i]), &parts, NULL), PAWL_INVALID);
}

/* ---- Pages */

static pawl_status read_page(const char *json, struct run_page_ask ask, struct run_page *page,
                             pawl_error *err) {
    if (ask.paging == 0)
        ask.paging = RUN_BY_CURSOR;
    if (ask.end_rule == 0)
        ask.end_rule = RUN_END_SAID;
    if (ask.limit == 0)
        ask.limit = 3;
    return run_page_read(arena, tree(json), &ask, page, err);
}

/* covers: B1.8 */
TEST(a_cursor_goes_on_until_the_handler_says_end) {
    struct run_page page = {0};
    struct run_page_ask none = {0};
    assert_int_equal(
        read_page("{\"items\":[{\"key\":\"a\"},{\"key\":7}],\"next\":\"c2\"}", none, &page, NULL), PAWL_OK);
    assert_int_equal(page.count, 2); /* fewer than asked for, and not the end */
    assert_false(page.end);
    assert_true(str_equal_cstr(page.cursor, "\"c2\""));
    assert_true(str_equal_cstr(page.items[1].key, "7"));
    assert_true(str_equal_cstr(page.items[0].json, "{\"key\":\"a\"}"));
    assert_int_equal(read_page("{\"items\":[],\"next\":{\"after\":4}}", none, &page, NULL), PAWL_OK);
    assert_false(page.end);
    assert_int_equal(read_page("{\"items\":[{\"key\":\"a\"}],\"next\":null}", none, &page, NULL), PAWL_OK);
    assert_true(page.end);
    assert_int_equal(read_page("{\"items\":[],\"end\":true,\"next\":\"x\"}", none, &page, NULL), PAWL_OK);
    assert_true(page.end);
    struct run_page_ask brief = {.end_rule = RUN_END_SHORT};
    assert_int_equal(read_page("{\"items\":[{\"key\":\"a\"}],\"next\":\"x\"}", brief, &page, NULL), PAWL_OK);
    assert_true(page.end);
}

/* covers: C14 C17 C19 */
TEST(an_offset_ends_with_a_short_or_an_empty_page) {
    struct run_page page = {0};
    struct run_page_ask ask = {.paging = RUN_BY_OFFSET, .end_rule = RUN_END_SHORT, .offset = 60, .limit = 2};
    assert_int_equal(read_page("{\"items\":[{\"key\":1},{\"key\":2}]}", ask, &page, NULL), PAWL_OK);
    assert_false(page.end);
    assert_int_equal(read_page("{\"items\":[{\"key\":1}]}", ask, &page, NULL), PAWL_OK);
    assert_true(page.end);
    assert_int_equal(read_page("{\"items\":[]}", ask, &page, NULL), PAWL_OK);
    assert_true(page.end);
    ask.end_rule = RUN_END_SAID;
    assert_int_equal(read_page("{\"items\":[{\"key\":1}],\"total\":61}", ask, &page, NULL), PAWL_OK);
    assert_true(page.end);
    assert_int_equal(page.total, 61);
    assert_int_equal(read_page("{\"items\":[{\"key\":1}],\"next\":61}", ask, &page, NULL), PAWL_OK);
    assert_false(page.end);
    assert_int_equal(read_page("{\"items\":[]}", ask, &page, NULL), PAWL_OK);
    assert_true(page.end);
}

/* covers: B1.8 */
TEST(faults_of_a_page_are_named) {
    static const struct {
        const char *json;
        struct run_page_ask ask;
        const char *says;
    } rows[] = {
        {"[]", {0}, "must be an object with items, and is array"},
        {"{\"rows\":[]}", {0}, "'items' of the answer is missing"},
        {"{\"items\":{}}", {0}, "'items' of the answer is object"},
        {"{\"items\":[{\"key\":\"a\"},{\"id\":\"b\"}],\"end\":true}",
         {0},
         "item 1 of the page has no key: there is no 'key'"},
        {"{\"items\":[{\"id\":null}],\"end\":true}",
         {.map = {.key = STR_INIT("id")}},
         "no text and no number but null"},
        {"{\"items\":[{\"key\":\"\"}],\"end\":true}", {0}, "but empty"},
        {"{\"items\":[{\"key\":1},{\"key\":2},{\"key\":3},{\"key\":4}],\"end\":true}",
         {0},
         "the page has 4 items, asked for were at most 3"},
        {"{\"items\":[],\"next\":\"c1\"}",
         {.cursor = STR_INIT("\"c1\"")},
         "the cursor did not change (\"c1\")"},
        {"{\"items\":[{\"key\":1}]}", {0}, "does not say how it goes on"},
        {"{\"items\":[{\"key\":1}]}", {.paging = RUN_BY_OFFSET}, "does not say how it goes on"},
        {"{\"items\":[{\"key\":1}],\"end\":false}", {0}, "has no next cursor"},
        {"{\"items\":[],\"end\":false}", {.paging = RUN_BY_OFFSET}, "the offset did not move on (0)"},
        {"{\"items\":[{\"key\":1}],\"next\":9}", {.paging = RUN_BY_OFFSET}, "at 1, but next says 9"},
        {"{\"items\":[{\"key\":1}],\"end\":\"no\"}", {0}, "end of the page must be true or false"},
        {"{\"items\":[{\"key\":1}],\"total\":-1,\"end\":true}", {0}, "total of the page"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct run_page page = {0};
        pawl_error err = {0};
        assert_int_equal(read_page(rows[i].json, rows[i].ask, &page, &err), PAWL_INVALID);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%s\n says %s\n not %s", rows[i].json, err.text, rows[i].says);
    }
}

TEST(answers_of_other_shapes_are_mapped) {
    struct run_page page = {0};
    struct run_page_ask ask = {.map = {.items = STR_INIT("data.rows"),
                                       .key = STR_INIT("meta.id"),
                                       .next = STR_INIT("paging[0]"),
                                       .end = STR_INIT("last"),
                                       .total = STR_INIT("data.total")}};
    assert_int_equal(
        read_page(
            "{\"data\":{\"rows\":[{\"meta\":{\"id\":\"x\"}}],\"total\":9},\"paging\":[\"p\"],\"last\":false}",
            ask, &page, NULL),
        PAWL_OK);
    assert_true(str_equal_cstr(page.items[0].key, "x"));
    assert_true(str_equal_cstr(page.cursor, "\"p\""));
    assert_int_equal(page.total, 9);
    struct run_page_ask none = {0};
    assert_int_equal(
        read_page("{\"text\":\"\",\"structured\":{\"items\":[{\"key\":1}],\"end\":true},\"content\":[]}",
                  none, &page, NULL),
        PAWL_OK);
    assert_int_equal(page.count, 1);
    assert_int_equal(
        read_page("{\"text\":\"{\\\"items\\\":[],\\\"end\\\":true}\",\"content\":[]}", none, &page, NULL),
        PAWL_OK);
    assert_true(page.end);
}

TEST(a_page_may_ask_for_time) {
    struct run_page page = {0};
    struct run_page_ask none = {0};
    assert_int_equal(read_page("{\"retry_after\":1.5}", none, &page, NULL), PAWL_OK);
    assert_true(page.throttled);
    assert_int_equal(page.retry_after_ms, 1500);
    assert_int_equal(read_page("{\"retry_after\":\"2s\",\"items\":[],\"end\":true}", none, &page, NULL),
                     PAWL_OK);
    assert_false(page.throttled);
    assert_true(page.end);
    assert_int_equal(page.retry_after_ms, 2000);
    assert_int_equal(read_page("{\"retry_after\":\"soon\"}", none, &page, NULL), PAWL_INVALID);
}

/* ---- The gauge */

/* covers: C42 */
TEST(the_gauge_says_share_rate_and_time_left) {
    struct run_gauge at = run_gauge(&(struct run_gauge_in){
        .parts = 8, .parts_ended = 2, .items = 250, .items_total = 1000, .elapsed_ms = 10000});
    assert_int_equal(at.permille, 250);
    assert_int_equal(at.per_1000s, 25000);
    assert_int_equal(at.eta_ms, 30000);
    at = run_gauge(&(struct run_gauge_in){.parts = 8,
                                          .parts_ended = 2,
                                          .items = 250,
                                          .items_total = 1000,
                                          .elapsed_ms = 10000,
                                          .recent_items = 100,
                                          .recent_ms = 1000});
    assert_int_equal(at.eta_ms, 7500);
    at = run_gauge(&(struct run_gauge_in){
        .parts = 8, .parts_ended = 2, .items = 250, .items_total = -1, .elapsed_ms = 10000});
    assert_int_equal(at.permille, 250);
    assert_int_equal(at.eta_ms, 30000);
    at = run_gauge(&(struct run_gauge_in){.parts = 8, .items_total = -1, .elapsed_ms = 10000});
    assert_int_equal(at.eta_ms, -1);
    at = run_gauge(&(struct run_gauge_in){.ended = true, .parts = 8, .parts_ended = 8, .items_total = -1});
    assert_int_equal(at.permille, 1000);
    assert_int_equal(at.eta_ms, 0);
    char bar[RUN_BAR_BYTES];
    assert_string_equal(run_bar(250, 8, bar), "[##------]");
    assert_string_equal(run_bar(1500, 2, bar), "[##]");
    assert_string_equal(run_bar(-5, 0, bar), "[-]");
    assert_int_equal(strlen(run_bar(500, 1000, bar)), 82);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_says_everything),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(faults_of_a_document_are_named),
        cmocka_unit_test(overlapping_partitions_are_refused_with_both_names),
        cmocka_unit_test(a_range_is_split_without_holes),
        cmocka_unit_test(days_are_split_by_the_calendar),
        cmocka_unit_test(a_cursor_goes_on_until_the_handler_says_end),
        cmocka_unit_test(an_offset_ends_with_a_short_or_an_empty_page),
        cmocka_unit_test(faults_of_a_page_are_named),
        cmocka_unit_test(answers_of_other_shapes_are_mapped),
        cmocka_unit_test(a_page_may_ask_for_time),
        cmocka_unit_test(the_gauge_says_share_rate_and_time_left),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
