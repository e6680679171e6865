/* Bad input: refused with a helpful error, and nothing happens. */
#include "conformance/harness.h"

#include <string.h>

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

static pawl_outgoing good(void) {
    return (pawl_outgoing){.id = message_id(1), .stream = STR("a"), .type = STR("T"), .payload = STR("{}")};
}

/* The put must be refused as invalid, say the words, and leave the state as it was. */
static void refuse_put(struct conf *c, pawl_outgoing message, const char *words) {
    pawl_outgoing both[2] = {message_numbered(c, 7, STR("ok")), message};
    struct messages_put in = {.kind = KIND_OUTBOX, .messages = both, .count = 2};
    struct put_result result = {0};
    const char *before = state_text_(c);
    expect_status_(c, PAWL_INVALID, c->core->messages_put(c->store, &in, c->arena, &result, &c->err),
                   "messages_put");
    expect_error_(c, words);
    expect_error_(c, "message 2 of 2"); /* which one */
    assert_null(result.answers);        /* outputs are written only on success */
    assert_string_equal(state_text_(c), before);
}
#define refuse_put(c, message, words) (conf_at(c, __FILE__, __LINE__), refuse_put(c, message, words))

static void payloads_that_are_not_json_are_refused(void **state) {
    struct conf *c = *state;
    static const char *const wrong[] = {"",     "{",        "{\"a\":}",   "nul",         "{} {}",
                                        "[1,]", "'text'",   "{\"a\":01}", "\"\\ud800\"", "\"\\u0000\"",
                                        "NaN",  "\"\x01\"", "[\"\\x\"]"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_outgoing message = good();
        message.payload = str_from(wrong[i]);
        refuse_put(c, message, "payload is not JSON");
    }
    pawl_outgoing missing = good();
    missing.payload = ABSENT;
    refuse_put(c, missing, "payload is missing");
}

static void bytes_that_are_not_text_are_refused_everywhere(void **state) {
    struct conf *c = *state;
    static const pawl_str wrong[] = {
        {"a\0b", 3}, {"\xff", 1}, {"\xc3", 1}, {"\xed\xa0\x80", 3}, {"\xc0\x80", 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_outgoing message = good();
        message.stream = wrong[i];
        refuse_put(c, message, "stream");
        message = good();
        message.type = wrong[i];
        refuse_put(c, message, "type");
        message = good();
        message.topic = wrong[i];
        refuse_put(c, message, "topic");
        message = good();
        message.payload = wrong[i];
        refuse_put(c, message, "payload");
    }
}

static void payloads_that_are_too_large_or_too_deep_are_refused(void **state) {
    struct conf *c = *state;
    size_t size = PAWL_PAYLOAD_BYTES_DEFAULT;
    char *text = arena_alloc(c->arena, size + 2);
    memset(text, 'x', size);
    text[0] = '"';
    text[size - 1] = '"';
    pawl_outgoing message = good();
    message.payload = (pawl_str){text, size};
    put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &message, .count = 1}); /* just fits */
    text[size - 1] = 'x';
    text[size] = '"';
    message.payload.len = size + 1;
    refuse_put(c, message, "limit");
    message.id = message_id(2);
    struct messages_put roomy = {
        .kind = KIND_OUTBOX, .messages = &message, .count = 1, .payload_bytes_max = size + 1};
    assert_int_equal(put_with(c, roomy).answers[0], ANSWER_APPLIED);
    join(c, 1, OUTBOX_BIT);
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_true(str_equal(list.items[1].payload, message.payload));
    char deep[PAWL_JSON_DEPTH_MAX * 2 + 3];
    memset(deep, '[', PAWL_JSON_DEPTH_MAX + 1);
    memset(deep + PAWL_JSON_DEPTH_MAX + 1, ']', PAWL_JSON_DEPTH_MAX + 1);
    message.payload = (pawl_str){deep, 2 * (PAWL_JSON_DEPTH_MAX + 1)};
    refuse_put(c, message, "payload is not JSON");
}

static void names_that_are_empty_missing_or_too_long_are_refused(void **state) {
    struct conf *c = *state;
    char text[PAWL_STREAM_BYTES_MAX + 2];
    memset(text, 's', sizeof text);
    pawl_outgoing message = good();
    message.stream = (pawl_str){"", 0};
    refuse_put(c, message, "stream is empty");
    message.stream = (pawl_str){text, PAWL_STREAM_BYTES_MAX + 1};
    refuse_put(c, message, "201 bytes");
    message = good();
    message.type = ABSENT;
    refuse_put(c, message, "type is missing");
    message.type = (pawl_str){"", 0};
    refuse_put(c, message, "type is empty");
    message = good();
    message.headers = STR("[1]");
    refuse_put(c, message, "headers");
    message.headers = STR("{");
    refuse_put(c, message, "headers");
    message = good();
    message.stream = (pawl_str){text, PAWL_STREAM_BYTES_MAX};
    put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &message, .count = 1});
}

