/* Pages: a run starts, pages advance, duplicates are skipped, items are stored once. */
#include <string.h>

#include "base/limits.h"
#include "conformance/harness_runs.h"

/* covers: C01 C03 C06 C07 C09 C20 C27 */
static void a_run_starts_with_one_page_per_partition(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 3);
    struct partition_new *parts = (struct partition_new *)in.partitions;
    parts[1].offset = 60;
    parts[2].cursor = STR("\"abc\"");
    in.key = STR("import-1");
    in.traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    int64_t id = start_run(c, in), again = 0;
    assert_int_equal(try_start(c, in, &again), ANSWER_DUPLICATE);
    assert_int_equal(again, id);
    struct job_list got = take(c, 1, 9);
    assert_string_equal(types(c, got), "page page page");
    assert_string_equal(got.jobs[0].unique_key.ptr, arena_printf(c->arena, "run:%d:0:0", (int)id));
    assert_string_equal(got.jobs[0].payload.ptr,
                        arena_printf(c->arena,
                                     "{\"run\":%d,\"part\":0,\"generation\":0,\"page\":0,\"offset\":0,"
                                     "\"limit\":30,\"partition\":\"p0\",\"cursor\":null}",
                                     (int)id));
    assert_string_equal(got.jobs[2].payload.ptr,
                        arena_printf(c->arena,
                                     "{\"run\":%d,\"part\":2,\"generation\":0,\"page\":0,\"offset\":0,"
                                     "\"limit\":30,\"partition\":\"p2\",\"cursor\":\"abc\"}",
                                     (int)id));
    assert_int_equal(got.jobs[0].timeout_ms, PAWL_PAGE_DEADLINE_MS_DEFAULT);
    assert_int_equal(got.jobs[0].max_attempts, 5);
    assert_true(str_absent(got.jobs[0].key));
    assert_true(str_equal(got.jobs[1].traceparent, in.traceparent));
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_RUNNING);
    assert_int_equal(run.partitions, 3);
    assert_int_equal(run.remaining, 3);
    assert_int_equal(run.page_size, 30);
    assert_int_equal(run.total, -1);
    assert_int_equal(part_row_is(c, id, 1).offset, 60);
}

/* covers: C02 C08 C13 C17 C18 C32 B1.8 B1.10 */
static void a_page_advances_its_partition(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 1);
    struct partition_new *part = (struct partition_new *)in.partitions;
    *part = (struct partition_new){
        .name = STR("a"), .params = STR("{\"shop\":7}"), .bounded = true, .low = 10, .high = 20, .total = 70};
    in.params = STR("{\"url\":\"x\"}");
    in.spec = STR("{\"v\":1}");
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 1);
    struct page page = begin(c, page_of(c, 1, &got.jobs[0]));
    assert_int_equal(page.answer, ANSWER_APPLIED);
    assert_int_equal(page.outcome, PAGE_ADVANCED);
    assert_string_equal(page.run_params.ptr, "{\"url\":\"x\"}");
    assert_string_equal(page.spec.ptr, "{\"v\":1}");
    assert_string_equal(page.params.ptr, "{\"shop\":7}");
    assert_string_equal(page.partition.ptr, "a");
    assert_true(page.bounded);
    assert_int_equal(page.low, 10);
    assert_int_equal(page.high, 20);
    assert_int_equal(page.total, 70);
    assert_int_equal(page.limit, 30);
    assert_int_equal(page.deadline_ms, 60000);
    assert_int_equal(page.end, END_HANDLER);
    struct page_commit in_page = page_with(c, 1, &got.jobs[0], 0, 2, MORE_BY_RULE);
    in_page.cursor = STR("{\"after\":2}");
    in_page.fetch_ms = 61000;
    advance(c, 5000);
    struct page_result done = commit(c, in_page);
    assert_int_equal(done.answer, ANSWER_APPLIED);
    assert_int_equal(done.outcome, PAGE_ADVANCED);
    assert_int_equal(done.next_offset, 2);
    assert_true(done.next_job > got.jobs[0].id);
    assert_false(done.last);
    assert_int_equal(job_row_of(c, got.jobs[0].id).state, 0);
    struct partition_row row = part_row_is(c, id, 0);
    assert_int_equal(row.offset, 2);
    assert_int_equal(row.page, 1);
    assert_int_equal(row.items, 2);
    assert_int_equal(row.job, done.next_job);
    assert_string_equal(row.cursor.ptr, "{\"after\":2}");
    assert_int_equal(row.updated_ms, c->now_ms);
    assert_int_equal(row.fetch_ms_max, 61000);
    assert_int_equal(row.slow, 1);
    got = take(c, 1, 1);
    assert_int_equal(got.jobs[0].id, done.next_job);
    page = begin(c, page_of(c, 1, &got.jobs[0]));
    assert_string_equal(page.cursor.ptr, "{\"after\":2}");
    assert_int_equal(page.offset, 2);
    done = commit(c, page_with(c, 1, &got.jobs[0], 2, 1, MORE_NO));
    assert_int_equal(done.outcome, PAGE_FINISHED);
    assert_true(done.last);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.items, 3); /* of all pages */
    assert_int_equal(run.pages, 2);
    assert_int_equal(run.total, 70);
    assert_int_equal(run.updated_ms, c->now_ms);
    assert_string_equal(stored(c, id), "0-0={\"n\":0} 0-1={\"n\":1} 0-2={\"n\":2}");
}

