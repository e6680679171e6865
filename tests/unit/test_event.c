/* CloudEvents and broker addresses as text: written, read back, and strange ones refused. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "transport/address.h"
#include "transport/event.h"
#include "work/broker/received.h"

static struct arena *arena;

static int begin(void **fixture) {
    (void)fixture;
    arena = arena_create(0);
    return arena != NULL ? 0 : -1;
}

static int end(void **fixture) {
    (void)fixture;
    arena_free(arena);
    return 0;
}

static void parses(const char *text, struct event *event) {
    pawl_error error = {0};
    assert_int_equal(event_parse(arena, str_from(text), event, &error), PAWL_OK);
}

static void refuses(const char *text, const char *reason) {
    struct event event = {0};
    pawl_error error = {0};
    pawl_status status = event_parse(arena, str_from(text), &event, &error);
    if (status == PAWL_OK)
        status = event_check(&event, &error);
    assert_int_equal(status, PAWL_INVALID);
    if (strstr(error.text, reason) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, reason);
}

/* covers: W29 W31 */
TEST(what_is_written_is_read_back) {
    struct event out = {.id = STR("01890a5d-ac96-774b-bcce-b302099a8057"),
                        .source = STR("/shop"),
                        .type = STR("order.created"),
                        .stream = STR("order-\"1\"\n"),
                        .correlation_id = STR("c"),
                        .causation_id = STR("d"),
                        .traceparent = STR("t"),
                        .tracestate = STR("a=1"),
                        .headers = STR("{\"a\":\"\\u00e9\"}"),
                        .data = STR("{ \"n\" : 1.10, \"list\": [1, {\"x\":\"}\"}] }")};
    struct buf buf;
    buf_init(&buf, 0);
    event_json(&buf, &out);
    struct event in = {0};
    parses(buf.ptr, &in);
    assert_true(str_equal(in.id, out.id) && str_equal(in.source, out.source) && str_equal(in.type, out.type));
    assert_true(str_equal(in.stream, out.stream) && str_equal(in.headers, out.headers));
    assert_true(str_equal(in.correlation_id, out.correlation_id) &&
                str_equal(in.causation_id, out.causation_id));
    assert_true(str_equal(in.traceparent, out.traceparent));
    assert_true(str_equal(in.tracestate, out.tracestate));
    assert_true(str_equal(in.data, out.data)); /* byte for byte */
    buf_free(&buf);
}

TEST(foreign_events_are_understood) {
    struct event event = {0};
    pawl_error error = {0};
    parses(" {\"specversion\":\"1.0\",\"id\":\"A-1\",\"source\":\"x\",\"type\":\"t\",\"unknown\":7,\"time\":"
           "null,"
           "\"data_base64\":\"eyJhIjoxfQ==\"} ",
           &event);
    assert_true(str_equal_cstr(event.data, "{\"a\":1}"));
    assert_true(str_absent(event.time));
    assert_int_equal(event_check(&event, &error), PAWL_OK);
    parses("{\"specversion\":\"1.0\",\"id\":\"\\ud83d\\ude00\\t\",\"source\":\"x\",\"type\":\"t\",\"data\":"
           "null}",
           &event);
    assert_true(str_equal_cstr(event.id, "\xf0\x9f\x98\x80\t"));
    assert_true(str_equal_cstr(event.data, "null"));
}

TEST(malformed_events_say_why) {
    refuses("", "not a CloudEvent");
    refuses("[1]", "not an object");
    refuses("{\"id\":\"1\"", "not a CloudEvent");
    refuses("{}", "specversion is missing");
    refuses("{\"specversion\":\"0.3\",\"id\":\"1\"}", "specversion is 0.3");
    refuses("{\"specversion\":\"1.0\",\"source\":\"x\",\"type\":\"t\",\"data\":1}", "id is missing");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"type\":\"t\",\"data\":1}", "source is missing");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"data\":1}", "type is missing");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":\"t\"}", "has no data");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":{\"a\":1},\"data\":1}",
            "simple value");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":\"t\",\"data_base64\":\"!\"}",
            "not base64");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":\"t\",\"data_base64\":\"AAE=\"}",
            "not JSON");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":\"t\",\"datacontenttype\":"
            "\"text/xml\","
            "\"data\":\"<a/>\"}",
            "takes JSON");
    refuses("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"x\",\"type\":\"t\",\"pawlheaders\":\"[]\","
            "\"data\":1}",
            "not a JSON object");
}

TEST(addresses_are_taken_apart) {
    struct address address;
    pawl_error error = {0};
    assert_int_equal(address_parse(arena, "rediss://us%40er:p%3Aw@[::1]:7000/2", &address, &error), PAWL_OK);
    assert_string_equal(address.user, "us@er");
    assert_string_equal(address.password, "p:w");
    assert_string_equal(address.host, "::1");
    assert_int_equal(address.port, 7000);
    assert_string_equal(address.path, "2");
    assert_true(address.tls);
    assert_int_equal(address_parse(arena, "kafka://a:1,b:2", &address, &error), PAWL_OK);
    assert_string_equal(address.hosts, "a:1,b:2");
    assert_string_equal(address.host, "a");
    assert_null(address.path);
    assert_false(address.tls);
    assert_int_equal(address_parse(arena, "kafka://a,b:2,c/x", &address, &error), PAWL_OK);
    assert_string_equal(address.hosts, "a,b:2,c"); /* also without a port */
    assert_string_equal(address.host, "a");
    assert_int_equal(address.port, 0);
    static const char *const wrong[] = {"",         "redis",           "://x",
                                        "redis://", "redis://h:99999", "redis://u:secret%zz@h"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(address_parse(arena, wrong[i], &address, &error), PAWL_INVALID);
        assert_null(strstr(error.text, "secret"));
    }
}

TEST(the_tracestate_of_a_delivery_stands_in_the_headers) {
    struct transport_delivery deliveries[3] = {{.event = {.id = STR("1"),
                                                          .source = STR("/shop"),
                                                          .type = STR("a"),
                                                          .data = STR("{}"),
                                                          .tracestate = STR("a=1"),
                                                          .headers = STR("{\"x\":1}")}}};
    struct received out;
    pawl_error error;
    for (int i = 1; i < 3; i++)
        deliveries[i] = deliveries[0];
    deliveries[1].event.traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    deliveries[2].event.traceparent = deliveries[1].event.traceparent;
    deliveries[2].event.tracestate = STR("A=1");
    assert_int_equal(received_sort(arena, STR("t"), deliveries, 3, &out, &error), PAWL_OK);
    assert_int_equal(out.count, 3);
    assert_true(str_equal(out.messages[0].headers, STR("{\"x\":1}"))); /* no traceparent */
    assert_true(str_equal(out.messages[1].headers, STR("{\"tracestate\":\"a=1\",\"x\":1}")));
    assert_true(str_equal(out.messages[2].headers, STR("{\"x\":1}"))); /* malformed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, begin, end),
        cmocka_unit_test_setup_teardown(foreign_events_are_understood, begin, end),
        cmocka_unit_test_setup_teardown(malformed_events_say_why, begin, end),
        cmocka_unit_test_setup_teardown(addresses_are_taken_apart, begin, end),
        cmocka_unit_test_setup_teardown(the_tracestate_of_a_delivery_stands_in_the_headers, begin, end),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