static void puts_of_the_wrong_kind_or_without_a_consumer_are_refused(void **state) {
    struct conf *c = *state;
    pawl_outgoing message = good();
    struct messages_put in = {.kind = (enum store_kind)9, .messages = &message, .count = 1};
    struct put_result result;
    expect(c, PAWL_INVALID, c->core->messages_put(c->store, &in, c->arena, &result, &c->err));
    in.kind = KIND_INBOX;
    expect(c, PAWL_INVALID, c->core->messages_put(c->store, &in, c->arena, &result, &c->err));
    expect_error(c, "consumer");
    in.kind = KIND_OUTBOX;
    in.consumer = STR("billing");
    expect(c, PAWL_INVALID, c->core->messages_put(c->store, &in, c->arena, &result, &c->err));
    in.consumer = ABSENT;
    in.count = PAWL_BATCH_MAX + 1;
    expect(c, PAWL_INVALID, c->core->messages_put(c->store, &in, c->arena, &result, &c->err));
    expect_error(c, "split");
    assert_int_equal(counted(c, KIND_OUTBOX).put, 0);
}

static void claims_with_impossible_wishes_are_refused(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    struct messages_claim wrong[] = {claim_of(1, KIND_OUTBOX, 0),    claim_of(1, KIND_OUTBOX, -1),
                                     claim_of(1, KIND_OUTBOX, 5001), claim_of(1, (enum store_kind)0, 1),
                                     claim_of(1, KIND_OUTBOX, 1),    claim_of(1, KIND_OUTBOX, 1),
                                     claim_of(1, KIND_OUTBOX, 1),    claim_of(1, KIND_OUTBOX, 1),
                                     claim_of(1, KIND_OUTBOX, 1),    claim_of(1, KIND_OUTBOX, 1)};
    wrong[4].lease_ms = -1;
    wrong[5].lease_ms = 0;
    wrong[6].lease_ms = PAWL_LEASE_MS_MAX + 1;
    wrong[7].instance = uuid_nil();
    wrong[8].policy = (enum dead_policy)4;
    wrong[9].max_attempts = -1;
    struct item_list list;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect(c, PAWL_INVALID, c->core->messages_claim(c->store, &wrong[i], c->arena, &list, &c->err));
}

static void instances_with_impossible_values_are_refused(void **state) {
    struct conf *c = *state;
    struct instance_new wrong[7];
    for (int i = 0; i < 7; i++)
        wrong[i] = instance_named(1, OUTBOX_BIT);
    wrong[0].id = uuid_nil();
    wrong[1].service = ABSENT;
    wrong[2].service = (pawl_str){"a\nb", 3};
    wrong[3].metadata = STR("not json");
    wrong[4].lease_ms = -5;
    wrong[5].kinds = 1;
    wrong[6].max_partitions = -1;
    struct instance_grant grant;
    for (int i = 0; i < 7; i++)
        expect(c, PAWL_INVALID, c->core->instance_register(c->store, &wrong[i], &grant, &c->err));
    assert_false(instance_listed(c, 1));
}

static void reports_with_impossible_values_are_refused(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    const char *before = state_text(c);
    struct answer_list answers;
    struct fail_item failures[4];
    for (int i = 0; i < 4; i++)
        failures[i] = failure_of(&held.items[0], "x", 0);
    failures[0].delay_ms = -2;
    failures[1].error_class = (enum error_class_in)0;
    failures[2].error = (pawl_str){"a\0b", 3};
    failures[3].max_attempts = -1;
    for (int i = 0; i < 4; i++) {
        struct messages_fail in = {
            .instance = instance_id(1), .kind = KIND_OUTBOX, .items = &failures[i], .count = 1};
        expect(c, PAWL_INVALID, c->core->messages_fail(c->store, &in, c->arena, &answers, &c->err));
    }
    struct release_item back = {.ref = {held.items[0].token, message_id(1)}, .delay_ms = -1};
    struct messages_release release = {
        .instance = instance_id(1), .kind = KIND_OUTBOX, .items = &back, .count = 1};
    expect(c, PAWL_INVALID, c->core->messages_release(c->store, &release, c->arena, &answers, &c->err));
    struct messages_renew renew = {
        .instance = instance_id(1), .kind = KIND_OUTBOX, .items = &back.ref, .count = 1, .lease_ms = -300000};
    expect(c, PAWL_INVALID, c->core->messages_renew(c->store, &renew, c->arena, &answers, &c->err));
    assert_string_equal(state_text(c), before);
    complete_all(c, 1, held);
}

