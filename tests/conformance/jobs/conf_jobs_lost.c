/* Jobs of a worker that died: an attempt counts for what began, and a worker that says its slots tells what
 * begins. */
#include "conformance/harness_jobs.h"

static void join_slots(struct conf *c, int n, int slots) {
    struct instance_new in = instance_named(n, KIND_BIT_JOBS);
    in.slots = slots;
    join_with(c, in);
}

static void evict(struct conf *c, int n) {
    ok(c, c->core->instance_evict(c->store, instance_id(n), &c->err));
}

static struct renew_item begin_of(const struct job *job) {
    return (struct renew_item){{job->token, job->id}, ABSENT};
}

static bool is_suspect(const struct job *job) { return (job->flags & JOB_SUSPECT) != 0; }

/* Claimed ahead of the slots, and none of it had to begin: a death costs none of it an attempt. */
static void what_was_claimed_ahead_loses_no_attempt_with_its_worker(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 2);
    join_slots(c, 2, 2);
    for (int i = 0; i < 8; i++)
        add(c, job_typed("quick"));
    struct job_list got = take(c, 1, 8);
    assert_int_equal(got.count, 8);
    assert_int_equal(job_renew(c, 1, begin_of(&got.jobs[3]), JOB_LEASE_MS).answer, ANSWER_APPLIED);
    evict(c, 1);
    struct job_list again = take(c, 2, 8);
    assert_int_equal(again.count, 8); /* at once, in the same order */
    for (size_t i = 0; i < again.count; i++) {
        assert_int_equal(again.jobs[i].id, got.jobs[i].id);
        assert_int_equal(again.jobs[i].attempts, i == 3 ? 2 : 1); /* only what began */
        assert_false(is_suspect(&again.jobs[i]));
    }
    assert_int_equal(job_counted(c, "default").lost, 8);
}

/* A lease that runs out is the same as a death. */
static void a_lease_that_ends_is_no_attempt_of_what_never_began(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 1);
    join_slots(c, 2, 1);
    int64_t id = add(c, (struct job_new){.type = STR("once"), .max_attempts = 1});
    struct job_list got = take(c, 1, 1);
    advance(c, JOB_LEASE_MS + 1001);
    beat(c, 2);
    got = take(c, 2, 1);
    assert_int_equal(got.count, 1); /* its last attempt is not used up */
    assert_int_equal(got.jobs[0].attempts, 1);
    assert_int_equal(job_renew(c, 2, begin_of(&got.jobs[0]), JOB_LEASE_MS).answer, ANSWER_APPLIED);
    evict(c, 2);
    assert_int_equal(job_row_of(c, id).state, JOB_DEAD);
    assert_int_equal(job_row_of(c, id).reason, JOB_DEAD_KILLED);
}

/* One that kills every worker before it is told to have begun is a suspect from its second loss on: its start
 * is told first, and so each further death is its own. */
static void what_is_lost_twice_is_a_suspect_and_is_charged_when_it_began(void **state) {
    struct conf *c = *state;
    int64_t id = add(c, (struct job_new){.type = STR("poison"), .max_attempts = 2});
    for (int worker = 1; worker <= 5; worker++)
        join_slots(c, worker, 1);
    for (int worker = 1; worker <= 3; worker++) {
        struct job_list got = take(c, worker, 1);
        assert_int_equal(got.jobs[0].attempts, 1);
        assert_int_equal(is_suspect(&got.jobs[0]), worker == 3);
        evict(c, worker); /* a suspect whose start was not told is not charged either */
    }
    for (int worker = 4; worker <= 5; worker++) {
        struct job_list got = take(c, worker, 1);
        assert_int_equal(got.jobs[0].attempts, worker - 3);
        assert_true(is_suspect(&got.jobs[0]));
        assert_int_equal(job_renew(c, worker, begin_of(&got.jobs[0]), JOB_LEASE_MS).answer, ANSWER_APPLIED);
        evict(c, worker);
    }
    assert_int_equal(job_row_of(c, id).state, JOB_DEAD);
    assert_int_equal(job_row_of(c, id).reason, JOB_DEAD_KILLED);
    join_slots(c, 6, 1);
    assert_int_equal(job_redrive(c, id, false), ANSWER_APPLIED);
    assert_false(is_suspect(&take(c, 6, 1).jobs[0])); /* a redrive begins anew */
}

/* Given back unstarted it stays a suspect; a failure that is reported clears it. */
static void a_suspect_that_comes_back_is_none_any_more(void **state) {
    struct conf *c = *state;
    add(c, job_typed("suspect"));
    for (int worker = 1; worker <= 3; worker++)
        join_slots(c, worker, 1);
    for (int worker = 1; worker <= 2; worker++) {
        (void)take(c, worker, 1);
        evict(c, worker);
    }
    struct job_list got = take(c, 3, 1);
    job_finish(c, 3, finish_of(&got.jobs[0], JOB_RELEASE));
    got = take(c, 3, 1);
    assert_true(is_suspect(&got.jobs[0]));
    assert_int_equal(job_fail(c, 3, &got.jobs[0], 0).result, JOB_RESULT_RETRY);
    got = take(c, 3, 1);
    assert_false(is_suspect(&got.jobs[0]));
    assert_int_equal(got.jobs[0].attempts, 2);
}

/* A caller that does not say its slots has begun with what it leases. */
static void for_whoever_does_not_say_its_slots_the_lease_is_the_start(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    int64_t id = add(c, (struct job_new){.type = STR("once"), .max_attempts = 1});
    add(c, job_typed("often"));
    assert_int_equal(take(c, 1, 2).count, 2);
    evict(c, 1);
    assert_int_equal(job_row_of(c, id).reason, JOB_DEAD_KILLED);
    assert_int_equal(take(c, 2, 1).jobs[0].attempts, 2);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(what_was_claimed_ahead_loses_no_attempt_with_its_worker),
    CONF_TEST(a_lease_that_ends_is_no_attempt_of_what_never_began),
    CONF_TEST(what_is_lost_twice_is_a_suspect_and_is_charged_when_it_began),
    CONF_TEST(a_suspect_that_comes_back_is_none_any_more),
    CONF_TEST(for_whoever_does_not_say_its_slots_the_lease_is_the_start),
};

CONF_GROUP(jobs_lost, tests);
