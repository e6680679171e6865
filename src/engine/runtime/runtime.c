/* The worker at work: the loop. */
#include "engine/runtime/runtime.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"

enum { TICK_MS = 200, LEFT_MS = 20, LEAVE_MS = 2000, DUTIES_LEAVE_MS = 5000, EVENTS_MAX = 64 };

static int match(void *self, const struct item *item, pawl_str *paused) {
    return handler_table_match_item(((struct runtime *)self)->config.handlers, item, paused);
}

static int match_job(void *self, const struct job *job) { return runtime_jobs_match(self, job); }

static bool watch(struct runtime *runtime, int fd, enum runtime_fd type) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)type << 32};
    return fd >= 0 && epoll_ctl(runtime->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static pawl_status open_fds(struct runtime *runtime, pawl_error *err) {
    runtime->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    runtime->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    runtime->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (runtime->epoll_fd < 0 || !watch(runtime, runtime->wake_fd, FD_WAKE) ||
        !watch(runtime, runtime->timer_fd, FD_TIMER))
        return error_errno(err, PAWL_UNAVAILABLE, "worker", errno, "no descriptors for the loop");
    return PAWL_OK;
}

static pawl_status make_rules(struct runtime *runtime, pawl_error *err) {
    const struct handler_table *table = runtime->config.handlers;
    runtime->rules = calloc(table->count + 2, sizeof(*runtime->rules));
    if (runtime->rules == NULL)
        return error_no_memory(err, "worker");
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        runtime->rules[i] = (struct engine_handler){
            .bundled = (handler->kind == HANDLER_FUNCTION || handler->kept) && handler->batch == NULL,
            .batched = handler->kind == HANDLER_BATCH,
            .concurrency = handler->concurrency,
            /* Receptors and endpoints keep their own time. */
            .timeout_ms = handler->batch == NULL ? handler->timeout_ms : 0,
            .policy = (enum dead_policy)handler->on_dead,
            .max_attempts = handler_table_attempts(table, handler),
            .retry_base_ms = handler->retry_base_ms,
            .retry_max_ms = handler->retry_max_ms,
            .retry_exact = handler->retry_exact,
        };
    }
    /* Then there are jobs that need no handler, and perspectives' streams. */
    struct handler_backoff backoff = handler_table_backoff(table);
    runtime->rules[table->count] = (struct engine_handler){.timeout_ms = runtime->config.jobs.timeout_ms,
                                                           .retry_base_ms = backoff.base_ms,
                                                           .retry_max_ms = backoff.max_ms,
                                                           .retry_exact = table->defaults.retry_exact};
    runtime->config.engine.handlers = runtime->rules;
    runtime->config.engine.handler_count = table->count + 2;
    runtime->config.engine.advance_handler = (int)table->count + 1;
    runtime->config.engine.match = match;
    runtime->config.engine.match_job = match_job;
    runtime->config.engine.match_self = runtime;
    return PAWL_OK;
}

void runtime_thread_init(struct runtime *runtime, struct store_thread *thread) {
    thread->wake_fd = runtime->wake_fd;
    thread->config = runtime->config.store;
    thread->observer = runtime->config.observer;
    thread->log = &runtime->config.log;
    thread->perspectives = runtime->config.perspectives;
}

static pawl_status open_threads(struct runtime *runtime, pawl_error *err) {
    for (int i = 0; i < THREAD_COUNT; i++)
        runtime_thread_init(runtime, runtime->threads[i]);
    /* It registers as soon as the other has seen that the store is there. The rest connect when they are
     * first needed. */
    runtime->threads[THREAD_CONTROL]->early = true;
    runtime->threads[THREAD_WORK]->ready = runtime->config.ready;
    runtime->threads[THREAD_WORK]->ready_self = runtime->config.self;
    return pool_open(runtime->pool, runtime->config.engine.slots, runtime->wake_fd, err);
}

