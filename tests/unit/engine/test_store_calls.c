/* Tests of the calls a worker makes to its store: what a beat says when something beside it fails. */
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_beat_counts_even_when_the_grants_cannot_be_compared,
                                        sqlitefile_setup, sqlitefile_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
