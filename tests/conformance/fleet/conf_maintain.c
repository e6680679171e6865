/* Maintenance and settings: what is removed when, in bounded steps, and what may be changed. */
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX), HOUR_MS = 3600000 };

static struct maintain_result maintain(struct conf *c, int rows_max) {
    struct maintain_in in = {.rows_max = rows_max};
    struct maintain_result swept = {0};
    expect_status_(c, PAWL_OK, c->core->maintain(c->store, &in, &swept, &c->err), "maintain");
    return swept;
}

static void keep_history(struct conf *c, int64_t history_ms) {
    struct settings_change change = settings_same();
    change.history_ms = history_ms;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
}

static void maintenance_of_an_empty_store_removes_nothing(void **state) {
    struct conf *c = *state;
    struct maintain_result swept = maintain(c, 1000);
    assert_int_equal(swept.instances_removed + swept.tombstones_removed + swept.dedupe_removed +
                         swept.requests_removed + swept.claims_removed + swept.history_removed +
                         swept.claims_expired,
                     0);
}

static void a_request_key_is_kept_for_an_hour(void **state) {
    struct conf *c = *state;
    pawl_outgoing in = message_numbered(c, 1, STR("a"));
    struct messages_put call = {.kind = KIND_OUTBOX, .messages = &in, .count = 1, .request = request_id(1)};
    put_with(c, call);
    advance(c, HOUR_MS);
    assert_int_equal(maintain(c, 1000).requests_removed, 0);
    assert_int_equal(put_with(c, call).answers[0], ANSWER_DUPLICATE);
    advance(c, 1);
    assert_int_equal(maintain(c, 1000).requests_removed, 1);
    assert_int_equal(put_with(c, call).answers[0], ANSWER_APPLIED);
}

static void overdue_claims_are_ended_when_nobody_claims(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS - 1);
    assert_int_equal(maintain(c, 1000).claims_expired, 0);
    advance(c, 1);
    assert_int_equal(maintain(c, 1000).claims_expired, 1);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    assert_int_equal(row_of(c, 1).reason, ASIDE_EXPIRED);
}

/* covers: W47 */
static void history_is_archived_by_reading_and_removing_and_ends_by_itself(void **state) {
    struct conf *c = *state;
    keep_history(c, 10 * HOUR_MS);
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 6, STR("a"));
    complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 10));
    advance(c, HOUR_MS);
    struct message_filter filter = {.state = STATE_DONE, .lane = -1, .before_ms = c->now_ms, .limit = 2};
    struct message_rows rows;
    ok(c, c->view->messages(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    struct dead_ref refs[2] = {{KIND_OUTBOX, rows.rows[0].item.seq}, {KIND_OUTBOX, rows.rows[1].item.seq}};
    int64_t removed = 0;
    ok(c, c->core->history_remove(c->store, refs, 2, &removed, &c->err));
    assert_int_equal(removed, 2);
    ok(c, c->core->history_remove(c->store, refs, 2, &removed, &c->err));
    assert_int_equal(removed, 0);
    advance(c, 9 * HOUR_MS);
    assert_int_equal(maintain(c, 1000).history_removed, 0);
    advance(c, 1);
    assert_int_equal(maintain(c, 3).history_removed, 3);
    assert_int_equal(maintain(c, 3).history_removed, 1);
    filter.before_ms = 0;
    ok(c, c->view->messages(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 0);
}

static void history_remove_touches_nothing_that_is_not_done(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_SKIP);
    struct dead_ref refs[2] = {{KIND_OUTBOX, row_of(c, 1).item.seq}, {KIND_OUTBOX, row_of(c, 2).item.seq}};
    int64_t removed = -1;
    ok(c, c->core->history_remove(c->store, refs, 2, &removed, &c->err));
    assert_int_equal(removed, 0);
    assert_int_equal(rows_with_id(c, 1), 1);
    assert_int_equal(rows_with_id(c, 2), 1);
}

static void counters_survive_maintenance(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int round = 0; round < 5; round++) {
        put_range(c, KIND_OUTBOX, 10 * round, 10 * round + 4, STR("a"));
        complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 10));
        struct kind_counts before = counted(c, KIND_OUTBOX);
        maintain(c, 1000);
        struct kind_counts after = counted(c, KIND_OUTBOX);
        assert_int_equal(after.put, 5 * (round + 1));
        assert_int_equal(after.done, before.done);
        assert_int_equal(after.ready, 0);
    }
}

static void ended_claims_are_forgotten_after_a_while_and_their_reports_are_stale(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    complete_all(c, 1, held);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_DUPLICATE);
    advance(c, 86400000 - 1000);
    assert_int_equal(maintain(c, 1000).claims_removed, 1);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 1);
}

