/* Claims: who may claim, what is granted, the order of lanes, busy lanes. */
#include "conformance/harness.h"

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* covers: B2.6 */
static void only_a_live_instance_may_claim(void **state) {
    struct conf *c = *state;
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    struct item_list list;
    put(c, KIND_OUTBOX, 1, STR("a"));
    expect(c, PAWL_STALE, c->core->messages_claim(c->store, &in, c->arena, &list, &c->err));
    struct instance_new mortal = instance_named(1, OUTBOX_BIT);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    advance(c, 15000);
    expect(c, PAWL_STALE, c->core->messages_claim(c->store, &in, c->arena, &list, &c->err));
    beat(c, 1);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    expect(c, PAWL_STALE, c->core->messages_claim(c->store, &in, c->arena, &list, &c->err));
    assert_int_equal(row_of(c, 1).state, STATE_READY);
}

/* covers: M04 W19 W40 M44 */
static void a_grant_has_a_token_a_lease_and_the_first_attempt(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_int_equal(row_of(c, 1).state, STATE_READY);
    assert_true(uuid_is_nil(row_of(c, 1).claimed_by));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.count, 1);
    assert_int_equal(PAWL_LEASE_MS_DEFAULT, LEASE_MS);
    assert_int_equal(list.items[0].lease_until_ms, c->now_ms + 300000);
    assert_int_equal(list.items[0].attempt, 1);
    assert_int_equal(list.items[0].deaths, 0);
    assert_false(list.items[0].out_of_order);
    assert_true(list.items[0].token > 0);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.state, STATE_LEASED);
    assert_true(uuid_equal(row.claimed_by, instance_id(1)));
    assert_int_equal(row.item.token, list.items[0].token);
    assert_int_equal(row.item.lease_until_ms, c->now_ms + 300000);
}

static void a_claim_grants_at_most_what_was_asked_for(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 10, STR("a"));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 4);
    assert_string_equal(numbers(c, list), "1 2 3 4");
    complete_all(c, 1, list);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 100)), "5 6 7 8 9 10");
}

/* covers: M33 */
static void only_lanes_of_ones_own_are_read(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    for (int round = 0; round < 2; round++) {
        beat(c, 1);
        beat(c, 2);
    }
    put_range(c, KIND_OUTBOX, 1, 200, ABSENT);
    struct item_list first = claim(c, 1, KIND_OUTBOX, 200);
    struct item_list second = claim(c, 2, KIND_OUTBOX, 200);
    assert_int_equal(first.count + second.count, 200);
    struct lane_rows lanes = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < first.count; i++)
        assert_true(uuid_equal(lanes.rows[first.items[i].lane].owner, instance_id(1)));
    for (size_t i = 0; i < second.count; i++)
        assert_true(uuid_equal(lanes.rows[second.items[i].lane].owner, instance_id(2)));
}

/* covers: M59 W32 B3.1 */
static void ActiveLease_PreventsCrossInstanceStealing(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    join(c, 2, OUTBOX_BIT);
    for (int round = 0; round < 3; round++) {
        advance(c, 10000);
        beat(c, 1);
        beat(c, 2);
        assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    }
    /* Even with the right token, another instance cannot report. */
    assert_int_equal(complete(c, 2, &held.items[0]), ANSWER_STALE);
    assert_int_equal(fail_item(c, 2, &held.items[0], 0), ANSWER_STALE);
    assert_int_equal(release_item(c, 2, &held.items[0], 0), ANSWER_STALE);
    assert_int_equal(renew_item(c, 2, &held.items[0], LEASE_MS), ANSWER_STALE);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
}

/* covers: BX.7 */
static void every_claim_draws_a_token_above_all_earlier_ones(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    struct settings settings;
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    int64_t last = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++) {
        struct lane_rows lanes = lanes_listed(c, (enum store_kind)kind);
        for (size_t i = 0; i < lanes.count; i++)
            last = lanes.rows[i].token > last ? lanes.rows[i].token : last;
    }
    for (int n = 1; n <= 9; n++) {
        enum store_kind kind = (enum store_kind)(1 + n % 3);
        put(c, kind, n, STR("a"));
        struct item_list list = claim(c, 1, kind, 10);
        assert_int_equal(list.count, 1);
        assert_true(list.items[0].token > last);
        assert_int_equal(list.items[0].token >> 40, settings.epoch);
        last = list.items[0].token;
        assert_int_equal(lanes_listed(c, kind).rows[list.items[0].lane].token, last);
        complete_all(c, 1, list);
    }
}

