/* Receptors on events: exactly one message per event and receptor, in any order of calls. */
#include "conformance/events/event_words.h"

#include <string.h>

static enum store_answer enrol_(struct conf *c, const char *name, const char *pattern, bool from_start,
                                bool replace) {
    struct event_pattern one = event_pattern_from(str_from(pattern));
    struct receptor_new in = {.name = str_from(name),
                              .patterns = &one,
                              .pattern_count = 1,
                              .from_start = from_start,
                              .replace = replace};
    enum store_answer answer = 0;
    expect_status_(c, PAWL_OK, EVENTS(c)->receptor_register(c->store, &in, &answer, &c->err),
                   "receptor_register");
    return answer;
}
#define enrol(c, ...) (conf_at(c, __FILE__, __LINE__), enrol_(c, __VA_ARGS__))

static struct feed_result feed_(struct conf *c, const char *name, const char *other, int limit) {
    pawl_str names[2] = {str_from(name), str_from(other)};
    struct receptors_feed in = {.names = names, .count = other != NULL ? 2 : 1, .limit = limit};
    struct feed_result out = {0};
    stamp_(c);
    expect_status_(c, PAWL_OK, EVENTS(c)->receptors_feed(c->store, &in, &out, &c->err), "receptors_feed");
    return out;
}
#define feed(c, ...) (conf_at(c, __FILE__, __LINE__), feed_(c, __VA_ARGS__))

static struct event_receptor listed_(struct conf *c, const char *name) {
    struct event_receptors list;
    expect_status_(c, PAWL_OK, EVENTS(c)->receptor_list(c->store, c->arena, &list, &c->err), "receptor_list");
    for (size_t i = 0; i < list.count; i++) {
        if (str_equal_cstr(list.rows[i].name, name))
            return list.rows[i];
    }
    fail_msg("%s:%d: receptor %s is not listed", c->file, c->line, name);
    return (struct event_receptor){.position = -1};
}
#define listed(c, ...) (conf_at(c, __FILE__, __LINE__), listed_(c, __VA_ARGS__))

static int count_consumer(struct item_list list, const char *consumer) {
    int count = 0;
    for (size_t i = 0; i < list.count; i++)
        count += str_equal_cstr(list.items[i].consumer, consumer);
    return count;
}

/* covers: W27 */
static void each_event_gives_each_receptor_that_wants_it_one_message_of_its_own(void **state) {
    struct conf *c = *state;
    assert_int_equal(enrol(c, "mail", "Order*", false, false), ANSWER_APPLIED);
    assert_int_equal(enrol(c, "ledger", "suffix:Paid", false, false), ANSWER_APPLIED);
    append(c, "order-1", EXPECT_ANY, "OrderCreated", 2, 1);
    append(c, "order-2", EXPECT_ANY, "Shop.Paid", 1, 3);
    append(c, "order-2", EXPECT_ANY, "OrderClosed", 1, 4);
    struct feed_result fed = feed(c, "mail", "ledger", 100);
    assert_int_equal(fed.known, 2);
    assert_int_equal(fed.events, 8); /* four by each */
    assert_int_equal(fed.fed, 4);
    assert_false(fed.more);
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct item_list list = claim(c, 1, KIND_INBOX, 100);
    assert_int_equal(list.count, 4);
    assert_int_equal(count_consumer(list, "event:mail"), 3);
    assert_int_equal(count_consumer(list, "event:ledger"), 1);
    for (size_t i = 0; i < list.count; i++) {
        const struct item *item = &list.items[i];
        assert_true(str_equal(item->topic, item->consumer));
        assert_true(str_absent(item->stream)); /* no order between them */
        assert_int_equal(item->id.b[6] >> 4, 8);
        if (!str_equal(item->consumer, STR("event:ledger")))
            continue;
        assert_true(uuid_equal(item->causation_id, message_id(3)));
        assert_true(str_equal(item->type, STR("Shop.Paid")));
        assert_true(str_equal(item->headers, STR("{\"stream\":\"order-2\",\"version\":1}")));
    }
    complete_all(c, 1, list);
    assert_int_equal(feed(c, "mail", "ledger", 100).events, 0);
    assert_int_equal(listed(c, "mail").fed, 3);
    assert_int_equal(listed(c, "mail").position, 4);
    assert_int_equal(counted(c, KIND_INBOX).put, 4);
}

