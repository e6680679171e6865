/* A running step of a pipeline, in its own thread. */
#ifndef WORK_PIPELINE_TASK_H
#define WORK_PIPELINE_TASK_H

#include <pthread.h>

#include "domain/pipeline/pipeline.h"
#include "work/pipeline/run.h"

struct pipeline_task {
    const struct pipeline_run_in *in;
    const struct pipeline_step *planned;
    pthread_mutex_t *lock; /* guards ended */
    pthread_cond_t *ended_signal;
    size_t step, item;
    struct arena *arena; /* memory of its own */
    const struct tree *with;
    pthread_t thread;
    bool busy, ended;
    /* its result, once it has ended */
    pawl_status status;
    pawl_error error;
    const struct tree *output;
    int64_t retry_after_ms, duration_ms;
    bool not_started; /* a program cannot be started here; nothing was tried */
    int attempts;
};

/* Starts the thread; 0 or an errno. The thread calls the tool until it succeeds, gives up or is cancelled,
 * and then reports that it has ended. */
int pipeline_task_start(struct pipeline_task *task);

#endif
