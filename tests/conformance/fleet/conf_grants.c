/* Settling grants: those their holder does not know of are given back at once, the others are not. */
#include "conformance/events/event_words.h"
#include "conformance/harness.h"
#include "conformance/harness_jobs.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

static struct grants_settled settle_(struct conf *c, struct grants_settle in) {
    struct grants_settled out = {0};
    in.instance = uuid_is_nil(in.instance) ? instance_id(1) : in.instance;
    expect_status_(c, PAWL_OK, c->core->grants_settle(c->store, &in, &out, &c->err), "grants_settle");
    return out;
}
#define settle(c, ...) (conf_at(c, __FILE__, __LINE__), settle_(c, (struct grants_settle){__VA_ARGS__}))

static struct grant_held held_of(const struct item *item) {
    return (struct grant_held){item->token, item->seq};
}

/* covers: BX.7 */
static void what_its_holder_does_not_know_goes_back_without_an_attempt(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 1, 0));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.count, 2);
    struct grant_held known = held_of(item_of(c, list, 2));
    int64_t newest = list.items[0].token > list.items[1].token ? list.items[0].token : list.items[1].token;

    /* Above what is settled an answer may still be on its way. */
    struct grants_settled out = settle(c, .side = GRANTS_MESSAGES, .settled = item_of(c, list, 1)->token - 1);
    assert_int_equal(out.released, 0);
    assert_int_equal(out.newest, newest);

    out = settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .settled = newest);
    assert_int_equal(out.released, 1);
    assert_int_equal(out.newest, known.token);
    assert_int_equal(row_of(c, 1).state, STATE_SCHEDULED);
    assert_int_equal(row_of(c, 2).state, STATE_LEASED);
    assert_int_equal(
        settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .settled = newest).released, 0);

    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(again.items[0].attempt, 1);
    assert_int_equal(again.items[0].deaths, 0);
    complete_all(c, 1, again);
    assert_int_equal(complete(c, 1, item_of(c, list, 2)), ANSWER_APPLIED);
    assert_int_equal(settle(c, .side = GRANTS_MESSAGES, .settled = newest).newest, 0);
}

/* A report of the first was undone by a failover: its owner knows only the rest of the claim. */
static void of_a_claim_only_what_is_missing_goes_back(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.items[0].token, list.items[1].token);
    struct grant_held known = held_of(item_of(c, list, 2));
    assert_int_equal(
        settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .settled = known.token).released, 1);
    assert_int_equal(complete(c, 1, item_of(c, list, 2)), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    complete_all(c, 1, again);
}

static void what_others_were_granted_is_left_alone(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    join(c, 2, OUTBOX_BIT);
    assert_int_equal(
        settle(c, .instance = instance_id(2), .side = GRANTS_MESSAGES, .settled = INT64_MAX >> 1).released,
        0);
    complete_all(c, 1, list);
    struct grants_settled out;
    struct grants_settle in = {.instance = instance_id(3), .side = GRANTS_MESSAGES};
    expect(c, PAWL_STALE, c->core->grants_settle(c->store, &in, &out, &c->err));
    ok(c, c->core->instance_evict(c->store, instance_id(2), &c->err));
    in.instance = instance_id(2);
    expect(c, PAWL_STALE, c->core->grants_settle(c->store, &in, &out, &c->err));
    in = (struct grants_settle){.instance = instance_id(1), .side = (enum grant_side)7};
    expect(c, PAWL_INVALID, c->core->grants_settle(c->store, &in, &out, &c->err));
}

static void a_job_that_its_holder_does_not_know_goes_back_without_an_attempt(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t first = add(c, job_typed("a"));
    int64_t second = add(c, job_typed("b"));
    struct job_list jobs = take(c, 1, 10);
    assert_int_equal(jobs.count, 2);
    struct grant_held known = {jobs.jobs[1].token, second};
    struct grants_settled out =
        settle(c, .side = GRANTS_JOBS, .held = &known, .count = 1, .settled = known.token - 1);
    assert_int_equal(out.released, 0);
    assert_int_equal(out.newest, known.token);
    out = settle(c, .side = GRANTS_JOBS, .held = &known, .count = 1, .settled = known.token);
    assert_int_equal(out.released, 1);
    assert_int_equal(job_row_of(c, first).state, JOB_READY);
    assert_int_equal(job_row_of(c, second).state, JOB_RUNNING);
    struct job_list again = take(c, 1, 10);
    assert_string_equal(types(c, again), "a");
    assert_int_equal(again.jobs[0].attempts, 1);
    assert_int_equal(job_done(c, 1, &again.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(job_done(c, 1, &jobs.jobs[1]), ANSWER_APPLIED);
    assert_int_equal(settle(c, .side = GRANTS_JOBS, .settled = known.token).newest, 0);
}

/* An instance has seen a token that this store never issued: the store lost commits. */
static void a_token_that_was_never_given_raises_the_epoch(void **state) {
    struct conf *c = *state;
    struct settings settings;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    struct grant_held known = held_of(&list.items[0]);
    int64_t epoch = known.token >> 40;
    assert_int_equal(
        settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .seen = known.token).epoch, epoch);
    int64_t seen = known.token + 1000;
    assert_int_equal(settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .seen = seen).epoch,
                     epoch + 1);
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    assert_int_equal(settings.epoch, epoch + 1);
    assert_int_equal(settings.epoch_cause, EPOCH_WENT_BACK);
    assert_int_equal(settings.epoch_ms, c->now_ms);
    assert_int_equal(settle(c, .side = GRANTS_MESSAGES, .held = &known, .count = 1, .seen = seen).epoch,
                     epoch + 1);
    put(c, KIND_OUTBOX, 2, stream_on(c, (lane_of_stream(c, STR("a")) + 1) % c->lanes, 0));
    struct item_list fresh = claim(c, 1, KIND_OUTBOX, 10);
    assert_true(fresh.items[0].token > seen);
    assert_int_equal(complete(c, 1, &list.items[0]), ANSWER_APPLIED); /* what is held stays held */
    struct grants_settle far = {
        .instance = instance_id(1), .side = GRANTS_MESSAGES, .seen = (epoch + 5000) << 40};
    struct grants_settled out;
    expect(c, PAWL_INVALID, c->core->grants_settle(c->store, &far, &out, &c->err));
    expect_error(c, "is no token of this store");
    complete_all(c, 1, fresh);
}

static void a_checkpoint_that_its_holder_does_not_know_is_due_at_once(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 1, 1);
    struct checkpoint_grants got = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(got.count, 1);
    struct grant_held known = {got.grants[0].token, 0};
    struct grants_settled out =
        settle(c, .side = GRANTS_CHECKPOINTS, .held = &known, .count = 1, .settled = known.token);
    assert_int_equal(out.released, 0);
    assert_int_equal(out.newest, known.token);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0);
    assert_int_equal(settle(c, .side = GRANTS_CHECKPOINTS, .settled = known.token - 1).released, 0);
    out = settle(c, .side = GRANTS_CHECKPOINTS, .settled = known.token);
    assert_int_equal(out.released, 1);
    assert_int_equal(out.newest, 0);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(what_its_holder_does_not_know_goes_back_without_an_attempt),
    CONF_TEST(of_a_claim_only_what_is_missing_goes_back),
    CONF_TEST(what_others_were_granted_is_left_alone),
    CONF_TEST(a_job_that_its_holder_does_not_know_goes_back_without_an_attempt),
    CONF_TEST(a_token_that_was_never_given_raises_the_epoch),
    CONF_TEST(a_checkpoint_that_its_holder_does_not_know_is_due_at_once),
};

CONF_GROUP(grants, tests);
