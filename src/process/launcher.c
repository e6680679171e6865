/* Starts programs safely from a program with threads, knows which of them run, and ends them. */
#include "process/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "pawl.h"

struct spawn_request {
    const struct child_request *child; /* its environment: the names that every program needs, its pairs, … */
    const char *run;                   /* … and PAWL_RUN */
    const int *fds;                    /* three, which become 0, 1 and 2; everything else is closed */
};

/* ThreadSanitizer takes every clone for a fork; after a child that shares our memory it ignores the locks of
 * the thread that made it. */
#ifdef __SANITIZE_THREAD__
enum { STACK_BYTES = 131072, STACK_SHARED = MAP_SHARED, MEMORY_SHARED = 0 };
#else
enum { STACK_BYTES = 131072, STACK_SHARED = MAP_PRIVATE, MEMORY_SHARED = CLONE_VM };
#endif

/* What a program needs to run at all. The database's address and password are not included. */
static const char *const passed_on[] = {"PATH", "HOME",   "USER",   "LOGNAME",  "SHELL", "LANG",
                                        "TZ",   "LC_ALL", "TMPDIR", "LC_CTYPE", "TERM"};

enum { PASSED_COUNT = sizeof(passed_on) / sizeof(*passed_on) };

struct spawned {
    const struct spawn_request *request;
    char *const *envp;
    pid_t parent;
    int failed; /* errno of the child: this is at the far end of its stack, which we both see */
};

/*
 * Runs in the child, on a stack of its own, in the parent's memory: system calls only, no library that could
 * hold a lock of another thread.
 */
__attribute__((no_sanitize("address", "undefined"))) static int child_main(void *self) {
    struct spawned *child = self;
    const struct spawn_request *request = child->request;
    sigset_t none;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent)
        _exit(127); /* the parent died before PR_SET_PDEATHSIG took effect */
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    }
    if (dup2(request->fds[0], 0) >= 0 && dup2(request->fds[1], 1) >= 0 && dup2(request->fds[2], 2) >= 0) {
        syscall(SYS_close_range, 3u, ~0u, 0u);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(request->child->argv[0], request->child->argv, child->envp);
    }
    child->failed = errno;
    _exit(127);
}

static bool add(struct arena *arena, char **env, size_t *count, struct environment_pair pair) {
    if (pair.value == NULL)
        return true;
    env[*count] = arena_printf(arena, "%s=%s", pair.name, pair.value);
    return env[(*count)++] != NULL;
}

/* Its environment, with NULL at the end; NULL: no memory. */
static char **environment(struct arena *arena, const struct spawn_request *request) {
    size_t count = 0;
    char **env = arena_array(arena, PASSED_COUNT + request->child->pair_count + 2, sizeof(char *));
    bool fine = env != NULL;
    for (size_t i = 0; fine && i < PASSED_COUNT; i++)
        fine = add(arena, env, &count, (struct environment_pair){passed_on[i], getenv(passed_on[i])});
    for (size_t i = 0; fine && i < request->child->pair_count; i++)
        fine = add(arena, env, &count, request->child->pairs[i]);
    fine = fine && add(arena, env, &count, (struct environment_pair){"PAWL_RUN", request->run});
    return fine ? env : NULL;
}