/* covers: C14 C19 B1.8 */
static void a_short_page_ends_a_partition_where_the_run_says_so(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 2);
    in.end = END_SHORT_PAGE;
    in.page_size = 2;
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 2);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_BY_RULE)).outcome, PAGE_ADVANCED);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[1], 0, 1, MORE_BY_RULE)).outcome, PAGE_FINISHED);
    got = take(c, 1, 2);
    assert_int_equal(got.count, 1);
    struct page_result done = commit(c, page_with(c, 1, &got.jobs[0], 2, 0, MORE_BY_RULE)); /* empty */
    assert_int_equal(done.outcome, PAGE_FINISHED);
    assert_true(done.last);
    assert_int_equal(part_row_is(c, id, 0).offset, 2);
    assert_int_equal(run_row_is(c, id).done, 2);
}

/* covers: C39 C10 C11 C12 C21 C22 C23 C28 B1.1 B1.2 B1.3 B1.7 */
static void a_duplicate_page_is_skipped_and_changes_nothing(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 1));
    struct job_list got = take(c, 1, 1);
    struct job_new copy = {.type = STR("page"), .payload = got.jobs[0].payload};
    for (int i = 0; i < 2; i++)
        add(c, copy); /* the same page, delivered three times */
    struct job_list copies = take(c, 1, 9);
    assert_int_equal(copies.count, 2);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_YES)).outcome, PAGE_ADVANCED);
    struct page_result late = commit(c, page_with(c, 1, &copies.jobs[0], 0, 2, MORE_NO));
    assert_int_equal(late.answer, ANSWER_APPLIED);
    assert_int_equal(late.outcome, PAGE_SKIPPED);
    assert_int_equal(late.skip, PAGE_BEHIND);
    assert_int_equal(late.next_offset, 2);
    assert_false(late.last);
    assert_int_equal(job_row_of(c, copies.jobs[0].id).state, 0); /* completed */
    struct page page = begin(c, page_of(c, 1, &copies.jobs[1])); /* before anything is fetched */
    assert_int_equal(page.outcome, PAGE_SKIPPED);
    assert_int_equal(page.skip, PAGE_BEHIND);
    assert_int_equal(page.next_offset, 2);
    assert_int_equal(job_row_of(c, copies.jobs[1].id).state, 0);
    struct partition_row part = part_row_is(c, id, 0);
    assert_int_equal(part.state, PART_ACTIVE);
    assert_int_equal(part.items, 2);
    assert_int_equal(part.skipped, 2);
    got = take(c, 1, 9);
    assert_int_equal(got.count, 1); /* one chain, not three */
    /* A page that is ahead, and one that is not there at all. */
    copy.payload = STR("{\"run\":1,\"part\":0,\"generation\":0,\"page\":9,\"offset\":270}");
    add(c, copy);
    copy.payload = STR("{\"run\":1,\"part\":7,\"generation\":0,\"page\":0,\"offset\":0}");
    add(c, copy);
    copies = take(c, 1, 9);
    assert_int_equal(commit(c, page_with(c, 1, &copies.jobs[0], 0, 1, MORE_NO)).skip, PAGE_AHEAD);
    assert_int_equal(commit(c, page_with(c, 1, &copies.jobs[1], 0, 1, MORE_NO)).skip, PAGE_UNKNOWN);
    /* The partition is done: nothing more is done for it. */
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 2, 1, MORE_NO)).outcome, PAGE_FINISHED);
    copy.payload = got.jobs[0].payload;
    add(c, copy);
    for (;;) {
        copies = take(c, 1, 1);
        assert_int_equal(copies.count, 1);
        if (str_equal(copies.jobs[0].type, STR("page")))
            break;
    }
    late = commit(c, page_with(c, 1, &copies.jobs[0], 2, 1, MORE_NO));
    assert_int_equal(late.skip, PAGE_PARTITION_DONE);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.done, 1);
    assert_int_equal(run.round, 1); /* consolidated once */
    assert_int_equal(run.items, 3);
}