pawl_status runtime_create(const struct runtime_config *config, struct runtime **out, pawl_error *err) {
    if (config->handlers->count == 0 && (config->engine.instance.kinds & KIND_BITS_ALL) != 0)
        return error_set(err, PAWL_INVALID, "worker",
                         "the worker has no handler; add one, for example --on 'order.*=exec:./handle.sh'");
    struct runtime *runtime = calloc(1, sizeof(*runtime));
    if (runtime == NULL)
        return error_no_memory(err, "worker");
    runtime->config = *config;
    runtime->epoll_fd = runtime->wake_fd = runtime->timer_fd = runtime->signal_fd = -1;
    runtime->sweep_ms = runtime->tick_ms = runtime->waker_due_ms = INT64_MAX;
    pthread_mutex_init(&runtime->metrics_lock, NULL);
    size_t slots = (size_t)config->engine.slots;
    runtime->pool = calloc(1, sizeof(*runtime->pool));
    bool threads = true;
    for (int i = 0; i < THREAD_COUNT; i++) {
        runtime->threads[i] = calloc(1, sizeof(**runtime->threads));
        threads = threads && runtime->threads[i] != NULL;
    }
    runtime->bundles = calloc(slots, sizeof(*runtime->bundles));
    runtime->processes = calloc(slots, sizeof(*runtime->processes));
    runtime->process_timeouts_ms = calloc(slots, sizeof(*runtime->process_timeouts_ms));
    runtime->observed = calloc(slots, sizeof(*runtime->observed));
    runtime->failed_slots = calloc(slots, sizeof(*runtime->failed_slots));
    runtime->failed_waits_ms = calloc(slots, sizeof(*runtime->failed_waits_ms));
    pawl_status status = PAWL_OK;
    if (runtime->pool == NULL || !threads || runtime->bundles == NULL || runtime->processes == NULL ||
        runtime->observed == NULL || runtime->process_timeouts_ms == NULL || runtime->failed_slots == NULL ||
        runtime->failed_waits_ms == NULL)
        status = error_no_memory(err, "worker");
    uint64_t seed = 0;
    if (status == PAWL_OK)
        status = random_bytes(&seed, sizeof(seed), err);
    runtime->config.engine.seed = seed;
    char name[24];
    snprintf(name, sizeof(name), "%016llx", (unsigned long long)seed);
    if (status == PAWL_OK)
        status = launcher_create(name, LAUNCHER_CALLER, &runtime->launcher, err);
    if (status == PAWL_OK)
        status = make_rules(runtime, err);
    if (status == PAWL_OK)
        status = open_fds(runtime, err);
    if (status == PAWL_OK)
        status = open_threads(runtime, err);
    if (status == PAWL_OK)
        status = runtime_duties_open(runtime, err);
    if (status == PAWL_OK)
        status = runtime_jobs_open(runtime, err);
    if (status == PAWL_OK) {
        runtime->core = engine_core_create(&runtime->config.engine);
        if (runtime->core == NULL)
            status = error_no_memory(err, "worker");
    }
    if (status != PAWL_OK) {
        runtime_free(runtime);
        return status;
    }
    *out = runtime;
    return PAWL_OK;
}

void runtime_stop(struct runtime *runtime) {
    uint64_t one = 1;
    atomic_fetch_add(&runtime->stops, 1);
    ssize_t wrote = write(runtime->wake_fd, &one, sizeof(one));
    (void)wrote;
}

void runtime_metrics(struct runtime *runtime, pawl_metrics *metrics) {
    pthread_mutex_lock(&runtime->metrics_lock);
    *metrics = runtime->metrics;
    pthread_mutex_unlock(&runtime->metrics_lock);
}

