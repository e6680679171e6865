/* The thread of kept programs: it starts their processes, reads what they say, and ends them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "process/pipe_int.h"

enum {
    EVENTS_MAX = 64,
    CLOSED_MS = 1000, /* from closing a pipe to exiting */
    MEMORY_MS = 1000, /* between two looks at the memory of a process */
    DRAIN_READS = 256 /* of a process that has ended: 16 MiB */
};

void pipe_wake(struct pipes *pipes) {
    uint64_t one = 1;
    ssize_t wrote = write(pipes->wake_fd, &one, sizeof(one));
    (void)wrote; /* a full counter wakes as well */
}

int pipe_live(const struct pipe *pipe) {
    int live = 0;
    for (int i = 0; i < pipe->used; i++) {
        const struct pipe_process *process = &pipe->processes[i];
        live += process->state == PIPE_STARTING || process->state == PIPE_READY;
    }
    return live;
}

static void watch(struct pipe_process *process, int operation, int fd, enum pipe_fd type) {
    struct epoll_event event = {.events = type == PIPE_FD_IN ? EPOLLOUT : EPOLLIN,
                                .data.u64 = (uint64_t)(uintptr_t)process | (uint64_t)type};
    struct pipes *pipes = process->pipe->pipes;
    if (epoll_ctl(pipes->epoll_fd, operation, fd, &event) != 0)
        log_event(pipes->log, LOG_LEVEL_ERROR, "watch_failed", "errno=%d", errno);
}

/* It does not read or write any more: most likely it is about to exit, and its exit code is worth having. */
static void closed(struct pipe_process *process) {
    process->retiring = true;
    if (process->state == PIPE_READY && process->due_ms == 0) {
        process->due_ms = clock_boot_ms() + CLOSED_MS;
        pipe_wake(process->pipe->pipes);
    }
}

void pipe_write(struct pipe_process *process) {
    int fd = process->process.child.in_fd;
    bool writes = fd >= 0 && lines_write(&process->lines);
    bool wanted = writes && lines_pending(&process->lines);
    if (wanted != process->awaits_write)
        watch(process, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, PIPE_FD_IN);
    process->awaits_write = wanted;
    if (!writes)
        closed(process);
}

void pipe_kill(struct pipe_process *process, const char *why) {
    process->retiring = true;
    if (why != NULL && process->fault[0] == '\0')
        snprintf(process->fault, sizeof(process->fault), "%s", why);
    process_stop(&process->process, STOP_FENCED, clock_boot_ms());
}

static void end_input(struct pipe_process *process) {
    struct child *child = &process->process.child;
    process->state = PIPE_LEAVING;
    process->retiring = true;
    process->awaits_write = false;
    process->due_ms = clock_boot_ms() + PROCESS_TERM_MS;
    child_close_fd(&child->in_fd);
}

void pipe_retire(struct pipe_process *process) {
    process->retiring = true;
    if (process->state == PIPE_READY && process->in_flight == 0)
        end_input(process);
}

static void start(struct pipe *pipe) {
    struct pipe_process *process = pipe->processes;
    struct launcher *launcher = pipe->pipes->launcher;
    pawl_error err = {0};
    while (process->state != PIPE_ABSENT)
        process++;
    if (process - pipe->processes == pipe->used)
        pipe->used++;
    struct process_spec spec = {.argv = pipe->config.argv,
                                .pairs = pipe->config.pairs,
                                .pair_count = pipe->config.pair_count,
                                .talks = true};
    *process = (struct pipe_process){.pipe = pipe};
    if (process_start(&process->process, launcher, &spec, &err) != PAWL_OK) {
        int64_t wait_ms = start_failures_wait_ms(launcher_failures(launcher), pipe->config.argv[0]);
        pipe->restart_at_ms = clock_boot_ms() + retry_jitter_ms(wait_ms, random_bits());
        snprintf(pipe->trouble, sizeof(pipe->trouble), "%s", err.text);
        pthread_cond_broadcast(&pipe->room);
        return;
    }
    const struct child *child = &process->process.child;
    lines_init(&process->lines, &process->process.child, PROCESS_STDOUT_BYTES_MAX);
    process->state = PIPE_STARTING;
    process->due_ms = clock_boot_ms() + PIPE_READY_MS;
    watch(process, EPOLL_CTL_ADD, child->out_fd, PIPE_FD_OUT);
    watch(process, EPOLL_CTL_ADD, child->err_fd, PIPE_FD_ERR);
    watch(process, EPOLL_CTL_ADD, child->pidfd, PIPE_FD_PID);
}

