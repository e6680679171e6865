/* Patterns of event types: the whole type must match, in every mode. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "domain/event_pattern.h"

static bool matches(const char *pattern, const char *type) {
    struct event_pattern event = event_pattern_from(str_from(pattern));
    bool answer = false;
    pawl_error err;
    assert_int_equal(event_pattern_matches(&event, str_from(type), &answer, &err), PAWL_OK);
    return answer;
}

/* Found by fuzz_pattern: with PCRE2_ENDANCHORED the automaton also took types that only begin as the pattern
 * says. */
TEST(whole_type) {
    static const struct {
        const char *pattern, *type;
        bool answer;
    } rows[] = {
        {"order.*d", "order.created", true},
        {"order.*d", "order.created.late", false},
        {"*.created", "order.Created", true},
        {"*.created", "order.created.v2", false},
        {"??*x", "xLx", true},
        {"??*x", "xLxy", false},
        {"suffix:Created", "a.Created", true},
        {"suffix:Created", "a.Created.v2", false},
        {"suffix:Created", "ReCreated", false},
        {"exact:a.b", "a.b", true},
        {"exact:a.b", "a.bc", false},
        {"exact:a.b", "axb", false},
        {"regex:.*x", "ax", true},
        {"regex:.*x", "axy", false},
        {"regex:a|ab", "ab", true},
        {"regex:a|b.*c", "bcd", false},
        {"regex:(a|b)+", "abba", true},
        {"regex:^order\\.(new|old)$", "order.old", true},
        {"regex:^order\\.(new|old)$", "order.older", false},
        {"*", "x\ny", true},
        {"*x", "x\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (matches(rows[i].pattern, rows[i].type) != rows[i].answer)
            fail_msg("%s and %s", rows[i].pattern, rows[i].type);
}

TEST(refused) {
    static const char *const patterns[] = {"",           "regex:(?=a)", "regex:a{101}", "regex:(a*)*",
                                           "regex:a||b", "regex:[b-a]", "regex:(a",     "regex:a)",
                                           "regex:*a",   "regex:\\w",   "a\tb"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct event_pattern event = event_pattern_from(str_from(patterns[i]));
        bool answer = false;
        pawl_error err;
        assert_int_equal(event_pattern_matches(&event, STR("a"), &answer, &err), PAWL_INVALID);
        assert_non_null(strchr(err.text, ':'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_type),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
