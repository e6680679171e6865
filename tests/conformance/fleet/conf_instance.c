/* Instances: registration, heartbeats, silence, eviction, leaving, tombstones. */
#include "conformance/harness.h"

#include <string.h>

#include "base/limits.h"

/* covers: M21 W03 P44 */
static void register_makes_one_row_with_everything_the_caller_said(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BITS_ALL);
    in.metadata = STR("{\"version\":\"1.4\"}");
    in.lease_ms = 20000;
    struct instance_grant grant = join_with(c, in);
    assert_int_equal(grant.now_ms, c->now_ms);
    assert_int_equal(grant.lease_until_ms, c->now_ms + 20000);
    assert_int_equal(grant.lanes_owned, 3 * c->lanes);
    struct instance_row row = instance_row(c, 1);
    assert_true(str_equal(row.service, STR("orders")));
    assert_true(str_equal(row.host, STR("host-a")));
    assert_non_null(strstr(row.metadata.ptr, "1.4"));
    assert_int_equal(row.pid, 1001);
    assert_int_equal(row.kinds, KIND_BITS_ALL);
    assert_int_equal(row.state, INSTANCE_ACTIVE);
    assert_int_equal(row.started_ms, c->now_ms);
    assert_int_equal(row.beat_ms, c->now_ms);
    assert_int_equal(row.lease_until_ms, c->now_ms + 20000);
}

/* covers: BX.1 W20 */
static void register_without_a_lease_takes_the_schemas_default(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BIT(KIND_OUTBOX));
    in.lease_ms = 0;
    assert_int_equal(join_with(c, in).lease_until_ms, c->now_ms + PAWL_INSTANCE_LEASE_MS_DEFAULT);
    struct settings settings;
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    assert_int_equal(settings.instance_lease_ms, 15000);
    assert_int_equal(settings.stale_ms, 600000);
    assert_int_equal(settings.max_attempts, 5);
}

static void a_producer_without_kinds_owns_nothing_and_claims_nothing(void **state) {
    struct conf *c = *state;
    assert_int_equal(join(c, 1, 0).lanes_owned, 0);
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(count_free(c, KIND_OUTBOX), c->lanes);
}

static void register_refuses_an_id_that_exists(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BIT(KIND_OUTBOX));
    struct instance_grant grant;
    join_with(c, in);
    expect(c, PAWL_CONFLICT, c->core->instance_register(c->store, &in, &grant, &c->err));
    ok(c, c->core->instance_evict(c->store, in.id, &c->err));
    expect(c, PAWL_CONFLICT, c->core->instance_register(c->store, &in, &grant, &c->err));
}

/* covers: W17 */
static void register_refuses_another_partition_count(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BIT(KIND_OUTBOX));
    struct instance_grant grant;
    in.partition_count = c->partitions + 1;
    expect(c, PAWL_INVALID, c->core->instance_register(c->store, &in, &grant, &c->err));
    assert_false(instance_listed(c, 1));
    in.partition_count = c->partitions;
    join_with(c, in);
}

/* covers: M11 M12 */
static void heartbeat_moves_one_row_and_leaves_the_lanes_alone(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BITS_ALL);
    in.lease_ms = 15000;
    join_with(c, in);
    struct lane_rows before = lanes_listed(c, KIND_OUTBOX);
    advance(c, 5000);
    struct beat_result result = beat(c, 1);
    assert_int_equal(result.now_ms, c->now_ms);
    assert_int_equal(result.lease_until_ms, c->now_ms + 15000);
    assert_int_equal(result.lanes_taken, 0);
    assert_int_equal(result.lanes_given, 0);
    assert_int_equal(result.lanes_owned[KIND_OUTBOX], c->lanes);
    assert_int_equal(result.lanes_owned[KIND_PERSPECTIVE], c->lanes);
    struct instance_row row = instance_row(c, 1);
    assert_int_equal(row.beat_ms, c->now_ms);
    assert_int_equal(row.beat_age_ms, 0);
    struct lane_rows after = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < after.count; i++) {
        assert_int_equal(after.rows[i].token, before.rows[i].token);
        assert_int_equal(after.rows[i].moves, before.rows[i].moves);
        assert_true(uuid_equal(after.rows[i].owner, instance_id(1)));
    }
}

