/* Tests of the history checker: one sound history, and one broken by hand for each of its rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "sim/history/history.h"

enum { LEASE_MS = 1000, STREAM = 0, NOW = 10000 };

static bool never_dead(void *self, int message) {
    (void)self, (void)message;
    return false;
}

/* Three messages of one stream, put and given to instance 0 under token 10. */
struct story {
    struct history h;
    int first, second, third, one, two;
};

static struct item item_of(int64_t token, int64_t now_ms) {
    return (struct item){.token = token, .lease_until_ms = now_ms + LEASE_MS, .attempt = 1};
}

static void begin(struct story *s, enum dead_policy policy) {
    struct history_rules rules = {policy, 3, LEASE_MS, LEASE_MS};
    history_init(&s->h, &rules, 1);
    s->h.is_dead = never_dead;
    s->first = history_message_new(&s->h, KIND_OUTBOX, STREAM, true);
    s->second = history_message_new(&s->h, KIND_OUTBOX, STREAM, true);
    s->third = history_message_new(&s->h, KIND_OUTBOX, STREAM, false);
    s->one = history_instance_new(&s->h);
    s->two = history_instance_new(&s->h);
    for (int i = 0; i < 3; i++)
        history_put(&s->h, i, ANSWER_APPLIED);
    history_instance_lease(&s->h, s->one, NOW + LEASE_MS);
    history_instance_lease(&s->h, s->two, NOW + LEASE_MS * 100);
    struct item item = item_of(10, NOW);
    history_call_begins(&s->h);
    for (int i = 0; i < 3; i++)
        history_granted(&s->h, i, &item, s->one, NOW);
}

static int run(struct story *s, int message, int64_t token, int64_t now_ms) {
    int number = history_began(&s->h, message, token, s->one, now_ms);
    history_effect(&s->h, number);
    history_ended(&s->h, number);
    return number;
}

static void do_message(struct story *s, int message, int64_t token) {
    run(s, message, token, NOW);
    history_completed(&s->h, message, token, ANSWER_APPLIED, NOW);
}

static void grant(struct story *s, int message, int64_t token, int instance, int64_t now_ms) {
    struct item item = item_of(token, now_ms);
    history_call_begins(&s->h);
    history_granted(&s->h, message, &item, instance, now_ms);
}

/* The story so far broke this rule (NULL: none). */
static void expect(struct story *s, const char *rule) {
    if (rule == NULL) {
        assert_string_equal(s->h.violated ? s->h.text : "", "");
    } else {
        assert_true(s->h.violated);
        assert_string_equal(s->h.rule, rule);
    }
    history_free(&s->h);
}

static int number_zero(pawl_uuid id) { return id.b[0]; }

static void end(struct story *s, const struct message_row *row) {
    struct message_row copy = row != NULL ? *row : (struct message_row){0};
    struct message_rows rows = {.rows = &copy, .count = row != NULL ? 1 : 0};
    history_end(&s->h, &rows, number_zero, true);
}

static void test_a_sound_history(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    do_message(&s, s.first, 10);
    history_completed(&s.h, s.first, 10, ANSWER_DUPLICATE, NOW);
    do_message(&s, s.second, 10);
    /* The third is lost with its worker, run again by another, and the first worker's report is refused. */
    int zombie = history_began(&s.h, s.third, 10, s.one, NOW);
    int64_t later_ms = NOW + LEASE_MS * 2;
    struct item item = {.token = 11, .lease_until_ms = later_ms + LEASE_MS, .attempt = 1, .suspect = true};
    history_call_begins(&s.h);
    history_granted(&s.h, s.third, &item, s.two, later_ms);
    int again = history_began(&s.h, s.third, 11, s.two, later_ms);
    history_effect(&s.h, zombie);
    history_ended(&s.h, zombie);
    history_completed(&s.h, s.third, 10, ANSWER_STALE, later_ms);
    history_effect(&s.h, again);
    history_ended(&s.h, again);
    history_completed(&s.h, s.third, 11, ANSWER_APPLIED, later_ms);
    end(&s, NULL);
    assert_int_equal(s.h.zombie_effects, 1);
    assert_int_equal(s.h.stale_refused, 1);
    assert_int_equal(s.h.accepted, 3);
    expect(&s, NULL);
}

