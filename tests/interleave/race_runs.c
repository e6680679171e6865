/* Runs: duplicates of a page, last partitions at once, cancel, failure and reset beside a page. */
#include "interleave/races.h"

#define WORKER(n) "'01900000-0000-7000-8000-00000000000" #n "'"
#define CLAIM(n, max)                                                                                        \
    "SELECT id FROM pawl_internal.jobs_claim(" WORKER(n) ", 'default', " #max ", 60000, NULL)"

static void workers(struct scene *s) {
    run(s, s->observer,
        "SELECT count(*) FROM pawl_internal.instance_register(" WORKER(
            1) ", 's', 'h', 1, NULL, 16, 86400000, 0, 0)");
    run(s, s->observer,
        "SELECT count(*) FROM pawl_internal.instance_register(" WORKER(
            2) ", 's', 'h', 2, NULL, 16, 86400000, 0, 0)");
}

static void start_run(struct scene *s, const char *partitions, const char *options) {
    run(s, s->observer,
        text(s, "SELECT id FROM pawl_internal.run_start('import', 'page', '%s', '%s')", partitions, options));
}

/* The commit of a page by the worker that holds the job: "outcome/skip". */
static const char *sql_page(struct scene *s, int worker, int job, int part, int page, bool more) {
    const char *token =
        run(s, s->observer,
            text(s, "SELECT coalesce(max(token), 0) FROM pawl_internal.job_claim WHERE %d = ANY (ids)", job));
    return text(s,
                "SELECT answer || ':' || coalesce(outcome, 0) || '/' || skip FROM "
                "pawl_internal.page_commit('01900000-0000-7000-8000-00000000000%d', %s, %d, 1, %d, 0, %d, "
                "ARRAY['k%d-%d'], ARRAY['1'::json], %d::smallint, NULL, 5)",
                worker, token, job, part, page, part, page, more ? 1 : 2);
}

static void expect_run(struct scene *s, const char *wanted) {
    assert_string_equal(
        run(s, s->observer,
            "SELECT state || ' ' || remaining || '+' || done || '+' || failed || ' round ' || "
            "round FROM pawl_internal.run WHERE id = 1"),
        wanted);
}

/* covers: B1.1 B1.3 */
static void a_duplicate_beside_its_page_is_skipped(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{\"consolidate\":\"sum\"}");
    run(s, s->observer,
        "SELECT pawl.enqueue('page', (SELECT payload FROM pawl_internal.job WHERE id = 1), audit => false)");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->b, CLAIM(2, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, false)), "1:2/0");
    start(s, s->b, sql_page(s, 2, 2, 0, 0, false));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1:3/4");
    expect_run(s, "2 0+1+0 round 1");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job WHERE type = 'sum'"),
                        "1");
}

/* The first one is undone: the duplicate is the page then. */
static void a_duplicate_takes_the_place_of_a_page_that_was_undone(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{}");
    run(s, s->observer,
        "SELECT pawl.enqueue('page', (SELECT payload FROM pawl_internal.job WHERE id = 1), audit => false)");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->b, CLAIM(2, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, true)), "1:1/0");
    start(s, s->b, sql_page(s, 2, 2, 0, 0, true));
    blocked(s, s->b);
    cut(s, &s->a);
    assert_string_equal(finish(s, s->b), "1:1/0");
    assert_string_equal(run(s, s->observer, "SELECT next_offset FROM pawl_internal.run_partition"), "1");
    assert_string_equal(
        run(s, s->observer, "SELECT count(*) FROM pawl_internal.job WHERE unique_key = 'run:1:0:1'"), "1");
}

/* covers: B1.4 C26 */
static void two_last_partitions_at_once_consolidate_once(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "{\"consolidate\":\"sum\"}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->b, CLAIM(2, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, false)), "1:2/0");
    start(s, s->b, sql_page(s, 2, 2, 1, 0, false));
    blocked(s, s->b); /* for the run's counter */
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1:2/0");
    expect_run(s, "2 0+2+0 round 1");
    assert_string_equal(
        run(s, s->observer, "SELECT payload ->> 'items' FROM pawl_internal.job WHERE type = 'sum'"), "2");
}

