/* Starts programs, and knows which of them run. */
#include "process/launcher.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"

enum { RUN_BYTES = 64 };

struct launch {
    const struct spawn_request *request;
    struct child *child;
    pawl_status status;
    pawl_error error;
    bool done;
};

struct launcher {
    enum launcher_thread threads;
    pthread_t thread; /* its own */
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    struct launch *launch; /* the one requested now */
    bool closing;
    struct start_failures failures;
    char name[RUN_BYTES / 2];
    uint64_t run_count;
    pid_t pids[LAUNCHER_CHILDREN_MAX]; /* 0 = free */
    char runs[LAUNCHER_CHILDREN_MAX][RUN_BYTES];
};

/* In the table under the lock it was started with: the sweep of orphans may get the lock before the thread
 * that asked does, and would end a child that it does not find there. */
static void carry_out(struct launcher *launcher, struct launch *launch) {
    struct child *child = launch->child;
    launch->status = spawn(launch->request, &child->pid, &child->pidfd, &launch->error);
    if (launch->status == PAWL_OK)
        launcher->pids[child->slot] = child->pid;
    launch->done = true;
}

static void *launcher_main(void *self) {
    struct launcher *launcher = self;
    pthread_mutex_lock(&launcher->lock);
    while (!launcher->closing) {
        struct launch *launch = launcher->launch;
        if (launch == NULL || launch->done) {
            pthread_cond_wait(&launcher->asked, &launcher->lock);
            continue;
        }
        carry_out(launcher, launch);
        pthread_cond_broadcast(&launcher->answered);
    }
    pthread_mutex_unlock(&launcher->lock);
    return NULL;
}

pawl_status launcher_create(const char *name, enum launcher_thread thread, struct launcher **launcher,
                            pawl_error *err) {
    struct launcher *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "process");
    snprintf(made->name, sizeof(made->name), "%s", name);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->asked, NULL);
    pthread_cond_init(&made->answered, NULL);
    start_failures_init(&made->failures);
    made->threads = thread;
    int code = thread == LAUNCHER_OWN_THREAD ? thread_start(&made->thread, launcher_main, made) : 0;
    if (code != 0) {
        free(made);
        return error_errno(err, PAWL_NO_MEMORY, "process", code, "no thread for child processes");
    }
    *launcher = made;
    return PAWL_OK;
}

void launcher_free(struct launcher *launcher) {
    if (launcher == NULL)
        return;
    pthread_mutex_lock(&launcher->lock);
    launcher->closing = true;
    pthread_cond_broadcast(&launcher->asked);
    pthread_mutex_unlock(&launcher->lock);
    if (launcher->threads == LAUNCHER_OWN_THREAD)
        pthread_join(launcher->thread, NULL);
    pthread_mutex_destroy(&launcher->lock);
    pthread_cond_destroy(&launcher->asked);
    pthread_cond_destroy(&launcher->answered);
    start_failures_free(&launcher->failures);
    free(launcher);
}

void launcher_lock(struct launcher *launcher) { pthread_mutex_lock(&launcher->lock); }

void launcher_unlock(struct launcher *launcher) { pthread_mutex_unlock(&launcher->lock); }

bool launcher_has_child(const struct launcher *launcher, pid_t pid) {
    for (int i = 0; i < LAUNCHER_CHILDREN_MAX; i++) {
        if (launcher->pids[i] == pid)
            return true;
    }
    return false;
}

bool launcher_has_run(const struct launcher *launcher, const char *run) {
    for (int i = 0; i < LAUNCHER_CHILDREN_MAX; i++) {
        if (launcher->pids[i] != 0 && (run == NULL || strcmp(launcher->runs[i], run) == 0))
            return true;
    }
    return false;
}

struct start_failures *launcher_failures(struct launcher *launcher) {
    return &launcher->failures;
}

/* A free place in the table, with the name of the next run; -1: full. The lock is held. */
static int take_place(struct launcher *launcher) {
    for (int i = 0; i < LAUNCHER_CHILDREN_MAX; i++) {
        if (launcher->pids[i] == 0) {
            snprintf(launcher->runs[i], RUN_BYTES, "%s-%llu", launcher->name,
                     (unsigned long long)++launcher->run_count);
            return i;
        }
    }
    return -1;
}

static pawl_status launch(struct launcher *launcher, const struct child_request *request, const int fds[3],
                          struct child *child, pawl_error *err) {
    struct launch wanted = {.child = child};
    pthread_mutex_lock(&launcher->lock);
    while (launcher->launch != NULL)
        pthread_cond_wait(&launcher->answered, &launcher->lock);
    child->launcher = launcher;
    child->slot = take_place(launcher);
    if (child->slot < 0) {
        pthread_mutex_unlock(&launcher->lock);
        return error_set(err, PAWL_BUSY, "process", "%d child processes run already, which is the most",
                         LAUNCHER_CHILDREN_MAX);
    }
    wanted.request = &(struct spawn_request){.argv = request->argv,
                                             .pairs = request->pairs,
                                             .pair_count = request->pair_count,
                                             .run = launcher->runs[child->slot],
                                             .fds = fds};
    if (launcher->threads == LAUNCHER_CALLER) {
        carry_out(launcher, &wanted);
    } else {
        launcher->launch = &wanted;
        pthread_cond_signal(&launcher->asked);
        while (!wanted.done)
            pthread_cond_wait(&launcher->answered, &launcher->lock);
        launcher->launch = NULL;
        pthread_cond_broadcast(&launcher->answered);
    }
    pthread_mutex_unlock(&launcher->lock);
    if (wanted.status != PAWL_OK)
        *err = wanted.error;
    return wanted.status;
}

pawl_status child_start(struct launcher *launcher, const struct child_request *request, struct child *child,
                        pawl_error *err) {
    int fds[3] = {-1, -1, -1};
    pawl_error none = {0};
    struct child made;
    err = err != NULL ? err : &none;
    pawl_status status = child_open(&made, request->input, fds, err);
    if (status == PAWL_OK)
        status = launch(launcher, request, fds, &made, err);
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (status != PAWL_OK) {
        child_close(&made);
        start_failed(&launcher->failures, request->argv[0], status, err->text);
        return status;
    }
    start_succeeded(&launcher->failures, request->argv[0]);
    *child = made;
    return PAWL_OK;
}

struct child_exit child_reap(struct child *child) {
    struct launcher *launcher = child->launcher;
    /* Kill the rest of its session before reaping it; afterwards its pid could belong to another process. */
    kill(-child->pid, SIGKILL);
    siginfo_t info = {0};
    pthread_mutex_lock(&launcher->lock);
    while (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0 && errno == EINTR)
        continue;
    launcher->pids[child->slot] = 0;
    pthread_mutex_unlock(&launcher->lock);
    child_read_stderr(child);
    child_close(child);
    child->pid = 0;
    return (struct child_exit){info.si_code == CLD_EXITED, info.si_status};
}

struct child_exit child_end(struct child *child, int64_t grace_ms) {
    if (child->pid == 0)
        return (struct child_exit){0};
    if (child->in_fd >= 0)
        close(child->in_fd);
    child->in_fd = -1;
    child_wait(child, grace_ms);
    return child_reap(child);
}
