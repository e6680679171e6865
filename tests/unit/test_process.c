/* Running a program: whatever it does with its output, its end, its time and a stop are noticed. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "process/process.h"

enum { SOON_MS = 20000 }; /* far from the 600 s that the programs would sleep */

struct later {
    stop_flag *stop;
    enum stop_reason why;
};

/* It has said something, and hides from now on. */
static void stop_it(void *self, pawl_str line) {
    const struct later *later = self;
    (void)line;
    stop_set(later->stop, later->why);
}

/* Runs a line of shell; stops it when why is set. Returns what it wrote, to be freed. */
static struct buf run(const char *line, int64_t timeout_ms, enum stop_reason why, struct process_end *end) {
    char shell[] = "/bin/sh", option[] = "-c", text[512];
    char *argv[] = {shell, option, text, NULL};
    struct launcher *launcher = NULL;
    struct buf output = {0};
    stop_flag stop = STOP_NONE;
    struct later later = {&stop, why};
    pawl_error err = {0};
    int64_t began_ms = clock_boot_ms();
    snprintf(text, sizeof(text), "%s", line);
    struct process_spec spec = {.argv = argv, .input = STR("in\n"), .on_line = stop_it, .self = &later};
    struct stop_limit limits = {timeout_ms > 0 ? began_ms + timeout_ms : 0, &stop};
    assert_int_equal(launcher_create("test", LAUNCHER_OWN_THREAD, &launcher, &err), PAWL_OK);
    assert_int_equal(process_run(launcher, &spec, &limits, &output, end, &err), PAWL_OK);
    assert_true(clock_boot_ms() - began_ms < SOON_MS);
    launcher_free(launcher);
    return output;
}

static const char *const hiding[] = {
    "echo; exec >/dev/null 2>&1 </dev/null; exec sleep 600",               /* redirects everything */
    "echo; exec >&- 2>&- <&-; exec sleep 600",                             /* closes everything */
    "echo; exec >&-; exec sleep 600",                                      /* closes its stdout */
    "sleep 600 & echo; exec >&- 2>&-; wait",                               /* its child has the pipes */
    "trap '' TERM; echo; exec >/dev/null 2>&1; while :; do sleep 1; done", /* does not listen */
};

static void outcome_of_hiding(int64_t timeout_ms, enum stop_reason why, enum process_outcome expected) {
    /* The last one takes two seconds: once is enough. */
    size_t count = sizeof(hiding) / sizeof(*hiding) - (expected == PROCESS_TIMED_OUT ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        struct process_end end;
        struct buf output = run(hiding[i], timeout_ms, why, &end);
        buf_free(&output);
        assert_int_equal(end.outcome, expected);
    }
}

TEST(test_a_time_limit_ends_what_hides_its_output) { outcome_of_hiding(300, STOP_NONE, PROCESS_TIMED_OUT); }
TEST(test_a_person_ends_what_hides_its_output) { outcome_of_hiding(0, STOP_ASKED, PROCESS_CANCELLED); }
TEST(test_a_stop_ends_what_hides_its_output) { outcome_of_hiding(0, STOP_LEAVING, PROCESS_STOPPED); }
TEST(test_a_lost_lease_ends_what_hides_its_output) { outcome_of_hiding(0, STOP_FENCED, PROCESS_FENCED); }

TEST(test_a_descendant_with_the_pipes_does_not_keep_it) {
    struct process_end end;
    struct buf output = run("cat; sleep 600 & exit 3", 0, STOP_NONE, &end);
    assert_int_equal(end.outcome, PROCESS_EXITED);
    assert_int_equal(end.status, 3);
    assert_string_equal(output.ptr, "in\n");
    buf_free(&output);
}

TEST(test_the_rest_is_read_when_it_ends) {
    struct process_end end;
    struct buf output =
        run("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done", 0, STOP_NONE, &end);
    assert_true(process_done(&end));
    assert_int_equal(output.len, 220000);
    buf_free(&output);
}

TEST(test_a_flood_is_killed) {
    struct process_end end;
    struct buf output = run("exec cat /dev/zero", 0, STOP_NONE, &end);
    assert_int_equal(end.outcome, PROCESS_FLOODED);
    buf_free(&output);
}

static void keep_line(void *self, pawl_str line) { snprintf(self, 64, "%.*s", STR_ARG(line)); }