static void a_partition_that_ends_beside_a_cancel_ends_once(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "{\"consolidate\":\"sum\"}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, false)), "1:2/0");
    start(s, s->b, "SELECT pawl_internal.run_cancel(1)");
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1");
    expect_run(s, "7 0+1+0 round 0");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job"), "0");
}

static void a_page_behind_a_cancel_is_skipped(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{\"consolidate\":\"sum\"}");
    run(s, s->a, CLAIM(1, 1));
    const char *page = sql_page(s, 1, 1, 0, 0, false);
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, "SELECT pawl_internal.run_cancel(1)"), "1");
    start(s, s->a, page);
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "1:3/5");
    expect_run(s, "7 0+0+0 round 0");
}

/* The cancel holds the partitions, the page holds its job: neither waits for the other in a circle. */
static void a_cancel_beside_a_page_does_not_deadlock(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{}");
    run(s, s->a, CLAIM(1, 1));
    const char *page = sql_page(s, 1, 1, 0, 0, false);
    run(s, s->a, "BEGIN");
    run(s, s->a, "SELECT 1 FROM pawl_internal.job_claim FOR UPDATE");
    run(s, s->a, "SELECT 1 FROM pawl_internal.job FOR UPDATE"); /* as page_commit begins */
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, "SELECT pawl_internal.run_cancel(1)"),
                        "1"); /* it leaves the job alone */
    start(s, s->a, page);
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "1:3/5");
    run(s, s->a, "COMMIT");
}

/* covers: B1.5 B1.6 */
static void a_failure_beside_the_last_page_is_counted_once(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "{\"consolidate\":\"sum\"}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->b, CLAIM(2, 1));
    const char *token = run(s, s->observer, "SELECT token FROM pawl_internal.job_claim WHERE 2 = ANY (ids)");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, false)), "1:2/0");
    start(s, s->b,
          text(s,
               "SELECT (pawl_internal.jobs_report(" WORKER(
                   2) ", ARRAY[%s]::bigint[], ARRAY[2]::bigint[], "
                      "ARRAY[2]::smallint[], ARRAY[2]::smallint[], NULL, "
                      "NULL, NULL, ARRAY['gone'], NULL, NULL, NULL, "
                      "NULL, NULL)).answers",
               token));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "{1}");
    expect_run(s, "6 0+1+1 round 0");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job WHERE type = 'sum'"),
                        "0");
}

static void a_late_page_behind_a_reset_is_skipped(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{}");
    run(s, s->a, CLAIM(1, 1));
    const char *page = sql_page(s, 1, 1, 0, 0, true);
    run(s, s->b, "BEGIN");
    assert_string_equal(run(s, s->b, "SELECT pawl_internal.run_reset(1, 0, 60, NULL)"), "1");
    start(s, s->a, page);
    blocked(s, s->a);
    run(s, s->b, "COMMIT");
    assert_string_equal(finish(s, s->a), "1:3/3");
    assert_string_equal(run(s, s->observer, "SELECT next_offset FROM pawl_internal.run_partition"), "60");
    assert_string_equal(run(s, s->observer, "SELECT string_agg(unique_key, ' ') FROM pawl_internal.job"),
                        "run:1:0:0:1");
}

static void a_reset_behind_a_page_wins(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, true)), "1:1/0");
    start(s, s->b, "SELECT pawl_internal.run_reset(1, 0, 60, NULL)");
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1");
    assert_string_equal(run(s, s->observer, "SELECT string_agg(unique_key, ' ') FROM pawl_internal.job"),
                        "run:1:0:0:1");
}

