/* Lanes: fair shares, rebalancing, and that nothing is taken from a live instance. */
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

static void beats(struct conf *c, int first, int last, int rounds) {
    for (int round = 0; round < rounds; round++) {
        for (int n = first; n <= last; n++)
            beat(c, n);
    }
}

/* One message in every lane, so that one claim makes every lane of its owner busy; numbers 1 to lanes. */
static void put_in_every_lane(struct conf *c) {
    for (int lane = 0; lane < c->lanes; lane++)
        put(c, KIND_OUTBOX, lane + 1, stream_on(c, lane, 0));
}

static pawl_uuid owner_of(struct conf *c, int lane) {
    struct lane_rows rows = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].lane == lane)
            return rows.rows[i].owner;
    }
    return uuid_nil();
}

/* covers: B2.3 M23 M24 */
static void a_new_instance_gets_idle_lanes_within_two_heartbeats(void **state) {
    struct conf *c = *state;
    assert_int_equal(join(c, 1, OUTBOX_BIT).lanes_owned, c->lanes);
    assert_int_equal(join(c, 2, OUTBOX_BIT).lanes_owned, 0);
    struct beat_result given = beat(c, 1);
    assert_int_equal(given.lanes_given, c->lanes / 2);
    assert_int_equal(given.lanes_owned[KIND_OUTBOX], c->lanes - c->lanes / 2);
    struct beat_result taken = beat(c, 2);
    assert_int_equal(taken.lanes_taken, c->lanes / 2);
    assert_int_equal(taken.lanes_owned[KIND_OUTBOX], c->lanes / 2);
    assert_int_equal(count_free(c, KIND_OUTBOX), 0);
    /* The highest numbers went, the lowest stayed. */
    assert_true(uuid_equal(owner_of(c, 0), instance_id(1)));
    assert_true(uuid_equal(owner_of(c, c->lanes - 1), instance_id(2)));
}

/* covers: M57 B2.3 */
static void NewInstanceJoins_DoesNotStealActivePartitions(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_in_every_lane(c);
    struct item_list held = claim(c, 1, KIND_OUTBOX, c->lanes);
    assert_int_equal(held.count, c->lanes);
    join(c, 2, OUTBOX_BIT);
    assert_int_equal(beat(c, 1).lanes_given, c->lanes / 2);
    assert_int_equal(count_draining(c, KIND_OUTBOX), c->lanes / 2);
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), 0);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 100).count, 0);
    complete_all(c, 1, held); /* every one of them is still its own */
    beat(c, 1);
    beat(c, 2);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), c->lanes / 2);
    assert_int_equal(count_draining(c, KIND_OUTBOX), 0);
}

static void idle_lanes_go_before_busy_ones(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    /* The highest lane is busy: it would be the first to go if it were idle. */
    put(c, KIND_OUTBOX, 1, stream_on(c, c->lanes - 1, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(held.count, 1);
    join(c, 2, OUTBOX_BIT);
    beat(c, 1);
    beat(c, 2);
    assert_true(uuid_equal(owner_of(c, c->lanes - 1), instance_id(1)));
    assert_int_equal(count_draining(c, KIND_OUTBOX), 0);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), c->lanes / 2);
    complete_all(c, 1, held);
}

static void a_draining_lane_is_not_claimed_again_and_moves_when_its_last_claim_ends(void **state) {
    struct conf *c = *state;
    int last = c->lanes - 1;
    pawl_str stream = stream_on(c, last, 0);
    join(c, 1, OUTBOX_BIT);
    put_in_every_lane(c);
    struct item_list held = claim(c, 1, KIND_OUTBOX, c->lanes);
    join(c, 2, OUTBOX_BIT);
    beat(c, 1);
    put(c, KIND_OUTBOX, 500, stream);
    advance(c, 1000); /* the busy rule alone would let it in */
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(complete(c, 1, item_of(c, held, last + 1)), ANSWER_APPLIED);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* this call freed the lane */
    assert_true(uuid_is_nil(owner_of(c, last)));
    beat(c, 2);
    assert_true(uuid_equal(owner_of(c, last), instance_id(2)));
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "500");
}