/* covers: C23 C33 C40 B1.12 */
static void a_worker_killed_in_the_middle_of_a_page_costs_nothing(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    int64_t id = start_run(c, run_of(c, "import", 1));
    struct job_list dead = take(c, 1, 1);
    advance(c, JOB_LEASE_MS + 1000);
    struct job_list got = take(c, 2, 1);
    assert_int_equal(got.jobs[0].id, dead.jobs[0].id);
    assert_int_equal(got.jobs[0].attempts, 2);
    struct page_commit mine = page_with(c, 2, &got.jobs[0], 0, 2, MORE_YES);
    assert_int_equal(commit(c, mine).outcome, PAGE_ADVANCED);
    /* The first worker wakes up: its grant is over. */
    assert_int_equal(commit(c, page_with(c, 1, &dead.jobs[0], 0, 2, MORE_NO)).answer, ANSWER_STALE);
    assert_int_equal(begin(c, page_of(c, 1, &dead.jobs[0])).answer, ANSWER_STALE);
    assert_int_equal(commit(c, mine).answer, ANSWER_DUPLICATE); /* an outcome that was not heard */
    struct partition_row part = part_row_is(c, id, 0);
    assert_int_equal(part.offset, 2);
    assert_int_equal(part.items, 2);
    assert_string_equal(stored(c, id), "0-0={\"n\":0} 0-1={\"n\":1}");
}

/* covers: C15 C16 */
static void items_are_upserted_and_the_last_of_a_key_wins(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 2));
    struct job_list got = take(c, 1, 2);
    struct run_item items[] = {
        {STR("b"), STR("1")}, {STR("a"), STR("2")}, {STR("b"), STR("3")}, {STR("c"), ABSENT}};
    struct page_commit page = {
        .ref = page_of(c, 1, &got.jobs[0]), .items = items, .count = 4, .more = MORE_NO};
    struct page_result done = commit(c, page);
    assert_int_equal(done.next_offset, 4); /* as many as the handler returned */
    assert_int_equal(part_row_is(c, id, 0).repeats, 1);
    assert_string_equal(stored(c, id), "a=2 b=3 c=null");
    struct run_item over = {STR("a"), STR("9")};
    page =
        (struct page_commit){.ref = page_of(c, 1, &got.jobs[1]), .items = &over, .count = 1, .more = MORE_NO};
    (void)commit(c, page);
    assert_string_equal(stored(c, id), "a=9 b=3 c=null");
    struct stored_items list;
    struct items_filter filter = {.run = id, .part = 0, .after_key = STR("a"), .limit = 1};
    ok(c, (c->runs->items)(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].key.ptr, "b");
    filter.part = 1;
    filter.after_key = ABSENT;
    ok(c, (c->runs->items)(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1); /* who wrote it last has it */
}

static void refuse_page(struct conf *c, struct page_commit page, const char *words) {
    struct page_result out;
    expect(c, PAWL_INVALID, c->runs->page_commit(c->store, &page, c->arena, &out, &c->err));
    expect_error(c, words);
}

static void bad_pages_are_refused_and_nothing_is_lost(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 1);
    in.page_size = 2;
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 1);
    struct page_commit page = page_with(c, 1, &got.jobs[0], 0, 2, MORE_NO);
    struct run_item *items = (struct run_item *)page.items;
    items[1].key = ABSENT;
    refuse_page(c, page, "no key");
    items[1].key = STR("");
    refuse_page(c, page, "no key");
    items[1] = (struct run_item){STR("x"), STR("{oops")};
    refuse_page(c, page, "JSON");
    page = page_with(c, 1, &got.jobs[0], 0, 3, MORE_NO);
    refuse_page(c, page, "page size is 2");
    page = page_with(c, 1, &got.jobs[0], 0, 1, MORE_YES);
    page.cursor = STR("not json");
    refuse_page(c, page, "JSON");
    assert_string_equal(stored(c, id), "");
    assert_int_equal(job_row_of(c, got.jobs[0].id).state, JOB_RUNNING);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_NO)).outcome, PAGE_FINISHED);
}