static void publish_metrics(struct runtime *runtime) {
    struct engine_metrics now = engine_metrics(runtime->core);
    pawl_metrics metrics = {
        .not_ready_checks = now.not_ready_checks,
        .empty_polls = now.empty_polls,
        .idle = now.idle,
        .claimed = now.claimed,
        .completed = now.completed,
        .failed = now.failed,
        .dead = now.dead,
        .released = now.released,
        .stale = now.stale,
        .fenced = now.fenced,
        .evictions = now.evictions,
        .batches = now.batches,
        .running = now.running,
        .waiting = now.waiting,
        .pending_completions = now.pending_completions,
        .pending_failures = now.pending_failures,
        .heartbeats = now.heartbeats,
        .jobs = runtime_jobs_metrics(&now.jobs),
    };
    snprintf(metrics.state, sizeof(metrics.state), "%s", engine_state_name(now.state));
    uuid_format(now.instance, metrics.instance);
    pthread_mutex_lock(&runtime->metrics_lock);
    runtime->metrics = metrics;
    pthread_mutex_unlock(&runtime->metrics_lock);
}

int64_t runtime_done(struct runtime *runtime) {
    pawl_metrics metrics;
    runtime_metrics(runtime, &metrics);
    return metrics.completed + metrics.failed + metrics.jobs.processed;
}

/* Before the core's time: what is told goes with the renewal that is due now. */
static void take_progress(struct runtime *runtime) {
    for (int i = 0; i < runtime->config.engine.slots; i++) {
        struct bundle *bundle = &runtime->bundles[i];
        if (bundle->running && bundle->jobs[0] != NULL)
            runtime_jobs_progress(runtime, bundle);
    }
}

static void take_bundles(struct runtime *runtime) {
    for (struct bundle *bundle = pool_take(runtime->pool); bundle != NULL;) {
        struct bundle *next = bundle->next;
        if (bundle->jobs[0] != NULL)
            runtime_jobs_progress(runtime, bundle); /* what was told before an end counts */
        /* The step may give the slot, and with it the bundle, new work: its results move out first. */
        struct bundle *ended = &runtime->ended;
        ended->slot = bundle->slot;
        ended->count = bundle->count;
        memcpy(ended->outcomes, bundle->outcomes, bundle->count * sizeof(*bundle->outcomes));
        memcpy(ended->errors, bundle->errors, bundle->count * sizeof(*bundle->errors));
        memset(bundle->errors, 0, bundle->count * sizeof(*bundle->errors));
        bool jobs = bundle->jobs[0] != NULL;
        if (jobs)
            memcpy(ended->results, bundle->results, bundle->count * sizeof(*bundle->results));
        bundle->running = false;
        struct engine_event event = {.type = EVENT_FINISHED,
                                     .slot = ended->slot,
                                     .outcomes = jobs ? NULL : ended->outcomes,
                                     .results = jobs ? ended->results : NULL,
                                     .count = ended->count,
                                     .elapsed_us = bundle->elapsed_us};
        runtime_step(runtime, event);
        bundle_clear(ended);
        bundle = next;
    }
}

