/* Firing what is due: reads the schedules whose time has come and hands their instants to the store. */
#ifndef WORK_SCHEDULE_DUTY_H
#define WORK_SCHEDULE_DUTY_H

#include "domain/time/schedule.h"
#include "store/store.h"

enum { SCHEDULE_DUTY_MAX = 100 /* schedules of one round */ };

struct schedule_duty_result {
    int64_t fired;                         /* jobs made */
    int64_t faulty;                        /* schedules that cannot be computed */
    char fault[256];                       /* the first of them, and why */
    int64_t refused;                       /* schedules whose task lacks a scope, or an agent */
    char refusal[PAWL_NAME_BYTES_MAX + 1]; /* the first of them */
};

/* Safe to do by any number of instances at once: an instant fires once. */
PAWL_MUSTCHECK pawl_status schedule_duty(struct store *store, struct schedule_duty_result *result,
                                         pawl_error *err);

/* How long, at most most_ms, nothing can become due by itself: 0 when there are jobs that are not over, or
 * more schedules than one look takes. */
PAWL_MUSTCHECK pawl_status schedule_free_ms(struct store *store, int64_t most_ms, int64_t *free_ms,
                                            pawl_error *err);

/* The rule of a schedule as the store has it. Texts are borrowed. PAWL_INVALID: it cannot be read. */
PAWL_MUSTCHECK pawl_status schedule_rule_of(const struct job_schedule *in, struct schedule_rule *rule,
                                            pawl_error *err);

/* The first instant of a schedule that is about to be entered. PAWL_INVALID: it cannot be read, or there is
 * none from now_ms (the store's clock) on. */
PAWL_MUSTCHECK pawl_status schedule_first(const struct job_schedule *in, int64_t now_ms, int64_t *first_ms,
                                          pawl_error *err);

/* 2026-01-02T03:04:05Z, with or without milliseconds and offset, or milliseconds since 1970. */
PAWL_MUSTCHECK bool schedule_parse_instant(pawl_str text, int64_t *instant_ms);

#endif
