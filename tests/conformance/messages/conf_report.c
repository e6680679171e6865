/* Reports: complete, fail, release, renew. */
#include "conformance/harness.h"

#include <string.h>

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX), STORED = 1, PUBLISHED = 2, COMPLETED = 4, FAILED = 8 };

/* Completes the named messages of the list in one call and gives back "applied conflict …" as digits of the
 * enum. */
static const char *complete_numbers(struct conf *c, struct item_list list, const int *which, size_t count) {
    struct complete_item *items = arena_array(c->arena, count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = item_of(c, list, which[i]);
        items[i] = (struct complete_item){.ref = {.token = item->token, .id = item->id}, .status = COMPLETED};
    }
    struct messages_complete in = {
        .instance = instance_id(1), .kind = list.items[0].kind, .items = items, .count = count};
    struct answer_list answers;
    ok(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err));
    char *text = arena_alloc(c->arena, count + 1);
    for (size_t i = 0; i < count; i++)
        text[i] = "?ADSCIN"[answers.answers[i]];
    return text;
}

/* covers: W23 W24 W25 W41 */
static void completion_removes_the_message(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete_status(c, 1, &held.items[0], PUBLISHED), ANSWER_APPLIED);
    assert_int_equal(complete_status(c, 1, &held.items[1], STORED | PUBLISHED | COMPLETED), ANSWER_APPLIED);
    assert_int_equal(complete_status(c, 1, &held.items[2], COMPLETED), ANSWER_APPLIED);
    for (int n = 1; n <= 3; n++)
        assert_int_equal(rows_with_id(c, n), 0);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 3);
    assert_int_equal(counted(c, KIND_OUTBOX).leased, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).claims_active, 0);
}

/* covers: B2.12 BX.3 M35 */
static void a_status_that_completes_nothing_is_invalid_and_deletes_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    static const int wrong[] = {0, STORED, FAILED, COMPLETED | FAILED, PUBLISHED | FAILED};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(complete_status(c, 1, &held.items[0], wrong[i]), ANSWER_INVALID);
    assert_int_equal(row_of(c, 1).state, STATE_LEASED);
    /* Giving back without completing has a word of its own. */
    assert_int_equal(release_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 1);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1");
}

/* A token alone is not the grant: a whole claim, and one item of it, under the name of another instance. */
static void a_token_in_the_hands_of_another_instance_is_stale(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    put(c, KIND_OUTBOX, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    join(c, 2, OUTBOX_BIT);
    struct complete_item both[] = {{{held.items[0].token, held.items[0].id}, COMPLETED},
                                   {{held.items[1].token, held.items[1].id}, COMPLETED}};
    struct messages_complete in = {
        .instance = instance_id(2), .kind = KIND_OUTBOX, .items = both, .count = 2};
    struct answer_list answers;
    ok(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_STALE);
    assert_int_equal(answers.answers[1], ANSWER_STALE);
    assert_int_equal(complete(c, 2, &held.items[0]), ANSWER_STALE);
    assert_int_equal(release_item(c, 2, &held.items[0], 0), ANSWER_STALE);
    assert_int_equal(row_of(c, 1).state, STATE_LEASED);
    assert_int_equal(row_of(c, 2).state, STATE_LEASED);
    complete_all(c, 1, held);
    assert_int_equal(complete(c, 2, &held.items[0]), ANSWER_STALE); /* nor is it done by this one */
}

/* covers: B3.8 */
static void completing_again_is_a_duplicate(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_DUPLICATE); /* in the claim's done ids */
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_DUPLICATE); /* the claim is done */
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_DUPLICATE);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 2);
}

