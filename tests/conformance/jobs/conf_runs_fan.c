/* The fan-in of runs and what people do to them: consolidation once, failures, repair, reset, pause, nesting.
 */
#include <string.h>

#include "base/limits.h"
#include "conformance/harness_runs.h"

/* covers: C04 C24 C25 C26 C29 C30 C31 C41 B1.4 B1.9 */
static void the_last_partition_consolidates_once(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 3);
    in.announce = STR("work_done");
    int64_t id = start_run(c, in);
    for (int i = 0; i < 3; i++) {
        struct job_list got = take(c, 1, 1);
        struct page_result done = commit(c, page_with(c, 1, &got.jobs[0], 0, 1, MORE_NO));
        assert_int_equal(done.outcome, PAGE_FINISHED);
        assert_int_equal(done.last, i == 2);
        assert_int_equal(run_row_is(c, id).remaining, 2 - i);
        assert_int_equal(run_row_is(c, id).state, i == 2 ? RUN_IS_CONSOLIDATING : RUN_IS_RUNNING);
    }
    struct job_list got = take(c, 1, 9);
    assert_string_equal(types(c, got), "work_done work_done work_done consolidate");
    assert_string_equal(got.jobs[0].payload.ptr,
                        arena_printf(c->arena,
                                     "{\"run\":%d,\"part\":0,\"generation\":0,\"partition\":\"p0\","
                                     "\"status\":\"done\",\"items\":1,\"error\":null}",
                                     (int)id));
    assert_string_equal(got.jobs[3].payload.ptr,
                        arena_printf(c->arena,
                                     "{\"run\":%d,\"round\":1,\"key\":\"run-%d\",\"name\":\"import\","
                                     "\"partitions\":3,\"done\":3,\"failed\":0,\"items\":3}",
                                     (int)id, (int)id));
    for (size_t i = 0; i < got.count; i++)
        assert_int_equal(job_done(c, 1, &got.jobs[i]), ANSWER_APPLIED);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_COMPLETED);
    assert_int_equal(run.ended_ms, c->now_ms);
    assert_true(run.consolidated);
    assert_int_equal(take(c, 1, 9).count, 0);
}

/* covers: J48 */
static void everything_a_run_makes_carries_its_agent(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 2);
    in.agent = STR("bot");
    in.announce = STR("work_done");
    int64_t id = start_run(c, in);
    assert_string_equal(run_row_is(c, id).agent.ptr, "bot");
    struct job_list got = take(c, 1, 2);
    assert_string_equal(begin(c, page_of(c, 1, &got.jobs[0])).agent.ptr, "bot");
    struct page_commit more = page_with(c, 1, &got.jobs[0], 0, 1, MORE_YES);
    more.cursor = STR("1");
    assert_int_equal(commit(c, more).outcome, PAGE_ADVANCED);
    struct finish_item dies = finish_of(&got.jobs[1], JOB_FAIL);
    dies.error_class = CLASS_PERMANENT;
    assert_int_equal(job_finish(c, 1, dies).result, JOB_RESULT_DEAD);
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, 1}, &retried, &c->err));
    for (int i = 0; i < 4; i++) { /* the pages that are left, and what is announced of both */
        struct job_list next = take(c, 1, 1);
        assert_int_equal(next.count, 1);
        assert_string_equal(next.jobs[0].agent.ptr, "bot");
        if (str_equal_cstr(next.jobs[0].type, "page"))
            (void)commit(c, page_with(c, 1, &next.jobs[0], 1, 1, MORE_NO));
        else
            assert_int_equal(job_done(c, 1, &next.jobs[0]), ANSWER_APPLIED);
    }
    struct job_list last = take(c, 1, 9);
    for (size_t i = 0; i < last.count; i++)
        assert_string_equal(last.jobs[i].agent.ptr, "bot");
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CONSOLIDATING);
    /* A child cannot leave it. */
    struct run_start child = run_of(c, "child", 1);
    child.parent = id;
    child.agent = STR("other");
    assert_string_equal(run_row_is(c, start_run(c, child)).agent.ptr, "bot");
    child.agent = ABSENT;
    assert_string_equal(run_row_is(c, start_run(c, child)).agent.ptr, "bot");
}

