/* Put: what is stored, and the answers. */
#include "conformance/harness.h"

#include <string.h>

#include "base/hash.h"
#include "base/limits.h"

/* covers: W29 W31 B3.7 */
static void every_field_of_a_message_is_carried_through(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    pawl_outgoing in = {.id = message_id(7),
                        .stream = STR("order-7"),
                        .topic = STR("orders.created"),
                        .type = STR("OrderCreated"),
                        .payload = STR("{\"total\": 12.50, \"note\": \"\\u00e9\xc3\xa9\"}"),
                        .headers = STR("{\"tenant\":\"blue\"}"),
                        .correlation_id = message_id(8),
                        .causation_id = message_id(9),
                        .traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")};
    struct messages_put call = {.kind = KIND_OUTBOX, .messages = &in, .count = 1};
    struct put_result result = put_with(c, call);
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    assert_true(uuid_equal(result.ids[0], in.id));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.count, 1);
    const struct item *item = &list.items[0];
    assert_true(uuid_equal(item->id, in.id));
    assert_true(str_equal(item->stream, in.stream));
    assert_true(str_equal(item->topic, in.topic));
    assert_true(str_equal(item->type, in.type));
    assert_true(str_equal(item->payload, in.payload)); /* byte for byte */
    assert_true(str_equal(item->headers, in.headers));
    assert_true(uuid_equal(item->correlation_id, in.correlation_id));
    assert_true(uuid_equal(item->causation_id, in.causation_id));
    assert_true(str_equal(item->traceparent, in.traceparent));
    assert_int_equal(item->put_ms, c->now_ms);
    assert_int_equal(item->kind, KIND_OUTBOX);
    assert_int_equal(item->partition, (int)partition_of(in.stream, (uint32_t)c->partitions));
    assert_int_equal(item->lane, lane_of_stream(c, in.stream));
}

/* covers: W30 */
static void absent_fields_come_back_absent(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_INBOX));
    pawl_outgoing in = {.id = message_id(1), .type = STR("T"), .payload = STR("null")};
    struct messages_put call = {.kind = KIND_INBOX, .messages = &in, .count = 1, .consumer = STR("billing")};
    put_with(c, call);
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    assert_int_equal(list.count, 1);
    const struct item *item = &list.items[0];
    assert_true(str_absent(item->stream));
    assert_true(str_absent(item->topic));
    assert_true(str_absent(item->headers));
    assert_true(str_absent(item->traceparent));
    assert_true(uuid_is_nil(item->correlation_id));
    assert_true(uuid_is_nil(item->causation_id));
    assert_true(str_equal(item->consumer, STR("billing")));
}

/* covers: M51 M64 M53 */
static void OutboxNoDuplication_TransactionalBoundary(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    assert_int_equal(put(c, KIND_OUTBOX, 1, STR("a")), ANSWER_APPLIED);
    assert_int_equal(put(c, KIND_OUTBOX, 1, STR("a")), ANSWER_APPLIED);
    assert_int_equal(rows_with_id(c, 1), 2);
    for (int n = 0; n < 2; n++) { /* sent twice: the outbox does not deduplicate */
        struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
        assert_string_equal(numbers(c, list), "1");
        /* Published first, marked after: until then the row is there, and a crash in between sends again. */
        assert_int_equal(counted(c, KIND_OUTBOX).done, n);
        assert_int_equal(complete(c, 1, &list.items[0]), ANSWER_APPLIED);
        assert_int_equal(rows_with_id(c, 1), 1 - n);
    }
}

/* covers: W31 */
static void an_id_that_is_left_out_is_drawn_as_uuidv7_in_order(void **state) {
    struct conf *c = *state;
    pawl_outgoing in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = message_numbered(c, i, STR("a"));
        in[i].id = uuid_nil();
    }
    struct messages_put call = {.kind = KIND_OUTBOX, .messages = in, .count = 3};
    struct put_result result = put_with(c, call);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(result.ids[i].b[6] >> 4, 7);
        assert_int_equal(result.ids[i].b[8] >> 6, 2);
        if (i > 0)
            assert_true(uuid_compare(result.ids[i - 1], result.ids[i]) < 0);
    }
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(uuid_equal(list.items[i].id, result.ids[i]));
}

/* covers: B2.2 W39 */
static void messages_get_numbers_in_the_order_of_the_call(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_range(c, KIND_OUTBOX, 1, 20, STR("a")); /* one call: one instant, twenty numbers */
    put(c, KIND_OUTBOX, 21, STR("a"));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 100);
    assert_string_equal(numbers(c, list), "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21");
    for (size_t i = 1; i < list.count; i++)
        assert_true(list.items[i].seq > list.items[i - 1].seq);
}

/* covers: B3.8 */
static void a_request_key_used_before_writes_nothing(void **state) {
    struct conf *c = *state;
    pawl_outgoing in[2] = {message_numbered(c, 1, STR("a")), message_numbered(c, 2, STR("a"))};
    struct messages_put call = {.kind = KIND_OUTBOX, .messages = in, .count = 2, .request = request_id(1)};
    struct put_result result = put_with(c, call);
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    const char *before = state_text(c);
    result = put_with(c, call);
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
    assert_int_equal(result.answers[1], ANSWER_DUPLICATE);
    assert_string_equal(state_text(c), before);
    call.request = request_id(2);
    assert_int_equal(put_with(c, call).answers[0], ANSWER_APPLIED);
    assert_int_equal(counted(c, KIND_OUTBOX).put, 4);
}