static void test_puts(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    history_put(&s.h, s.first, ANSWER_APPLIED);
    expect(&s, "put_once");
    begin(&s, POLICY_SKIP);
    history_put(&s.h, history_message_new(&s.h, KIND_OUTBOX, -1, true), ANSWER_DUPLICATE);
    expect(&s, "put");
}

static void test_order_and_turns(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    run(&s, s.second, 10, NOW);
    expect(&s, "turn");
    begin(&s, POLICY_SKIP);
    run(&s, s.first, 10, NOW);
    run(&s, s.second, 10, NOW);
    history_completed(&s.h, s.second, 10, ANSWER_APPLIED, NOW);
    expect(&s, "order");
    begin(&s, POLICY_SKIP);
    (void)history_began(&s.h, s.first, 10, s.one, NOW);
    (void)history_began(&s.h, s.second, 10, s.one, NOW);
    expect(&s, "concurrent");
    /* Under block a dead letter stops its stream, under skip it does not. */
    begin(&s, POLICY_BLOCK);
    (void)history_began(&s.h, s.first, 10, s.one, NOW);
    history_ended(&s.h, 0);
    history_failed(&s.h, s.first, 10, ANSWER_APPLIED, FAIL_DEAD, true, NOW);
    grant(&s, s.second, 11, s.two, NOW);
    (void)history_began(&s.h, s.second, 11, s.two, NOW);
    expect(&s, "turn");
    begin(&s, POLICY_SKIP);
    (void)history_began(&s.h, s.first, 10, s.one, NOW);
    history_ended(&s.h, 0);
    history_failed(&s.h, s.first, 10, ANSWER_APPLIED, FAIL_DEAD, true, NOW);
    do_message(&s, s.second, 10);
    expect(&s, NULL);
}

static void test_tokens(void **state) {
    (void)state;
    struct story s;
    int64_t later_ms = NOW + LEASE_MS * 2;
    begin(&s, POLICY_SKIP);
    grant(&s, s.first, 11, s.two, NOW);
    expect(&s, "taken_from_living");
    begin(&s, POLICY_SKIP);
    grant(&s, s.first, 10, s.two, NOW);
    expect(&s, "token_unique");
    begin(&s, POLICY_SKIP);
    grant(&s, s.first, 9, s.two, later_ms);
    expect(&s, "token_grows");
    begin(&s, POLICY_SKIP);
    run(&s, s.first, 10, NOW);
    grant(&s, s.first, 11, s.two, later_ms);
    history_completed(&s.h, s.first, 10, ANSWER_APPLIED, later_ms);
    expect(&s, "stale_accepted");
    begin(&s, POLICY_SKIP);
    history_renewed(&s.h, s.two, 10, -1, ANSWER_APPLIED, NOW);
    expect(&s, "stale_accepted");
    begin(&s, POLICY_SKIP);
    do_message(&s, s.first, 10);
    grant(&s, history_message_new(&s.h, KIND_OUTBOX, -1, true), 11, s.one, NOW);
    expect(&s, "granted_ended");
    begin(&s, POLICY_SKIP);
    do_message(&s, s.first, 10);
    grant(&s, s.first, 11, s.one, NOW);
    expect(&s, "granted_ended");
    begin(&s, POLICY_SKIP);
    int fourth = history_message_new(&s.h, KIND_OUTBOX, STREAM, true);
    history_put(&s.h, fourth, ANSWER_APPLIED);
    grant(&s, fourth, 11, s.two, NOW);
    expect(&s, "one_token");
}

