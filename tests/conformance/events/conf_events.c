/* Events: versions without gaps, conflicts with the actual version, reading by version and by position. */
#include "conformance/events/event_words.h"

#include <string.h>

#include "base/limits.h"

static struct event_list read_events(struct conf *c, pawl_read query) {
    struct event_list list = {0};
    if (query.limit == 0)
        query.limit = 100;
    expect_status_(c, PAWL_OK, EVENTS(c)->events_read(c->store, &query, c->arena, &list, &c->err),
                   "events_read");
    return list;
}

static void versions_follow_one_another(void **state) {
    struct conf *c = *state;
    struct append_result first = append(c, "order-1", EXPECT_NONE, "Created", 1, 1);
    assert_int_equal(first.answer, ANSWER_APPLIED);
    assert_int_equal(first.first_version, 1);
    assert_int_equal(first.version, 1);
    struct append_result more = append(c, "order-1", 1, "Paid", 3, 0);
    assert_int_equal(more.first_version, 2);
    assert_int_equal(more.version, 4);
    assert_false(uuid_is_nil(more.ids[2]));
    assert_int_equal(append(c, "order-2", EXPECT_ANY, "Created", 2, 0).version, 2);
    struct event_list list = read_events(c, (pawl_read){.stream = STR("order-1")});
    assert_int_equal(list.count, 4);
    assert_int_equal(list.head, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(list.events[i].version, i + 1);
    assert_true(uuid_equal(list.events[0].id, message_id(1)));
    assert_int_equal(list.events[0].appended_ms, c->now_ms);
    assert_true(str_equal(list.events[3].payload, STR("{\"n\":2}")));
}

static void a_wrong_expected_version_is_answered_with_the_actual_one(void **state) {
    struct conf *c = *state;
    append(c, "order-1", EXPECT_ANY, "Created", 3, 0);
    const char *before = state_text(c);
    struct append_result none = append(c, "order-1", EXPECT_NONE, "Created", 1, 0);
    assert_int_equal(none.answer, ANSWER_CONFLICT);
    assert_int_equal(none.version, 3);
    assert_int_equal(none.first_version, 0);
    assert_int_equal(append(c, "order-1", 2, "Paid", 1, 0).answer, ANSWER_CONFLICT);
    assert_int_equal(append(c, "order-1", 9, "Paid", 1, 0).version, 3);
    struct append_result absent = append(c, "order-9", 1, "Paid", 1, 0);
    assert_int_equal(absent.answer, ANSWER_CONFLICT);
    assert_int_equal(absent.version, 0);
    assert_string_equal(state_text(c), before);
}

/* What is not the same call again is a conflict, and says that it is about ids. */
static void refuse_ids(struct conf *c, const char *stream, pawl_event event) {
    struct events_append in = {
        .stream = str_from(stream), .expected = EXPECT_ANY, .events = &event, .count = 1};
    struct append_result out = {0};
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.answer, ANSWER_CONFLICT);
    assert_true(out.id_known);
    assert_int_equal(out.first_version, 0);
}

static void an_append_can_be_repeated_by_its_ids(void **state) {
    struct conf *c = *state;
    assert_int_equal(append(c, "order-1", EXPECT_NONE, "Created", 2, 1).answer, ANSWER_APPLIED);
    append(c, "order-1", 2, "Paid", 1, 3);
    const char *before = state_text(c);
    struct append_result again = append(c, "order-1", EXPECT_NONE, "Created", 2, 1);
    assert_int_equal(again.answer, ANSWER_DUPLICATE); /* although the version is another one by now */
    assert_int_equal(again.first_version, 1);
    assert_int_equal(again.version,
                     2); /* what the first call got, so that the next check is the caller's own */
    assert_int_equal(append(c, "order-1", again.version, "Shipped", 1, 9).answer, ANSWER_CONFLICT);
    again = append(c, "order-1", EXPECT_ANY, "Paid", 1, 3);
    assert_int_equal(again.answer, ANSWER_DUPLICATE);
    assert_int_equal(again.first_version, 3);
    assert_int_equal(again.version, 3);
    assert_false(append(c, "order-1", 7, "Paid", 1, 0).id_known); /* a conflict of versions, not of ids */
    /* Ids are known for as long as the events are there, which is for ever. */
    advance(c, 30LL * 24 * 3600 * 1000);
    assert_int_equal(append(c, "order-1", EXPECT_NONE, "Created", 2, 1).answer, ANSWER_DUPLICATE);
    assert_string_equal(state_text(c), before);
}

