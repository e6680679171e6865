/* Expiry and eviction: a claim that ends without its worker, and what that does to its messages. */
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* covers: M55 M43 M45 M46 W33 B2.7 */
static void InstanceCrashes_MessagesReclaimedAfterLeaseExpiry(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, stream_on(c, 0, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, held), "1 2");
    /* The owner counts as live for long yet: that its lease on the messages is over is enough to lose them.
     */
    advance(c, LEASE_MS - 1);
    beat(c, 2);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0); /* a claim looks at its own lanes only */
    assert_true(uuid_equal(lanes_listed(c, KIND_OUTBOX).rows[0].owner, instance_id(1)));
    beat(c, 2); /* this call ends the claim and takes the lane */
    assert_true(uuid_equal(lanes_listed(c, KIND_OUTBOX).rows[0].owner, instance_id(2)));
    struct item_list again = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_true(again.items[0].token > held.items[0].token);
    assert_int_equal(again.items[0].lease_until_ms, c->now_ms + LEASE_MS);
    assert_int_equal(again.items[0].deaths, 1);
    assert_int_equal(again.items[0].attempt, 2);
    assert_true(uuid_equal(row_of(c, 1).claimed_by, instance_id(2)));
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE); /* the crashed one comes back too late */
    complete_all(c, 2, again);
    struct item_list second = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, second), "2");
    complete_all(c, 2, second);
}

static void an_owner_takes_its_own_expired_claims_back_and_keeps_the_lane(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    assert_int_equal(complete(c, 1, &again.items[0]), ANSWER_APPLIED);
}

static void suspects_run_alone_and_one_at_a_time(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 3; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 0, n));
    put(c, KIND_OUTBOX, 9, stream_on(c, 1, 0));
    assert_string_equal(numbers_sorted(c, claim(c, 1, KIND_OUTBOX, 10)), "1 2 3 9");
    advance(c, LEASE_MS);
    for (int n = 0; n < 4; n++) {
        struct item_list alone = claim(c, 1, KIND_OUTBOX, 10);
        assert_int_equal(alone.count, 1);
        assert_int_equal(alone.items[0].deaths, 1);
        advance(c, 1000);
        assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* it has a suspect already */
        complete_all(c, 1, alone);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).done, 4);
}

static void another_instance_may_run_a_suspect_beside_it(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    for (int round = 0; round < 2; round++) {
        beat(c, 1);
        beat(c, 2);
    }
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, c->lanes - 1, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    claim(c, 2, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10); /* ends both claims; the lane of the other becomes free */
    beat(c, 2);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "2");
    assert_int_equal(row_of(c, 1).state, STATE_LEASED);
    assert_int_equal(row_of(c, 2).state, STATE_LEASED);
}

static void healthy_work_goes_on_beside_a_suspect(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    put(c, KIND_OUTBOX, 2, stream_on(c, 4, 0));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers_sorted(c, list), "1 2");
    assert_true(list.items[0].token != list.items[1].token);
}

/* A message that kills its worker ends as a dead letter; what was claimed with it does not. */
/* covers: B2.8 */
static void a_message_that_kills_its_worker_is_dead_lettered_and_its_mates_complete(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 5; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 0, n));
    int killed = 0;
    for (int round = 0; round < 60 && counted(c, KIND_OUTBOX).done + counted(c, KIND_OUTBOX).dead < 5;
         round++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
        bool poisoned = false;
        for (size_t i = 0; i < list.count; i++)
            poisoned = poisoned || id_number(list.items[i].id) == 3;
        if (poisoned) {
            killed++;
            advance(c, LEASE_MS); /* the worker is gone, with all it held */
        } else {
            complete_all(c, 1, list);
            advance(c, 1000);
        }
    }
    assert_int_equal(killed, 5);
    struct message_row row = row_of(c, 3);
    assert_int_equal(row.state, STATE_DEAD);
    assert_int_equal(row.reason, DEAD_KILLED);
    assert_int_equal(row.item.deaths, 5);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 4);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 1);
}

static void deaths_and_attempts_count_together(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.max_attempts = 3;
    struct item_list list = claim_with(c, in);
    assert_int_equal(fail_item(c, 1, &list.items[0], 0), ANSWER_APPLIED);
    list = claim_with(c, in);
    assert_int_equal(list.items[0].attempt, 2);
    advance(c, LEASE_MS);
    list = claim_with(c, in);
    assert_int_equal(list.items[0].attempt, 3);
    assert_int_equal(list.items[0].deaths, 1);
    struct fail_answer last = fail_with(c, 1, KIND_OUTBOX, failure_of(&list.items[0], "no", 0));
    assert_int_equal(last.outcome, FAIL_DEAD);
    assert_int_equal(row_of(c, 1).reason, DEAD_ATTEMPTS);
    assert_int_equal(row_of(c, 1).attempts, 2);
    assert_int_equal(row_of(c, 1).item.deaths, 1);
}

