/* Programs that are kept running: passing items to them, and waiting for the answers. */
#include "process/pipe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "process/pipe_int.h"

enum { LOOK_MS = 50, BUSY_MS = 500 /* how long an item waits that found no process with room */ };

static void pipe_free(struct pipe *pipe) {
    if (pipe == NULL)
        return;
    pthread_cond_destroy(&pipe->room);
    arena_free(pipe->arena);
    free(pipe->processes);
    free(pipe);
}

void pipes_free(struct pipes *pipes) {
    if (pipes == NULL)
        return;
    pthread_mutex_lock(&pipes->lock);
    bool runs = !pipes->closing;
    pipes->closing = true;
    pthread_mutex_unlock(&pipes->lock);
    if (runs) {
        pipe_wake(pipes);
        pthread_join(pipes->thread, NULL);
    }
    for (struct pipe *pipe = pipes->first, *next; pipe != NULL; pipe = next) {
        next = pipe->next;
        pipe_free(pipe);
    }
    if (pipes->epoll_fd >= 0)
        close(pipes->epoll_fd);
    if (pipes->wake_fd >= 0)
        close(pipes->wake_fd);
    launcher_free(pipes->launcher);
    arena_free(pipes->scratch);
    pthread_mutex_destroy(&pipes->lock);
    free(pipes);
}

pawl_status pipes_create(const char *name, struct log *log, struct pipes **out, pawl_error *err) {
    struct pipes *pipes = calloc(1, sizeof(*pipes));
    if (pipes == NULL)
        return error_no_memory(err, "pipe");
    pthread_mutex_init(&pipes->lock, NULL);
    pipes->log = log;
    pipes->closing = true; /* until the thread runs */
    pipes->scratch = arena_create(0);
    pipes->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pipes->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pawl_status status = pipes->scratch != NULL
                             ? launcher_create(name, LAUNCHER_CALLER, &pipes->launcher, err)
                             : error_no_memory(err, "pipe");
    struct epoll_event wake = {.events = EPOLLIN};
    if (status == PAWL_OK && epoll_ctl(pipes->epoll_fd, EPOLL_CTL_ADD, pipes->wake_fd, &wake) != 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "pipe", errno, "no descriptors for kept programs");
    if (status == PAWL_OK) {
        pipes->closing = false;
        int code = thread_start(&pipes->thread, pipe_loop_main, pipes);
        if (code != 0) {
            pipes->closing = true;
            status = error_errno(err, PAWL_NO_MEMORY, "pipe", code, "no thread for kept programs");
        }
    }
    if (status != PAWL_OK) {
        pipes_free(pipes);
        return status;
    }
    *out = pipes;
    return PAWL_OK;
}

struct launcher *pipes_launcher(struct pipes *pipes) {
    return pipes->launcher;
}

void pipes_log(struct pipes *pipes, struct log *log) { pipes->log = log; }

/* A copy of the config in the pipe's arena, with one pair more. */
static bool copy_config(struct pipe *pipe, const struct pipe_config *config) {
    size_t words = 0, count = config->pair_count;
    while (config->argv[words] != NULL)
        words++;
    char **argv = arena_array(pipe->arena, words + 1, sizeof(*argv));
    struct environment_pair *pairs = arena_array(pipe->arena, count + 1, sizeof(*pairs));
    bool fine = argv != NULL && pairs != NULL;
    for (size_t i = 0; fine && i < words; i++)
        fine = (argv[i] = arena_strdup(pipe->arena, config->argv[i])) != NULL;
    if (!fine)
        return false;
    if (count > 0)
        memcpy(pairs, config->pairs, count * sizeof(*pairs));
    pairs[count] = (struct environment_pair){"PAWL_PIPE", "1"};
    pipe->config = *config;
    pipe->config.name = arena_strdup(pipe->arena, config->name);
    pipe->config.argv = argv;
    pipe->config.pairs = pairs;
    pipe->config.pair_count = count + 1;
    /* Not the path itself: that it can be started does not mean that it gets ready. */
    for (size_t i = 0, at = 0; i < words && at < sizeof(pipe->command); i++)
        at += (size_t)snprintf(pipe->command + at, sizeof(pipe->command) - at, "%s%s",
                               i > 0 ? " " : "pipe:", argv[i]);
    return pipe->config.name != NULL;
}

