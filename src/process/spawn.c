/* Starting a child process safely from a program with threads. */
#include "process/spawn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"

enum { STACK_BYTES = 131072 };

/* What a program needs to run at all. The database's address and password are not included. */
static const char *const passed_on[] = {"PATH", "HOME",   "USER",   "LOGNAME",  "SHELL", "LANG",
                                        "TZ",   "LC_ALL", "TMPDIR", "LC_CTYPE", "TERM"};

enum { PASSED_COUNT = sizeof(passed_on) / sizeof(*passed_on) };

struct spawned {
    const struct spawn_request *request;
    char *const *envp;
    pid_t parent;
    int failed; /* errno of the child, which shares our memory until it has executed the program */
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
        execve(request->argv[0], request->argv, child->envp);
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
    char **env = arena_array(arena, PASSED_COUNT + request->pair_count + 2, sizeof(char *));
    bool fine = env != NULL;
    for (size_t i = 0; fine && i < PASSED_COUNT; i++)
        fine = add(arena, env, &count, (struct environment_pair){passed_on[i], getenv(passed_on[i])});
    for (size_t i = 0; fine && i < request->pair_count; i++)
        fine = add(arena, env, &count, request->pairs[i]);
    fine = fine && add(arena, env, &count, (struct environment_pair){"PAWL_RUN", request->run});
    return fine ? env : NULL;
}

static pawl_status spawn_in(const struct spawn_request *request, char *const *envp, pid_t *pid, int *pidfd,
                            pawl_error *err) {
    struct spawned child = {.request = request, .envp = envp, .parent = getpid()};
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return error_errno(err, PAWL_NO_MEMORY, "spawn", errno, "no stack for a child process");
    /* No signal handler of ours may run in the child while it shares our memory. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = -1;
    pid_t made =
        clone(child_main, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &child, &fd);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_BYTES);
    if (made < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "spawn", code, "no process for %s", request->argv[0]);
    if (child.failed != 0) {
        siginfo_t info;
        while (waitid(P_PIDFD, (id_t)fd, &info, WEXITED) != 0 && errno == EINTR)
            continue;
        close(fd);
        return error_errno(err, PAWL_NOT_FOUND, "spawn", child.failed, "%s cannot be executed",
                           request->argv[0]);
    }
    *pid = made;
    *pidfd = fd;
    return PAWL_OK;
}

pawl_status spawn(const struct spawn_request *request, pid_t *pid, int *pidfd, pawl_error *err) {
    struct arena *arena = arena_create(0);
    char **envp = arena != NULL ? environment(arena, request) : NULL;
    pawl_status status = envp != NULL ? spawn_in(request, envp, pid, pidfd, err)
                                      : error_no_memory(err, "spawn");
    arena_free(arena);
    return status;
}
