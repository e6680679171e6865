/* Log lines: fields stay fields, values cannot pass for them. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/str.h"

struct capture {
    enum log_level level;
    int count;
    char line[2 * PAWL_LOG_LINE_BYTES_MAX];
};

static void keep(void *self, enum log_level level, const char *line) {
    struct capture *capture = self;
    capture->level = level;
    capture->count++;
    snprintf(capture->line, sizeof capture->line, "%s", line);
}

/* The line without its time, which starts it. */
static const char *behind_time(const struct capture *capture) {
    assert_memory_equal(capture->line, "time=20", 7);
    const char *rest = strchr(capture->line, ' ');
    assert_non_null(rest);
    return rest + 1;
}

#define LOG_TO(capture) ((struct log){.level = LOG_LEVEL_INFO, .callback = keep, .self = (capture)})

TEST(a_line_has_named_fields) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    log_event(&log, LOG_LEVEL_WARN, "lease_lost", "lane=%d worker=%s late_ms=%d", 41, "w-7", 120);
    assert_string_equal(behind_time(&capture), "level=warn event=lease_lost lane=41 worker=w-7 late_ms=120");
    log_event(&log, LOG_LEVEL_INFO, "started", "%s", "");
    assert_string_equal(behind_time(&capture), "level=info event=started");
}

TEST(values_are_quoted_when_needed) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    log_event(&log, LOG_LEVEL_INFO, "x", "a=%s b=%s c=%s d=%s e=%s", "two words", "", "q\"q", "a=b", "plain");
    assert_string_equal(behind_time(&capture),
                        "level=info event=x a=\"two words\" b=\"\" c=\"q\\\"q\" d=\"a=b\" e=plain");
    log_event(&log, LOG_LEVEL_INFO, "x", "a=%s took_ms=%d", "\x1b[31mred\n", 3);
    assert_string_equal(behind_time(&capture), "level=info event=x a=\"\\u001b[31mred\\n\" took_ms=3");
}

TEST(a_value_cannot_forge_a_field) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    log_event(&log, LOG_LEVEL_INFO, "x", "name=%s admin=%s", "eve admin=yes", "no");
    assert_string_equal(behind_time(&capture), "level=info event=x name=\"eve admin=yes\" admin=no");
    log_event(&log, LOG_LEVEL_INFO, "x", "name=%s admin=%s",
              "eve\x1e"
              "admin=yes",
              "no");
    assert_string_equal(behind_time(&capture),
                        "level=info event=x text=\"name=eve\\u001eadmin=yes\\u001eadmin=no\"");
}

TEST(levels_filter) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    log_event(&log, LOG_LEVEL_DEBUG, "x", "a=%d", 1);
    log_event(NULL, LOG_LEVEL_ERROR, "x", "a=%d", 1);
    log.level = LOG_LEVEL_OFF;
    log_event(&log, LOG_LEVEL_ERROR, "x", "a=%d", 1);
    assert_int_equal(capture.count, 0);
}

TEST(long_lines_are_cut) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    char *text = calloc(1, 12001);
    memset(text, 'x', 12000);
    log_event(&log, LOG_LEVEL_INFO, "x", "a=%s", text);
    size_t len = strlen(capture.line);
    assert_int_equal(len, PAWL_LOG_LINE_BYTES_MAX + strlen(" cut=true"));
    assert_string_equal(capture.line + PAWL_LOG_LINE_BYTES_MAX, " cut=true");
    free(text);
}

TEST(failures_and_files) {
    struct capture capture = {.count = 0};
    struct log log = LOG_TO(&capture);
    pawl_error err;
    error_set(&err, PAWL_UNAVAILABLE, "connect", "no route to host");
    log_failure(&log, LOG_LEVEL_ERROR, "store_lost", &err);
    assert_string_equal(
        behind_time(&capture),
        "level=error event=store_lost status=unavailable op=connect error=\"no route to host\"");

    char text[200] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    struct log to_file = {.level = LOG_LEVEL_INFO, .file = file};
    log_event(&to_file, LOG_LEVEL_INFO, "x", "a=%d", 1);
    fclose(file);
    assert_non_null(strstr(text, " event=x a=1\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_named_fields),      cmocka_unit_test(values_are_quoted_when_needed),
        cmocka_unit_test(a_value_cannot_forge_a_field), cmocka_unit_test(levels_filter),
        cmocka_unit_test(long_lines_are_cut),           cmocka_unit_test(failures_and_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
