/* Trace context: what is read, what is written, and which traces are recorded. */
#include "support/check.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_read_and_written),
        cmocka_unit_test(what_is_no_traceparent_is_not_read),
        cmocka_unit_test(samplers_decide_as_their_names_say),
        cmocka_unit_test(samplers_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
