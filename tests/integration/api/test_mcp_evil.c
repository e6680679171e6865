/* MCP servers that misbehave in more than 90 ways: each is contained, the caller is back in time, nothing is
 * left behind. PAWL_EVIL_ROUNDS repeats everything and looks at the memory. */
#include "support/check.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "handler/tools/tools.h"
#include "process/orphan.h"

enum { FINE = 1, FAILS, NEVER, CHANGED, DEADLINE_MS = 2500, LATE_MS = 3000, THREADS = 8, TEXT_BYTES = 1024 };

/* What the caller must be told: that it worked, that it failed (no matter how), that trying again is of no
 * use. */
static const struct {
    const char *name;
    int expected;
    int calls;           /* 0 = 1; only the last counts */
    int64_t deadline_ms; /* 0 = DEADLINE_MS */
} behaviours[] = {
    {"behaves", FINE, 3, 0},
    {"exit_at_once", FAILS, 0, 0},
    {"complains_and_exits", FAILS, 0, 0},
    {"exit_on_discover", FINE, 0, 5000},
    {"silent_on_discover", FINE, 0, 9000},
    {"claims_the_new_era", NEVER, 0, 0},
    {"knows_another_version_only", NEVER, 0, 0},
    {"never_reads", FAILS, 0, 0},
    {"hang_on_initialize", FAILS, 0, 0},
    {"wants_unknown_version", NEVER, 0, 0},
    {"initialize_without_version", NEVER, 0, 0},
    {"hang_on_list", FAILS, 0, 0},
    {"list_is_no_list", FAILS, 0, 0},
    {"list_in_a_circle", FAILS, 0, 0},
    {"list_without_end", FAILS, 0, 0},
    {"list_of_twins", FAILS, 0, 0},
    {"list_of_thousands", FAILS, 0, 0},
    {"tool_without_schema", FAILS, 0, 0},
    {"tool_without_name", FAILS, 0, 0},
    {"tool_with_impossible_name", FAILS, 0, 0},
    {"tool_with_endless_description", FAILS, 0, 0},
    {"tool_with_wrong_schema", NEVER, 0, 0},
    {"tool_with_costly_schema", NEVER, 0, 0},
    {"lists_the_tool_on_the_second_page", FINE, 0, 0},
    {"changes_the_tool", CHANGED, 0, 0},
    {"changes_its_tools_all_the_time", FINE, 10, 0},
    {"hang_on_call", FAILS, 0, 0},
    {"hang_for_good", FAILS, 0, 0},
    {"leaves_a_descendant", FAILS, 0, 0},
    {"exit_on_call", FAILS, 0, 0},
    {"crash_on_call", FAILS, 0, 0},
    {"close_stdout_on_call", FAILS, 0, 0},
    {"close_stdin_on_call", FAILS, 0, 0},
    {"flood_from_the_start", FAILS, 0, 0},
    {"flood_of_notifications", FAILS, 0, 0},
    {"flood_of_big_notifications", FAILS, 0, 0},
    {"flood_of_requests", FAILS, 0, 0},
    {"flood_of_complaints", FINE, 0, 8000},
    {"endless_line", FAILS, 0, 0},
    {"line_of_nine_mebibytes", FAILS, 0, 0},
    {"trickle", FAILS, 0, 0},
    {"one_byte_at_a_time", FINE, 0, 0},
    {"not_json", FAILS, 0, 0},
    {"half_of_json", FAILS, 0, 0},
    {"two_messages_on_a_line", FAILS, 0, 0},
    {"a_batch", FAILS, 0, 0},
    {"another_json_rpc", FAILS, 0, 0},
    {"no_json_rpc", FAILS, 0, 0},
    {"wrong_id", FAILS, 0, 0},
    {"id_as_text", FAILS, 0, 0},
    {"id_is_null", FAILS, 0, 0},
    {"no_id", FAILS, 0, 0},
    {"result_and_error", FAILS, 0, 0},
    {"neither_result_nor_error", FAILS, 0, 0},
    {"result_is_a_number", FAILS, 0, 0},
    {"error_is_text", FAILS, 0, 0},
    {"error_without_anything", FAILS, 0, 0},
    {"error_with_escape_codes", NEVER, 0, 0},
    {"error_of_a_megabyte", FAILS, 0, 0},
    {"method_is_a_number", FAILS, 0, 0},
    {"request_with_an_object_as_id", FAILS, 0, 0},
    {"not_utf8", FAILS, 0, 0},
    {"nul_bytes", FAILS, 0, 0},
    {"escaped_nul", FAILS, 0, 0},
    {"nested_too_deep", FAILS, 0, 0},
    {"a_million_values", FAILS, 0, 8000},
    {"the_same_key_twice", FAILS, 0, 0},
    {"answers_twice", FINE, 3, 0},
    {"chatty_before_the_answer", FINE, 0, 0},
    {"tool_failed", NEVER, 0, 0},
    {"wants_input", NEVER, 0, 0},
    {"content_is_text", FINE, 0, 0},
    {"content_of_nonsense", FINE, 0, 0},
    {"late_by_a_second", FINE, 3, 0},
    {"http/behaves", FINE, 3, 0},
    {"http/answers_404", NEVER, 0, 0},
    {"http/answers_500", FAILS, 0, 0},
    {"http/wants_a_password", NEVER, 0, 0},
    {"http/sends_elsewhere", NEVER, 0, 0},
    {"http/session_too_long", FINE, 0, 0},
    {"http/forgets_the_session", FINE, 0, 0},
    {"http/hangs", FAILS, 0, 0},
    {"http/slow_headers", FAILS, 0, 0},
    {"http/says_html", FAILS, 0, 0},
    {"http/says_nothing", FAILS, 0, 0},
    {"http/not_json", FAILS, 0, 0},
    {"http/body_without_end", FAILS, 0, 0},
    {"http/body_cut_off", FAILS, 0, 0},
    {"http/stream_answers", FINE, 2, 0},
    {"http/stream_stays_open", FINE, 2, 0},
    {"http/stream_without_answer", FAILS, 0, 0},
    {"http/stream_of_comments", FAILS, 0, 0},
    {"http/event_without_end", FAILS, 0, 0},
    {"http/stream_of_nonsense", FAILS, 0, 0},
    {"http/resumes_for_ever", FAILS, 0, 0},
    {"http/retries_in_a_year", FAILS, 0, 0},
    {"http/answers_somebody_else", FAILS, 0, 0},
};

