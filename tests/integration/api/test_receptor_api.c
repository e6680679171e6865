/* A receptor on events through the public API alone: registered, appended to, handled by a C function. */
#include <stdatomic.h>
#include <time.h>

#include "integration/postgres/postgres_fixture.h"
#include "pawl_events.h"
#include "support/beside.h"
#include "support/sqlitefile.h"

enum { EVENTS = 40, WAIT_MS = 60000 };

struct story {
    atomic_int now[EVENTS + 1], all[EVENTS + 1]; /* by the number in the payload: how often it was done */
    atomic_int done, failed;
};

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

static int number_of(const pawl_message *message) {
    char text[32];
    int number = 0;
    snprintf(text, sizeof text, "%.*s", STR_ARG(message->payload));
    assert_int_equal(sscanf(text, "{\"n\":%d}", &number), 1);
    return number;
}

/* Of every third event the first attempt fails. */
static pawl_outcome see_now(const pawl_message *message, pawl_result *result, void *self) {
    struct story *story = self;
    int number = number_of(message);
    if (message->attempt == 1 && number % 3 == 0) {
        snprintf(result->error, sizeof result->error, "not yet");
        result->retry_after_ms = 10;
        atomic_fetch_add(&story->failed, 1);
        return PAWL_RETRY;
    }
    assert_true(str_equal(message->stream, STR("s")));
    assert_true(str_equal(message->consumer, STR("event:now")));
    atomic_fetch_add(&story->now[number], 1);
    atomic_fetch_add(&story->done, 1);
    return PAWL_DONE;
}

static pawl_outcome see_all(const pawl_message *message, pawl_result *result, void *self) {
    struct story *story = self;
    (void)result;
    atomic_fetch_add(&story->all[number_of(message)], 1);
    atomic_fetch_add(&story->done, 1);
    return PAWL_DONE;
}

static void append(pawl_store *store, int first, int last) {
    pawl_error err = {0};
    for (int n = first; n <= last; n++) {
        char payload[32];
        pawl_appended at;
        snprintf(payload, sizeof payload, "{\"n\":%d}", n);
        pawl_event event = {.type = n % 2 == 0 ? STR("Paid") : STR("Moved"), .payload = str_from(payload)};
        must(pawl_append(store, STR("s"), PAWL_ANY_VERSION, &event, 1, &at, &err), &err);
    }
}

/* covers: W27 */
static void tell(const char *url) {
    static const char *const patterns[] = {"exact:Paid", "Moved"}, *const others[] = {"x"};
    pawl_store_config config = {.url = url};
    pawl_receptor now = {.name = "now", .patterns = patterns, .pattern_count = 2};
    struct story story = {.done = 0};
    pawl_store *store = NULL;
    pawl_error err = {0};
    must(pawl_migrate(&config, &err), &err);
    must(pawl_open(&config, &store, &err), &err);
    append(store, 1, 10);
    must(pawl_receptor_register(store, &now, &err), &err);
    must(pawl_receptor_register(store, &now, &err), &err); /* the same again */
    now.patterns = others;
    now.pattern_count = 1;
    assert_int_equal(pawl_receptor_register(store, &now, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "replace"));
    assert_int_equal(pawl_receptor_remove(store, "absent", &err), PAWL_NOT_FOUND);

    pawl_worker_config worker_config = {.store = config, .inbox = true, .poll_ms = 20};
    pawl_handler handlers[2] = {{.function = see_now, .self = &story, .receptor = "now"},
                                {.function = see_all, .self = &story, .receptor = "all", .from_start = true}};
    pawl_worker *worker = NULL;
    struct beside beside;
    must(pawl_worker_create(&worker_config, &worker, &err), &err);
    must(pawl_worker_on(worker, "event:", &handlers[0], &err), &err);
    must(pawl_worker_on(worker, "event:*", &handlers[1], &err), &err);
    beside_start(&beside, worker);
    append(store, 11, EVENTS);
    for (int64_t waited_ms = 0; atomic_load(&story.done) < 2 * EVENTS - 10 && waited_ms < WAIT_MS;
         waited_ms += 20)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    beside_stop(&beside);
    pawl_worker_free(worker);
    must(pawl_receptor_remove(store, "all", &err), &err);
    pawl_close(store);
    for (int n = 1; n <= EVENTS; n++) {
        assert_int_equal(atomic_load(&story.all[n]), 1);
        assert_int_equal(atomic_load(&story.now[n]), n > 10 ? 1 : 0);
    }
    assert_int_equal(atomic_load(&story.failed), 10);
}

static void a_c_receptor_on_sqlite(void **state) {
    struct sqlitefile *file = *state;
    tell(file->path);
}

static void a_c_receptor_on_postgres(void **state) {
    struct fixture *f = *state;
    tell(f->url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_c_receptor_on_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_c_receptor_on_postgres, fixture_setup, fixture_teardown),
    };
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
