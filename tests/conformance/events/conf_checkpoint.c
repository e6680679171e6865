/* Checkpoint reports: fenced by the token and the instance of the grant; forward only. */
#include "conformance/events/event_words.h"

static struct checkpoint_grant granted(struct conf *c, int n, const char *stream) {
    struct checkpoint_grants list = grants(c, n, stream, "orders@1", NULL);
    assert_int_equal(list.count, 1);
    return list.grants[0];
}

/* Instances 1 and 2, and a stream of three events that orders@1 gets. */
static void begin(struct conf *c) {
    join(c, 1, KIND_BITS_ALL);
    join(c, 2, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 3, 1);
}

static enum store_answer report(struct conf *c, int n, struct checkpoint_report one) {
    struct answer_list answers;
    struct checkpoints_report in = {n > 0 ? instance_id(n) : uuid_nil(), &one, 1};
    ok(c, c->core->checkpoints_report(c->store, &in, c->arena, &answers, &c->err));
    assert_int_equal(answers.count, 1);
    return answers.answers[0];
}

static struct checkpoint_report at(const char *stream, const char *key, int64_t version, int64_t token) {
    return (struct checkpoint_report){.stream = str_from(stream),
                                      .perspective = str_from(key),
                                      .version = version,
                                      .token = token,
                                      .status = CHECKPOINT_COMPLETED};
}

/* covers: W28 W10 P50 */
static void a_report_moves_only_the_checkpoint(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    struct instance_row before = instance_row(c, 1);
    advance(c, 5000);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_APPLIED);
    struct checkpoint_row row;
    ok(c, c->view->checkpoint_get(c->store, STR("order-1"), STR("orders@1"), c->arena, &row, &c->err));
    assert_int_equal(row.version, 3);
    assert_int_equal(row.token, grant.token);
    assert_int_equal(row.status, CHECKPOINT_COMPLETED);
    assert_int_equal(row.updated_ms, c->now_ms);
    assert_true(str_absent(row.error));
    struct instance_row after = instance_row(c, 1);
    assert_int_equal(after.beat_ms, before.beat_ms); /* no heartbeat */
    assert_int_equal(after.lease_until_ms, before.lease_until_ms);
    assert_int_equal(counted(c, KIND_PERSPECTIVE).claims_active, 0); /* no claim */
}

