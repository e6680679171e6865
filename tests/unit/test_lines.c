/* Lines from and to a child process: pieces, several at once, line ends inside, limits, and a child that is
 * gone. */
#include "support/check.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "process/launcher.h"
#include "process/lines.h"

enum { LINE_MAX_BYTES = 100000, WAIT_MS = 20000 };

struct world {
    struct launcher *launcher;
    struct child child;
    struct lines lines;
};

static void begin(struct world *world, const char *line) {
    char shell[] = "/bin/sh", option[] = "-c", text[512];
    char *argv[] = {shell, option, text, NULL};
    pawl_error err = {0};
    snprintf(text, sizeof(text), "%s", line);
    struct child_request request = {.argv = argv};
    assert_int_equal(launcher_create("test", LAUNCHER_OWN_THREAD, &world->launcher, &err), PAWL_OK);
    assert_int_equal(child_start(world->launcher, &request, &world->child, &err), PAWL_OK);
    lines_init(&world->lines, &world->child, LINE_MAX_BYTES);
}

static void end(struct world *world) {
    child_end(&world->child, 0);
    lines_free(&world->lines);
    launcher_free(world->launcher);
}

/* The next line; false: the child writes no more, or its line is too long. */
static bool next(struct world *world, pawl_str *line) {
    while (!lines_next(&world->lines, line)) {
        struct pollfd fd = {world->child.out_fd, POLLIN, 0};
        if (lines_flooded(&world->lines))
            return false;
        assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
        if (lines_read(&world->lines) < 0)
            return false;
    }
    return true;
}

static void expect(struct world *world, const char *expected) {
    pawl_str line;
    assert_true(next(world, &line));
    assert_int_equal(line.len, strlen(expected));
    assert_memory_equal(line.ptr, expected, line.len);
}

TEST(test_lines_arrive_whole_however_they_are_written) {
    struct world world;
    pawl_str line;
    begin(&world, "printf 'one\\ntwo\\n\\nth'; sleep 0.05; printf 'ree\\nrest'");
    expect(&world, "one");
    expect(&world, "two");
    expect(&world, "");
    expect(&world, "three");
    assert_false(next(&world, &line)); /* without its end it is no line */
    end(&world);
}

TEST(test_a_line_end_inside_a_line_becomes_a_blank) {
    struct world world;
    begin(&world, "cat");
    lines_put(&world.lines, STR("{\"a\":"));
    lines_put(&world.lines, STR("\n1,\n\n\"b\":2}\n"));
    lines_end(&world.lines);
    lines_put(&world.lines, STR("{}"));
    lines_end(&world.lines);
    assert_true(lines_write(&world.lines));
    assert_false(lines_pending(&world.lines));
    expect(&world, "{\"a\": 1,  \"b\":2} ");
    expect(&world, "{}");
    end(&world);
}

TEST(test_what_does_not_fit_is_written_later) {
    struct world world;
    pawl_str line;
    char *text = malloc(LINE_MAX_BYTES);
    memset(text, 'x', LINE_MAX_BYTES);
    begin(&world, "read go; cat");
    lines_put(&world.lines, STR("go"));
    lines_end(&world.lines);
    for (int i = 0; i < 10; i++) { /* more than a pipe holds */
        lines_put(&world.lines, (pawl_str){text, LINE_MAX_BYTES});
        lines_end(&world.lines);
    }
    for (int i = 0; i < 10;) {
        assert_true(lines_write(&world.lines));
        if (!lines_next(&world.lines, &line)) {
            assert_true(lines_read(&world.lines) >= 0);
            continue;
        }
        assert_int_equal(line.len, LINE_MAX_BYTES);
        i++;
    }
    assert_false(lines_pending(&world.lines));
    free(text);
    end(&world);
}

TEST(test_a_line_without_an_end_is_a_flood) {
    struct world world;
    pawl_str line;
    begin(&world, "printf 'fine\\n'; exec cat /dev/zero");
    expect(&world, "fine");
    assert_false(next(&world, &line));
    assert_true(lines_flooded(&world.lines));
    assert_true(world.lines.in.len <= LINE_MAX_BYTES + 65536); /* it has not gone on reading */
    end(&world);
}

TEST(test_a_child_that_does_not_read_is_noticed) {
    struct world world;
    pawl_str line;
    begin(&world, "exec <&-; echo closed; sleep 600");
    expect(&world, "closed");
    lines_put(&world.lines, STR("{}"));
    lines_end(&world.lines);
    assert_false(lines_write(&world.lines));
    end(&world);
    begin(&world, "exit 0");
    assert_false(next(&world, &line));
    end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_arrive_whole_however_they_are_written),
        cmocka_unit_test(test_a_line_end_inside_a_line_becomes_a_blank),
        cmocka_unit_test(test_what_does_not_fit_is_written_later),
        cmocka_unit_test(test_a_line_without_an_end_is_a_flood),
        cmocka_unit_test(test_a_child_that_does_not_read_is_noticed),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
