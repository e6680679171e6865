/* Options: precedence of flags, environment and file, ranges, suggestions. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/options/options.h"
#include "base/str.h"

/* An environment of name, value pairs that ends in NULL. */
static const char *lookup(void *self, const char *name) {
    for (const char *const *pair = self; pair != NULL && pair[0] != NULL; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

struct setup {
    struct arena *arena;
    struct options options;
    pawl_error err;
};

static int open_setup(void **fixture) {
    struct setup *s = calloc(1, sizeof *s);
    s->arena = arena_create(0);
    *fixture = s;
    return 0;
}

static int close_setup(void **fixture) {
    struct setup *s = *fixture;
    arena_free(s->arena);
    free(s);
    return 0;
}

/* Parses "a b c" split at blanks. */
static pawl_status parse(struct setup *s, const char *line, const char **environment) {
    static const char *const no_environment[] = {NULL};
    char *argv[32] = {(char[]){"pawl"}};
    int argc = 1;
    char *copy = arena_strdup(s->arena, line);
    for (char *rest = copy, *word; (word = strsep(&rest, " ")) != NULL;)
        if (word[0] != '\0')
            argv[argc++] = word;
    struct options_input input = {.argc = argc,
                                  .argv = argv,
                                  .getenv = lookup,
                                  .self = environment != NULL ? (void *)environment
                                                              : (void *)(uintptr_t)no_environment};
    return options_parse(s->arena, &input, &s->options, &s->err);
}

static void refused(struct setup *s, const char *line, const char *sentence) {
    memset(&s->options, 0x5a, sizeof s->options);
    struct options before = s->options;
    assert_int_equal(parse(s, line, NULL), PAWL_INVALID);
    assert_string_equal(s->err.text, sentence);
    assert_memory_equal(&before, &s->options, sizeof before); /* outputs only on success */
}

/* covers: P37 P38 P39 P41 P42 W17 W19 W20 */
static void defaults(void **fixture) {
    struct setup *s = *fixture;
    assert_int_equal(parse(s, "", NULL), PAWL_OK);
    assert_true(str_equal_cstr(options_text(&s->options, OPTION_DATABASE_URL), "pawl.db"));
    assert_true(str_equal_cstr(options_text(&s->options, OPTION_SCHEMA), "pawl"));
    assert_true(str_absent(options_text(&s->options, OPTION_WORKER_ID)));
    assert_int_equal(options_number(&s->options, OPTION_POLL), PAWL_POLL_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_LEASE), PAWL_LEASE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_CONCURRENCY), PAWL_CONCURRENCY_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_PROCESSING_TIMEOUT), PAWL_HANDLER_TIMEOUT_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_JOB_LEASE), PAWL_JOB_LEASE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_HEARTBEAT), PAWL_HEARTBEAT_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_INSTANCE_LEASE), PAWL_INSTANCE_LEASE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_STALE), PAWL_STALE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_PARTITIONS), PAWL_PARTITIONS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_LANES), PAWL_LANES_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_BATCH), PAWL_BATCH_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_PERSPECTIVE_BATCH), 100);
    assert_int_equal(options_number(&s->options, OPTION_IDLE_POLLS), 2);
    assert_int_equal(options_number(&s->options, OPTION_MAX_ATTEMPTS), PAWL_ATTEMPTS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_RETRY_BASE), PAWL_RETRY_BASE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_RETRY_MAX), PAWL_RETRY_MAX_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_DEDUPE_WINDOW), PAWL_DEDUPE_MS_DEFAULT);
    assert_int_equal(options_number(&s->options, OPTION_PAYLOAD_LIMIT), PAWL_PAYLOAD_BYTES_DEFAULT);
    assert_true(options_bool(&s->options, OPTION_RETRY_JITTER));
    assert_false(options_bool(&s->options, OPTION_DEBUG));
    assert_int_equal(s->options.positional_count, 0);
}