/* covers: J12 B4.8 */
static void heartbeat_keeps_one_time_and_what_the_instance_says_it_did(void **state) {
    struct conf *c = *state;
    struct beat_result result;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    struct instance_row row = instance_row(c, 1);
    assert_int_equal(row.processed, 0);
    assert_int_equal(row.beat_ms, row.started_ms);
    advance(c, 1000);
    ok(c, c->core->heartbeat(c->store, instance_id(1), 7, &result, &c->err));
    advance(c, 1000);
    ok(c, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    row = instance_row(c, 1);
    assert_int_equal(row.processed, 7);
    assert_int_equal(row.beat_ms, c->now_ms);
    assert_int_equal(row.started_ms, c->now_ms - 2000);
    assert_int_equal(row.pid, instance_named(1, 0).pid);
    assert_true(str_equal(row.host, instance_named(1, 0).host));
    ok(c, c->core->heartbeat(c->store, instance_id(1), 9, &result, &c->err));
    assert_int_equal(instance_row(c, 1).processed, 9);
}

static void heartbeat_counts_the_other_instances(void **state) {
    struct conf *c = *state;
    struct beat_result result;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    ok(c, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    assert_int_equal(result.others, 0);
    join(c, 2, KIND_BIT_JOBS);
    ok(c, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    assert_int_equal(result.others, 1);
    ok(c, c->core->instance_evict(c->store, instance_id(2), &c->err));
    ok(c, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    assert_int_equal(result.others, 0);
}

/* covers: B2.6 */
static void heartbeat_of_the_unknown_the_evicted_and_the_removed_is_stale(void **state) {
    struct conf *c = *state;
    struct beat_result result;
    expect(c, PAWL_STALE, c->core->heartbeat(c->store, instance_id(9), -1, &result, &c->err));
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    expect(c, PAWL_STALE, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    expect_error(c, "evicted");
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    expect(c, PAWL_STALE, c->core->heartbeat(c->store, instance_id(2), -1, &result, &c->err));
    struct instance_new in = instance_named(2, 0);
    struct instance_grant grant;
    expect(c, PAWL_CONFLICT, c->core->instance_register(c->store, &in, &grant, &c->err));
}

static void a_silent_instance_that_nobody_evicted_revives(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BIT(KIND_OUTBOX));
    in.lease_ms = 15000;
    join_with(c, in);
    put(c, KIND_OUTBOX, 1, STR("a"));
    advance(c, 15000);
    struct messages_claim wish = claim_of(1, KIND_OUTBOX, 10);
    struct item_list list;
    expect(c, PAWL_STALE, c->core->messages_claim(c->store, &wish, c->arena, &list, &c->err));
    assert_int_equal(beat(c, 1).lanes_owned[KIND_OUTBOX], c->lanes);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1");
}

/* covers: M54 M13 M15 M16 M17 M20 B2.6 */
static void StaleInstance_CleanedUpAndPartitionsReleased(void **state) {
    struct conf *c = *state;
    struct instance_new crashed = instance_named(1, KIND_BIT(KIND_OUTBOX));
    crashed.lease_ms = 15000;
    join_with(c, crashed);
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    advance(c, 15000);
    struct beat_result result = beat(c, 2);
    assert_int_equal(result.evicted, 1);
    assert_int_equal(result.lanes_taken, c->lanes);
    assert_int_equal(instance_row(c, 1).state, INSTANCE_EVICTED);
    assert_int_equal(count_owned(c, KIND_OUTBOX, 2), c->lanes);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "1");

    struct maintain_in in = {.caller = instance_id(2), .rows_max = 1000};
    struct maintain_result swept = {0};
    advance(c, 600000 - 15000);
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(swept.instances_removed, 0); /* exactly as old as the threshold is not older */
    assert_true(instance_listed(c, 1));
    advance(c, 1);
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(swept.instances_removed, 1);
    assert_false(instance_listed(c, 1));
    struct instance_grant grant;
    expect(c, PAWL_CONFLICT, c->core->instance_register(c->store, &crashed, &grant, &c->err));
}

/* covers: M14 M18 M19 */
static void maintenance_never_removes_its_caller_nor_the_young(void **state) {
    struct conf *c = *state;
    struct instance_new in = instance_named(1, KIND_BIT(KIND_OUTBOX));
    in.lease_ms = 15000;
    join_with(c, in);
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    advance(c, 20000);
    beat(c, 2); /* evicts 1 */
    struct maintain_result swept = {0};
    struct maintain_in by_nobody = {.rows_max = 1000};
    advance(c, 300000);
    ok(c, c->core->maintain(c->store, &by_nobody, &swept, &c->err));
    assert_true(instance_listed(c, 1)); /* silent for less than the threshold */
    advance(c, 600000);
    struct maintain_in by_itself = {.caller = instance_id(1), .rows_max = 1000};
    ok(c, c->core->maintain(c->store, &by_itself, &swept, &c->err));
    assert_true(instance_listed(c, 1)); /* silent for longer, but it is the one that asks */
    assert_true(instance_listed(c, 2)); /* not evicted: its own lease is not over */
    ok(c, c->core->maintain(c->store, &by_nobody, &swept, &c->err));
    assert_false(instance_listed(c, 1));
    assert_true(instance_listed(c, 2));
}

/* covers: M56 M22 */
static void MultipleActiveInstances_AllCounted(void **state) {
    struct conf *c = *state;
    for (int n = 1; n <= 4; n++)
        join(c, n, KIND_BIT(KIND_OUTBOX));
    struct instance_rows rows;
    ok(c, c->view->instances(c->store, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 4);
    for (int round = 0; round < 3; round++) {
        for (int n = 1; n <= 4; n++)
            beat(c, n);
    }
    for (int n = 1; n <= 4; n++) {
        assert_int_equal(instance_row(c, n).state, INSTANCE_ACTIVE);
        assert_int_equal(count_owned(c, KIND_OUTBOX, n), c->lanes / 4);
    }
}

static void evict_frees_lanes_and_ends_claims(void **state) {
    struct conf *c = *state;
    expect(c, PAWL_NOT_FOUND, c->core->instance_evict(c->store, instance_id(9), &c->err));
    join(c, 1, KIND_BITS_ALL);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++)
        assert_int_equal(count_free(c, (enum store_kind)kind), c->lanes);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.item.deaths, 0);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.reason, ASIDE_EXPIRED);
    const char *before = state_text(c);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    assert_string_equal(state_text(c), before);
}

static void deregister_gives_everything_back_without_an_attempt(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    assert_string_equal(numbers(c, held), "1 2");
    ok(c, c->core->instance_deregister(c->store, instance_id(1), &c->err));
    assert_false(instance_listed(c, 1));
    assert_int_equal(count_free(c, KIND_OUTBOX), c->lanes);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.item.deaths, 0);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.reason, ASIDE_RELEASED);
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    struct item_list again = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2");
    assert_int_equal(again.items[0].attempt, 1);
    complete_all(c, 2, again);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "3");
    expect(c, PAWL_STALE, c->core->instance_deregister(c->store, instance_id(1), &c->err));
    expect(c, PAWL_STALE, c->core->instance_deregister(c->store, instance_id(77), &c->err));
}

