/* Handlers that are programs, in the worker's loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "engine/runtime/runtime.h"
#include "handler/message.h"
#include "handler/program_run.h"
#include "process/pipe.h"

enum { SWEEP_MS = 100, SWEEP_JOBS_MS = 2000 };

static void watch(struct runtime *runtime, int fd, enum runtime_fd type, int slot) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)type << 32 | (uint32_t)slot};
    if (epoll_ctl(runtime->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        log_event(&runtime->config.log, LOG_LEVEL_ERROR, "watch_failed", "errno=%d", errno);
}

/* The program gets the message on its stdin and about it in its environment. */
static pawl_status start(struct runtime *runtime, struct process *process, const struct handler *handler,
                         const struct item *item, pawl_error *err) {
    struct environment_pair pairs[ENVIRONMENT_PAIRS_MAX];
    struct arena *arena = arena_create(0);
    struct buf input;
    if (arena == NULL)
        return error_no_memory(err, "process");
    buf_init(&input, 0);
    work_message_json(&input, item);
    buf_append_char(&input, '\n');
    struct process_spec spec = {.argv = handler->argv,
                                .pairs = pairs,
                                .pair_count = environment_pairs(item, arena, pairs),
                                .input = buf_str(&input),
                                .out_kept = PROCESS_STDOUT_KEPT};
    pawl_status status = buf_status(&input, "process", err);
    if (status == PAWL_OK)
        status = process_start(process, runtime->launcher, &spec, err);
    buf_free(&input);
    arena_free(arena);
    return status;
}

void runtime_process_start(struct runtime *runtime, int slot, const struct engine_run *run) {
    const struct handler *handler = &runtime->config.handlers->handlers[run->handler];
    struct process *process = &runtime->processes[slot];
    pawl_error error = {0};
    /* A worker that was stopped for a while may come back to life right here: no effect may begin now. */
    bool late = clock_boot_ms() >= run->fence_ms;
    struct observed *work = &runtime->observed[slot];
    const struct item *item = late ? run->items[0]
                                   : observe_message(runtime->config.observer, run->items[0], work);
    if (late || start(runtime, process, handler, item, &error) != PAWL_OK) {
        if (!late)
            observe_message_end(runtime->config.observer, work,
                                &(struct observed_end){ROLLUP_OTHER, str_from(error.text), NULL, {NULL, 0}});
        size_t at = runtime->failed_count++;
        struct start_failures *failures = launcher_failures(runtime->launcher);
        runtime->failed_slots[at] = slot;
        runtime->failed_waits_ms[at] = late ? 0 : start_failures_wait_ms(failures, handler->argv[0]);
        return;
    }
    runtime->process_timeouts_ms[slot] = handler->timeout_ms;
    runtime->live_processes++;
    runtime->ran_programs = true;
    watch(runtime, process->child.pidfd, FD_PID, slot);
    watch(runtime, process->child.out_fd, FD_OUT, slot);
    watch(runtime, process->child.err_fd, FD_ERR, slot);
}

void runtime_process_cancel(struct runtime *runtime, int slot, enum stop_reason reason) {
    process_stop(&runtime->processes[slot], reason, clock_boot_ms());
}

static void sweep(struct runtime *runtime) {
    const struct runtime_config *config = &runtime->config;
    struct launcher *launchers[RUNTIME_LAUNCHERS_MAX + 1] = {runtime->launcher};
    size_t count = 1;
    for (size_t i = 0; i < config->launcher_count; i++)
        launchers[count++] = config->launchers[i];
    int found = orphan_sweep(launchers, count, &runtime->others);
    if (found > 0)
        log_event(&runtime->config.log, LOG_LEVEL_WARN, "orphans_ended", "count=%d", found);
}

static void ended(struct runtime *runtime, int slot) {
    struct process *process = &runtime->processes[slot];
    struct process_end how;
    bool ended_by_us = process->kill_at_ms != 0;
    process_reap(process, &how);
    runtime->live_processes--;
    if (runtime->config.own_process) {
        /* What was ended by force may have left something: look at once, else soon. */
        int64_t now_ms = clock_boot_ms();
        if (ended_by_us)
            sweep(runtime);
        else if (runtime->sweep_ms == INT64_MAX)
            runtime->sweep_ms = now_ms + SWEEP_MS;
    }
    struct program_verdict verdict =
        program_judge(&how, buf_str(&process->out), runtime->process_timeouts_ms[slot]);
    struct engine_outcome outcome = {
        .type = verdict.outcome == HANDLED_NOT_RUN ? OUTCOME_CANCELLED : runtime_outcome(verdict.outcome),
        .error = str_from(verdict.error),
        .delay_ms = verdict.delay_ms};
    struct observed_end end = {.result = observe_outcome(verdict.outcome), .error = outcome.error};
    observe_message_end(runtime->config.observer, &runtime->observed[slot], &end);
    runtime_step(runtime, (struct engine_event){.type = EVENT_FINISHED,
                                                .slot = slot,
                                                .outcomes = &outcome,
                                                .count = 1,
                                                .elapsed_us = how.elapsed_us});
}