static void lanes_take_turns(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, stream_on(c, 2, 0));
    put_range(c, KIND_OUTBOX, 11, 13, stream_on(c, 5, 0));
    static const char *const turns[] = {"1", "11", "2", "12", "3", "13", ""};
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 1);
        assert_string_equal(numbers(c, list), turns[i]);
        complete_all(c, 1, list);
    }
}

static void a_lane_with_a_claim_is_passed_over_for_a_second(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 3, 0));
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    put(c, KIND_OUTBOX, 2, stream_on(c, 3, 1));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, 999);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    struct item_list second = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, second), "2");
    assert_true(second.items[0].token > first.items[0].token);
    complete_all(c, 1, first);
    complete_all(c, 1, second);
}

static void a_message_whose_stream_is_in_flight_waits_aside(void **state) {
    struct conf *c = *state;
    pawl_str slow = stream_on(c, 3, 0);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, slow);
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    put(c, KIND_OUTBOX, 2, slow);
    put(c, KIND_OUTBOX, 3, stream_on(c, 3, 1));
    advance(c, 1000);
    struct item_list other = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, other), "3");
    assert_int_equal(row_of(c, 2).reason, ASIDE_BEHIND);
    advance(c, 5000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* 1 is still in flight */
    complete_all(c, 1, other);
    complete_all(c, 1, first);
    struct item_list after = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, after), "2");
    assert_int_equal(after.items[0].attempt, 1);
}

static void messages_moved_aside_count_against_the_number_wanted(void **state) {
    struct conf *c = *state;
    pawl_str slow = stream_on(c, 3, 0);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, slow);
    claim(c, 1, KIND_OUTBOX, 10);
    put_range(c, KIND_OUTBOX, 2, 4, slow);
    put(c, KIND_OUTBOX, 5, stream_on(c, 3, 1));
    advance(c, 1000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 3).count, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 3);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 3)), "5");
}

static void held_streams_come_before_messages_of_the_lane(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 3, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 3, 1));
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1 2");
    assert_int_equal(fail_item(c, 1, item_of(c, first, 2), 100), ANSWER_APPLIED);
    assert_int_equal(fail_item(c, 1, item_of(c, first, 1), 200), ANSWER_APPLIED);
    put(c, KIND_OUTBOX, 3, stream_on(c, 3, 2));
    advance(c, 200);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers_sorted(c, held), "1 2");
    assert_int_equal(held.items[0].token, held.items[1].token); /* one claim of source aside */
    complete_all(c, 1, held);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "3");
}

static void holds_are_taken_in_the_order_they_fell_due(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 3; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 3, n));
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_item(c, 1, item_of(c, first, 1), 300), ANSWER_APPLIED);
    assert_int_equal(fail_item(c, 1, item_of(c, first, 2), 100), ANSWER_APPLIED);
    assert_int_equal(fail_item(c, 1, item_of(c, first, 3), 200), ANSWER_APPLIED);
    advance(c, 1000);
    static const char *const turns[] = {"2", "3", "1"};
    for (int i = 0; i < 3; i++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 1);
        assert_string_equal(numbers(c, list), turns[i]);
        complete_all(c, 1, list);
    }
}

