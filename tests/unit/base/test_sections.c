/* Files of sections: which values may be empty. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options/sections.h"

struct account {
    const char *command, *ca_file, *password;
};

static const struct section_key keys[] = {
    {SECTION_KEY("exec", SECTION_TEXT, offsetof(struct account, command), "exec needs a command")},
    {SECTION_KEY("ca-file", SECTION_ANY_TEXT, offsetof(struct account, ca_file), "ca-file needs a path")},
    {SECTION_KEY("password", SECTION_TEXT_SECRET, offsetof(struct account, password),
                 "the variable or the file is empty")},
};

static pawl_status begin(struct section_file *file, pawl_str name, pawl_error *err) {
    (void)name;
    (void)err;
    file->keys = keys;
    file->key_count = sizeof keys / sizeof *keys;
    file->into = file->self;
    return PAWL_OK;
}

static pawl_status end(struct section_file *file, pawl_error *err) {
    (void)file;
    (void)err;
    return PAWL_OK;
}

static pawl_status stray(struct section_file *file, pawl_str key, pawl_str value, pawl_error *err) {
    (void)key;
    (void)value;
    return section_fault(file, PAWL_INVALID, "unknown", err);
}

/* Reads one section with this line; the texts of the account are in the arena. */
static pawl_status read_line(const char *line, struct arena *arena, struct account *account,
                             pawl_error *err) {
    char path[] = "/tmp/pawl-sections-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(dprintf(fd, "[a]\n%s\n", line), (int)strlen(line) + 5);
    assert_int_equal(close(fd), 0);
    struct section_file file = {.op = "test",
                                .path = path,
                                .sections = "[a]",
                                .arena = arena,
                                .self = account,
                                .begin = begin,
                                .end = end,
                                .stray = stray};
    pawl_status status = section_file_read(&file, err);
    unlink(path);
    return status;
}

TEST(a_text_may_be_empty_where_nothing_else_is_named_by_it) {
    struct arena *arena = arena_create(0);
    struct account account = {0};
    pawl_error err;
    assert_int_equal(read_line("password =", arena, &account, &err), PAWL_OK);
    assert_string_equal(account.password, "");
    assert_int_equal(read_line("ca-file =", arena, &account, &err), PAWL_OK);
    assert_string_equal(account.ca_file, "");
    arena_free(arena);
}

TEST(an_empty_command_and_the_name_of_no_secret_are_refused) {
    static const char *const refused[][2] = {{"exec =", ":2: exec needs a command"},
                                             {"password-env =", ":2: the variable or the file is empty"},
                                             {"password-file =", ":2: the variable or the file is empty"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct arena *arena = arena_create(0);
        struct account account = {0};
        pawl_error err;
        assert_int_equal(read_line(refused[i][0], arena, &account, &err), PAWL_INVALID);
        assert_non_null(strstr(err.text, refused[i][1]));
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_may_be_empty_where_nothing_else_is_named_by_it),
        cmocka_unit_test(an_empty_command_and_the_name_of_no_secret_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