pawl_status pipe_add(struct pipes *pipes, const struct pipe_config *config, struct pipe **out,
                     pawl_error *err) {
    struct pipe *pipe = calloc(1, sizeof(*pipe));
    if (pipe == NULL)
        return error_no_memory(err, "pipe");
    thread_cond_init(&pipe->room);
    pipe->pipes = pipes;
    pipe->arena = arena_create(0);
    int most = config->processes_max < LAUNCHER_CHILDREN_MAX ? config->processes_max : LAUNCHER_CHILDREN_MAX;
    pipe->process_count = 2 * most;
    pipe->processes = calloc((size_t)pipe->process_count, sizeof(*pipe->processes));
    if (pipe->processes == NULL || pipe->arena == NULL || !copy_config(pipe, config)) {
        pipe_free(pipe);
        return error_no_memory(err, "pipe");
    }
    pthread_mutex_lock(&pipes->lock);
    pipe->next = pipes->first;
    pipes->first = pipe;
    pthread_mutex_unlock(&pipes->lock);
    *out = pipe;
    return PAWL_OK;
}

struct pipe *pipe_find(struct pipes *pipes, const char *name) {
    pthread_mutex_lock(&pipes->lock);
    struct pipe *pipe = pipes->first;
    while (pipe != NULL && strcmp(pipe->config.name, name) != 0)
        pipe = pipe->next;
    pthread_mutex_unlock(&pipes->lock);
    return pipe;
}

void pipes_keep(struct pipes *pipes, const pawl_str *names, size_t count) {
    pthread_mutex_lock(&pipes->lock);
    for (struct pipe *pipe = pipes->first; pipe != NULL; pipe = pipe->next) {
        bool keeps = false;
        for (size_t i = 0; i < count && !keeps; i++)
            keeps = str_equal_cstr(names[i], pipe->config.name);
        for (int i = 0; i < pipe->used && !keeps; i++) {
            if (pipe->processes[i].state == PIPE_READY)
                pipe_retire(&pipe->processes[i]);
        }
    }
    pthread_mutex_unlock(&pipes->lock);
    pipe_wake(pipes);
}

const char *pipe_command(const struct pipe *pipe) { return pipe->command; }

static enum stop_reason stop_of(const struct pipe_call *call) {
    enum stop_reason stop = stop_read(call->limits.cancel);
    if (stop == STOP_NONE && call->asked != NULL && atomic_load_explicit(call->asked, memory_order_relaxed))
        stop = STOP_ASKED;
    if (stop == STOP_NONE && call->limits.deadline_ms > 0 && clock_boot_ms() >= call->limits.deadline_ms)
        stop = STOP_TIMEOUT;
    return stop;
}

/* The least busy process that may take the item; one that runs alone gets an idle one, and reserves one that
 * is not idle yet. */
static struct pipe_process *room_for(const struct pipe *pipe, const struct pipe_item *item) {
    struct pipe_process *best = NULL;
    for (int i = 0; i < pipe->used; i++) {
        struct pipe_process *process = &pipe->processes[i];
        if (process->state != PIPE_READY || process->retiring)
            continue;
        if (process->reserved == item) {
            best = process;
            break;
        }
        bool room = item->alone || process->in_flight < process->at_once;
        if (process->reserved == NULL && room && (best == NULL || process->in_flight < best->in_flight))
            best = process;
    }
    if (best != NULL && item->alone)
        best->reserved = item;
    return best != NULL && (!item->alone || best->in_flight == 0) ? best : NULL;
}

static void leave_queue(struct pipe *pipe, const struct pipe_item *item) {
    pipe->waiting--;
    for (int i = 0; item->process == NULL && i < pipe->used; i++) {
        if (pipe->processes[i].reserved == item)
            pipe->processes[i].reserved = NULL;
    }
}

static void not_started(struct pipe_answer *answer, int64_t wait_ms, const char *why) {
    answer->end = (struct process_end){.outcome = PROCESS_NOT_STARTED, .wait_ms = wait_ms > 0 ? wait_ms : 1};
    snprintf(answer->error, sizeof(answer->error), "%s", why);
}

/* How an item ends that was told to stop. */
static void stopped(struct pipe_answer *answer, enum stop_reason why) {
    answer->result = PIPE_NONE;
    answer->end.outcome = process_stopped(why);
    process_explain(&answer->end, 0, answer->error, sizeof(answer->error));
}

/* Whether the item may not be sent any more, or no process will take it soon: the answer says why. */
static bool given_up(const struct pipe *pipe, struct pipe_item *item) {
    int64_t now_ms = clock_boot_ms(), fence_ms = item->call->fence_ms;
    enum stop_reason stop = stop_of(item->call);
    if (stop == STOP_TIMEOUT || (stop == STOP_NONE && fence_ms > 0 && now_ms >= fence_ms))
        not_started(item->answer, BUSY_MS, "no process had room for it in time");
    else if (stop != STOP_NONE)
        stopped(item->answer, stop);
    else if (now_ms < pipe->restart_at_ms && pipe_live(pipe) == 0)
        not_started(item->answer, pipe->restart_at_ms - now_ms, pipe->trouble);
    return item->answer->end.outcome != 0;
}

