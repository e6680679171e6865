/* Starting a child process safely from a program with threads. */
#include "process/spawn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

enum { STACK_BYTES = 131072 };

struct child {
    const struct spawn_request *request;
    pid_t parent;
    int failed; /* errno of the child, which shares our memory until it has executed the program */
};

/*
 * Runs in the child, on a stack of its own, in the parent's memory: system calls only, no library that could
 * hold a lock of another thread.
 */
__attribute__((no_sanitize("address", "undefined"))) static int child_main(void *self) {
    struct child *child = self;
    const struct spawn_request *request = child->request;
    sigset_t none;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent)
        _exit(127); /* the parent died before its death could be noticed */
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    }
    if (dup2(request->in_fd, 0) >= 0 && dup2(request->out_fd, 1) >= 0 && dup2(request->err_fd, 2) >= 0) {
        syscall(SYS_close_range, 3u, ~0u, 0u);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(request->argv[0], request->argv, request->envp);
    }
    child->failed = errno;
    _exit(127);
}

pawl_status spawn(const struct spawn_request *request, pid_t *pid, int *pidfd, pawl_error *err) {
    struct child child = {.request = request, .parent = getpid()};
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
