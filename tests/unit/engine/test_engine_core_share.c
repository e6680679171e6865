/* Tests of the engine's core: messages, jobs and perspectives in the same slots, and what is claimed for
 * them.
 */
#include "unit/engine/engine_driver.h"

enum { JOBS_MAX = 64 };

struct share {
    struct driver d;
    struct job jobs[JOBS_MAX];
    int64_t next_job;
    enum store_answer answers[JOBS_MAX];
    enum job_result results[JOBS_MAX];
    int started[CHANNEL_COUNT];
};

static int match_job(void *self, const struct job *job) {
    (void)self, (void)job;
    return 0;
}

static void begin_batch(struct share *s, int slots, int messages, int jobs, int batch) {
    memset(s, 0, sizeof(*s));
    driver_init(&s->d);
    if (batch > 0)
        s->d.config.batch = batch;
    s->d.config.slots = slots;
    s->d.config.instance.kinds = KIND_BIT(KIND_OUTBOX) | KIND_BIT_JOBS;
    s->d.config.weights[CHANNEL_MESSAGES] = messages;
    s->d.config.weights[CHANNEL_JOBS] = jobs;
    s->d.config.job_lease_ms = 60000;
    s->d.config.match_job = match_job;
    driver_up(&s->d);
}

/* Perspectives as well, with the weight of the jobs. */
static void begin_all(struct share *s, int slots, int messages, int jobs) {
    memset(s, 0, sizeof(*s));
    driver_init(&s->d);
    driver_perspectives(&s->d, KIND_BIT(KIND_OUTBOX) | KIND_BIT_JOBS);
    s->d.config.slots = slots;
    s->d.config.weights[CHANNEL_MESSAGES] = messages;
    s->d.config.weights[CHANNEL_JOBS] = s->d.config.weights[CHANNEL_PERSPECTIVES] = jobs;
    s->d.config.job_lease_ms = 60000;
    s->d.config.match_job = match_job;
    driver_up(&s->d);
}

static void begin(struct share *s, int slots, int messages, int jobs) {
    begin_batch(s, slots, messages, jobs, 0);
}

/* The store has as many messages, and as many jobs, as are asked for. */
static void answer_calls(struct share *s, bool has_messages, bool has_jobs) {
    struct driver *d = &s->d;
    if (d->checking)
        driver_ready(d);
    if (d->schedules > 0) {
        d->schedules = 0;
        driver_duty(d, DUTY_SCHEDULES, PAWL_OK, false);
    }
    if (d->batch != NULL) {
        struct driver_grant *grant = driver_grant_new(d);
        for (int i = 0; has_messages && i < d->batch->claim_max[KIND_OUTBOX] && i < DRIVER_ITEMS_MAX; i++)
            driver_item(d, grant, NULL, "a");
        driver_answer(d, grant);
    }
    if (d->exchange != NULL)
        driver_exchanged(d, ANSWER_APPLIED, has_jobs ? (size_t)d->exchange->claim_max : 0);
    if (d->finish == NULL)
        return;
    size_t count = has_jobs ? (size_t)d->finish->claim.max : 0;
    struct job *jobs = &s->jobs[s->next_job % (JOBS_MAX / 2)];
    for (size_t i = 0; i < count; i++)
        jobs[i] =
            (struct job){.id = ++s->next_job, .token = s->next_job, .type = STR("j"), .max_attempts = 9};
    struct finish_result result = {s->answers, s->results, JOBS_MAX, {jobs, count}};
    struct driver_grant *grant = count > 0 ? calloc(1, sizeof(*grant)) : NULL;
    size_t at = 0;
    while (d->held[at] != NULL)
        at++;
    d->held[at] = grant;
    d->finish = NULL;
    driver_step(d, (struct engine_event){.type = EVENT_JOBS_FINISHED, .finish = &result, .grant = grant});
}

static int busy(const struct share *s, bool jobs) {
    int count = 0;
    for (int i = 0; i < 16; i++)
        count += s->d.runs[i].count > 0 && (s->d.runs[i].jobs != NULL) == jobs;
    return count;
}

/* The slot that has run longest ends, `each_ms` after it began. */
static void end_oldest(struct share *s, int slot, int64_t each_ms) {
    struct driver *d = &s->d;
    bool jobs = d->runs[slot].jobs != NULL;
    bool streams = d->runs[slot].checkpoints != NULL;
    s->started[jobs ? CHANNEL_JOBS : streams ? CHANNEL_PERSPECTIVES : CHANNEL_MESSAGES]++;
    d->now_ms += each_ms;
    if (!jobs) {
        driver_done(d, slot);
        return;
    }
    struct job_result_in done = {.end = JOB_END_DONE, .delay_ms = -1};
    size_t count = d->runs[slot].count;
    d->runs[slot].count = 0;
    driver_step(
        d, (struct engine_event){
               .type = EVENT_FINISHED, .slot = slot, .results = &done, .count = count, .elapsed_us = 20});
}

