/* Schedules from the command line. */
#include "cli/jobs/schedule_input.h"

#include "base/error.h"
#include "cli/front.h"
#include "operations/tasks.h"

pawl_status schedule_input_read(struct cli *cli, struct job_schedule *schedule, bool *given,
                                pawl_error *err) {
    static const enum flag_id details[] = {FLAG_ZONE,   FLAG_MISSED, FLAG_OVERLAP,
                                           FLAG_JITTER, FLAG_START,  FLAG_END};
    struct request request = front_request(cli);
    *given = cli_flag(cli, FLAG_CRON)->set || cli_flag(cli, FLAG_EVERY)->set || cli_flag(cli, FLAG_AT)->set;
    for (size_t i = 0; !*given && i < sizeof details / sizeof *details; i++) {
        if (cli_flag(cli, details[i])->set)
            return error_set(err, PAWL_INVALID, "schedule", "--%s needs one of --cron, --every and --at",
                             flag_rows[details[i]].name);
    }
    pawl_status status = *given ? schedule_from(&request, schedule, err) : PAWL_OK;
    return status == PAWL_OK && *given ? schedule_first(schedule, cli->output.now_ms, &schedule->next_ms, err)
                                       : status;
}
