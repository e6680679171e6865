/* The pipes between a child process and its parent. */
#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time/clock.h"

static void close_fd(int *fd) {
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

pawl_status child_open(struct child *child, const pawl_str *input, int fds[3], pawl_error *err) {
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

void child_close(struct child *child) {
    close_fd(&child->in_fd);
    close_fd(&child->out_fd);
    close_fd(&child->err_fd);
    close_fd(&child->pidfd);
}

void child_read_stderr(struct child *child) {
    char bytes[CHILD_STDERR_KEPT / 2];
    enum { ROUNDS = 64 }; /* a flood on stderr must not starve stdout */
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

void child_wait(struct child *child, int64_t wait_ms) {
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
