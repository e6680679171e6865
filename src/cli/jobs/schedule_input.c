/* Schedules from the command line. */
#include "cli/jobs/schedule_input.h"

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

static pawl_status read_instant(struct cli *cli, enum flag_id id, int64_t *instant_ms, pawl_error *err) {
    const struct flag_value *flag = cli_flag(cli, id);
    if (!flag->set || schedule_parse_instant(flag->text, instant_ms))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "schedule",
                     "--%s \"%.*s\" is not a time such as 2026-01-02T03:04:05Z", flag_rows[id].name,
                     STR_ARG(flag->text));
}

static pawl_status compile(const struct job_schedule *schedule, struct schedule **compiled, pawl_error *err) {
    struct schedule_rule rule;
    pawl_status status = schedule_rule_of(schedule, &rule, err);
    return status == PAWL_OK ? schedule_compile(&rule, NULL, compiled, err) : status;
}

pawl_status schedule_input_read(struct cli *cli, struct job_schedule *schedule, bool *given,
                                pawl_error *err) {
    const struct flag_value *cron = cli_flag(cli, FLAG_CRON), *every = cli_flag(cli, FLAG_EVERY),
                            *at = cli_flag(cli, FLAG_AT);
    const struct flag_value *missed = cli_flag(cli, FLAG_MISSED), *overlap = cli_flag(cli, FLAG_OVERLAP);
    static const enum flag_id details[] = {FLAG_ZONE,   FLAG_MISSED, FLAG_OVERLAP,
                                           FLAG_JITTER, FLAG_START,  FLAG_END};
    int kinds = cron->set + every->set + at->set;
    *given = kinds == 1;
    for (size_t i = 0; kinds == 0 && i < sizeof details / sizeof *details; i++) {
        if (cli_flag(cli, details[i])->set)
            return error_set(err, PAWL_INVALID, "schedule", "--%s needs one of --cron, --every and --at",
                             flag_rows[details[i]].name);
    }
    if (kinds == 0)
        return PAWL_OK;
    if (kinds > 1)
        return error_set(err, PAWL_INVALID, "schedule", "give one of --cron, --every and --at");
    *schedule =
        (struct job_schedule){.kind = cron->set    ? JOB_SCHEDULE_CRON
                                      : every->set ? JOB_SCHEDULE_INTERVAL
                                                   : JOB_SCHEDULE_AT,
                              .expr = cron->set    ? cron->text
                                      : every->set ? every->text
                                                   : at->text,
                              .zone = cli_flag(cli, FLAG_ZONE)->text,
                              .missed = missed->set ? (enum missed_policy)(missed->number + 1) : MISSED_ONE,
                              .missed_max = PAWL_SCHEDULE_MISSED_DEFAULT,
                              .overlap = overlap->set ? (enum overlap)(overlap->number + 1) : OVERLAP_ALLOW,
                              .jitter_ms = cli_flag(cli, FLAG_JITTER)->number};
    pawl_status status = read_instant(cli, FLAG_START, &schedule->start_ms, err);
    if (status == PAWL_OK)
        status = read_instant(cli, FLAG_END, &schedule->end_ms, err);
    return status == PAWL_OK ? schedule_first(schedule, cli->output.now_ms, &schedule->next_ms, err) : status;
}

pawl_status schedule_input_put(struct cli *cli, struct job_schedule *schedule, pawl_error *err) {
    struct schedule *compiled = NULL;
    struct put_answer answer = {0};
    pawl_status status = compile(schedule, &compiled, err);
    if (status != PAWL_OK)
        return status;
    /* The store's clock: output.now_ms is read from it when the database is opened. */
    if (schedule->paused || !schedule_next(compiled, cli->output.now_ms - 1, &schedule->next_ms))
        schedule->next_ms = 0;
    schedule_free(compiled);
    status = cli->store->ops->jobs->schedule_put(cli->store, schedule, &answer, err);
    if (status == PAWL_OK && answer.answer != ANSWER_APPLIED)
        status = error_set(
            err, answer.answer == ANSWER_NOT_FOUND ? PAWL_NOT_FOUND : PAWL_CONFLICT, "schedule",
            answer.answer == ANSWER_NOT_FOUND ? "there is no such task"
                                              : "the schedule was changed by someone else in the meantime");
    return status;
}