static void draining_stops_when_the_newcomer_leaves(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_in_every_lane(c);
    struct item_list held = claim(c, 1, KIND_OUTBOX, c->lanes);
    join(c, 2, OUTBOX_BIT);
    beat(c, 1);
    assert_int_equal(count_draining(c, KIND_OUTBOX), c->lanes / 2);
    int64_t moves = count_moves(c, KIND_OUTBOX);
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    beat(c, 1);
    assert_int_equal(count_draining(c, KIND_OUTBOX), 0);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    assert_int_equal(count_moves(c, KIND_OUTBOX), moves);
    complete_all(c, 1, held);
}

static void at_most_half_of_the_lanes_are_given_up_in_one_call(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 2; n <= 4; n++)
        join(c, n, OUTBOX_BIT);
    assert_int_equal(beat(c, 1).lanes_given, (c->lanes + 1) / 2);
    assert_int_equal(beat(c, 1).lanes_given, c->lanes - c->lanes / 4 - (c->lanes + 1) / 2);
    beats(c, 2, 4, 1);
    for (int n = 1; n <= 4; n++)
        assert_int_equal(count_owned(c, KIND_OUTBOX, n), c->lanes / 4);
}

/* covers: M58 M25 M26 M27 M28 M29 M30 M31 M32 */
static void PartitionReassignment_OnlyFromStale(void **state) {
    struct conf *c = *state;
    struct instance_new mortal = instance_named(1, OUTBOX_BIT);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    join(c, 2, OUTBOX_BIT);
    beats(c, 1, 2, 2);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes / 2);
    struct lane_rows before = lanes_listed(c, KIND_OUTBOX);
    join(c, 3, OUTBOX_BIT);
    beat(c, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 3), 0); /* other, active: blocked */
    advance(c, 15000);
    assert_int_equal(beat(c, 3).evicted, 1);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 3), c->lanes / 2); /* other, stale: allowed */
    beats(c, 2, 3, 2);
    struct lane_rows after = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < after.count; i++) {
        bool was_mortal = uuid_equal(before.rows[i].owner, instance_id(1));
        assert_true(uuid_equal(after.rows[i].owner, instance_id(was_mortal ? 3 : 2)));
        if (!was_mortal) /* self: kept, not granted anew */
            assert_int_equal(after.rows[i].token, before.rows[i].token);
        else
            assert_true(after.rows[i].token > before.rows[i].token);
    }
    ok(c, c->core->instance_deregister(c->store, instance_id(3), &c->err));
    assert_int_equal(beat(c, 2).lanes_taken, c->lanes / 2); /* no owner: allowed */
}

static void a_membership_change_moves_no_more_lanes_than_needed(void **state) {
    struct conf *c = *state;
    for (int n = 1; n <= 3; n++)
        join(c, n, OUTBOX_BIT);
    beats(c, 1, 3, 4);
    int64_t moves = count_moves(c, KIND_OUTBOX);
    beats(c, 1, 3, 10);
    assert_int_equal(count_moves(c, KIND_OUTBOX), moves); /* a stable membership moves nothing */
    join(c, 4, OUTBOX_BIT);
    beats(c, 1, 4, 4);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 4), c->lanes / 4);
    assert_int_equal(count_moves(c, KIND_OUTBOX), moves + c->lanes / 4);
    struct lane_rows before = lanes_listed(c, KIND_OUTBOX);
    ok(c, c->core->instance_deregister(c->store, instance_id(4), &c->err));
    beats(c, 1, 3, 4);
    assert_int_equal(count_moves(c, KIND_OUTBOX), moves + 2 * (c->lanes / 4));
    struct lane_rows after = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < after.count; i++) {
        if (!uuid_equal(before.rows[i].owner, instance_id(4)))
            assert_true(uuid_equal(after.rows[i].owner, before.rows[i].owner));
    }
    assert_int_equal(count_free(c, KIND_OUTBOX), 0);
}