/* Waits for a process that takes the item. NULL: the answer says why there is none. */
static struct pipe_process *acquire(struct pipe *pipe, struct pipe_item *item) {
    bool asked = false;
    item->process = NULL;
    pipe->waiting++;
    while (!given_up(pipe, item) && (item->process = room_for(pipe, item)) == NULL) {
        if (!asked)
            pipe_wake(pipe->pipes);
        asked = true;
        struct timespec until = clock_monotonic_after(LOOK_MS);
        pthread_cond_timedwait(&pipe->room, &pipe->pipes->lock, &until);
    }
    leave_queue(pipe, item);
    return item->process;
}

static void send_item(struct pipe_process *process, struct pipe_item *item) {
    item->id = ++process->last_id;
    item->next = process->items;
    process->items = item;
    process->in_flight++;
    buf_printf(&process->lines.out, "{\"id\":%" PRId64 ",", item->id);
    lines_put(&process->lines, item->call->members);
    lines_put(&process->lines, STR("}"));
    lines_end(&process->lines);
    pipe_write(process);
}

/* Tells the process once, then kills it; at once if the item is lost. */
static void check_stop(struct pipe_item *item) {
    static const char *const words[] = {
        [STOP_TIMEOUT] = "timeout", [STOP_ASKED] = "cancelled", [STOP_LEAVING] = "stopping"};
    enum stop_reason stop = stop_of(item->call);
    int64_t now_ms = clock_boot_ms();
    if (item->stop == STOP_NONE && stop != STOP_NONE && stop != STOP_FENCED) {
        buf_printf(&item->process->lines.out, "{\"id\":%" PRId64 ",\"cancel\":\"%s\"}", item->id,
                   words[stop]);
        lines_end(&item->process->lines);
        pipe_write(item->process);
        item->stop = stop;
        item->kill_at_ms = now_ms + PROCESS_TERM_MS;
    }
    if (stop == STOP_FENCED)
        item->stop = stop;
    if (!item->to_blame && (stop == STOP_FENCED || (item->stop != STOP_NONE && now_ms >= item->kill_at_ms))) {
        item->to_blame = true;
        pipe_kill(item->process, NULL);
    }
}

/* Without the lock, because the function that takes it may be slow. */
static void pass_on_progress(struct pipes *pipes, struct pipe_item *item) {
    struct buf told = item->progress;
    if (told.len == 0)
        return;
    buf_init(&item->progress, 0);
    pthread_mutex_unlock(&pipes->lock);
    if (item->call->on_progress != NULL && !told.failed)
        item->call->on_progress(item->call->self, buf_str(&told));
    buf_free(&told);
    pthread_mutex_lock(&pipes->lock);
}

static void await_answer(struct pipes *pipes, struct pipe_item *item) {
    while (true) {
        pass_on_progress(pipes, item);
        if (item->over)
            return;
        check_stop(item);
        struct timespec until = clock_monotonic_after(LOOK_MS);
        pthread_cond_timedwait(&item->changed, &pipes->lock, &until);
    }
}

void pipe_run(struct pipe *pipe, const struct pipe_call *call, struct pipe_answer *answer) {
    struct pipe_item item = {.call = call, .answer = answer};
    int64_t began_us = clock_boot_us();
    *answer = (struct pipe_answer){.after_ms = -1};
    buf_init(&answer->output, 0);
    buf_init(&item.progress, 0);
    thread_cond_init(&item.changed);
    pthread_mutex_lock(&pipe->pipes->lock);
    do {
        item.over = item.again = false;
        struct pipe_process *process = acquire(pipe, &item);
        if (process == NULL)
            break;
        send_item(process, &item);
        await_answer(pipe->pipes, &item);
    } while (item.again);
    pthread_mutex_unlock(&pipe->pipes->lock);
    pthread_cond_destroy(&item.changed);
    buf_free(&item.progress);
    answer->end.elapsed_us = clock_boot_us() - began_us;
    bool counts = answer->result == PIPE_DONE || (answer->result != PIPE_NONE && item.stop == STOP_TIMEOUT);
    if (item.over && item.stop != STOP_NONE && !counts)
        stopped(answer, item.stop);
}