static void a_run_without_partitions_or_consolidation_completes(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "empty", 0);
    int64_t id = start_run(c, in);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CONSOLIDATING);
    struct job_list got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_COMPLETED);
    in.consolidate = ABSENT;
    assert_int_equal(run_row_is(c, start_run(c, in)).state, RUN_IS_COMPLETED);
    in = run_of(c, "bare", 1);
    in.consolidate = ABSENT;
    id = start_run(c, in);
    (void)finish_next(c, 1);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_COMPLETED);
}

/* covers: C34 C35 B1.5 B1.6 */
static void only_a_terminal_failure_counts_and_skips_the_consolidation(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 2);
    in.max_attempts = 2;
    in.announce = STR("work_done");
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 2);
    assert_int_equal(job_fail(c, 1, &got.jobs[0], 0).result, JOB_RESULT_RETRY);
    assert_int_equal(run_row_is(c, id).failed, 0); /* it may still succeed */
    (void)commit(c, page_with(c, 1, &got.jobs[1], 0, 1, MORE_NO));
    do
        got = take(c, 1, 1);
    while (got.count == 1 && !str_equal(got.jobs[0].type, STR("page")));
    assert_int_equal(job_fail(c, 1, &got.jobs[0], 0).result, JOB_RESULT_DEAD);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.failed, 1);
    assert_int_equal(run.state, RUN_IS_FAILED);
    assert_string_equal(run.error.ptr, "1 of 2 partitions failed");
    assert_int_equal(run.round, 0);
    assert_string_equal(part_row_is(c, id, 0).error.ptr, "it broke");
    got = take(c, 1, 9);
    assert_string_equal(types(c, got), "work_done work_done");
    assert_non_null(
        strstr(got.jobs[1].payload.ptr, "\"status\":\"failed\",\"items\":0,\"error\":\"it broke\""));
}

/* covers: B1.6 */
static void a_page_that_kills_its_workers_fails_its_partition(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 1);
    in.max_attempts = 1;
    in.policy = FAILED_WAIT;
    int64_t id = start_run(c, in);
    (void)take(c, 1, 1);
    advance(c, JOB_LEASE_MS + 1000);
    assert_int_equal(take(c, 1, 1).count, 0);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_IN_REPAIR);
    assert_int_equal(run_row_is(c, id).ended_ms, 0);
    assert_int_equal(part_row_is(c, id, 0).state, PART_FAILED);
}

static void some_failed_may_consolidate_all_the_same(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 2);
    in.policy = FAILED_PARTIAL;
    int64_t id = start_run(c, in);
    kill_next(c, 1);
    (void)finish_next(c, 1);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CONSOLIDATING);
    struct job_list got = take(c, 1, 1);
    assert_non_null(strstr(got.jobs[0].payload.ptr, "\"done\":1,\"failed\":1"));
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_COMPLETED);
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, -1}, &retried, &c->err));
    assert_int_equal(retried.answer, ANSWER_CONFLICT);
}

/* covers: C46 B1.7 */
static void failed_partitions_are_retried_in_a_new_generation(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 3));
    struct job_list got = take(c, 1, 1);
    (void)commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_YES));
    kill_next(c, 1);
    (void)finish_next(c, 1);
    kill_next(c, 1); /* the second page of p0 */
    assert_int_equal(run_row_is(c, id).state, RUN_IS_FAILED);
    assert_int_equal(run_row_is(c, id).failed, 2);
    int64_t dead = part_row_is(c, id, 0).job;
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, -1}, &retried, &c->err));
    assert_int_equal(retried.answer, ANSWER_APPLIED);
    assert_int_equal(retried.count, 2);
    assert_int_equal(job_row_of(c, dead).state, 0); /* its dead letter is gone */
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_RUNNING);
    assert_int_equal(run.ended_ms, 0);
    assert_int_equal(run.remaining, 2);
    got = take(c, 1, 9);
    assert_int_equal(got.count, 2);
    assert_string_equal(got.jobs[0].unique_key.ptr, arena_printf(c->arena, "run:%d:0:1:1", (int)id));
    struct page page = begin(c, page_of(c, 1, &got.jobs[0]));
    assert_int_equal(page.offset, 2); /* from where it stopped */
    for (int i = 0; i < 2; i++)
        (void)commit(c, page_with(c, 1, &got.jobs[i], 2, 1, MORE_NO));
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CONSOLIDATING);
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, 1}, &retried, &c->err));
    assert_int_equal(retried.answer, ANSWER_CONFLICT);
    ok(c, c->runs->retry(c->store, &(struct run_retry){99, -1}, &retried, &c->err));
    assert_int_equal(retried.answer, ANSWER_NOT_FOUND);
}