/* Another process is started for items that wait, unless there is room for them, or will be in those that are
 * starting. How many a process takes is known from the first one, so that one starts alone. */
static bool wants_another(const struct pipe *pipe, int64_t now_ms) {
    int starting = 0, live = 0, absent = pipe->process_count - pipe->used, room = 0;
    for (int i = 0; i < pipe->used; i++) {
        const struct pipe_process *process = &pipe->processes[i];
        bool takes = process->state == PIPE_READY && !process->retiring && process->reserved == NULL;
        absent += process->state == PIPE_ABSENT;
        starting += process->state == PIPE_STARTING;
        live += process->state == PIPE_STARTING || process->state == PIPE_READY;
        room += takes ? process->at_once - process->in_flight : 0;
    }
    return !pipe->pipes->closing && now_ms >= pipe->restart_at_ms && absent > 0 &&
           live < pipe->config.processes_max && (starting == 0 || pipe->at_once > 0) &&
           pipe->waiting > room + starting * pipe->at_once;
}

/* The memory that a process has in use, in pages of the machine; 0 = unknown. */
static int64_t resident_mb(pid_t pid) {
    char path[64];
    long long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*d %lld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1048576;
}

static void look_at_memory(struct pipe_process *process, int64_t now_ms) {
    int most_mb = process->pipe->config.recycle_mb;
    if (most_mb == 0 || process->state != PIPE_READY || now_ms < process->memory_ms)
        return;
    process->memory_ms = now_ms + MEMORY_MS;
    if (resident_mb(process->process.child.pid) > most_mb)
        pipe_retire(process);
}

static void tick(struct pipe_process *process, int64_t now_ms) {
    if (process->due_ms != 0 && now_ms >= process->due_ms) {
        process->due_ms = 0;
        if (process->state == PIPE_STARTING)
            pipe_kill(process, "it was not ready in time");
        else if (process->state == PIPE_LEAVING)
            process_stop(&process->process, STOP_LEAVING, now_ms);
        else
            pipe_kill(process, "it closed its input or output");
    }
    process_tick(&process->process, now_ms);
    look_at_memory(process, now_ms);
}

/* Every item of a process that has ended. If one is known to be to blame, the others are not; if none is,
 * each is tried alone, unless it was alone already. */
static void lose_items(struct pipe_process *process, const struct process_end *end, const char *why) {
    bool known = false, several = process->in_flight > 1;
    for (struct pipe_item *item = process->items; item != NULL; item = item->next)
        known = known || item->to_blame;
    for (struct pipe_item *item = process->items, *next; item != NULL; item = next) {
        next = item->next;
        item->again = known ? !item->to_blame && item->stop == STOP_NONE : several;
        item->alone = item->alone || (item->again && !known);
        if (!item->again) {
            item->answer->end = *end;
            if (end->outcome == PROCESS_EXITED && end->status == 0)
                item->answer->end.status = 1; /* nothing is done without an answer */
            snprintf(item->answer->error, sizeof(item->answer->error), "%.1279s", why);
        }
        pipe_item_over(item);
    }
}

/* When the next one may start. */
static void set_back(struct pipe *pipe, bool started, const char *why) {
    static const struct retry_policy policy = {PIPE_RESTART_MS, PIPE_RESTART_MS_MAX, true};
    int64_t wait_ms = 0;
    pipe->failures++;
    if (!started)
        wait_ms = retry_jitter_ms(
            start_failed(launcher_failures(pipe->pipes->launcher), pipe->command, PAWL_INVALID, why),
            random_bits());
    else if (pipe->failures > 1)
        wait_ms = retry_wait_ms(&policy, pipe->failures - 1, random_bits());
    pipe->restart_at_ms = clock_boot_ms() + wait_ms;
    snprintf(pipe->trouble, sizeof(pipe->trouble), "%.511s", why);
}

static void take_lines(struct pipe_process *process) {
    for (pawl_str line; lines_next(&process->lines, &line);)
        pipe_take_line(process, line);
    if (lines_flooded(&process->lines) && !process->process.flooded) {
        process->process.flooded = true;
        pipe_kill(process, "it wrote a line of more than 8 MiB");
    }
}

static void take_output(struct pipe_process *process) {
    struct child *child = &process->process.child;
    ssize_t got = child->out_fd >= 0 ? lines_read(&process->lines) : 0;
    take_lines(process);
    if (got < 0) {
        child_close_fd(&child->out_fd);
        closed(process);
    }
}

