/* Tests of the handler table: patterns, commands, specs and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/pattern.h"
#include "handler/program_run.h"
#include "process/program.h"

static void test_pattern(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"*", "", true},
        {"*", "anything.at-all", true},
        {"order.*", "order.created", true},
        {"order.*", "ORDER.Created", true},
        {"ORDER.*", "order.x", true},
        {"order.*", "order", false},
        {"order.*", "reorder.x", false},
        {"*.created", "order.created", true},
        {"*.created", "order.created.v2", false},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "axxbyy", false},
        {"a*b*c", "abcbc", true},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"a?c",
         "a\xc3\xa9"
         "c",
         true},
        {"a?c", "abbc", false},
        {"exact", "exact", true},
        {"exact", "exactly", false},
        {"", "", true},
        {"**", "x", true},
        {"*?", "", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        bool found = pattern_matches(str_from(rows[i].pattern), str_from(rows[i].text));
        if (found != rows[i].matches)
            fail_msg("'%s' and '%s': %d", rows[i].pattern, rows[i].text, found);
    }
}

/* The worst case for a naive matcher: many stars, almost a match. */
static void test_pattern_is_never_slow(void **state) {
    (void)state;
    char pattern[PAWL_PATTERN_BYTES_MAX], text[200];
    memset(pattern, '*', sizeof(pattern));
    for (size_t i = 1; i < sizeof(pattern); i += 2)
        pattern[i] = 'a';
    pattern[sizeof(pattern) - 1] = 'b';
    memset(text, 'a', sizeof(text));
    for (int i = 0; i < 1000; i++)
        assert_false(pattern_matches((pawl_str){pattern, sizeof(pattern)}, (pawl_str){text, sizeof(text)}));
}

