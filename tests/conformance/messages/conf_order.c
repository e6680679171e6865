/* Order: an unfinished message of a stream always blocks the later ones, whichever worker dies. */
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* Two instances with half of the lanes each; lane 0 stays with the first. */
static void two_instances(struct conf *c) {
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    for (int round = 0; round < 2; round++) {
        beat(c, 1);
        beat(c, 2);
    }
}

/* covers: M60 M01 M02 M03 M07 M08 B2.1 */
static void CrossInstanceStreamOrdering_PreventsClaiming(void **state) {
    struct conf *c = *state;
    two_instances(c);
    put_range(c, KIND_OUTBOX, 1, 4, stream_on(c, 0, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    assert_string_equal(numbers(c, held), "1 2");
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    advance(c, 5000);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    complete_all(c, 1, held);
    assert_int_equal(rows_with_id(c, 1), 0);
    /* The lane goes to the other one: it continues where the first stopped. */
    ok(c, c->core->instance_deregister(c->store, instance_id(1), &c->err));
    beat(c, 2);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "3 4");
}

/* covers: M05 B2.1 */
static void an_earlier_message_nobody_has_leased_still_goes_first(void **state) {
    struct conf *c = *state;
    two_instances(c);
    put_range(c, KIND_OUTBOX, 1, 3, stream_on(c, 0, 0));
    for (int n = 1; n <= 3; n++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 1);
        assert_int_equal(id_number(list.items[0].id), n);
        assert_int_equal(claim(c, 1, KIND_OUTBOX, 1).count, 0); /* the rest of the stream waits */
        assert_int_equal(claim(c, 2, KIND_OUTBOX, 1).count, 0);
        complete_all(c, 1, list);
    }
}

/* covers: M06 B2.1 */
static void an_earlier_message_whose_lease_ran_out_still_goes_first(void **state) {
    struct conf *c = *state;
    two_instances(c);
    put_range(c, KIND_OUTBOX, 1, 3, stream_on(c, 0, 0));
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 1)), "1");
    advance(c, LEASE_MS);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1"); /* never 2 before 1 */
    assert_true(again.items[0].suspect);
    advance(c, 1000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    complete_all(c, 1, again);
    struct item_list rest = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, rest), "2 3");
    complete_all(c, 1, rest);
}

/* covers: M61 M09 M36 M38 */
static void ScheduledRetry_BlocksLater(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("order-1"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    assert_int_equal(fail_item(c, 1, &held.items[0], 60000), ANSWER_APPLIED);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.state, STATE_SCHEDULED);
    assert_int_equal(row.scheduled_ms, c->now_ms + 60000);
    assert_int_equal(row_of(c, 2).state, STATE_BLOCKED);
    put(c, KIND_OUTBOX, 4, STR("order-1"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, 59999);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(row_of(c, 4).state, STATE_BLOCKED);
    assert_int_equal(row_of(c, 4).reason, ASIDE_BEHIND);
}

/* covers: M62 M37 M39 */
static void ScheduledRetryExpires_Unblocks(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("order-1"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    assert_int_equal(fail_item(c, 1, &held.items[0], 60000), ANSWER_APPLIED);
    advance(c, 60000);
    struct item_list retry = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, retry), "1 2");
    assert_int_equal(retry.items[0].attempt, 2);
    assert_int_equal(retry.items[1].attempt, 1);
    complete_all(c, 1, retry);
    struct item_list last = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, last), "3");
    complete_all(c, 1, last);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 3);
}

/* covers: M40 M41 M42 */
static void failed_without_a_delay_is_claimable_at_once_processing_blocks_completed_does_not(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("order-1"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 1);
    advance(c, 1000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* 1 is being processed */
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2");
    assert_int_equal(complete(c, 1, &again.items[0]), ANSWER_APPLIED);
    assert_int_equal(release_item(c, 1, &again.items[1], 0), ANSWER_APPLIED);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2"); /* 1 is completed */
}

/* covers: M10 */
static void messages_without_a_stream_have_no_order(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 5, ABSENT);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers_sorted(c, held), "1 2 3 4 5");
    assert_int_equal(fail_item(c, 1, item_of(c, held, 1), 60000), ANSWER_APPLIED);
    for (int n = 5; n >= 2; n--)
        assert_int_equal(complete(c, 1, item_of(c, held, n)), ANSWER_APPLIED);
    put_range(c, KIND_OUTBOX, 6, 9, ABSENT);
    assert_string_equal(numbers_sorted(c, claim(c, 1, KIND_OUTBOX, 10)), "6 7 8 9");
}

static void a_blocked_stream_costs_the_others_of_its_lane_nothing(void **state) {
    struct conf *c = *state;
    pawl_str sick = stream_on(c, 1, 0);
    pawl_str well = stream_on(c, 1, 1);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, sick);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_item(c, 1, &held.items[0], 3600000), ANSWER_APPLIED);
    for (int n = 2; n <= 20; n += 2) {
        put(c, KIND_OUTBOX, n, sick);
        put(c, KIND_OUTBOX, n + 1, well);
    }
    struct item_list list = claim(c, 1, KIND_OUTBOX, 100);
    assert_string_equal(numbers(c, list), "3 5 7 9 11 13 15 17 19 21");
    complete_all(c, 1, list);
    advance(c, 3600000);
    list = claim(c, 1, KIND_OUTBOX, 100);
    assert_string_equal(numbers(c, list), "1 2 4 6 8 10 12 14 16 18 20");
    complete_all(c, 1, list);
}

static void streams_of_one_lane_are_told_apart_by_their_whole_name(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    /* A stream that looks like the key of another, or differs in case or accents, is another stream. */
    static const char *const names[] = {"a", "A", "a ", "\xc3\xa4", "a\xcc\x88", "1", "01"};
    for (int n = 0; n < 7; n++)
        put(c, KIND_OUTBOX, n, str_from(names[n]));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(held.count, 7);
    assert_int_equal(fail_item(c, 1, item_of(c, held, 0), 60000), ANSWER_APPLIED);
    for (int n = 1; n < 7; n++)
        assert_int_equal(complete(c, 1, item_of(c, held, n)), ANSWER_APPLIED);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(CrossInstanceStreamOrdering_PreventsClaiming),
    CONF_TEST(an_earlier_message_nobody_has_leased_still_goes_first),
    CONF_TEST(an_earlier_message_whose_lease_ran_out_still_goes_first),
    CONF_TEST(ScheduledRetry_BlocksLater),
    CONF_TEST(ScheduledRetryExpires_Unblocks),
    CONF_TEST(failed_without_a_delay_is_claimable_at_once_processing_blocks_completed_does_not),
    CONF_TEST(messages_without_a_stream_have_no_order),
    CONF_TEST(a_blocked_stream_costs_the_others_of_its_lane_nothing),
    CONF_TEST(streams_of_one_lane_are_told_apart_by_their_whole_name),
};

CONF_GROUP(order, tests);
