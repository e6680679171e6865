/* Tests of the input checks that all stores share: every wrong call is refused with a sentence that helps. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "store/store.h"
#include "support/check.h"

static const pawl_uuid some_id = {{1, 2, 3}};

static void refused_(pawl_status status, const pawl_error *err, const char *words, int line) {
    if (status != PAWL_INVALID || strstr(err->text, words) == NULL)
        fail_msg("line %d: status %d, text \"%s\", wanted \"%s\"", line, (int)status, err->text, words);
}
#define refused(call, words)                                                                                 \
    do {                                                                                                     \
        pawl_error err = {0};                                                                                \
        refused_(call, &err, words, __LINE__);                                                               \
    } while (0)
#define accepted(call)                                                                                       \
    do {                                                                                                     \
        pawl_error err = {0};                                                                                \
        assert_int_equal(call, PAWL_OK);                                                                     \
    } while (0)

static pawl_outgoing message(void) {
    return (pawl_outgoing){
        .id = some_id, .stream = STR("order-1"), .type = STR("Order.Placed"), .payload = STR("{}")};
}

static struct messages_put put_of(const pawl_outgoing *messages, size_t count) {
    return (struct messages_put){.kind = KIND_OUTBOX, .messages = messages, .count = count};
}

/* covers: W29 W30 */
TEST(a_put_with_all_its_parts_is_accepted) {
    pawl_outgoing m = message();
    m.topic = STR("orders");
    m.headers = STR(" {\"a\": 1}");
    m.traceparent = STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    struct messages_put in = put_of(&m, 1);
    accepted(check_put(&in, &err));
    in.kind = KIND_INBOX;
    in.consumer = STR("billing");
    accepted(check_put(&in, &err));
    in.count = 0;
    in.messages = NULL;
    accepted(check_put(&in, &err));
}

TEST(the_sentence_says_which_message_is_wrong) {
    pawl_outgoing three[3] = {message(), message(), message()};
    struct messages_put in = put_of(three, 3);
    three[1].payload = STR("{\"a\": }");
    refused(check_put(&in, &err), "message 2 of 3: the payload is not JSON");
    refused(check_put(&in, &err), "at byte 6");
}

TEST(a_message_needs_its_texts) {
    pawl_outgoing m = message();
    struct messages_put in = put_of(&m, 1);
    m.stream = (pawl_str){"", 0};
    refused(check_put(&in, &err), "the stream is empty");
    m = message();
    m.stream = STR("a\nb");
    refused(check_put(&in, &err), "control character");
    m = message();
    m.type = (pawl_str){NULL, 0};
    refused(check_put(&in, &err), "the type is missing");
    m = message();
    m.payload = (pawl_str){NULL, 0};
    refused(check_put(&in, &err), "the payload is missing");
    m = message();
    m.headers = STR("[1]");
    refused(check_put(&in, &err), "the headers must be a JSON object");
    m = message();
    m.topic = STR("\xff");
    refused(check_put(&in, &err), "not valid UTF-8");
}

TEST(a_payload_has_a_limit) {
    char *text = malloc(PAWL_PAYLOAD_BYTES_DEFAULT + 2);
    assert_non_null(text);
    memset(text, ' ', PAWL_PAYLOAD_BYTES_DEFAULT + 2);
    text[0] = '1';
    pawl_outgoing m = message();
    struct messages_put in = put_of(&m, 1);
    m.payload = (pawl_str){text, PAWL_PAYLOAD_BYTES_DEFAULT};
    accepted(check_put(&in, &err));
    m.payload.len++;
    refused(check_put(&in, &err), "the payload has 262145 bytes, the limit is 262144");
    in.payload_bytes_max = PAWL_PAYLOAD_BYTES_DEFAULT + 1;
    accepted(check_put(&in, &err));
    in.payload_bytes_max = (size_t)PAWL_PAYLOAD_BYTES_MAX + 1;
    refused(check_put(&in, &err), "above the largest possible");
    free(text);
}