static void a_redriven_page_opens_its_partition_when_it_commits(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 1));
    int64_t job = part_row_is(c, id, 0).job;
    kill_next(c, 1);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_FAILED);
    assert_int_equal(job_redrive(c, job, false), ANSWER_APPLIED);
    struct job_list got = take(c, 1, 1);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 0, 1, MORE_YES)).outcome, PAGE_ADVANCED);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_RUNNING);
    assert_int_equal(run.failed, 0);
    assert_int_equal(run.remaining, 1);
    (void)finish_next(c, 1);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CONSOLIDATING);
}

static void an_active_partition_is_enqueued_again(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 1));
    struct job_list old = take(c, 1, 1);
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, 0}, &retried, &c->err));
    assert_int_equal(retried.count, 1);
    assert_int_equal(run_row_is(c, id).remaining, 1);
    struct renew_item held = {.ref = {old.jobs[0].token, old.jobs[0].id}};
    assert_true(job_renew(c, 1, held, JOB_LEASE_MS).cancel); /* the old one is asked to stop */
    struct job_list got = take(c, 1, 1);
    assert_int_equal(got.count, 1);
    struct page_result late = commit(c, page_with(c, 1, &old.jobs[0], 0, 1, MORE_NO));
    assert_int_equal(late.skip, PAGE_OLD_GENERATION);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[0], 0, 1, MORE_NO)).outcome, PAGE_FINISHED);
}

/* covers: C46 */
static void a_partition_is_reset_and_late_pages_are_skipped(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 2));
    struct job_list got = take(c, 1, 2);
    (void)commit(c, page_with(c, 1, &got.jobs[1], 0, 1, MORE_NO));
    (void)commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_YES));
    struct job_list old = take(c, 1, 1);
    enum store_answer answer;
    struct partition_reset reset = {.run = id, .part = 0, .offset = 1, .cursor = STR("\"x\"")};
    ok(c, c->runs->reset(c->store, &reset, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    assert_int_equal(commit(c, page_with(c, 1, &old.jobs[0], 2, 1, MORE_NO)).skip, PAGE_OLD_GENERATION);
    struct partition_row part = part_row_is(c, id, 0);
    assert_int_equal(part.generation, 1);
    assert_int_equal(part.page, 0);
    assert_int_equal(part.offset, 1);
    assert_int_equal(part.items, 0);
    assert_string_equal(part.cursor.ptr, "\"x\"");
    /* One that is done is opened again. */
    reset = (struct partition_reset){.run = id, .part = 1};
    ok(c, c->runs->reset(c->store, &reset, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).done, 0);
    assert_int_equal(run_row_is(c, id).remaining, 2);
    for (int i = 0; i < 2; i++)
        (void)finish_next(c, 1);
    ok(c, c->runs->reset(c->store, &reset, &answer, &c->err));
    assert_int_equal(answer, ANSWER_CONFLICT); /* it consolidates */
    reset.part = 9;
    ok(c, c->runs->reset(c->store, &reset, &answer, &c->err));
    assert_int_equal(answer, ANSWER_NOT_FOUND);
    assert_int_equal(run_row_is(c, id).round, 1);
}

static void a_consolidation_that_fails_can_be_repaired(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 1));
    (void)finish_next(c, 1);
    int64_t job = run_row_is(c, id).job;
    kill_next(c, 1);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_FAILED);
    assert_string_equal(run.error.ptr, "the consolidation failed: the source is gone");
    assert_false(run.consolidated);
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, -1}, &retried, &c->err));
    assert_int_equal(retried.count, 1);
    assert_int_equal(job_row_of(c, job).state, 0);
    run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_CONSOLIDATING);
    assert_int_equal(run.round, 2);
    kill_next(c, 1);
    job = run.job;
    assert_int_equal(job_redrive(c, job, false), ANSWER_APPLIED); /* or by its dead letter */
    struct job_list got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_COMPLETED);
    ok(c, c->runs->retry(c->store, &(struct run_retry){id, -1}, &retried, &c->err));
    assert_int_equal(retried.answer, ANSWER_CONFLICT);
}

