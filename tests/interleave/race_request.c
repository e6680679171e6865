/* "An unknown outcome is resolved by inserting the same unique request key again": it waits for the ghost. */
#include "interleave/calls.h"
#include "interleave/races.h"

static void a_put_sent_again_waits_for_the_ghost_and_is_a_duplicate(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, sql_send_request(s, 1, "x", 7)),
                        APPLIED); /* its COMMIT is under way … */
    start(s, s->b, sql_send_request(s, 1, "x", 7));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), DUPLICATE);
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1"); /* once */
    refused(s, 1, "1@1", 1);
}

static void a_put_sent_again_after_a_ghost_that_died_is_applied(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_send_request(s, 1, "x", 7));
    start(s, s->b, sql_send_request(s, 1, "x", 7));
    blocked(s, s->b);
    cut(s, &s->a);
    assert_string_equal(finish(s, s->b), APPLIED);
    const char *grant = run(s, s->b, sql_claim(s, 1, 10));
    assert_string_equal(numbers(s, grant), "1");
    refused(s, 1, "1@1", 1);
}

static void a_claim_sent_again_waits_for_the_ghost_and_returns_the_same_claim(void **state) {
    struct scene *s = *state;
    join(s, 1);
    for (int n = 1; n <= 3; n++)
        send_now(s, n, "x");
    run(s, s->a, "BEGIN");
    const char *ghost = run(s, s->a, sql_claim_request(s, 1, 2, 7));
    assert_string_equal(numbers(s, ghost), "1 2");
    start(s, s->b, sql_claim_request(s, 1, 2, 7));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), ghost); /* the same messages under the same token */
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE items > 0"), "1");
    refused(s, 1, text(s, "1@%lld", token_of(s, ghost, 1) - 1), 1);
    assert_string_equal(run(s, s->b, sql_complete(s, 1, ghost, 1)), APPLIED);
}

static void a_claim_sent_again_after_a_ghost_that_died_is_granted_anew(void **state) {
    struct scene *s = *state;
    join(s, 1);
    send_now(s, 1, "x");
    run(s, s->a, "BEGIN");
    const char *ghost = run(s, s->a, sql_claim_request(s, 1, 2, 7));
    start(s, s->b, sql_claim_request(s, 1, 2, 7));
    blocked(s, s->b);
    cut(s, &s->a);
    const char *grant = finish(s, s->b);
    /* The dead one's lane lock may outlive its key for an instant: then this claim found the lane locked. */
    if (strlen(grant) == 0)
        grant = run(s, s->b, sql_claim(s, 1, 2));
    assert_string_equal(numbers(s, grant), "1");
    assert_true(token_of(s, grant, 1) > token_of(s, ghost, 1));
    refused(s, 1, ghost, 1);
}

/* The steps of a batch are one transaction; its first step takes the key. */
static const char *sql_batch_begin(struct scene *s, int instance, int request) {
    return text(s,
                "SELECT lease_until_ms - now_ms FROM "
                "pawl_internal.batch_begin('01900000-0000-7000-8000-aa00%08x', 'orders', "
                "'host', 1, NULL, 2, 86400000, 0, 0, '01900000-0000-7000-8000-ee00%08x')",
                (unsigned)instance, (unsigned)request);
}

static void a_batch_sent_again_waits_for_the_ghost_and_puts_nothing_twice(void **state) {
    struct scene *s = *state;
    join(s, 1);
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_batch_begin(s, 1, 7));
    assert_string_equal(run(s, s->a, sql_send_request(s, 1, "x", 7)),
                        APPLIED); /* its own key is not a repetition */
    const char *ghost = run(s, s->a, sql_claim_request(s, 1, 10, 7));
    assert_string_equal(numbers(s, ghost), "1");
    run(s, s->b, "BEGIN");
    start(s, s->b, sql_batch_begin(s, 1, 7));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    finish(s, s->b);
    assert_string_equal(run(s, s->b, sql_send_request(s, 1, "x", 7)), DUPLICATE);
    assert_string_equal(run(s, s->b, sql_claim_request(s, 1, 10, 7)), ghost);
    run(s, s->b, "COMMIT");
    refused(s, 1, "1@1", 1);
}