/* covers: B3.1 BX.7 */
static void a_wrong_token_or_id_is_stale_and_changes_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 1);
    struct item wrong = held.items[0];
    wrong.token++;
    assert_int_equal(complete(c, 1, &wrong), ANSWER_STALE);
    wrong.token = 0;
    assert_int_equal(complete(c, 1, &wrong), ANSWER_STALE);
    assert_int_equal(fail_item(c, 1, &wrong, 0), ANSWER_STALE);
    assert_int_equal(release_item(c, 1, &wrong, 0), ANSWER_STALE);
    assert_int_equal(renew_item(c, 1, &wrong, LEASE_MS), ANSWER_STALE);
    assert_int_equal(renew_token(c, 1, &wrong, LEASE_MS), ANSWER_STALE);
    wrong = held.items[0];
    wrong.id = message_id(2); /* exists, but is not in this claim */
    assert_int_equal(complete(c, 1, &wrong), ANSWER_STALE);
    wrong.id = message_id(99);
    assert_int_equal(complete(c, 1, &wrong), ANSWER_STALE);
    assert_int_equal(counted(c, KIND_OUTBOX).stale, 8);
    wrong = held.items[0];
    wrong.kind = KIND_INBOX;
    assert_int_equal(complete(c, 1, &wrong), ANSWER_STALE);
    assert_int_equal(release_item(c, 1, &wrong, 0), ANSWER_STALE);
    assert_int_equal(row_of(c, 1).state, STATE_LEASED);
    assert_int_equal(row_of(c, 2).state, STATE_READY);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
}

static void completions_form_a_prefix_per_stream(void **state) {
    struct conf *c = *state;
    pawl_str other = stream_on(c, lane_of_stream(c, STR("a")), 3);
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 4, STR("a"));
    put(c, KIND_OUTBOX, 5, other);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, item_of(c, held, 2)), ANSWER_CONFLICT);
    assert_string_equal(complete_numbers(c, held, (int[]){1, 3, 5}, 3),
                        "ACA"); /* other streams do not care */
    assert_string_equal(complete_numbers(c, held, (int[]){3, 4}, 2), "CC");
    assert_string_equal(complete_numbers(c, held, (int[]){4, 2, 3}, 3),
                        "AAA"); /* together they are the prefix */
    assert_int_equal(counted(c, KIND_OUTBOX).done, 5);
}

static void the_prefix_counts_over_all_parts_of_a_token(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(renew_item(c, 1, &held.items[1], 2 * LEASE_MS),
                     ANSWER_APPLIED); /* splits: {1, 3} and {2} */
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_CONFLICT);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_CONFLICT);
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_APPLIED);
}

static void a_late_completion_that_nobody_forestalled_is_applied(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS + 1);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 0);
}

/* covers: M34 W26 */
static void a_failure_is_counted_stored_and_scheduled(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    struct fail_item failure = failure_of(&held.items[0], "connection refused", 300000);
    failure.stack = STR("at publish()\nat main()");
    struct fail_answer answer = fail_with(c, 1, KIND_OUTBOX, failure);
    assert_int_equal(answer.answer, ANSWER_APPLIED);
    assert_int_equal(answer.outcome, FAIL_RETRY);
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.state, STATE_SCHEDULED);
    assert_int_equal(row.attempts, 1);
    assert_int_equal(row.scheduled_ms, c->now_ms + 300000);
    assert_int_equal(row.reason, ASIDE_FAILED);
    assert_true(str_equal(row.error, STR("connection refused\nat publish()\nat main()")));
    assert_true(uuid_is_nil(row.claimed_by)); /* the lease is gone */
    assert_int_equal(counted(c, KIND_OUTBOX).failed, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).claims_active, 0);
}

static void a_long_error_is_cut_between_characters(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    char *text = arena_alloc(c->arena, PAWL_ERROR_BYTES_MAX + 11);
    memset(text, 'x', PAWL_ERROR_BYTES_MAX + 10);
    memcpy(text + PAWL_ERROR_BYTES_MAX - 1, "\xc3\xa9", 2); /* the limit falls inside this character */
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure_of(&held.items[0], text, 0)).answer,
                     ANSWER_APPLIED);
    assert_int_equal(row_of(c, 1).error.len, PAWL_ERROR_BYTES_MAX - 1);
}

static void without_a_delay_of_its_own_a_failure_waits_for_the_backoff(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    int64_t base_ms = 1000;
    for (int attempt = 1; attempt <= 4; attempt++, base_ms *= 2) {
        struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
        assert_int_equal(held.count, 1);
        assert_int_equal(held.items[0].attempt, attempt);
        assert_int_equal(fail_item(c, 1, &held.items[0], -1), ANSWER_APPLIED);
        int64_t delay_ms = row_of(c, 1).scheduled_ms - c->now_ms;
        assert_in_range(delay_ms, base_ms / 2, base_ms);
        advance(c, base_ms);
    }
}