enum { COUNT = sizeof(behaviours) / sizeof(*behaviours) };

static struct {
    atomic_int next, wrong;
    int port;
} world;

static void complain(const char *name, const char *what, const pawl_error *err, int64_t elapsed_ms) {
    fprintf(stderr, "%s: %s after %lld ms: %s\n", name, what, (long long)elapsed_ms, err->text);
    atomic_fetch_add(&world.wrong, 1);
}

static void describe(char text[static TEXT_BYTES], const char *name) {
    if (strncmp(name, "http/", 5) == 0)
        snprintf(text, TEXT_BYTES,
                 "{\"servers\":{\"evil\":{\"url\":\"http://127.0.0.1:%d/%s\",\"allow_private\":true}}}",
                 world.port, name + 5);
    else
        snprintf(text, TEXT_BYTES,
                 "{\"servers\":{\"evil\":{\"command\":[\"python3\",\"%s/tests/mcp/evil_server.py\",\"%s\"],"
                 "\"pins\":{%s}}}}",
                 PAWL_SOURCE_ROOT, name,
                 strcmp(name, "changes_the_tool") == 0
                     ? "\"tool\":\"0000000000000000000000000000000000000000000000000000000000000000\""
                     : "");
}

static bool as_expected(int expected, pawl_status status) {
    bool permanent = status == PAWL_INVALID || status == PAWL_NOT_FOUND;
    return (expected == FINE && status == PAWL_OK) || (expected == NEVER && permanent) ||
           (expected == CHANGED && status == PAWL_CONFLICT) ||
           (expected == FAILS && (status == PAWL_UNAVAILABLE || permanent));
}

