/* The kinds of work beside messages: what the world knows of each, and what happens to it. */
#ifndef SIM_KINDS_KINDS_H
#define SIM_KINDS_KINDS_H

#include "engine/core/duties.h"
#include "sim/history/jobs.h"
#include "sim/history/once.h"
#include "sim/kinds/events.h"
#include "sim/world/queue.h"
#include "work/job_result.h"

struct world;
struct worker;
struct wire;
struct wire_call;

enum {
    KINDS_KEYS_MAX = 4,
    KINDS_SCHEDULES_MAX = 2,
    KINDS_RUNS_MAX = 2,
    KINDS_OWN = KINDS_KEYS_MAX,                   /* keys and unique keys of schedules */
    KINDS_RUNS = KINDS_OWN + KINDS_SCHEDULES_MAX, /* keys of runs */
    KINDS_SIGNALS = 3,
    KINDS_RECEIVED_MAX = 12,
    SIM_DUTY_LEASE_MS = 700
};

/* The duties of a worker besides those that its core knows. */
enum sim_duty { SIM_DUTY_SUBSCRIPTION = 0, SIM_DUTY_FEED, SIM_DUTY_COUNT };

enum sim_job_kind { SIM_JOB_PLAIN, SIM_JOB_PAGE, SIM_JOB_FAN };

/* What a job will do; drawn when it is first heard of. */
struct sim_job {
    bool known;
    enum sim_job_kind kind;
    int run;    /* of a page or a fan-in */
    int nature; /* enum nature */
    int fails_left, snoozes_left, waits_left;
    int signal;      /* the one it waits for */
    int64_t wait_ms; /* at most; -1 = no end */
};

struct sim_schedule {
    struct history_schedule history;
    enum overlap overlap;
};

struct sim_run {
    struct history_run_of_pages history;
    int concurrency;
};

/* What a broker has for a subscription, and who reads it, as far as the checker knows. */
struct sim_subscription {
    int first, count; /* messages */
    bool acknowledged[KINDS_RECEIVED_MAX];
    int64_t token, lease_until_ms;
    int instance;
};

/* What the checker knew when the store was kept. */
struct sim_failover {
    bool kept;
    struct history_jobs jobs;
    struct sim_schedule schedules[KINDS_SCHEDULES_MAX];
};

/* A page that a slot works on. */
struct sim_page {
    const struct job *job;
    pawl_uuid instance;
    int slot;
    uint64_t number;
    int64_t offset;
};

struct kinds {
    struct history_jobs jobs;
    struct sim_job *job_rows; /* by id */
    size_t job_capacity;
    int jobs_left, calls_open; /* unanswered calls of outside callers */
    int failing;               /* jobs that do not go well at once */
    struct sim_schedule schedules[KINDS_SCHEDULES_MAX];
    struct sim_run runs[KINDS_RUNS_MAX];
    int runs_left; /* to be started */
    struct sim_events events;
    struct sim_subscription subscription;
    struct sim_failover failover;
    struct history_share share; /* of a flood */
};

/* What a run of this seed has besides messages. */
struct swarm_kinds {
    int jobs, keys, schedules, runs;
    int received;  /* messages that a broker delivers */
    bool flood;    /* more messages and jobs than one worker can do, and nothing goes wrong */
    bool failover; /* the store goes back in time; there is nothing but schedules then */
    bool events, receptors;
    bool bad_events;  /* some cannot be applied */
    bool skip_events; /* which are then left out; else they stop the stream */
    int key_limit[KINDS_KEYS_MAX], key_weight[KINDS_KEYS_MAX];
    bool key_rated[KINDS_KEYS_MAX];
};

void kinds_begin(struct world *world);
/* The duties of a worker in this world, at most SIM_DUTY_COUNT; returns how many. */
size_t kinds_duties(const struct world *world, struct duty *duties);
size_t kinds_duty(const struct world *world, enum sim_duty duty); /* its number in the core */
void kinds_turn(struct world *world, int index, const struct duty_order *order);
void kinds_free(struct world *world);
/* After the faults: whether everything has ended. */
bool kinds_drained(struct world *world);
void kinds_check_end(struct world *world);
void kinds_operate(struct world *world);
/* How much longer than a world without them it may take to drain. */
int64_t kinds_bound_ms(const struct world *world);
/* An instance has deregistered. */
void kinds_left(struct world *world, int instance);

/* Jobs that the store made by itself are told to the checker before anything else is said of them. */
void kinds_meet_jobs(struct world *world, const struct job_list *list);
void kinds_meet_rows(struct world *world, const struct job_rows *rows);

/* jobs.c */
extern const struct wire_call jobs_enqueue_call, jobs_finish_call, jobs_renew_call;
/* The answer to an outside caller, which repeats its call until it gets one. */
void outside_reply(struct world *world, struct wire *wire);
void sim_jobs_begin(struct world *world);
void sim_jobs_operate(struct world *world);
void sim_jobs_seen(struct world *world, bool last);
struct sim_job *sim_job(struct world *world, int64_t id);
/* Tells the checker of what a call granted. */
void sim_jobs_tell_grants(struct world *world, const struct job_list *list, int instance);

/* schedules.c */
extern const struct wire_call schedule_fire_call;
void sim_schedules_begin(struct world *world);
void sim_schedules_turn(struct world *world, int index); /* of the duty that fires them */
bool sim_schedules_drained(const struct world *world);
void sim_schedules_end(struct world *world);

/* subscription.c */
extern const struct wire_call duty_take_call, receive_call;
void sim_subscription_begin(struct world *world);
void sim_subscription_turn(struct world *world, int index, const struct duty_order *order);
bool sim_subscription_drained(const struct world *world);

/* failover.c */
void sim_failover_begin(struct world *world);
void sim_failover_free(struct world *world);

/* runs.c */
extern const struct wire_call page_begin_call, page_commit_call;
void sim_runs_begin(struct world *world);
void sim_runs_meet(struct world *world, const struct job *job);
void sim_page_begin(struct world *world, int index, const struct sim_page *page);
void sim_page_commit(struct world *world, int index, const struct sim_page *page);
void sim_runs_operate(struct world *world);
bool sim_runs_drained(struct world *world);
void sim_runs_end(struct world *world);

/* jobs_worker.c: the worker's calls for jobs. */
struct swarm;
struct engine_action;
struct engine_handler;
void job_handlers(const struct swarm *swarm, struct engine_handler *handlers);
int job_match(void *self, const struct job *job);
void job_call(struct world *world, int index, const struct engine_action *action);

/* jobs_slot.c: their handlers. */
struct job_slot;
struct job_slot *job_slots_new(int count);
void job_slots_free(struct job_slot *slots, int count);
void job_slot_start(struct world *world, int index, const struct engine_action *action);
void job_slot_cancel(struct world *world, int index, int slot, int reason);
void job_slots_die(struct world *world, int index);
/* The store answered for the page in the slot; end DONE: it is to be fetched from that offset on. */
void job_slot_page(struct world *world, int index, int slot, uint64_t number, enum job_end end,
                   int64_t offset);

#endif