/* covers: J19 J20 J21 B4.18 */
static void environment_of_the_sources(void **fixture) {
    struct setup *s = *fixture;
    const char *environment[] = {"DATABASE_URL",
                                 "postgres://db/app",
                                 "WORKER_LEASE_SECONDS",
                                 "90",
                                 "WORKER_MAX_LEASES",
                                 "3",
                                 "WORKER_HEARTBEAT_INTERVAL",
                                 "2.5",
                                 "WORKER_CLEANUP_INTERVAL",
                                 "300",
                                 "WORKER_LOG_LEVEL",
                                 "DEBUG",
                                 "WORKER_MAX_PROCESSING_TIME",
                                 "600",
                                 "WORKER_BACKOFF_JITTER",
                                 "false",
                                 NULL};
    assert_int_equal(parse(s, "", environment), PAWL_OK);
    assert_true(str_equal_cstr(options_text(&s->options, OPTION_DATABASE_URL), "postgres://db/app"));
    assert_int_equal(options_number(&s->options, OPTION_JOB_LEASE), 90000);
    assert_int_equal(options_number(&s->options, OPTION_CONCURRENCY), 3);
    assert_int_equal(options_number(&s->options, OPTION_HEARTBEAT), 2500);
    assert_int_equal(options_number(&s->options, OPTION_CLEANUP_INTERVAL), 300000);
    assert_int_equal(options_number(&s->options, OPTION_LOG_LEVEL), 0);
    assert_int_equal(options_number(&s->options, OPTION_PROCESSING_TIMEOUT), 600000);
    assert_false(options_bool(&s->options, OPTION_RETRY_JITTER));
}

static void misspelled_variables(void **fixture) {
    (void)fixture;
    static const char *const meant[][2] = {{"WORKER_HEARTBEAT_INTERVALL", "WORKER_HEARTBEAT_INTERVAL"},
                                           {"WORKER_HEARTBEAT", "WORKER_HEARTBEAT_INTERVAL"},
                                           {"WORKER_LEASE_SECOND", "WORKER_LEASE_SECONDS"},
                                           {"WORKER_LEASE", "WORKER_LEASE_SECONDS"},
                                           {"WORKER_CONCURRENCY", "PAWL_CONCURRENCY"},
                                           {"PAWL_CONCURENCY", "PAWL_CONCURRENCY"},
                                           {"PAWL_LEASE_SECONDS", "PAWL_LEASE"},
                                           {"PAWL_HEARTBEATS", "PAWL_HEARTBEAT"},
                                           {"PAWL_DATABASE_URI", "PAWL_DATABASE_URL"},
                                           {"PAWL_TOKEN_FIEL", "PAWL_TOKEN_FILE"},
                                           {"PAWL_FOO", NULL},
                                           {"WORKER_NOTHING_OF_OURS", NULL},
                                           {"WORKER_REPLAY", NULL},
                                           {"PAWL_BROKER_OF_ORDERS", NULL}};
    static const char *const quiet[] = {"PAWL_HEARTBEAT",
                                        "WORKER_MAX_LEASES",
                                        "PAWL_ID",
                                        "PAWL_TOKEN",
                                        "PAWL_JOB_ID",
                                        "PAWL_TEST_PG_URL",
                                        "WORKER_SERVICE_HOST",
                                        "PAWL_PORT_80_TCP",
                                        "WORKER_PORT",
                                        "PAWL_SERVER_SERVICE_HOST",
                                        "PAWL_SERVER_SERVICE_PORT_HTTP",
                                        "PAWL_SERVER_PORT",
                                        "PAWL_SERVER_PORT_8080_TCP_ADDR",
                                        "WORKER_PORT_53_UDP",
                                        "PAWL_DATABASE_URL",
                                        "PAWL_VERSION",
                                        "LEASE",
                                        "PAWL_CONFIG",
                                        "HOME",
                                        "PAWL_IDEMPOTENCY_KEY"};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        const char *found = "";
        assert_true(options_variable_unknown(meant[i][0], &found));
        if (meant[i][1] != NULL)
            assert_string_equal(found, meant[i][1]);
        else
            assert_null(found);
    }
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        const char *found = NULL;
        assert_false(options_variable_unknown(quiet[i], &found));
    }
}

static void spellings_of_flags(void **fixture) {
    struct setup *s = *fixture;
    assert_int_equal(parse(s, "put --lease=30s -o json --batch 7 --debug a -- --not-a-flag -x", NULL),
                     PAWL_OK);
    assert_int_equal(options_number(&s->options, OPTION_LEASE), 30000);
    assert_int_equal(options_number(&s->options, OPTION_OUTPUT), 3);
    assert_int_equal(options_number(&s->options, OPTION_BATCH), 7);
    assert_true(options_bool(&s->options, OPTION_DEBUG));
    assert_int_equal(s->options.positional_count, 4);
    assert_string_equal(s->options.positional[0], "put");
    assert_string_equal(s->options.positional[2], "--not-a-flag");
    assert_string_equal(s->options.positional[3], "-x");
    assert_int_equal(parse(s, "-ondjson --debug=no --payload-limit 1MiB -", NULL), PAWL_OK);
    assert_int_equal(options_number(&s->options, OPTION_OUTPUT), 4);
    assert_false(options_bool(&s->options, OPTION_DEBUG));
    assert_int_equal(options_number(&s->options, OPTION_PAYLOAD_LIMIT), 1048576);
    assert_string_equal(s->options.positional[0], "-");
}