/* What is behind an unfinished message was in the same hands: the worker may have died of it. */
static void successors_in_another_part_die_with_the_one_before_them(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(renew_item(c, 1, &held.items[1], 2 * LEASE_MS), ANSWER_APPLIED);
    advance(c, LEASE_MS);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_STALE);
    struct message_row row = row_of(c, 2);
    assert_int_equal(row.item.deaths, 1);
    assert_int_equal(row.reason, ASIDE_EXPIRED);
    assert_int_equal(row.state, STATE_BLOCKED);
    complete_all(c, 1, again);
    struct item_list last = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, last), "2");
    assert_int_equal(last.items[0].attempt, 2);
}

/* The stream 1 2 3 4 under one claim, with 2 and 4 in a part of their own; then its worker is put out. */
static void evict_with_a_split_stream(struct conf *c, enum dead_policy policy, int max_attempts) {
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 4, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.policy = policy;
    in.max_attempts = max_attempts;
    struct item_list held = claim_with(c, in);
    struct item_ref two[] = {{held.items[1].token, held.items[1].id},
                             {held.items[3].token, held.items[3].id}};
    struct messages_renew renew = {instance_id(1), KIND_OUTBOX, two, 2, 2 * LEASE_MS};
    struct answer_list answers = {0};
    ok(c, c->core->messages_renew(c->store, &renew, c->arena, &answers, &c->err));
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    for (size_t i = 0; i < held.count; i++)
        assert_int_equal(complete(c, 1, &held.items[i]), ANSWER_STALE);
}

/* covers: B2.8 */
static void eviction_counts_one_death_for_every_part_of_a_stream(void **state) {
    struct conf *c = *state;
    evict_with_a_split_stream(c, POLICY_SKIP, 3);
    for (int n = 1; n <= 4; n++) {
        assert_int_equal(row_of(c, n).item.deaths, 1);
        assert_int_equal(row_of(c, n).reason, ASIDE_EXPIRED);
    }
    join(c, 2, OUTBOX_BIT);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "1");
}

static void the_limit_holds_in_every_part_of_a_stream(void **state) {
    struct conf *c = *state;
    evict_with_a_split_stream(c, POLICY_SKIP, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 4);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 0);
    for (int n = 1; n <= 4; n++)
        assert_int_equal(row_of(c, n).reason, DEAD_KILLED);
}

static void a_stream_that_is_blocked_by_a_death_keeps_the_deaths_of_all_parts(void **state) {
    struct conf *c = *state;
    evict_with_a_split_stream(c, POLICY_BLOCK, 1);
    assert_int_equal(row_of(c, 1).reason, DEAD_KILLED);
    for (int n = 2; n <= 4; n++) {
        assert_int_equal(row_of(c, n).state, STATE_BLOCKED);
        assert_int_equal(row_of(c, n).item.deaths, 1);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 3);
}

static void a_stream_that_is_parked_by_a_death_takes_all_parts_along(void **state) {
    struct conf *c = *state;
    evict_with_a_split_stream(c, POLICY_PARK, 1);
    assert_int_equal(row_of(c, 1).reason, DEAD_KILLED);
    for (int n = 2; n <= 4; n++)
        assert_int_equal(row_of(c, n).reason, DEAD_PARKED);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 4);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 0);
}

/* Under skip a stream goes on behind a dead letter: what somebody still holds stays with him. */
static void behind_a_death_under_skip_another_part_goes_on(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.policy = POLICY_SKIP;
    in.max_attempts = 1;
    struct item_list held = claim_with(c, in);
    assert_int_equal(renew_item(c, 1, &held.items[1], 2 * LEASE_MS), ANSWER_APPLIED);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(row_of(c, 1).reason, DEAD_KILLED);
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED);
}

/* covers: B3.8 */
static void what_was_done_before_the_claim_expired_stays_a_duplicate(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_APPLIED);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_DUPLICATE);
    assert_int_equal(complete(c, 1, item_of(c, held, 2)), ANSWER_STALE);
}

