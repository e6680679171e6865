/* Running one program: feeding it, reading its output, ending it, and judging how it ended. */
#include "process/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/utf8.h"

enum {
    LOOK_MS = 50,
    READ_BYTES = 16384,
    READ_TURNS = 16 /* 256 KiB, so that one flood does not starve the others */
};

pawl_status process_start(struct process *process, struct launcher *launcher, const struct process_spec *spec,
                          pawl_error *err) {
    struct child_request request = {spec->argv, spec->pairs, spec->pair_count,
                                    spec->talks ? NULL : &spec->input};
    struct child child;
    pawl_status status = child_start(launcher, &request, &child, err);
    if (status != PAWL_OK)
        return status;
    size_t out_max = spec->out_max > 0 ? spec->out_max : PROCESS_STDOUT_BYTES_MAX;
    struct buf out = process->out;
    if (out.ptr == NULL)
        buf_init(&out, 0);
    buf_reset(&out);
    *process = (struct process){.child = child,
                                .out_max = out_max,
                                .out_kept = spec->out_kept > 0 ? spec->out_kept : out_max,
                                .on_line = spec->on_line,
                                .self = spec->self,
                                .started_us = clock_boot_us(),
                                .out = out};
    return PAWL_OK;
}

static void tell_lines(struct process *process) {
    while (process->on_line != NULL) {
        const char *start = process->out.ptr + process->line_at;
        const char *end = memchr(start, '\n', process->out.len - process->line_at);
        if (end == NULL)
            return;
        process->on_line(process->self, (pawl_str){start, (size_t)(end - start)});
        process->line_at += (size_t)(end - start) + 1;
    }
}

/* A program that exited by itself has finished its last line, even without a newline; one that was killed has
 * not. */
static void tell_last_line(struct process *process) {
    size_t len = process->out.len - process->line_at;
    if (process->on_line == NULL || process->flooded || len == 0)
        return;
    process->on_line(process->self, (pawl_str){process->out.ptr + process->line_at, len});
    process->line_at = process->out.len;
}

static void kill_session(const struct process *process, int number) {
    kill(-process->child.pid, number); /* the session it was started in */
    kill(process->child.pid, number);
}

static void kill_now(struct process *process) {
    process->kill_at_ms = INT64_MAX;
    kill_session(process, SIGKILL);
}

static void keep(struct process *process, const char *bytes, size_t len) {
    size_t room = process->out.len < process->out_kept ? process->out_kept - process->out.len : 0;
    buf_append(&process->out, bytes, len < room ? len : room);
    process->out_bytes += len;
    tell_lines(process);
}

void process_read(struct process *process) {
    struct child *child = &process->child;
    char bytes[READ_BYTES];
    child_read_stderr(child);
    for (int turn = 0; turn < READ_TURNS && child->out_fd >= 0; turn++) {
        ssize_t got = read(child->out_fd, bytes, sizeof(bytes));
        if (got > 0) {
            keep(process, bytes, (size_t)got);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            child_close_fd(&child->out_fd);
        } else {
            break;
        }
    }
    if ((process->out_bytes > process->out_max || process->out.failed) && !process->flooded) {
        process->flooded = true;
        kill_now(process);
    }
}

void process_stop(struct process *process, enum stop_reason why, int64_t now_ms) {
    if (process->child.pid == 0 || why == STOP_NONE)
        return;
    if (process->stop == STOP_NONE)
        process->stop = why;
    if (process->kill_at_ms == INT64_MAX)
        return;
    if (why == STOP_FENCED) {
        kill_now(process);
    } else if (process->kill_at_ms == 0) {
        process->kill_at_ms = now_ms + PROCESS_TERM_MS;
        kill_session(process, SIGTERM);
    }
}

void process_tick(struct process *process, int64_t now_ms) {
    bool asked = process->kill_at_ms != 0 && process->kill_at_ms != INT64_MAX;
    if (process->child.pid != 0 && asked && now_ms >= process->kill_at_ms)
        kill_now(process);
}

void process_words(pawl_str bytes, char *text, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < bytes.len;) {
        uint32_t code = 0;
        size_t width = utf8_decode(bytes.ptr + i, bytes.len - i, &code);
        bool blank = width == 1 && (code == '\n' || code == '\t' || code == '\r');
        bool strange = width == 0 || utf8_is_control(code);
        if (at + (width > 0 ? width : 1) >= size)
            break;
        if (strange)
            text[at++] = blank ? ' ' : '?';
        else
            memcpy(text + at, bytes.ptr + i, width);
        at += strange ? 0 : width;
        i += width > 0 ? width : 1;
    }
    text[at] = '\0';
}

/* Its output for people, without the "pawl:…" lines for the worker. */
static void take_output(pawl_str output, struct process_end *end) {
    size_t at = 0;
    for (pawl_str part; at + 1 < sizeof(end->complaint) && str_next(&output, '\n', &part);) {
        pawl_str line = str_trim(part);
        if (line.len > 0 && !str_starts_with(line, STR("pawl:"))) {
            if (at > 0)
                end->complaint[at++] = ' ';
            process_words(line, end->complaint + at, sizeof(end->complaint) - at);
            at += strlen(end->complaint + at);
        }
    }
}

