/* Schedule rules: once, at an interval, or by cron; and what happens to missed ticks. */
#ifndef DOMAIN_TIME_SCHEDULE_H
#define DOMAIN_TIME_SCHEDULE_H

#include "base/limits.h"
#include "domain/time/cron.h"
#include "domain/time/zone.h"
#include "pawl.h"

enum schedule_kind { SCHEDULE_ONCE = 1, SCHEDULE_INTERVAL = 2, SCHEDULE_CRON = 3 };

/* What happens to ticks in the past. */
enum schedule_missed {
    SCHEDULE_MISSED_ONE = 0,  /* the latest fires, the others are dropped: the default */
    SCHEDULE_MISSED_SKIP = 1, /* only one that is at most late_ms old fires */
    SCHEDULE_MISSED_ALL = 2,  /* the latest missed_max fire */
};

/* A rule as the user enters it and the store keeps it. Times are milliseconds since 1970 UTC. */
struct schedule_rule {
    enum schedule_kind kind;
    pawl_str cron;       /* SCHEDULE_CRON */
    pawl_str zone;       /* SCHEDULE_CRON; absent = UTC */
    int64_t interval_ms; /* SCHEDULE_INTERVAL: PAWL_SCHEDULE_INTERVAL_MS_MIN … MAX */
    int64_t at_ms;       /* SCHEDULE_ONCE: the tick; SCHEDULE_INTERVAL: a tick to count from */
    int64_t start_ms;    /* no tick before; 0 = no such bound */
    int64_t end_ms;      /* no tick at or after; 0 = no such bound */
    int64_t jitter_ms;   /* a tick's work is due up to this much later; 0 = none */
    enum schedule_missed missed;
    int missed_max; /* SCHEDULE_MISSED_ALL: 1 … PAWL_SCHEDULE_MISSED_MAX; 0 = PAWL_SCHEDULE_MISSED_DEFAULT */
    int64_t late_ms; /* SCHEDULE_MISSED_SKIP; 0 = PAWL_SCHEDULE_LATE_MS_DEFAULT */
};

/* A checked rule, with its zone loaded. Immutable; threads share it. */
struct schedule;

/* zone_dir NULL = the system's tzdata. PAWL_INVALID says which part of the rule is wrong, and why. Copies
 * what it keeps. */
PAWL_MUSTCHECK pawl_status schedule_compile(const struct schedule_rule *rule, const char *zone_dir,
                                            struct schedule **schedule, pawl_error *err);
void schedule_free(struct schedule *schedule); /* takes NULL */

const struct schedule_rule *schedule_rule(const struct schedule *schedule);

/* The first tick after after_ms / the last tick before before_ms, inside start and end; false when there is
 * none. A tick is an instant without jitter: (schedule, tick) is unique. */
PAWL_MUSTCHECK bool schedule_next(const struct schedule *schedule, int64_t after_ms, int64_t *tick_ms);
PAWL_MUSTCHECK bool schedule_previous(const struct schedule *schedule, int64_t before_ms, int64_t *tick_ms);

/* The next count ticks after after_ms into ticks_ms; returns how many there are. */
size_t schedule_preview(const struct schedule *schedule, int64_t after_ms, int64_t *ticks_ms, size_t count);

/* When the work of a tick is due: tick_ms plus 0 … jitter_ms, always the same for the same tick. id is the
 * schedule's. */
int64_t schedule_due_ms(const struct schedule *schedule, const pawl_uuid *id, int64_t tick_ms);

/* Which of the ticks in (after_ms, now_ms] fire, and when to look again. */
struct schedule_fires {
    int64_t ticks_ms[PAWL_SCHEDULE_MISSED_MAX]; /* ascending */
    size_t count;
    uint64_t dropped;   /* ticks that the policy drops, counted up to PAWL_SCHEDULE_COUNT_MAX */
    int64_t handled_ms; /* the next call's after_ms */
    bool ended;         /* there are no ticks after now_ms */
    int64_t next_ms;    /* unless ended: the next tick */
};

/* after_ms: the last tick that was handled, or the moment the schedule was made or resumed. The policy for
 * missed ticks decides. A single tick that is at most late_ms old fires under every policy: it could not have
 * fired earlier. */
void schedule_fires(const struct schedule *schedule, int64_t after_ms, int64_t now_ms,
                    struct schedule_fires *fires);

#endif
