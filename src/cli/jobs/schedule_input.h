/* Schedules from the command line. */
#ifndef CLI_JOBS_SCHEDULE_INPUT_H
#define CLI_JOBS_SCHEDULE_INPUT_H

#include "cli/cli.h"
#include "work/schedule_duty.h"

#define SCHEDULE_FLAGS                                                                                       \
    (FLAG(CRON) | FLAG(EVERY) | FLAG(AT) | FLAG(ZONE) | FLAG(MISSED) | FLAG(OVERLAP) | FLAG(JITTER) |        \
     FLAG(START) | FLAG(END))

/* What the flags say; *given is false when there is none of --cron, --every and --at. PAWL_INVALID says what
 * is wrong: the expression, the zone, a time. */
PAWL_MUSTCHECK pawl_status schedule_input_read(struct cli *cli, struct job_schedule *schedule, bool *given,
                                               pawl_error *err);

#endif
