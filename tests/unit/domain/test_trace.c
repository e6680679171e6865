/* Trace context: what is read, what is written, and which traces are recorded. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "domain/trace.h"

#define GOOD "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

TEST(a_traceparent_is_read_and_written) {
    struct trace_context context;
    char text[TRACEPARENT_BYTES];
    assert_true(trace_parse(STR(GOOD), &context));
    assert_int_equal(context.trace_id[0], 0x0a);
    assert_int_equal(context.span_id[7], 0x31);
    assert_int_equal(context.flags, TRACE_SAMPLED);
    assert_string_equal(trace_format(&context, text), GOOD);
    assert_true(trace_parse(STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"), &context));
    assert_int_equal(context.flags, 0);
    /* A later version may say more; flags that nobody knows yet are not passed on. */
    assert_true(trace_parse(STR("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-what"), &context));
    assert_string_equal(trace_format(&context, text), GOOD);
}

TEST(what_is_no_traceparent_is_not_read) {
    static const char *const wrong[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01what",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    struct trace_context context = {.flags = 77};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(trace_parse(str_from(wrong[i]), &context));
    assert_false(trace_parse((pawl_str){NULL, 0}, &context));
    assert_int_equal(context.flags, 77);
}

static bool sampled(const char *name, const char *argument, const char *parent, uint8_t last) {
    struct trace_sampler sampler;
    struct trace_context above;
    uint8_t trace_id[TRACE_ID_BYTES] = {[8] = last};
    assert_true(trace_sampler_parse(str_from(name), str_from(argument), &sampler));
    bool has = parent != NULL && trace_parse(str_from(parent), &above);
    return trace_sampled(&sampler, has ? &above : NULL, trace_id);
}

TEST(samplers_decide_as_their_names_say) {
    const char *off = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    assert_true(sampled("always_on", NULL, off, 1));
    assert_false(sampled("always_off", NULL, GOOD, 1));
    assert_true(sampled("parentbased_always_off", NULL, GOOD, 1));
    assert_false(sampled("parentbased_always_off", NULL, NULL, 1));
    assert_false(sampled("parentbased_always_on", NULL, off, 1));
    assert_true(sampled("parentbased_always_on", NULL, NULL, 1));
    assert_true(sampled("traceidratio", "0.5", off, 0x7f));
    assert_false(sampled("traceidratio", "0.5", GOOD, 0x80));
    assert_true(sampled("parentbased_traceidratio", "0.25", GOOD, 0xff));
    assert_false(sampled("parentbased_traceidratio", "0.25", NULL, 0x40));
    assert_true(sampled("traceidratio", NULL, NULL, 0xff)); /* all of them, as OpenTelemetry has it */
    assert_false(sampled("traceidratio", "0", NULL, 0));
}

TEST(samplers_that_do_not_exist_are_refused) {
    struct trace_sampler sampler = {.ratio = 0.125};
    assert_false(trace_sampler_parse(STR("jaeger_remote"), STR(""), &sampler));
    assert_false(trace_sampler_parse(STR("traceidratio"), STR("1.5"), &sampler));
    assert_false(trace_sampler_parse(STR("traceidratio"), STR("half"), &sampler));
    assert_false(trace_sampler_parse(STR("traceidratio"), STR("nan"), &sampler));
    assert_true(sampler.ratio == 0.125);
}

static pawl_str repeated(char c, size_t count, const char *front, char *text) {
    size_t at = strlen(front);
    memcpy(text, front, at);
    memset(text + at, c, count);
    return (pawl_str){text, at + count};
}

TEST(a_tracestate_is_a_list_as_w3c_wants_it) {
    static const char *const good[] = {"a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1 , b=2\t,,c=3",
                                       "1a-_*/@x=!~ y", "fw529a3039@dt=FfAAAAAB"};
    static const char *const wrong[] = {
        "",        " ",     ",",      "a",      "=1",    "a=",       "A=1",  "_a=1",      "a=1=2",
        "a=1,a=2", "a b=1", "a=\x01", "a=\xff", "a=1,b", "a=1\nb=2", "a =1", "\xc3\xa4=1"};
    char text[1024];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!trace_state_valid(str_from(good[i])))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (trace_state_valid(str_from(wrong[i])))
            fail_msg("taken: %s", wrong[i]);
    assert_true(trace_state_valid(repeated('x', 256, "a=", text)));
    assert_false(trace_state_valid(repeated('x', 257, "a=", text)));
    size_t len = 0;
    for (int i = 0; i < 32; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%sk%d=%d", i > 0 ? "," : "", i, i);
    assert_true(trace_state_valid((pawl_str){text, len}));
    memcpy(text + len, ",z=1", 4);
    assert_false(trace_state_valid((pawl_str){text, len + 4})); /* 33 */
    memset(text, ',', PAWL_TRACESTATE_BYTES_MAX);
    memcpy(text, "a=1", 3);
    assert_true(trace_state_valid((pawl_str){text, PAWL_TRACESTATE_BYTES_MAX}));
    text[PAWL_TRACESTATE_BYTES_MAX] = ',';
    assert_false(trace_state_valid((pawl_str){text, PAWL_TRACESTATE_BYTES_MAX + 1}));
}

TEST(a_tracestate_stands_in_headers) {
    char text[TRACESTATE_BYTES];
    pawl_str parent = STR(GOOD), none = {NULL, 0};
    assert_true(
        str_equal(trace_state_read(parent, STR("{\"x\":1,\"tracestate\":\"a=1\"}"), text), STR("a=1")));
    assert_true(str_equal(trace_state_read(parent, STR("{\"metadata\":{\"tracestate\":\"a=2\"}}"), text),
                          STR("a=2")));
    static const char *const without[] = {"{}",
                                          "{\"tracestate\":1}",
                                          "{\"tracestate\":\"A=1\"}",
                                          "[\"tracestate\"]",
                                          "\"tracestate\"",
                                          "{\"tracestate\":",
                                          "{\"metadata\":[\"tracestate\"]}"};
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
        assert_true(str_absent(trace_state_read(parent, str_from(without[i]), text)));
    assert_true(str_absent(trace_state_read(parent, none, text)));
    assert_true(str_absent(trace_state_read(STR("00-"), STR("{\"tracestate\":\"a=1\"}"), text)));
    struct arena *arena = arena_create(0);
    assert_true(str_equal(trace_state_add(arena, none, STR("a=1"), 99), STR("{\"tracestate\":\"a=1\"}")));
    assert_true(
        str_equal(trace_state_add(arena, STR(" { } "), STR("a=\""), 99), STR("{\"tracestate\":\"a=\\\"\"}")));
    pawl_str two = trace_state_add(arena, STR("{\"x\":1}"), STR("a=1"), 99);
    assert_true(str_equal(two, STR("{\"tracestate\":\"a=1\",\"x\":1}")));
    assert_true(str_equal(trace_state_add(arena, two, STR("b=1"), 99), two));
    assert_true(str_equal(trace_state_add(arena, STR("{\"x\":1}"), STR("B"), 99), STR("{\"x\":1}")));
    assert_true(str_equal(trace_state_add(arena, STR("{\"x\":1}"), STR("a=1"), 20), STR("{\"x\":1}")));
    assert_true(str_equal(trace_state_add(arena, STR("[]"), STR("a=1"), 99), STR("[]")));
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_read_and_written),
        cmocka_unit_test(what_is_no_traceparent_is_not_read),
        cmocka_unit_test(samplers_decide_as_their_names_say),
        cmocka_unit_test(samplers_that_do_not_exist_are_refused),
        cmocka_unit_test(a_tracestate_is_a_list_as_w3c_wants_it),
        cmocka_unit_test(a_tracestate_stands_in_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
