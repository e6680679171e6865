/* The worker at work: one loop that feeds the core with events and carries out what it decides. */
#ifndef ENGINE_RUNTIME_RUNTIME_H
#define ENGINE_RUNTIME_RUNTIME_H

#include "base/log.h"
#include "engine/core/core.h"
#include "engine/runtime/pool.h"
#include "engine/runtime/store_thread.h"
#include "handler/table.h"
#include "handler/tools/tools.h"
#include "process/orphan.h"
#include "process/process.h"
#include "work/receptors/feed.h"

enum { RUNTIME_LAUNCHERS_MAX = 8 };

/* What jobs need besides what all work needs; borrowed, as all texts are. */
struct runtime_jobs {
    struct tools *tools;
    const char *const *env; /* names that ${env.NAME} of pipelines may use */
    size_t env_count;
    int64_t timeout_ms; /* of one execution of a pipeline; 0 = none */
};

/* Each has a store handle of its own, so that none waits for another. */
enum runtime_thread {
    THREAD_CONTROL = 0,
    THREAD_WORK,
    THREAD_CLAIMS,
    THREAD_JOBS,
    THREAD_PERSPECTIVES,
    THREAD_COUNT
};

/* The duties of the configuration, and the threads on which they have their turns. */
struct runtime_duties {
    struct duty_work *works;    /* by duty */
    struct store_thread **last; /* by duty: where it had its last turn; NULL = none yet */
    struct store_thread **threads;
    size_t thread_count;
    stop_flag stop; /* of the turns */
};

/* What a worker is made of; texts are borrowed for as long as the runtime lives. */
struct runtime_config {
    struct engine_config engine; /* handlers, match and seed are filled in by the runtime */
    struct store_config store;
    struct handler_table *handlers;
    struct runtime_jobs jobs;
    struct perspectives *perspectives; /* NULL: none are served */
    struct receptor_feed *feed;        /* NULL: there is none; asked before the worker is called idle */
    struct launcher *launchers[RUNTIME_LAUNCHERS_MAX]; /* other starters of programs besides the runtime */
    size_t launcher_count;
    struct observer *observer; /* NULL: nothing is noted */
    bool own_process;
    bool (*ready)(void *self);
    void (*on_started)(void *self);
    void (*on_idle)(void *self);
    void (*on_tick)(void *self, const pawl_metrics *metrics);
    void *self;
    struct log log;
};

enum runtime_fd { FD_WAKE = 1, FD_TIMER, FD_SIGNAL, FD_PID, FD_OUT, FD_ERR, FD_WAKER };

struct runtime {
    struct runtime_config config;
    struct engine_core *core;
    struct engine_actions actions;
    struct engine_handler *rules;
    struct pool *pool; /* separate, because a stuck thread may keep them */
    struct store_thread *threads[THREAD_COUNT];
    struct runtime_duties duties;
    struct shared_store shared;            /* of the running jobs */
    struct pipeline_world_of_worker world; /* likewise */
    int64_t unmatched_ms;                  /* when it was last told that nothing here fits a job */
    int schedule_failures;
    struct bundle *bundles;       /* by slot */
    struct launcher *launcher;    /* of the programs of messages */
    struct process *processes;    /* by slot */
    int64_t *process_timeouts_ms; /* by slot */
    struct observed *observed;    /* by slot: what its program works on */
    int epoll_fd, wake_fd, timer_fd, signal_fd;
    int live_processes;
    bool ran_programs;
    bool troubled; /* a program cannot be started */
    int64_t trouble_until_ms[CHANNEL_COUNT];
    struct orphan_others others; /* children of this process that are not ours */
    int64_t core_timer_ms, sweep_ms, tick_ms;
    unsigned left_kinds;      /* not claimed for now */
    int64_t audit_number;     /* the anchor of the audit that was logged last */
    bool ready_inline;        /* a check that can be answered without a call */
    int *failed_slots;        /* whose program could not be started; as many as there are slots */
    int64_t *failed_waits_ms; /* how long its message is to wait; 0 = it was too late to start it */
    size_t failed_count;
    struct bundle ended; /* the results of a bundle while its slot is already given new work */
    struct call *held;   /* batches whose memory the core still uses */
    struct store_waker *waker;
    enum { WAKER_CLOSED = 0, WAKER_OPENING, WAKER_TESTING, WAKER_WORKS } waker_state;
    int64_t waker_due_ms; /* when closed: open it; when tested: it has failed */
    struct {
        bool messages;                                       /* the core has nothing, and finds nothing */
        enum { IDLE_UNSAID = 0, IDLE_BUSY, IDLE_IDLE } said; /* what the user was told last */
        enum { IDLE_LOOK = 0, IDLE_ASKED, IDLE_SETTLE } step;
        int64_t ask_ms, wait_ms; /* when to ask, not before; since when longer and longer */
        int unanswered;          /* questions: only the answer to the last one counts */
        struct work_left left;
    } idle;
    bool exiting, forced;
    bool left_behind; /* a thread has not returned and goes on with what it uses */
    pawl_status exit_status;
    pawl_error exit_error;
    int64_t logged_ms, batch_sums[4];
    atomic_int stops;
    int stops_seen;
    pthread_mutex_t metrics_lock;
    pawl_metrics metrics;
};