/* covers: J22 P45 */
static void wrong_values_are_refused_with_advice(void **fixture) {
    struct setup *s = *fixture;
    refused(s, "--leese 5m", "unknown option --leese; did you mean --lease?");
    refused(s, "--frobnicate", "unknown option --frobnicate; --help lists the options");
    refused(s, "-q", "unknown option -q; --help lists the options");
    refused(s, "--lease", "--lease needs a value after it");
    refused(s, "--lease 5",
            "--lease cannot be '5': write a number with a unit, as in 500ms, 30s, 5m, 2h or 7d");
    refused(s, "--lease 50ms", "--lease is out of range with '50ms': choose from 100ms to 1d");
    refused(s, "--batch 5001", "--batch is out of range with '5001': choose from 1 to 5000");
    refused(s, "--batch ten", "--batch cannot be 'ten': write a whole number");
    refused(s, "--output xml", "--output cannot be 'xml': choose one of auto|table|wide|json|ndjson");
    refused(s, "--debug=maybe", "--debug cannot be 'maybe': write true or false");
    refused(s, "--payload-limit 17MiB",
            "--payload-limit is out of range with '17MiB': choose from 1B to 16MiB");
    refused(s, "--batch 1 --batch 2", "--batch is given twice; keep one");
    const char *environment[] = {"WORKER_LEASE_SECONDS", "soon", NULL};
    assert_int_equal(parse(s, "", environment), PAWL_INVALID);
    assert_string_equal(s->err.text, "WORKER_LEASE_SECONDS cannot be 'soon': write a number of seconds, as "
                                     "in 30 or 2.5, or one with a unit, as in 500ms or 5m");
    for (const char *const *line =
             (const char *const[]){"--poll 100ms", "--poll 500ms", "--lease 60s", "--lease 600s",
                                   "--lease 30m", "--perspective-batch 50", "--perspective-batch 1000", NULL};
         *line != NULL; line++)
        assert_int_equal(parse(s, *line, NULL), PAWL_OK);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

static void flag_beats_environment_beats_file_beats_default(void **fixture) {
    struct setup *s = *fixture;
    char path[] = "/tmp/pawl-test-XXXXXX";
    char line[200];
    close(mkstemp(path));
    write_file(
        path,
        "; a comment\nbatch = 10 # ten\n[pawl] # ours\nlease = 1m\nschema=orders\npoll = 2s ; inline\n");
    const char *environment[] = {"PAWL_CONFIG", path, "PAWL_LEASE", "2m", "PAWL_SCHEMA", "billing", NULL};
    assert_int_equal(parse(s, "--schema shop", environment), PAWL_OK);
    assert_true(str_equal_cstr(options_text(&s->options, OPTION_SCHEMA), "shop"));
    assert_int_equal(s->options.values[OPTION_SCHEMA].source, OPTION_FROM_FLAG);
    assert_int_equal(options_number(&s->options, OPTION_LEASE), 120000);
    assert_int_equal(s->options.values[OPTION_LEASE].source, OPTION_FROM_ENVIRONMENT);
    assert_int_equal(options_number(&s->options, OPTION_BATCH), 10);
    assert_int_equal(options_number(&s->options, OPTION_POLL), 2000);
    assert_int_equal(s->options.values[OPTION_BATCH].source, OPTION_FROM_FILE);
    assert_int_equal(s->options.values[OPTION_LANES].source, OPTION_FROM_DEFAULT);
    snprintf(line, sizeof line, "--config %s", path);
    assert_int_equal(parse(s, line, NULL), PAWL_OK);
    assert_int_equal(options_number(&s->options, OPTION_LEASE), 60000);
    unlink(path);
    assert_int_equal(parse(s, line, NULL), PAWL_NOT_FOUND);
}

static void wrong_files_are_refused(void **fixture) {
    struct setup *s = *fixture;
    static const struct {
        const char *text;
        const char *part;
    } wrong[] = {{"leese = 5m\n", "unknown option 'leese'; did you mean 'lease'?"},
                 {"lease = 5\n", "cannot be '5'"},
                 {"[other]\nlease = 5m\n", "unknown section [other]"},
                 {"lease = 5m\nlease = 6m\n", "'lease' is set twice"},
                 {"help = true\n", "unknown option 'help'"},
                 {"lease\n", "line 1 is not 'name = value'"},
                 {"[pawl\nlease = 5m\n", "line 1 is not 'name = value'"}};
    char path[] = "/tmp/pawl-test-XXXXXX";
    char line[200];
    close(mkstemp(path));
    snprintf(line, sizeof line, "--config=%s --lease 1m", path);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file(path, wrong[i].text);
        assert_int_equal(parse(s, line, NULL), PAWL_INVALID);
        if (strstr(s->err.text, wrong[i].part) == NULL)
            fail_msg("'%s' does not say '%s'", s->err.text, wrong[i].part);
    }
    unlink(path);
    assert_int_equal(parse(s, "--config /tmp", NULL), PAWL_INVALID);
}

