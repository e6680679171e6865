/* Child processes. */
#include "process/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "process/spawn.h"

struct order {
    const struct spawn_request *request;
    int place;
    pid_t pid;
    int pidfd;
    pawl_status status;
    pawl_error error;
    bool done;
};

struct keeper {
    enum keeper_thread threads;
    pthread_t thread; /* its own */
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    struct order *order; /* the one that is wanted now */
    bool closing;
    struct trouble trouble;
    char name[ORPHAN_RUN_BYTES / 2];
    uint64_t runs;
    pid_t pids[KEEPER_CHILDREN_MAX];
    char names[KEEPER_CHILDREN_MAX][ORPHAN_RUN_BYTES];
    pid_t live_pids[KEEPER_CHILDREN_MAX]; /* the same without gaps, for keeper_lock */
    char live_names[KEEPER_CHILDREN_MAX][ORPHAN_RUN_BYTES];
};

static void *keeper_main(void *self) {
    struct keeper *keeper = self;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->closing) {
        struct order *order = keeper->order;
        if (order == NULL || order->done) {
            pthread_cond_wait(&keeper->asked, &keeper->lock);
            continue;
        }
        order->status = spawn(order->request, &order->pid, &order->pidfd, &order->error);
        /* Here, under the lock it was started with: the sweep of orphans may have the lock before the one
         * who asked, and would end a child that it does not find in the table. */
        if (order->status == PAWL_OK)
            keeper->pids[order->place] = order->pid;
        order->done = true;
        pthread_cond_broadcast(&keeper->answered);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

pawl_status keeper_create(const char *name, enum keeper_thread thread, struct keeper **keeper,
                          pawl_error *err) {
    struct keeper *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_set(err, PAWL_NO_MEMORY, "keeper", "out of memory");
    snprintf(made->name, sizeof(made->name), "%s", name);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->asked, NULL);
    pthread_cond_init(&made->answered, NULL);
    trouble_init(&made->trouble);
    made->threads = thread;
    int code = thread == KEEPER_OWN_THREAD ? thread_start(&made->thread, keeper_main, made) : 0;
    if (code != 0) {
        free(made);
        return error_errno(err, PAWL_NO_MEMORY, "keeper", code, "no thread for child processes");
    }
    *keeper = made;
    return PAWL_OK;
}

void keeper_free(struct keeper *keeper) {
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->closing = true;
    pthread_cond_broadcast(&keeper->asked);
    pthread_mutex_unlock(&keeper->lock);
    if (keeper->threads == KEEPER_OWN_THREAD)
        pthread_join(keeper->thread, NULL);
    pthread_mutex_destroy(&keeper->lock);
    pthread_cond_destroy(&keeper->asked);
    pthread_cond_destroy(&keeper->answered);
    trouble_free(&keeper->trouble);
    free(keeper);
}

void keeper_lock(struct keeper *keeper, struct orphan_keep *keep) {
    size_t count = 0;
    pthread_mutex_lock(&keeper->lock);
    for (int i = 0; i < KEEPER_CHILDREN_MAX; i++) {
        if (keeper->pids[i] == 0)
            continue;
        keeper->live_pids[count] = keeper->pids[i];
        memcpy(keeper->live_names[count++], keeper->names[i], ORPHAN_RUN_BYTES);
    }
    *keep =
        (struct orphan_keep){keeper->live_pids, (const char(*)[ORPHAN_RUN_BYTES])keeper->live_names, count};
}

void keeper_unlock(struct keeper *keeper) { pthread_mutex_unlock(&keeper->lock); }