/* Another handle under which instance n is registered and holds its lock; NULL where there are no locks. */
static struct store *peer_alive(struct conf *c, int n) {
    struct store *peer = c->store->caps.sessions ? open_again(c) : NULL;
    if (peer == NULL)
        return NULL;
    struct instance_new in = instance_named(n, KIND_BIT(KIND_OUTBOX));
    struct instance_grant grant;
    bool held = false;
    ok(c, peer->ops->core.instance_register(peer, &in, &grant, &c->err));
    ok(c, peer->ops->core.liveness_hold(peer, instance_id(n), &held, &c->err));
    assert_true(held);
    return peer;
}

/* A peer whose liveness lock is gone is evicted after 300 ms, long before its lease ends. */
static void a_peer_whose_liveness_lock_is_gone_is_evicted_after_300_ms(void **state) {
    struct conf *c = *state;
    struct peers_look look = {0};
    bool held = true;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    struct store *peer = peer_alive(c, 2);
    if (peer == NULL) {
        ok(c, c->core->liveness_hold(c->store, instance_id(1), &held, &c->err));
        assert_false(held);
        join(c, 2, KIND_BIT(KIND_OUTBOX));
        advance(c, 1000);
        ok(c, c->core->peers_look(c->store, instance_id(2), &look, &c->err));
        assert_int_equal(look.evicted, 0); /* no lock, no verdict: only the lease counts */
        return;
    }
    advance(c, 1000);
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    advance(c, 1000);
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_int_equal(look.evicted, 0); /* the lock is held */
    assert_int_equal(look.believe_ms, -1);
    close_again(peer);
    for (int tries = 0; tries < 10000 && look.evicted == 0; tries++) {
        ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err)); /* notes the absence */
        bool absent = look.believe_ms >= 0;
        assert_true(!absent || look.believe_ms == 300);
        advance(c, 299);
        ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
        assert_int_equal(look.evicted, 0);
        assert_true(!absent || look.believe_ms == 1); /* everybody knows when to look again */
        advance(c, 1);
        /* A server may need a moment to notice that the peer's connection is gone. */
        ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    }
    assert_int_equal(look.evicted, 1);
    assert_int_equal(look.believe_ms, -1);
    assert_int_equal(instance_row(c, 2).state, INSTANCE_EVICTED);
    assert_int_equal(instance_row(c, 1).state, INSTANCE_ACTIVE);
}