static void an_id_with_anything_else_is_a_conflict(void **state) {
    struct conf *c = *state;
    append(c, "order-1", EXPECT_NONE, "Created", 2, 1); /* {"n":0} and {"n":1} */
    append(c, "order-1", EXPECT_ANY, "Paid", 1, 3);
    const char *before = state_text(c);
    struct append_result some = append(c, "order-1", EXPECT_ANY, "Created", 4, 1); /* the fourth is new */
    assert_int_equal(some.answer, ANSWER_CONFLICT);
    assert_true(some.id_known);
    assert_int_equal(some.version, 3);
    some = append(c, "order-1", EXPECT_ANY, "Created", 3, 1); /* known, but with other content */
    assert_int_equal(some.answer, ANSWER_CONFLICT);
    assert_true(some.id_known);
    pawl_event event = {.id = message_id(2), .type = STR("Created"), .payload = STR("{\"n\":1}")};
    refuse_ids(c, "order-2", event); /* in another stream */
    event.payload = STR("{\"n\":2}");
    refuse_ids(c, "order-1", event);
    event.payload = STR("{\"n\":1}");
    event.type = STR("Deleted");
    refuse_ids(c, "order-1", event);
    /* Part of a call is a call of its own: what is there is there. */
    event.type = STR("Created");
    event.traceparent = STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"); /* of this attempt */
    struct events_append in = {
        .stream = STR("order-1"), .expected = EXPECT_ANY, .events = &event, .count = 1};
    struct append_result out = {0};
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.answer, ANSWER_DUPLICATE);
    assert_int_equal(out.version, 2);
    /* Out of order. */
    pawl_event turned[] = {{.id = message_id(2), .type = STR("Created"), .payload = STR("{\"n\":1}")},
                           {.id = message_id(1), .type = STR("Created"), .payload = STR("{\"n\":0}")}};
    in.events = turned;
    in.count = 2;
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.answer, ANSWER_CONFLICT);
    assert_string_equal(state_text(c), before);
}

/* covers: W46 */
static void a_stream_is_read_backward_from_a_version_as_of_an_event_and_as_of_a_time(void **state) {
    struct conf *c = *state;
    append(c, "order-1", EXPECT_ANY, "Created", 3, 1);
    int64_t then = c->now_ms;
    advance(c, 1000);
    append(c, "order-1", EXPECT_ANY, "Paid", 2, 4);
    struct event_list back =
        read_events(c, (pawl_read){.stream = STR("order-1"), .backward = true, .limit = 2});
    assert_int_equal(back.count, 2);
    assert_int_equal(back.events[0].version, 5);
    assert_int_equal(back.events[1].version, 4);
    back = read_events(c, (pawl_read){.stream = STR("order-1"), .backward = true, .from = 3});
    assert_int_equal(back.count, 3);
    assert_int_equal(back.events[0].version, 3);
    struct event_list from = read_events(c, (pawl_read){.stream = STR("order-1"), .from = 4});
    assert_int_equal(from.count, 2);
    assert_int_equal(from.events[0].version, 4);
    struct event_list old = read_events(c, (pawl_read){.stream = STR("order-1"), .as_of_ms = then});
    assert_int_equal(old.count, 3);
    assert_int_equal(old.head, 5);
    old = read_events(c, (pawl_read){.stream = STR("order-1"), .as_of_event = message_id(2)});
    assert_int_equal(old.count, 2);
    pawl_read wrong = {.stream = STR("order-2"), .as_of_event = message_id(2), .limit = 1};
    struct event_list list;
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->events_read(c->store, &wrong, c->arena, &list, &c->err));
    assert_int_equal(read_events(c, (pawl_read){.stream = STR("nobody")}).count, 0);
}

/* covers: B0.6 BX.8 */
static void everything_has_positions_without_gaps_in_the_order_of_every_stream(void **state) {
    struct conf *c = *state;
    append(c, "a", EXPECT_ANY, "Created", 2, 0);
    append(c, "b", EXPECT_ANY, "Created", 3, 0);
    append(c, "a", EXPECT_ANY, "Paid", 1, 0);
    stamp(c);
    stamp(c);
    struct event_list all = read_events(c, (pawl_read){.limit = 100});
    assert_int_equal(all.count, 6);
    assert_int_equal(all.head, 6);
    int64_t last_a = 0, last_b = 0;
    for (size_t i = 0; i < all.count; i++) {
        int64_t *last = str_equal(all.events[i].stream, STR("a")) ? &last_a : &last_b;
        assert_int_equal(all.events[i].position, i + 1);
        assert_int_equal(all.events[i].version, *last + 1);
        *last = all.events[i].version;
    }
    append(c, "b", EXPECT_ANY, "Paid", 2, 0);
    stamp(c);
    struct event_list next = read_events(c, (pawl_read){.from = 6, .limit = 2});
    assert_int_equal(next.count, 2);
    assert_int_equal(next.events[0].position, 6);
    assert_int_equal(next.events[1].position, 7);
    assert_int_equal(next.head, 8);
    struct event_list back = read_events(c, (pawl_read){.backward = true, .limit = 3});
    assert_int_equal(back.events[0].position, 8);
    assert_int_equal(back.events[2].position, 6);
    back = read_events(c, (pawl_read){.backward = true, .from = 2, .limit = 5});
    assert_int_equal(back.count, 2);
    assert_int_equal(back.events[0].position, 2);
}

