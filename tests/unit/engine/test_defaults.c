/* A worker made with the API and one started by the program have the same defaults. */
#include "support/check.h"

#include "base/arena.h"
#include "base/options/options.h"
#include "engine/worker_config.h"

static const char *no_environment(void *self, const char *name) {
    (void)self;
    (void)name;
    return NULL;
}

TEST(zero_in_the_api_is_the_option_s_default) {
    struct arena *arena = arena_create(0);
    struct options options;
    struct engine_config engine;
    pawl_error err;
    char *argv[] = {(char[]){"pawl"}};
    struct options_input input = {.argc = 1, .argv = argv, .getenv = no_environment};
    assert_int_equal(options_parse(arena, &input, &options, &err), PAWL_OK);
    pawl_worker_config config = {.store.url = "pawl.db"};
    assert_int_equal(worker_config_read(&config, &engine, &err), PAWL_OK);
    const struct {
        enum option_id option;
        int64_t api;
    } pairs[] = {
        {OPTION_BATCH, engine.batch},
        {OPTION_LEASE, engine.lease_ms},
        {OPTION_HEARTBEAT, engine.heartbeat_ms},
        {OPTION_POLL, engine.poll_ms},
        {OPTION_JOB_LEASE, engine.job_lease_ms},
        {OPTION_CLEANUP_INTERVAL, engine.cleanup_ms},
        {OPTION_IDLE_POLLS, engine.idle_polls},
        {OPTION_MAX_PARTITIONS, engine.instance.max_partitions},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (options_number(&options, pairs[i].option) != pairs[i].api)
            fail_msg("%s: %lld in the program, %lld in the API", option_rows[pairs[i].option].name,
                     (long long)options_number(&options, pairs[i].option), (long long)pairs[i].api);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(zero_in_the_api_is_the_option_s_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