/* covers: W28 BX.7 B0.5 */
static void a_report_without_the_grant_changes_nothing(void **state) {
    struct conf *c = *state;
    begin(c);
    /* Nothing was granted yet. */
    assert_int_equal(report(c, 1, at("order-1", "orders@1", 3, 0)), ANSWER_STALE);
    assert_int_equal(report(c, 1, at("order-1", "orders@1", 3, INT64_MAX)), ANSWER_STALE);
    assert_int_equal(report(c, 0, at("order-1", "orders@1", 0, 0)), ANSWER_STALE);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    const char *before = state_text(c);
    assert_int_equal(report(c, 1, at("order-1", "orders@1", 3, 0)), ANSWER_STALE);
    assert_int_equal(report(c, 1, at("order-1", "orders@1", 3, grant.token - 1)), ANSWER_STALE);
    assert_int_equal(report(c, 1, at("order-1", "orders@1", 3, grant.token + 1)), ANSWER_STALE);
    assert_int_equal(report(c, 2, at("order-1", "orders@1", 3, grant.token)), ANSWER_STALE);
    assert_int_equal(report(c, 9, at("order-1", "orders@1", 3, grant.token)), ANSWER_STALE);
    assert_int_equal(report(c, 0, at("order-1", "orders@1", 3, grant.token)), ANSWER_STALE);
    struct checkpoint_ref ref = {grant.stream, grant.perspective, grant.token};
    struct checkpoints_renew renew = {instance_id(2), &ref, 1, LEASE_MS};
    struct answer_list answers;
    ok(c, EVENTS(c)->checkpoints_renew(c->store, &renew, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_STALE);
    assert_string_equal(state_text(c), before);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_APPLIED);
    /* Completed by nobody's grant: the token is over with it. */
    append(c, "order-1", EXPECT_ANY, "Created", 1, 4);
    assert_int_equal(report_at(c, &grant, 4, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").version, 3);
}

/* covers: W28 BX.7 */
static void what_does_not_exist_is_not_found_and_is_not_made(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    assert_int_equal(report(c, 1, at("order-2", "orders@1", 1, grant.token)), ANSWER_NOT_FOUND);
    assert_int_equal(report(c, 1, at("order-1", "totals@1", 1, grant.token)), ANSWER_NOT_FOUND);
    assert_int_equal(report(c, 1, at("order-1", "orders", 1, grant.token)), ANSWER_NOT_FOUND);
    struct checkpoint_row row;
    expect(c, PAWL_NOT_FOUND,
           c->view->checkpoint_get(c->store, STR("order-2"), STR("orders@1"), c->arena, &row, &c->err));
    expect(c, PAWL_NOT_FOUND,
           c->view->checkpoint_get(c->store, STR("order-1"), STR("totals@1"), c->arena, &row, &c->err));
    /* One report of a call does not touch another. */
    struct checkpoint_report three[3] = {at("order-9", "orders@1", 1, grant.token),
                                         at("order-1", "orders@1", 2, grant.token),
                                         at("order-1", "orders@9", 1, grant.token)};
    struct answer_list answers;
    ok(c, c->core->checkpoints_report(c->store, &(struct checkpoints_report){instance_id(1), three, 3},
                                      c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_NOT_FOUND);
    assert_int_equal(answers.answers[1], ANSWER_APPLIED);
    assert_int_equal(answers.answers[2], ANSWER_NOT_FOUND);
}

static void it_moves_forward_only_and_not_beyond_the_stream(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    assert_int_equal(report_at(c, &grant, 2, CHECKPOINT_PROCESSING, NULL), ANSWER_APPLIED);
    assert_int_equal(report_at(c, &grant, 2, CHECKPOINT_PROCESSING, NULL), ANSWER_DUPLICATE);
    assert_int_equal(report_at(c, &grant, 1, CHECKPOINT_PROCESSING, NULL), ANSWER_STALE);
    assert_int_equal(report_at(c, &grant, 1, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    assert_int_equal(report_at(c, &grant, 4, CHECKPOINT_COMPLETED, NULL), ANSWER_CONFLICT);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").version, 2);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_APPLIED);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_DUPLICATE);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_FAILED, "late"), ANSWER_STALE);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_PROCESSING, NULL), ANSWER_STALE);
}

/* covers: W11 */
static void a_failure_is_counted_once_and_cleared_by_a_completion(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    assert_int_equal(report_at(c, &grant, 0, CHECKPOINT_FAILED, "no such order"), ANSWER_APPLIED);
    assert_int_equal(report_at(c, &grant, 0, CHECKPOINT_FAILED, "no such order"), ANSWER_DUPLICATE);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    struct checkpoint_view row = checkpoint_of(c, "order-1", "orders@1");
    assert_int_equal(row.status, CHECKPOINT_FAILED);
    assert_int_equal(row.attempts, 1);
    assert_int_equal(row.version, 0);
    assert_true(str_equal(row.error, STR("no such order")));
    advance(c, 1000);
    grant = granted(c, 1, NULL);
    assert_int_equal(grant.attempt, 2);
    assert_int_equal(report_at(c, &grant, 1, CHECKPOINT_PROCESSING, NULL), ANSWER_APPLIED);
    row = checkpoint_of(c, "order-1", "orders@1");
    assert_true(str_absent(row.error));
    assert_int_equal(row.attempts, 1);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_APPLIED);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").attempts, 0);
}

/* A stream that is put off is due then and not before, not even for a message that names it, and keeps its
 * attempts; a failure for good stops it at once. */
static void it_may_be_put_off_or_given_up(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    struct checkpoint_report put_off = at("order-1", "orders@1", 1, grant.token);
    put_off.status = CHECKPOINT_PENDING;
    put_off.delay_ms = 1000;
    assert_int_equal(report(c, 1, put_off), ANSWER_APPLIED);
    assert_int_equal(grants(c, 1, "order-1", "orders@1", NULL).count, 0);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").status, CHECKPOINT_PENDING);
    advance(c, 1000);
    grant = granted(c, 1, NULL);
    assert_int_equal(grant.attempt, 1);
    struct checkpoint_report given_up = at("order-1", "orders@1", 1, grant.token);
    given_up.status = CHECKPOINT_FAILED;
    given_up.error = STR("nothing can mend it");
    given_up.delay_ms = CHECKPOINT_GIVE_UP;
    assert_int_equal(report(c, 1, given_up), ANSWER_APPLIED);
    struct checkpoint_view row = checkpoint_of(c, "order-1", "orders@1");
    assert_true(row.stopped);
    assert_int_equal(row.attempts, 1);
}

/* covers: B0.5 */
static void who_is_evicted_or_has_left_holds_no_checkpoint(void **state) {
    struct conf *c = *state;
    begin(c);
    struct checkpoint_grant grant = granted(c, 1, "order-1");
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").status, CHECKPOINT_PENDING);
    assert_int_equal(report_at(c, &grant, 3, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    struct seen seen = {0};
    assert_int_equal(apply_one(c, "orders@1", grant.token, "order-1", 0, &seen).answer, ANSWER_STALE);
    assert_int_equal(granted(c, 2, NULL).version, 0);
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    join(c, 3, KIND_BITS_ALL);
    assert_int_equal(granted(c, 3, NULL).version, 0); /* before the lease is over */
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_report_moves_only_the_checkpoint),
    CONF_TEST(a_report_without_the_grant_changes_nothing),
    CONF_TEST(what_does_not_exist_is_not_found_and_is_not_made),
    CONF_TEST(it_moves_forward_only_and_not_beyond_the_stream),
    CONF_TEST(a_failure_is_counted_once_and_cleared_by_a_completion),
    CONF_TEST(it_may_be_put_off_or_given_up),
    CONF_TEST(who_is_evicted_or_has_left_holds_no_checkpoint),
};

CONF_GROUP(checkpoint, tests);
