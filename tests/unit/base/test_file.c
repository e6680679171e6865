/* Small files as text: what is refused and why, and the lines that say something. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

enum { LIMIT = 100 };

/* A file with these bytes; the caller removes it. */
static void written(char path[static 32], const char *bytes) {
    strcpy(path, "/tmp/pawl-file-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    assert_int_equal(close(fd), 0);
}

static void refused(const char *path, pawl_status status, const char *reason) {
    struct arena *arena = arena_create(0);
    pawl_str text = {NULL, 7};
    pawl_error err;
    assert_int_equal(file_read(arena, path, LIMIT, &text, &err), status);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, reason));
    assert_int_equal(text.len, 7);
    arena_free(arena);
}

TEST(says_why_it_does_not_read) {
    char path[32], bytes[LIMIT + 2];
    refused("/absent/file", PAWL_NOT_FOUND, "cannot be read");
    refused("/tmp", PAWL_INVALID, "is a directory: name a file");
    memset(bytes, 'x', sizeof bytes);
    bytes[LIMIT + 1] = '\0';
    written(path, bytes);
    refused(path, PAWL_INVALID, "has more than 100 bytes");
    unlink(path);
}

TEST(reads_up_to_its_limit) {
    const size_t sizes[] = {0, 1, LIMIT - 1, LIMIT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[32], bytes[LIMIT + 1];
        memset(bytes, 'x', sizeof bytes);
        bytes[sizes[i]] = '\0';
        written(path, bytes);
        struct arena *arena = arena_create(0);
        pawl_str text = {NULL, 0};
        pawl_error err;
        assert_int_equal(file_read(arena, path, LIMIT, &text, &err), PAWL_OK);
        assert_int_equal(text.len, sizes[i]);
        assert_string_equal(text.ptr, bytes);
        arena_free(arena);
        unlink(path);
    }
}

TEST(gives_the_lines_that_say_something) {
    pawl_str rest = STR("# a comment\n\n  one \r\n;another\n\ttwo");
    pawl_str line;
    int number = 0;
    assert_true(file_line(&rest, &number, &line));
    assert_true(str_equal_cstr(line, "one"));
    assert_int_equal(number, 3);
    assert_true(file_line(&rest, &number, &line));
    assert_true(str_equal_cstr(line, "two"));
    assert_int_equal(number, 5);
    assert_false(file_line(&rest, &number, &line));
}

/* INI files: options, handlers, transports and targets of alerts read their lines here. */
TEST(leaves_out_comments_at_the_end_of_a_line) {
    static const char *const cases[][2] = {
        {"lease = 30s # half a minute", "lease = 30s"},
        {"lease = 30s\t; half a minute", "lease = 30s"},
        {"[order.*]   # all of them", "[order.*]"},
        {"url = https://a.example/#part", "url = https://a.example/#part"},
        {"exec = sh -c 'a # b ; c' # really", "exec = sh -c 'a # b ; c'"},
        {"exec = sh -c 'a; b' 'c #d'", "exec = sh -c 'a; b' 'c #d'"},
        {"metadata = {\"a\": \"x\\\" # y\"} # z", "metadata = {\"a\": \"x\\\" # y\"}"},
        {"name = don't # say", "name = don't"},
        {"color=red;blue", "color=red;blue"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pawl_str rest = str_from(cases[i][0]), line;
        int number = 0;
        assert_true(file_line(&rest, &number, &line));
        assert_int_equal(line.len, strlen(cases[i][1]));
        assert_memory_equal(line.ptr, cases[i][1], line.len);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_it_does_not_read),
        cmocka_unit_test(reads_up_to_its_limit),
        cmocka_unit_test(gives_the_lines_that_say_something),
        cmocka_unit_test(leaves_out_comments_at_the_end_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
