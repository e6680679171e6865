/* One conversation with a program. */
#include "handler/talk.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "handler/quiet_write.h"

enum { LOOK_MS = 50, READ_BYTES = 65536, END_MS = 500 };

struct pump {
    const struct talk *in;
    struct child child;
    struct buf *out;
    size_t in_at, line_at;
    bool closed; /* its stdout */
};

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void tell_lines(struct pump *pump) {
    while (pump->in->on_line != NULL) {
        const char *start = pump->out->ptr + pump->line_at;
        const char *end = memchr(start, '\n', pump->out->len - pump->line_at);
        if (end == NULL)
            return;
        pump->in->on_line(pump->in->self, (pawl_str){start, (size_t)(end - start)});
        pump->line_at += (size_t)(end - start) + 1;
    }
}

static void pump_once(struct pump *pump, int wait_ms) {
    char bytes[READ_BYTES];
    struct child *child = &pump->child;
    pawl_str input = pump->in->input;
    struct pollfd fds[] = {{child->out_fd, POLLIN, 0},
                           {child->err_fd, POLLIN, 0},
                           {child->in_fd, POLLOUT, 0},
                           {child->pidfd, POLLIN, 0}};
    if (poll(fds, 4, wait_ms) <= 0)
        return;
    if (fds[1].revents != 0)
        child_read_stderr(child);
    if (fds[2].revents != 0) {
        ssize_t wrote = write_quietly(child->in_fd, input.ptr + pump->in_at, input.len - pump->in_at);
        pump->in_at += wrote > 0 ? (size_t)wrote : 0;
        if (pump->in_at == input.len || (wrote < 0 && errno != EAGAIN && errno != EINTR))
            close_fd(&child->in_fd); /* a program need not read what it is given */
    }
    if (fds[0].revents != 0) {
        ssize_t got = read(child->out_fd, bytes, sizeof(bytes));
        if (got > 0)
            buf_append(pump->out, bytes, (size_t)got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            close_fd(&child->out_fd);
        tell_lines(pump);
    }
    /* It has ended, and what it said has been read: a descendant may hold the pipe open for ever. */
    pump->closed = child->out_fd < 0 || (fds[3].revents != 0 && fds[0].revents == 0);
}

pawl_status talk(const struct talk *in, struct buf *output, struct talk_end *end, pawl_error *err) {
    struct pump pump = {.in = in, .out = output};
    *end = (struct talk_end){0};
    pawl_status status = child_start(in->keeper, &in->request, &pump.child, err);
    if (status != PAWL_OK)
        return status;
    while (!pump.closed && !end->cancelled && !end->timed_out && !end->flooded) {
        int64_t left_ms = in->deadline_ms > 0 ? in->deadline_ms - clock_boot_ms() : INT64_MAX;
        end->cancelled = in->cancel != NULL && atomic_load_explicit(in->cancel, memory_order_relaxed);
        end->timed_out = left_ms <= 0;
        if (!end->cancelled && !end->timed_out)
            pump_once(&pump, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
        end->flooded = output->failed;
    }
    bool ended = pump.closed;
    if (!ended)
        kill(-pump.child.pid, SIGTERM);
    /* One that closed its stdout may still be busy; its time is the conversation's. */
    int64_t left_ms = in->deadline_ms > 0 ? in->deadline_ms - clock_boot_ms() : INT64_MAX / 2;
    int64_t grace_ms = !ended ? in->term_ms : left_ms > END_MS ? left_ms : END_MS;
    struct child_exit how = child_end(in->keeper, &pump.child, grace_ms);
    end->exited = how.exited;
    end->status = how.status;
    pawl_str tail = str_trim((pawl_str){pump.child.err_tail, pump.child.err_len});
    if (tail.len > sizeof(end->complaint) - 1)
        tail = (pawl_str){tail.ptr + tail.len - (sizeof(end->complaint) - 1), sizeof(end->complaint) - 1};
    snprintf(end->complaint, sizeof(end->complaint), "%.*s", STR_ARG(tail));
    return PAWL_OK;
}