static void help_works_when_the_configuration_is_wrong(void **fixture) {
    struct setup *s = *fixture;
    const char *environment[] = {"PAWL_LEASE", "nonsense", "PAWL_CONFIG", "/does/not/exist", NULL};
    assert_int_equal(parse(s, "--help", environment), PAWL_OK);
    assert_true(options_bool(&s->options, OPTION_HELP));
    assert_int_equal(parse(s, "-h", environment), PAWL_OK);
    assert_int_equal(parse(s, "--version", environment), PAWL_OK);
    assert_int_equal(parse(s, "", environment), PAWL_INVALID);
}

static void a_command_brings_its_own(void **fixture) {
    struct setup *s = *fixture;
    static const struct option_row extra[] = {
        {.name = "stale_minutes", .type = OPTION_INT, .fallback = "10", .min = 1, .max = 1000, .help = "x"},
        {.name = "follow", .letter = 'f', .type = OPTION_BOOL, .fallback = "false", .help = "x"},
    };
    char *argv[] = {(char[]){"pawl"}, (char[]){"cleanup"}, (char[]){"-f"}, (char[]){"--stale-minutes=5"}};
    struct options_input input = {
        .argc = 4, .argv = argv, .extra = extra, .extra_count = 2, .getenv = lookup};
    assert_int_equal(options_parse(s->arena, &input, &s->options, &s->err), PAWL_OK);
    assert_int_equal(s->options.extra[0].number, 5);
    assert_int_equal(s->options.extra[1].number, 1);
    argv[3] = (char[]){"--stale-minuets=5"};
    assert_int_equal(options_parse(s->arena, &input, &s->options, &s->err), PAWL_INVALID);
    assert_string_equal(s->err.text, "unknown option --stale-minuets; did you mean --stale-minutes?");
}

TEST(suggestions) {
    static const char *const names[] = {"status", "workers", "cleanup"};
    assert_string_equal(options_suggest("statsu", names, 3), "status");
    assert_string_equal(options_suggest("worker", names, 3), "workers");
    assert_null(options_suggest("xyz", names, 3));
    assert_null(options_suggest("", names, 3));
}

TEST(the_table_is_complete) {
    struct buf help;
    buf_init(&help, 0);
    options_help(&help, option_rows, OPTION_COUNT);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        char flag[OPTION_FLAG_BYTES];
        assert_non_null(row->name);
        assert_non_null(row->help);
        assert_non_null(strstr(help.ptr, options_flag(row, flag)));
        assert_true(row->environment == NULL || strstr(help.ptr, row->environment) != NULL);
        assert_true((row->type == OPTION_CHOICE) == (row->choices != NULL));
        for (int other = 0; other < id; other++)
            assert_string_not_equal(row->name, option_rows[other].name);
    }
    assert_non_null(strstr(help.ptr, "default 5m, 100ms to 1d, PAWL_LEASE\n"));
    assert_non_null(strstr(help.ptr, "WORKER_LEASE_SECONDS (seconds)"));
    buf_free(&help);
}

#define WITH_SETUP(test) cmocka_unit_test_setup_teardown(test, open_setup, close_setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_SETUP(defaults),
        WITH_SETUP(environment_of_the_sources),
        WITH_SETUP(misspelled_variables),
        WITH_SETUP(spellings_of_flags),
        WITH_SETUP(wrong_values_are_refused_with_advice),
        WITH_SETUP(flag_beats_environment_beats_file_beats_default),
        WITH_SETUP(wrong_files_are_refused),
        WITH_SETUP(help_works_when_the_configuration_is_wrong),
        WITH_SETUP(a_command_brings_its_own),
        cmocka_unit_test(suggestions),
        cmocka_unit_test(the_table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
