/* Two handles on one store, as two processes have: what one does the other sees, and neither is fooled by the
 * other. */
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* The same test through another handle; false where a store has only one. */
static bool other_side(struct conf *c, struct conf *other) {
    *other = *c;
    other->store = open_again(c);
    if (other->store == NULL)
        return false;
    other->core = &other->store->ops->core;
    other->view = &other->store->ops->view;
    return true;
}

static void what_one_handle_writes_the_other_sees(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(c, 1, OUTBOX_BIT);
    put(&other, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, held), "1");
    assert_int_equal(row_of(&other, 1).state, STATE_LEASED);
    assert_string_equal(state_text(&other), state_text(c));
    /* The token is what counts, not the handle it came through. */
    assert_int_equal(complete(&other, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_DUPLICATE);
    close_again(other.store);
}

static void two_workers_share_the_work_and_grant_nothing_twice(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(c, 1, OUTBOX_BIT);
    join(&other, 2, OUTBOX_BIT);
    for (int round = 0; round < 2; round++) {
        beat(c, 1);
        beat(&other, 2);
    }
    put_range(c, KIND_OUTBOX, 1, 300, ABSENT);
    size_t granted = 0;
    for (int round = 0; round < 40 && granted < 300; round++) {
        struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
        struct item_list second = claim(&other, 2, KIND_OUTBOX, 10);
        granted += first.count + second.count;
        complete_all(&other, 2, second);
        complete_all(c, 1, first);
    }
    assert_int_equal(granted, 300);
    assert_int_equal(counted(&other, KIND_OUTBOX).done, 300);
    close_again(other.store);
}

static void the_evicted_handle_is_told_at_its_next_call(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(c, 1, OUTBOX_BIT);
    join(&other, 2, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    ok(&other, other.core->instance_evict(other.store, instance_id(1), &other.err));
    beat(&other, 2);
    struct item_list taken = claim(&other, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(&other, taken), "1");
    struct beat_result result;
    expect(c, PAWL_STALE, c->core->heartbeat(c->store, instance_id(1), -1, &result, &c->err));
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    assert_int_equal(renew_item(c, 1, &held.items[0], LEASE_MS), ANSWER_STALE);
    complete_all(&other, 2, taken);
    close_again(other.store);
}

static void a_closed_handle_leaves_its_claims_to_the_lease(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(&other, 1, OUTBOX_BIT);
    put(&other, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(&other, 1, KIND_OUTBOX, 10);
    close_again(other.store);
    join(c, 2, OUTBOX_BIT);
    advance(c, LEASE_MS - 1);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0); /* ends the claim, frees the lane */
    beat(c, 2);
    struct item_list taken = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, taken), "1");
    assert_true(taken.items[0].token > held.items[0].token);
}

static void a_request_key_is_known_to_every_handle(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.request = request_id(1);
    struct item_list first = claim_with(c, in);
    struct item_list again = claim_with(&other, in); /* the connection died; another one asks */
    assert_string_equal(numbers(&other, again), "1");
    assert_int_equal(again.items[0].token, first.items[0].token);
    close_again(other.store);
}

static void settings_changed_by_one_hold_for_the_other(void **state) {
    struct conf *c = *state, other;
    if (!other_side(c, &other))
        return;
    join(c, 1, OUTBOX_BIT);
    struct settings_change change = settings_same();
    change.max_attempts = 1;
    ok(&other, other.core->settings_change(other.store, &change, &other.err));
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    assert_int_equal(row_of(&other, 1).state, STATE_DEAD);
    int64_t epoch = 0;
    ok(&other, other.core->epoch_raise(other.store, &epoch, &other.err));
    put(c, KIND_OUTBOX, 2, STR("b"));
    held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(held.items[0].token >> 40, epoch);
    close_again(other.store);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(what_one_handle_writes_the_other_sees),
    CONF_TEST(two_workers_share_the_work_and_grant_nothing_twice),
    CONF_TEST(the_evicted_handle_is_told_at_its_next_call),
    CONF_TEST(a_closed_handle_leaves_its_claims_to_the_lease),
    CONF_TEST(a_request_key_is_known_to_every_handle),
    CONF_TEST(settings_changed_by_one_hold_for_the_other),
};

CONF_GROUP(two, tests);
