/* Firing due schedules: reads those whose time has come and passes their instants to the store. */
#ifndef WORK_SCHEDULE_DUTY_H
#define WORK_SCHEDULE_DUTY_H

#include "domain/time/schedule.h"
#include "store/store.h"

enum { SCHEDULE_DUTY_MAX = 100 /* schedules of one round */ };

struct schedule_duty_result {
    int64_t fired;                         /* jobs created */
    int64_t faulty;                        /* schedules that cannot be computed */
    char fault[256];                       /* the first of them, and why */
    int64_t refused;                       /* schedules whose task lacks a scope, or an agent */
    char refusal[PAWL_NAME_BYTES_MAX + 1]; /* the first of them */
};

/* Any number of instances may call it at once: an instant fires only once. */
PAWL_MUSTCHECK pawl_status schedule_duty(struct store *store, struct schedule_duty_result *result,
                                         pawl_error *err);

/* For how long, at most most_ms, nothing can become due by itself: 0 if there are unfinished jobs, or more
 * schedules than one round reads. */
PAWL_MUSTCHECK pawl_status schedule_free_ms(struct store *store, int64_t most_ms, int64_t *free_ms,
                                            pawl_error *err);

/* The rule of a stored schedule. Texts are borrowed. PAWL_INVALID: it cannot be parsed. */
PAWL_MUSTCHECK pawl_status schedule_rule_of(const struct job_schedule *in, struct schedule_rule *rule,
                                            pawl_error *err);

/* The first instant of a new schedule. PAWL_INVALID: it cannot be parsed, or has no instant from now_ms (the
 * store's clock) on. */
PAWL_MUSTCHECK pawl_status schedule_first(const struct job_schedule *in, int64_t now_ms, int64_t *first_ms,
                                          pawl_error *err);

/* 2026-01-02T03:04:05Z, with or without milliseconds and offset, or milliseconds since 1970. */
PAWL_MUSTCHECK bool schedule_parse_instant(pawl_str text, int64_t *instant_ms);

#endif
