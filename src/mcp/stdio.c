/* MCP over standard input and output: one message per line. What waits is looked at again between the lines,
 * so nothing holds up the next request. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "mcp/mcp.h"

/* A request that waits. */
struct pending {
    struct pending *next;
    struct arena *arena;
    struct mcp_message message;
};

struct link {
    const struct request *host;
    struct mcp_peer *peer;
    struct pending *first;
    size_t count;
    struct buf in;
    bool skipping; /* the rest of a line that is too long */
    bool closed;   /* no one reads the answers */
};

enum { READ_BYTES = 65536 };

static void send_line(struct link *link, struct buf *line) {
    buf_append_char(line, '\n');
    for (size_t at = 0; !line->failed && at < line->len && !link->closed;) {
        ssize_t written = write(STDOUT_FILENO, line->ptr + at, line->len - at);
        if (written < 0 && errno != EINTR)
            link->closed = true;
        at += written > 0 ? (size_t)written : 0;
    }
}

static void pending_free(struct pending *pending) {
    mcp_message_free(&pending->message);
    arena_free(pending->arena);
    free(pending);
}

static void report(struct link *link, struct mcp_message *message) {
    AUTO_BUF(line, 0);
    if (mcp_message_report(message, &line))
        send_line(link, &line);
}

/* True: it waits. */
static bool step(struct link *link, struct pending *pending) {
    mcp_message_step(&pending->message, link->host);
    if (pending->message.waits)
        report(link, &pending->message);
    else if (pending->message.out.len > 0)
        send_line(link, &pending->message.out);
    return pending->message.waits;
}

static void look_again(struct link *link) {
    for (struct pending **at = &link->first; *at != NULL;) {
        struct pending *pending = *at;
        if (step(link, pending)) {
            at = &pending->next;
            continue;
        }
        *at = pending->next;
        link->count--;
        pending_free(pending);
    }
}

/* The client no longer wants the answer. */
static void cancel(struct link *link, const struct mcp_message *message) {
    const struct tree *id = tree_get_cstr(message->params, "requestId");
    for (struct pending **at = &link->first; *at != NULL; at = &(*at)->next) {
        struct pending *pending = *at;
        if (id == NULL || !tree_equal(id, pending->message.id))
            continue;
        *at = pending->next;
        link->count--;
        pending_free(pending);
        return;
    }
}

static void take_line(struct link *link, pawl_str line) {
    struct pending *pending = calloc(1, sizeof *pending);
    struct arena *arena = arena_create(0);
    char *copy = arena != NULL ? arena_copy(arena, line.ptr, line.len) : NULL;
    if (pending == NULL || copy == NULL) { /* nothing can be said without memory */
        free(pending);
        arena_free(arena);
        link->closed = true;
        return;
    }
    pending->arena = arena;
    struct mcp_message *message = &pending->message;
    mcp_message_read(message, link->peer, NULL, arena, (pawl_str){copy, line.len});
    if (message->id == NULL && str_equal_cstr(message->method, "notifications/cancelled"))
        cancel(link, message);
    if (step(link, pending) && link->count < MCP_WAITING_MAX) {
        pending->next = link->first;
        link->first = pending;
        link->count++;
        return;
    }
    if (message->waits) {
        mcp_refuse(message, MCP_INTERNAL, 200,
                   "%d requests wait already, which is the limit; cancel one, or wait for it",
                   MCP_WAITING_MAX);
        send_line(link, &message->out);
    }
    pending_free(pending);
}

static void too_long(struct link *link) {
    struct mcp_message message = {.status = 0};
    buf_init(&message.out, 0);
    mcp_refuse(&message, MCP_INVALID_REQUEST, 0, "a message may have at most %d bytes; send less at once",
               MCP_MESSAGE_BYTES_MAX);
    send_line(link, &message.out);
    buf_free(&message.out);
}

static void take_lines(struct link *link, const char *bytes, size_t len) {
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        size_t part = end != NULL ? (size_t)(end - bytes) : len;
        if (!link->skipping && link->in.len + part > MCP_MESSAGE_BYTES_MAX) {
            link->skipping = true;
            too_long(link);
        }
        if (!link->skipping)
            buf_append(&link->in, bytes, part);
        if (end != NULL) {
            pawl_str line = str_trim(buf_str(&link->in));
            if (!link->skipping && line.len > 0)
                take_line(link, line);
            buf_reset(&link->in);
            link->skipping = false;
            part++;
        }
        bytes += part;
        len -= part;
    }
}

pawl_status mcp_stdio(const struct request *host, struct mcp_peer *peer, pawl_error *err) {
    struct link link = {.host = host, .peer = peer};
    pawl_status status = PAWL_OK;
    char *bytes = malloc(READ_BYTES);
    buf_init(&link.in, 2 * (size_t)MCP_MESSAGE_BYTES_MAX);
    if (bytes == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "mcp", "no memory for messages");
    for (int64_t looked_ms = 0; status == PAWL_OK && !link.closed;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&input, 1, link.first != NULL ? MCP_LOOK_MS : -1);
        if (ready < 0 && errno != EINTR)
            status = error_errno(err, PAWL_UNAVAILABLE, "mcp", errno, "cannot wait for messages");
        if (clock_boot_ms() - looked_ms >= MCP_LOOK_MS) {
            look_again(&link);
            looked_ms = clock_boot_ms();
        }
        if (ready <= 0)
            continue;
        ssize_t got = read(STDIN_FILENO, bytes, READ_BYTES);
        if (got > 0)
            take_lines(&link, bytes, (size_t)got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    while (link.first != NULL) {
        struct pending *next = link.first->next;
        pending_free(link.first);
        link.first = next;
    }
    buf_free(&link.in);
    free(bytes);
    return status;
}