/* covers: B2.10 */
TEST(only_the_inbox_has_a_consumer_and_it_must) {
    pawl_outgoing m = message();
    struct messages_put in = put_of(&m, 1);
    in.consumer = STR("billing");
    refused(check_put(&in, &err), "only the inbox deduplicates");
    in.kind = KIND_INBOX;
    in.consumer = (pawl_str){NULL, 0};
    refused(check_put(&in, &err), "the consumer is missing");
    in.kind = (enum store_kind)9;
    refused(check_put(&in, &err), "9 is not a kind of work");
}

TEST(one_call_carries_a_bounded_number) {
    pawl_outgoing m = message();
    struct messages_put in = put_of(&m, PAWL_BATCH_MAX + 1);
    refused(check_put(&in, &err), "at most 5000 are allowed, so split the call");
    in = put_of(NULL, 1);
    refused(check_put(&in, &err), "has none");
}

static struct messages_claim claim(void) {
    return (struct messages_claim){.instance = some_id, .kind = KIND_INBOX, .max = 1, .lease_ms = 1000};
}

/* covers: W19 */
TEST(a_claim_names_its_bounds) {
    struct messages_claim in = claim();
    accepted(check_claim(&in, &err));
    in.max = 0;
    refused(check_claim(&in, &err), "max 0 is outside 1 … 5000");
    in.max = PAWL_BATCH_MAX + 1;
    refused(check_claim(&in, &err), "max 5001");
    in = claim();
    in.lease_ms = -5;
    refused(check_claim(&in, &err), "a lease of -5 ms is outside 100 … 86400000 ms");
    in.lease_ms = PAWL_LEASE_MS_MAX + INT64_C(1);
    refused(check_claim(&in, &err), "a lease of 86400001 ms");
    in = claim();
    in.max_attempts = -1;
    refused(check_claim(&in, &err), "max_attempts -1");
    in = claim();
    in.policy = (enum dead_policy)4;
    refused(check_claim(&in, &err), "4 is not a dead-letter policy");
    in = claim();
    in.instance = (pawl_uuid){{0}};
    refused(check_claim(&in, &err), "the instance id is nil");
}

static struct instance_new instance(void) {
    return (struct instance_new){.id = some_id, .service = STR("shop"), .kinds = KIND_BIT(KIND_OUTBOX)};
}

/* covers: W03 P68 */
TEST(an_instance_says_who_it_is) {
    struct instance_new in = instance();
    accepted(check_instance(&in, &err));
    in.kinds = 0;
    accepted(check_instance(&in, &err));
    in.kinds = 1;
    refused(check_instance(&in, &err), "kinds 1 has bits that are no kind");
    in = instance();
    in.service = (pawl_str){NULL, 0};
    refused(check_instance(&in, &err), "the service is missing");
    in = instance();
    in.metadata = STR("\"text\"");
    refused(check_instance(&in, &err), "must be a JSON object");
    in = instance();
    in.lease_ms = 99;
    refused(check_instance(&in, &err), "a lease of 99 ms");
    in = instance();
    in.partition_count = PAWL_PARTITIONS_MAX + 1;
    refused(check_instance(&in, &err), "partition_count 100001");
    in = instance();
    in.max_partitions = -1;
    refused(check_instance(&in, &err), "max_partitions -1 is negative");
}

TEST(reports_are_checked_before_anything_happens) {
    struct fail_item item = {.error = STR("boom"), .error_class = CLASS_RETRYABLE, .delay_ms = -1};
    struct messages_fail in = {some_id, KIND_OUTBOX, &item, 1};
    accepted(check_fail(&in, &err));
    item.delay_ms = -2;
    refused(check_fail(&in, &err), "failure 1 of 1: a delay of -2 ms is outside -1");
    item.delay_ms = 0;
    item.error_class = (enum error_class_in)0;
    refused(check_fail(&in, &err), "0 is not an error class");
    item.error_class = CLASS_PERMANENT;
    item.error = (pawl_str){"a\0b", 3};
    refused(check_fail(&in, &err), "not UTF-8 without NUL bytes");
    struct release_item release = {.delay_ms = -1};
    struct messages_release give_back = {some_id, KIND_OUTBOX, &release, 1};
    refused(check_release(&give_back, &err), "release 1 of 1: a delay of -1 ms is outside 0");
    struct messages_renew renew = {some_id, KIND_OUTBOX, NULL, 0, 0};
    refused(check_renew(&renew, &err), "a lease of 0 ms");
}