static void ended(struct pipe_process *process) {
    struct pipe *pipe = process->pipe;
    struct process_end end;
    char how[sizeof(end.complaint) + 128], why[sizeof(how) + sizeof(process->fault) + 64];
    for (int i = 0; i < DRAIN_READS && process->process.child.out_fd >= 0 && lines_read(&process->lines) > 0;
         i++)
        take_lines(process); /* what it said before it ended counts */
    pid_t pid = process->process.child.pid;
    bool leaving = process->state == PIPE_LEAVING, started = process->state == PIPE_READY;
    process_reap(&process->process, &end);
    if (end.outcome != PROCESS_FLOODED && end.outcome != PROCESS_EXITED)
        end.outcome = PROCESS_SIGNALLED; /* whatever killed it: an item knows why it was stopped */
    process_explain(&end, 0, how, sizeof(how));
    if (process->fault[0] != '\0')
        snprintf(why, sizeof(why), "%s%s%s", process->fault, end.complaint[0] != '\0' ? ": " : "",
                 end.complaint);
    else
        snprintf(why, sizeof(why), "its process ended without an answer: %s", how);
    log_event(pipe->pipes->log, leaving ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "pipe_ended",
              "handler=%s pid=%d items=%d running=%d reason=%s", pipe->config.name, (int)pid, process->taken,
              process->in_flight, process->fault[0] != '\0' ? why : how);
    lose_items(process, &end, why);
    if (!leaving)
        set_back(pipe, started, process->fault[0] != '\0' ? why : how);
    lines_free(&process->lines);
    process_free(&process->process);
    process->state = PIPE_ABSENT;
    pthread_cond_broadcast(&pipe->room);
}

static void take_event(struct pipes *pipes, uint64_t data) {
    struct pipe_process *process = (struct pipe_process *)(uintptr_t)(data & ~(uint64_t)PIPE_FD_BITS);
    uint64_t count;
    if (process == NULL) {
        ssize_t got = read(pipes->wake_fd, &count, sizeof(count));
        (void)got;
        return;
    }
    if (process->state == PIPE_ABSENT)
        return; /* ended earlier in this turn */
    switch ((enum pipe_fd)(data & PIPE_FD_BITS)) {
    case PIPE_FD_OUT:
        take_output(process);
        break;
    case PIPE_FD_ERR:
        child_read_stderr(&process->process.child);
        break;
    case PIPE_FD_IN:
        pipe_write(process);
        break;
    case PIPE_FD_PID:
        ended(process);
        break;
    }
}

static void earlier(int64_t at_ms, int64_t *due_ms) {
    if (at_ms > 0 && at_ms < *due_ms)
        *due_ms = at_ms;
}

/* What is due for one command; returns whether it has processes. */
static bool tick_pipe(struct pipe *pipe, int64_t now_ms, int64_t *due_ms) {
    bool any = false;
    while (wants_another(pipe, now_ms))
        start(pipe);
    if (pipe->waiting > 0 && pipe->restart_at_ms > now_ms)
        earlier(pipe->restart_at_ms, due_ms);
    for (int i = 0; i < pipe->used; i++) {
        struct pipe_process *process = &pipe->processes[i];
        if (process->state == PIPE_ABSENT)
            continue;
        any = true;
        if (pipe->pipes->closing && process->state != PIPE_LEAVING)
            end_input(process);
        tick(process, now_ms);
        earlier(process->due_ms, due_ms);
        earlier(process->process.kill_at_ms, due_ms);
        if (pipe->config.recycle_mb > 0 && process->state == PIPE_READY)
            earlier(process->memory_ms, due_ms);
    }
    return any;
}

void *pipe_loop_main(void *self) {
    struct pipes *pipes = self;
    struct epoll_event events[EVENTS_MAX];
    pthread_mutex_lock(&pipes->lock);
    while (true) {
        int64_t now_ms = clock_boot_ms(), due_ms = INT64_MAX;
        bool any = false;
        for (struct pipe *pipe = pipes->first; pipe != NULL; pipe = pipe->next)
            any |= tick_pipe(pipe, now_ms, &due_ms);
        if (pipes->closing && !any)
            break;
        int wait_ms = due_ms == INT64_MAX ? -1 : due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
        pthread_mutex_unlock(&pipes->lock);
        int count = epoll_wait(pipes->epoll_fd, events, EVENTS_MAX, wait_ms);
        pthread_mutex_lock(&pipes->lock);
        for (int i = 0; i < count; i++)
            take_event(pipes, events[i].data.u64);
    }
    pthread_mutex_unlock(&pipes->lock);
    return NULL;
}
