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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_it_does_not_read),
        cmocka_unit_test(reads_up_to_its_limit),
        cmocka_unit_test(gives_the_lines_that_say_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