static pawl_status spawn_in(const struct spawn_request *request, char *const *envp, pid_t *pid, int *pidfd,
                            pawl_error *err) {
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, STACK_SHARED | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return error_errno(err, PAWL_NO_MEMORY, "spawn", errno, "no stack for a child process");
    struct spawned *child = (struct spawned *)stack;
    *child = (struct spawned){.request = request, .envp = envp, .parent = getpid()};
    /* No signal handler of ours may run in the child while it shares our memory. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = -1;
    pid_t made = clone(child_main, stack + STACK_BYTES, MEMORY_SHARED | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                       child, &fd);
    int code = errno, failed = child->failed;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_BYTES);
    if (made < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "spawn", code, "no process for %s",
                           request->child->argv[0]);
    if (failed != 0) {
        siginfo_t info;
        while (waitid(P_PIDFD, (id_t)fd, &info, WEXITED) != 0 && errno == EINTR)
            continue;
        close(fd);
        return error_errno(err, PAWL_NOT_FOUND, "spawn", failed, "%s cannot be executed",
                           request->child->argv[0]);
    }
    *pid = made;
    *pidfd = fd;
    return PAWL_OK;
}

/*
 * Starts the program in a new session. It dies with the calling thread (which must therefore live as long as
 * the worker), has the default signal handling, and only three open descriptors. *pidfd is closed by the
 * caller.
 */
static pawl_status spawn(const struct spawn_request *request, pid_t *pid, int *pidfd, pawl_error *err) {
    struct arena *arena = arena_create(0);
    char **envp = environment(arena, request);
    pawl_status status = envp != NULL ? spawn_in(request, envp, pid, pidfd, err)
                                      : error_no_memory(err, "spawn");
    arena_free(arena);
    return status;
}

void child_close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* An unnamed file: the program can read it at its own pace, and no thread has to feed it. */
static bool input_file(pawl_str input, int *fd) {
    *fd = memfd_create("input", MFD_CLOEXEC);
    for (size_t at = 0; *fd >= 0 && at < input.len;) {
        ssize_t wrote = write(*fd, input.ptr + at, input.len - at);
        if (wrote <= 0 && errno != EINTR)
            return false;
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return *fd >= 0 && lseek(*fd, 0, SEEK_SET) == 0;
}

/* One end for us, which does not block, and one for the child. */
static bool open_pipe(int *reader, int *writer, int *ours) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *reader = ends[0];
    *writer = ends[1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

/* Opens our ends of its pipes, and in fds those that become its stdin, stdout and stderr; the caller closes
 * these. */
static pawl_status child_open(struct child *child, const pawl_str *input, int fds[3], pawl_error *err) {
    *child = (struct child){.pidfd = -1, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    bool has_input = input != NULL ? input_file(*input, &fds[0])
                                   : open_pipe(&fds[0], &child->in_fd, &child->in_fd);
    if (!has_input)
        return error_errno(err, PAWL_UNAVAILABLE, "process", errno, "no input for a program");
    if (!open_pipe(&child->out_fd, &fds[1], &child->out_fd) ||
        !open_pipe(&child->err_fd, &fds[2], &child->err_fd))
        return error_errno(err, PAWL_UNAVAILABLE, "process", errno, "no pipes for a program");
    return PAWL_OK;
}

static void child_close(struct child *child) {
    child_close_fd(&child->in_fd);
    child_close_fd(&child->out_fd);
    child_close_fd(&child->err_fd);
    child_close_fd(&child->pidfd);
}

void child_read_stderr(struct child *child) {
    char bytes[CHILD_STDERR_KEPT / 2];
    enum { ROUNDS = 64 }; /* a flood on stderr must not starve stdout */
    for (int i = 0; child->err_fd >= 0 && i < ROUNDS; i++) {
        ssize_t got = read(child->err_fd, bytes, sizeof(bytes));
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            child_close_fd(&child->err_fd);
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

ssize_t child_write(const struct child *child, const char *bytes, size_t len) {
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ssize_t wrote = write(child->in_fd, bytes, len);
    int code = errno;
    if (wrote < 0 && code == EPIPE && !was_pending)
        sigtimedwait(&pipe_only, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return wrote;
}

/* Waits up to wait_ms for it to end; its output is discarded in the meantime, so that it does not block. */
static void child_wait(struct child *child, int64_t wait_ms) {
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
            child_close_fd(&child->out_fd);
        if (fds[2].revents != 0)
            child_read_stderr(child);
    }
}

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
    wanted.request =
        &(struct spawn_request){.child = request, .run = launcher->runs[child->slot], .fds = fds};
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
    for (int i = 0; i < 3; i++)
        child_close_fd(&fds[i]);
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
    child_close_fd(&child->in_fd);
    child_wait(child, grace_ms);
    return child_reap(child);
}