static void two_receptors_of_one_event_end_apart(void **state) {
    struct conf *c = *state;
    enrol(c, "a", "*", false, false);
    enrol(c, "b", "*", false, false);
    append(c, "x", EXPECT_ANY, "Created", 1, 1);
    feed(c, "a", "b", 10);
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    assert_int_equal(list.count, 2);
    assert_false(uuid_equal(list.items[0].id, list.items[1].id));
    const struct item *a = str_equal(list.items[0].consumer, STR("event:a")) ? &list.items[0]
                                                                             : &list.items[1];
    const struct item *b = a == &list.items[0] ? &list.items[1] : &list.items[0];
    struct fail_item in = failure_of(a, "no such mailbox", 0);
    in.error_class = CLASS_PERMANENT;
    assert_int_equal(fail_with(c, 1, KIND_INBOX, in).outcome, FAIL_DEAD);
    assert_int_equal(complete(c, 1, b), ANSWER_APPLIED);
    assert_int_equal(counted(c, KIND_INBOX).dead, 1);
    assert_int_equal(counted(c, KIND_INBOX).done, 1);
}

static void the_id_of_a_message_is_the_same_in_every_store(void **state) {
    struct conf *c = *state;
    enrol(c, "mail", "*", false, false);
    append(c, "x", EXPECT_ANY, "Created", 1, 7);
    feed(c, "mail", NULL, 10);
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    pawl_stored_event event = {.stream = STR("x"), .version = 1, .id = message_id(7), .type = STR("t")};
    pawl_outgoing wanted;
    ok(c, receptor_message(c->arena, &event, STR("mail"), &wanted, &c->err));
    assert_int_equal(list.count, 1);
    assert_true(uuid_equal(list.items[0].id, wanted.id));
    assert_memory_equal(wanted.id.b, message_id(7).b, 6);
}

static void a_new_one_starts_now_or_at_the_first_event(void **state) {
    struct conf *c = *state;
    append(c, "x", EXPECT_ANY, "Created", 3, 1);
    assert_int_equal(enrol(c, "now", "*", false, false), ANSWER_APPLIED);
    assert_int_equal(enrol(c, "all", "*", true, false), ANSWER_APPLIED);
    append(c, "x", EXPECT_ANY, "Created", 1, 4);
    assert_int_equal(feed(c, "now", NULL, 10).fed, 1);
    assert_int_equal(feed(c, "all", NULL, 10).fed, 4);
}

static void it_goes_on_where_it_stopped_in_steps_of_the_limit(void **state) {
    struct conf *c = *state;
    enrol(c, "mail", "exact:Paid", false, false);
    for (int i = 0; i < 5; i++)
        append(c, "x", EXPECT_ANY, i % 2 == 0 ? "Created" : "Paid", 1, i + 1);
    append(c, "y", EXPECT_ANY, "Paid", 4, 10); /* one append that the limit cuts */
    struct feed_result fed = feed(c, "mail", NULL, 3);
    assert_int_equal(fed.events, 3);
    assert_int_equal(fed.fed, 1);
    assert_true(fed.more);
    fed = feed(c, "mail", NULL, 4);
    assert_int_equal(fed.fed, 3); /* the fourth event of x and two of y */
    assert_true(fed.more);
    fed = feed(c, "mail", NULL, 4);
    assert_int_equal(fed.events, 2);
    assert_int_equal(fed.fed, 2);
    assert_false(fed.more);
    assert_int_equal(listed(c, "mail").position, 9);
}

static void registering_again_changes_nothing_unless_it_is_to_replace(void **state) {
    struct conf *c = *state;
    enrol(c, "mail", "Order*", false, false);
    append(c, "x", EXPECT_ANY, "OrderPaid", 1, 1);
    feed(c, "mail", NULL, 10);
    assert_int_equal(enrol(c, "mail", "Order*", true, false), ANSWER_DUPLICATE);
    assert_int_equal(enrol(c, "mail", "Order*", true, true), ANSWER_DUPLICATE);
    assert_int_equal(enrol(c, "mail", "Stock*", true, false), ANSWER_CONFLICT);
    assert_int_equal(listed(c, "mail").position, 1);
    assert_int_equal(enrol(c, "mail", "regex:stock.*", true, true), ANSWER_APPLIED);
    struct event_receptor row = listed(c, "mail");
    assert_int_equal(row.position, 1); /* where it was */
    assert_int_equal(row.pattern_count, 1);
    assert_int_equal(row.patterns[0].mode, PATTERN_REGEX);
    assert_true(str_equal(row.patterns[0].text, STR("stock.*")));
    append(c, "x", EXPECT_ANY, "OrderPaid", 1, 2);
    append(c, "x", EXPECT_ANY, "StockMoved", 1, 3);
    assert_int_equal(feed(c, "mail", NULL, 10).fed, 1);
}

