/* Parts of the program that strangers' bytes reach first: lines of --ndjson, and text on its way to a
 * terminal. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/options/options.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "cli/messages/ndjson.h"
#include "view/output/grid.h"
#include "view/output/row.h"
#include "view/why/story.h"

TEST(test_line_keeps_the_payload) {
    struct arena *arena = arena_create(0);
    pawl_outgoing message = {.type = STR("default"), .stream = STR("d")};
    pawl_error err;
    pawl_str line =
        STR(" { \"payload\" : {\"b\":1e400 , \"a\":[ \"}\\\"\" ]} , \"type\":\"x\\u00e9\\n\\ud83d\\ude00\","
            "\"headers\":null,\"stream\":\"s\" } ");
    assert_int_equal(ndjson_message(arena, line, &message, &err), PAWL_OK);
    assert_true(str_equal(message.payload, STR("{\"b\":1e400 , \"a\":[ \"}\\\"\" ]}")));
    assert_true(str_equal(message.type, STR("x\xc3\xa9\n\xf0\x9f\x98\x80")));
    assert_true(str_equal(message.stream, STR("s")));
    assert_true(str_absent(message.headers));
    arena_free(arena);
}

TEST(test_line_that_is_wrong_changes_nothing) {
    static const char *const lines[] = {"",           "null",           "[]",
                                        "{",          "{\"type\":1}",   "{\"id\":\"x\"}",
                                        "{\"no\":1}", "{\"id\":{}}",    "{\"type\":\"a\",\"type\":\"b\"}",
                                        "\"a\"",      "{\"type\":[1]}", "{\"payload\":1,\"payload\":2}"};
    struct arena *arena = arena_create(0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        pawl_outgoing message = {.type = STR("default")};
        pawl_error err;
        assert_int_equal(ndjson_message(arena, str_from(lines[i]), &message, &err), PAWL_INVALID);
        assert_true(err.text[0] != '\0');
        assert_true(str_equal(message.type, STR("default")) && str_absent(message.payload));
    }
    arena_free(arena);
}

/* Valid lines with bytes changed: the sanitizers watch that nothing is read outside of the line. */
TEST(test_line_survives_damage) {
    static const char line[] =
        "{\"type\":\"a\\u00e9\\\\\",\"payload\":[{\"x\":\"\\\"\"},-1.5e3,true],\"stream\":\"\\ud83d\\ude00\","
        "\"id\":\"01890a5d-ac96-774b-bcce-b302099a8057\",\"headers\":{\"k\":[[],{}]}}";
    static const char bytes[] = "\"\\{}[]:,u0 \x80";
    struct arena *arena = arena_create(0);
    unsigned seed = 1;
    int accepted = 0;
    for (int round = 0; round < 20000; round++) {
        size_t len = strlen(line) - (size_t)(rand_r(&seed) % 4);
        char *copy = malloc(len); /* exactly as long, so that one byte too far is seen */
        assert_non_null(copy);
        memcpy(copy, line, len);
        for (int change = rand_r(&seed) % 3; change > 0; change--)
            copy[(size_t)rand_r(&seed) % len] = bytes[(size_t)rand_r(&seed) % (sizeof bytes - 1)];
        pawl_outgoing message = {.type = STR("default")};
        pawl_error err;
        pawl_status status = ndjson_message(arena, (pawl_str){copy, len}, &message, &err);
        assert_true(status == PAWL_OK || status == PAWL_INVALID);
        if (status == PAWL_OK && !str_absent(message.payload))
            assert_true(json_valid(message.payload, 64, NULL));
        accepted += status == PAWL_OK;
        free(copy);
        arena_reset(arena);
    }
    assert_true(accepted > 100);
    arena_free(arena);
}

TEST(test_text_for_a_terminal) {
    struct buf buf;
    buf_init(&buf, 0);
    grid_escape(&buf, STR("a\x1b[1m\n\t\r\x7f\xc2\x9b\xe2\x80\xae\xff\xc3\xa9"));
    assert_string_equal(buf.ptr, "a\\x1b[1m\\n\\t\\r\\x7f\\x9b\\u202e\xef\xbf\xbd\xc3\xa9");
    buf_free(&buf);
}

/* A grid of one cuttable and one droppable column, printed at a width. */
static char *grid_text(int width, int least) {
    struct grid grid;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    grid_init(&grid);
    grid_column(&grid, (struct grid_column){.cut = true, .least = least});
    grid_column(&grid, (struct grid_column){.right = true, .drop = 1});
    grid_cell(&grid, STR("NAME"));
    grid_cell(&grid, STR("COUNT"));
    grid_cell(&grid, STR("a rather l\xc3\xb6ng name"));
    grid_cell(&grid, STR("12"));
    assert_int_equal(grid_print(&grid, file, width, NULL), PAWL_OK);
    fclose(file);
    grid_free(&grid);
    return text;
}