static void a_first_batch_sent_again_finds_the_instance_its_ghost_registered(void **state) {
    struct scene *s = *state;
    run(s, s->a, "BEGIN");
    run(s, s->a, sql_batch_begin(s, 1, 7));
    run(s, s->a, sql_send_request(s, 1, "x", 7));
    run(s, s->b, "BEGIN");
    start(s, s->b, sql_batch_begin(s, 1, 7));
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "86400000");
    assert_string_equal(run(s, s->b, sql_send_request(s, 1, "x", 7)), DUPLICATE);
    run(s, s->b, "COMMIT");
    assert_string_equal(lane_owner(s), "1");
    refused(s, 1, "1@1", 1);
}

/* covers: B3.8 */
static void a_whole_batch_in_one_call_sent_again_waits_and_returns_the_same_claim(void **state) {
    struct scene *s = *state;
    const char *batch =
        "SELECT (claimed_outbox #>> '{0,MessageId}') || ' ' || (claimed_outbox #>> '{0,Token}') "
        "FROM pawl.process_work_batch('01900000-0000-7000-8000-aa0000000001', 'orders', 'host', 1, "
        "p_new_outbox_messages => '[{\"MessageId\": \"01900000-0000-7000-8000-010000000001\", "
        "\"MessageType\": \"T\", "
        "\"Payload\": {}, \"StreamKey\": \"x\"}]', p_request_id => '01900000-0000-7000-8000-ee0000000007')";
    run(s, s->a, "BEGIN");
    const char *ghost = run(s, s->a, batch);
    start(s, s->b, batch);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), ghost);
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.live_message"), "1");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.claim WHERE items > 0"), "1");
    refused(s, 1, "1@1", 1);
}

/* covers: B2.10 B3.4 */
static void the_same_inbox_message_twice_at_once_is_stored_once(void **state) {
    struct scene *s = *state;
    const char *receive =
        "SELECT pawl.receive('billing', '01900000-0000-7000-8000-010000000001', 'T', '{\"a\":1}', 'x')";
    const char *other =
        "SELECT pawl.receive('billing', '01900000-0000-7000-8000-010000000001', 'T', '{\"a\":2}', 'x')";
    const char *elsewhere =
        "SELECT pawl.receive('shipping', '01900000-0000-7000-8000-010000000001', 'T', '{\"a\":1}', 'x')";
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, receive), "applied");
    assert_string_equal(run(s, s->c, elsewhere), "applied"); /* another consumer does not wait */
    start(s, s->b, receive);
    blocked(s, s->b);
    run(s, s->a, "COMMIT");
    assert_string_equal(finish(s, s->b), "duplicate");
    assert_string_equal(run(s, s->b, other), "conflict");
    assert_string_equal(run(s, s->observer, "SELECT count(*) FROM pawl_internal.live_message WHERE kind = 2"),
                        "2");
    join(s, 1);
    refused(s, 1, "1@1", 1);
}

static void an_inbox_message_whose_first_delivery_rolled_back_is_stored_by_the_second(void **state) {
    struct scene *s = *state;
    const char *receive =
        "SELECT pawl.receive('billing', '01900000-0000-7000-8000-010000000001', 'T', '{\"a\":1}', 'x')";
    run(s, s->a, "BEGIN");
    assert_string_equal(run(s, s->a, receive), "applied");
    start(s, s->b, receive);
    blocked(s, s->b);
    run(s, s->a, "ROLLBACK");
    assert_string_equal(finish(s, s->b), "applied");
    join(s, 1);
    refused(s, 1, "1@1", 1);
}

static const struct CMUnitTest tests[] = {
    SCENE_TEST(a_put_sent_again_waits_for_the_ghost_and_is_a_duplicate),
    SCENE_TEST(a_put_sent_again_after_a_ghost_that_died_is_applied),
    SCENE_TEST(a_claim_sent_again_waits_for_the_ghost_and_returns_the_same_claim),
    SCENE_TEST(a_claim_sent_again_after_a_ghost_that_died_is_granted_anew),
    SCENE_TEST(a_batch_sent_again_waits_for_the_ghost_and_puts_nothing_twice),
    SCENE_TEST(a_first_batch_sent_again_finds_the_instance_its_ghost_registered),
    SCENE_TEST(a_whole_batch_in_one_call_sent_again_waits_and_returns_the_same_claim),
    SCENE_TEST(the_same_inbox_message_twice_at_once_is_stored_once),
    SCENE_TEST(an_inbox_message_whose_first_delivery_rolled_back_is_stored_by_the_second),
};

RACES(request, tests);
