/* The worker through the public API alone: a check of the user's, and more workers than connections. */
#include "support/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "conformance/pooler.h"
#include "pawl_jobs.h"
#include "support/beside.h"
#include "support/pgserver.h"
#include "support/sqlitefile.h"

enum { WAIT_MS_MAX = 60000, CREW = 12, CREW_MESSAGES = 600, CREW_STREAMS = 30 };

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

static void send_messages(const char *url, int count, int streams) {
    pawl_store_config config = {.url = url};
    pawl_store *store = NULL;
    pawl_error err = {0};
    assert_int_equal(pawl_open(&config, &store, &err), PAWL_OK);
    for (int i = 0; i < count; i++) {
        char stream[32], payload[32];
        snprintf(stream, sizeof(stream), "s-%d", i % streams);
        snprintf(payload, sizeof(payload), "{\"n\": %d}", i);
        pawl_outgoing message = {
            .stream = str_from(stream), .type = STR("test.sent"), .payload = str_from(payload)};
        pawl_status status = pawl_send(store, &(pawl_send_config){0}, &message, 1, NULL, &err);
        if (status != PAWL_OK)
            fail_msg("send: %s", err.text);
    }
    pawl_close(store);
}

struct door {
    atomic_bool open;
    atomic_int asked, handled;
};

static bool is_open(void *self) {
    struct door *door = self;
    atomic_fetch_add(&door->asked, 1);
    return atomic_load(&door->open);
}

static pawl_outcome handle(const pawl_message *message, pawl_result *result, void *self) {
    struct door *door = self;
    (void)message;
    (void)result;
    atomic_fetch_add(&door->handled, 1);
    return PAWL_DONE;
}

/* Whoever embeds the worker says when it may work; what waits is taken as soon as it may.
 * covers: P36 */
static void a_check_of_the_users_decides_when_it_works(void **fixture) {
    struct sqlitefile *file = *fixture;
    struct door door = {0};
    pawl_worker *worker = NULL;
    struct beside beside;
    pawl_error err = {0};
    pawl_store_config store = {.url = file->path};
    pawl_metrics metrics = {0};
    assert_int_equal(pawl_migrate(&store, &err), PAWL_OK);
    send_messages(file->path, 3, 3);
    pawl_worker_config config = {
        .store = store, .outbox = true, .poll_ms = 20, .ready = is_open, .self = &door};
    assert_int_equal(pawl_worker_create(&config, &worker, &err), PAWL_OK);
    pawl_handler handler = {.function = handle, .self = &door};
    assert_int_equal(pawl_worker_on(worker, "*", &handler, &err), PAWL_OK);
    beside_start(&beside, worker);
    int64_t until_ms = clock_boot_ms() + WAIT_MS_MAX;
    while (metrics.not_ready_checks < 4 && clock_boot_ms() < until_ms) {
        nap();
        pawl_worker_metrics(worker, &metrics);
    }
    assert_true(metrics.not_ready_checks >= 4);
    assert_int_equal(metrics.batches, 0);
    assert_int_equal(atomic_load(&door.handled), 0);
    atomic_store(&door.open, true);
    while (metrics.completed < 3 && clock_boot_ms() < until_ms) {
        nap();
        pawl_worker_metrics(worker, &metrics);
    }
    assert_int_equal(metrics.completed, 3);
    assert_int_equal(metrics.not_ready_checks, 0);
    int asked = atomic_load(&door.asked);
    atomic_store(&door.open, false); /* and it may be taken away again */
    while (metrics.not_ready_checks < 1 && clock_boot_ms() < until_ms) {
        nap();
        pawl_worker_metrics(worker, &metrics);
    }
    assert_true(metrics.not_ready_checks >= 1 && atomic_load(&door.asked) > asked);
    beside_stop(&beside);
    pawl_worker_free(worker);
}

/* Of a job: tells its attempt, and fails until the third has seen what the second told. */
static pawl_outcome tell_progress(const pawl_message *message, pawl_result *result, void *self) {
    atomic_int *wrong = self;
    char said[16], expected[16];
    snprintf(said, sizeof(said), "%d", message->attempt);
    snprintf(expected, sizeof(expected), "%d", message->attempt - 1);
    bool first = message->attempt == 1;
    if (first ? !str_absent(message->progress) : !str_equal_cstr(message->progress, expected))
        atomic_fetch_add(wrong, 1);
    if (!pawl_progress(message, STR("\"not the last\"")) || !pawl_progress(message, str_from(said)))
        atomic_fetch_add(wrong, 1);
    result->retry_after_ms = 1;
    return message->attempt == 3 ? PAWL_DONE : PAWL_RETRY;
}