static void try_one(int at) {
    const char *name = behaviours[at].name;
    struct tools *tools = NULL;
    struct arena *arena = arena_create(0);
    const struct tree *arguments = NULL;
    char text[TEXT_BYTES];
    pawl_error err = {0};
    describe(text, name);
    if (arena == NULL || tools_create("evil", &tools, &err) != PAWL_OK ||
        tools_add_text(tools, str_from(text), "test", &err) != PAWL_OK ||
        tree_parse(arena, STR("{}"), NULL, &arguments, &err) != PAWL_OK) {
        complain(name, "not set up", &err, 0);
        tools_free(tools);
        arena_free(arena);
        return;
    }
    int calls = behaviours[at].calls > 0 ? behaviours[at].calls : 1;
    int64_t limit_ms = behaviours[at].deadline_ms > 0 ? behaviours[at].deadline_ms : DEADLINE_MS;
    for (int i = 1; i <= calls; i++) {
        struct tool_answer answer = {0};
        int64_t began_ms = clock_boot_ms();
        bool late = strcmp(name, "late_by_a_second") == 0 && i == 2;
        struct tool_call call = {.uses = STR("evil.tool"),
                                 .arguments = arguments,
                                 .deadline_ms = began_ms + (late ? 700 : limit_ms)};
        pawl_status status = tools_call(tools, &call, arena, &answer, &err);
        int64_t elapsed_ms = clock_boot_ms() - began_ms;
        if (elapsed_ms > limit_ms + LATE_MS)
            complain(name, "back too late", &err, elapsed_ms);
        if (i == calls && !as_expected(behaviours[at].expected, status))
            complain(name, pawl_status_name(status), &err, elapsed_ms);
        const struct tree *said = status == PAWL_OK ? tree_get_cstr(answer.output, "text") : NULL;
        if (i == calls && said != NULL && said->text.len > 0 && !str_equal_cstr(said->text, "fine") &&
            !str_equal_cstr(said->text, "first"))
            complain(name, "the wrong answer", &err, elapsed_ms);
    }
    tools_free(tools);
    arena_free(arena);
}

static void *try_some(void *self) {
    for (int at; (at = atomic_fetch_add(&world.next, 1)) < COUNT;)
        try_one(at);
    return self;
}

static void try_all(void) {
    pthread_t threads[THREADS];
    atomic_store(&world.next, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, try_some, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void start_http(struct launcher *launcher, struct child *child) {
    static char python[] = "/usr/bin/python3", script[] = PAWL_SOURCE_ROOT "/tests/mcp/evil_server.py",
                http[] = "--http";
    static char *const argv[] = {python, script, http, NULL};
    struct child_request request = {argv, NULL, 0, NULL};
    pawl_error err;
    assert_int_equal(child_start(launcher, &request, child, &err), PAWL_OK);
    struct pollfd ready = {child->out_fd, POLLIN, 0};
    assert_int_equal(poll(&ready, 1, 20000), 1);
    char text[32] = "";
    assert_true(read(child->out_fd, text, sizeof(text) - 1) > 0);
    world.port = (int)strtol(text, NULL, 10);
    assert_true(world.port > 0);
}

/* covers: J11 J43 J45 */
TEST(everything_is_contained) {
    const char *rounds_text = getenv("PAWL_EVIL_ROUNDS");
    int rounds = rounds_text != NULL ? (int)strtol(rounds_text, NULL, 10) : 1;
    struct launcher *launcher = NULL;
    struct child child;
    pawl_error err;
    size_t before = 0;
    struct orphan_others others;
    assert_true(orphan_adopt(&others));
    assert_int_equal(launcher_create("evil-http", LAUNCHER_OWN_THREAD, &launcher, &err), PAWL_OK);
    start_http(launcher, &child);
    for (int round = 1; round <= rounds; round++) {
        try_all();
        malloc_trim(0);
        size_t used = mallinfo2().uordblks + mallinfo2().hblkhd;
        if (rounds > 1)
            fprintf(stderr, "round %d: %zu bytes in use\n", round, used);
        if (round == 2)
            before = used;
    }
    child_end(&child, 2000);
    assert_int_equal(atomic_load(&world.wrong), 0);
#ifndef __SANITIZE_ADDRESS__
    if (rounds > 2) {
        size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
        assert_true(after < before + 65536);
    }
#else
    (void)before;
#endif
    /* Descendants that a server left behind came to us when they were killed; nobody is alive. */
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
        continue;
    assert_true(reaped == -1 && errno == ECHILD);
    launcher_free(launcher);
}

int main(void) {
    assert(COUNT >= 90);
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_contained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