static void an_endless_loop_fails_the_partition(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 2);
    ((struct partition_new *)in.partitions)[0].cursor = STR("\"same\"");
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 2);
    struct page_commit page = page_with(c, 1, &got.jobs[0], 0, 2, MORE_BY_RULE);
    page.cursor = STR("\"same\"");
    struct page_result done = commit(c, page);
    assert_int_equal(done.outcome, PAGE_FAILED);
    assert_non_null(strstr(done.error.ptr, "endless loop"));
    assert_string_equal(stored(c, id), "");
    struct partition_row part = part_row_is(c, id, 0);
    assert_int_equal(part.state, PART_FAILED);
    assert_int_equal(part.offset, 0);
    assert_true(str_equal(part.error, done.error));
    assert_int_equal(job_row_of(c, got.jobs[0].id).state, JOB_DEAD);
    done = commit(c, page_with(c, 1, &got.jobs[1], 0, 0, MORE_YES));
    assert_int_equal(done.outcome, PAGE_FAILED);
    assert_non_null(strstr(done.error.ptr, "no items"));
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_FAILED);
    assert_string_equal(run.error.ptr, "2 of 2 partitions failed");
}

static void refuse_start(struct conf *c, struct run_start in, const char *words) {
    struct run_started out;
    expect(c, PAWL_INVALID, c->runs->start(c->store, &in, &out, &c->err));
    expect_error(c, words);
}

static void bad_runs_are_refused(void **state) {
    struct conf *c = *state;
    struct run_start in = run_of(c, "import", 2);
    struct partition_new *parts = (struct partition_new *)in.partitions;
    struct partition_new bounded[] = {{.name = STR("a"), .bounded = true, .low = 0, .high = 10, .total = -1},
                                      {.name = STR("b"), .bounded = true, .low = 9, .high = 20, .total = -1}};
    parts[0] = bounded[0];
    parts[1] = bounded[1];
    refuse_start(c, in, "overlap");
    parts[1].low = 10;
    parts[1].high = 10;
    refuse_start(c, in, "hold nothing");
    parts[1].high = 20;
    parts[1].name = STR("a");
    refuse_start(c, in, "two partitions are named 'a'");
    parts[1].name = STR("b");
    in.page_size = PAWL_PAGE_SIZE_MAX + 1;
    refuse_start(c, in, "page_size");
    in.page_size = 0;
    in.type = ABSENT;
    refuse_start(c, in, "type");
    in.type = STR("page");
    parts[0].cursor = STR("nope");
    refuse_start(c, in, "cursor is not JSON");
    parts[0].cursor = ABSENT;
    int64_t id = 0;
    in.parent = 77;
    assert_int_equal(try_start(c, in, &id), ANSWER_NOT_FOUND);
    in.parent = 0;
    in.target = STR("nowhere");
    assert_int_equal(try_start(c, in, &id), ANSWER_NOT_FOUND);
    in.target = ABSENT;
    struct run_list list;
    ok(c, (c->runs->runs)(c->store, &(struct runs_filter){.limit = 10}, c->arena, &list, &c->err));
    assert_int_equal(list.count, 0);
    (void)start_run(c, in);
}

static void a_run_can_be_held_to_a_concurrency_and_a_rate(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 5);
    in.concurrency = 2;
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 9);
    assert_int_equal(got.count, 2);
    assert_string_equal(got.jobs[0].key.ptr, arena_printf(c->arena, "run:%d", (int)id));
    enum store_answer answer;
    struct run_pace pace = {.run = id, .concurrency = 0, .rate = 10, .rate_ms = 1000};
    ok(c, c->runs->pace(c->store, &pace, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).rate, 10);
    pace = (struct run_pace){.run = id, .concurrency = -1, .rate = -1, .hold_ms = 2000};
    ok(c, c->runs->pace(c->store, &pace, &answer, &c->err));
    assert_int_equal(take(c, 1, 9).count, 0); /* Retry-After: nobody in the fleet starts a page */
    advance(c, 1999);
    assert_int_equal(take(c, 1, 9).count, 0);
    advance(c, 1);
    assert_int_equal(take(c, 1, 9).count, 1);
    advance(c, 100);
    assert_int_equal(take(c, 1, 9).count, 1);
    struct job_limits limits;
    ok(c, c->jobs->limits(c->store, c->arena, &limits, &c->err));
    size_t before = limits.count;
    ok(c, (c->runs->cancel)(c->store, id, &answer, &c->err));
    ok(c, c->jobs->limits(c->store, c->arena, &limits, &c->err));
    assert_int_equal(limits.count, before - 1); /* its limit goes with it */
    id = start_run(c, run_of(c, "free", 1));
    pace.run = id;
    ok(c, c->runs->pace(c->store, &pace, &answer, &c->err));
    assert_int_equal(answer, ANSWER_CONFLICT);
}

