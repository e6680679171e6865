/* Threads that run bundles. */
#include "engine/runtime/pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/message.h"
#include "handler/program_run.h"

void bundle_clear(struct bundle *bundle) {
    for (size_t i = 0; i < bundle->count; i++) {
        free(bundle->errors[i]);
        bundle->errors[i] = NULL;
    }
    for (size_t i = 0; i < ENGINE_BUNDLE_CALLS; i++) {
        free(bundle->progress[i].text);
        bundle->progress[i].text = NULL;
    }
    bundle->count = 0;
}

enum outcome_type runtime_outcome(enum handler_outcome outcome) {
    static const enum outcome_type meant[] = {[HANDLED_NOT_RUN] = OUTCOME_NOT_RUN,
                                              [HANDLED_DONE] = OUTCOME_DONE,
                                              [HANDLED_RETRY] = OUTCOME_RETRY,
                                              [HANDLED_PERMANENT] = OUTCOME_PERMANENT,
                                              [HANDLED_SNOOZE] = OUTCOME_SNOOZE};
    return meant[outcome];
}

static void take_verdict(struct bundle *bundle, size_t at, const struct handler_verdict *verdict) {
    struct engine_outcome *outcome = &bundle->outcomes[at];
    *outcome =
        (struct engine_outcome){.type = runtime_outcome(verdict->outcome), .delay_ms = verdict->delay_ms};
    if (verdict->outcome != HANDLED_RETRY && verdict->outcome != HANDLED_PERMANENT)
        return;
    bundle->errors[at] = strdup(verdict->error);
    outcome->error = str_from(bundle->errors[at]);
}

static void run_one(struct bundle *bundle, size_t at) {
    struct handler_verdict verdict;
    struct observed work;
    const struct item *item = observe_message(bundle->observer, bundle->items[at], &work);
    verdict.delay_ms = -1;
    bundle->handle.asked = &bundle->asked[at];
    if (bundle->handler->kind == HANDLER_FUNCTION)
        function_call(bundle->handler, item, &bundle->handle, &verdict);
    else
        program_message(&(struct message_call){.handler = bundle->handler,
                                               .item = item,
                                               .limits = {.cancel = &bundle->handle.cancel},
                                               .fence_ms = bundle->fence_ms,
                                               .asked = &bundle->asked[at]},
                        &verdict);
    observe_message_end(
        bundle->observer, &work,
        &(struct observed_end){.result = observe_outcome(verdict.outcome), .error = str_from(verdict.error)});
    take_verdict(bundle, at, &verdict);
}

static void run_batch(struct bundle *bundle) {
    struct handler_verdict *verdicts = calloc(bundle->count, sizeof(*verdicts));
    struct handler_batch batch = {.items = bundle->items,
                                  .groups = bundle->groups,
                                  .count = bundle->count,
                                  .fence_ms = bundle->fence_ms,
                                  .cancel = &bundle->handle.cancel,
                                  .run = &bundle->handle,
                                  .observer = bundle->observer,
                                  .verdicts = verdicts};
    static const struct handler_verdict not_run = {.outcome = HANDLED_NOT_RUN};
    if (verdicts != NULL)
        bundle->handler->batch(&batch, bundle->handler->batch_self);
    for (size_t i = 0; i < bundle->count; i++)
        take_verdict(bundle, i, verdicts != NULL ? &verdicts[i] : &not_run);
    free(verdicts);
}

static void run_stream(struct bundle *bundle) {
    struct handler_verdict verdict = {.outcome = HANDLED_NOT_RUN};
    int64_t version = 0;
    if (clock_boot_ms() < bundle->fence_ms)
        perspective_turn(bundle->perspectives, bundle->checkpoint, &bundle->handle.cancel, &verdict,
                         &version);
    take_verdict(bundle, 0, &verdict);
    bundle->outcomes[0].version = version;
}

