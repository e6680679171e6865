/* A worker that runs in a thread beside the test. */
#include "support/beside.h"

#include "support/check.h"

static void *run(void *self) {
    pawl_error err = {0};
    bool forced = false;
    return pawl_worker_run(self, &forced, &err) == PAWL_OK ? NULL : self;
}

void beside_start(struct beside *beside, pawl_worker *worker) {
    beside->worker = worker;
    assert_int_equal(pthread_create(&beside->thread, NULL, run, worker), 0);
}

void beside_stop(struct beside *beside) {
    void *failed = beside;
    pawl_worker_stop(beside->worker);
    assert_int_equal(pthread_join(beside->thread, &failed), 0);
    assert_null(failed);
}
