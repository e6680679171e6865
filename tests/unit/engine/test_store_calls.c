/* Tests of the calls a worker makes to its store: what a beat says when something beside it fails,
 * and what becomes of a duty's turn. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "engine/runtime/store_thread.h"
#include "support/check.h"
#include "support/sqlitefile.h"

static struct call *beat(struct store_thread *thread, const struct grants_settle *known) {
    struct call *call = call_new(CALL_BEAT);
    assert_non_null(call);
    call->instance = (struct instance_new){.id = thread->instance, .kinds = KIND_BITS_ALL};
    call->known[CHANNEL_MESSAGES] = known;
    store_call_run(thread, call);
    return call;
}

/* The lease has been extended by then: to count the beat as failed would end with a worker that fences
 * itself. */
static void a_beat_counts_even_when_the_grants_cannot_be_compared(void **state) {
    const struct sqlitefile *file = *state;
    sqlitefile_migrate(file->path);
    struct store_thread thread = {.config = sqlitefile_config(file->path)};
    struct call *call = call_new(CALL_REGISTER);
    call->instance = (struct instance_new){
        .id = {{1}}, .service = STR("orders"), .host = STR("host"), .pid = 1, .kinds = KIND_BITS_ALL};
    store_call_run(&thread, call);
    assert_int_equal(call->status, PAWL_OK);
    call_free(call);

    struct grants_settle known = {.instance = thread.instance, .side = (enum grant_side)7};
    call = beat(&thread, &known); /* the store refuses to compare */
    assert_int_equal(call->status, PAWL_OK);
    assert_true(call->beat.lease_until_ms > call->beat.now_ms);
    assert_false(call->has_settled[CHANNEL_MESSAGES]);
    call_free(call);

    known.side = GRANTS_MESSAGES;
    call = beat(&thread, &known);
    assert_int_equal(call->status, PAWL_OK);
    assert_true(call->has_settled[CHANNEL_MESSAGES]);
    call_free(call);

    pawl_error err = {0};
    assert_int_equal(thread.store->ops->core.instance_evict(thread.store, thread.instance, &err), PAWL_OK);
    call = beat(&thread, &known);
    assert_int_equal(call->status, PAWL_STALE);
    call_free(call);
    store_close(thread.store);
}

/* A duty of a broker: each turn fails, with or without the store's being at fault. */
struct broken {
    bool elsewhere;
    int64_t token; /* of the last turn */
    int sessions_closed;
};

static pawl_status failing_turn(void *self, struct duty_turn *turn, pawl_error *err) {
    struct broken *broken = self;
    turn->elsewhere = broken->elsewhere;
    broken->token = turn->token;
    return error_set(err, PAWL_UNAVAILABLE, "test", "no connection");
}

static void close_session(void *self, struct duty_turn *turn) {
    struct broken *broken = self;
    broken->sessions_closed++;
    broken->token = turn->token;
}

static void give_turn(struct store_thread *thread, struct duty_work *work, struct duty_order order) {
    struct call *call = call_new(CALL_DUTY);
    assert_non_null(call);
    call->instance.id = thread->instance;
    call->work = work;
    call->order = order;
    store_call_run(thread, call);
    assert_int_equal(call->status, order.leave ? PAWL_OK : PAWL_UNAVAILABLE);
    call_free(call);
}

static void only_a_failure_of_the_store_closes_its_handle(void **state) {
    const struct sqlitefile *file = *state;
    sqlitefile_migrate(file->path);
    struct store_thread thread = {.config = sqlitefile_config(file->path), .of_duties = true};
    struct broken broken = {.elsewhere = true};
    const struct duty duty = {.rule = {.name = "broken"}, .run = failing_turn, .self = &broken};
    struct duty_work work = {.duty = &duty};
    give_turn(&thread, &work, (struct duty_order){0});
    assert_non_null(thread.store);
    broken.elsewhere = false;
    give_turn(&thread, &work, (struct duty_order){0});
    assert_null(thread.store);
}

/* Its lease is another's by now: it is not given back, and not used any more. */
static void a_duty_whose_lease_is_lost_closes_its_session(void **state) {
    const struct sqlitefile *file = *state;
    struct store_thread thread = {.config = sqlitefile_config(file->path), .of_duties = true};
    struct broken broken = {.token = 7};
    const struct duty duty = {.rule = {.name = "broken", .lease_ms = 1},
                              .run = failing_turn,
                              .leave = close_session,
                              .self = &broken};
    struct duty_work work = {.duty = &duty, .grant = {.held = true, .token = 7}};
    give_turn(&thread, &work, (struct duty_order){.leave = true, .lost = true});
    assert_int_equal(broken.sessions_closed, 1);
    assert_int_equal(broken.token, 0);
    assert_false(work.grant.held);
    assert_null(thread.store); /* it needs none */
}

/* Without a thread for it, a turn is answered all the same, as a failure. */
static void a_turn_that_is_refused_has_failed(void **state) {
    (void)state;
    struct store_thread thread = {.wake_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct broken broken = {0};
    const struct duty duty = {.rule = {.name = "broken"}, .run = failing_turn, .self = &broken};
    struct duty_work work = {.duty = &duty};
    struct call *call = call_new(CALL_DUTY);
    assert_non_null(call);
    call->work = &work;
    pawl_error error = {0};
    error_set(&error, PAWL_NO_MEMORY, "test", "no thread");
    store_thread_refuse(&thread, call, &error);
    assert_int_equal(thread.calls, 1);
    assert_ptr_equal(store_thread_take(&thread), call);
    assert_int_equal(thread.calls, 0);
    assert_int_equal(call->status, PAWL_NO_MEMORY);
    assert_true(work.failing);
    call_free(call);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_beat_counts_even_when_the_grants_cannot_be_compared,
                                        sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(only_a_failure_of_the_store_closes_its_handle, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_duty_whose_lease_is_lost_closes_its_session, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test(a_turn_that_is_refused_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
