/* The scheduler of duties on a virtual clock: who has its turn, how long it waits, and what stops it. */
#include "support/check.h"

#include "engine/core/duties.h"

enum { START_MS = 1000000, JITTER_MS = 40 };

static const pawl_uuid me = {{1}}, me_again = {{2}};

static void add(struct duties *all, struct duty_rule rule) { assert_true(duties_add(all, &rule, START_MS)); }

/* The duty that has its turn now; -1 = none. */
static int next(struct duties *all, int64_t now_ms) {
    struct duty_order order = {0};
    return duties_next(all, me, now_ms, &order) ? (int)order.duty : -1;
}

static void end(struct duties *all, size_t duty, int64_t now_ms) {
    duties_ended(all, duty, &(struct duty_end){.held = true, .next_ms = -1}, now_ms);
}

static void fails(struct duties *all, size_t duty, int64_t now_ms) {
    duties_ended(all, duty, &(struct duty_end){.failed = true}, now_ms);
}

TEST(the_longest_due_goes_first) {
    struct duties all = {0};
    add(&all, (struct duty_rule){.first_ms = 30, .period_ms = 100});
    add(&all, (struct duty_rule){.first_ms = 10, .period_ms = 100});
    add(&all, (struct duty_rule){.first_ms = 20, .period_ms = 100});
    assert_int_equal(duties_due_ms(&all), START_MS + 10);
    assert_int_equal(next(&all, START_MS + 9), -1);
    assert_int_equal(next(&all, START_MS + 30), 1);
    assert_int_equal(next(&all, START_MS + 30), 2);
    assert_int_equal(next(&all, START_MS + 30), 0);
    assert_int_equal(next(&all, START_MS + 30), -1);
    assert_int_equal(duties_due_ms(&all), INT64_MAX); /* all of them are running */
    end(&all, 2, START_MS + 50);
    assert_int_equal(duties_due_ms(&all), START_MS + 150);
    duties_free(&all);
}

TEST(jitter_is_bounded_and_used) {
    struct duties all = {.random = 7};
    int64_t least_ms = INT64_MAX, most_ms = 0, now_ms = START_MS;
    add(&all, (struct duty_rule){.period_ms = 100, .jitter_ms = JITTER_MS});
    now_ms += JITTER_MS;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(next(&all, now_ms), 0);
        end(&all, 0, now_ms);
        int64_t wait_ms = duties_due_ms(&all) - now_ms;
        least_ms = wait_ms < least_ms ? wait_ms : least_ms;
        most_ms = wait_ms > most_ms ? wait_ms : most_ms;
        now_ms += wait_ms;
    }
    assert_int_equal(least_ms, 100);
    assert_int_equal(most_ms, 100 + JITTER_MS);
    duties_free(&all);
}

TEST(failures_are_followed_by_longer_waits_up_to_a_limit) {
    struct duties all = {.random = 7};
    int64_t now_ms = START_MS, limit_ms = DUTY_BACKOFF_MS;
    add(&all, (struct duty_rule){.period_ms = 5});
    for (int i = 0; i < 20; i++) {
        assert_int_equal(next(&all, now_ms), 0);
        fails(&all, 0, now_ms);
        int64_t wait_ms = duties_due_ms(&all) - now_ms;
        assert_in_range(wait_ms, limit_ms / 2, limit_ms);
        limit_ms = limit_ms * 2 < DUTY_BACKOFF_MS_MAX ? limit_ms * 2 : DUTY_BACKOFF_MS_MAX;
        now_ms += wait_ms;
    }
    assert_int_equal(next(&all, now_ms), 0);
    end(&all, 0, now_ms);
    assert_int_equal(duties_due_ms(&all), now_ms + 5);
    assert_int_equal(next(&all, now_ms + 5), 0);
    fails(&all, 0, now_ms + 5);
    assert_true(duties_due_ms(&all) <= now_ms + 5 + DUTY_BACKOFF_MS); /* a success starts it anew */
    duties_free(&all);
}

/* Nobody waits for it, and a whole fleet would repeat it. */
TEST(what_is_unhurried_waits_for_its_period_after_a_failure) {
    struct duties all = {.random = 7};
    int64_t now_ms = START_MS + JITTER_MS;
    add(&all, (struct duty_rule){.period_ms = 300000, .jitter_ms = JITTER_MS, .unhurried = true});
    for (int i = 0; i < 3; i++) {
        assert_int_equal(next(&all, now_ms), 0);
        fails(&all, 0, now_ms); /* even if the turn that failed had more to do */
        assert_in_range(duties_due_ms(&all) - now_ms, 300000, 300000 + JITTER_MS);
        now_ms = duties_due_ms(&all);
    }
    duties_free(&all);
}