static void successors_of_a_failure_leave_the_claim_untouched(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(fail_item(c, 1, &held.items[1], 1000), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_STALE); /* it left the claim */
    struct message_row row = row_of(c, 3);
    assert_int_equal(row.state, STATE_BLOCKED);
    assert_int_equal(row.reason, ASIDE_BEHIND);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.item.deaths, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).claims_active, 0);
    advance(c, 1000);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "2 3");
    complete_all(c, 1, again);
}

static void successors_in_another_claim_of_the_lane_leave_it_too(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(renew_item(c, 1, &held.items[2], 2 * LEASE_MS),
                     ANSWER_APPLIED); /* 3 is a part of its own */
    assert_int_equal(fail_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    assert_int_equal(renew_item(c, 1, &held.items[2], LEASE_MS), ANSWER_STALE);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1 2 3");
}

static void a_release_costs_no_attempt_and_takes_the_successors_along(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(release_item(c, 1, &held.items[1], 5000), ANSWER_APPLIED);
    struct message_row row = row_of(c, 2);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(row.item.deaths, 0);
    assert_int_equal(row.reason, ASIDE_RELEASED);
    assert_int_equal(row.scheduled_ms, c->now_ms + 5000);
    assert_int_equal(row_of(c, 3).reason, ASIDE_RELEASED);
    assert_int_equal(release_item(c, 1, &held.items[2], 0), ANSWER_STALE);
    advance(c, 4999);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "2 3");
    assert_int_equal(again.items[0].attempt, 1);
    complete_all(c, 1, again);
}

/* covers: W34 */
static void renewing_the_token_extends_everything_in_it(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS - 1);
    assert_int_equal(renew_token(c, 1, &held.items[0], LEASE_MS), ANSWER_APPLIED);
    assert_int_equal(row_of(c, 1).item.lease_until_ms, c->now_ms + LEASE_MS);
    assert_int_equal(row_of(c, 2).item.lease_until_ms, c->now_ms + LEASE_MS);
    advance(c, LEASE_MS - 1);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* nothing expired */
    complete_all(c, 1, held);
}

static void renewing_some_ids_splits_the_claim(void **state) {
    struct conf *c = *state;
    pawl_str hung = stream_on(c, 2, 0);
    pawl_str busy = stream_on(c, 2, 1);
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, hung);
    put(c, KIND_OUTBOX, 2, busy);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(held.items[0].token, held.items[1].token);
    assert_int_equal(renew_item(c, 1, item_of(c, held, 2), 2 * LEASE_MS), ANSWER_APPLIED);
    assert_int_equal(row_of(c, 1).item.lease_until_ms, c->now_ms + LEASE_MS);
    assert_int_equal(row_of(c, 2).item.lease_until_ms, c->now_ms + 2 * LEASE_MS);
    assert_int_equal(row_of(c, 2).item.token, held.items[0].token); /* the same token */
    assert_int_equal(counted(c, KIND_OUTBOX).claims_active, 2);
    advance(c, LEASE_MS);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "");   /* it waits to run alone */
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_STALE); /* the hung one did not live on */
    assert_int_equal(complete(c, 1, item_of(c, held, 2)), ANSWER_APPLIED);
    struct item_list taken_back = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, taken_back), "1");
    complete_all(c, 1, taken_back);
}

static void one_item_s_answer_leaves_the_others_alone(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, ABSENT);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    struct complete_item items[4] = {0};
    for (int i = 0; i < 3; i++)
        items[i] =
            (struct complete_item){.ref = {held.items[i].token, held.items[i].id}, .status = COMPLETED};
    items[1].ref.token = 1;
    items[2].status = 0;
    items[3] = items[0];
    struct messages_complete in = {
        .instance = instance_id(1), .kind = KIND_OUTBOX, .items = items, .count = 4};
    struct answer_list answers;
    ok(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err));
    assert_int_equal(answers.count, 4);
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    assert_int_equal(answers.answers[1], ANSWER_STALE);
    assert_int_equal(answers.answers[2], ANSWER_INVALID);
    assert_int_equal(answers.answers[3], ANSWER_DUPLICATE);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 1);
}