/* covers: B3.8 */
static void a_claim_sent_again_with_its_request_returns_the_same_claim(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 5, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 2);
    in.request = request_id(1);
    struct item_list first = claim_with(c, in);
    assert_string_equal(numbers(c, first), "1 2");
    struct item_list again = claim_with(c, in);
    assert_string_equal(numbers(c, again), "1 2");
    assert_int_equal(again.items[0].token, first.items[0].token);
    assert_int_equal(again.items[1].lease_until_ms, first.items[1].lease_until_ms);
    assert_true(str_equal(again.items[0].payload, STR("{\"n\":1}")));
    assert_int_equal(complete(c, 1, &first.items[0]), ANSWER_APPLIED);
    assert_string_equal(numbers(c, claim_with(c, in)), "2");
    assert_int_equal(complete(c, 1, &first.items[1]), ANSWER_APPLIED);
    assert_int_equal(claim_with(c, in).count, 0); /* nothing new under an old key */
    in.request = request_id(2);
    assert_string_equal(numbers(c, claim_with(c, in)), "3 4");
}

static void a_claim_over_several_lanes_under_one_request_comes_back_whole(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int lane = 0; lane < 4; lane++)
        put(c, KIND_OUTBOX, lane + 1, stream_on(c, lane, 0));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.request = request_id(1);
    assert_string_equal(numbers_sorted(c, claim_with(c, in)), "1 2 3 4");
    assert_string_equal(numbers_sorted(c, claim_with(c, in)), "1 2 3 4");
}

static void a_request_whose_claim_expired_gives_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 2);
    in.request = request_id(1);
    assert_int_equal(claim_with(c, in).count, 1);
    advance(c, LEASE_MS);
    struct item_list taken_back = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, taken_back), "1");
    assert_int_equal(claim_with(c, in).count, 0);
    complete_all(c, 1, taken_back);
}

static struct messages_claim claim_of_lane(int instance, int lane) {
    struct messages_claim in = claim_of(instance, KIND_OUTBOX, 10);
    in.one_lane = true;
    in.lane = lane;
    return in;
}

/* A worker with free slots does not wait for its own handlers: it reads up to what is in flight. */
static void free_slots_are_not_left_idle_by_a_busy_lane(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, OUTBOX_BIT);
    in.slots = 3;
    join_with(c, in);
    put(c, KIND_OUTBOX, 1, stream_on(c, 3, 0));
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    put(c, KIND_OUTBOX, 2, stream_on(c, 3, 1));
    put(c, KIND_OUTBOX, 3, stream_on(c, 3, 0));
    put(c, KIND_OUTBOX, 4, stream_on(c, 3, 2));
    struct item_list second = claim_with(c, claim_of_lane(1, 3));
    assert_string_equal(numbers(c, second), "2");
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* 4 is after a message of the first stream */
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 0);
    complete_all(c, 1, first);
    struct item_list third = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, third), "3 4");
    /* All three slots are taken: now the lane is busy. */
    put(c, KIND_OUTBOX, 5, stream_on(c, 3, 4));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    /* Other lanes come first. */
    complete_all(c, 1, second);
    put(c, KIND_OUTBOX, 6, stream_on(c, 2, 0));
    struct item_list fourth = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, fourth), "6");
    complete_all(c, 1, fourth);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "5");
    complete_all(c, 1, third);
}

static void a_claim_of_one_lane_leaves_the_others(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int lane = 0; lane < 3; lane++)
        put(c, KIND_OUTBOX, lane + 1, stream_on(c, lane, 0));
    assert_string_equal(numbers(c, claim_with(c, claim_of_lane(1, 1))), "2");
    assert_int_equal(claim_with(c, claim_of_lane(1, 1)).count, 0); /* it is in flight */
    assert_int_equal(claim_with(c, claim_of_lane(1, 99999)).count, 0);
    assert_string_equal(numbers_sorted(c, claim(c, 1, KIND_OUTBOX, 10)), "1 3");
}

static void a_claim_of_one_lane_sees_what_a_claim_of_all_would_see_there(void **state) {
    struct conf *c = *state;
    pawl_str slow = stream_on(c, 3, 0), other = stream_on(c, 3, 1);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, slow);
    struct item_list held = claim_with(c, claim_of_lane(1, 3));
    put(c, KIND_OUTBOX, 2, slow);
    put(c, KIND_OUTBOX, 3, other);
    assert_int_equal(claim_with(c, claim_of_lane(1, 3)).count, 0); /* busy */
    advance(c, 1000);
    assert_string_equal(numbers(c, claim_with(c, claim_of_lane(1, 3))), "3"); /* beside the slow one */
    assert_int_equal(fail_item(c, 1, &held.items[0], 500), ANSWER_APPLIED);
    advance(c, 500);
    advance(c, 1000);
    assert_string_equal(numbers(c, claim_with(c, claim_of_lane(1, 3))), "1 2");
}