/* That something has to be noted about one peer says nothing about the others. */
static void a_peer_whose_lock_is_gone_is_given_its_300_ms_beside_another(void **state) {
    struct conf *c = *state;
    struct peers_look look = {.believe_ms = -1};
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    struct store *two = peer_alive(c, 2);
    struct store *three = peer_alive(c, 3);
    close_again(two);
    if (two == NULL)
        return;
    for (int tries = 0; tries < 10000 && look.believe_ms != 300; tries++)
        ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_int_equal(look.believe_ms, 300);
    close_again(three);
    advance(c, 200);
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_int_equal(look.evicted, 0);
    advance(c, 100);
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_int_equal(look.evicted, 1);
    assert_int_equal(instance_row(c, 3).state, INSTANCE_ACTIVE);
}

static void peers_look_says_when_a_lane_is_free_that_one_would_take(void **state) {
    struct conf *c = *state;
    struct peers_look look = {0};
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_false(look.rebalance_wanted); /* the inbox lanes are free, but that is not its kind */
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    beat(c, 1);
    beat(c, 2);
    ok(c, c->core->instance_evict(c->store, instance_id(2), &c->err));
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_true(look.rebalance_wanted);
    beat(c, 1);
    join(c, 3, KIND_BIT(KIND_OUTBOX));
    beat(c, 1); /* gives half of them up */
    ok(c, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    assert_false(look.rebalance_wanted); /* there are free ones, but they are not for it */
    ok(c, c->core->peers_look(c->store, instance_id(3), &look, &c->err));
    assert_true(look.rebalance_wanted);
    beat(c, 3);
    ok(c, c->core->peers_look(c->store, instance_id(3), &look, &c->err));
    assert_false(look.rebalance_wanted);
}

static void peers_look_evicts_the_silent(void **state) {
    struct conf *c = *state;
    struct peers_look look = {0};
    struct instance_new mortal = instance_named(1, KIND_BIT(KIND_OUTBOX));
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    join(c, 2, KIND_BIT(KIND_OUTBOX));
    advance(c, 14999);
    ok(c, c->core->peers_look(c->store, instance_id(2), &look, &c->err));
    assert_int_equal(look.evicted, 0);
    advance(c, 1);
    ok(c, c->core->peers_look(c->store, instance_id(2), &look, &c->err));
    assert_int_equal(look.evicted, 1);
    assert_true(look.rebalance_wanted);
    assert_int_equal(count_free(c, KIND_OUTBOX), c->lanes);
    ok(c, c->core->peers_look(c->store, instance_id(2), &look, &c->err));
    assert_int_equal(look.evicted, 0);
}

static void the_clock_stands_still_when_frozen_and_runs_when_not(void **state) {
    struct conf *c = *state;
    int64_t now = 0;
    int64_t later = 0;
    ok(c, c->core->clock_read(c->store, &now, &c->err));
    assert_int_equal(now, TEST_START_MS);
    advance(c, 1234);
    ok(c, c->core->clock_read(c->store, &now, &c->err));
    assert_int_equal(now, TEST_START_MS + 1234);
    struct settings_change change = settings_same();
    change.test_now_ms = 0;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    ok(c, c->core->clock_read(c->store, &now, &c->err));
    assert_true(now > 0 && now < TEST_START_MS);
    do {
        ok(c, c->core->clock_read(c->store, &later, &c->err));
        assert_true(later >= now);
    } while (later == now);
    advance(c, 0);
}

static void what_is_gone_cannot_act(void **state) {
    struct conf *c = *state;
    struct beat_result result;
    struct peers_look look;
    join(c, 1, KIND_BITS_ALL);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    for (int n = 1; n <= 2; n++) { /* evicted, unknown */
        expect(c, PAWL_STALE,
               c->core->lanes_rebalance(c->store, instance_id(n), KIND_OUTBOX, &result, &c->err));
        expect(c, PAWL_STALE, c->core->peers_look(c->store, instance_id(n), &look, &c->err));
    }
    ok(c, c->core->instance_deregister(c->store, instance_id(1), &c->err)); /* the evicted may still leave */
    expect(c, PAWL_STALE, c->core->peers_look(c->store, instance_id(1), &look, &c->err));
    expect(c, PAWL_NOT_FOUND, c->core->instance_evict(c->store, instance_id(1), &c->err));
}

static void a_rebalance_evicts_the_silent_of_every_kind(void **state) {
    struct conf *c = *state;
    struct instance_new mortal = instance_named(1, KIND_BIT(KIND_INBOX));
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    mortal = instance_named(2, 0);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    join(c, 3, KIND_BIT(KIND_OUTBOX));
    advance(c, 15000);
    assert_int_equal(beat(c, 3).evicted, 2);
    assert_int_equal(count_free(c, KIND_INBOX), c->lanes);
    assert_int_equal(instance_row(c, 2).state, INSTANCE_EVICTED);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(register_makes_one_row_with_everything_the_caller_said),
    CONF_TEST(register_without_a_lease_takes_the_schemas_default),
    CONF_TEST(a_producer_without_kinds_owns_nothing_and_claims_nothing),
    CONF_TEST(register_refuses_an_id_that_exists),
    CONF_TEST(register_refuses_another_partition_count),
    CONF_TEST(heartbeat_moves_one_row_and_leaves_the_lanes_alone),
    CONF_TEST(heartbeat_keeps_one_time_and_what_the_instance_says_it_did),
    CONF_TEST(heartbeat_counts_the_other_instances),
    CONF_TEST(heartbeat_of_the_unknown_the_evicted_and_the_removed_is_stale),
    CONF_TEST(a_silent_instance_that_nobody_evicted_revives),
    CONF_TEST(StaleInstance_CleanedUpAndPartitionsReleased),
    CONF_TEST(maintenance_never_removes_its_caller_nor_the_young),
    CONF_TEST(MultipleActiveInstances_AllCounted),
    CONF_TEST(evict_frees_lanes_and_ends_claims),
    CONF_TEST(deregister_gives_everything_back_without_an_attempt),
    CONF_TEST(a_peer_whose_liveness_lock_is_gone_is_evicted_after_300_ms),
    CONF_TEST(a_peer_whose_lock_is_gone_is_given_its_300_ms_beside_another),
    CONF_TEST(peers_look_says_when_a_lane_is_free_that_one_would_take),
    CONF_TEST(peers_look_evicts_the_silent),
    CONF_TEST(the_clock_stands_still_when_frozen_and_runs_when_not),
    CONF_TEST(what_is_gone_cannot_act),
    CONF_TEST(a_rebalance_evicts_the_silent_of_every_kind),
};

CONF_GROUP(instance, tests);