TEST(a_wake_up_makes_it_due_at_once) {
    struct duties all = {0};
    add(&all, (struct duty_rule){.first_ms = 1000, .period_ms = 1000, .woken = true});
    add(&all, (struct duty_rule){.first_ms = 1000, .period_ms = 1000});
    duties_wake_all(&all, START_MS + 5);
    assert_int_equal(next(&all, START_MS + 5), 0);
    assert_int_equal(next(&all, START_MS + 5), -1);
    /* While it is running, what it looks at may be older than what it was woken for: it looks again. */
    duties_wake_all(&all, START_MS + 6);
    assert_int_equal(next(&all, START_MS + 6), -1);
    end(&all, 0, START_MS + 7);
    assert_int_equal(next(&all, START_MS + 7), 0);
    end(&all, 0, START_MS + 8);
    assert_int_equal(duties_due_ms(&all), START_MS + 1000);
    /* A wake-up ends a rest, and a backoff. */
    duties_rest(&all, 0, START_MS + 90000);
    assert_int_equal(next(&all, START_MS + 80000), 1);
    duties_wake(&all, 0, START_MS + 80000);
    assert_int_equal(next(&all, START_MS + 80000), 0);
    fails(&all, 0, START_MS + 80000);
    assert_int_equal(next(&all, START_MS + 80001), -1);
    duties_wake(&all, 0, START_MS + 80001);
    assert_int_equal(next(&all, START_MS + 80001), 0);
    duties_free(&all);
}

TEST(a_rest_that_begins_during_a_turn_lasts) {
    struct duties all = {0};
    add(&all, (struct duty_rule){.period_ms = 10});
    assert_int_equal(next(&all, START_MS), 0);
    duties_rest(&all, 0, START_MS + 5000);
    end(&all, 0, START_MS + 1);
    assert_int_equal(duties_due_ms(&all), START_MS + 5000);
    duties_free(&all);
}

TEST(a_lease_is_taken_kept_and_taken_again) {
    struct duties all = {0};
    struct duty_order order = {0};
    int64_t now_ms = START_MS;
    add(&all, (struct duty_rule){.period_ms = 0, .lease_ms = DUTY_LEASE_MS});
    assert_true(duties_next(&all, me, now_ms, &order) && order.take);
    duties_ended(&all, 0, &(struct duty_end){.held = false, .next_ms = -1}, now_ms); /* another has it */
    assert_int_equal(duties_due_ms(&all), now_ms + DUTY_LOOK_MS);
    now_ms += DUTY_LOOK_MS;
    assert_true(duties_next(&all, me, now_ms, &order) && order.take);
    int64_t taken_ms = now_ms;
    end(&all, 0, now_ms);
    for (; now_ms < taken_ms + DUTY_LEASE_MS / 3; now_ms += 100) {
        assert_true(duties_next(&all, me, now_ms, &order) && !order.take);
        end(&all, 0, now_ms);
    }
    assert_true(duties_next(&all, me, now_ms, &order) && order.take); /* renewed with two thirds left */
    end(&all, 0, now_ms);
    assert_true(duties_next(&all, me_again, now_ms, &order) && order.take); /* as a new instance */
    fails(&all, 0, now_ms);
    now_ms = duties_due_ms(&all);
    assert_true(duties_next(&all, me_again, now_ms, &order) && order.take); /* it may have been lost */
    duties_free(&all);
}

/* A holder that was stopped for a while asks for its lease before it does anything else. */
TEST(a_holder_that_pauses_asks_again) {
    struct duties all = {0};
    struct duty_order order = {0};
    add(&all, (struct duty_rule){.lease_ms = DUTY_LEASE_MS});
    assert_true(duties_next(&all, me, START_MS, &order) && order.take);
    end(&all, 0, START_MS);
    assert_true(duties_next(&all, me, START_MS + 10 * DUTY_LEASE_MS, &order) && order.take);
    duties_free(&all);
}

TEST(a_stop_leaves_what_is_leased) {
    struct duties all = {0};
    struct duty_order order = {0};
    add(&all, (struct duty_rule){.lease_ms = DUTY_LEASE_MS});
    add(&all, (struct duty_rule){.lease_ms = DUTY_LEASE_MS, .to_the_end = true});
    add(&all, (struct duty_rule){.period_ms = 10});
    add(&all, (struct duty_rule){.lease_ms = DUTY_LEASE_MS, .first_ms = 10}); /* it has never had a turn */
    assert_int_equal(next(&all, START_MS), 0);
    assert_int_equal(next(&all, START_MS), 1);
    assert_int_equal(next(&all, START_MS), 2);
    end(&all, 1, START_MS);
    end(&all, 2, START_MS);
    duties_stop(&all, false);
    /* The first is left even while its turn is running; the second goes on. */
    assert_true(duties_next(&all, me, START_MS + 100, &order));
    assert_true(order.leave && order.duty == 0);
    assert_true(duties_next(&all, me, START_MS + 100, &order));
    assert_true(!order.leave && order.duty == 1);
    assert_int_equal(next(&all, START_MS + 100), -1);
    end(&all, 0, START_MS + 100);
    end(&all, 1, START_MS + 100);
    duties_stop(&all, true);
    assert_true(duties_next(&all, me, START_MS + 200, &order));
    assert_true(order.leave && order.duty == 1);
    assert_int_equal(next(&all, START_MS + 900), -1);
    assert_int_equal(duties_due_ms(&all), INT64_MAX);
    duties_free(&all);
}