/* A named statement stores the items in a user's table, in the same transaction. */
static void items_go_where_a_target_says(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_target target = {.name = STR("shelf"), .sql = STR("SELECT 1")};
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    target.name = STR("attic");
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    struct run_targets list;
    ok(c, c->runs->targets(c->store, c->arena, &list, &c->err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.targets[0].name.ptr, "attic");
    assert_string_equal(list.targets[1].sql.ptr, "SELECT 1");
    struct run_start in = run_of(c, "import", 1);
    in.target = STR("shelf");
    int64_t id = start_run(c, in);
    expect(c, PAWL_CONFLICT, c->runs->target_remove(c->store, STR("shelf"), &c->err));
    expect(c, PAWL_NOT_FOUND, c->runs->target_remove(c->store, STR("cellar"), &c->err));
    ok(c, c->runs->target_remove(c->store, STR("attic"), &c->err));
    target = (struct run_target){.name = STR("shelf"), .sql = STR("INSERT INTO no_such_table SELECT 1")};
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    struct job_list got = take(c, 1, 1);
    struct page_commit page = page_with(c, 1, &got.jobs[0], 0, 1, MORE_NO);
    struct page_result out;
    expect(c, PAWL_INVALID, c->runs->page_commit(c->store, &page, c->arena, &out, &c->err));
    assert_int_equal(part_row_is(c, id, 0).offset, 0); /* all of it, or nothing */
    assert_int_equal(job_row_of(c, got.jobs[0].id).state, JOB_RUNNING);
    target.sql = ABSENT;
    expect(c, PAWL_INVALID, c->runs->target_put(c->store, &target, &c->err));
}

/* A named statement may also be where a page comes from. */
static void a_statement_selects_a_page(void **state) {
    struct conf *c = *state;
    struct stored_items found = {0};
    struct run_target target = {.name = STR("numbers")};
    target.sql =
        strcmp(c->store->dialect, "sqlite") == 0
            ? STR("SELECT 'k' || column1, json_object('n', column1, 'after', json_extract(?1, '$.cursor')) "
                  "FROM (VALUES (1), (2), (3)) LIMIT json_extract(?1, '$.limit')")
            : STR("SELECT 'k' || n, json_build_object('n', n, 'after', $1 -> 'cursor') "
                  "FROM generate_series(1, 3) n LIMIT ($1 ->> 'limit')::integer;");
    expect(c, PAWL_NOT_FOUND,
           c->runs->page_select(c->store, target.name, STR("{}"), c->arena, &found, &c->err));
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    ok(c, c->runs->page_select(c->store, target.name, STR("{\"limit\":2,\"cursor\":\"k0\"}"), c->arena,
                               &found, &c->err));
    assert_int_equal(found.count, 2);
    assert_string_equal(found.items[1].key.ptr, "k2");
    assert_non_null(strstr(found.items[0].payload.ptr, "\"k0\""));
    ok(c, c->runs->page_select(c->store, target.name, STR("{\"limit\":0}"), c->arena, &found, &c->err));
    assert_int_equal(found.count, 0);
    target.sql = strcmp(c->store->dialect, "sqlite") == 0
                     ? STR("DELETE FROM pawl_run_item RETURNING key, payload")
                     : STR("DELETE FROM run_item RETURNING key, payload");
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    expect(c, PAWL_INVALID,
           c->runs->page_select(c->store, target.name, STR("{}"), c->arena, &found, &c->err));
    target.sql = STR("SELECT nonsense");
    ok(c, c->runs->target_put(c->store, &target, &c->err));
    expect(c, PAWL_INVALID,
           c->runs->page_select(c->store, target.name, STR("{}"), c->arena, &found, &c->err));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_run_starts_with_one_page_per_partition),
    CONF_TEST(a_page_advances_its_partition),
    CONF_TEST(a_short_page_ends_a_partition_where_the_run_says_so),
    CONF_TEST(a_duplicate_page_is_skipped_and_changes_nothing),
    CONF_TEST(a_worker_killed_in_the_middle_of_a_page_costs_nothing),
    CONF_TEST(items_are_upserted_and_the_last_of_a_key_wins),
    CONF_TEST(bad_pages_are_refused_and_nothing_is_lost),
    CONF_TEST(an_endless_loop_fails_the_partition),
    CONF_TEST(bad_runs_are_refused),
    CONF_TEST(a_run_can_be_held_to_a_concurrency_and_a_rate),
    CONF_TEST(items_go_where_a_target_says),
    CONF_TEST(a_statement_selects_a_page),
};
CONF_GROUP(runs, tests);
