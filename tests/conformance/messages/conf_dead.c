/* Dead letters: how messages die, what happens to their streams, redrive and discard. */
#include "conformance/harness.h"

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* Claims messages first..last of one stream and fails the first for good under the policy. */
static struct item_list first_one_dies(struct conf *c, pawl_str stream, int last, enum dead_policy policy) {
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, last, stream);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 100);
    struct fail_item failure = failure_of(&held.items[0], "cannot be parsed", 0);
    failure.error_class = CLASS_PERMANENT;
    failure.policy = policy;
    struct fail_answer answer = fail_with(c, 1, KIND_OUTBOX, failure);
    assert_int_equal(answer.answer, ANSWER_APPLIED);
    assert_int_equal(answer.outcome, FAIL_DEAD);
    return held;
}

/* covers: B2.8 */
static void a_message_dies_at_its_last_attempt(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    for (int attempt = 1; attempt <= PAWL_ATTEMPTS_DEFAULT; attempt++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
        assert_int_equal(list.items[0].attempt, attempt);
        struct fail_answer answer = fail_with(c, 1, KIND_OUTBOX, failure_of(&list.items[0], "no route", 0));
        assert_int_equal(answer.outcome, attempt < PAWL_ATTEMPTS_DEFAULT ? FAIL_RETRY : FAIL_DEAD);
    }
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.state, STATE_DEAD);
    assert_int_equal(row.reason, DEAD_ATTEMPTS);
    assert_int_equal(row.attempts, PAWL_ATTEMPTS_DEFAULT);
    assert_int_equal(row.ended_ms, c->now_ms);
    assert_true(str_equal(row.error, STR("no route")));
    assert_true(row.fingerprint.len > 0);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 0);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
}

static void the_limit_of_the_call_goes_before_the_claim_s_and_the_claim_s_before_the_schema_s(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 3; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, n, 0));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.max_attempts = 2;
    struct item_list list = claim_with(c, in);
    struct fail_item now = failure_of(item_of(c, list, 1), "x", 0);
    now.max_attempts = 1;
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, now).outcome, FAIL_DEAD);
    struct fail_item later = failure_of(item_of(c, list, 2), "x", 0);
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, later).outcome, FAIL_RETRY);
    assert_int_equal(complete(c, 1, item_of(c, list, 3)), ANSWER_APPLIED);
    list = claim_with(c, in);
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure_of(item_of(c, list, 2), "x", 0)).outcome,
                     FAIL_DEAD);
    struct settings_change change = settings_same();
    change.max_attempts = 1;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    put(c, KIND_OUTBOX, 4, STR("d"));
    list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure_of(item_of(c, list, 4), "x", 0)).outcome,
                     FAIL_DEAD);
}

static void a_permanent_error_dies_at_once(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 1, POLICY_DEFAULT);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.reason, DEAD_PERMANENT);
    assert_int_equal(row.attempts, 1);
}

static void skip_is_the_default_and_the_stream_goes_on(void **state) {
    struct conf *c = *state;
    struct settings settings;
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    assert_int_equal(settings.dead_policy, POLICY_SKIP);
    struct item_list held = first_one_dies(c, STR("a"), 3, POLICY_DEFAULT);
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED); /* still in the claim */
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_APPLIED);
    put(c, KIND_OUTBOX, 4, STR("a"));
    struct item_list next = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, next), "4");
    complete_all(c, 1, next);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_true(again.items[0].out_of_order); /* 2, 3 and 4 went before it */
    assert_int_equal(again.items[0].attempt, 1);
    complete_all(c, 1, again);
    assert_int_equal(counted(c, KIND_OUTBOX).redriven, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 4);
}

static void a_redriven_message_does_not_take_a_delayed_one_along(void **state) {
    struct conf *c = *state;
    struct item_list held = first_one_dies(c, STR("a"), 2, POLICY_SKIP);
    assert_int_equal(release_item(c, 1, &held.items[1], 60000), ANSWER_APPLIED);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, list), "1");
    complete_all(c, 1, list);
    advance(c, 59999);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2");
}

