/* The history checker's records of what must happen once: instants of schedules, pages and fan-ins of runs.
 */
#ifndef SIM_HISTORY_ONCE_H
#define SIM_HISTORY_ONCE_H

#include "sim/history/history.h"
#include "store/runs.h"

enum { HISTORY_INSTANTS_MAX = 16, HISTORY_PARTS_MAX = 4, HISTORY_ROUNDS_MAX = 8 };

struct history_schedule {
    int64_t start_ms, interval_ms;
    int count; /* instants */
    bool all;  /* every instant counts; else only the last one must not be lost */
    bool decided[HISTORY_INSTANTS_MAX];
    bool over; /* the store says that there is no other */
};

/* An instant was answered: fired, or skipped because of an earlier job. */
void history_instant(struct history *h, struct history_schedule *s, int64_t instant_ms,
                     enum store_answer answer);
void history_schedule_end(struct history *h, const struct history_schedule *s);

struct history_part {
    int items; /* that it has in all */
    int generation;
    int64_t page; /* the next one */
    int stored;
    enum part_state state;
};

struct history_run_of_pages {
    int64_t id; /* 0 = not started */
    int parts, page_size;
    bool partial; /* it is consolidated even when a partition failed */
    bool cancelled;
    struct history_part part[HISTORY_PARTS_MAX];
    int64_t fan_job[HISTORY_ROUNDS_MAX]; /* by round */
    int fans_done;
};

/* A page was committed, as the store says. */
void history_page(struct history *h, struct history_run_of_pages *r, const struct page_commit *in,
                  const struct page_result *out);
/* A job that consolidates the run is there. */
void history_fan_in(struct history *h, struct history_run_of_pages *r, int round, int64_t job);
/* What the store shows of the run: while it is open, and at its end. */
void history_run_seen(struct history *h, struct history_run_of_pages *r, const struct run_row *run,
                      const struct partition_list *parts);
void history_run_end(struct history *h, const struct history_run_of_pages *r, const struct run_row *run,
                     const struct stored_items *items);

#endif