static struct work_batch batch(void) { return (struct work_batch){.instance = instance()}; }

/* covers: W02 */
TEST(a_batch_is_checked_as_a_whole) {
    struct work_batch in = batch();
    accepted(check_batch(&in, &err));
    in.claim_max[KIND_INBOX] = 5;
    refused(check_batch(&in, &err), "a lease of 0 ms");
    in.lease_ms = 1000;
    accepted(check_batch(&in, &err));
    in.claim_max[KIND_INBOX] = -1;
    refused(check_batch(&in, &err), "claim_max -1 of kind 2");
    in = batch();
    in.flags = 64;
    refused(check_batch(&in, &err), "flags 64 has unknown bits");
    pawl_outgoing m = message();
    m.type = (pawl_str){NULL, 0};
    in = batch();
    in.messages[KIND_INBOX] = &m;
    in.message_count[KIND_INBOX] = 1;
    refused(check_batch(&in, &err), "message 1 of 1: the type is missing");
    struct checkpoint_report report = {.stream = STR("a"), .perspective = STR("p"), .version = -1};
    in = batch();
    in.checkpoints = &report;
    in.checkpoint_count = 1;
    refused(check_batch(&in, &err), "checkpoint report 1 of 1: version -1");
}

TEST(settings_have_ranges) {
    struct settings_change in = {-1, -1, -1, -1, -1, -1, -1};
    accepted(check_settings(&in, &err));
    in.max_attempts = 0;
    refused(check_settings(&in, &err), "max_attempts = 0 is outside 1 … 1000");
    in.max_attempts = -1;
    in.dead_policy = POLICY_DEFAULT;
    refused(check_settings(&in, &err), "dead_policy = 0");
}

TEST(the_error_text_is_the_error_and_the_stack_cut_to_fit) {
    struct arena *arena = arena_create(0);
    pawl_str text = STR("unchanged");
    pawl_error err = {0};
    assert_non_null(arena);
    assert_int_equal(store_error_text(arena, (pawl_str){NULL, 0}, (pawl_str){NULL, 0}, &text, &err), PAWL_OK);
    assert_true(str_absent(text));
    assert_int_equal(store_error_text(arena, STR("boom"), STR("in main"), &text, &err), PAWL_OK);
    assert_true(str_equal_cstr(text, "boom\nin main"));
    char *long_text = arena_alloc(arena, PAWL_ERROR_BYTES_MAX + 10);
    assert_non_null(long_text);
    memset(long_text, 'x', PAWL_ERROR_BYTES_MAX + 10);
    memcpy(long_text + PAWL_ERROR_BYTES_MAX - 1, "é", 2);
    assert_int_equal(store_error_text(arena, (pawl_str){long_text, PAWL_ERROR_BYTES_MAX + 10},
                                      (pawl_str){NULL, 0}, &text, &err),
                     PAWL_OK);
    assert_int_equal(text.len, PAWL_ERROR_BYTES_MAX - 1);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_with_all_its_parts_is_accepted),
        cmocka_unit_test(the_sentence_says_which_message_is_wrong),
        cmocka_unit_test(a_message_needs_its_texts),
        cmocka_unit_test(a_payload_has_a_limit),
        cmocka_unit_test(only_the_inbox_has_a_consumer_and_it_must),
        cmocka_unit_test(one_call_carries_a_bounded_number),
        cmocka_unit_test(a_claim_names_its_bounds),
        cmocka_unit_test(an_instance_says_who_it_is),
        cmocka_unit_test(reports_are_checked_before_anything_happens),
        cmocka_unit_test(a_batch_is_checked_as_a_whole),
        cmocka_unit_test(settings_have_ranges),
        cmocka_unit_test(the_error_text_is_the_error_and_the_stack_cut_to_fit),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