static void run_bundle(struct bundle *bundle) {
    int64_t began_us = clock_boot_us();
    bool jobs = bundle->jobs[0] != NULL, stream = bundle->checkpoint != NULL;
    if (jobs || stream || bundle->handler->batch != NULL) {
        if (jobs)
            job_bundle_run(bundle);
        else if (stream)
            run_stream(bundle);
        else
            run_batch(bundle);
        bundle->elapsed_us = clock_boot_us() - began_us;
        return;
    }
    int failed_group = -1;
    for (size_t i = 0; i < bundle->count; i++) {
        bundle->outcomes[i] = (struct engine_outcome){.type = OUTCOME_NOT_RUN, .delay_ms = -1};
        bool cancelled = atomic_load_explicit(&bundle->handle.cancel, memory_order_relaxed);
        /* A worker that was stopped for a while may come back to life right here: the lease is asked each
         * time. */
        if (cancelled || bundle->groups[i] == failed_group || clock_boot_ms() >= bundle->fence_ms)
            continue;
        if (!atomic_load_explicit(&bundle->asked[i], memory_order_relaxed))
            run_one(bundle, i);
        if (bundle->outcomes[i].type != OUTCOME_DONE)
            failed_group = bundle->groups[i];
    }
    bundle->elapsed_us = clock_boot_us() - began_us;
}

static void finish(struct pool *pool, struct bundle *bundle) {
    bool first = pool->done == NULL;
    bundle->next = pool->done;
    pool->done = bundle;
    pool->busy--;
    if (first) {
        uint64_t one = 1;
        ssize_t wrote = write(pool->wake_fd, &one, sizeof(one));
        (void)wrote; /* a full counter wakes as well */
    }
}

static void *pool_main(void *self) {
    struct pool *pool = self;
    pthread_mutex_lock(&pool->lock);
    while (true) {
        while (pool->todo_head == NULL && !pool->closing) {
            pool->idle++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->idle--;
        }
        if (pool->todo_head == NULL)
            break;
        struct bundle *bundle = pool->todo_head;
        pool->todo_head = bundle->next;
        if (pool->todo_head == NULL)
            pool->todo_tail = NULL;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        run_bundle(bundle);
        pthread_mutex_lock(&pool->lock);
        finish(pool, bundle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

pawl_status pool_open(struct pool *pool, int threads_max, int wake_fd, pawl_error *err) {
    memset(pool, 0, sizeof(*pool));
    pool->threads = calloc((size_t)threads_max, sizeof(*pool->threads));
    if (pool->threads == NULL)
        return error_no_memory(err, "pool");
    pool->threads_max = threads_max;
    pool->wake_fd = wake_fd;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    return PAWL_OK;
}

pawl_status pool_start(struct pool *pool, struct bundle *bundle, pawl_error *err) {
    bundle->next = NULL;
    bundle->pool = pool;
    pthread_mutex_lock(&pool->lock);
    int queued = 1;
    for (struct bundle *other = pool->todo_head; other != NULL && queued <= pool->idle; other = other->next)
        queued++;
    int code = 0;
    if (queued > pool->idle && pool->thread_count < pool->threads_max) {
        code = pthread_create(&pool->threads[pool->thread_count], NULL, pool_main, pool);
        pool->thread_count += code == 0;
    }
    if (pool->thread_count == 0) {
        pthread_mutex_unlock(&pool->lock);
        return error_errno(err, PAWL_NO_MEMORY, "pool", code, "no thread for a handler");
    }
    if (pool->todo_tail == NULL)
        pool->todo_head = bundle;
    else
        pool->todo_tail->next = bundle;
    pool->todo_tail = bundle;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    return PAWL_OK;
}

struct bundle *pool_take(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    struct bundle *done = pool->done;
    pool->done = NULL;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

bool pool_close(struct pool *pool, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pool->todo_head = NULL;
    pool->todo_tail = NULL;
    pthread_cond_broadcast(&pool->work);
    bool stuck = pool->busy > 0;
    while (stuck && clock_boot_ms() < until_ms) {
        pthread_mutex_unlock(&pool->lock);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        pthread_mutex_lock(&pool->lock);
        stuck = pool->busy > 0;
    }
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++) {
        if (stuck)
            pthread_detach(pool->threads[i]);
        else
            pthread_join(pool->threads[i], NULL);
    }
    if (stuck)
        return false;
    free(pool->threads);
    pool->threads = NULL;
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
    return true;
}
