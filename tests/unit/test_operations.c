/* The tables of operations: every row has a name, of the right form, that no other row of its front has. */
#include "support/check.h"

#include <string.h>

#include "cli/command.h"
#include "cli/help/help.h"
#include "operations/tables.h"
#include "server/http/route.h"

typedef const struct operation *rows_at(size_t index);

static bool is_word(const char *text, size_t len) {
    bool right = len > 0 && text[0] >= 'a' && text[0] <= 'z';
    for (size_t i = 0; i < len; i++)
        right = right && ((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_');
    return right;
}

/* "job.retry", or "status". */
static bool well_formed(const char *name) {
    size_t noun = strcspn(name, ".");
    return is_word(name, noun) && (name[noun] == '\0' || is_word(name + noun + 1, strlen(name + noun + 1)));
}

static void check_names(rows_at *at) {
    const struct operation *row, *other;
    for (size_t i = 0; (row = at(i)) != NULL; i++) {
        if (row->name == NULL || !well_formed(row->name))
            fail_msg("a bad name: %s (%s)", row->name != NULL ? row->name : "none", row->summary);
        for (size_t k = 0; k < i && (other = at(k)) != NULL; k++)
            if (strcmp(other->name, row->name) == 0)
                fail_msg("two have the name %s: %s; %s", row->name, other->summary, row->summary);
    }
}

static void names_are_well_formed_and_unique(void **state) {
    (void)state;
    check_names(operation_at);
    check_names(command_at);
    check_names(route_at);
}

/* Each noun is in the overview of the help, once. */
static void nouns_are_in_the_help(void **state) {
    (void)state;
    const struct operation *row;
    for (size_t i = 0; (row = command_at(i)) != NULL; i++) {
        int found = 0;
        size_t len = strcspn(row->name, ".");
        for (const struct help_group *group = help_groups; group->title != NULL; group++)
            for (const char *word = group->words; *word != '\0'; word += strspn(word, " ")) {
                size_t word_len = strcspn(word, " ");
                found += word_len == len && strncmp(word, row->name, len) == 0;
                word += word_len;
            }
        if (found != 1)
            fail_msg("%s is %d times in the groups of the help", row->name, found);
    }
}

static void names_find_their_operations(void **state) {
    (void)state;
    const struct operation *row;
    for (size_t i = 0; (row = operation_at(i)) != NULL; i++)
        assert_ptr_equal(operation_find(row->name), row);
    assert_null(operation_find("job.fly"));
    assert_null(operation_find("job"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_well_formed_and_unique),
                                       cmocka_unit_test(names_find_their_operations),
                                       cmocka_unit_test(nouns_are_in_the_help)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
