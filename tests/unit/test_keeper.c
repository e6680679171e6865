/* Children of a keeper are known to whoever sweeps orphans from their first moment to their last. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "process/keeper.h"

enum { CHILDREN = 300 };

struct watch {
    struct keeper *keeper;
    atomic_bool ended;
    atomic_int strangers;
};

/* With the lock held nothing starts or ends: a child that has ended and is not in the table was never there.
 */
static void *watch_main(void *self) {
    struct watch *watch = self;
    while (!atomic_load(&watch->ended)) {
        struct orphan_keep keep;
        siginfo_t info = {0};
        keeper_lock(watch->keeper, &keep);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
            bool known = false;
            for (size_t i = 0; i < keep.count; i++)
                known = known || keep.pids[i] == info.si_pid;
            if (!known)
                atomic_fetch_add(&watch->strangers, 1);
        }
        keeper_unlock(watch->keeper);
    }
    return NULL;
}

TEST(test_a_sweep_knows_a_child_that_just_started) {
    struct watch watch = {0};
    pthread_t thread;
    char program[] = "/bin/true", *argv[] = {program, NULL};
    struct child_request request = {.argv = argv};
    int wrong = 0;
    assert_int_equal(keeper_create("test", KEEPER_OWN_THREAD, &watch.keeper, NULL), PAWL_OK);
    assert_int_equal(pthread_create(&thread, NULL, watch_main, &watch), 0);
    for (int i = 0; i < CHILDREN; i++) {
        struct child child = {0};
        assert_int_equal(child_start(watch.keeper, &request, &child, NULL), PAWL_OK);
        struct child_exit end = child_end(watch.keeper, &child, 10000);
        wrong += !end.exited || end.status != 0;
    }
    atomic_store(&watch.ended, true);
    pthread_join(thread, NULL);
    keeper_free(watch.keeper);
    assert_int_equal(atomic_load(&watch.strangers), 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sweep_knows_a_child_that_just_started)};
    return cmocka_run_group_tests_name("keeper", tests, NULL, NULL);
}
