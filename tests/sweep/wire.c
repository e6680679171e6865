/* The wire between a store and PostgreSQL: a proxy that reads version 3 of the protocol and counts its
 * messages in both directions. At the nth it cuts the connection before it, in the middle of it or behind it,
 * or lets nothing more through without a word. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"
#include "sweep/sweep.h"

enum { LINKS_MAX = 64, CHUNK = 65536, HEAD_BYTES = 5, UNTYPED_BYTES = 8 };
enum { CODE_VERSION_3 = 196608 };
enum deed { DEED_CUT, DEED_HALF, DEED_BEHIND, DEED_STALL };
enum way { TO_SERVER, TO_CLIENT, WAYS };

/* What came from one side and is not a whole message yet. */
struct half {
    int fd; /* it comes from here */
    uint8_t *bytes;
    size_t len, cap;
};

struct link {
    struct half half[WAYS];
    bool used, started,
        asked; /* started: the version was said; asked: for encryption, answered with one byte */
    bool stalled;
};

static struct {
    int listener;
    struct sockaddr_in server;
    struct link links[LINKS_MAX];
    enum deed deed;
    atomic_long left; /* -1: nothing fails */
    atomic_bool fired;
    pthread_t thread;
    char url[512];
} proxy = {.left = -1};

static uint32_t number(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void drop(struct link *link) {
    for (int way = 0; way < WAYS; way++) {
        close(link->half[way].fd);
        free(link->half[way].bytes);
    }
    memset(link, 0, sizeof *link);
}

static bool send_all(int fd, const uint8_t *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* The length of the first message that is whole; 0: there is none yet. */
static size_t whole(const struct link *link, enum way way) {
    const struct half *half = &link->half[way];
    if (way == TO_CLIENT && link->asked)
        return half->len > 0 ? 1 : 0;
    bool typed = way == TO_CLIENT || link->started;
    if (half->len < (typed ? HEAD_BYTES : UNTYPED_BYTES))
        return 0;
    size_t len = number(half->bytes + (typed ? 1 : 0)) + (typed ? 1 : 0);
    return half->len >= len ? len : 0;
}

static void note(struct link *link, enum way way) {
    if (way == TO_CLIENT)
        link->asked = false;
    else if (!link->started) {
        link->started = number(link->half[way].bytes + 4) == CODE_VERSION_3;
        link->asked = !link->started;
    }
}

/* Passes one message on, or does what is to be done at this point. False: the link is no more. */
static bool pass(struct link *link, enum way way, size_t len) {
    struct half *half = &link->half[way];
    int to = link->half[way == TO_SERVER ? TO_CLIENT : TO_SERVER].fd;
    bool now = atomic_load(&proxy.left) == 0 && !atomic_load(&proxy.fired);
    if (atomic_load(&proxy.left) > 0)
        atomic_fetch_sub(&proxy.left, 1);
    if (now) {
        atomic_store(&proxy.fired, true);
        size_t through = proxy.deed == DEED_HALF ? len / 2 : proxy.deed == DEED_BEHIND ? len : 0;
        (void)send_all(to, half->bytes, through);
        link->stalled = proxy.deed == DEED_STALL;
        return link->stalled;
    }
    note(link, way);
    if (!send_all(to, half->bytes, len))
        return false;
    memmove(half->bytes, half->bytes + len, half->len - len);
    half->len -= len;
    return true;
}

/* False: it has ended. */
static bool take(struct link *link, enum way way) {
    struct half *half = &link->half[way];
    if (half->cap - half->len < CHUNK) {
        half->cap = half->cap * 2 + 2 * (size_t)CHUNK;
        half->bytes = realloc(half->bytes, half->cap);
        assert_non_null(half->bytes);
    }
    ssize_t got = recv(half->fd, half->bytes + half->len, half->cap - half->len, 0);
    if (got <= 0)
        return false;
    half->len += (size_t)got;
    for (size_t len = whole(link, way); len > 0 && !link->stalled; len = whole(link, way))
        if (!pass(link, way, len))
            return false;
    return true;
}

static void connect_one(void) {
    int one = 1, client = accept(proxy.listener, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int i = 0;
    while (i < LINKS_MAX && proxy.links[i].used)
        i++;
    if (i == LINKS_MAX || client < 0 ||
        connect(server, (struct sockaddr *)&proxy.server, sizeof proxy.server) != 0) {
        close(client);
        close(server);
        return;
    }
    (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    proxy.links[i] = (struct link){.used = true, .half = {{.fd = client}, {.fd = server}}};
}

static void *serve(void *unused) {
    for (;;) {
        struct pollfd fds[1 + WAYS * LINKS_MAX] = {{.fd = proxy.listener, .events = POLLIN}};
        for (int i = 0; i < WAYS * LINKS_MAX; i++) {
            const struct link *link = &proxy.links[i / WAYS];
            fds[1 + i] = (struct pollfd){.fd = link->used ? link->half[i % WAYS].fd : -1, .events = POLLIN};
        }
        if (poll(fds, 1 + WAYS * LINKS_MAX, -1) < 0 && errno != EINTR)
            return unused;
        for (int i = 0; i < WAYS * LINKS_MAX; i++)
            if (fds[1 + i].revents != 0 && proxy.links[i / WAYS].used &&
                !take(&proxy.links[i / WAYS], (enum way)(i % WAYS)))
                drop(&proxy.links[i / WAYS]);
        if ((fds[0].revents & POLLIN) != 0)
            connect_one();
    }
}

static bool begin(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    proxy.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(proxy.listener, (struct sockaddr *)&here, sizeof here) == 0 &&
           listen(proxy.listener, 64) == 0;
}

/* postgres://user@host:port/name: the host and the port become the proxy's. */
static bool found(struct store_config *config) {
    struct sockaddr_in here;
    socklen_t len = sizeof here;
    const char *host = strrchr(config->url, '@');
    host = host != NULL ? host + 1 : strstr(config->url, "://") + 3;
    const char *port = strchr(host, ':'), *rest = strchr(host, '/');
    if (port == NULL || rest == NULL || getsockname(proxy.listener, (struct sockaddr *)&here, &len) != 0)
        return false;
    proxy.server = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)strtol(port + 1, NULL, 10)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    snprintf(proxy.url, sizeof proxy.url, "%.*s127.0.0.1:%d%s", (int)(host - config->url), config->url,
             ntohs(here.sin_port), rest);
    config->url = proxy.url;
    config->statement_timeout_ms = 1000;
    config->connect_timeout_ms = 2000;
    return proxy.thread != 0 || pthread_create(&proxy.thread, NULL, serve, NULL) == 0;
}

static void arm(enum deed deed, long nth) {
    proxy.deed = deed;
    atomic_store(&proxy.fired, false);
    atomic_store(&proxy.left, nth);
}

static void arm_cut(long nth) { arm(DEED_CUT, nth); }
static void arm_half(long nth) { arm(DEED_HALF, nth); }
static void arm_behind(long nth) { arm(DEED_BEHIND, nth); }
static void arm_stall(long nth) { arm(DEED_STALL, nth); }

static bool disarm(void) {
    atomic_store(&proxy.left, -1);
    return atomic_load(&proxy.fired);
}

#define WAY(text, armed)                                                                                     \
    {                                                                                                        \
        .name = text, .side = 1, .begin = begin, .found = found, .arm = armed, .disarm = disarm,             \
        .statuses = 1U << PAWL_UNAVAILABLE                                                                   \
    }
const struct sweep_way sweep_ways_wire[] = {
    WAY("wire_cut", arm_cut),
    WAY("wire_half", arm_half),
    WAY("wire_behind", arm_behind),
    WAY("wire_stall", arm_stall),
    {.name = NULL},
};
