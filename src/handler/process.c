/* A handler that is a program. */
#include "handler/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/errclass.h"
#include "handler/environment.h"
#include "handler/spawn.h"
#include "work/message.h"

/* The message in a file without a name: the program can read it as slowly as it likes, and nobody has to
 * pump. */
static pawl_status message_file(const struct item *item, int *fd, pawl_error *err) {
    struct buf json;
    buf_init(&json, 0);
    work_message_json(&json, item);
    buf_append_char(&json, '\n');
    pawl_status status = buf_status(&json, "process", err);
    int made = status == PAWL_OK ? memfd_create("message", MFD_CLOEXEC) : -1;
    if (status == PAWL_OK && made < 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "process", errno, "no file for the message");
    for (size_t at = 0; status == PAWL_OK && at < json.len;) {
        ssize_t wrote = write(made, json.ptr + at, json.len - at);
        if (wrote <= 0 && errno != EINTR)
            status = error_errno(err, PAWL_UNAVAILABLE, "process", errno, "the message cannot be written");
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    buf_free(&json);
    if (status == PAWL_OK && lseek(made, 0, SEEK_SET) == 0)
        *fd = made;
    else if (made >= 0)
        close(made);
    return status;
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

pawl_status process_start(struct process *process, const struct handler *handler, const struct item *item,
                          const char *run, pawl_error *err) {
    int in = -1, out[2] = {-1, -1}, error_pipe[2] = {-1, -1}, pidfd = -1;
    pid_t pid = 0;
    struct environment env = {0};
    pawl_status status = message_file(item, &in, err);
    if (status == PAWL_OK && (pipe2(out, O_CLOEXEC) != 0 || pipe2(error_pipe, O_CLOEXEC) != 0))
        status = error_errno(err, PAWL_UNAVAILABLE, "process", errno, "no pipes for a handler");
    if (status == PAWL_OK)
        status = environment_make(&env, item, run, err);
    if (status == PAWL_OK) {
        struct spawn_request request = {handler->argv, env.list, in, out[1], error_pipe[1]};
        status = spawn(&request, &pid, &pidfd, err);
    }
    environment_free(&env);
    close_fd(&in);
    close_fd(&out[1]);
    close_fd(&error_pipe[1]);
    if (status != PAWL_OK) {
        close_fd(&out[0]);
        close_fd(&error_pipe[0]);
        return status;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(error_pipe[0], F_SETFL, O_NONBLOCK);
    char *ring = process->err_ring;
    *process = (struct process){.pid = pid,
                                .pidfd = pidfd,
                                .out_fd = out[0],
                                .err_fd = error_pipe[0],
                                .timeout_ms = handler->timeout_ms,
                                .started_us = clock_boot_us(),
                                .err_ring = ring};
    snprintf(process->run, sizeof(process->run), "%s", run);
    return PAWL_OK;
}

static void keep_out(struct process *process, const char *bytes, size_t len) {
    size_t room = sizeof(process->out) - process->out_len;
    size_t kept = len < room ? len : room;
    memcpy(process->out + process->out_len, bytes, kept);
    process->out_len += kept;
    process->out_bytes += len;
}

static void keep_err(struct process *process, const char *bytes, size_t len) {
    if (process->err_ring == NULL)
        process->err_ring = malloc(PROCESS_STDERR_RING);
    for (size_t i = 0; process->err_ring != NULL && i < len; i++)
        process->err_ring[(process->err_bytes + i) % PROCESS_STDERR_RING] = bytes[i];
    process->err_bytes += len;
}

/* At most 256 KiB per turn, so that one flood does not starve the loop. */
static void drain(struct process *process, int *fd, void (*keep)(struct process *, const char *, size_t)) {
    char bytes[16384];
    for (int turn = 0; turn < 16 && *fd >= 0; turn++) {
        ssize_t got = read(*fd, bytes, sizeof(bytes));
        if (got > 0)
            keep(process, bytes, (size_t)got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            close_fd(fd);
        else
            return;
    }
}

static void kill_group(const struct process *process, int number) {
    kill(-process->pid, number); /* the session it was started in */
    kill(process->pid, number);
}

void process_read(struct process *process) {
    drain(process, &process->out_fd, keep_out);
    drain(process, &process->err_fd, keep_err);
    if (process->out_bytes > PROCESS_STDOUT_BYTES_MAX && !process->flooded) {
        process->flooded = true;
        process->kill_at_ms = INT64_MAX;
        kill_group(process, SIGKILL);
    }
}

void process_end(struct process *process, enum process_stop why, int64_t now_ms) {
    if (process->pid == 0 || process->kill_at_ms == INT64_MAX)
        return;
    process->timed_out = process->timed_out || why == PROCESS_TIMEOUT;
    process->cancelled = process->cancelled || why != PROCESS_TIMEOUT;
    if (why == PROCESS_KILL) {
        process->kill_at_ms = INT64_MAX;
        kill_group(process, SIGKILL);
    } else if (process->kill_at_ms == 0) {
        process->kill_at_ms = now_ms + PROCESS_TERM_MS;
        kill_group(process, SIGTERM);
    }
}

void process_tick(struct process *process, int64_t now_ms) {
    if (process->pid == 0 || process->kill_at_ms == 0 || process->kill_at_ms == INT64_MAX)
        return;
    if (now_ms >= process->kill_at_ms) {
        process->kill_at_ms = INT64_MAX;
        kill_group(process, SIGKILL);
    }
}

/* The end of what the program wrote to stderr, or the beginning of its stdout when it wrote nothing there. */
static pawl_str last_words(const struct process *process, char *text, size_t size) {
    size_t len = 0;
    if (process->err_bytes > 0 && process->err_ring != NULL) {
        size_t kept = process->err_bytes < size ? process->err_bytes : size;
        if (kept > PROCESS_STDERR_RING)
            kept = PROCESS_STDERR_RING;
        for (size_t i = process->err_bytes - kept; i < process->err_bytes; i++)
            text[len++] = process->err_ring[i % PROCESS_STDERR_RING];
    } else {
        len = process->out_len < size ? process->out_len : size;
        memcpy(text, process->out, len);
    }
    /* What a stranger wrote becomes text that every store takes. */
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 0x7f)
            text[i] = text[i] == '\n' || text[i] == '\t' ? ' ' : '?';
    }
    return str_trim((pawl_str){text, len});
}

static void explain(const struct process *process, const siginfo_t *info, struct process_result *result) {
    char text[1024];
    pawl_str words = last_words(process, text, sizeof(text));
    char what[128];
    if (process->flooded)
        snprintf(what, sizeof(what), "wrote more than %d bytes to stdout", PROCESS_STDOUT_BYTES_MAX);
    else if (process->timed_out)
        snprintf(what, sizeof(what), "did not end within its time limit of %lld ms",
                 (long long)process->timeout_ms);
    else if (info->si_code == CLD_EXITED)
        snprintf(what, sizeof(what), "exit code %d", info->si_status);
    else
        snprintf(what, sizeof(what), "ended by signal %d (%s)", info->si_status, strsignal(info->si_status));
    snprintf(result->error, sizeof(result->error), "%s%s%.*s", what, words.len > 0 ? ": " : "",
             STR_ARG(words));
}

void process_reap(struct process *process, struct process_result *result) {
    siginfo_t info = {0};
    kill(-process->pid, SIGKILL); /* what is left of its session; the leader itself has ended */
    process_read(process);
    while (waitid(P_PIDFD, (id_t)process->pidfd, &info, WEXITED) != 0 && errno == EINTR)
        continue;
    bool ended_by_us = process->flooded || process->timed_out || process->cancelled;
    *result = (struct process_result){.cancelled = process->cancelled && !process->timed_out};
    result->done = info.si_code == CLD_EXITED && info.si_status == 0 && !ended_by_us;
    result->permanent = info.si_code == CLD_EXITED && !ended_by_us && !result->done &&
                        errclass_from_exit(info.si_status) == ERRCLASS_PERMANENT;
    result->wish = wish_read((pawl_str){process->out, process->out_len},
                             info.si_code == CLD_EXITED && !ended_by_us, info.si_status);
    if (!result->done)
        explain(process, &info, result);
    close_fd(&process->out_fd);
    close_fd(&process->err_fd);
    close_fd(&process->pidfd);
    process->pid = 0;
}

void process_free(struct process *process) {
    free(process->err_ring);
    process->err_ring = NULL;
}
