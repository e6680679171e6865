/* Checkpoints: one per stream and perspective, forward only, by token. */
#include "conformance/harness.h"

static struct checkpoint_report at(int64_t version, int64_t token, enum checkpoint_status status) {
    return (struct checkpoint_report){.stream = STR("order-1"),
                                      .perspective = STR("totals"),
                                      .version = version,
                                      .token = token,
                                      .status = status};
}

static enum store_answer report(struct conf *c, struct checkpoint_report one) {
    struct answer_list answers;
    ok(c, c->core->checkpoints_report(c->store, &one, 1, c->arena, &answers, &c->err));
    assert_int_equal(answers.count, 1);
    return answers.answers[0];
}

static struct checkpoint_row stored(struct conf *c) {
    struct checkpoint_row row;
    ok(c, c->view->checkpoint_get(c->store, STR("order-1"), STR("totals"), c->arena, &row, &c->err));
    return row;
}

/* covers: W28 W10 P50 */
static void a_report_moves_only_the_checkpoint(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    put(c, KIND_PERSPECTIVE, 1, STR("order-1"));
    struct instance_row before = instance_row(c, 1);
    advance(c, 5000);
    assert_int_equal(report(c, at(3, 10, CHECKPOINT_COMPLETED)), ANSWER_APPLIED);
    struct checkpoint_row row = stored(c);
    assert_int_equal(row.version, 3);
    assert_int_equal(row.token, 10);
    assert_int_equal(row.status, CHECKPOINT_COMPLETED);
    assert_int_equal(row.updated_ms, c->now_ms);
    assert_true(str_absent(row.error));
    struct instance_row after = instance_row(c, 1);
    assert_int_equal(after.beat_ms, before.beat_ms); /* no heartbeat */
    assert_int_equal(after.lease_until_ms, before.lease_until_ms);
    assert_int_equal(counted(c, KIND_PERSPECTIVE).claims_active, 0); /* no claim */
}

/* covers: W28 BX.7 */
static void an_older_token_or_version_is_stale(void **state) {
    struct conf *c = *state;
    assert_int_equal(report(c, at(3, 10, CHECKPOINT_COMPLETED)), ANSWER_APPLIED);
    assert_int_equal(report(c, at(4, 9, CHECKPOINT_COMPLETED)), ANSWER_STALE);
    assert_int_equal(report(c, at(2, 10, CHECKPOINT_COMPLETED)), ANSWER_STALE);
    assert_int_equal(report(c, at(2, 11, CHECKPOINT_COMPLETED)), ANSWER_STALE);
    assert_int_equal(stored(c).version, 3);
    assert_int_equal(stored(c).token, 10);
    assert_int_equal(report(c, at(3, 10, CHECKPOINT_COMPLETED)), ANSWER_DUPLICATE);
    assert_int_equal(report(c, at(3, 11, CHECKPOINT_COMPLETED)), ANSWER_APPLIED);
    assert_int_equal(report(c, at(7, 11, CHECKPOINT_PROCESSING)), ANSWER_APPLIED);
    assert_int_equal(stored(c).version, 7);
}

/* covers: W11 */
static void a_failure_is_stored_counted_and_cleared_by_a_completion(void **state) {
    struct conf *c = *state;
    struct checkpoint_report failed = at(0, 1, CHECKPOINT_FAILED);
    failed.error = STR("no such order");
    assert_int_equal(report(c, failed), ANSWER_APPLIED);
    assert_int_equal(report(c, failed), ANSWER_APPLIED); /* a failure is never a duplicate */
    struct checkpoint_row row = stored(c);
    assert_int_equal(row.status, CHECKPOINT_FAILED);
    assert_int_equal(row.attempts, 2);
    assert_int_equal(row.version, 0);
    assert_true(str_equal(row.error, STR("no such order")));
    assert_int_equal(report(c, at(0, 1, CHECKPOINT_PROCESSING)), ANSWER_APPLIED);
    assert_true(str_absent(stored(c).error));
    assert_int_equal(stored(c).attempts, 2);
    assert_int_equal(report(c, at(1, 1, CHECKPOINT_COMPLETED)), ANSWER_APPLIED);
    assert_int_equal(stored(c).attempts, 0);
}

static void pairs_are_independent(void **state) {
    struct conf *c = *state;
    struct checkpoint_report reports[3] = {at(1, 5, CHECKPOINT_COMPLETED), at(1, 5, CHECKPOINT_COMPLETED),
                                           at(1, 1, CHECKPOINT_COMPLETED)};
    reports[1].perspective = STR("history");
    reports[2].stream = STR("order-2");
    struct answer_list answers;
    ok(c, c->core->checkpoints_report(c->store, reports, 3, c->arena, &answers, &c->err));
    for (int i = 0; i < 3; i++)
        assert_int_equal(answers.answers[i], ANSWER_APPLIED);
    struct checkpoint_row row;
    ok(c, c->view->checkpoint_get(c->store, STR("order-2"), STR("totals"), c->arena, &row, &c->err));
    assert_int_equal(row.token, 1);
    expect(c, PAWL_NOT_FOUND,
           c->view->checkpoint_get(c->store, STR("order-3"), STR("totals"), c->arena, &row, &c->err));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_report_moves_only_the_checkpoint),
    CONF_TEST(an_older_token_or_version_is_stale),
    CONF_TEST(a_failure_is_stored_counted_and_cleared_by_a_completion),
    CONF_TEST(pairs_are_independent),
};

CONF_GROUP(checkpoint, tests);