/* covers: B2.15 */
static void a_completed_message_stays_readable_when_history_is_kept_or_debug_asks(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 0);
    struct complete_item one = {.ref = {held.items[1].token, held.items[1].id}, .status = COMPLETED};
    struct messages_complete in = {
        .instance = instance_id(1), .kind = KIND_OUTBOX, .items = &one, .count = 1, .debug = true};
    struct answer_list answers;
    ok(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err));
    struct message_row row = row_of(c, 2);
    assert_int_equal(row.state, STATE_DONE);
    assert_int_equal(row.ended_ms, c->now_ms);
    assert_true(str_equal(row.item.payload, STR("{\"n\":2}")));
    struct settings_change change = settings_same();
    change.history_ms = 3600000;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_APPLIED);
    assert_int_equal(row_of(c, 3).state, STATE_DONE);
}

/* Reports name the token and the id. The outbox takes an id twice, the inbox once for each consumer: two such
 * messages are never under one token, so that the end of the one is not taken for that of the other. */
static void twins_end_apart(struct conf *c, enum store_kind kind) {
    struct item_list first = claim(c, 1, kind, 10);
    advance(c, 1000); /* a lane is claimed from beside a claim that is a second old */
    struct item_list second = claim(c, 1, kind, 10);
    assert_int_equal(first.count + second.count, 2);
    const struct item *later = second.count == 1 ? &second.items[0] : &first.items[1];
    assert_string_equal(later->payload.ptr, "2");
    assert_int_equal(complete(c, 1, later), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 1);
    assert_string_equal(row_of(c, 1).item.payload.ptr, "1"); /* it has not run */
    assert_int_equal(fail_item(c, 1, &first.items[0], 0), ANSWER_APPLIED);
}

static void two_messages_with_one_id_are_not_taken_for_each_other(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT | KIND_BIT(KIND_INBOX));
    for (int n = 1; n <= 2; n++) {
        pawl_outgoing twin = {.id = message_id(1), .stream = stream_on(c, 0, n), .type = STR("T")};
        twin.payload = n == 1 ? STR("1") : STR("2");
        put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &twin, .count = 1});
    }
    twins_end_apart(c, KIND_OUTBOX);
    complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 10));
    for (int n = 1; n <= 2; n++) {
        pawl_outgoing twin = {.id = message_id(1), .stream = stream_on(c, 0, n), .type = STR("T")};
        twin.payload = n == 1 ? STR("1") : STR("2");
        put_with(c, (struct messages_put){.kind = KIND_INBOX,
                                          .messages = &twin,
                                          .count = 1,
                                          .consumer = n == 1 ? STR("billing") : STR("shipping")});
    }
    twins_end_apart(c, KIND_INBOX);
}

/* Nor when both come back at the same time. */
static void two_messages_with_one_id_come_back_one_after_the_other(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 2; n++)
        put(c, KIND_OUTBOX, 1, stream_on(c, 0, n));
    put(c, KIND_OUTBOX, 3, stream_on(c, 0, 2));
    for (int round = 0; round < 2; round++, advance(c, 1000)) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
        for (size_t i = 0; i < list.count; i++)
            (void)fail_item(c, 1, &list.items[i], 10000);
    }
    advance(c, 10000);
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1"); /* the third is behind the second */
    advance(c, 1000);
    struct item_list second = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, second), "1 3");
    complete_all(c, 1, second);
    assert_int_equal(rows_with_id(c, 1), 1);
    assert_true(str_equal(row_of(c, 1).item.stream, first.items[0].stream));
    complete_all(c, 1, first);
}