static void take_signal(struct runtime *runtime) {
    struct signalfd_siginfo info;
    while (read(runtime->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        runtime_stop(runtime);
}

static void take_event(struct runtime *runtime, uint64_t data) {
    uint64_t count;
    ssize_t got = 0;
    switch ((enum runtime_fd)(data >> 32)) {
    case FD_WAKE:
        got = read(runtime->wake_fd, &count, sizeof(count));
        break;
    case FD_TIMER:
        got = read(runtime->timer_fd, &count, sizeof(count));
        break;
    case FD_SIGNAL:
        take_signal(runtime);
        break;
    case FD_WAKER:
        runtime_waker_readable(runtime);
        break;
    default:
        runtime_process_event(runtime, (enum runtime_fd)(data >> 32), (int)(uint32_t)data);
        break;
    }
    (void)got;
}

static void arm_timer(struct runtime *runtime) {
    int64_t due_ms = runtime->core_timer_ms;
    int64_t others[] = {runtime_process_due_ms(runtime), runtime->tick_ms, runtime->waker_due_ms,
                        runtime_idle_due_ms(runtime),
                        runtime->left_kinds != 0 ? clock_boot_ms() + LEFT_MS : INT64_MAX};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (others[i] < due_ms)
            due_ms = others[i];
    }
    struct itimerspec when = {0};
    if (due_ms != INT64_MAX) {
        when.it_value.tv_sec = (time_t)(due_ms / 1000);
        when.it_value.tv_nsec = (long)(due_ms % 1000) * 1000000 + 1;
    }
    timerfd_settime(runtime->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static bool works(const struct runtime *runtime) {
    return !runtime->exiting && engine_metrics(runtime->core).works;
}

static void tick_perspectives(struct runtime *runtime) {
    struct perspectives *all = runtime->config.perspectives;
    if (all == NULL)
        return;
    pawl_uuid instance = works(runtime) ? engine_metrics(runtime->core).instance : uuid_nil();
    if (perspectives_tick(all, instance, &runtime->config.log) && !runtime->exiting)
        runtime_step(runtime, (struct engine_event){.type = EVENT_DUE});
    unsigned left = perspectives_all_behind(all) ? KIND_BIT(KIND_PERSPECTIVE) : 0;
    if (left != runtime->left_kinds && !runtime->exiting) {
        runtime->left_kinds = left;
        runtime_step(runtime, (struct engine_event){.type = EVENT_LEAVE, .kinds = left});
    }
}

static void tick(struct runtime *runtime) {
    int64_t now_ms = clock_boot_ms();
    runtime_process_tick(runtime, now_ms);
    runtime_log_flush(runtime, now_ms);
    runtime_waker_tick(runtime, now_ms);
    while (runtime->stops_seen < atomic_load(&runtime->stops) && !runtime->exiting) {
        runtime->stops_seen++;
        runtime_step(runtime, (struct engine_event){.type = EVENT_STOP});
    }
    if (now_ms >= runtime->core_timer_ms && !runtime->exiting)
        runtime_step(runtime, (struct engine_event){.type = EVENT_TICK});
    publish_metrics(runtime);
    tick_perspectives(runtime);
    if (now_ms >= runtime->tick_ms) {
        runtime->tick_ms = now_ms + TICK_MS;
        runtime->config.on_tick(runtime->config.self, &runtime->metrics);
    }
}

static void loop(struct runtime *runtime) {
    struct epoll_event events[EVENTS_MAX];
    if (runtime->config.on_tick != NULL)
        runtime->tick_ms = clock_boot_ms();
    runtime_step(runtime, (struct engine_event){.type = EVENT_STARTED});
    while (!runtime->exiting) {
        arm_timer(runtime);
        int count = epoll_wait(runtime->epoll_fd, events, EVENTS_MAX, -1);
        if (count < 0 && errno != EINTR) {
            runtime->exit_status =
                error_errno(&runtime->exit_error, PAWL_INTERNAL, "worker", errno, "epoll_wait");
            runtime->forced = true;
            return;
        }
        take_progress(runtime);
        /* Time first: a worker that was stopped for a while fences itself before it looks at late results. */
        if (clock_boot_ms() >= runtime->core_timer_ms)
            runtime_step(runtime, (struct engine_event){.type = EVENT_TICK});
        for (int i = 0; i < count && !runtime->exiting; i++)
            take_event(runtime, events[i].data.u64);
        take_bundles(runtime);
        runtime_process_trouble(runtime);
        for (int i = 0; i < THREAD_COUNT; i++)
            runtime_take_answers(runtime, runtime->threads[i]);
        runtime_duties_answered(runtime);
        tick(runtime);
        runtime_idle_sync(runtime);
    }
}

static pawl_status own_process(struct runtime *runtime, sigset_t *before, pawl_error *err) {
    sigset_t stop = thread_stop_signals();
    pthread_sigmask(SIG_BLOCK, &stop, before);
    runtime->signal_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
    if (!watch(runtime, runtime->signal_fd, FD_SIGNAL))
        return error_errno(err, PAWL_UNAVAILABLE, "worker", errno, "no descriptor for signals");
    if (!orphan_adopt(&runtime->others))
        log_event(&runtime->config.log, LOG_LEVEL_WARN, "no_subreaper", "errno=%d", errno);
    return PAWL_OK;
}

/* Threads that do not come back in time are abandoned with what they use: leaving late is worse than a
 * leak. */
static void close_threads(struct runtime *runtime) {
    int64_t wait_ms = runtime->forced ? LEAVE_MS / 4 : LEAVE_MS;
    for (int i = 0; i < runtime->config.engine.slots; i++) {
        if (runtime->bundles[i].running && stop_read(&runtime->bundles[i].handle.cancel) == STOP_NONE)
            stop_set(&runtime->bundles[i].handle.cancel, STOP_LEAVING);
    }
    if (!pool_close(runtime->pool, wait_ms)) {
        log_event(&runtime->config.log, LOG_LEVEL_ERROR, "handler_left_behind", "reason=%s",
                  "a function or a job has not returned");
        runtime->pool = NULL;
        runtime->bundles = NULL;
        runtime->left_behind = true;
    }
    for (int i = 0; i < THREAD_COUNT; i++) {
        if (store_thread_close(runtime->threads[i], wait_ms))
            continue;
        runtime->threads[i] = NULL;
        runtime->left_behind = true;
    }
    if (!runtime_duties_close(runtime, DUTIES_LEAVE_MS)) {
        log_event(&runtime->config.log, LOG_LEVEL_ERROR, "duty_left_behind", "reason=%s",
                  "its turn has not ended");
        runtime->left_behind = true;
    }
}

pawl_status runtime_run(struct runtime *runtime, bool *forced, pawl_error *err) {
    sigset_t before;
    sigemptyset(&before);
    pawl_status status = runtime->config.own_process ? own_process(runtime, &before, err) : PAWL_OK;
    for (int i = 0; status == PAWL_OK && i < THREAD_COUNT; i++)
        status = store_thread_open(runtime->threads[i], err);
    if (status != PAWL_OK)
        goto done;
    loop(runtime);
    runtime_process_end_all(runtime);
    store_waker_close(runtime->waker);
    runtime->waker = NULL;
    close_threads(runtime);
    publish_metrics(runtime);
    runtime_jobs_summary(runtime);
    *forced = runtime->forced;
    status = runtime->exit_status;
    if (status != PAWL_OK && err != NULL)
        *err = runtime->exit_error;
done:
    if (runtime->config.own_process)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static void close_fd(int fd) {
    if (fd >= 0)
        close(fd);
}

void runtime_free(struct runtime *runtime) {
    if (runtime == NULL)
        return;
    /* It never ran. */
    if (runtime->pool != NULL && runtime->pool->threads != NULL && !pool_close(runtime->pool, 0))
        runtime->pool = NULL;
    /* What an abandoned thread still uses is not ours to free: its wake-up, its batch, its bundles, the world
     * of its jobs and the log, which are part of the runtime. */
    bool clean = runtime->pool != NULL && !runtime->left_behind;
    for (int i = 0; i < THREAD_COUNT; i++)
        clean = clean && runtime->threads[i] != NULL;
    if (!clean)
        return;
    engine_core_free(runtime->core);
    while (runtime->held != NULL)
        call_release(&runtime->held, runtime->held);
    for (int i = 0; runtime->bundles != NULL && i < runtime->config.engine.slots; i++)
        bundle_clear(&runtime->bundles[i]);
    free(runtime->bundles);
    close_fd(runtime->wake_fd);
    engine_actions_free(&runtime->actions);
    free(runtime->rules);
    runtime_jobs_close(runtime);
    runtime_duties_free(runtime);
    free(runtime->pool);
    for (int i = 0; i < THREAD_COUNT; i++)
        free(runtime->threads[i]);
    free(runtime->processes);
    free(runtime->process_timeouts_ms);
    launcher_free(runtime->launcher);
    free(runtime->observed);
    free(runtime->failed_slots);
    free(runtime->failed_waits_ms);
    close_fd(runtime->epoll_fd);
    close_fd(runtime->timer_fd);
    close_fd(runtime->signal_fd);
    pthread_mutex_destroy(&runtime->metrics_lock);
    free(runtime);
}