static void tombstones_outlive_the_instance_row(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    ok(c, c->core->instance_deregister(c->store, instance_id(1), &c->err));
    advance(c, HOUR_MS);
    maintain(c, 1000);
    struct instance_new in = instance_named(1, OUTBOX_BIT);
    struct instance_grant grant;
    expect(c, PAWL_CONFLICT, c->core->instance_register(c->store, &in, &grant, &c->err));
}

static void settings_are_changed_one_by_one(void **state) {
    struct conf *c = *state;
    struct settings before, after;
    ok(c, c->core->settings_read(c->store, &before, &c->err));
    struct settings_change change = settings_same();
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    ok(c, c->core->settings_read(c->store, &after, &c->err));
    assert_memory_equal(&after, &before, sizeof after);
    change.stale_ms = 30000;
    change.max_attempts = 9;
    change.dead_policy = POLICY_PARK;
    change.instance_lease_ms = 7000;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    ok(c, c->core->settings_read(c->store, &after, &c->err));
    assert_int_equal(after.stale_ms, 30000);
    assert_int_equal(after.max_attempts, 9);
    assert_int_equal(after.dead_policy, POLICY_PARK);
    assert_int_equal(after.instance_lease_ms, 7000);
    assert_int_equal(after.dedupe_ms, before.dedupe_ms);
    assert_int_equal(after.partition_count, before.partition_count);
    assert_int_equal(after.lane_count, before.lane_count);
    struct instance_new in = instance_named(1, OUTBOX_BIT);
    in.lease_ms = 0;
    assert_int_equal(join_with(c, in).lease_until_ms, c->now_ms + 7000);
}

/* covers: W17 P41 */
static void a_schema_has_ten_thousand_partitions_unless_told_otherwise(void **state) {
    struct conf *c = *state;
    struct store *store = open_defaults(c);
    struct settings settings;
    ok(c, store->ops->core.settings_read(store, &settings, &c->err));
    assert_int_equal(settings.partition_count, 10000);
    assert_int_equal(settings.lane_count, 64);
    assert_int_equal(settings.test_now_ms, 0);
    close_again(store);
}

/* covers: BX.7 */
static void a_raised_epoch_makes_every_older_token_older(void **state) {
    struct conf *c = *state;
    struct settings before, after;
    int64_t epoch = 0;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list old = claim(c, 1, KIND_OUTBOX, 10);
    ok(c, c->core->settings_read(c->store, &before, &c->err));
    ok(c, c->core->epoch_raise(c->store, &epoch, &c->err));
    ok(c, c->core->settings_read(c->store, &after, &c->err));
    assert_int_equal(epoch, after.epoch);
    assert_true(epoch > before.epoch);
    put(c, KIND_OUTBOX, 2, stream_on(c, (lane_of_stream(c, STR("a")) + 1) % c->lanes, 0));
    struct item_list fresh = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fresh.count, 1);
    assert_int_equal(fresh.items[0].token >> 40, epoch);
    assert_true(fresh.items[0].token > old.items[0].token);
}

/* covers: BX.7 */
static void the_store_says_what_a_commit_is_worth(void **state) {
    struct conf *c = *state;
    struct durability durability = {0};
    ok(c, c->view->durability(c->store, c->arena, &durability, &c->err));
    assert_true(durability.found.len > 0);
    assert_true(durability.failover); /* nobody follows a test's server */
}

static void tombstones_are_forgotten_after_thirty_days(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    ok(c, c->core->instance_deregister(c->store, instance_id(1), &c->err));
    advance(c, INT64_C(29) * 86400000);
    assert_int_equal(maintain(c, 1000).tombstones_removed, 0);
    advance(c, INT64_C(2) * 86400000);
    assert_int_equal(maintain(c, 1000).tombstones_removed, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(maintenance_of_an_empty_store_removes_nothing),
    CONF_TEST(a_request_key_is_kept_for_an_hour),
    CONF_TEST(overdue_claims_are_ended_when_nobody_claims),
    CONF_TEST(history_is_archived_by_reading_and_removing_and_ends_by_itself),
    CONF_TEST(history_remove_touches_nothing_that_is_not_done),
    CONF_TEST(counters_survive_maintenance),
    CONF_TEST(ended_claims_are_forgotten_after_a_while_and_their_reports_are_stale),
    CONF_TEST(tombstones_outlive_the_instance_row),
    CONF_TEST(settings_are_changed_one_by_one),
    CONF_TEST(a_schema_has_ten_thousand_partitions_unless_told_otherwise),
    CONF_TEST(a_raised_epoch_makes_every_older_token_older),
    CONF_TEST(the_store_says_what_a_commit_is_worth),
    CONF_TEST(tombstones_are_forgotten_after_thirty_days),
};

CONF_GROUP(maintain, tests);