static void take_words(const struct process *process, struct process_end *end) {
    size_t most = sizeof(end->complaint) - 1;
    pawl_str words = str_trim((pawl_str){process->child.err_tail, process->child.err_len});
    if (words.len > most) {
        words = (pawl_str){words.ptr + words.len - most, most};
        while (words.len > 0 && ((unsigned char)words.ptr[0] & 0xc0) == 0x80)
            words = (pawl_str){words.ptr + 1, words.len - 1};
    }
    if (words.len > 0)
        process_words(words, end->complaint, sizeof(end->complaint));
    else
        take_output(buf_str(&process->out), end);
}

enum process_outcome process_stopped(enum stop_reason why) {
    static const enum process_outcome outcomes[] = {[STOP_TIMEOUT] = PROCESS_TIMED_OUT,
                                                    [STOP_ASKED] = PROCESS_CANCELLED,
                                                    [STOP_LEAVING] = PROCESS_STOPPED,
                                                    [STOP_FENCED] = PROCESS_FENCED};
    return outcomes[why];
}

static enum process_outcome outcome_of(const struct process *process, const struct child_exit *how) {
    if (process->flooded)
        return PROCESS_FLOODED;
    if (process->stop != STOP_NONE)
        return process_stopped(process->stop);
    return how->exited ? PROCESS_EXITED : PROCESS_SIGNALLED;
}

void process_reap(struct process *process, struct process_end *end) {
    struct child *child = &process->child;
    /* Kill the rest of its session first, or a descendant could continue to write. */
    kill(-child->pid, SIGKILL);
    process_read(process);
    struct child_exit how = child_reap(child);
    if (how.exited)
        tell_last_line(process);
    *end = (struct process_end){.outcome = outcome_of(process, &how),
                                .status = how.status,
                                .out_max = process->out_max,
                                .elapsed_us = clock_boot_us() - process->started_us};
    take_words(process, end);
}

void process_free(struct process *process) { buf_free(&process->out); }

/* Until when only the stop flag has to be checked. */
static int wait_ms(const struct process *process, const struct stop_limit *limits, int64_t now_ms) {
    int64_t left_ms = LOOK_MS;
    if (process->kill_at_ms > 0 && process->kill_at_ms - now_ms < left_ms)
        left_ms = process->kill_at_ms - now_ms;
    if (limits->deadline_ms > now_ms && limits->deadline_ms - now_ms < left_ms)
        left_ms = limits->deadline_ms - now_ms;
    return left_ms > 0 ? (int)left_ms : 0;
}

/* Only the process's exit counts; its output may be closed earlier, or kept open by others. */
static void watch(struct process *process, const struct stop_limit *limits) {
    const struct child *child = &process->child;
    for (bool ended = false; !ended;) {
        int64_t now_ms = clock_boot_ms();
        process_stop(process, stop_read(limits->cancel), now_ms);
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

pawl_status process_run(struct launcher *launcher, const struct process_spec *spec,
                        const struct stop_limit *limits, struct buf *output, struct process_end *end,
                        pawl_error *err) {
    struct process process = {0};
    *end = (struct process_end){.outcome = PROCESS_NOT_STARTED};
    pawl_status status = process_start(&process, launcher, spec, err);
    if (status != PAWL_OK) {
        end->wait_ms = start_failures_wait_ms(launcher_failures(launcher), spec->argv[0]);
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

bool process_permanent(const struct process_end *end) {
    if (end->outcome != PROCESS_EXITED)
        return false;
    switch (end->status) { /* of sysexits.h */
    case 64:               /* usage */
    case 65:               /* data */
    case 66:               /* no input */
    case 67:               /* no user */
    case 68:               /* no host */
    case 77:               /* no permission */
    case 78:               /* configuration */
        return true;
    default: /* also 126 and 127, a missing program: the machine is at fault, not the work */
        return false;
    }
}

void process_explain(const struct process_end *end, int64_t timeout_ms, char *text, size_t size) {
    static const char *const words[] = {[PROCESS_CANCELLED] = "cancelled",
                                        [PROCESS_STOPPED] = "ended because the worker stops",
                                        [PROCESS_FENCED] = "killed because its lease ended",
                                        [PROCESS_NOT_STARTED] = "could not be started"};
    char what[128] = "";
    switch (end->outcome) {
    case PROCESS_EXITED:
        snprintf(what, sizeof(what), "exit code %d", end->status);
        break;
    case PROCESS_SIGNALLED:
        snprintf(what, sizeof(what), "ended by signal %d (%s)", end->status, strsignal(end->status));
        break;
    case PROCESS_TIMED_OUT:
        snprintf(what, sizeof(what), "did not end within its time limit of %lld ms",
                 (long long)(timeout_ms > 0 ? timeout_ms : end->elapsed_us / 1000));
        break;
    case PROCESS_FLOODED:
        snprintf(what, sizeof(what), "wrote more than %zu bytes to stdout", end->out_max);
        break;
    case PROCESS_CANCELLED:
    case PROCESS_STOPPED:
    case PROCESS_FENCED:
    case PROCESS_NOT_STARTED:
        snprintf(what, sizeof(what), "%s", words[end->outcome]);
        break;
    }
    snprintf(text, size, "%s%s%s", what, end->complaint[0] != '\0' ? ": " : "", end->complaint);
}