static void a_page_between_pause_and_resume_is_not_lost(void **state) {
    struct scene *s = *state;
    workers(s);
    start_run(s, "[{\"name\":\"a\"}]", "{}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->observer, "SELECT pawl_internal.run_pause(1, true)");
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, true)), "1:1/0"); /* enqueues no other */
    start(s, s->b, "SELECT pawl_internal.run_pause(1, false)");
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "1");
    assert_string_equal(run(s, s->observer, "SELECT string_agg(unique_key, ' ') FROM pawl_internal.job"),
                        "run:1:0:1");
}

static void one_key_starts_one_run_whoever_comes(void **state) {
    struct scene *s = *state;
    static const char same[] = "SELECT answer FROM pawl_internal.run_start('import', 'page', "
                               "'[{\"name\":\"a\"}]', '{\"key\":\"k\"}')";
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, same), "1");
    start(s, s->b, same);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "2");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.job"), "1");
}

/* A user's own table is part of the page: it is undone with it. */
static void items_in_a_users_table_end_with_their_page(void **state) {
    struct scene *s = *state;
    workers(s);
    run(s, s->observer, "CREATE TABLE shelf (sku text PRIMARY KEY, part text, body json)");
    run(s, s->observer,
        "SELECT pawl_internal.run_target_put('shelf', $$INSERT INTO shelf SELECT i ->> 'key', i ->> "
        "'partition', i -> "
        "'payload' FROM json_array_elements($1) AS i ON CONFLICT (sku) DO UPDATE SET body = "
        "excluded.body$$)");
    start_run(s, "[{\"name\":\"a\"}]", "{\"target\":\"shelf\"}");
    run(s, s->a, CLAIM(1, 1));
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, true)), "1:1/0");
    assert_string_equal(run(s, s->a, "SELECT sku || part || body FROM shelf"), "k0-0a1");
    run(s, s->a, "ROLLBACK");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM shelf"), "0");
    assert_string_equal(run(s, s->a, sql_page(s, 1, 1, 0, 0, false)), "1:2/0");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM shelf"), "1");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.run_item"), "0");
}

/* A report that lets two pages die; tokens are asked for when they are needed. */
static const char *sql_two_deaths(struct scene *s, int worker, const char *jobs) {
    return text(
        s,
        "SELECT (pawl_internal.jobs_report('01900000-0000-7000-8000-00000000000%d', ARRAY(SELECT j.token "
        "FROM "
        "unnest(ARRAY[%s]::bigint[]) WITH ORDINALITY AS u(id, n) JOIN pawl_internal.job j ON j.id = u.id "
        "ORDER BY u.n), ARRAY[%s]::bigint[], ARRAY[2, 2]::smallint[], ARRAY[2, 2]::smallint[], NULL, "
        "NULL, NULL, ARRAY['gone', 'gone'], NULL, NULL, NULL, NULL, NULL)).answers",
        worker, jobs, jobs);
}

/* Two runs of two partitions: jobs 1 and 2 are pages of the first, 3 and 4 of the second. */
static void two_runs(struct scene *s, const char *of_worker_1, const char *of_worker_2) {
    workers(s);
    for (int i = 0; i < 2; i++)
        start_run(s, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "{\"max_attempts\":1}");
    for (int worker = 1; worker <= 2; worker++) {
        run(s, s->observer,
            text(s,
                 "UPDATE pawl_internal.job SET ord = CASE WHEN id IN (%s) THEN 1 ELSE 2 END WHERE token = 0",
                 worker == 1 ? of_worker_1 : of_worker_2));
        run(s, worker == 1 ? s->a : s->b, worker == 1 ? CLAIM(1, 2) : CLAIM(2, 2));
    }
}

static void expect_both_failed(struct scene *s) {
    assert_string_equal(
        run(s, s->observer,
            "SELECT string_agg(state || ' ' || remaining || '+' || done || '+' || failed, ', ' "
            "ORDER BY id) FROM pawl_internal.run"),
        "6 0+0+2, 6 0+0+2");
}

/* A dies with run 1 and stands before a partition of run 2; B dies with run 2 first. Locked one by one, A
 * would hold run 1 and want run 2, and B the other way round. */
