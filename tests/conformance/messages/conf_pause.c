/* Pauses: claims skip what is paused, a resume makes it due at once, and the order is kept. */
#include "base/str.h"
#include "base/uuid.h"
#include "conformance/harness.h"

enum { MANY = 40, WEEK_MS = 7 * 86400000 };

static void put_to(struct conf *c, int n, pawl_str stream, pawl_str topic) {
    pawl_outgoing message = {
        .id = message_id(n), .stream = stream, .type = STR("t"), .topic = topic, .payload = STR("{}")};
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
    struct put_result result = {0};
    ok(c, c->core->messages_put(c->store, &put, c->arena, &result, &c->err));
}

static void hold_up(struct conf *c, enum pause_scope scope, pawl_str name) {
    struct pause_row in = {.scope = scope, .name = name, .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
}

static void resume(struct conf *c, enum pause_scope scope, pawl_str name) {
    ok(c, c->store->ops->relay->pause_clear(c->store, scope, name, &c->err));
}

/* The numbers of what a claim gives, which is completed. */
static const char *claimed(struct conf *c, int max) {
    struct item_list got = claim(c, 1, KIND_OUTBOX, max);
    complete_all(c, 1, got);
    return numbers_sorted(c, got);
}

static void a_claim_passes_over_a_paused_topic(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_TOPIC, STR("slow"));
    put_to(c, 1, STR("s"), STR("fast"));
    put_to(c, 2, STR("s"), STR("slow"));
    put_to(c, 3, STR("s"), STR("fast")); /* behind it */
    put_to(c, 4, ABSENT, STR("slow"));
    put_to(c, 5, ABSENT, STR("fast"));
    assert_string_equal(claimed(c, 10), "1 5");
    put_to(c, 6, STR("s"), STR("fast")); /* behind it as well */
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    advance(c, WEEK_MS); /* however long it takes */
    beat(c, 1);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    resume(c, PAUSE_TOPIC, STR("slow"));
    struct item_list got = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(got.count, 4);
    assert_true(item_of(c, got, 2) < item_of(c, got, 3));
    assert_true(item_of(c, got, 3) < item_of(c, got, 6));
    assert_int_equal(item_of(c, got, 2)->attempt, 1);
    complete_all(c, 1, got);
}

/* A message without a topic goes by its type. */
static void a_claim_passes_over_a_paused_stream_and_type(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_to(c, 1, STR("s"), STR("a"));
    put_to(c, 2, STR("u"), STR("a"));
    put_to(c, 3, STR("v"), ABSENT);
    hold_up(c, PAUSE_STREAM, STR("s"));
    hold_up(c, PAUSE_TOPIC, STR("t"));
    assert_string_equal(claimed(c, 10), "2");
    resume(c, PAUSE_STREAM, STR("s"));
    assert_string_equal(claimed(c, 10), "1");
    resume(c, PAUSE_TOPIC, STR("t"));
    assert_string_equal(claimed(c, 10), "3");
}

/* What is paused takes up nothing of what is asked for, wherever it lies. */
static void what_is_paused_does_not_count(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_TOPIC, STR("slow"));
    for (int n = 1; n <= MANY; n++)
        put_to(c, n, STR("s"), STR("slow"));
    for (int n = MANY + 1; n <= 2 * MANY; n++)
        put_to(c, n, str_from(arena_printf(c->arena, "p%d", n)), STR("slow"));
    for (int n = 1; n <= 3; n++)
        put_to(c, 2 * MANY + n, str_from(arena_printf(c->arena, "q%d", n)), STR("fast"));
    for (int n = 1; n <= 3; n++) {
        struct item_list got = claim(c, 1, KIND_OUTBOX, 1);
        assert_int_equal(got.count, 1);
        assert_true(str_equal_cstr(got.items[0].topic, "fast"));
        complete_all(c, 1, got);
    }
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 1).count, 0);
    resume(c, PAUSE_TOPIC, STR("slow"));
    struct item_list got = claim(c, 1, KIND_OUTBOX, 4 * MANY);
    assert_int_equal(got.count, 2 * MANY);
    for (int n = 2; n <= MANY; n++)
        assert_true(item_of(c, got, n - 1) < item_of(c, got, n));
    complete_all(c, 1, got);
}

