/* The listening socket: its address, the server's host names, and refusing unprotected addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/access/sessions.h"
#include "server/server.h"

struct place {
    struct sockaddr_storage address;
    socklen_t len;
    bool loopback;
};

/* "127.0.0.1:7295" or "[::1]:7295": numbers only, so that no resolver decides where it listens. */
static pawl_status place_parse(const char *text, struct place *place, pawl_error *err) {
    char host[64];
    int64_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t len = colon != NULL ? (size_t)(colon - text) : 0;
    bool six = len > 2 && text[0] == '[' && text[len - 1] == ']';
    if (len > 0 && len < sizeof host) {
        memcpy(host, six ? text + 1 : text, six ? len - 2 : len);
        host[six ? len - 2 : len] = '\0';
    }
    if (len > 0 && len < sizeof host && str_to_i64(str_from(colon + 1), 0, 65535, &port)) {
        struct sockaddr_in6 *v6 = (void *)&place->address;
        struct sockaddr_in *v4 = (void *)&place->address;
        if (strcmp(host, "localhost") == 0)
            snprintf(host, sizeof host, "127.0.0.1");
        if (six && inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
            v6->sin6_family = AF_INET6;
            v6->sin6_port = htons((uint16_t)port);
            place->len = sizeof *v6;
            place->loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
            return PAWL_OK;
        }
        if (!six && inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
            v4->sin_family = AF_INET;
            v4->sin_port = htons((uint16_t)port);
            place->len = sizeof *v4;
            place->loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
            return PAWL_OK;
        }
    }
    return error_set(err, PAWL_INVALID, "server",
                     "--listen %s is not an address: write 127.0.0.1:7295 or [::1]:7295", text);
}

static void origin_add(struct server *server, const char *scheme, const char *host) {
    struct origins *origins = &server->origins;
    if (host == NULL || origins->count == sizeof origins->hosts / sizeof *origins->hosts)
        return;
    origins->schemes[origins->count] = scheme;
    origins->hosts[origins->count++] = host;
}

/* https://pawl.example.org[:port] */
static pawl_status origin_public(struct server *server, pawl_error *err) {
    const char *url = server->config.public_url;
    if (url == NULL)
        return PAWL_OK;
    bool secure = strncmp(url, "https://", 8) == 0, plain = strncmp(url, "http://", 7) == 0;
    const char *host = secure ? url + 8 : url + 7;
    size_t len = secure || plain ? strcspn(host, "/") : 0;
    if (len == 0 || (host[len] != '\0' && host[len + 1] != '\0') || memchr(host, '@', len) != NULL)
        return error_set(err, PAWL_INVALID, "server",
                         "--public-url %s is not the address of a server: write https://pawl.example.org",
                         url);
    origin_add(server, secure ? "https" : "http", arena_copy(server->arena, host, len));
    return PAWL_OK;
}

static void origins_local(struct server *server, const struct place *place, int port) {
    const char *scheme = server->tls ? "https" : "http";
    char shown[INET6_ADDRSTRLEN] = "";
    bool six = place->address.ss_family == AF_INET6;
    const void *bytes = six ? (const void *)&((const struct sockaddr_in6 *)&place->address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)&place->address)->sin_addr;
    inet_ntop(place->address.ss_family, bytes, shown, sizeof shown);
    snprintf(server->address, sizeof server->address, six ? "[%s]:%d" : "%s:%d", shown, port);
    origin_add(server, scheme, server->address);
    origin_add(server, scheme, arena_printf(server->arena, "localhost:%d", port));
    origin_add(server, scheme, arena_printf(server->arena, "127.0.0.1:%d", port));
    origin_add(server, scheme, arena_printf(server->arena, "[::1]:%d", port));
}

static bool public_https(const struct server *server) {
    const char *url = server->config.public_url;
    return url != NULL && strncmp(url, "https://", strlen("https://")) == 0;
}

/* The port that browsers see, so that servers on other ports of the host use different cookie names. */
static void name_cookie(struct server *server, int port) {
    const char *url = server->config.public_url;
    bool secure = server->tls || public_https(server);
    int64_t seen = port;
    if (url != NULL) {
        pawl_str after = str_from(strrchr(url, ':') + 1); /* the scheme has one */
        if (!str_to_i64((pawl_str){after.ptr, strcspn(after.ptr, "/")}, 1, 65535, &seen))
            seen = public_https(server) ? 443 : 80;
    }
    server->sessions->secure = secure;
    snprintf(server->sessions->cookie, sizeof server->sessions->cookie, "%spawl_session_%d",
             secure ? "__Host-" : "", (int)seen);
}

/* Other machines are allowed only if tokens cannot be intercepted. */
static pawl_status place_allowed(const struct server *server, const struct place *place, pawl_error *err) {
    if (place->loopback || server->tls || public_https(server))
        return PAWL_OK;
    return error_set(
        err, PAWL_INVALID, "server",
        "--listen %s would send tokens unprotected over the network: give --tls-cert and --tls-key, or "
        "--public-url https://… if a TLS proxy is in front, or listen on 127.0.0.1",
        server->config.listen);
}

pawl_status server_listen(struct server *server, pawl_error *err) {
    struct place place = {.len = 0};
    TRY(place_parse(server->config.listen, &place, err));
    TRY(origin_public(server, err));
    TRY(place_allowed(server, &place, err));
    int on = 1;
    server->listen_fd = socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listen_fd < 0 ||
        setsockopt(server->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(server->listen_fd, (struct sockaddr *)&place.address, place.len) != 0 ||
        listen(server->listen_fd, PAWL_HTTP_CONNECTIONS_MAX) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "server", errno,
                           "cannot listen on %s (--listen says where)", server->config.listen);
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } taken = {0};
    socklen_t len = sizeof taken;
    if (getsockname(server->listen_fd, (struct sockaddr *)&taken.any, &len) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "server", errno, "cannot tell the port");
    int port = ntohs(taken.any.ss_family == AF_INET6 ? taken.v6.sin6_port : taken.v4.sin_port);
    origins_local(server, &place, port);
    name_cookie(server, port);
    return PAWL_OK;
}
