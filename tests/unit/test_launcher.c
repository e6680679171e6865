/* Children of a launcher are known to the sweep of orphans from their first moment to their last. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "process/launcher.h"

enum { CHILDREN = 300 };

struct watch {
    struct launcher *launcher;
    atomic_bool ended;
    atomic_int strangers;
};

/* With the lock held nothing starts or ends: a child that has ended and is not in the table was never there.
 */
static void *watch_main(void *self) {
    struct watch *watch = self;
    while (!atomic_load(&watch->ended)) {
        siginfo_t info = {0};
        launcher_lock(watch->launcher);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
            if (!launcher_has_child(watch->launcher, info.si_pid))
                atomic_fetch_add(&watch->strangers, 1);
        }
        launcher_unlock(watch->launcher);
    }
    return NULL;
}

TEST(test_a_sweep_knows_a_child_that_just_started) {
    struct watch watch = {0};
    pthread_t thread;
    char program[] = "/bin/true", *argv[] = {program, NULL};
    struct child_request request = {.argv = argv};
    int wrong = 0;
    assert_int_equal(launcher_create("test", LAUNCHER_OWN_THREAD, &watch.launcher, NULL), PAWL_OK);
    assert_int_equal(pthread_create(&thread, NULL, watch_main, &watch), 0);
    for (int i = 0; i < CHILDREN; i++) {
        struct child child = {0};
        assert_int_equal(child_start(watch.launcher, &request, &child, NULL), PAWL_OK);
        struct child_exit end = child_end(&child, 10000);
        wrong += !end.exited || end.status != 0;
    }
    atomic_store(&watch.ended, true);
    pthread_join(thread, NULL);
    launcher_free(watch.launcher);
    assert_int_equal(atomic_load(&watch.strangers), 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sweep_knows_a_child_that_just_started)};
    return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