static void a_claim_that_one_call_ended_whole_answers_duplicate_for_every_id(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    complete_all(c, 1, held);
    struct item other = held.items[0];
    for (int n = 1; n <= 3; n++)
        assert_int_equal(complete(c, 1, item_of(c, held, n)), ANSWER_DUPLICATE);
    other.id = message_id(99);
    assert_int_equal(complete(c, 1, &other), ANSWER_DUPLICATE); /* its lists are forgotten */
    other = held.items[0];
    other.token--; /* but only under its own token */
    assert_int_equal(complete(c, 1, &other), ANSWER_STALE);
}

static void what_was_failed_or_released_by_report_answers_duplicate(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, ABSENT);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    const struct item *one = item_of(c, held, 1), *two = item_of(c, held, 2);
    assert_int_equal(fail_item(c, 1, one, 0), ANSWER_APPLIED);
    assert_int_equal(fail_item(c, 1, one, 0), ANSWER_DUPLICATE);
    assert_int_equal(complete(c, 1, one), ANSWER_DUPLICATE);
    assert_int_equal(row_of(c, 1).attempts, 1);
    assert_int_equal(release_item(c, 1, two, 0), ANSWER_APPLIED);
    assert_int_equal(release_item(c, 1, two, 0), ANSWER_DUPLICATE);
    assert_int_equal(rows_with_id(c, 2), 1);
}

static void renewing_all_that_is_left_of_a_part_renews_the_part(void **state) {
    struct conf *c = *state;
    pawl_str stream = stream_on(c, 1, 0);
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, stream);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    struct item_ref refs[2] = {{held.items[2].token, held.items[2].id},
                               {held.items[1].token, held.items[1].id}};
    struct messages_renew in = {
        .instance = instance_id(1), .kind = KIND_OUTBOX, .items = refs, .count = 2, .lease_ms = 2 * LEASE_MS};
    struct answer_list answers;
    ok(c, c->core->messages_renew(c->store, &in, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    assert_int_equal(answers.answers[1], ANSWER_APPLIED);
    assert_int_equal(counted(c, KIND_OUTBOX).claims_active, 1);
    assert_int_equal(row_of(c, 3).item.lease_until_ms, c->now_ms + 2 * LEASE_MS);
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, &held.items[2]), ANSWER_APPLIED);
    assert_int_equal(renew_token(c, 1, &held.items[2], LEASE_MS), ANSWER_DUPLICATE); /* all of it is done */
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(completion_removes_the_message),
    CONF_TEST(a_status_that_completes_nothing_is_invalid_and_deletes_nothing),
    CONF_TEST(a_token_in_the_hands_of_another_instance_is_stale),
    CONF_TEST(completing_again_is_a_duplicate),
    CONF_TEST(a_wrong_token_or_id_is_stale_and_changes_nothing),
    CONF_TEST(completions_form_a_prefix_per_stream),
    CONF_TEST(the_prefix_counts_over_all_parts_of_a_token),
    CONF_TEST(a_late_completion_that_nobody_forestalled_is_applied),
    CONF_TEST(a_failure_is_counted_stored_and_scheduled),
    CONF_TEST(a_long_error_is_cut_between_characters),
    CONF_TEST(without_a_delay_of_its_own_a_failure_waits_for_the_backoff),
    CONF_TEST(successors_of_a_failure_leave_the_claim_untouched),
    CONF_TEST(successors_in_another_claim_of_the_lane_leave_it_too),
    CONF_TEST(a_release_costs_no_attempt_and_takes_the_successors_along),
    CONF_TEST(renewing_the_token_extends_everything_in_it),
    CONF_TEST(renewing_some_ids_splits_the_claim),
    CONF_TEST(one_item_s_answer_leaves_the_others_alone),
    CONF_TEST(a_completed_message_stays_readable_when_history_is_kept_or_debug_asks),
    CONF_TEST(two_messages_with_one_id_are_not_taken_for_each_other),
    CONF_TEST(two_messages_with_one_id_come_back_one_after_the_other),
    CONF_TEST(a_claim_that_one_call_ended_whole_answers_duplicate_for_every_id),
    CONF_TEST(what_was_failed_or_released_by_report_answers_duplicate),
    CONF_TEST(renewing_all_that_is_left_of_a_part_renews_the_part),
};

CONF_GROUP(report, tests);