static void tell(struct runtime *runtime, const struct start_failure *row) {
    const char *what = row->program[0] != '\0' ? row->program : "any program";
    if (row->open)
        log_event(&runtime->config.log, LOG_LEVEL_ERROR, "cannot_start", "program=%s reason=%s then=%s", what,
                  row->reason, "its work goes back without an attempt and is tried again soon");
    else
        log_event(&runtime->config.log, LOG_LEVEL_INFO, "can_start_again", "program=%s after_ms=%lld", what,
                  (long long)(clock_boot_ms() - row->since_ms));
}

/* Programs that cannot be started: told once per change, and the worker is not ready meanwhile. While
 * nothing can be started, or the only handler's program cannot, nothing is claimed. */
void runtime_process_trouble(struct runtime *runtime) {
    const struct runtime_config *config = &runtime->config;
    struct start_failure row;
    int64_t until_ms[CHANNEL_COUNT] = {0};
    int open = 0;
    for (size_t i = 0; i <= config->launcher_count; i++) {
        struct start_failures *failures =
            launcher_failures(i < config->launcher_count ? config->launchers[i] : runtime->launcher);
        const struct handler *only = config->handlers->count == 1 ? &config->handlers->handlers[0] : NULL;
        bool program = only != NULL && only->kind == HANDLER_PROCESS;
        open += atomic_load_explicit(&failures->open, memory_order_relaxed);
        const char *name = !program ? NULL : only->pipe != NULL ? pipe_command(only->pipe) : only->argv[0];
        int64_t this_ms = start_failures_until_ms(failures, name);
        if (this_ms > until_ms[CHANNEL_MESSAGES])
            until_ms[CHANNEL_MESSAGES] = this_ms;
        while ((open > 0 || runtime->troubled) && start_failures_changed(failures, &row))
            tell(runtime, &row);
    }
    if (config->jobs.tools != NULL) /* a job that needs no program of a handler may go on */
        until_ms[CHANNEL_JOBS] =
            start_failures_until_ms(launcher_failures(tools_launcher(config->jobs.tools)), NULL);
    if (runtime->troubled == (open > 0) && memcmp(runtime->trouble_until_ms, until_ms, sizeof(until_ms)) == 0)
        return;
    runtime->troubled = open > 0;
    memcpy(runtime->trouble_until_ms, until_ms, sizeof(until_ms));
    struct engine_event event = {.type = EVENT_TROUBLE, .troubled = runtime->troubled};
    memcpy(event.trouble_until_ms, until_ms, sizeof(until_ms));
    if (!runtime->exiting)
        runtime_step(runtime, event);
}

void runtime_process_event(struct runtime *runtime, enum runtime_fd type, int slot) {
    struct process *process = &runtime->processes[slot];
    if (process->child.pid == 0)
        return; /* ended earlier in this turn */
    if (type == FD_PID)
        ended(runtime, slot);
    else
        process_read(process);
}

void runtime_process_tick(struct runtime *runtime, int64_t now_ms) {
    for (int i = 0; runtime->live_processes > 0 && i < runtime->config.engine.slots; i++)
        process_tick(&runtime->processes[i], now_ms);
    if (now_ms >= runtime->sweep_ms) {
        runtime->sweep_ms = INT64_MAX;
        sweep(runtime);
    }
    /* Orphans of tools and receptors are looked for now and then. */
    if (runtime->config.launcher_count > 0 && runtime->config.own_process && runtime->sweep_ms == INT64_MAX)
        runtime->sweep_ms = now_ms + SWEEP_JOBS_MS;
}

int64_t runtime_process_due_ms(const struct runtime *runtime) {
    int64_t due_ms = runtime->sweep_ms;
    for (int i = 0; runtime->live_processes > 0 && i < runtime->config.engine.slots; i++) {
        const struct process *process = &runtime->processes[i];
        if (process->child.pid != 0 && process->kill_at_ms > 0 && process->kill_at_ms < due_ms)
            due_ms = process->kill_at_ms;
    }
    return due_ms;
}

/* The worker leaves: nothing it started may outlive it. */
void runtime_process_end_all(struct runtime *runtime) {
    struct process_end end;
    for (int i = 0; i < runtime->config.engine.slots; i++) {
        if (runtime->processes[i].child.pid != 0)
            process_reap(&runtime->processes[i], &end);
        process_free(&runtime->processes[i]);
    }
    runtime->live_processes = 0;
    if (runtime->config.own_process && runtime->ran_programs)
        sweep(runtime);
}