static void test_reports(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    history_completed(&s.h, s.first, 10, ANSWER_APPLIED, NOW);
    expect(&s, "no_effect");
    begin(&s, POLICY_SKIP);
    do_message(&s, s.first, 10);
    history_completed(&s.h, s.first, 10, ANSWER_APPLIED, NOW);
    expect(&s, "completed_twice");
    begin(&s, POLICY_SKIP);
    history_completed(&s.h, s.first, 10, ANSWER_STALE, NOW);
    expect(&s, "living_refused");
    begin(&s, POLICY_SKIP);
    history_completed(&s.h, s.first, 10, ANSWER_DUPLICATE, NOW);
    expect(&s, "false_duplicate");
    begin(&s, POLICY_SKIP);
    history_released(&s.h, s.first, 10, ANSWER_APPLIED, NOW);
    run(&s, s.second, 10, NOW);
    expect(&s, "fence");
    begin(&s, POLICY_SKIP);
    history_released(&s.h, s.first, 10, ANSWER_NOT_FOUND, NOW);
    expect(&s, "answer");
}

static void test_fences(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    run(&s, s.first, 10, NOW + LEASE_MS);
    expect(&s, "fence");
    begin(&s, POLICY_SKIP);
    run(&s, s.first, 10, NOW + LEASE_MS - 1);
    expect(&s, "fence");
    /* The message's lease was renewed, the instance's was not. */
    begin(&s, POLICY_SKIP);
    history_renewed(&s.h, s.one, 10, -1, ANSWER_APPLIED, NOW + 900);
    run(&s, s.first, 10, NOW + LEASE_MS);
    expect(&s, "fence");
    begin(&s, POLICY_SKIP);
    history_renewed(&s.h, s.one, 10, -1, ANSWER_APPLIED, NOW + 900);
    history_instance_lease(&s.h, s.one, NOW + 900 + LEASE_MS);
    run(&s, s.first, 10, NOW + LEASE_MS);
    expect(&s, NULL);
    begin(&s, POLICY_SKIP);
    run(&s, s.first, 10, NOW);
    run(&s, s.first, 10, NOW);
    expect(&s, "ran_twice");
    begin(&s, POLICY_SKIP);
    history_instance_left(&s.h, s.one, NOW);
    history_instance_lease(&s.h, s.one, NOW + LEASE_MS * 9);
    expect(&s, "instance_gone");
}

static void test_attempts_and_deaths(void **state) {
    (void)state;
    struct story s;
    int64_t later_ms = NOW + LEASE_MS * 2;
    struct item item = item_of(11, later_ms);
    item.attempt = 2;
    begin(&s, POLICY_SKIP);
    history_call_begins(&s.h);
    history_granted(&s.h, s.first, &item, s.two, later_ms);
    expect(&s, "attempts");
    begin(&s, POLICY_SKIP);
    history_instance_left(&s.h, s.one, NOW); /* in good order: no death */
    item.deaths = 1;
    history_call_begins(&s.h);
    history_granted(&s.h, s.first, &item, s.two, later_ms);
    expect(&s, "deaths");
    begin(&s, POLICY_SKIP); /* lost, but not as a suspect that had begun */
    history_call_begins(&s.h);
    history_granted(&s.h, s.first, &item, s.two, later_ms);
    expect(&s, "deaths");
    begin(&s, POLICY_SKIP);
    item = item_of(11, NOW);
    item.suspect = true;
    history_instance_left(&s.h, s.one, NOW);
    history_call_begins(&s.h);
    history_granted(&s.h, s.first, &item, s.two, NOW);
    expect(&s, "suspect");
    item = item_of(11, later_ms);
    item.attempt = 2;
    begin(&s, POLICY_SKIP);
    (void)history_began(&s.h, s.first, 10, s.one, NOW);
    history_failed(&s.h, s.first, 10, ANSWER_APPLIED, FAIL_DEAD, false, NOW);
    expect(&s, "death");
    begin(&s, POLICY_SKIP);
    for (int i = 0; i < 6; i++)
        history_killed(&s.h, s.first);
    expect(&s, "poison");
    begin(&s, POLICY_SKIP);
    s.h.messages[s.first].fails = 3;
    item = (struct item){.token = 11, .lease_until_ms = later_ms + LEASE_MS, .attempt = 4};
    history_call_begins(&s.h);
    history_granted(&s.h, s.first, &item, s.two, later_ms);
    expect(&s, "max_attempts");
    begin(&s, POLICY_SKIP);
    s.h.instances[s.one].watched = true;
    grant(&s, s.first, 11, s.two, later_ms);
    expect(&s, "lost_grant");
}

