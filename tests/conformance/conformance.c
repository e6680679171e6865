/* One suite, run against the store named on the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/backend.h"
#include "conformance/harness.h"
#include "conformance/harness_run.h"
#include "support/pgserver.h"

extern const struct conf_group conf_instance, conf_lane, conf_put, conf_claim, conf_order, conf_report,
    conf_expiry, conf_dead, conf_dedupe, conf_batch, conf_receptor, conf_checkpoint, conf_view, conf_maintain,
    conf_rollup, conf_series, conf_input, conf_two, conf_wake, conf_relay, conf_random, conf_events,
    conf_perspective, conf_jobs, conf_jobs_end, conf_jobs_keyed, conf_jobs_lost, conf_jobs_task, conf_runs,
    conf_runs_fan, conf_alerts, conf_event_receptor, conf_advance, conf_rebuild, conf_grants, conf_pause,
    conf_deploy, conf_attempt;

static const struct conf_group *const groups[] = {
    &conf_instance,   &conf_lane,           &conf_put,         &conf_claim,    &conf_order,
    &conf_report,     &conf_expiry,         &conf_dead,        &conf_dedupe,   &conf_batch,
    &conf_receptor,   &conf_checkpoint,     &conf_view,        &conf_maintain, &conf_rollup,
    &conf_series,     &conf_input,          &conf_two,         &conf_wake,     &conf_relay,
    &conf_random,     &conf_events,         &conf_perspective, &conf_jobs,     &conf_jobs_end,
    &conf_jobs_keyed, &conf_jobs_lost,      &conf_jobs_task,   &conf_runs,     &conf_runs_fan,
    &conf_alerts,     &conf_event_receptor, &conf_advance,     &conf_rebuild,  &conf_grants,
    &conf_pause,      &conf_deploy,         &conf_attempt,
};

static bool wanted(const struct conf_group *group, int count, char **patterns) {
    for (int i = 0; i < count; i++) {
        if (patterns[i][0] == '@' && strncmp(group->name, patterns[i] + 1, strlen(patterns[i] + 1)) == 0)
            return true;
    }
    return count == 0 || patterns[0][0] != '@';
}

/* conformance STORE [PATTERN]…: a PATTERN is a test name with * and ?, or @ and the beginning of a group's
 * name; of the latter there may be several. */
int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s sqlite|postgres|pgbouncer [PATTERN]...\n", argv[0]);
        return 2;
    }
    struct backend *backend = backend_start(argv[1]);
    if (backend == NULL)
        return PGSERVER_SKIP;
    conf_choose(backend);
    if (argc > 2 && argv[2][0] != '@')
        cmocka_set_test_filter(argv[2]);
    int failed = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (wanted(groups[i], argc - 2, argv + 2))
            failed +=
                _cmocka_run_group_tests(groups[i]->name, groups[i]->tests, groups[i]->count, NULL, NULL);
    backend_stop(backend);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