static void the_last_progress_reaches_the_next_attempt(const char *url) {
    enum { JOBS = 5 };
    atomic_int wrong = 0;
    pawl_worker *worker = NULL;
    pawl_store *opened = NULL;
    struct beside beside;
    pawl_error err = {0};
    pawl_store_config store = {.url = url};
    pawl_metrics metrics = {0};
    pawl_job jobs[JOBS] = {0};
    int64_t ids[JOBS];
    for (int i = 0; i < JOBS; i++)
        jobs[i] = (pawl_job){.type = STR("tell"), .payload = STR("{}")};
    assert_int_equal(pawl_migrate(&store, &err), PAWL_OK);
    assert_int_equal(pawl_open(&store, &opened, &err), PAWL_OK);
    assert_int_equal(pawl_enqueue(opened, jobs, JOBS, (pawl_uuid){{0}}, ids, &err), PAWL_OK);
    pawl_close(opened);
    pawl_worker_config config = {.store = store, .jobs = true, .poll_ms = 20};
    assert_int_equal(pawl_worker_create(&config, &worker, &err), PAWL_OK);
    pawl_handler handler = {.function = tell_progress, .self = &wrong};
    assert_int_equal(pawl_worker_on(worker, "*", &handler, &err), PAWL_OK);
    beside_start(&beside, worker);
    for (int64_t until_ms = clock_boot_ms() + WAIT_MS_MAX;
         metrics.jobs.succeeded < JOBS && clock_boot_ms() < until_ms; nap())
        pawl_worker_metrics(worker, &metrics);
    beside_stop(&beside);
    pawl_worker_free(worker);
    assert_int_equal(metrics.jobs.succeeded, JOBS);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void progress_on_sqlite(void **fixture) {
    struct sqlitefile *file = *fixture;
    the_last_progress_reaches_the_next_attempt(file->path);
}

TEST(progress_on_postgres) {
    char url[PGSERVER_URL_BYTES];
    assert_true(pgserver_create_database("progress", url));
    the_last_progress_reaches_the_next_attempt(url);
    pgserver_drop_database(url);
}

struct crew {
    atomic_int runs[CREW_MESSAGES];
    atomic_int done;
};

static pawl_outcome tally(const pawl_message *message, pawl_result *result, void *self) {
    struct crew *crew = self;
    (void)result;
    char text[32];
    int n = -1;
    snprintf(text, sizeof(text), "%.*s", (int)message->payload.len, message->payload.ptr);
    if (sscanf(text, "{\"n\": %d", &n) != 1 || n < 0 || n >= CREW_MESSAGES)
        return PAWL_REJECT;
    atomic_fetch_add(&crew->runs[n], 1);
    atomic_fetch_add(&crew->done, 1);
    return PAWL_DONE;
}

/* Twelve workers share eight connections: they wait for each other, nothing is lost and nothing runs twice.
 * covers: J58 */
TEST(more_workers_than_connections_do_everything_once) {
    char direct[PGSERVER_URL_BYTES], url[PGSERVER_URL_BYTES];
    struct pooler *pooler = pooler_start(pgserver_url());
    if (pooler == NULL)
        skip();
    assert_true(pgserver_create_database("crowd", direct));
    pooler_address(pooler, direct, url);
    pawl_error err = {0};
    pawl_store_config store = {.url = direct};
    assert_int_equal(pawl_migrate(&store, &err), PAWL_OK);
    send_messages(direct, CREW_MESSAGES, CREW_STREAMS);
    static struct crew crew;
    struct beside besides[CREW];
    for (int i = 0; i < CREW; i++) {
        pawl_worker_config config = {
            .store = {.url = url}, .outbox = true, .poll_ms = 50, .heartbeat_ms = 500};
        pawl_worker *worker = NULL;
        assert_int_equal(pawl_worker_create(&config, &worker, &err), PAWL_OK);
        pawl_handler handler = {.function = tally, .self = &crew};
        assert_int_equal(pawl_worker_on(worker, "*", &handler, &err), PAWL_OK);
        beside_start(&besides[i], worker);
    }
    int64_t until_ms = clock_boot_ms() + WAIT_MS_MAX;
    while (atomic_load(&crew.done) < CREW_MESSAGES && clock_boot_ms() < until_ms)
        nap();
    int64_t completed = 0;
    for (int i = 0; i < CREW; i++) {
        pawl_metrics metrics = {0};
        beside_stop(&besides[i]);
        pawl_worker_metrics(besides[i].worker, &metrics);
        completed += metrics.completed;
        pawl_worker_free(besides[i].worker);
    }
    assert_int_equal(completed, CREW_MESSAGES);
    for (int i = 0; i < CREW_MESSAGES; i++)
        assert_int_equal(atomic_load(&crew.runs[i]), 1);
    pooler_stop(pooler);
    pgserver_drop_database(direct);
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_check_of_the_users_decides_when_it_works, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(progress_on_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test(progress_on_postgres),
        cmocka_unit_test(more_workers_than_connections_do_everything_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