TEST(test_grid_fits) {
    static const struct {
        int width, least;
        const char *text;
    } cases[] = {
        {0, 0, "NAME                COUNT\na rather l\xc3\xb6ng name     12\n"},
        {25, 0, "NAME                COUNT\na rather l\xc3\xb6ng name     12\n"},
        {18, 0, "NAME         COUNT\na rather l\xe2\x80\xa6     12\n"},
        {12, 0, "NAME\na rather l\xc3\xb6\xe2\x80\xa6\n"},
        {18, 12, "NAME\na rather l\xc3\xb6ng name\n"},
        {19, 12, "NAME          COUNT\na rather l\xc3\xb6\xe2\x80\xa6     12\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = grid_text(cases[i].width, cases[i].least);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

/* Rows after the first ones keep to the widths; what may not be shortened is written whole. */
TEST(test_grid_goes_on) {
    struct grid grid;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    grid_init(&grid);
    grid_column(&grid, (struct grid_column){.cut = true});
    grid_column(&grid, (struct grid_column){.right = true});
    const char *const cells[] = {"NAME", "N", "short", "1", "longer than it", "12345"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        grid_cell(&grid, str_from(cells[i]));
        if (i % 2 == 1) {
            assert_int_equal(grid_print(&grid, file, i < 2 ? 14 : 20, NULL), PAWL_OK);
            assert_int_equal(grid.text.len, 0);
        }
    }
    fclose(file);
    assert_string_equal(text, "NAME  N\nsho\xe2\x80\xa6  1\nlon\xe2\x80\xa6  12345\n");
    grid_free(&grid);
    free(text);
}

TEST(test_ages) {
    static const struct {
        int64_t wall_ms;
        const char *text;
    } cases[] = {{1000000000, "0ms ago"}, {999999500, "500ms ago"},
                 {999997000, "3s ago"},   {999808000, "3m12s ago"},
                 {992800000, "2h ago"},   {992740000, "2h1m ago"},
                 {1000005000, "in 5s"},   {1000000000 - 183600000, "2d3h ago"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[OUTPUT_AGE_BYTES];
        assert_string_equal(output_age(cases[i].wall_ms, 1000000000, text), cases[i].text);
    }
}

/* Whatever the cause, there is a paragraph and something to do, with the ids that matter. */
TEST(test_every_cause_has_a_story) {
    for (int cause = WHY_RUNNING; cause <= WHY_CANCELLED; cause++) {
        struct why why = {
            .cause = (enum why_cause)cause, .until_ms = 1000, .now_ms = 2000, .blocker_cause = WHY_DEAD};
        memset(&why.instance, 0x11, sizeof why.instance);
        memset(&why.blocker_id, 0x22, sizeof why.blocker_id);
        memset(&why.row.item.id, 0x33, sizeof why.row.item.id);
        why.row.item.kind = KIND_INBOX;
        why.row.item.type = STR("a\x1b[31m");
        why.row.state = cause == WHY_DEAD ? STATE_DEAD : STATE_SCHEDULED;
        why.row.reason = DEAD_ATTEMPTS;
        why.row.error = STR("boom\nat line 3");
        struct buf text;
        struct buf next;
        buf_init(&text, 0);
        buf_init(&next, 0);
        struct why_pause pause = {.row = {.scope = cause == WHY_CANCELLED ? PAUSE_MESSAGE : PAUSE_STREAM,
                                          .name = STR("order-1"),
                                          .actor = STR("anna"),
                                          .reason = STR("rep\x1b[31mair"),
                                          .since_ms = 1000}};
        why_story(&why, &pause, &text, &next);
        assert_false(text.failed || next.failed);
        assert_true(next.len > 0);
        assert_non_null(
            strstr(text.ptr, "33333333-3333-3333-3333-333333333333 (inbox, type a\\x1b[31m, no stream)"));
        assert_null(strstr(text.ptr, "null"));
        assert_null(strchr(text.ptr, '\n'));
        bool blocked = cause == WHY_BEHIND || cause == WHY_BLOCKED;
        assert_int_equal(strstr(text.ptr, "22222222-") != NULL, blocked);
        bool owned = cause == WHY_RUNNING || cause == WHY_LEASE_OVER || cause == WHY_READY ||
                     cause == WHY_OWNER_SILENT || cause == WHY_DRAINING;
        assert_int_equal(strstr(text.ptr, "11111111-") != NULL, owned);
        bool failed = cause == WHY_SCHEDULED || cause == WHY_SUSPECT || cause == WHY_DEAD;
        assert_int_equal(strstr(text.ptr, "Last error: boom.") != NULL, failed);
        bool paused = cause == WHY_PAUSED || cause == WHY_CANCELLED;
        assert_int_equal(strstr(text.ptr, "by anna: rep\\x1b[31mair.") != NULL, paused);
        buf_free(&text);
        buf_free(&next);
    }
}

/* The next word belongs to a flag or not, whatever the command: the command may come after it. */
TEST(test_a_flag_takes_a_value_everywhere_or_nowhere) {
    const struct operation *command, *other;
    const struct field *input, *same;
    char name[INPUT_NAME_BYTES], other_name[INPUT_NAME_BYTES], option[OPTION_FLAG_BYTES];
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        for (size_t k = 0; (input = command_input(command, k)) != NULL; k++) {
            assert_true(input->help != NULL && input->help[0] != '\0');
            if (input_is_word(input))
                continue;
            (void)input_flag(input, name);
            for (size_t o = 0; (other = command_at(o)) != NULL; o++)
                for (size_t n = 0; (same = command_input(other, n)) != NULL; n++)
                    if (!input_is_word(same) && strcmp(input_flag(same, other_name), name) == 0)
                        assert_int_equal(same->type == FIELD_BOOL, input->type == FIELD_BOOL);
            for (int id = 0; id < OPTION_COUNT; id++)
                if (strcmp(options_flag(&option_rows[id], option) + 2, name) == 0)
                    assert_int_equal(option_rows[id].type == OPTION_BOOL, input->type == FIELD_BOOL);
        }
}

TEST(test_every_status_has_its_exit_code) {
    for (int status = PAWL_OK; status <= PAWL_INTERNAL; status++) {
        size_t at = 0;
        while (at < exit_codes_count && exit_codes[at].code != error_exit_code((pawl_status)status))
            at++;
        assert_true(at < exit_codes_count);
        assert_string_equal(exit_codes[at].name, pawl_status_name((pawl_status)status));
    }
}

TEST(test_bad_values_change_nothing) {
    static const struct field limit = {INT_FIELD(IN_QUERY, "limit", 1, 100, "")},
                              before = {TIME_FIELD(IN_QUERY, "before_ms", "")},
                              wait = {DURATION_FIELD(IN_QUERY, "wait_ms", 1, 1000, "")},
                              id = {FIELD(FIELD_UUID, IN_QUERY, "id", "")},
                              kind = {CHOICE_FIELD(IN_QUERY, "kind", "outbox|inbox", "")},
                              stream = {TEXT_FIELD(IN_QUERY, "stream", 10, "")};
    static const struct {
        const struct field *field;
        const char *text;
    } cases[] = {
        {&limit, "0"},    {&limit, "-1"},    {&limit, "1x"},          {&limit, ""},  {&before, "30"},
        {&before, "-1s"}, {&before, ""},     {&before, "2026-13-01"}, {&wait, "30"}, {&wait, "2s"},
        {&wait, ""},      {&id, "01890a5d"}, {&kind, "outb"},         {&kind, ""},   {&kind, "outbox|inbox"},
        {&kind, "INBOX"}, {&stream, ""},     {&stream, "01234567890"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value value = {.number = 42};
        pawl_error err;
        assert_int_equal(
            field_from_word(cases[i].field, cases[i].field->name, str_from(cases[i].text), &value, &err),
            PAWL_INVALID);
        assert_true(!value.present && value.number == 42);
        assert_non_null(strstr(err.text, cases[i].field->name));
    }
}

#define ROW struct shown
struct shown {
    int64_t at_ms, total;
    int job, state;
    bool paused;
    pawl_str name;
};

TEST(test_cells_show_members_of_a_row) {
    static const char *const states[] = {NULL, "live"};
    static const struct column columns[] = {{.key = "name", TEXT_OF(name)},
                                            {.key = "at", TIME_OF(at_ms)},
                                            {.key = "total", INT_OF(total), .absent = ABSENT_BELOW_ZERO},
                                            {.key = "made", .type = CELL_INT},
                                            {.key = "job", INT_OF(job), .absent = ABSENT_ZERO},
                                            {.key = "paused", BOOL_OF(paused)},
                                            {.key = "state", WORD_OF(state, states)}};
    const struct shown rows[] = {{.at_ms = 1000, .job = 7, .state = 1, .paused = true, .name = STR("n")},
                                 {.total = -1, .state = 2}};
    static const char *const wanted[] = {
        "{\"name\":\"n\",\"at_ms\":1000,\"at_at\":\"1970-01-01T00:00:01.000Z\",\"total\":0,\"made\":5,"
        "\"job\":7,\"paused\":true,\"state\":\"live\"}",
        "{\"name\":null,\"at_ms\":null,\"at_at\":null,\"total\":null,\"made\":5,\"job\":null,"
        "\"paused\":false,\"state\":null}"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    for (size_t i = 0; i < 2; i++) {
        const struct cell made = cell_int(5);
        struct cell cells[COLUMNS];
        struct buf json;
        buf_init(&json, 0);
        row_cells(columns, COLUMNS, &rows[i], &made, cells);
        output_cells_json(&json, columns, COLUMNS, cells);
        assert_string_equal(json.ptr, wanted[i]);
        buf_free(&json);
    }
}
#undef ROW

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_keeps_the_payload),
        cmocka_unit_test(test_line_that_is_wrong_changes_nothing),
        cmocka_unit_test(test_line_survives_damage),
        cmocka_unit_test(test_text_for_a_terminal),
        cmocka_unit_test(test_grid_fits),
        cmocka_unit_test(test_grid_goes_on),
        cmocka_unit_test(test_ages),
        cmocka_unit_test(test_every_cause_has_a_story),
        cmocka_unit_test(test_a_flag_takes_a_value_everywhere_or_nowhere),
        cmocka_unit_test(test_every_status_has_its_exit_code),
        cmocka_unit_test(test_bad_values_change_nothing),
        cmocka_unit_test(test_cells_show_members_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