static void batches_with_impossible_values_are_refused(void **state) {
    struct conf *c = *state;
    struct work_batch wrong[4];
    for (int i = 0; i < 4; i++)
        wrong[i] = (struct work_batch){.instance = instance_named(1, OUTBOX_BIT), .lease_ms = LEASE_MS};
    wrong[0].flags = 64;
    wrong[1].claim_max[KIND_OUTBOX] = -1;
    wrong[2].lease_ms = -1;
    wrong[3].instance.service = (pawl_str){"", 0};
    struct work_batch_result result;
    for (int i = 0; i < 4; i++)
        expect(c, PAWL_INVALID, c->core->batch_process(c->store, &wrong[i], c->arena, &result, &c->err));
    assert_false(instance_listed(c, 1));
}

static void reports_of_receptors_and_checkpoints_are_checked(void **state) {
    struct conf *c = *state;
    struct answer_list answers;
    struct receptor_report receptor = {.event_id = uuid_nil(), .receptor = STR("A"), .status = 4};
    expect(c, PAWL_INVALID, c->core->receptors_report(c->store, &receptor, 1, c->arena, &answers, &c->err));
    receptor.event_id = message_id(1);
    receptor.receptor = ABSENT;
    expect(c, PAWL_INVALID, c->core->receptors_report(c->store, &receptor, 1, c->arena, &answers, &c->err));
    struct checkpoint_report checkpoint = {
        .stream = STR("a"), .perspective = STR("p"), .version = -1, .status = CHECKPOINT_COMPLETED};
    expect(c, PAWL_INVALID,
           c->core->checkpoints_report(c->store, &(struct checkpoints_report){instance_id(1), &checkpoint, 1},
                                       c->arena, &answers, &c->err));
    checkpoint.version = 1;
    checkpoint.status = (enum checkpoint_status)7;
    expect(c, PAWL_INVALID,
           c->core->checkpoints_report(c->store, &(struct checkpoints_report){instance_id(1), &checkpoint, 1},
                                       c->arena, &answers, &c->err));
}

static void settings_outside_their_range_are_refused(void **state) {
    struct conf *c = *state;
    struct settings before, after;
    ok(c, c->core->settings_read(c->store, &before, &c->err));
    struct settings_change wrong[4] = {settings_same(), settings_same(), settings_same(), settings_same()};
    wrong[0].max_attempts = 0;
    wrong[1].dead_policy = 9;
    wrong[2].stale_ms = 1;
    wrong[3].dedupe_ms = -7;
    for (int i = 0; i < 4; i++)
        expect(c, PAWL_INVALID, c->core->settings_change(c->store, &wrong[i], &c->err));
    ok(c, c->core->settings_read(c->store, &after, &c->err));
    assert_memory_equal(&after, &before, sizeof after);
    struct maintain_in in = {.rows_max = 0};
    struct maintain_result swept;
    expect(c, PAWL_INVALID, c->core->maintain(c->store, &in, &swept, &c->err));
}

static void text_that_looks_like_sql_is_only_text(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    pawl_outgoing message = good();
    message.stream = STR("x'; drop table pawl_internal.message; --");
    message.type = STR("$1 {\"a\",NULL} \\");
    message.topic = STR("%s%n NULL");
    message.payload = STR("{\"q\":\"it's \\\\ {a,\\\"b\\\"} $$ ?1 :x\"}");
    put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &message, .count = 1});
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(list.count, 1);
    assert_true(str_equal(list.items[0].stream, message.stream));
    assert_true(str_equal(list.items[0].type, message.type));
    assert_true(str_equal(list.items[0].topic, message.topic));
    assert_true(str_equal(list.items[0].payload, message.payload));
    struct fail_item failure =
        failure_of(&list.items[0], "it's {\"broken\", NULL} \\ and more\nsecond line", 0);
    assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure).answer, ANSWER_APPLIED);
    assert_true(str_equal(row_of(c, 1).error, failure.error));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(payloads_that_are_not_json_are_refused),
    CONF_TEST(bytes_that_are_not_text_are_refused_everywhere),
    CONF_TEST(payloads_that_are_too_large_or_too_deep_are_refused),
    CONF_TEST(names_that_are_empty_missing_or_too_long_are_refused),
    CONF_TEST(puts_of_the_wrong_kind_or_without_a_consumer_are_refused),
    CONF_TEST(claims_with_impossible_wishes_are_refused),
    CONF_TEST(instances_with_impossible_values_are_refused),
    CONF_TEST(reports_with_impossible_values_are_refused),
    CONF_TEST(batches_with_impossible_values_are_refused),
    CONF_TEST(reports_of_receptors_and_checkpoints_are_checked),
    CONF_TEST(settings_outside_their_range_are_refused),
    CONF_TEST(text_that_looks_like_sql_is_only_text),
};

CONF_GROUP(input, tests);