static void test_pattern_covers(void **state) {
    (void)state;
    static const struct {
        const char *wide, *narrow;
        bool covers;
    } rows[] = {
        {"*", "order.*", true},
        {"order.*", "*", false},
        {"order.*", "order.created", true},
        {"order.*", "ORDER.*", true},
        {"order.*", "order.?", true},
        {"a?", "ab", true},
        {"a?", "a*", false},
        {"a*", "a?", true},
        {"ab", "a?", false},
        {"*.x", "order.*", false},
        {"*.created", "a.created", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (pattern_covers(str_from(rows[i].wide), str_from(rows[i].narrow)) != rows[i].covers)
            fail_msg("'%s' over '%s'", rows[i].wide, rows[i].narrow);
    }
}

static void test_command_split(void **state) {
    (void)state;
    pawl_error err;
    char **argv = NULL;
    struct arena *arena = arena_create(0);
    assert_int_equal(command_split(arena, STR("  ./a  'b c' \"d \\\" e\"  f\\ g '' "), &argv, &err), PAWL_OK);
    static const char *const words[] = {"./a", "b c", "d \" e", "f g", ""};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(argv[i], words[i]);
    assert_null(argv[5]);
    assert_int_equal(command_split(arena, STR("a 'b"), &argv, &err), PAWL_INVALID);
    assert_int_equal(command_split(arena, STR("   "), &argv, &err), PAWL_INVALID);
    arena_free(arena);
}

static pawl_outcome nothing(const pawl_message *message, pawl_result *result, void *self) {
    (void)message, (void)result, (void)self;
    return PAWL_DONE;
}

static void test_first_match_wins(void **state) {
    (void)state;
    pawl_error err;
    struct handler_table *table = NULL;
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    pawl_handler function = {.function = nothing};
    assert_int_equal(handler_table_add(table, STR("order.created"), &function, &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("order.*=exec:true --yes"), &err), PAWL_OK);
    for (int round = 0; round < 3; round++) { /* the second round is answered from the cache */
        assert_int_equal(handler_table_match(table, STR("order.created")), 0);
        assert_int_equal(handler_table_match(table, STR("Order.Paid")), 1);
        assert_int_equal(handler_table_match(table, STR("mail")), -1);
    }
    assert_string_equal(table->handlers[1].argv[1], "--yes");
    assert_true(table->handlers[1].argv[0][0] == '/');
    /* A later handler changes the answer, cached or not. */
    assert_int_equal(handler_table_add(table, STR("*"), &function, &err), PAWL_OK);
    assert_int_equal(handler_table_match(table, STR("mail")), 2);
    handler_table_free(table);
}

/* Receptors never hide one another, and only inbox messages go to them. */
static void test_receptors(void **state) {
    (void)state;
    pawl_error err;
    struct handler_table *table = NULL;
    const struct handler *found[HANDLER_RECEPTORS_MAX];
    pawl_str pause = {NULL, 0};
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    pawl_handler function = {.function = nothing};
    pawl_handler named = {.function = nothing, .receptor = "ledger", .max_attempts = 3};
    assert_int_equal(handler_table_add(table, STR("*"), &function, &err), PAWL_OK);
    assert_false(handler_table_attaches(table));
    assert_int_equal(handler_table_add(table, STR("order.*"), &named, &err), PAWL_OK);
    assert_int_equal(handler_table_attempts(table, &table->handlers[1]), 3);
    assert_int_equal(handler_table_add_spec(table, STR("mail@order.*=https://mail.example/"), &err), PAWL_OK);
    assert_int_equal(handler_table_attempts(table, &table->handlers[1]), 0);
    assert_true(handler_table_attaches(table));
    struct item item = {.kind = KIND_INBOX, .type = STR("order.paid")};
    assert_int_equal(handler_table_receptors(table, &item, found), 3);
    assert_string_equal(found[0]->name, "ledger");
    assert_string_equal(found[1]->name, "mail");
    assert_string_equal(found[2]->name, "*");
    item.type = STR("other");
    assert_int_equal(handler_table_receptors(table, &item, found), 1);
    item.type = STR("order.paid");
    assert_int_equal(handler_table_match_item(table, &item, &pause), 1);
    item.kind = KIND_OUTBOX;
    assert_int_equal(handler_table_match_item(table, &item, &pause), 0);
    item = (struct item){.kind = KIND_INBOX, .type = STR("other")};
    assert_int_equal(handler_table_match_item(table, &item, &pause), 0);
    assert_int_equal(handler_table_add(table, STR("x"), &named, &err), PAWL_INVALID);
    handler_table_free(table);
}

/* A handler is paused under its pattern or its name; of several receptors one is enough. */
static void test_paused_handlers(void **state) {
    (void)state;
    pawl_error err;
    struct handler_table *table = NULL;
    pawl_str pause = {NULL, 0};
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("ledger@order.*=exec:true"), &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("mail@order.paid=exec:true"), &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("*=exec:true"), &err), PAWL_OK);
    struct pause_row rows[] = {{.scope = PAUSE_TOPIC, .name = STR("other")},
                               {.scope = PAUSE_HANDLER, .name = STR("mail")}};
    handler_table_pause(table, &(struct pause_rows){rows, 2});
    struct item item = {.kind = KIND_INBOX, .type = STR("other")}; /* a topic is the store's business */
    assert_int_equal(handler_table_match_item(table, &item, &pause), 2);
    item.type = STR("order.sent");
    assert_int_equal(handler_table_match_item(table, &item, &pause), 0);
    assert_true(str_absent(pause));
    item.type = STR("order.paid");
    assert_int_equal(handler_table_match_item(table, &item, &pause), HANDLER_PAUSED);
    assert_true(str_equal_cstr(pause, "mail"));
    rows[1].name = STR("*");
    handler_table_pause(table, &(struct pause_rows){rows, 2});
    assert_int_equal(handler_table_match_item(table, &item, &pause), 0);
    item.kind = KIND_OUTBOX;
    assert_int_equal(handler_table_match_item(table, &item, &pause), HANDLER_PAUSED);
    assert_true(str_equal_cstr(pause, "*"));
    handler_table_free(table);
}