static void block_stops_the_stream_until_a_redrive(void **state) {
    struct conf *c = *state;
    struct item_list held = first_one_dies(c, STR("a"), 3, POLICY_BLOCK);
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_STALE); /* successors were set aside */
    put(c, KIND_OUTBOX, 4, STR("a"));
    advance(c, 86400000 / 2);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    for (int n = 2; n <= 4; n++)
        assert_int_equal(row_of(c, n).state, STATE_BLOCKED);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2 3 4");
    assert_false(again.items[0].out_of_order); /* the stream waited for it */
    complete_all(c, 1, again);
}

static void blocks(struct conf *c, const struct item *item) {
    struct fail_item failure = failure_of(item, "cannot be parsed", 0);
    failure.error_class = CLASS_PERMANENT;
    failure.policy = POLICY_BLOCK;
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure).outcome, FAIL_DEAD);
}

/* A message may die while those before it are in flight: whatever becomes of them, its stream waits. */
static void a_blocked_stream_stays_blocked_when_an_earlier_message_ends(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    blocks(c, &held.items[1]);
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(redrive(c, KIND_OUTBOX, 2), ANSWER_APPLIED);
    held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, held), "1 2");
    blocks(c, &held.items[1]);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    put(c, KIND_OUTBOX, 3, STR("a"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(redrive(c, KIND_OUTBOX, 2), ANSWER_APPLIED);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2 3");
}

static void block_goes_on_without_it_after_a_discard(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 3, POLICY_BLOCK);
    assert_int_equal(discard(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 0);
    struct item_list rest = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, rest), "2 3");
    complete_all(c, 1, rest);
    struct kind_counts counts = counted(c, KIND_OUTBOX);
    assert_int_equal(counts.discarded, 1);
    assert_int_equal(counts.dead, 0);
    assert_int_equal(counts.ready, 0);
}

static void a_blocked_stream_with_nothing_behind_it_stays_blocked(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 1, POLICY_BLOCK);
    put(c, KIND_OUTBOX, 2, STR("a"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(row_of(c, 2).state, STATE_BLOCKED);
    assert_int_equal(discard(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2");
}

static void a_redriven_message_that_dies_again_blocks_again(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 2, POLICY_BLOCK);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_BLOCK);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2");
    complete_all(c, 1, again);
}

static void park_queues_the_successors_as_dead_letters_behind_it(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 3, POLICY_PARK);
    put(c, KIND_OUTBOX, 4, STR("a"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    for (int n = 2; n <= 4; n++) {
        assert_int_equal(row_of(c, n).state, STATE_DEAD);
        assert_int_equal(row_of(c, n).reason, DEAD_PARKED);
        assert_int_equal(redrive(c, KIND_OUTBOX, n), ANSWER_CONFLICT); /* redrive the one it waits for */
    }
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 4);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    assert_int_equal(counted(c, KIND_OUTBOX).redriven, 4);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2 3 4");
    assert_false(again.items[0].out_of_order);
    assert_int_equal(again.items[1].attempt, 1);
    complete_all(c, 1, again);
}

static void discarding_the_head_of_a_parked_stream_lets_the_rest_go_on(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 3, POLICY_PARK);
    assert_int_equal(discard(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list rest = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, rest), "2 3");
    complete_all(c, 1, rest);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0);
    put(c, KIND_OUTBOX, 4, STR("a"));
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "4"); /* nothing is parked any more */
}

static void what_waits_aside_is_parked_too(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED); /* 2 and 3 wait for 1 */
    struct item_list one = claim(c, 1, KIND_OUTBOX, 1);
    assert_string_equal(numbers(c, one), "1");
    struct fail_item failure = failure_of(&one.items[0], "bad", 0);
    failure.error_class = CLASS_PERMANENT;
    failure.policy = POLICY_PARK;
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure).outcome, FAIL_DEAD);
    assert_int_equal(row_of(c, 2).reason, DEAD_PARKED);
    assert_int_equal(row_of(c, 3).reason, DEAD_PARKED);
    assert_int_equal(counted(c, KIND_OUTBOX).aside, 0);
}

static void the_policy_of_the_claim_and_of_the_schema_hold_when_the_failure_names_none(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, stream_on(c, 0, 0));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.policy = POLICY_PARK;
    in.max_attempts = 1;
    struct item_list held = claim_with(c, in);
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    assert_int_equal(row_of(c, 2).reason, DEAD_PARKED);
    struct settings_change change = settings_same();
    change.dead_policy = POLICY_BLOCK;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    put_range(c, KIND_OUTBOX, 11, 12, stream_on(c, 1, 0));
    kill_message(c, 1, KIND_OUTBOX, 11, POLICY_DEFAULT);
    assert_int_equal(row_of(c, 12).state, STATE_BLOCKED);
    assert_int_equal(why_of(c, 12).cause, WHY_BLOCKED);
}

