/* Keys: limits across the fleet, rates, fair shares, and plain work beside them. */
#include "conformance/harness_jobs.h"

static void limit(struct conf *c, const char *key, int concurrency, int rate, int weight) {
    struct job_limit in = {str_from(key), concurrency, rate, rate > 0 ? 1000 : 0, weight};
    ok(c, c->jobs->limit_set(c->store, &in, &c->err));
}

static void add_keyed(struct conf *c, const char *key, int count) {
    for (int i = 0; i < count; i++)
        add(c, (struct job_new){.type = str_from(key), .key = str_from(key)});
}

static void a_limit_holds_across_the_fleet_and_full_keys_clog_nothing(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    limit(c, "t:1", 2, 0, 1);
    add_keyed(c, "t:1", 5);
    add_keyed(c, "t:2", 1);
    struct job_list one = take(c, 1, 10);
    assert_int_equal(one.count, 3); /* two of t:1, one of t:2 */
    assert_int_equal(take(c, 2, 10).count, 0);
    add_keyed(c, "t:3", 1);
    assert_string_equal(types(c, take(c, 2, 10)), "t:3");
    struct job_rows rows;
    struct job_filter filter = {.key = STR("t:1"), .state = JOB_READY, .limit = 9};
    ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 3);
    struct job_why why = job_why_of(c, rows.rows[0].job.id);
    assert_int_equal(why.cause, JOB_WHY_CONCURRENCY);
    assert_int_equal(why.limit, 2);
    assert_int_equal(why.running, 2);
    assert_int_equal(job_done(c, 1, &one.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(take(c, 2, 10).count, 1); /* a free place is used at once */
    advance(c, JOB_LEASE_MS + 1000);
    assert_int_equal(take(c, 2, 10).count, 4); /* 2 of t:1, t:2, t:3: lost leases free their places */
}

static void a_prefix_limits_each_of_its_keys(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    limit(c, "t:*", 1, 0, 1);
    limit(c, "t:9", 3, 0, 1);
    add_keyed(c, "t:1", 2);
    add_keyed(c, "t:2", 2);
    add_keyed(c, "t:9", 4);
    assert_int_equal(take(c, 1, 20).count, 5);
    struct job_limits limits;
    ok(c, c->jobs->limits(c->store, c->arena, &limits, &c->err));
    assert_int_equal(limits.count, 3); /* and the one of queued schedules */
    assert_string_equal(limits.limits[0].key.ptr, "schedule:*");
    assert_string_equal(limits.limits[2].key.ptr, "t:9");
    limit(c, "t:9", 0, 0, 1);
    limit(c, "t:*", 0, 0, 1);
    ok(c, c->jobs->limits(c->store, c->arena, &limits, &c->err));
    assert_int_equal(limits.count, 1);
    assert_int_equal(take(c, 1, 20).count, 3);
}

static void a_rate_is_kept_and_says_until_when(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    limit(c, "api", 0, 4, 1); /* four per second */
    add_keyed(c, "api", 10);
    struct job_list got = take(c, 1, 20);
    assert_int_equal(got.count, 4);
    struct job_rows rows;
    struct job_filter filter = {.key = STR("api"), .state = JOB_READY, .limit = 9};
    ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
    struct job_why why = job_why_of(c, rows.rows[0].job.id);
    assert_int_equal(why.cause, JOB_WHY_RATE);
    assert_int_equal(why.until_ms, c->now_ms + 250);
    advance(c, 249);
    assert_int_equal(take(c, 1, 20).count, 0);
    advance(c, 1);
    assert_int_equal(take(c, 1, 20).count, 1);
    advance(c, 10000);
    assert_int_equal(take(c, 1, 20).count, 4); /* what was not used does not add up */
}

static void keys_get_shares_by_weight(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    limit(c, "heavy", 0, 0, 3);
    add_keyed(c, "heavy", 60);
    add_keyed(c, "light", 60);
    int heavy = 0, light = 0;
    for (int i = 0; i < 10; i++) {
        struct job_list got = take(c, 1, 4);
        for (size_t n = 0; n < got.count; n++) {
            heavy += str_equal(got.jobs[n].type, STR("heavy"));
            light += str_equal(got.jobs[n].type, STR("light"));
        }
    }
    assert_int_equal(heavy + light, 40);
    assert_in_range(heavy, 29, 31);
    /* One after the other it is the same: nobody starves. */
    heavy = light = 0;
    for (int i = 0; i < 16; i++) {
        struct job_list got = take(c, 1, 1);
        heavy += str_equal(got.jobs[0].type, STR("heavy"));
        light += str_equal(got.jobs[0].type, STR("light"));
    }
    assert_in_range(heavy, 11, 13);
    assert_in_range(light, 3, 5);
}

static void a_flood_of_one_key_does_not_starve_another_or_plain_work(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add_keyed(c, "flood", 100);
    for (int i = 0; i < 10; i++)
        add(c, job_typed("plain"));
    add_keyed(c, "small", 2);
    int plain = 0, small = 0;
    for (int i = 0; i < 10; i++) {
        struct job_list got = take(c, 1, 2);
        assert_int_equal(got.count, 2);
        for (size_t n = 0; n < got.count; n++) {
            plain += str_equal(got.jobs[n].type, STR("plain"));
            small += str_equal(got.jobs[n].type, STR("small"));
        }
    }
    assert_int_equal(plain, 10);
    assert_int_equal(small, 2);
    for (int i = 0; i < 2; i++)
        add(c, job_typed("plain"));
    plain = 0;
    for (int i = 0; i < 4; i++)
        plain += str_equal(take(c, 1, 1).jobs[0].type, STR("plain"));
    assert_int_equal(plain, 2); /* in turns, also one by one */
}

static void keyed_work_fills_what_plain_work_leaves(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add_keyed(c, "k", 8);
    add(c, job_typed("plain"));
    assert_int_equal(take(c, 1, 6).count, 6);
    assert_int_equal(take(c, 1, 6).count, 3);
    assert_int_equal(job_counted(c, "default").running, 9);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_limit_holds_across_the_fleet_and_full_keys_clog_nothing),
    CONF_TEST(a_prefix_limits_each_of_its_keys),
    CONF_TEST(a_rate_is_kept_and_says_until_when),
    CONF_TEST(keys_get_shares_by_weight),
    CONF_TEST(a_flood_of_one_key_does_not_starve_another_or_plain_work),
    CONF_TEST(keyed_work_fills_what_plain_work_leaves),
};

CONF_GROUP(jobs_keyed, tests);
