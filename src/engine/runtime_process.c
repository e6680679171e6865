/* Handlers that are programs, in the worker's loop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/runtime.h"

enum { SWEEP_MS = 100, SWEEP_JOBS_MS = 2000 };

static void watch(struct runtime *runtime, int fd, enum runtime_fd type, int slot) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)type << 32 | (uint32_t)slot};
    if (epoll_ctl(runtime->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        log_event(&runtime->config.log, LOG_LEVEL_ERROR, "watch_failed", "errno=%d", errno);
}

void runtime_process_start(struct runtime *runtime, int slot, const struct engine_run *run) {
    const struct handler *handler = &runtime->config.handlers->handlers[run->handler];
    struct process *process = &runtime->processes[slot];
    char name[ORPHAN_RUN_BYTES];
    pawl_error error = {0};
    /* A worker that was stopped for a while may come back to life right here: no effect may begin now. */
    bool late = clock_boot_ms() >= run->fence_ms;
    snprintf(name, sizeof(name), "%s-%llu", runtime->run_prefix, (unsigned long long)++runtime->runs);
    struct observed *work = &runtime->observed[slot];
    const struct item *item = late ? run->items[0]
                                   : observe_message(runtime->config.observer, run->items[0], work);
    if (late || process_start(process, handler, item, name, &error) != PAWL_OK) {
        if (!late)
            observe_message_end(runtime->config.observer, work,
                                &(struct observed_end){ROLLUP_RETRY, str_from(error.text), NULL, {NULL, 0}});
        size_t at = runtime->failed_count++;
        runtime->failed_slots[at] = slot;
        snprintf(runtime->failed_errors[at], sizeof(runtime->failed_errors[at]), "%s", error.text);
        return;
    }
    runtime->live_processes++;
    watch(runtime, process->pidfd, FD_PID, slot);
    watch(runtime, process->out_fd, FD_OUT, slot);
    watch(runtime, process->err_fd, FD_ERR, slot);
}

void runtime_process_cancel(struct runtime *runtime, int slot, enum cancel_reason reason) {
    bool politely = reason == CANCEL_STOP || reason == CANCEL_ASKED;
    enum process_stop why = reason == CANCEL_TIMEOUT ? PROCESS_TIMEOUT
                            : politely               ? PROCESS_STOP
                                                     : PROCESS_KILL;
    process_end(&runtime->processes[slot], why, clock_boot_ms());
}

/* Ends what nobody accounts for. Children of keepers neither start nor end meanwhile. */
static void sweep(struct runtime *runtime) {
    const struct runtime_config *config = &runtime->config;
    int slots = config->engine.slots;
    struct orphan_keep kept[RUNTIME_KEEPERS_MAX] = {0};
    size_t room = (size_t)slots;
    for (size_t i = 0; i < config->keeper_count; i++) {
        keeper_lock(config->keepers[i], &kept[i]);
        room += kept[i].count;
    }
    pid_t *pids = calloc(room, sizeof(*pids));
    char(*runs)[ORPHAN_RUN_BYTES] = calloc(room, sizeof(*runs));
    size_t count = 0;
    for (int i = 0; pids != NULL && runs != NULL && i < slots; i++) {
        if (runtime->processes[i].pid == 0)
            continue;
        pids[count] = runtime->processes[i].pid;
        memcpy(runs[count], runtime->processes[i].run, ORPHAN_RUN_BYTES);
        count++;
    }
    for (size_t k = 0; pids != NULL && runs != NULL && k < config->keeper_count; k++) {
        for (size_t i = 0; i < kept[k].count; i++) {
            pids[count] = kept[k].pids[i];
            memcpy(runs[count++], kept[k].runs[i], ORPHAN_RUN_BYTES);
        }
    }
    struct orphan_keep keep = {pids, (const char(*)[ORPHAN_RUN_BYTES])runs, count};
    if (pids != NULL && runs != NULL) {
        int found = orphan_sweep(&keep, &runtime->others);
        if (found > 0)
            log_event(&runtime->config.log, LOG_LEVEL_WARN, "orphans_ended", "count=%d", found);
    }
    for (size_t i = 0; i < config->keeper_count; i++)
        keeper_unlock(config->keepers[i]);
    free(pids);
    free(runs);
}

static void ended(struct runtime *runtime, int slot) {
    struct process *process = &runtime->processes[slot];
    struct process_result result;
    bool ended_by_us = process->kill_at_ms != 0;
    process_reap(process, &result);
    runtime->live_processes--;
    if (runtime->config.own_process) {
        /* What was ended by force may have left something behind: look at once, else soon. */
        int64_t now_ms = clock_boot_ms();
        if (ended_by_us)
            sweep(runtime);
        else if (runtime->sweep_ms == INT64_MAX)
            runtime->sweep_ms = now_ms + SWEEP_MS;
    }
    struct engine_outcome outcome = {OUTCOME_RETRY, str_from(result.error), result.wish.delay_ms};
    if (result.done)
        outcome.type = OUTCOME_DONE;
    else if (result.wish.snooze)
        outcome.type = OUTCOME_SNOOZE;
    else if (result.cancelled)
        outcome.type = OUTCOME_CANCELLED;
    else if (result.permanent)
        outcome.type = OUTCOME_PERMANENT;
    struct observed_end end = {.result = outcome.type == OUTCOME_DONE        ? ROLLUP_DONE
                                         : outcome.type == OUTCOME_RETRY     ? ROLLUP_RETRY
                                         : outcome.type == OUTCOME_PERMANENT ? ROLLUP_PERMANENT
                                                                             : ROLLUP_OTHER,
                               .error = outcome.error};
    observe_message_end(runtime->config.observer, &runtime->observed[slot], &end);
    runtime_step(runtime, (struct engine_event){.type = EVENT_FINISHED,
                                                .slot = slot,
                                                .outcomes = &outcome,
                                                .count = 1,
                                                .elapsed_us = clock_boot_us() - process->started_us});
}

void runtime_process_event(struct runtime *runtime, enum runtime_fd type, int slot) {
    struct process *process = &runtime->processes[slot];
    if (process->pid == 0)
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
    /* What tools and receptors leave behind is looked for now and then. */
    if (runtime->config.keeper_count > 0 && runtime->config.own_process && runtime->sweep_ms == INT64_MAX)
        runtime->sweep_ms = now_ms + SWEEP_JOBS_MS;
}

int64_t runtime_process_due_ms(const struct runtime *runtime) {
    int64_t due_ms = runtime->sweep_ms;
    for (int i = 0; runtime->live_processes > 0 && i < runtime->config.engine.slots; i++) {
        const struct process *process = &runtime->processes[i];
        if (process->pid != 0 && process->kill_at_ms > 0 && process->kill_at_ms < due_ms)
            due_ms = process->kill_at_ms;
    }
    return due_ms;
}

/* The worker leaves: nothing it started may stay behind. */
void runtime_process_end_all(struct runtime *runtime) {
    struct process_result result;
    for (int i = 0; i < runtime->config.engine.slots; i++) {
        if (runtime->processes[i].pid != 0) {
            process_end(&runtime->processes[i], PROCESS_KILL, 0);
            process_reap(&runtime->processes[i], &result);
        }
        process_free(&runtime->processes[i]);
    }
    runtime->live_processes = 0;
    if (runtime->config.own_process && runtime->runs > 0)
        sweep(runtime);
}