static void one_that_is_removed_gets_no_more_and_keeps_its_messages(void **state) {
    struct conf *c = *state;
    enum store_answer answer = 0;
    enrol(c, "mail", "*", false, false);
    append(c, "x", EXPECT_ANY, "Paid", 1, 1);
    feed(c, "mail", NULL, 10);
    ok(c, EVENTS(c)->receptor_remove(c->store, STR("mail"), &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    ok(c, EVENTS(c)->receptor_remove(c->store, STR("mail"), &answer, &c->err));
    assert_int_equal(answer, ANSWER_NOT_FOUND);
    append(c, "x", EXPECT_ANY, "Paid", 1, 2);
    struct feed_result fed = feed(c, "mail", NULL, 10);
    assert_int_equal(fed.known, 0);
    assert_int_equal(fed.fed, 0);
    assert_int_equal(counted(c, KIND_INBOX).ready, 1);
    /* Once more from the first event: what is remembered is not put again. */
    assert_int_equal(enrol(c, "mail", "*", true, false), ANSWER_APPLIED);
    assert_int_equal(feed(c, "mail", NULL, 10).fed, 1);
    assert_int_equal(counted(c, KIND_INBOX).ready, 2);
}

static void metadata_comes_along_when_it_fits(void **state) {
    struct conf *c = *state;
    char *large = arena_alloc(c->arena, 64001);
    memset(large, 'a', 64000);
    large[64000] = '\0';
    pawl_event events[2] = {
        {.id = message_id(1), .type = STR("a"), .payload = STR("{}"), .metadata = STR("{\"by\":\"ann\"}")},
        {.id = message_id(2),
         .type = STR("a"),
         .payload = STR("{}"),
         .metadata = str_from(arena_printf(c->arena, "{\"by\":\"%s\"}", large))}};
    struct events_append in = {
        .stream = STR("a \"b\""), .expected = EXPECT_ANY, .events = events, .count = 2};
    struct append_result out;
    enrol(c, "mail", "*", false, false);
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(feed(c, "mail", NULL, 10).fed, 2);
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    assert_int_equal(list.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(
            str_equal(list.items[i].headers,
                      uuid_equal(list.items[i].causation_id, message_id(1))
                          ? STR("{\"stream\":\"a \\\"b\\\"\",\"version\":1,\"metadata\":{\"by\":\"ann\"}}")
                          : STR("{\"stream\":\"a \\\"b\\\"\",\"version\":2}")));
}

static void bad_receptors_are_refused(void **state) {
    struct conf *c = *state;
    static const char *const names[] = {"", "a b", "a@b", "event:a", "\xc3\xa4"};
    struct event_pattern pattern = {PATTERN_GLOB, STR("*")};
    enum store_answer answer = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct receptor_new in = {.name = str_from(names[i]), .patterns = &pattern, .pattern_count = 1};
        expect(c, PAWL_INVALID, EVENTS(c)->receptor_register(c->store, &in, &answer, &c->err));
        expect_error(c, "letters, digits");
    }
    struct receptor_new in = {.name = STR("a"), .patterns = &pattern};
    expect(c, PAWL_INVALID, EVENTS(c)->receptor_register(c->store, &in, &answer, &c->err));
    expect_error(c, "patterns");
    in.pattern_count = 1;
    pattern = (struct event_pattern){PATTERN_REGEX, STR("(a+)+")};
    expect(c, PAWL_INVALID, EVENTS(c)->receptor_register(c->store, &in, &answer, &c->err));
    expect_error(c, "must not be repeated");
    pawl_str name = STR("a");
    struct feed_result out;
    struct receptors_feed feed_in = {.names = &name, .count = 1, .limit = 0};
    expect(c, PAWL_INVALID, EVENTS(c)->receptors_feed(c->store, &feed_in, &out, &c->err));
    expect_error(c, "limit");
    pawl_str twice[2] = {STR("a"), STR("a")};
    feed_in = (struct receptors_feed){.names = twice, .count = 2, .limit = 1};
    expect(c, PAWL_INVALID, EVENTS(c)->receptors_feed(c->store, &feed_in, &out, &c->err));
    expect_error(c, "twice");
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(each_event_gives_each_receptor_that_wants_it_one_message_of_its_own),
    CONF_TEST(two_receptors_of_one_event_end_apart),
    CONF_TEST(the_id_of_a_message_is_the_same_in_every_store),
    CONF_TEST(a_new_one_starts_now_or_at_the_first_event),
    CONF_TEST(it_goes_on_where_it_stopped_in_steps_of_the_limit),
    CONF_TEST(registering_again_changes_nothing_unless_it_is_to_replace),
    CONF_TEST(one_that_is_removed_gets_no_more_and_keeps_its_messages),
    CONF_TEST(metadata_comes_along_when_it_fits),
    CONF_TEST(bad_receptors_are_refused),
};

CONF_GROUP(event_receptor, tests);
