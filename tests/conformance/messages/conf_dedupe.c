/* Deduplication: the inbox accepts a message id once per consumer inside the window; the outbox never asks.
 */
#include "conformance/harness.h"

#include "base/limits.h"

static struct messages_put inbox_put(const pawl_outgoing *messages, size_t count, const char *consumer) {
    return (struct messages_put){
        .kind = KIND_INBOX, .messages = messages, .count = count, .consumer = str_from(consumer)};
}

/* covers: M63 M47 M48 M49 W42 BX.2 */
static void DuplicateInbox_DeduplicationPrevents(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_INBOX));
    assert_int_equal(put(c, KIND_INBOX, 1, STR("a")), ANSWER_APPLIED);
    assert_int_equal(put(c, KIND_INBOX, 1, STR("a")), ANSWER_DUPLICATE); /* no error, nothing stored */
    assert_int_equal(rows_with_id(c, 1), 1);
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    assert_string_equal(numbers(c, list), "1");
    complete_all(c, 1, list);
    assert_int_equal(put(c, KIND_INBOX, 1, STR("a")), ANSWER_DUPLICATE); /* done, but remembered */
    assert_int_equal(claim(c, 1, KIND_INBOX, 10).count, 0);
    assert_int_equal(counted(c, KIND_INBOX).duplicate, 2);
    assert_int_equal(counted(c, KIND_INBOX).put, 1);
}

/* covers: B3.4 */
static void a_duplicate_leaves_the_rest_of_the_call_alone(void **state) {
    struct conf *c = *state;
    put(c, KIND_INBOX, 2, STR("a"));
    pawl_outgoing in[4] = {message_numbered(c, 1, STR("a")), message_numbered(c, 2, STR("a")),
                           message_numbered(c, 2, STR("a")), message_numbered(c, 3, STR("a"))};
    in[2].payload = STR("{\"other\":true}");
    struct put_result result = put_with(c, inbox_put(in, 4, "orders"));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    assert_int_equal(result.answers[1], ANSWER_DUPLICATE);
    assert_int_equal(result.answers[2], ANSWER_CONFLICT); /* the id is known with another payload */
    assert_int_equal(result.answers[3], ANSWER_APPLIED);
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct item_list list = claim(c, 1, KIND_INBOX, 10);
    assert_string_equal(numbers(c, list), "2 1 3");
    assert_true(str_equal(list.items[0].payload, STR("{\"n\":2}")));
}

static void inside_one_call_the_first_wins(void **state) {
    struct conf *c = *state;
    pawl_outgoing in[3] = {message_numbered(c, 1, STR("a")), message_numbered(c, 1, STR("a")),
                           message_numbered(c, 1, STR("a"))};
    in[2].payload = STR("[]");
    struct put_result result = put_with(c, inbox_put(in, 3, "orders"));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    assert_int_equal(result.answers[1], ANSWER_DUPLICATE);
    assert_int_equal(result.answers[2], ANSWER_CONFLICT);
    assert_true(str_equal(row_of(c, 1).item.payload, STR("{\"n\":1}")));
}

/* covers: B2.10 */
static void two_consumers_each_get_the_message(void **state) {
    struct conf *c = *state;
    pawl_outgoing in = message_numbered(c, 1, STR("a"));
    assert_int_equal(put_with(c, inbox_put(&in, 1, "billing")).answers[0], ANSWER_APPLIED);
    assert_int_equal(put_with(c, inbox_put(&in, 1, "shipping")).answers[0], ANSWER_APPLIED);
    assert_int_equal(put_with(c, inbox_put(&in, 1, "billing")).answers[0], ANSWER_DUPLICATE);
    assert_int_equal(rows_with_id(c, 1), 2);
}

/* covers: B2.9 M50 */
static void ids_are_remembered_for_the_window_and_forgotten_in_bounded_batches(void **state) {
    struct conf *c = *state;
    struct settings settings;
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    assert_int_equal(settings.dedupe_ms, PAWL_DEDUPE_MS_DEFAULT);
    put_range(c, KIND_INBOX, 1, 25, STR("a"));
    struct maintain_in in = {.rows_max = 10};
    struct maintain_result swept = {0};
    advance(c, PAWL_DEDUPE_MS_DEFAULT);
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(swept.dedupe_removed, 0);
    assert_int_equal(put(c, KIND_INBOX, 1, STR("a")), ANSWER_DUPLICATE);
    advance(c, 1);
    static const int removed[] = {10, 10, 5, 0};
    for (int i = 0; i < 4; i++) {
        ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
        assert_int_equal(swept.dedupe_removed, removed[i]);
    }
    assert_int_equal(put(c, KIND_INBOX, 1, STR("a")), ANSWER_APPLIED);
}

static void the_window_is_a_setting(void **state) {
    struct conf *c = *state;
    struct settings_change change = settings_same();
    change.dedupe_ms = 300000;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    put(c, KIND_INBOX, 1, STR("a"));
    advance(c, 300001);
    struct maintain_in in = {.rows_max = 1000};
    struct maintain_result swept = {0};
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    assert_int_equal(swept.dedupe_removed, 1);
}

/* covers: B2.11 */
static void a_deduplicated_message_still_runs_again_after_its_lease_is_over(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_INBOX));
    put(c, KIND_INBOX, 1, STR("a"));
    struct item_list first = claim(c, 1, KIND_INBOX, 10);
    advance(c, LEASE_MS);
    struct item_list second = claim(c, 1, KIND_INBOX, 10);
    assert_string_equal(numbers(c, second), "1"); /* at-least-once run … */
    assert_int_equal(complete(c, 1, &first.items[0]), ANSWER_STALE);
    assert_int_equal(complete(c, 1, &second.items[0]), ANSWER_APPLIED); /* … one recorded end */
    assert_int_equal(counted(c, KIND_INBOX).done, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(DuplicateInbox_DeduplicationPrevents),
    CONF_TEST(a_duplicate_leaves_the_rest_of_the_call_alone),
    CONF_TEST(inside_one_call_the_first_wins),
    CONF_TEST(two_consumers_each_get_the_message),
    CONF_TEST(ids_are_remembered_for_the_window_and_forgotten_in_bounded_batches),
    CONF_TEST(the_window_is_a_setting),
    CONF_TEST(a_deduplicated_message_still_runs_again_after_its_lease_is_over),
};

CONF_GROUP(dedupe, tests);