struct trouble *keeper_trouble(struct keeper *keeper) {
    return &keeper->trouble;
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A free place in the table, with the name of the next run; -1: full. The lock is held. */
static int take_place(struct keeper *keeper) {
    for (int i = 0; i < KEEPER_CHILDREN_MAX; i++) {
        if (keeper->pids[i] == 0) {
            snprintf(keeper->names[i], ORPHAN_RUN_BYTES, "%s-%llu", keeper->name,
                     (unsigned long long)++keeper->runs);
            return i;
        }
    }
    return -1;
}

/* Has the keeper's thread, or does, what the order says. The lock is held. */
static pawl_status carry_out(struct keeper *keeper, struct order *order, pawl_error *err) {
    if (keeper->threads == KEEPER_CALLER) {
        order->status = spawn(order->request, &order->pid, &order->pidfd, &order->error);
        if (order->status == PAWL_OK)
            keeper->pids[order->place] = order->pid;
    } else {
        keeper->order = order;
        pthread_cond_signal(&keeper->asked);
        while (!order->done)
            pthread_cond_wait(&keeper->answered, &keeper->lock);
        keeper->order = NULL;
        pthread_cond_broadcast(&keeper->answered);
    }
    if (order->status != PAWL_OK && err != NULL)
        *err = order->error;
    return order->status;
}

static pawl_status ask(struct keeper *keeper, const struct child_request *request, const int fds[3],
                       struct child *child, pawl_error *err) {
    struct environment env = {0};
    pthread_mutex_lock(&keeper->lock);
    while (keeper->order != NULL)
        pthread_cond_wait(&keeper->answered, &keeper->lock);
    int place = take_place(keeper);
    pawl_status status = PAWL_OK;
    if (place < 0)
        status = error_set(err, PAWL_BUSY, "keeper", "%d child processes run already, which is the most",
                           KEEPER_CHILDREN_MAX);
    if (status == PAWL_OK)
        status = environment_plain(&env, request->pairs, request->pair_count, keeper->names[place], err);
    if (status == PAWL_OK) {
        struct spawn_request wanted = {request->argv, env.list, fds[0], fds[1], fds[2]};
        struct order order = {.request = &wanted, .place = place};
        status = carry_out(keeper, &order, err);
        if (status == PAWL_OK) {
            child->pid = order.pid;
            child->pidfd = order.pidfd;
            child->slot = place;
        }
    }
    pthread_mutex_unlock(&keeper->lock);
    environment_free(&env);
    return status;
}

/* A file without a name: the program can read it as slowly as it likes, and no thread has to feed it. */
static pawl_status input_file(pawl_str input, int *fd, pawl_error *err) {
    pawl_status status = PAWL_OK;
    int made = memfd_create("input", MFD_CLOEXEC);
    if (made < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "keeper", errno, "no file for the input of a program");
    for (size_t at = 0; status == PAWL_OK && at < input.len;) {
        ssize_t wrote = write(made, input.ptr + at, input.len - at);
        if (wrote <= 0 && errno != EINTR)
            status = error_errno(err, PAWL_UNAVAILABLE, "keeper", errno,
                                 "the input of a program cannot be written");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (status == PAWL_OK && lseek(made, 0, SEEK_SET) != 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "keeper", errno, "no input for a program");
    if (status == PAWL_OK)
        *fd = made;
    else
        close(made);
    return status;
}

static pawl_status open_input(const struct child_request *request, int in[2], pawl_error *err) {
    if (request->input != NULL)
        return input_file(*request->input, &in[0], err);
    return pipe2(in, O_CLOEXEC) == 0
               ? PAWL_OK
               : error_errno(err, PAWL_UNAVAILABLE, "keeper", errno, "no pipe for a program");
}

static void unblock(int fd) {
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
}

pawl_status child_start(struct keeper *keeper, const struct child_request *request, struct child *child,
                        pawl_error *err) {
    int in[2] = {-1, -1}, out[2] = {-1, -1}, error_pipe[2] = {-1, -1};
    pawl_error none = {0};
    err = err != NULL ? err : &none;
    struct child made = {.pidfd = -1, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    pawl_status status = open_input(request, in, err);
    if (status == PAWL_OK && (pipe2(out, O_CLOEXEC) != 0 || pipe2(error_pipe, O_CLOEXEC) != 0))
        status = error_errno(err, PAWL_UNAVAILABLE, "keeper", errno, "no pipes for a program");
    if (status == PAWL_OK)
        status = ask(keeper, request, (int[3]){in[0], out[1], error_pipe[1]}, &made, err);
    close_fd(&in[0]);
    close_fd(&out[1]);
    close_fd(&error_pipe[1]);
    if (status != PAWL_OK) {
        close_fd(&in[1]);
        close_fd(&out[0]);
        close_fd(&error_pipe[0]);
        trouble_begin(&keeper->trouble, request->argv[0], status, err->text);
        return status;
    }
    trouble_end(&keeper->trouble, request->argv[0]);
    made.in_fd = in[1];
    made.out_fd = out[0];
    made.err_fd = error_pipe[0];
    unblock(made.in_fd);
    unblock(made.out_fd);
    unblock(made.err_fd);
    *child = made;
    return PAWL_OK;
}

void child_read_stderr(struct child *child) {
    char bytes[CHILD_STDERR_KEPT / 2];
    enum { ROUNDS = 64 }; /* a flood of complaints does not keep us from the answers */
    for (int i = 0; child->err_fd >= 0 && i < ROUNDS; i++) {
        ssize_t got = read(child->err_fd, bytes, sizeof(bytes));
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            close_fd(&child->err_fd);
        if (got <= 0)
            return;
        size_t len = (size_t)got, room = sizeof(child->err_tail) - child->err_len;
        if (len > room) {
            size_t drop = len - room;
            memmove(child->err_tail, child->err_tail + drop, child->err_len - drop);
            child->err_len -= drop;
        }
        memcpy(child->err_tail + child->err_len, bytes, len);
        child->err_len += len;
    }
}

/* Waits up to wait_ms for it to end; what it writes meanwhile is thrown away, so that it does not block. */
static void wait_for_end(struct child *child, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    char bytes[4096];
    while (true) {
        int64_t left_ms = until_ms - clock_boot_ms();
        struct pollfd fds[] = {
            {child->pidfd, POLLIN, 0}, {child->out_fd, POLLIN, 0}, {child->err_fd, POLLIN, 0}};
        int ready = poll(fds, 3, left_ms > 0 ? (int)left_ms : 0);
        if (fds[0].revents != 0 || left_ms <= 0 || (ready < 0 && errno != EINTR))
            return;
        if (fds[1].revents != 0 && read(child->out_fd, bytes, sizeof(bytes)) == 0)
            close_fd(&child->out_fd);
        if (fds[2].revents != 0)
            child_read_stderr(child);
    }
}

struct child_exit child_reap(struct keeper *keeper, struct child *child) {
    /* What is left of its session; before it is reaped, or its number might be another's by then.
     */
    kill(-child->pid, SIGKILL);
    siginfo_t info = {0};
    pthread_mutex_lock(&keeper->lock);
    while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0 && errno == EINTR)
        continue;
    keeper->pids[child->slot] = 0;
    pthread_mutex_unlock(&keeper->lock);
    child_read_stderr(child);
    close_fd(&child->in_fd);
    close_fd(&child->out_fd);
    close_fd(&child->err_fd);
    close_fd(&child->pidfd);
    child->pid = 0;
    return (struct child_exit){info.si_code == CLD_EXITED, info.si_status};
}

struct child_exit child_end(struct keeper *keeper, struct child *child, int64_t grace_ms) {
    if (child->pid == 0)
        return (struct child_exit){0};
    close_fd(&child->in_fd);
    wait_for_end(child, grace_ms);
    return child_reap(keeper, child);
}