/* Runs many items of both kinds, all equally long. */
static void run_many(struct share *s, int slots, int turns) {
    for (int i = 0; i < turns; i++) {
        for (int k = 0; k < 4; k++)
            answer_calls(s, true, true);
        if (s->d.beats > 0) {
            s->d.beats = 0;
            driver_beat_ok(&s->d, 0, false);
        }
        assert_true(s->d.runs[i % slots].count > 0); /* no slot is idle */
        end_oldest(s, i % slots, 10);
    }
}

static void end(struct share *s) { driver_free(&s->d); }

/* A flood of one does not keep the other from running: each gets the slots that its weight gives it. */
static void test_both_have_work(void **state) {
    (void)state;
    static const struct {
        int slots, messages, jobs, least_jobs, least_messages; /* of 400 that end */
    } rows[] = {{4, 1, 1, 190, 190}, {4, 3, 1, 90, 280}, {4, 1, 3, 280, 90},
                {1, 1, 1, 150, 150}, {1, 3, 1, 70, 230}, {3, 1, 1, 170, 170}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct share s;
        begin(&s, rows[i].slots, rows[i].messages, rows[i].jobs);
        run_many(&s, rows[i].slots, 400);
        assert_true(s.started[CHANNEL_JOBS] >= rows[i].least_jobs);
        assert_true(s.started[CHANNEL_MESSAGES] >= rows[i].least_messages);
        end(&s);
    }
}

static void test_all_three_have_work(void **state) {
    (void)state;
    static const struct {
        int slots, messages, others, least_messages, least_others; /* of 600 that end */
    } rows[] = {{3, 1, 1, 180, 180}, {6, 1, 1, 180, 180}, {1, 1, 1, 150, 150}, {5, 3, 1, 300, 90}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct share s;
        begin_all(&s, rows[i].slots, rows[i].messages, rows[i].others);
        run_many(&s, rows[i].slots, 600);
        assert_true(s.started[CHANNEL_MESSAGES] >= rows[i].least_messages);
        assert_true(s.started[CHANNEL_JOBS] >= rows[i].least_others);
        assert_true(s.started[CHANNEL_PERSPECTIVES] >= rows[i].least_others);
        end(&s);
    }
}

/* What the other does not need is free. */
static void test_one_has_work(void **state) {
    (void)state;
    for (int jobs = 0; jobs < 2; jobs++) {
        struct share s;
        begin(&s, 4, 1, 1);
        for (int k = 0; k < 4; k++)
            answer_calls(&s, jobs == 0, jobs == 1);
        assert_int_equal(busy(&s, jobs == 1), 4);
        assert_int_equal(busy(&s, jobs == 0), 0);
        end(&s);
    }
}

/* All slots run messages that take long; the first that ends makes room for a job, which is asked for then.
 */
static void test_a_job_gets_the_next_slot(void **state) {
    (void)state;
    struct share s;
    begin(&s, 4, 1, 1);
    for (int k = 0; k < 4; k++)
        answer_calls(&s, true, false);
    assert_int_equal(busy(&s, false), 4);
    driver_event(&s.d, EVENT_WAKE);
    assert_null(s.d.finish); /* nothing could start: nothing is asked for */
    end_oldest(&s, 2, 60);
    assert_int_equal(busy(&s, false), 3); /* the slot waits for the answer */
    assert_non_null(s.d.finish);
    assert_int_equal(s.d.finish->claim.max, 1);
    answer_calls(&s, true, true);
    assert_int_equal(busy(&s, true), 1);
    assert_int_equal(busy(&s, false), 3);
    end(&s);
}

/* A batch bounds how many jobs are held: the slots beyond are not kept for jobs that no claim asks for. */
static void test_no_slot_waits_for_jobs_that_are_not_asked_for(void **state) {
    (void)state;
    struct share s;
    begin_batch(&s, 8, 1, 1, 2);
    for (int k = 0; k < 8; k++)
        answer_calls(&s, true, true);
    assert_int_equal(busy(&s, true), 2);
    assert_int_equal(busy(&s, false), 6);
    end(&s);
}

/* An instance that cannot beat may be evicted, and its jobs be given to others: they end here first. */
static void test_silence_fences_jobs_too(void **state) {
    (void)state;
    struct share s;
    begin(&s, 2, 1, 1);
    for (int k = 0; k < 4; k++)
        answer_calls(&s, false, true);
    assert_int_equal(busy(&s, true), 2);
    driver_wait(&s.d, 15000 - 1500 - 1);
    assert_int_equal(s.d.cancels, 0);
    driver_wait(&s.d, 1);
    assert_int_equal(s.d.cancels, 2);
    assert_int_equal(s.d.cancel_reason, STOP_FENCED);
    end(&s);
}

