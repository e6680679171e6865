/* Programs in the worker's loop: what is looked at right before one is started. */
#include "support/check.h"

#include <stdlib.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "engine/runtime/runtime.h"

/* A worker that is stopped between the decision and the fork must not begin anything when it comes back.
 * covers: B4.14 */
TEST(no_program_is_started_after_the_fence) {
    pawl_error err = {0};
    struct handler_table *table = NULL;
    struct process process = {0};
    struct launcher *launcher = NULL;
    int failed_slot = -1;
    int64_t failed_wait_ms = 7;
    struct item item = {.kind = KIND_OUTBOX, .type = STR("t"), .payload = STR("{}"), .attempt = 1};
    const struct item *items[] = {&item};
    assert_int_equal(handler_table_create(&table, &err), PAWL_OK);
    assert_int_equal(handler_table_add_spec(table, STR("*=exec:/bin/true"), &err), PAWL_OK);
    assert_int_equal(launcher_create("test", LAUNCHER_CALLER, &launcher, &err), PAWL_OK);
    struct runtime runtime = {.launcher = launcher,
                              .config = {.handlers = table},
                              .processes = &process,
                              .failed_slots = &failed_slot,
                              .failed_waits_ms = &failed_wait_ms};
    struct engine_run run = {.handler = 0, .items = items, .count = 1, .fence_ms = clock_boot_ms()};
    runtime_process_start(&runtime, 0, &run);
    assert_int_equal(process.child.pid, 0);
    assert_int_equal(runtime.live_processes, 0);
    assert_int_equal(runtime.failed_count, 1);
    assert_int_equal(failed_slot, 0);
    assert_int_equal(failed_wait_ms, 0); /* no failure: it has not run */
    launcher_free(launcher);
    handler_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_program_is_started_after_the_fence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