/* However much is paused in front of it: a claim reads only so far, the next one goes on from there. */
static void what_is_paused_in_great_numbers_hides_nothing(void **state) {
    struct conf *c = *state;
    enum { PAUSED = 9000, OPEN = 3, CLAIMS_MAX = 10 };
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_STREAM, stream_on(c, 0, 0));
    put_range(c, KIND_OUTBOX, 1, PAUSED / 2, stream_on(c, 0, 0));
    put_range(c, KIND_OUTBOX, PAUSED / 2 + 1, PAUSED, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, PAUSED + 1, stream_on(c, 0, 1));
    put(c, KIND_OUTBOX, PAUSED + 2, stream_on(c, 0, 1));
    put(c, KIND_OUTBOX, PAUSED + 3, stream_on(c, 0, 2));
    int open = 0;
    for (int i = 0; i < CLAIMS_MAX && open < OPEN; i++) {
        struct item_list got = claim(c, 1, KIND_OUTBOX, 500);
        open += (int)got.count;
        complete_all(c, 1, got);
    }
    assert_int_equal(open, OPEN);
    resume(c, PAUSE_STREAM, stream_on(c, 0, 0));
    int next = 1;
    for (int i = 0; i < CLAIMS_MAX && next <= PAUSED; i++) {
        struct item_list got = claim(c, 1, KIND_OUTBOX, 5000);
        for (size_t k = 0; k < got.count; k++)
            assert_true(uuid_equal(got.items[k].id, message_id(next++)));
        complete_all(c, 1, got);
    }
    assert_int_equal(next, PAUSED + 1);
}

/* A next attempt that comes due during the pause waits, and is the second one afterwards. */
static void a_next_attempt_waits_too(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_to(c, 1, STR("s"), STR("a"));
    put_to(c, 2, STR("s"), STR("b"));
    struct item_list got = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure_of(&got.items[0], "no", 1000)).outcome, FAIL_RETRY);
    hold_up(c, PAUSE_TOPIC, STR("a"));
    hold_up(c, PAUSE_STREAM, STR("s"));
    advance(c, 2000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    resume(c, PAUSE_TOPIC, STR("a")); /* one of two */
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    resume(c, PAUSE_STREAM, STR("s"));
    got = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(item_of(c, got, 1)->attempt, 2);
    complete_all(c, 1, got);
    assert_int_equal(got.count, 2);
}

/* A message that is cancelled is for a worker to end, paused or not. */
static void a_cancelled_message_does_not_wait(void **state) {
    struct conf *c = *state;
    char id[UUID_TEXT_BYTES];
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_TOPIC, STR("slow"));
    put_to(c, 1, STR("s"), STR("slow"));
    put_to(c, 2, STR("u"), STR("slow"));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    hold_up(c, PAUSE_MESSAGE, str_from(uuid_format(message_id(1), id)));
    assert_string_equal(claimed(c, 10), "1");
    put_to(c, 3, STR("v"), STR("slow"));
    hold_up(c, PAUSE_MESSAGE, str_from(uuid_format(message_id(3), id)));
    assert_string_equal(claimed(c, 10), "3");
    resume(c, PAUSE_TOPIC, STR("slow"));
    assert_string_equal(claimed(c, 10), "2");
}

static enum store_answer give_back(struct conf *c, const struct item *item, pawl_str handler) {
    struct release_item one = {.ref = {item->token, item->id}, .handler = handler};
    struct messages_release in = {instance_id(1), item->kind, &one, 1};
    struct answer_list out = {0};
    ok(c, c->core->messages_release(c->store, &in, c->arena, &out, &c->err));
    return out.answers[0];
}

/* Only a worker knows which handler takes a message: it gives it back, and the pause of that moment counts,
 * not the one that the worker has read. */