static void a_flapping_instance_causes_no_storm(void **state) {
    struct conf *c = *state;
    for (int n = 1; n <= 3; n++)
        join(c, n, OUTBOX_BIT);
    beats(c, 1, 3, 4);
    put_in_every_lane(c);
    struct item_list held = claim(c, 1, KIND_OUTBOX, c->lanes);
    assert_true(held.count > 0);
    struct lane_rows before = lanes_listed(c, KIND_OUTBOX);
    int64_t moves = count_moves(c, KIND_OUTBOX);
    for (int i = 0; i < 50; i++) {
        join(c, 100 + i, OUTBOX_BIT);
        if (i % 2 == 0) {
            beats(c, 1, 3, 1);
            beat(c, 100 + i);
        }
        ok(c, c->core->instance_deregister(c->store, instance_id(100 + i), &c->err));
        beats(c, 1, 3, 2);
    }
    /* One that was not there for a beat moved nothing; one that was took its share and gave it back. */
    assert_true(count_moves(c, KIND_OUTBOX) - moves <= 25 * 2 * (c->lanes / 4 + 1));
    for (int n = 1; n <= 3; n++)
        assert_true(count_owned(c, KIND_OUTBOX, n) >= c->lanes / 3);
    struct lane_rows after = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < after.count; i++) {
        if (uuid_equal(before.rows[i].owner, instance_id(1)) && before.rows[i].claims > 0)
            assert_true(uuid_equal(after.rows[i].owner, instance_id(1))); /* busy all the time: never moved */
    }
    complete_all(c, 1, held);
}

static void an_instance_that_is_gone_before_anybody_beats_moves_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    int64_t moves = count_moves(c, KIND_OUTBOX);
    for (int i = 0; i < 50; i++) {
        join(c, 100 + i, OUTBOX_BIT);
        ok(c, c->core->instance_deregister(c->store, instance_id(100 + i), &c->err));
        beat(c, 1);
    }
    assert_int_equal(count_moves(c, KIND_OUTBOX), moves);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
}

/* covers: B2.4 W18 */
static void a_cap_rounds_up_to_lanes_and_what_nobody_covers_is_counted(void **state) {
    struct conf *c = *state;
    struct instance_new capped = instance_named(1, OUTBOX_BIT);
    capped.max_partitions = c->partitions / 4 + 1;
    int cap = (int)(((int64_t)capped.max_partitions * c->lanes + c->partitions - 1) / c->partitions);
    assert_int_equal(join_with(c, capped).lanes_owned, cap);
    beats(c, 1, 1, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), cap);
    assert_int_equal(counted(c, KIND_OUTBOX).lanes_free, c->lanes - cap);
    /* Without a cap the next one takes its share, and the two never leave more than the cap uncovered. */
    join(c, 2, OUTBOX_BIT);
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), c->lanes / 2);
}

static void the_smallest_cap_is_one_lane(void **state) {
    struct conf *c = *state;
    struct instance_new capped = instance_named(1, OUTBOX_BIT);
    capped.max_partitions = 1;
    assert_int_equal(join_with(c, capped).lanes_owned, 1);
}

/* covers: B2.4 */
static void the_lanes_of_a_full_instance_go_to_the_others(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes / 2);
    ok(c, c->core->instance_full(c->store, instance_id(1), true, &c->err));
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), 0);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), c->lanes);
    /* When all are full, each has its share again. */
    ok(c, c->core->instance_full(c->store, instance_id(2), true, &c->err));
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes / 2);
    ok(c, c->core->instance_full(c->store, instance_id(1), false, &c->err));
    beats(c, 1, 2, 3);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    expect(c, PAWL_STALE, c->core->instance_full(c->store, instance_id(9), true, &c->err));
}

static void an_instance_gets_lanes_of_its_own_kinds_only(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX));
    join(c, 2, KIND_BIT(KIND_INBOX));
    beats(c, 1, 2, 2);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), 0);
    assert_int_equal(count_owned(c, KIND_INBOX, 1), c->lanes / 2);
    assert_int_equal(count_owned(c, KIND_INBOX, 2), c->lanes / 2);
    assert_int_equal(count_free(c, KIND_PERSPECTIVE), c->lanes);
}

