/* A thread with its own store handle: calls go in, answers come out, the loop never waits. */
#ifndef ENGINE_RUNTIME_STORE_THREAD_H
#define ENGINE_RUNTIME_STORE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/core/core.h"
#include "store/store.h"
#include "work/duty.h"
#include "work/observe.h"
#include "work/perspective/perspective.h"
#include "work/schedule_duty.h"

enum call_type {
    CALL_READY,
    CALL_REGISTER,
    CALL_BEAT,
    CALL_LOOK,
    CALL_LEFT,
    CALL_MAINTAIN,
    CALL_BATCH,
    CALL_CLAIM,
    CALL_REPORT,
    CALL_JOBS_FINISH,
    CALL_JOBS_RENEW,
    CALL_JOBS_FREE,
    CALL_SCHEDULES,
    CALL_DUTY,
    CALL_EXCHANGE,
    CALL_DEREGISTER,
    CALL_WAIT_BEGIN,
    CALL_WAIT_END,
    CALL_WAKE,
    CALL_CANCEL_END,
    CALL_WAKER_OPEN
};

/* What the turns of a duty share; only the thread that has its turn touches the grant. */
struct duty_work {
    const struct duty *duty;
    const stop_flag *stop;
    struct duty_grant grant; /* of its lease */
    bool lengthy;            /* its next turn, although it is brief */
    bool failing;            /* and that was logged */
};

/* One call and its answer. The caller of store_thread_take owns it: call_free. */
struct call {
    enum call_type type;
    struct call *next, *prev;
    /* in */
    const struct work_batch *batch; /* stays as it is until the answer is taken */
    struct instance_new instance;
    struct engine_report report;
    pawl_uuid message;                                /* cancel_end */
    int64_t processed;                                /* beat */
    bool full, brief;                                 /* beat */
    const struct grants_settle *known[CHANNEL_COUNT]; /* beat; stay as they are until the answer is taken */
    const struct jobs_finish *finish;                 /* likewise */
    const struct jobs_renew *renew;
    const struct perspectives_exchange *exchange;
    int64_t rest_ms;         /* jobs_free: the longest */
    struct duty_work *work;  /* duty */
    struct duty_order order; /* likewise; schedules and maintain: only which duty it is */
    /* out */
    pawl_status status;
    pawl_error error;
    struct arena *arena; /* after result */
    struct work_batch_result result;
    struct instance_grant grant;
    struct settings settings;
    bool many_writers;            /* register */
    struct durability durability; /* register; in the arena */
    struct beat_result beat;
    struct grants_settled settled[CHANNEL_COUNT];
    bool has_settled[CHANNEL_COUNT];
    struct finish_result finished;
    struct renew_result renewed;
    int64_t free_ms; /* jobs_free */
    struct perspectives_answer exchanged;
    struct schedule_duty_result fired;
    struct peers_look look;
    pawl_str queue;            /* left: in; absent = any */
    struct work_left left;     /* left: out */
    struct pause_rows pauses;  /* beat and register; in the arena */
    struct engine_peers peers; /* beat */
    enum store_answer answer;
    enum fail_outcome fate;
    bool late;                 /* wait_begin */
    bool held;                 /* duty: its lease */
    int64_t next_ms;           /* duty, maintain: until the next turn; -1 = its period */
    struct audit_head head;    /* maintain, deregister: of the audit */
    struct store_waker *waker; /* waker_open; closed by call_free unless it was taken */
};

struct call *call_new(enum call_type type); /* NULL: out of memory */
void call_free(struct call *call);          /* takes NULL */

/* A list of calls whose memory is in use: hold puts one in, release takes it out and frees it. */
void call_hold(struct call **list, struct call *call);
void call_release(struct call **list, struct call *call);

struct store_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct call *todo_head, *todo_tail, *done_head, *done_tail;
    bool closing, closed;
    bool early;     /* connects before it is asked to */
    bool of_duties; /* closes its handle when it has had nothing to do for a while, and ends with no call
                       undone */
    int calls;      /* on their way; the caller's */
    int wake_fd;
    struct store_config config;        /* texts are borrowed */
    struct observer *observer;         /* NULL: nothing is noted */
    struct log *log;                   /* may be NULL */
    struct perspectives *perspectives; /* NULL: none are served */
    bool (*ready)(void *self);         /* a check of the user's; may be NULL */
    void *ready_self;
    atomic_bool open; /* the store answered last time */
    /* only the thread itself touches these */
    struct store *store;
    pawl_uuid instance; /* whose liveness is held; nil = none */
    struct settings settings;
    bool full;        /* what the store knows of the instance, unless it has lost that */
    bool lanes_short; /* at the last beat: maybe it has */
    bool unsettled;   /* the last comparison of grants failed, and that was told */
};

PAWL_MUSTCHECK pawl_status store_thread_open(struct store_thread *thread, pawl_error *err);
/* Lets it end without waiting for that, so that several can end at the same time. */
void store_thread_end(struct store_thread *thread);
/* False: it is stuck in a call and was abandoned, together with what it uses. */
bool store_thread_close(struct store_thread *thread, int64_t wait_ms);

void store_thread_call(struct store_thread *thread, struct call *call);
/* Answers a call that is not carried out: it has failed. */
void store_thread_refuse(struct store_thread *thread, struct call *call, const pawl_error *why);
struct call *store_thread_take(struct store_thread *thread);

/* store_calls.c: carries out one call, or only what comes before the first. */
void store_call_connect(struct store_thread *thread);
void store_call_run(struct store_thread *thread, struct call *call);
void store_call_ended(struct store_thread *thread, const struct call *call); /* what follows every turn */

#endif
