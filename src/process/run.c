/* Running a program to its end in the calling thread. */
#include "process/run.h"

#include <poll.h>

#include "base/time/clock.h"

enum { LOOK_MS = 50 };

/* Until when nothing is due but a look at the flag. */
static int wait_ms(const struct process *process, const struct process_limits *limits, int64_t now_ms) {
    int64_t left_ms = LOOK_MS;
    if (process->kill_at_ms > 0 && process->kill_at_ms - now_ms < left_ms)
        left_ms = process->kill_at_ms - now_ms;
    if (limits->deadline_ms > now_ms && limits->deadline_ms - now_ms < left_ms)
        left_ms = limits->deadline_ms - now_ms;
    return left_ms > 0 ? (int)left_ms : 0;
}

/* Its end is the process's own: output that is closed or kept open by others says nothing. */
static void watch(struct process *process, const struct process_limits *limits) {
    const struct child *child = &process->child;
    for (bool ended = false; !ended;) {
        int64_t now_ms = clock_boot_ms();
        process_stop(process, stop_read(limits->stop), now_ms);
        if (limits->deadline_ms > 0 && now_ms >= limits->deadline_ms)
            process_stop(process, STOP_TIMEOUT, now_ms);
        process_tick(process, now_ms);
        struct pollfd fds[] = {
            {child->pidfd, POLLIN, 0}, {child->out_fd, POLLIN, 0}, {child->err_fd, POLLIN, 0}};
        if (poll(fds, 3, wait_ms(process, limits, now_ms)) <= 0)
            continue;
        ended = fds[0].revents != 0;
        process_read(process);
    }
}

pawl_status process_run(struct keeper *keeper, const struct process_spec *spec,
                        const struct process_limits *limits, struct buf *output, struct process_end *end,
                        pawl_error *err) {
    struct process process = {0};
    *end = (struct process_end){.outcome = PROCESS_NOT_STARTED};
    pawl_status status = process_start(&process, keeper, spec, err);
    if (status != PAWL_OK) {
        int64_t until_ms = trouble_until_ms(keeper_trouble(keeper), spec->argv[0]);
        end->wait_ms = until_ms > 0 ? until_ms - clock_boot_ms() : TROUBLE_WAIT_MS_MIN;
        return status;
    }
    watch(&process, limits);
    process_reap(&process, end);
    if (output != NULL)
        *output = process.out;
    else
        process_free(&process);
    return PAWL_OK;
}