TEST(what_is_off_has_no_turns) {
    struct duties all = {0};
    add(&all, (struct duty_rule){.period_ms = 10});
    all.items[0].off = true;
    assert_int_equal(next(&all, START_MS + 50), -1);
    assert_int_equal(duties_due_ms(&all), INT64_MAX);
    all.items[0].off = false;
    assert_int_equal(next(&all, START_MS + 50), 0);
    duties_free(&all);
}

/* An instance that is not registered any more closes its session with the broker, once. */
TEST(what_is_leased_and_goes_off_is_left_once) {
    struct duties all = {0};
    struct duty_order order = {0};
    add(&all, (struct duty_rule){.lease_ms = DUTY_LEASE_MS});
    all.items[0].off = true;
    assert_int_equal(next(&all, START_MS), -1); /* it has never had a turn */
    all.items[0].off = false;
    assert_int_equal(next(&all, START_MS), 0);
    all.items[0].off = true;
    assert_int_equal(next(&all, START_MS), -1); /* not during the turn */
    end(&all, 0, START_MS);
    assert_true(duties_next(&all, me, START_MS, &order));
    assert_true(order.duty == 0 && order.leave && order.lost);
    all.items[0].off = false;
    assert_int_equal(next(&all, START_MS + 60000), -1); /* no turn before it has been left */
    duties_ended(&all, 0, &(struct duty_end){.next_ms = -1}, START_MS);
    all.items[0].off = true;
    assert_int_equal(next(&all, START_MS + 60000), -1);
    duties_stop(&all, true);
    assert_int_equal(next(&all, START_MS + 60000), -1); /* nothing is left to leave */
    all.stopping = all.ending = false;
    all.items[0].off = false;
    assert_true(duties_next(&all, me, START_MS + 60000, &order) && order.take && !order.leave);
    duties_free(&all);
}

/* One thread, and a duty that always has more to do: the others still get every turn they are due. */
TEST(none_starves) {
    struct duties all = {.random = 7};
    enum { DUTIES = 5, TURN_MS = 20, SECONDS = 60 };
    int turns[DUTIES] = {0};
    int64_t late_ms = 0;
    add(&all, (struct duty_rule){.period_ms = 0});
    for (int i = 1; i < DUTIES; i++)
        add(&all, (struct duty_rule){.period_ms = 1000, .jitter_ms = JITTER_MS, .woken = true});
    for (int64_t now_ms = START_MS; now_ms < START_MS + SECONDS * 1000; now_ms += TURN_MS) {
        int64_t due_ms = duties_due_ms(&all);
        int duty = next(&all, now_ms);
        if (duty < 0)
            continue;
        turns[duty]++;
        late_ms = now_ms - due_ms > late_ms ? now_ms - due_ms : late_ms;
        if (duty == 2)
            fails(&all, 2, now_ms + TURN_MS);
        else
            end(&all, (size_t)duty, now_ms + TURN_MS);
    }
    for (int i = 1; i < DUTIES; i++)
        assert_true(turns[i] >= (i == 2 ? SECONDS * 1000 / DUTY_BACKOFF_MS_MAX : SECONDS / 2));
    assert_true(turns[0] > SECONDS);
    assert_true(late_ms <= DUTIES * TURN_MS); /* no longer than a turn of each of the others */
    duties_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_due_goes_first),
        cmocka_unit_test(jitter_is_bounded_and_used),
        cmocka_unit_test(failures_are_followed_by_longer_waits_up_to_a_limit),
        cmocka_unit_test(what_is_unhurried_waits_for_its_period_after_a_failure),
        cmocka_unit_test(a_wake_up_makes_it_due_at_once),
        cmocka_unit_test(a_rest_that_begins_during_a_turn_lasts),
        cmocka_unit_test(a_lease_is_taken_kept_and_taken_again),
        cmocka_unit_test(a_holder_that_pauses_asks_again),
        cmocka_unit_test(a_stop_leaves_what_is_leased),
        cmocka_unit_test(what_is_off_has_no_turns),
        cmocka_unit_test(what_is_leased_and_goes_off_is_left_once),
        cmocka_unit_test(none_starves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