/* A message that carries an event goes to its receptor only, and a receptor on events gets no other. */
static void test_event_receptors(void **state) {
    (void)state;
    pawl_error err;
    struct handler_table *table = NULL;
    const struct handler *found[HANDLER_RECEPTORS_MAX];
    pawl_str pause = {NULL, 0};
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    pawl_handler named = {.function = nothing, .receptor = "audit", .max_attempts = 9, .from_start = true};
    assert_int_equal(handler_table_add_spec(table, STR("mail@event:suffix:Paid=exec:true"), &err), PAWL_OK);
    assert_int_equal(handler_table_add(table, STR("event:"), &named, &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("ledger@*=exec:true"), &err), PAWL_OK);
    assert_int_equal(table->event_receptors, 2);
    assert_int_equal(table->handlers[0].on.mode, PATTERN_SUFFIX);
    assert_true(str_equal(table->handlers[0].on.text, STR("Paid")));
    assert_true(table->handlers[1].from_start && table->handlers[1].on.text.len == 0);
    assert_int_equal(handler_table_attempts(table, &table->handlers[1]), 9);
    assert_int_equal(handler_table_attempts(table, &table->handlers[2]), 0);
    struct item item = {.kind = KIND_INBOX, .type = STR("Paid"), .consumer = STR("event:mail")};
    assert_int_equal(handler_table_match_item(table, &item, &pause), 0);
    assert_int_equal(handler_table_receptors(table, &item, found), 1);
    assert_string_equal(found[0]->name, "mail");
    item.consumer = STR("event:other"); /* somebody else's */
    assert_int_equal(handler_table_match_item(table, &item, &pause), HANDLER_NONE);
    assert_int_equal(handler_table_receptors(table, &item, found), 0);
    item.consumer = STR("orders");
    assert_int_equal(handler_table_match_item(table, &item, &pause), 2);
    assert_int_equal(handler_table_receptors(table, &item, found), 1);
    assert_string_equal(found[0]->name, "ledger");
    static const char *const wrong[] = {"event:x=exec:true", "bad@event:regex:(a+)+=exec:true",
                                        "mail@event:x=exec:true"};
    static const char *const words[] = {"needs one", "must not be repeated", "already"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(handler_table_add_spec(table, str_from(wrong[i]), &err), PAWL_INVALID);
        assert_non_null(strstr(err.text, words[i]));
    }
    named.receptor = "late";
    assert_int_equal(handler_table_add(table, STR("order.*"), &named, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "receptors on events"));
    handler_table_free(table);
}

static struct program_verdict judge(const char *output, enum process_outcome outcome, int status) {
    return program_judge(&(struct process_end){.outcome = outcome, .status = status}, str_from(output), 0);
}

