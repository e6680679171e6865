/* Threads that run handlers which are C functions. */
#include "engine/pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "work/message.h"

enum { SNOOZE_MS_DEFAULT = 1000 };

void bundle_clear(struct bundle *bundle) {
    for (size_t i = 0; i < bundle->count; i++) {
        free(bundle->errors[i]);
        bundle->errors[i] = NULL;
    }
    bundle->count = 0;
}

static void run_one(struct bundle *bundle, size_t at) {
    struct engine_outcome *outcome = &bundle->outcomes[at];
    pawl_result result;
    result.retry_after_ms = -1;
    result.error[0] = '\0';
    pawl_message message = work_message(bundle->items[at]);
    message.run = &bundle->handle;
    pawl_outcome said = bundle->handler->function(&message, &result, bundle->handler->self);
    if (said == PAWL_DONE) {
        outcome->type = OUTCOME_DONE;
        return;
    }
    if (said == PAWL_SNOOZE) {
        outcome->type = OUTCOME_SNOOZE;
        outcome->delay_ms = result.retry_after_ms > 0 ? result.retry_after_ms : SNOOZE_MS_DEFAULT;
        return;
    }
    result.error[sizeof(result.error) - 1] = '\0';
    bundle->errors[at] = strdup(result.error[0] != '\0' ? result.error : "the handler gave no reason");
    outcome->type = said == PAWL_REJECT ? OUTCOME_PERMANENT : OUTCOME_RETRY;
    outcome->error = str_from(bundle->errors[at]);
    outcome->delay_ms = result.retry_after_ms;
}

static void run_batch(struct bundle *bundle) {
    static const enum outcome_type meant[] = {[HANDLED_NOT_RUN] = OUTCOME_NOT_RUN,
                                              [HANDLED_DONE] = OUTCOME_DONE,
                                              [HANDLED_RETRY] = OUTCOME_RETRY,
                                              [HANDLED_PERMANENT] = OUTCOME_PERMANENT,
                                              [HANDLED_SNOOZE] = OUTCOME_SNOOZE};
    struct handler_verdict verdicts[ENGINE_BUNDLE_MAX];
    memset(verdicts, 0, sizeof(verdicts));
    struct handler_batch batch = {bundle->items,    bundle->groups,         bundle->count,
                                  bundle->fence_ms, &bundle->handle.cancel, verdicts};
    bundle->handler->batch(&batch, bundle->handler->self);
    for (size_t i = 0; i < bundle->count; i++) {
        bundle->outcomes[i] =
            (struct engine_outcome){meant[verdicts[i].outcome], {NULL, 0}, verdicts[i].delay_ms};
        if (verdicts[i].outcome != HANDLED_RETRY && verdicts[i].outcome != HANDLED_PERMANENT)
            continue;
        bundle->errors[i] = strdup(verdicts[i].error);
        bundle->outcomes[i].error = str_from(bundle->errors[i]);
    }
}

static void run_bundle(struct bundle *bundle) {
    int64_t began_us = clock_boot_us();
    if (bundle->handler->kind == HANDLER_BATCH) {
        run_batch(bundle);
        bundle->elapsed_us = clock_boot_us() - began_us;
        return;
    }
    int failed_group = -1;
    for (size_t i = 0; i < bundle->count; i++) {
        bundle->outcomes[i] = (struct engine_outcome){OUTCOME_NOT_RUN, {NULL, 0}, -1};
        bool cancelled = atomic_load_explicit(&bundle->handle.cancel, memory_order_relaxed);
        /* A worker that was stopped for a while may come back to life right here: the lease is asked each
         * time. */
        if (cancelled || bundle->groups[i] == failed_group || clock_boot_ms() >= bundle->fence_ms)
            continue;
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
        return error_set(err, PAWL_NO_MEMORY, "pool", "out of memory");
    pool->threads_max = threads_max;
    pool->wake_fd = wake_fd;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    return PAWL_OK;
}

pawl_status pool_start(struct pool *pool, struct bundle *bundle, pawl_error *err) {
    bundle->next = NULL;
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
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
    return true;
}