static void a_message_without_a_stream_blocks_nobody(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 40, ABSENT);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 100);
    for (int n = 1; n <= 3; n++) {
        struct fail_item failure = failure_of(item_of(c, held, n), "bad", 0);
        failure.error_class = CLASS_PERMANENT;
        failure.policy = (enum dead_policy)n;
        assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure).outcome, FAIL_DEAD);
    }
    for (int n = 40; n > 3; n--)
        assert_int_equal(complete(c, 1, item_of(c, held, n)), ANSWER_APPLIED);
    put_range(c, KIND_OUTBOX, 41, 80, ABSENT);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 100).count, 40);
    for (int n = 1; n <= 3; n++)
        assert_int_equal(redrive(c, KIND_OUTBOX, n), ANSWER_APPLIED);
    advance(c, 1000);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 100);
    assert_string_equal(numbers_sorted(c, again), "1 2 3");
    complete_all(c, 1, again);
}

static void many_are_redriven_in_order_and_each_is_answered(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    for (int n = 1; n <= 3; n++)
        kill_message(c, 1, KIND_OUTBOX, n, POLICY_SKIP);
    struct dead_ref refs[4] = {{KIND_OUTBOX, row_of(c, 3).item.seq},
                               {KIND_OUTBOX, row_of(c, 1).item.seq},
                               {KIND_OUTBOX, 987654321},
                               {KIND_INBOX, row_of(c, 2).item.seq}};
    struct answer_list answers;
    ok(c, c->core->dead_redrive(c->store, refs, 4, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    assert_int_equal(answers.answers[1], ANSWER_APPLIED);
    assert_int_equal(answers.answers[2], ANSWER_NOT_FOUND);
    assert_int_equal(answers.answers[3], ANSWER_NOT_FOUND);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1 3");
    ok(c, c->core->dead_discard(c->store, refs, 4, c->arena, &answers, &c->err));
    for (int i = 0; i < 4; i++)
        assert_int_equal(answers.answers[i], ANSWER_NOT_FOUND); /* no longer dead */
    assert_int_equal(row_of(c, 2).state, STATE_DEAD);
}

/* Reports name the token and the id, so they are not under one token. */
static void two_with_one_id_that_are_redriven_come_one_after_the_other(void **state) {
    struct conf *c = *state;
    struct dead_ref refs[2];
    struct answer_list answers;
    join(c, 1, OUTBOX_BIT);
    for (int n = 0; n < 2; n++) {
        put(c, KIND_OUTBOX, 1, stream_on(c, 0, n));
        struct item_list one = claim(c, 1, KIND_OUTBOX, 1);
        refs[n] = (struct dead_ref){KIND_OUTBOX, one.items[0].seq};
        blocks(c, &one.items[0]);
    }
    ok(c, c->core->dead_redrive(c->store, refs, 2, c->arena, &answers, &c->err));
    for (int n = 0; n < 2; n++) {
        struct item_list one = claim(c, 1, KIND_OUTBOX, 10);
        assert_int_equal(one.count, 1);
        assert_int_equal(one.items[0].seq, refs[n].seq);
        complete_all(c, 1, one);
    }
}

static void a_redrive_joins_a_stream_that_is_held_in_its_place(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_SKIP); /* 2 and 3 were released, they are aside now */
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1 2 3");
    assert_true(again.items[0].out_of_order);
    complete_all(c, 1, again);
}

static void parked_letters_have_no_life_of_their_own(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 2, POLICY_PARK);
    assert_int_equal(discard(c, KIND_OUTBOX, 2), ANSWER_CONFLICT);
    assert_true(str_absent(row_of(c, 2).fingerprint));
    assert_int_equal(row_of(c, 2).attempts, 0);
    struct dead_ref twice[2] = {{KIND_OUTBOX, row_of(c, 1).item.seq}, {KIND_OUTBOX, row_of(c, 1).item.seq}};
    struct answer_list answers;
    ok(c, c->core->dead_redrive(c->store, twice, 2, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    assert_int_equal(answers.answers[1], ANSWER_NOT_FOUND);
    assert_true(str_equal(row_of(c, 1).error, STR("cannot be parsed"))); /* its error text stays */
    assert_int_equal(row_of(c, 1).attempts, 0);
    assert_int_equal(row_of(c, 1).reason, ASIDE_REDRIVEN);
}

static void a_redriven_message_without_a_stream_is_in_order(void **state) {
    struct conf *c = *state;
    first_one_dies(c, ABSENT, 1, POLICY_DEFAULT);
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(again.count, 1);
    assert_false(again.items[0].out_of_order);
}

static enum store_answer edit(struct conf *c, int64_t seq, pawl_str payload) {
    struct dead_ref ref = {KIND_OUTBOX, seq};
    enum store_answer answer = ANSWER_STALE;
    ok(c, c->core->dead_edit(c->store, &ref, payload, &answer, &c->err));
    return answer;
}

static void an_edited_letter_is_handled_with_its_new_payload(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 2, POLICY_BLOCK);
    struct message_row before = row_of(c, 1);
    assert_int_equal(edit(c, before.item.seq, STR("{\"amount\": 12}")), ANSWER_APPLIED);
    struct message_row after = row_of(c, 1);
    assert_true(str_equal(after.item.payload, STR("{\"amount\": 12}")));
    assert_int_equal(after.state, STATE_DEAD);
    assert_int_equal(after.ended_ms, before.ended_ms);
    assert_true(str_equal(after.error, before.error));
    assert_int_equal(edit(c, row_of(c, 2).item.seq, STR("{}")),
                     ANSWER_NOT_FOUND); /* it is blocked, not dead */
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_true(str_equal(again.items[0].payload, STR("{\"amount\": 12}")));
    assert_int_equal(edit(c, before.item.seq, STR("{}")), ANSWER_NOT_FOUND);
}

static void an_edit_needs_json(void **state) {
    struct conf *c = *state;
    first_one_dies(c, STR("a"), 1, POLICY_DEFAULT);
    struct dead_ref ref = {KIND_OUTBOX, row_of(c, 1).item.seq};
    enum store_answer answer = ANSWER_STALE;
    assert_int_equal(c->core->dead_edit(c->store, &ref, STR("{\"amount\""), &answer, &c->err), PAWL_INVALID);
    assert_int_equal(answer, ANSWER_STALE);
    ref.kind = (enum store_kind)9;
    assert_int_equal(c->core->dead_edit(c->store, &ref, STR("{}"), &answer, &c->err), PAWL_INVALID);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_message_dies_at_its_last_attempt),
    CONF_TEST(the_limit_of_the_call_goes_before_the_claim_s_and_the_claim_s_before_the_schema_s),
    CONF_TEST(a_permanent_error_dies_at_once),
    CONF_TEST(skip_is_the_default_and_the_stream_goes_on),
    CONF_TEST(a_redriven_message_does_not_take_a_delayed_one_along),
    CONF_TEST(block_stops_the_stream_until_a_redrive),
    CONF_TEST(a_blocked_stream_stays_blocked_when_an_earlier_message_ends),
    CONF_TEST(block_goes_on_without_it_after_a_discard),
    CONF_TEST(a_blocked_stream_with_nothing_behind_it_stays_blocked),
    CONF_TEST(a_redriven_message_that_dies_again_blocks_again),
    CONF_TEST(park_queues_the_successors_as_dead_letters_behind_it),
    CONF_TEST(discarding_the_head_of_a_parked_stream_lets_the_rest_go_on),
    CONF_TEST(what_waits_aside_is_parked_too),
    CONF_TEST(the_policy_of_the_claim_and_of_the_schema_hold_when_the_failure_names_none),
    CONF_TEST(a_message_without_a_stream_blocks_nobody),
    CONF_TEST(many_are_redriven_in_order_and_each_is_answered),
    CONF_TEST(two_with_one_id_that_are_redriven_come_one_after_the_other),
    CONF_TEST(a_redrive_joins_a_stream_that_is_held_in_its_place),
    CONF_TEST(parked_letters_have_no_life_of_their_own),
    CONF_TEST(a_redriven_message_without_a_stream_is_in_order),
    CONF_TEST(an_edited_letter_is_handled_with_its_new_payload),
    CONF_TEST(an_edit_needs_json),
};

CONF_GROUP(dead, tests);
