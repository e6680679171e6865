/* MCP over the stdin and stdout of a program: a message per line. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/mcp/int.h"

enum { LOOK_MS = 50 };

pawl_status mcp_stdio_open(struct mcp_session *session, pawl_error *err) {
    const struct mcp_config *config = session->config;
    struct child_request request = {config->argv, config->pairs, config->pair_count, NULL};
    lines_init(&session->lines, &session->child, MCP_LINE_BYTES_MAX);
    return child_start(config->launcher, &request, &session->child, err);
}

void mcp_stdio_close(struct mcp_session *session, int64_t grace_ms) {
    child_end(&session->child, grace_ms);
    lines_free(&session->lines);
}

static pawl_status ended(struct mcp_session *session, pawl_error *err) {
    session->broken = true;
    child_read_stderr(&session->child);
    pawl_str tail = str_trim((pawl_str){session->child.err_tail, session->child.err_len});
    if (tail.len > 300)
        tail = (pawl_str){tail.ptr + tail.len - 300, 300};
    return error_set(err, PAWL_UNAVAILABLE, "mcp", "the server %s has ended%s%.*s", session->config->name,
                     tail.len > 0 ? "; it said: " : "", STR_ARG(tail));
}

static pawl_status read_some(struct mcp_session *session, struct mcp_exchange *exchange, pawl_error *err) {
    ssize_t got = lines_read(&session->lines);
    if (got < 0)
        return ended(session, err);
    return mcp_count(session, exchange, (size_t)got, err);
}

/* Whether a line is other output of the program, or of what started it; messages are objects. Ignored lines
 * are logged once per request. */
static bool is_noise(const struct mcp_session *session, struct mcp_exchange *exchange, pawl_str line) {
    enum { SHOWN_BYTES = 200 };
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] == '{')
        return false;
    if (exchange->noise++ == 0)
        log_event(session->config->log, LOG_LEVEL_WARN, "mcp_noise", "server=%s line=%.*s",
                  session->config->name, line.len < SHOWN_BYTES ? (int)line.len : SHOWN_BYTES, line.ptr);
    return true;
}

/* Handles the complete lines; *mine: one of them was the answer, and what follows it stays in the buffer. */
static pawl_status take_lines(struct mcp_session *session, struct mcp_exchange *exchange, bool *mine,
                              pawl_error *err) {
    pawl_status status = PAWL_OK;
    *mine = false;
    for (pawl_str line; status == PAWL_OK && !*mine && lines_next(&session->lines, &line);) {
        if (is_noise(session, exchange, line)) {
            if (exchange->noise > MCP_NOISE_MAX)
                status = mcp_fault(session, "more than 100 lines of its output are no messages", err);
            continue;
        }
        status = line.len > MCP_LINE_BYTES_MAX
                     ? mcp_fault(session, "a message is larger than 8 MiB", err)
                     : mcp_take(session, exchange, line, &session->lines.out, mine, err);
    }
    if (status == PAWL_OK && !*mine && lines_flooded(&session->lines))
        status = mcp_fault(session, "a message is larger than 8 MiB", err);
    return status;
}

static pawl_status look(const struct mcp_session *session, const struct mcp_exchange *exchange, int *wait_ms,
                        pawl_error *err) {
    int64_t left_ms = exchange->wait.deadline_ms - clock_boot_ms();
    if (stop_read(exchange->wait.cancel) != STOP_NONE)
        return error_set(err, PAWL_STALE, "mcp", "the request to the server %s was cancelled",
                         session->config->name);
    if (left_ms <= 0)
        return error_set(err, PAWL_UNAVAILABLE, "mcp", "the server %s did not answer %s in time",
                         session->config->name, exchange->method);
    *wait_ms = left_ms < LOOK_MS ? (int)left_ms : LOOK_MS;
    return PAWL_OK;
}

pawl_status mcp_stdio_exchange(struct mcp_session *session, struct mcp_exchange *exchange, pawl_error *err) {
    lines_put(&session->lines, exchange->text);
    lines_end(&session->lines);
    pawl_status status = buf_status(&session->lines.out, "mcp", err);
    struct child *child = &session->child;
    while (status == PAWL_OK) {
        bool mine = false;
        int wait_ms = 0;
        bool writes = lines_pending(&session->lines);
        if (exchange->id != 0) {
            status = take_lines(session, exchange, &mine, err);
            if (status != PAWL_OK || mine)
                break;
            writes = lines_pending(&session->lines);
        } else if (!writes) {
            break; /* a notification has been sent when it is written */
        }
        status = look(session, exchange, &wait_ms, err);
        if (status != PAWL_OK)
            break;
        struct pollfd fds[] = {
            {child->out_fd, POLLIN, 0}, {child->err_fd, POLLIN, 0}, {writes ? child->in_fd : -1, POLLOUT, 0}};
        if (poll(fds, 3, wait_ms) <= 0)
            continue;
        if (fds[1].revents != 0)
            child_read_stderr(child);
        if (fds[2].revents != 0 && !lines_write(&session->lines))
            status = ended(session, err);
        exchange->sent = exchange->sent || !lines_pending(&session->lines);
        if (status == PAWL_OK && fds[0].revents != 0)
            status = read_some(session, exchange, err);
    }
    return status;
}