static void last_line(const char *script, char line[64]) {
    char shell[] = "/bin/sh", flag[] = "-c", *argv[] = {shell, flag, (char *)script, NULL};
    struct process_spec spec = {.argv = argv, .input = STR(""), .on_line = keep_line, .self = line};
    struct stop_limit limits = {0, NULL};
    struct launcher *launcher = NULL;
    struct process_end end;
    pawl_error err = {0};
    line[0] = '\0';
    assert_int_equal(launcher_create("test", LAUNCHER_OWN_THREAD, &launcher, &err), PAWL_OK);
    assert_int_equal(process_run(launcher, &spec, &limits, NULL, &end, &err), PAWL_OK);
    launcher_free(launcher);
}

/* Half a line is no line when its writer was killed: 1 may have been meant to become 12. */
TEST(test_the_last_line_needs_no_line_end) {
    char line[64];
    last_line("printf 'one\\ntwo'; exit 1", line);
    assert_string_equal(line, "two");
    last_line("printf 'one\\ntwo\\n'", line);
    assert_string_equal(line, "two");
    last_line("printf 'one\\ntwo'; kill -9 $$", line);
    assert_string_equal(line, "one");
}

/* What a stranger wrote is text of one line. */
TEST(test_its_complaint_is_clean) {
    struct process_end end;
    char text[256];
    struct buf output = run("printf 'caf\\303\\251 \\377\\033[1m\\nend' >&2; exit 65", 0, STOP_NONE, &end);
    buf_free(&output);
    assert_true(process_permanent(&end));
    process_explain(&end, 0, text, sizeof(text));
    assert_string_equal(text, "exit code 65: caf\303\251 ??[1m end");
    output = run("echo 'pawl:progress {}'; echo no such; echo; echo order; printf 'pawl:snooze 10y'; exit 65",
                 0, STOP_NONE, &end);
    buf_free(&output);
    process_explain(&end, 0, text, sizeof(text));
    assert_string_equal(text, "exit code 65: no such order");
}

/* covers: J11 */
TEST(test_an_exit_code_says_whether_to_try_again) {
    static const int never[] = {64, 65, 66, 67, 68, 77, 78};
    size_t found = 0;
    for (int code = 0; code < 256; code++) {
        struct process_end end = {.outcome = PROCESS_EXITED, .status = code};
        bool expected = found < sizeof(never) / sizeof(*never) && never[found] == code;
        assert_int_equal(process_permanent(&end), expected);
        found += expected ? 1 : 0;
        end.outcome = PROCESS_SIGNALLED;
        assert_false(process_permanent(&end));
    }
}

TEST(test_a_missing_program_was_not_started) {
    char name[] = "/nowhere/handle.sh", *argv[] = {name, NULL};
    struct launcher *launcher = NULL;
    struct process_spec spec = {.argv = argv, .input = STR("")};
    struct stop_limit limits = {0, NULL};
    struct process_end end;
    pawl_error err = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            launcher_create("test", i == 0 ? LAUNCHER_OWN_THREAD : LAUNCHER_CALLER, &launcher, &err),
            PAWL_OK);
        assert_int_equal(process_run(launcher, &spec, &limits, NULL, &end, &err), PAWL_NOT_FOUND);
        assert_int_equal(end.outcome, PROCESS_NOT_STARTED);
        assert_non_null(strstr(err.text, "/nowhere/handle.sh"));
        launcher_free(launcher);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_time_limit_ends_what_hides_its_output),
        cmocka_unit_test(test_a_person_ends_what_hides_its_output),
        cmocka_unit_test(test_a_stop_ends_what_hides_its_output),
        cmocka_unit_test(test_a_lost_lease_ends_what_hides_its_output),
        cmocka_unit_test(test_a_descendant_with_the_pipes_does_not_keep_it),
        cmocka_unit_test(test_the_rest_is_read_when_it_ends),
        cmocka_unit_test(test_a_flood_is_killed),
        cmocka_unit_test(test_the_last_line_needs_no_line_end),
        cmocka_unit_test(test_its_complaint_is_clean),
        cmocka_unit_test(test_an_exit_code_says_whether_to_try_again),
        cmocka_unit_test(test_a_missing_program_was_not_started),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