/* One slot, which runs the first of three streams; how many peers there are, and whether they have work. */
static void begin_full(struct driver *d, int peers, bool busy) {
    driver_init(d);
    d->config.slots = 1;
    driver_up(d);
    struct driver_grant *grant = driver_grant_new(d);
    static const char *const streams[] = {"s1", "s2", "s2", "s3", "s1"};
    for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
        driver_item(d, grant, streams[i], "a");
    driver_answer(d, grant);
    driver_ready(d);
    driver_answer_empty(d);
    driver_beat_ok(d, peers, busy);
    assert_true(str_equal_cstr(d->runs[0].items[0]->stream, "s1"));
    d->beats = 0;
}

/* What waits for a slot is given back when none has become free in time, without an attempt and in the order
 * of its streams, and then the others hear that they may have the lanes. What waits for its own stream stays.
 */
static void test_messages_do_not_wait_for_a_full_worker(void **state) {
    (void)state;
    struct driver d;
    begin_full(&d, 1, false);
    driver_wait(&d, ENGINE_WAIT_MS - 1);
    assert_false(d.checking);
    driver_wait(&d, 1);
    driver_wait(&d, ENGINE_LINGER_MS);
    driver_ready(&d);
    const struct release_item *released = d.batch->releases[KIND_OUTBOX];
    assert_int_equal(d.batch->release_count[KIND_OUTBOX], 2);
    assert_int_equal(released[0].ref.id.b[15], 2);
    assert_int_equal(released[1].ref.id.b[15], 4);
    assert_int_equal(released[0].delay_ms, 0);
    assert_int_equal(d.batch->failure_count[KIND_OUTBOX], 0);
    assert_int_equal(d.batch->claim_max[KIND_OUTBOX], 0); /* nothing could begin */
    assert_int_equal(d.beats, 0);
    driver_answer_empty(&d);
    assert_int_equal(d.beats, 1);
    assert_true(d.full);
    driver_beat_ok(&d, 1, true); /* who was idle has our lanes, and they do not come back while we are full */
    driver_wait(&d, d.config.heartbeat_ms);
    assert_int_equal(d.beats, 2);
    assert_true(d.full);
    driver_beat_ok(&d, 1, true);
    driver_done(&d, 0); /* the next of its stream follows */
    assert_int_equal(d.runs[0].count, 1);
    driver_done(&d, 0);
    driver_wait(&d, ENGINE_LOOK_MS);
    assert_int_equal(d.beats, 3);
    assert_false(d.full);
    driver_free(&d);
}

/* No one else could have them. */
static void test_messages_of_a_lone_worker_wait(void **state) {
    (void)state;
    struct driver d;
    begin_full(&d, 0, false);
    driver_wait(&d, 900);
    assert_false(d.checking);
    assert_int_equal(d.beats, 0);
    driver_free(&d);
}

/* Where all are busy, lanes that go round help nobody. */
static void test_messages_wait_where_all_are_busy(void **state) {
    (void)state;
    struct driver d;
    begin_full(&d, 1, true);
    driver_wait(&d, 900);
    assert_int_equal(d.beats, 0);
    if (d.checking) { /* it may ask for more, but gives nothing back */
        driver_ready(&d);
        assert_int_equal(d.batch->release_count[KIND_OUTBOX], 0);
    }
    driver_free(&d);
}

/* It claims nothing more, so its lanes are better off elsewhere. */
static void test_a_worker_that_stops_leaves_its_lanes(void **state) {
    (void)state;
    struct driver d;
    begin_full(&d, 1, true);
    driver_step(&d, (struct engine_event){.type = EVENT_STOP});
    driver_wait(&d, d.config.heartbeat_ms);
    assert_int_equal(d.beats, 1);
    assert_true(d.full);
    driver_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_have_work),
        cmocka_unit_test(test_all_three_have_work),
        cmocka_unit_test(test_one_has_work),
        cmocka_unit_test(test_a_job_gets_the_next_slot),
        cmocka_unit_test(test_no_slot_waits_for_jobs_that_are_not_asked_for),
        cmocka_unit_test(test_silence_fences_jobs_too),
        cmocka_unit_test(test_messages_do_not_wait_for_a_full_worker),
        cmocka_unit_test(test_messages_wait_where_all_are_busy),
        cmocka_unit_test(test_a_worker_that_stops_leaves_its_lanes),
        cmocka_unit_test(test_messages_of_a_lone_worker_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