static void an_event_can_be_published_in_the_same_transaction(void **state) {
    struct conf *c = *state;
    pawl_event events[] = {{.id = message_id(1),
                            .type = STR("Created"),
                            .payload = STR("{}"),
                            .publish = true,
                            .topic = STR("orders"),
                            .metadata = STR("{\"who\":\"me\"}"),
                            .correlation_id = message_id(8),
                            .causation_id = message_id(9),
                            .traceparent = STR("00-aa-bb-01")},
                           {.id = message_id(2), .type = STR("Noted"), .payload = STR("{}")}};
    struct events_append in = {.stream = STR("order-1"), .expected = 0, .events = events, .count = 2};
    struct append_result out;
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    struct message_row row = row_of(c, 1);
    assert_int_equal(row.item.kind, KIND_OUTBOX);
    assert_true(str_equal(row.item.topic, STR("orders")));
    assert_true(str_equal(row.item.stream, STR("order-1")));
    assert_true(str_equal(row.item.headers, STR("{\"who\":\"me\"}")));
    assert_true(uuid_equal(row.item.correlation_id, message_id(8)));
    assert_int_equal(rows_with_id(c, 2), 0);
    struct event_list list = read_events(c, (pawl_read){.stream = STR("order-1")});
    assert_true(str_equal(list.events[0].metadata, STR("{\"who\":\"me\"}")));
    assert_true(uuid_equal(list.events[0].causation_id, message_id(9)));
    assert_true(str_equal(list.events[0].traceparent, STR("00-aa-bb-01")));
    assert_int_equal(append(c, "order-1", 7, "Created", 1, 0).answer, ANSWER_CONFLICT);
    assert_int_equal(counted(c, KIND_OUTBOX).put, 1);
}

static void snapshots_go_forward_and_the_last_two_are_kept(void **state) {
    struct conf *c = *state;
    append(c, "order-1", EXPECT_ANY, "Created", 9, 0);
    struct snapshot in = {.stream = STR("order-1"), .name = STR("state"), .state = STR("{\"v\":1}")}, out;
    enum store_answer answer;
    const struct {
        int64_t version;
        enum store_answer wanted;
    } steps[] = {{3, ANSWER_APPLIED},   {3, ANSWER_STALE},   {2, ANSWER_STALE},
                 {10, ANSWER_CONFLICT}, {5, ANSWER_APPLIED}, {8, ANSWER_APPLIED}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        in.version = steps[i].version;
        ok(c, EVENTS(c)->snapshot_put(c->store, &in, &answer, &c->err));
        assert_int_equal(answer, steps[i].wanted);
    }
    ok(c, EVENTS(c)->snapshot_get(c->store, in.stream, in.name, 0, c->arena, &out, &c->err));
    assert_int_equal(out.version, 8);
    assert_true(str_equal(out.state, STR("{\"v\":1}")));
    ok(c, EVENTS(c)->snapshot_get(c->store, in.stream, in.name, 7, c->arena, &out, &c->err));
    assert_int_equal(out.version, 5);
    expect(c, PAWL_NOT_FOUND,
           EVENTS(c)->snapshot_get(c->store, in.stream, in.name, 4, c->arena, &out, &c->err));
}

static void refuse(struct conf *c, struct events_append in, const char *words) {
    struct append_result out;
    expect(c, PAWL_INVALID, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    expect_error(c, words);
}

static void wrong_appends_are_refused_with_what_to_do(void **state) {
    struct conf *c = *state;
    char long_type[501];
    memset(long_type, 'x', 500);
    long_type[500] = '\0';
    pawl_event event = {.type = STR("Created"), .payload = STR("{}")};
    struct events_append in = {.stream = STR("order-1"), .expected = -2, .events = &event, .count = 1};
    refuse(c, in, "expected version -2");
    in.expected = 0;
    in.count = 0;
    refuse(c, in, "from 1 to 1000");
    in.count = 1;
    event.type = str_from(long_type);
    refuse(c, in, "type");
    event.type = ABSENT;
    refuse(c, in, "type");
    event.type = STR("Created");
    event.payload = STR("{");
    refuse(c, in, "not JSON");
    event.payload = STR("{}");
    event.metadata = STR("[]");
    refuse(c, in, "JSON object");
    pawl_event twice[] = {{.id = message_id(1), .type = STR("A"), .payload = STR("1")},
                          {.id = message_id(1), .type = STR("A"), .payload = STR("1")}};
    in.events = twice;
    in.count = 2;
    refuse(c, in, "twice");
    assert_int_equal(read_events(c, (pawl_read){.stream = STR("order-1")}).count, 0);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(versions_follow_one_another),
    CONF_TEST(a_wrong_expected_version_is_answered_with_the_actual_one),
    CONF_TEST(an_append_can_be_repeated_by_its_ids),
    CONF_TEST(an_id_with_anything_else_is_a_conflict),
    CONF_TEST(a_stream_is_read_backward_from_a_version_as_of_an_event_and_as_of_a_time),
    CONF_TEST(everything_has_positions_without_gaps_in_the_order_of_every_stream),
    CONF_TEST(an_event_can_be_published_in_the_same_transaction),
    CONF_TEST(snapshots_go_forward_and_the_last_two_are_kept),
    CONF_TEST(wrong_appends_are_refused_with_what_to_do),
};

CONF_GROUP(events, tests);
