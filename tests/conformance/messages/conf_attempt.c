/* Failed attempts of messages: noted with worker, time and error, a limited number of them, for a limited
 * time. */
#include "conformance/harness.h"

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX), TOOK_MS = 700 };

static struct attempt_rows attempts_of(struct conf *c, int n) {
    struct attempt_rows found = {.count = 0};
    ok(c, c->view->attempts(c->store, message_id(n), c->arena, &found, &c->err));
    return found;
}

/* Claims message n, which is due, and fails it after TOOK_MS. */
static void try_once(struct conf *c, int n, struct fail_item in) {
    struct item_list held = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(held.count, 1);
    advance(c, TOOK_MS);
    in.ref = (struct item_ref){.token = held.items[0].token, .id = message_id(n)};
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, in).answer, ANSWER_APPLIED);
}

static void every_failed_attempt_is_noted_with_its_worker_and_times(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, ABSENT);
    const int64_t began_ms = c->now_ms;
    try_once(c, 1, (struct fail_item){.error = STR("first"), .error_class = CLASS_RETRYABLE});
    assert_int_equal(attempts_of(c, 1).count, 1);
    try_once(c, 1, (struct fail_item){.error = STR("no such thing"), .error_class = CLASS_PERMANENT});
    struct attempt_rows found = attempts_of(c, 1);
    assert_int_equal(found.count, 2);
    const struct attempt_row *first = &found.rows[0], *last = &found.rows[1];
    assert_int_equal(first->number, 1);
    assert_int_equal(first->kind, KIND_OUTBOX);
    assert_int_equal(first->outcome, RUN_FAILED);
    assert_int_equal(first->started_ms, began_ms);
    assert_int_equal(first->finished_ms, began_ms + TOOK_MS);
    assert_true(uuid_equal(first->instance, instance_id(1)));
    assert_true(str_equal_cstr(first->error, "first"));
    assert_int_equal(last->number, 2);
    assert_int_equal(last->outcome, RUN_DEAD);
    assert_true(str_equal_cstr(last->error, "no such thing"));
    assert_int_equal(attempts_of(c, 2).count, 0);
}

static void what_succeeds_leaves_none_and_what_failed_before_is_still_known(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, ABSENT);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(attempts_of(c, 1).count, 0);
    put(c, KIND_OUTBOX, 2, ABSENT);
    try_once(c, 2, (struct fail_item){.error = STR("once"), .error_class = CLASS_RETRYABLE});
    held = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(attempts_of(c, 2).count, 1);
}

static void only_the_last_ones_are_kept(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, ABSENT);
    for (int i = 0; i < MESSAGE_ATTEMPTS_KEPT + 3; i++)
        try_once(c, 1,
                 (struct fail_item){.error = STR("again"),
                                    .error_class = CLASS_RETRYABLE,
                                    .max_attempts = PAWL_ATTEMPTS_MAX});
    struct attempt_rows found = attempts_of(c, 1);
    assert_int_equal(found.count, MESSAGE_ATTEMPTS_KEPT);
    assert_int_equal(found.rows[0].number, 4);
    assert_int_equal(found.rows[found.count - 1].number, MESSAGE_ATTEMPTS_KEPT + 3);
}

static void they_go_with_a_discarded_letter_and_with_time(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 2; n++) {
        put(c, KIND_OUTBOX, n, ABSENT);
        try_once(c, n, (struct fail_item){.error = STR("no"), .error_class = CLASS_PERMANENT});
    }
    assert_int_equal(discard(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    assert_int_equal(attempts_of(c, 1).count, 0);
    const struct maintain_in in = {.rows_max = 1000};
    struct maintain_result swept;
    advance(c, MESSAGE_ATTEMPTS_KEPT_MS);
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(attempts_of(c, 2).count, 1);
    advance(c, 1);
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(attempts_of(c, 2).count, 0);
}

/* What was lost twice is granted alone: only then is the message charged with the loss. */
static void an_attempt_that_took_its_worker_along_is_lost(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, ABSENT);
    int64_t began_ms = 0;
    for (int i = 0; i < 6 && attempts_of(c, 1).count == 0; i++) {
        if (claim(c, 1, KIND_OUTBOX, 1).count > 0 && attempts_of(c, 1).count == 0)
            began_ms = c->now_ms;
        if (attempts_of(c, 1).count == 0)
            advance(c, LEASE_MS);
    }
    assert_int_equal(attempts_of(c, 1).rows[0].started_ms, began_ms);
    struct attempt_rows found = attempts_of(c, 1);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.rows[0].outcome, RUN_LOST);
    assert_int_equal(found.rows[0].number, 1);
    assert_null(found.rows[0].error.ptr);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(every_failed_attempt_is_noted_with_its_worker_and_times),
    CONF_TEST(what_succeeds_leaves_none_and_what_failed_before_is_still_known),
    CONF_TEST(only_the_last_ones_are_kept),
    CONF_TEST(they_go_with_a_discarded_letter_and_with_time),
    CONF_TEST(an_attempt_that_took_its_worker_along_is_lost),
};

CONF_GROUP(attempt, tests);
