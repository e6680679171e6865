/* Forced interleavings on PostgreSQL: each race of the protocol, stepped into, not waited for. */
#include <stdio.h>

#include "interleave/races.h"

extern const struct races races_claim, races_late, races_events, races_end, races_request, races_handover,
    races_dead, races_jobs, races_runs, races_alerts, races_pause, races_window, races_rotate;

static const struct races *const groups[] = {
    &races_claim,  &races_late,     &races_window, &races_request, &races_pause, &races_end,   &races_events,
    &races_rotate, &races_handover, &races_dead,   &races_jobs,    &races_runs,  &races_alerts};

/* The races of a claim, which are run again with claims that name their lane. */
enum { GROUPS_OF_CLAIMS = 5 };

/* interleave [PATTERN]: PATTERN is a test name with * and ?. */
int main(int argc, char **argv) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    int failed = 0;
    size_t count = getenv("INTERLEAVE_BY_LANE") != NULL ? GROUPS_OF_CLAIMS : sizeof groups / sizeof groups[0];
    for (size_t i = 0; i < count; i++)
        failed += _cmocka_run_group_tests(groups[i]->name, groups[i]->tests, groups[i]->count, NULL, NULL);
    scenes_end();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