static void eviction_ends_claims_like_expiry_but_at_once(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    for (size_t i = 0; i < held.count; i++) {
        assert_int_equal(complete(c, 1, &held.items[i]), ANSWER_STALE);
        assert_int_equal(renew_item(c, 1, &held.items[i], LEASE_MS), ANSWER_STALE);
        assert_int_equal(row_of(c, id_number(held.items[i].id)).item.deaths, 1);
    }
    join(c, 2, OUTBOX_BIT);
    static const char *const turns[] = {"1", "2", "3"};
    for (int i = 0; i < 3; i++) {
        struct item_list list = claim(c, 2, KIND_OUTBOX, 10);
        assert_string_equal(numbers(c, list), turns[i]);
        complete_all(c, 2, list);
    }
}

static void a_suspect_in_the_middle_of_a_stream_stops_the_grant_before_it(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    /* 2 is split off with a short lease and dies; 1 and 3 are released untouched. */
    assert_int_equal(renew_item(c, 1, &held.items[1], 1000), ANSWER_APPLIED);
    advance(c, 1000);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(row_of(c, 2).item.deaths, 1);
    assert_int_equal(release_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1");
    complete_all(c, 1, first);
    struct item_list suspect = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, suspect), "2");
    complete_all(c, 1, suspect);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "3");
}

/* Claims 1 and 2 of one stream with a limit of one attempt under the policy, and lets the lease run out. */
static void die_by_expiry(struct conf *c, enum dead_policy policy) {
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.policy = policy;
    in.max_attempts = 1;
    assert_int_equal(claim_with(c, in).count, 2);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(row_of(c, 1).state, STATE_DEAD);
    assert_int_equal(row_of(c, 1).reason, DEAD_KILLED);
}

static void the_policy_holds_for_a_death_by_expiry_too(void **state) {
    struct conf *c = *state;
    die_by_expiry(c, POLICY_BLOCK);
    assert_int_equal(row_of(c, 2).state, STATE_BLOCKED);
    assert_int_equal(row_of(c, 2).reason, ASIDE_EXPIRED);
    assert_int_equal(row_of(c, 2).item.deaths, 1);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
}

static void a_death_by_expiry_parks_the_rest_of_the_stream(void **state) {
    struct conf *c = *state;
    die_by_expiry(c, POLICY_PARK);
    assert_int_equal(row_of(c, 2).state, STATE_DEAD);
    assert_int_equal(row_of(c, 2).reason, DEAD_PARKED);
}

static void a_death_by_expiry_under_skip_lets_the_others_die_on_their_own(void **state) {
    struct conf *c = *state;
    die_by_expiry(c, POLICY_SKIP);
    assert_int_equal(row_of(c, 2).state, STATE_DEAD);
    assert_int_equal(row_of(c, 2).reason, DEAD_KILLED);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(InstanceCrashes_MessagesReclaimedAfterLeaseExpiry),
    CONF_TEST(an_owner_takes_its_own_expired_claims_back_and_keeps_the_lane),
    CONF_TEST(suspects_run_alone_and_one_at_a_time),
    CONF_TEST(another_instance_may_run_a_suspect_beside_it),
    CONF_TEST(healthy_work_goes_on_beside_a_suspect),
    CONF_TEST(a_message_that_kills_its_worker_is_dead_lettered_and_its_mates_complete),
    CONF_TEST(deaths_and_attempts_count_together),
    CONF_TEST(successors_in_another_part_die_with_the_one_before_them),
    CONF_TEST(eviction_counts_one_death_for_every_part_of_a_stream),
    CONF_TEST(the_limit_holds_in_every_part_of_a_stream),
    CONF_TEST(a_stream_that_is_blocked_by_a_death_keeps_the_deaths_of_all_parts),
    CONF_TEST(a_stream_that_is_parked_by_a_death_takes_all_parts_along),
    CONF_TEST(behind_a_death_under_skip_another_part_goes_on),
    CONF_TEST(what_was_done_before_the_claim_expired_stays_a_duplicate),
    CONF_TEST(eviction_ends_claims_like_expiry_but_at_once),
    CONF_TEST(a_suspect_in_the_middle_of_a_stream_stops_the_grant_before_it),
    CONF_TEST(the_policy_holds_for_a_death_by_expiry_too),
    CONF_TEST(a_death_by_expiry_parks_the_rest_of_the_stream),
    CONF_TEST(a_death_by_expiry_under_skip_lets_the_others_die_on_their_own),
};

CONF_GROUP(expiry, tests);