static void two_reports_that_end_pages_of_two_runs_do_not_deadlock(void **state) {
    struct scene *s = *state;
    two_runs(s, "1, 3", "2, 4");
    run(s, s->c, "BEGIN");
    run(s, s->c, "SELECT 1 FROM pawl_internal.run_partition WHERE run = 2 AND part = 0 FOR UPDATE");
    start(s, s->a, sql_two_deaths(s, 1, "1, 3"));
    blocked(s, s->a);
    start(s, s->b, sql_two_deaths(s, 2, "4, 2"));
    assert_string_equal(finish(s, s->b), "{1,1}");
    run(s, s->c, "COMMIT");
    assert_string_equal(finish(s, s->a), "{1,1}");
    expect_both_failed(s);
}

/* The same with a worker that is evicted: its claims are lost in one transaction. */
static void an_eviction_and_a_report_that_end_pages_of_two_runs_do_not_deadlock(void **state) {
    struct scene *s = *state;
    two_runs(s, "1, 3", "2, 4");
    run(s, s->c, "BEGIN");
    run(s, s->c, "SELECT 1 FROM pawl_internal.run_partition WHERE run = 2 AND part = 0 FOR UPDATE");
    start(s, s->a, "SELECT pawl_internal.instance_evict(" WORKER(1) ")");
    blocked(s, s->a);
    start(s, s->b, sql_two_deaths(s, 2, "4, 2"));
    assert_string_equal(finish(s, s->b), "{1,1}");
    run(s, s->c, "COMMIT");
    (void)finish(s, s->a);
    expect_both_failed(s);
}

/* And with pages that a person cancels. */
static void a_cancel_of_jobs_and_a_report_of_two_runs_do_not_deadlock(void **state) {
    struct scene *s = *state;
    workers(s);
    for (int i = 0; i < 2; i++)
        start_run(s, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "{\"max_attempts\":1}");
    run(s, s->observer, "UPDATE pawl_internal.job SET ord = CASE WHEN id IN (2, 4) THEN 1 ELSE 2 END");
    run(s, s->b, CLAIM(2, 2));
    run(s, s->c, "BEGIN");
    run(s, s->c, "SELECT 1 FROM pawl_internal.run_partition WHERE run = 2 AND part = 0 FOR UPDATE");
    start(s, s->a, "SELECT pawl_internal.jobs_cancel('{1,3}')");
    blocked(s, s->a);
    start(s, s->b, sql_two_deaths(s, 2, "4, 2"));
    assert_string_equal(finish(s, s->b), "{1,1}");
    run(s, s->c, "COMMIT");
    assert_string_equal(finish(s, s->a), "{1,1}");
    expect_both_failed(s);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_duplicate_beside_its_page_is_skipped),
    SCENE_TEST(a_duplicate_takes_the_place_of_a_page_that_was_undone),
    SCENE_TEST(two_last_partitions_at_once_consolidate_once),
    SCENE_TEST(a_partition_that_ends_beside_a_cancel_ends_once),
    SCENE_TEST(a_page_behind_a_cancel_is_skipped),
    SCENE_TEST(a_cancel_beside_a_page_does_not_deadlock),
    SCENE_TEST(a_failure_beside_the_last_page_is_counted_once),
    SCENE_TEST(a_late_page_behind_a_reset_is_skipped),
    SCENE_TEST(a_reset_behind_a_page_wins),
    SCENE_TEST(a_page_between_pause_and_resume_is_not_lost),
    SCENE_TEST(one_key_starts_one_run_whoever_comes),
    SCENE_TEST(items_in_a_users_table_end_with_their_page),
    SCENE_TEST(two_reports_that_end_pages_of_two_runs_do_not_deadlock),
    SCENE_TEST(an_eviction_and_a_report_that_end_pages_of_two_runs_do_not_deadlock),
    SCENE_TEST(a_cancel_of_jobs_and_a_report_of_two_runs_do_not_deadlock),
};
RACES(runs, tests);