/* Instance one says that it holds the first of the three messages, or none. */
static void settle(struct story *s, size_t held) {
    const struct grant_held first = {10, 1};
    const struct grants_settle known = {
        .side = GRANTS_MESSAGES, .held = &first, .count = held, .settled = 10};
    s->h.instances[s->one].watched = true;
    for (int i = 0; i < 3; i++)
        s->h.messages[i].seq = i + 1;
    history_settled(&s->h, s->one, &known, NOW);
}

static void test_what_a_holder_knows(void **state) {
    (void)state;
    struct story s;
    begin(&s, POLICY_SKIP);
    settle(&s, 0);
    expect(&s, "unknown_grant");
    begin(&s, POLICY_SKIP); /* it gives the first one back, and the others with it */
    settle(&s, 1);
    expect(&s, NULL);
    begin(&s, POLICY_SKIP);
    (void)history_began(&s.h, s.first, 10, s.one, NOW);
    settle(&s, 1);
    expect(&s, "unknown_grant");
}

static void test_ends(void **state) {
    (void)state;
    struct story s;
    struct message_row row = {.state = STATE_READY};
    begin(&s, POLICY_SKIP);
    end(&s, NULL);
    expect(&s, "lost");
    begin(&s, POLICY_SKIP);
    end(&s, &row);
    expect(&s, "ended");
    row = (struct message_row){.state = STATE_DEAD, .reason = DEAD_KILLED, .item = {.deaths = 3}};
    struct message_rows rows = {.rows = &row, .count = 1};
    begin(&s, POLICY_SKIP);
    do_message(&s, s.first, 10);
    history_dead_seen(&s.h, &rows, number_zero);
    expect(&s, "dead_and_done");
    begin(&s, POLICY_SKIP);
    history_dead_seen(&s.h, &rows, number_zero);
    expect(&s, "deaths");
    begin(&s, POLICY_SKIP);
    s.h.messages[s.first].charges = 3;
    history_dead_seen(&s.h, &rows, number_zero);
    rows.count = 0;
    history_dead_seen(&s.h, &rows, number_zero);
    expect(&s, "dead_lost");
    rows.count = 1;
    row.reason = DEAD_PARKED;
    begin(&s, POLICY_SKIP);
    history_dead_seen(&s.h, &rows, number_zero);
    expect(&s, "death");
    row.reason = DEAD_KILLED;
    begin(&s, POLICY_SKIP);
    s.h.messages[s.first].charges = 3;
    do_message(&s, s.second, 10); /* breaks turn as well: only the first violation is kept */
    expect(&s, "turn");
    begin(&s, POLICY_SKIP);
    s.h.messages[s.first].charges = 3;
    history_dead_seen(&s.h, &rows, number_zero);
    do_message(&s, s.second, 10);
    do_message(&s, s.third, 10);
    end(&s, &row);
    expect(&s, "innocent");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sound_history),
        cmocka_unit_test(test_puts),
        cmocka_unit_test(test_order_and_turns),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_fences),
        cmocka_unit_test(test_attempts_and_deaths),
        cmocka_unit_test(test_what_a_holder_knows),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