static void rank_is_by_lanes_then_by_id_as_unsigned_bytes(void **state) {
    struct conf *c = *state;
    struct instance_grant grant;
    struct beat_result result = {0};
    struct instance_new high = instance_named(3, OUTBOX_BIT);
    high.id.b[0] = 0xf0;
    join(c, 9, OUTBOX_BIT); /* takes every lane, so that the three start with none */
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    ok(c, c->core->instance_register(c->store, &high, &grant, &c->err));
    ok(c, c->core->instance_deregister(c->store, instance_id(9), &c->err));
    ok(c, c->core->heartbeat(c->store, high.id, -1, &result, &c->err));
    assert_int_equal(result.lanes_taken, c->lanes / 3 + (2 < c->lanes % 3));
    assert_int_equal(beat(c, 1).lanes_taken, c->lanes / 3 + (1 < c->lanes % 3));
    /* Both have lanes now, instance 2 has none and is last. */
    assert_int_equal(beat(c, 2).lanes_taken, c->lanes / 3 + (2 < c->lanes % 3));
}

static void rebalance_alone_does_not_beat(void **state) {
    struct conf *c = *state;
    struct beat_result result = {0};
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    int64_t beaten = c->now_ms;
    advance(c, 5000);
    ok(c, c->core->lanes_rebalance(c->store, instance_id(1), KIND_OUTBOX, &result, &c->err));
    assert_int_equal(result.lanes_given, c->lanes / 2);
    ok(c, c->core->lanes_rebalance(c->store, instance_id(2), KIND_OUTBOX, &result, &c->err));
    assert_int_equal(result.lanes_taken, c->lanes / 2);
    assert_int_equal(instance_row(c, 1).beat_ms, beaten);
    assert_int_equal(instance_row(c, 2).beat_ms, beaten);
}

static void a_caller_that_is_not_live_only_evicts_the_silent(void **state) {
    struct conf *c = *state;
    struct beat_result result = {0};
    struct instance_new mortal = instance_named(1, OUTBOX_BIT);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    mortal = instance_named(2, OUTBOX_BIT);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    advance(c, 15000);
    ok(c, c->core->lanes_rebalance(c->store, instance_id(2), KIND_OUTBOX, &result, &c->err));
    assert_int_equal(instance_row(c, 1).state, INSTANCE_EVICTED);
    assert_int_equal(instance_row(c, 2).state, INSTANCE_ACTIVE);
    assert_int_equal(result.evicted, 1);
    assert_int_equal(count_free(c, KIND_OUTBOX), c->lanes);
    assert_int_equal(beat(c, 2).lanes_taken, c->lanes);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_new_instance_gets_idle_lanes_within_two_heartbeats),
    CONF_TEST(NewInstanceJoins_DoesNotStealActivePartitions),
    CONF_TEST(idle_lanes_go_before_busy_ones),
    CONF_TEST(a_draining_lane_is_not_claimed_again_and_moves_when_its_last_claim_ends),
    CONF_TEST(draining_stops_when_the_newcomer_leaves),
    CONF_TEST(at_most_half_of_the_lanes_are_given_up_in_one_call),
    CONF_TEST(PartitionReassignment_OnlyFromStale),
    CONF_TEST(a_membership_change_moves_no_more_lanes_than_needed),
    CONF_TEST(a_flapping_instance_causes_no_storm),
    CONF_TEST(an_instance_that_is_gone_before_anybody_beats_moves_nothing),
    CONF_TEST(a_cap_rounds_up_to_lanes_and_what_nobody_covers_is_counted),
    CONF_TEST(the_smallest_cap_is_one_lane),
    CONF_TEST(the_lanes_of_a_full_instance_go_to_the_others),
    CONF_TEST(an_instance_gets_lanes_of_its_own_kinds_only),
    CONF_TEST(rank_is_by_lanes_then_by_id_as_unsigned_bytes),
    CONF_TEST(rebalance_alone_does_not_beat),
    CONF_TEST(a_caller_that_is_not_live_only_evicts_the_silent),
};

CONF_GROUP(lane, tests);