static void test_what_an_end_means(void **state) {
    (void)state;
    static const struct {
        const char *output;
        enum process_outcome outcome;
        int status;
        enum handler_outcome meant;
        int64_t delay_ms;
    } cases[] = {
        {"", PROCESS_EXITED, 0, HANDLED_DONE, -1},
        {"pawl:snooze 30s", PROCESS_EXITED, 0, HANDLED_DONE, -1},
        {"", PROCESS_EXITED, 75, HANDLED_RETRY, -1},
        {"", PROCESS_EXITED, 65, HANDLED_PERMANENT, -1},
        {"", PROCESS_SIGNALLED, 65, HANDLED_RETRY, -1},
        {"", PROCESS_TIMED_OUT, 0, HANDLED_RETRY, -1},
        {"", PROCESS_FLOODED, 0, HANDLED_RETRY, -1},
        {"pawl:retry-after 5s", PROCESS_CANCELLED, 0, HANDLED_NOT_RUN, -1},
        {"pawl:snooze 5s", PROCESS_STOPPED, 75, HANDLED_NOT_RUN, -1},
        {"", PROCESS_FENCED, 0, HANDLED_NOT_RUN, -1},
        {"hello\npawl:snooze 30s\n", PROCESS_EXITED, 75, HANDLED_SNOOZE, 30000},
        {"pawl:snooze 30s", PROCESS_EXITED, 1, HANDLED_RETRY, 30000},
        {"pawl:snooze 30s", PROCESS_SIGNALLED, 75, HANDLED_RETRY, 30000},
        {"pawl:retry-after 2m\npawl:snooze 1s", PROCESS_EXITED, 75, HANDLED_RETRY, 120000},
        {"pawl:snooze soon\npawl:snooze", PROCESS_EXITED, 75, HANDLED_RETRY, -1},
        {"pawl:retry-after 400d", PROCESS_EXITED, 75, HANDLED_RETRY, PAWL_RETRY_MS_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct program_verdict verdict = judge(cases[i].output, cases[i].outcome, cases[i].status);
        assert_int_equal(verdict.outcome, cases[i].meant);
        assert_int_equal(verdict.delay_ms, cases[i].delay_ms);
    }
}

static void test_refused_directives(void **state) {
    (void)state;
    static const struct {
        const char *output;
        int code;
        const char *error;
    } cases[] = {
        {"pawl:snooze 10y\n", 75,
         "exit code 75; pawl:snooze '10y' does not count: write a duration, as in 30s, 5m, 2h or 7d"},
        {"pawl:retry-after", 1,
         "exit code 1; pawl:retry-after '' does not count: write a duration, as in 30s, 5m, 2h or 7d"},
        {"pawl:snooze \033[1m", 75,
         "exit code 75; pawl:snooze '…' does not count: write a duration, as in 30s, 5m, 2h or 7d"},
        {"pawl:snooze 5s", 1, "exit code 1; pawl:snooze counts with exit code 75 only"},
        {"pawl:snooze 10y\npawl:snooze 5s", 75, "exit code 75"},
        {"pawl:snoozed 10y\npawl:retry-after 5s", 1, "exit code 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(judge(cases[i].output, PROCESS_EXITED, cases[i].code).error, cases[i].error);
}

static void test_refused(void **state) {
    (void)state;
    pawl_error err;
    struct handler_table *table = NULL;
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    assert_int_equal(handler_table_add(table, STR("a"), &(pawl_handler){.command = NULL}, &err),
                     PAWL_INVALID);
    pawl_handler both = {.function = nothing, .command = "true"};
    assert_int_equal(handler_table_add(table, STR("a"), &both, &err), PAWL_INVALID);
    pawl_handler slow = {.function = nothing, .retry_base_ms = 5000, .retry_max_ms = 1000};
    assert_int_equal(handler_table_add(table, STR("a"), &slow, &err), PAWL_INVALID);
    pawl_handler odd = {.function = nothing, .on_dead = (pawl_on_dead)9};
    assert_int_equal(handler_table_add(table, STR("a"), &odd, &err), PAWL_INVALID);
    pawl_handler fine = {.function = nothing};
    assert_int_equal(handler_table_add(table, STR(""), &fine, &err), PAWL_INVALID);
    assert_int_equal(handler_table_add(table, STR("a b"), &fine, &err), PAWL_INVALID);
    assert_int_equal(handler_table_add_spec(table, STR("*=exec:./no-such-file"), &err), PAWL_NOT_FOUND);
    assert_non_null(strstr(err.text, "./no-such-file"));
    assert_int_equal(table->count, 0);
    handler_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern),
        cmocka_unit_test(test_pattern_is_never_slow),
        cmocka_unit_test(test_pattern_covers),
        cmocka_unit_test(test_command_split),
        cmocka_unit_test(test_first_match_wins),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_receptors),
        cmocka_unit_test(test_event_receptors),
        cmocka_unit_test(test_paused_handlers),
        cmocka_unit_test(test_what_an_end_means),
        cmocka_unit_test(test_refused_directives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
