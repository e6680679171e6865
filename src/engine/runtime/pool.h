/* Threads that run what is not a program started for a message, whole bundles at a time: C functions, kept
 * programs, endpoints, brokers, and jobs. */
#ifndef ENGINE_RUNTIME_POOL_H
#define ENGINE_RUNTIME_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/core/core.h"
#include "handler/message.h"
#include "handler/table.h"
#include "work/observe.h"
#include "work/perspective/perspective.h"
#include "work/pipeline/run.h"

struct pool;

/* What one slot is given, and what came of it. The pool owns it from pool_start until it is in pool_take's
 * list. */
struct bundle {
    struct run_handle handle; /* first: functions get a pointer to it */
    struct pool *pool;
    int slot;
    const struct handler *handler; /* NULL: a pipeline, what belongs to a run, or a perspective's stream */
    struct observer *observer;     /* NULL: nothing is noted */
    const struct item *items[ENGINE_BUNDLE_MAX];
    int groups[ENGINE_BUNDLE_MAX];
    size_t count;
    int64_t fence_ms;
    atomic_bool asked[ENGINE_BUNDLE_MAX]; /* by message: a person wants it to end */
    struct engine_outcome outcomes[ENGINE_BUNDLE_MAX];
    char *errors[ENGINE_BUNDLE_MAX]; /* owned; after the outcomes' texts */
    int64_t elapsed_us;
    const struct checkpoint_grant *checkpoint; /* NULL: messages or jobs */
    struct perspectives *perspectives;
    /* Jobs, when jobs[0] is not NULL. */
    const struct job *jobs[ENGINE_BUNDLE_CALLS];
    const struct pipeline_world_of_worker *world;
    pawl_uuid instance;
    int64_t deadline_ms, timeout_ms, claimed_ms, lease_ms;
    size_t at;             /* the one that runs now */
    bool refused_progress; /* of that one, in this attempt */
    struct job_result_in results[ENGINE_BUNDLE_CALLS];
    bool running; /* the loop's own: given to the pool, and not taken back yet */
    /* Shared under the pool's lock. */
    bool progressed;
    struct {
        char *text; /* owned; the last one told, not yet passed on */
        size_t len;
    } progress[ENGINE_BUNDLE_CALLS];
    struct bundle *next;
};

void bundle_clear(struct bundle *bundle);
enum outcome_type runtime_outcome(enum handler_outcome outcome);

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct bundle *todo_head, *todo_tail;
    struct bundle *done;
    pthread_t *threads;
    int thread_count, threads_max, idle, busy;
    bool closing;
    int wake_fd; /* written when `done` stops being empty */
};

PAWL_MUSTCHECK pawl_status pool_open(struct pool *pool, int threads_max, int wake_fd, pawl_error *err);

/* Ends the threads; threads is NULL afterwards. False: one is stuck in a handler and was abandoned,
 * together with what it uses. */
bool pool_close(struct pool *pool, int64_t wait_ms);

PAWL_MUSTCHECK pawl_status pool_start(struct pool *pool, struct bundle *bundle, pawl_error *err);

/* Everything that has ended since the last call, as a list. */
struct bundle *pool_take(struct pool *pool);

/* job_run.c: runs jobs, in the calling thread. */
void job_bundle_run(struct bundle *bundle);

#endif