static void what_is_given_back_for_a_handler_waits_for_its_resume(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_to(c, 1, STR("s"), STR("a"));
    hold_up(c, PAUSE_HANDLER, STR("t*"));
    struct item_list got = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(give_back(c, &got.items[0], STR("t*")), ANSWER_APPLIED);
    advance(c, WEEK_MS);
    beat(c, 1);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 1).count, 0);
    resume(c, PAUSE_HANDLER, STR("t*"));
    got = claim(c, 1, KIND_OUTBOX, 1);
    assert_int_equal(got.count, 1);
    assert_int_equal(give_back(c, &got.items[0], STR("t*")), ANSWER_APPLIED); /* it has not heard of it */
    assert_string_equal(claimed(c, 1), "1");
}

/* Of messages with one id only those count that are not paused: they run one after the other, and what is
 * paused stays paused. */
static void of_messages_with_one_id_the_paused_one_waits(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_TOPIC, STR("slow"));
    put_to(c, 1, stream_on(c, 0, 0), STR("slow"));
    put_to(c, 1, stream_on(c, 0, 1), STR("fast"));
    put_to(c, 1, stream_on(c, 0, 2), STR("fast"));
    put_to(c, 2, stream_on(c, 0, 2), STR("fast")); /* behind it */
    put_to(c, 1, stream_on(c, 0, 2), STR("slow"));
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1");
    assert_true(str_equal(first.items[0].stream, stream_on(c, 0, 1)));
    advance(c, 1000); /* a lane is claimed from beside a claim that is a second old */
    struct item_list second = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, second), "1 2");
    assert_true(str_equal(second.items[0].stream, stream_on(c, 0, 2)));
    complete_all(c, 1, second);
    complete_all(c, 1, first);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    resume(c, PAUSE_TOPIC, STR("slow"));
    assert_string_equal(claimed(c, 10), "1");
    assert_string_equal(claimed(c, 10), "1");
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
}

/* Nor when the one that is next waits for its turn unread. */
static void what_is_paused_does_not_overtake_its_stream(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    hold_up(c, PAUSE_TOPIC, STR("slow"));
    put_to(c, 1, stream_on(c, 0, 0), STR("slow"));
    for (int n = 2; n <= 4; n++)
        put_to(c, n, stream_on(c, 0, 1), STR("fast"));
    put_to(c, 5, stream_on(c, 0, 1), STR("slow"));
    assert_string_equal(claimed(c, 2), "2 3");
    resume(c, PAUSE_TOPIC, STR("slow"));
    assert_string_equal(claimed(c, 1), "1");
    assert_string_equal(claimed(c, 1), "4");
    assert_string_equal(claimed(c, 1), "5");
}

/* The worker that gives it back for a paused handler has not heard of it. */
static void a_cancelled_message_does_not_wait_for_its_handler(void **state) {
    struct conf *c = *state;
    char id[UUID_TEXT_BYTES];
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_to(c, 1, STR("s"), STR("a"));
    hold_up(c, PAUSE_HANDLER, STR("t*"));
    struct item_list got = claim(c, 1, KIND_OUTBOX, 1);
    hold_up(c, PAUSE_MESSAGE, str_from(uuid_format(message_id(1), id)));
    assert_int_equal(give_back(c, &got.items[0], STR("t*")), ANSWER_APPLIED);
    assert_string_equal(claimed(c, 1), "1");
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_claim_passes_over_a_paused_topic),
    CONF_TEST(a_claim_passes_over_a_paused_stream_and_type),
    CONF_TEST(what_is_paused_does_not_count),
    CONF_TEST(what_is_paused_in_great_numbers_hides_nothing),
    CONF_TEST(of_messages_with_one_id_the_paused_one_waits),
    CONF_TEST(what_is_paused_does_not_overtake_its_stream),
    CONF_TEST(a_next_attempt_waits_too),
    CONF_TEST(a_cancelled_message_does_not_wait),
    CONF_TEST(what_is_given_back_for_a_handler_waits_for_its_resume),
    CONF_TEST(a_cancelled_message_does_not_wait_for_its_handler),
};

CONF_GROUP(pause, tests);