static void a_claim_of_one_lane_ends_nothing_that_is_over(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 3, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 4, 0));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 2);
    advance(c, LEASE_MS);
    assert_int_equal(claim_with(c, claim_of_lane(1, 3)).count, 0);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1"); /* who died is tried alone */
}

static void a_claim_of_somebody_elses_lane_gives_nothing_and_uses_no_key(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, KIND_BIT(KIND_INBOX));
    put(c, KIND_OUTBOX, 1, stream_on(c, 5, 0));
    struct messages_claim in = claim_of_lane(2, 5);
    in.request = request_id(1);
    const char *before = state_text(c);
    assert_int_equal(claim_with(c, in).count, 0);
    assert_string_equal(state_text(c), before);
    in.instance = instance_id(1);
    struct item_list first = claim_with(c, in);
    assert_string_equal(numbers(c, first), "1");
    struct item_list again = claim_with(c, in); /* the key is used now */
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(again.items[0].token, first.items[0].token);
    in = claim_of(1, KIND_OUTBOX, 10);
    in.lane = 5; /* without one_lane */
    struct item_list none;
    expect(c, PAWL_INVALID, c->core->messages_claim(c->store, &in, c->arena, &none, &c->err));
}

static void an_empty_store_grants_nothing_and_stays_as_it_is(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    const char *before = state_text(c);
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++)
        assert_int_equal(claim(c, 1, (enum store_kind)kind, 100).count, 0);
    assert_string_equal(state_text(c), before);
}

static void no_grant_no_token(void **state) {
    struct conf *c = *state;
    pawl_str slow = stream_on(c, 3, 0);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, slow);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    put(c, KIND_OUTBOX, 2, slow);
    advance(c, 1000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* 2 was only set aside */
    assert_int_equal(lanes_listed(c, KIND_OUTBOX).rows[3].token, held.items[0].token);
    assert_int_equal(row_of(c, 2).reason, ASIDE_BEHIND);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(only_a_live_instance_may_claim),
    CONF_TEST(a_grant_has_a_token_a_lease_and_the_first_attempt),
    CONF_TEST(a_claim_grants_at_most_what_was_asked_for),
    CONF_TEST(only_lanes_of_ones_own_are_read),
    CONF_TEST(ActiveLease_PreventsCrossInstanceStealing),
    CONF_TEST(every_claim_draws_a_token_above_all_earlier_ones),
    CONF_TEST(lanes_take_turns),
    CONF_TEST(a_lane_with_a_claim_is_passed_over_for_a_second),
    CONF_TEST(a_message_whose_stream_is_in_flight_waits_aside),
    CONF_TEST(free_slots_are_not_left_idle_by_a_busy_lane),
    CONF_TEST(messages_moved_aside_count_against_the_number_wanted),
    CONF_TEST(held_streams_come_before_messages_of_the_lane),
    CONF_TEST(holds_are_taken_in_the_order_they_fell_due),
    CONF_TEST(a_claim_sent_again_with_its_request_returns_the_same_claim),
    CONF_TEST(a_claim_over_several_lanes_under_one_request_comes_back_whole),
    CONF_TEST(a_request_whose_claim_expired_gives_nothing),
    CONF_TEST(a_claim_of_one_lane_leaves_the_others),
    CONF_TEST(a_claim_of_one_lane_sees_what_a_claim_of_all_would_see_there),
    CONF_TEST(a_claim_of_one_lane_ends_nothing_that_is_over),
    CONF_TEST(a_claim_of_somebody_elses_lane_gives_nothing_and_uses_no_key),
    CONF_TEST(an_empty_store_grants_nothing_and_stays_as_it_is),
    CONF_TEST(no_grant_no_token),
};

CONF_GROUP(claim, tests);