/* covers: W35 B3.2 B2.13 */
static void a_stream_has_one_partition_everywhere_and_streams_spread_evenly(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_PERSPECTIVE));
    enum { STREAMS = 800 };
    int *per_lane = arena_array(c->arena, (size_t)c->lanes, sizeof *per_lane);
    pawl_outgoing *in = arena_array(c->arena, STREAMS, sizeof *in);
    for (int n = 0; n < STREAMS; n++)
        in[n] = message_numbered(c, n, str_from(arena_printf(c->arena, "customer-%d", n)));
    put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = in, .count = STREAMS});
    put_with(c, (struct messages_put){.kind = KIND_PERSPECTIVE, .messages = in, .count = STREAMS});
    struct item_list out = claim(c, 1, KIND_OUTBOX, STREAMS);
    struct item_list views = claim(c, 1, KIND_PERSPECTIVE, STREAMS);
    assert_int_equal(out.count, STREAMS);
    assert_int_equal(views.count, STREAMS);
    for (size_t i = 0; i < out.count; i++) {
        int partition = (int)partition_of(out.items[i].stream, (uint32_t)c->partitions);
        assert_int_equal(out.items[i].partition, partition);
        assert_int_equal(out.items[i].lane, partition % c->lanes);
        per_lane[out.items[i].lane]++;
        partition = (int)partition_of(views.items[i].stream, (uint32_t)c->partitions);
        assert_int_equal(views.items[i].partition, partition);
    }
    for (int lane = 0; lane < c->lanes; lane++) {
        assert_true(per_lane[lane] > STREAMS / c->lanes / 4);
        assert_true(per_lane[lane] < STREAMS / c->lanes * 4);
    }
}

static void messages_without_a_stream_spread_over_the_lanes(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_range(c, KIND_OUTBOX, 1, 400, ABSENT);
    struct item_list list = claim(c, 1, KIND_OUTBOX, 400);
    assert_int_equal(list.count, 400);
    bool *seen = arena_array(c->arena, (size_t)c->lanes, sizeof *seen);
    int used = 0;
    for (size_t i = 0; i < list.count; i++) {
        char text[UUID_TEXT_BYTES];
        uuid_format(list.items[i].id, text);
        assert_int_equal(list.items[i].partition, (int)partition_of(str_from(text), (uint32_t)c->partitions));
        used += !seen[list.items[i].lane];
        seen[list.items[i].lane] = true;
    }
    assert_true(used > c->lanes * 3 / 4);
}

static void an_empty_put_does_nothing(void **state) {
    struct conf *c = *state;
    const char *before = state_text(c);
    put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .count = 0});
    assert_string_equal(state_text(c), before);
}

static void the_kinds_do_not_see_each_other(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    put(c, KIND_OUTBOX, 1, STR("a"));
    put(c, KIND_INBOX, 2, STR("a"));
    put(c, KIND_PERSPECTIVE, 3, STR("a"));
    assert_string_equal(numbers(c, claim(c, 1, KIND_INBOX, 10)), "2");
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1");
    assert_string_equal(numbers(c, claim(c, 1, KIND_PERSPECTIVE, 10)), "3");
    assert_int_equal(counted(c, KIND_OUTBOX).put, 1);
    assert_int_equal(counted(c, KIND_INBOX).put, 1);
    assert_int_equal(counted(c, KIND_PERSPECTIVE).put, 1);
}

static void request_keys_are_one_set_for_every_call(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct messages_claim wish = claim_of(1, KIND_OUTBOX, 10);
    wish.request = request_id(1);
    assert_int_equal(claim_with(c, wish).count, 1);
    pawl_outgoing in = message_numbered(c, 2, STR("a"));
    in.id = uuid_nil();
    struct messages_put call = {.kind = KIND_OUTBOX, .messages = &in, .count = 1, .request = request_id(1)};
    struct put_result result = put_with(c, call);
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
    assert_true(uuid_is_nil(result.ids[0])); /* nothing was written, so nothing was drawn */
    assert_int_equal(counted(c, KIND_OUTBOX).put, 1);
}

static void a_key_is_used_even_when_nothing_was_granted(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    struct messages_claim wish = claim_of(1, KIND_OUTBOX, 10);
    wish.request = request_id(1);
    assert_int_equal(claim_with(c, wish).count, 0);
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_int_equal(claim_with(c, wish).count, 0);
    wish.request = request_id(2);
    assert_int_equal(claim_with(c, wish).count, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(every_field_of_a_message_is_carried_through),
    CONF_TEST(absent_fields_come_back_absent),
    CONF_TEST(OutboxNoDuplication_TransactionalBoundary),
    CONF_TEST(an_id_that_is_left_out_is_drawn_as_uuidv7_in_order),
    CONF_TEST(messages_get_numbers_in_the_order_of_the_call),
    CONF_TEST(a_request_key_used_before_writes_nothing),
    CONF_TEST(a_stream_has_one_partition_everywhere_and_streams_spread_evenly),
    CONF_TEST(messages_without_a_stream_spread_over_the_lanes),
    CONF_TEST(an_empty_put_does_nothing),
    CONF_TEST(the_kinds_do_not_see_each_other),
    CONF_TEST(request_keys_are_one_set_for_every_call),
    CONF_TEST(a_key_is_used_even_when_nothing_was_granted),
};

CONF_GROUP(put, tests);