/* The config is copied. PAWL_INVALID: without a handler there is nothing to do. */
PAWL_MUSTCHECK pawl_status runtime_create(const struct runtime_config *config, struct runtime **runtime,
                                          pawl_error *err);
PAWL_MUSTCHECK pawl_status runtime_run(struct runtime *runtime, bool *forced, pawl_error *err);
void runtime_stop(struct runtime *runtime); /* any thread, any signal handler */
void runtime_metrics(struct runtime *runtime, pawl_metrics *metrics);
void runtime_free(struct runtime *runtime); /* takes NULL */

/* Messages and jobs that have ended since the start. */
int64_t runtime_done(struct runtime *runtime);

void runtime_thread_init(struct runtime *runtime, struct store_thread *thread);

/* runtime_duties.c */
PAWL_MUSTCHECK pawl_status runtime_duties_open(struct runtime *runtime, pawl_error *err);
/* Gives a turn to the duty of call->order. Without any thread for it, the turn has failed. */
void runtime_duty(struct runtime *runtime, struct call *call);
void runtime_duties_answered(struct runtime *runtime);
/* Ends the threads. False: one is stuck and was abandoned, together with what its duty uses. */
PAWL_MUSTCHECK bool runtime_duties_close(struct runtime *runtime, int64_t wait_ms);
void runtime_duties_free(struct runtime *runtime);

/* runtime_actions.c */
void runtime_step(struct runtime *runtime, struct engine_event event);
void runtime_ask_control(struct runtime *runtime, enum call_type type);
void runtime_ask_cancel(struct runtime *runtime, const struct pause_rows *rows);

/* runtime_answers.c */
void runtime_take_answers(struct runtime *runtime, struct store_thread *thread);

/* runtime_process.c */
void runtime_process_start(struct runtime *runtime, int slot, const struct engine_run *run);
void runtime_process_cancel(struct runtime *runtime, int slot, enum stop_reason reason);
void runtime_process_event(struct runtime *runtime, enum runtime_fd type, int slot);
void runtime_process_tick(struct runtime *runtime, int64_t now_ms);
int64_t runtime_process_due_ms(const struct runtime *runtime);
void runtime_process_trouble(struct runtime *runtime);
void runtime_process_end_all(struct runtime *runtime);

/* runtime_waker.c */
void runtime_waker_opened(struct runtime *runtime, struct call *call);
void runtime_waker_readable(struct runtime *runtime);
void runtime_waker_tick(struct runtime *runtime, int64_t now_ms);
void runtime_waker_close(struct runtime *runtime, int64_t retry_ms);

/* runtime_jobs.c */
PAWL_MUSTCHECK pawl_status runtime_jobs_open(struct runtime *runtime, pawl_error *err);
void runtime_jobs_close(struct runtime *runtime);
bool runtime_serves_jobs(const struct runtime *runtime);
int runtime_jobs_match(struct runtime *runtime, const struct job *job);
void runtime_jobs_bundle(struct runtime *runtime, struct bundle *bundle, const struct engine_run *run);
void runtime_jobs_progress(struct runtime *runtime, struct bundle *bundle);
void runtime_jobs_fired(struct runtime *runtime, const struct call *call);
pawl_job_metrics runtime_jobs_metrics(const struct engine_job_metrics *now);
void runtime_jobs_summary(struct runtime *runtime);

/* runtime_idle.c */
void runtime_idle_started(struct runtime *runtime);                         /* there is work */
void runtime_idle_answer(struct runtime *runtime, const struct call *call); /* of CALL_LEFT */
void runtime_idle_sync(struct runtime *runtime);                            /* once per turn of the loop */
int64_t runtime_idle_due_ms(const struct runtime *runtime);

/* runtime_log.c */
void runtime_log(struct runtime *runtime, const struct engine_action *action);
void runtime_log_flush(struct runtime *runtime, int64_t now_ms);

#endif