static void a_page_job_that_ends_in_another_way_fails_its_partition(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 3));
    assert_int_equal(job_cancel(c, part_row_is(c, id, 0).job), ANSWER_APPLIED);
    assert_non_null(strstr(part_row_is(c, id, 0).error.ptr, "was cancelled"));
    struct job_list got = take(c, 1, 2);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_non_null(strstr(part_row_is(c, id, 1).error.ptr, "without a page"));
    assert_int_equal(job_cancel(c, got.jobs[1].id), ANSWER_APPLIED);
    assert_int_equal(part_row_is(c, id, 2).state, PART_ACTIVE);
    assert_int_equal(job_fail(c, 1, &got.jobs[1], 0).result, JOB_RESULT_CANCELLED);
    assert_int_equal(run_row_is(c, id).failed, 3);
    struct enqueue_result result;
    struct job_new job = {.type = STR("page"), .flags = JOB_RUN};
    expect(c, PAWL_INVALID,
           c->jobs->enqueue(c->store, &(struct jobs_enqueue){.jobs = &job, .count = 1}, c->arena, &result,
                            &c->err));
}

static void a_run_is_paused_and_goes_on(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = start_run(c, run_of(c, "import", 3));
    struct job_list got = take(c, 1, 2);
    enum store_answer answer;
    ok(c, (c->runs->pause)(c->store, id, true, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    ok(c, (c->runs->pause)(c->store, id, true, &answer, &c->err));
    assert_int_equal(answer, ANSWER_DUPLICATE);
    assert_int_equal(take(c, 1, 9).count, 0);
    struct page_result done = commit(c, page_with(c, 1, &got.jobs[0], 0, 2, MORE_YES)); /* was in flight */
    assert_int_equal(done.outcome, PAGE_ADVANCED);
    assert_int_equal(done.next_job, 0);
    struct page page = begin(c, page_of(c, 1, &got.jobs[1])); /* was not fetched yet */
    assert_int_equal(page.skip, PAGE_PAUSED);
    check_now(c);
    struct partition_list list;
    advance(c, PAWL_QUIET_MS_DEFAULT);
    struct partitions_filter filter = {
        .quiet_ms = PAWL_QUIET_MS_DEFAULT, .after_run = -1, .after_part = -1, .limit = 10};
    ok(c, (c->runs->partitions)(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 0); /* who is paused is not stuck */
    ok(c, (c->runs->pause)(c->store, id, false, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    got = take(c, 1, 9);
    assert_int_equal(got.count, 3);
    assert_int_equal(begin(c, page_of(c, 1, &got.jobs[0])).offset, 2);
    for (int i = 0; i < 3; i++)
        (void)commit(c, page_with(c, 1, &got.jobs[i], 2, 1, MORE_NO));
    got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    ok(c, (c->runs->pause)(c->store, id, true, &answer, &c->err));
    assert_int_equal(answer, ANSWER_CONFLICT);
    ok(c, (c->runs->pause)(c->store, 99, true, &answer, &c->err));
    assert_int_equal(answer, ANSWER_NOT_FOUND);
}

static void a_run_is_cancelled(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 3);
    in.flags = JOB_AUDIT;
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 2);
    (void)commit(c, page_with(c, 1, &got.jobs[0], 0, 1, MORE_NO));
    enum store_answer answer;
    ok(c, (c->runs->cancel)(c->store, id, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    assert_int_equal(take(c, 1, 9).count, 0);
    struct run_row run = run_row_is(c, id);
    assert_int_equal(run.state, RUN_IS_CANCELLED);
    assert_int_equal(run.done, 1);
    assert_int_equal(run.remaining, 0);
    assert_int_equal(part_row_is(c, id, 1).state, PART_CANCELLED);
    assert_int_equal(commit(c, page_with(c, 1, &got.jobs[1], 0, 1, MORE_NO)).skip, PAGE_RUN_OVER);
    ok(c, (c->runs->cancel)(c->store, id, &answer, &c->err));
    assert_int_equal(answer, ANSWER_DUPLICATE);
    id = start_run(c, run_of(c, "import", 1)); /* while it consolidates */
    (void)finish_next(c, 1);
    got = take(c, 1, 1);
    ok(c, (c->runs->cancel)(c->store, id, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, id).state, RUN_IS_CANCELLED);
}

/* covers: C42 C43 C44 C45 */
static void questions_about_runs(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t first = start_run(c, run_of(c, "import", 2));
    advance(c, 60000);
    int64_t second = start_run(c, run_of(c, "export", 1));
    struct job_list got = take(c, 1, 1);
    advance(c, PAWL_QUIET_MS_DEFAULT - 60000);
    struct partition_list parts;
    struct partitions_filter stuck = {
        .quiet_ms = PAWL_QUIET_MS_DEFAULT, .after_run = -1, .after_part = -1, .limit = 10};
    ok(c, (c->runs->partitions)(c->store, &stuck, c->arena, &parts, &c->err));
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.partitions[0].run, first);
    struct partitions_filter active = {
        .state = PART_ACTIVE, .after_run = first, .after_part = 0, .limit = 10};
    ok(c, (c->runs->partitions)(c->store, &active, c->arena, &parts, &c->err));
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.partitions[1].run, second);
    struct partitions_filter named = {
        .run = first, .name = STR("p1"), .after_run = -1, .after_part = -1, .limit = 10};
    ok(c, (c->runs->partitions)(c->store, &named, c->arena, &parts, &c->err));
    assert_int_equal(parts.count, 1);
    assert_int_equal(parts.partitions[0].part, 1);
    struct run_list list;
    ok(c,
       (c->runs->runs)(c->store, &(struct runs_filter){.open = true, .limit = 10}, c->arena, &list, &c->err));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.runs[0].id, second); /* newest first */
    struct runs_filter older = {.before_id = second, .limit = 10};
    ok(c, (c->runs->runs)(c->store, &older, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    struct runs_filter by_name = {.name = STR("export"), .state = RUN_IS_RUNNING, .limit = 10};
    ok(c, (c->runs->runs)(c->store, &by_name, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    struct runs_filter by_key = {.key = STR("none"), .limit = 10};
    ok(c, (c->runs->runs)(c->store, &by_key, c->arena, &list, &c->err));
    assert_int_equal(list.count, 0);
    assert_int_equal(list.now_ms, c->now_ms);
    expect(c, PAWL_INVALID,
           (c->runs->runs)(c->store, &(struct runs_filter){.limit = 0}, c->arena, &list, &c->err));
    (void)got;
}

static void runs_nest(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "outer", 1);
    in.wait_key = STR("outer-ends");
    int64_t outer = start_run(c, in);
    (void)finish_next(c, 1);
    struct job_list got = take(c, 1, 1); /* its consolidation starts another run */
    struct run_start inner = run_of(c, "inner", 1);
    inner.consolidate = ABSENT;
    inner.parent = outer;
    int64_t child = start_run(c, inner);
    int64_t failing = start_run(c, inner);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(run_row_is(c, outer).state, RUN_IS_NESTED);
    assert_int_equal(run_row_is(c, outer).children_open, 2);
    (void)finish_next(c, 1);
    assert_int_equal(run_row_is(c, child).state, RUN_IS_COMPLETED);
    kill_next(c, 1);
    struct run_row run = run_row_is(c, outer);
    assert_int_equal(run.state, RUN_IS_FAILED);
    assert_string_equal(run.error.ptr, "1 of its child runs failed");
    struct run_retried retried;
    ok(c, c->runs->retry(c->store, &(struct run_retry){failing, -1}, &retried, &c->err));
    assert_int_equal(run_row_is(c, outer).state, RUN_IS_NESTED);
    (void)finish_next(c, 1);
    assert_int_equal(run_row_is(c, outer).state, RUN_IS_COMPLETED);
    int64_t id = 0;
    assert_int_equal(try_start(c, inner, &id), ANSWER_CONFLICT); /* the parent has ended */
    struct run_list list;
    struct runs_filter children = {.parent = outer, .limit = 10};
    ok(c, (c->runs->runs)(c->store, &children, c->arena, &list, &c->err));
    assert_int_equal(list.count, 2);
    /* A pipeline that waits for it finds the signal. */
    add(c, job_typed("waits"));
    got = take(c, 1, 1);
    struct finish_item wait = finish_of(&got.jobs[0], JOB_WAIT);
    wait.delay_ms = -1;
    wait.wait_key = STR("outer-ends");
    wait.wait_step = STR("run");
    assert_int_equal(job_finish(c, 1, wait).answer, ANSWER_APPLIED);
    struct job_steps steps;
    ok(c, c->jobs->steps_read(c->store, got.jobs[0].id, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 1);
    assert_non_null(strstr(steps.steps[0].output.ptr, "\"state\":\"failed\"")); /* the oldest one */
}

static void old_runs_go_items_first(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct run_start in = run_of(c, "import", 1);
    in.consolidate = ABSENT;
    int64_t id = start_run(c, in);
    struct job_list got = take(c, 1, 1);
    (void)commit(c, page_with(c, 1, &got.jobs[0], 0, 5, MORE_NO));
    int64_t open = start_run(c, in);
    struct runs_maintain_result result;
    ok(c, (c->runs->maintain)(c->store, 10, &result, &c->err));
    assert_int_equal(result.runs_removed, 0);
    advance(c, PAWL_RUN_RETENTION_MS_DEFAULT + 1);
    ok(c, (c->runs->maintain)(c->store, 3, &result, &c->err));
    assert_int_equal(result.items_removed, 3);
    assert_int_equal(result.runs_removed, 0);
    ok(c, (c->runs->maintain)(c->store, 3, &result, &c->err));
    assert_int_equal(result.items_removed, 2);
    assert_int_equal(result.runs_removed, 1);
    struct run_list list;
    ok(c, (c->runs->runs)(c->store, &(struct runs_filter){.limit = 10}, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.runs[0].id, open);
    (void)id;
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(the_last_partition_consolidates_once),
    CONF_TEST(everything_a_run_makes_carries_its_agent),
    CONF_TEST(a_run_without_partitions_or_consolidation_completes),
    CONF_TEST(only_a_terminal_failure_counts_and_skips_the_consolidation),
    CONF_TEST(a_page_that_kills_its_workers_fails_its_partition),
    CONF_TEST(some_failed_may_consolidate_all_the_same),
    CONF_TEST(failed_partitions_are_retried_in_a_new_generation),
    CONF_TEST(a_redriven_page_opens_its_partition_when_it_commits),
    CONF_TEST(an_active_partition_is_enqueued_again),
    CONF_TEST(a_partition_is_reset_and_late_pages_are_skipped),
    CONF_TEST(a_consolidation_that_fails_can_be_repaired),
    CONF_TEST(a_page_job_that_ends_in_another_way_fails_its_partition),
    CONF_TEST(a_run_is_paused_and_goes_on),
    CONF_TEST(a_run_is_cancelled),
    CONF_TEST(questions_about_runs),
    CONF_TEST(runs_nest),
    CONF_TEST(old_runs_go_items_first),
};
CONF_GROUP(runs_fan, tests);
